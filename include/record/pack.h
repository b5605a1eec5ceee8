/* Numbers and texts as compact bytes: what the world keeps of a GPU pod, what the journal keeps of
 * everything, and a usage history at rest. Numbers are varints, those with a sign zigzag; text is a
 * length and its bytes. What a struct is as bytes says its table (record/record_table.h). */
#ifndef RECORD_PACK_H
#define RECORD_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/str.h"

void pack_u64(struct str *out, uint64_t value);
void pack_i64(struct str *out, int64_t value);
void pack_text(struct str *out, const char *text); /* NULL survives */
/* How many bytes these take. */
size_t pack_u64_size(uint64_t value);
size_t pack_i64_size(int64_t value);
size_t pack_text_size(const char *text);

struct unpack {
	const char *p;
	size_t n;
	struct arena *arena; /* borrowed: where text and arrays go */
	bool bad;	     /* set once something was short or out of range, and stays */
};

uint64_t unpack_u64(struct unpack *u);
int64_t unpack_i64(struct unpack *u);
const char *unpack_text(struct unpack *u);
/* The same as it stands in the packed bytes; `p` NULL: there is none. */
struct view unpack_text_view(struct unpack *u);
uint32_t unpack_count(struct unpack *u); /* of what follows, each of a byte at least */

#endif
