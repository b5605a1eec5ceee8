/* Records that are found by their key, which is the first text of each, or its first two: an array
 * in the order of their coming, in which the last takes the place of one that goes, and the index
 * to it. Declared where it is used, as in base/vec.h:
 *
 *     struct { KEYED_FIELDS(struct crowd); } crowds;
 *     keyed_init(KEYED(&crowds), sizeof(struct crowd), 1);
 *
 * The texts are the owner's of the records. Nothing here fails. */
#ifndef LEDGER_KEYED_H
#define LEDGER_KEYED_H

#include <stdbool.h>

#include "base/map.h"
#include "base/vec.h"

#define KEYED_FIELDS(type)                                                                         \
	VEC_FIELDS(type);                                                                          \
	struct map by_key;                                                                         \
	size_t size;   /* of a record */                                                           \
	uint32_t texts /* of a key */

struct keyed {
	KEYED_FIELDS(char);
};

#define KEYED(list) ((struct keyed *)(list))

void keyed_init(struct keyed *k, size_t size, uint32_t texts);
void keyed_finish(struct keyed *k); /* it is empty then, and may be used on */
/* NULL: there is none. `second` is NULL where a key is one text. */
void *keyed_find(const struct keyed *k, const char *first, const char *second);
/* None has its key; a pointer to one dies when another is added or dropped. */
void *keyed_add(struct keyed *k, const void *record);
/* The texts of its key are there yet. */
void keyed_drop(struct keyed *k, size_t i);
/* What was put into the array by itself is found from now on. False: two have one key. */
bool keyed_index(struct keyed *k);

#endif
