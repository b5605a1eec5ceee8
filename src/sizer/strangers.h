/* GPUs whose pods belong to owners of kinds that are not in the table: how such pods are to be
 * treated is only guessed. Counted in each round, told when it has ended. */
#ifndef SIZER_STRANGERS_H
#define SIZER_STRANGERS_H

#include <stdint.h>

#include "base/vec.h"

struct strange_kind {
	char *group, *kind; /* owned */
	int64_t milli;	    /* of the last round, */
	int64_t next;	    /* and of this */
};

struct strange {
	struct {
		VEC_FIELDS(struct strange_kind);
	} kinds;
	int64_t rest, next_rest;   /* of kinds that are too many */
	int64_t alone, next_alone; /* of pods that nobody controls */
};

struct sized;
struct world_pod;
void strange_begin(struct strange *t);
/* `of` NULL: of a pod that nobody controls. */
void strange_count(struct strange *t, const struct sized *of, const struct world_pod *wp);
void strange_end(struct strange *t);
void strange_finish(struct strange *t);

#endif
