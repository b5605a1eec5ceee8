/* Changes as bytes: what the journal keeps of all that the engine was told. */
#ifndef RECORD_CHANGE_H
#define RECORD_CHANGE_H

#include <stdbool.h>

#include "model/change.h"
#include "record/record_table.h"

/* Of all parts that a change may have: for the number of a format, and for tests. */
extern const struct record_table change_table;

void change_pack(struct str *out, const struct change *change);
/* The nouns live in the arena of `u`. */
MUST_CHECK bool change_unpack(struct unpack *u, struct change *ret_change);
/* Of a size that an API server hands out, and that a record of the journal holds: an object of 3
 * MiB packs into less than itself, but for one of many empty parts. A larger one must not be
 * applied. */
bool change_fits(const struct change *change);
#define CHANGE_BYTES_MAX (((size_t)4 << 20) - ((size_t)64 << 10))
/* From outside of the program: names where there must be names; the rest may be anything. */
bool change_is_sound(const struct change *change);

#endif
