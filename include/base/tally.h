/* Amounts by name, as of a namespace: there with the first of it, gone with the last. */
#ifndef BASE_TALLY_H
#define BASE_TALLY_H

#include "base/table.h"

struct tally {
	struct table rows;
};

void tally_init(struct tally *t);
void tally_finish(struct tally *t);
size_t tally_get(const struct tally *t, const char *name); /* 0: there is none */
void tally_add(struct tally *t, const char *name, size_t amount);
void tally_take(struct tally *t, const char *name, size_t amount); /* no more than there is */

#endif
