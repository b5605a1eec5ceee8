/* Nouns as compact bytes: what the world keeps of a GPU pod, and what the journal keeps of every
 * change. Numbers are zigzag varints, text is a length and its bytes, so that a typical pod takes a
 * few hundred bytes. The format is private to one version of the program; a journal names the
 * version that wrote it. */
#ifndef MODEL_PACK_H
#define MODEL_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/str.h"
#include "model/pack_change.h"
#include "model/pack_pod.h"

void pack_u64(struct str *out, uint64_t value);
void pack_i64(struct str *out, int64_t value);
void pack_text(struct str *out, const char *text); /* NULL survives */

struct unpack {
	const char *p;
	size_t n;
	struct arena *arena; /* borrowed: where text and arrays go */
	bool bad;	     /* set once something was short or out of range, and stays */
};

uint64_t unpack_u64(struct unpack *u);
int64_t unpack_i64(struct unpack *u);
const char *unpack_text(struct unpack *u);
const char *unpack_name(struct unpack *u); /* bad where there is none */

#endif
