/* Lists in pages, as the modelled API server keeps them. */
#ifndef SIM_LIST_PAGES_H
#define SIM_LIST_PAGES_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

struct sim;
struct stored;

struct listing {
	uint64_t serial; /* 0: none */
	int64_t version;
	struct {
		VEC_FIELDS(struct stored *); /* kept */
	} items;
};
#define LISTED_PARTLY (-1) /* a page that is not the last */
struct listings {
	struct listing kept[4];
	uint64_t next;
};
void pages_finish(struct sim *s);
/* Empty; whoever was the oldest is gone. */
struct listing *pages_begin(struct sim *s);
struct listing *pages_find(struct sim *s, const char *token, size_t *ret_from); /* NULL: gone */
json_t *pages_page(const struct listing *l, size_t from, bool whole, bool *ret_last);

#endif
