/* Who has GPUs and is not recognized: pods of owners of kinds that are not in the table, so that
 * how such pods are to be treated is only guessed, and pods that nobody controls. Counted in
 * rounds, told as the last one found it; a kind that has nothing any more is forgotten.
 *
 * A zeroed struct is empty; whoever has it calls strangers_finish. Nothing fails. */
#ifndef OWNER_STRANGERS_H
#define OWNER_STRANGERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "model/workload.h"

/* What has GPUs in the same round is told apart up to here. */
#define STRANGERS_MAX 32

struct stranger_sum {
	int64_t milli;
	uint32_t pods;
};

struct stranger {
	char *group, *kind;	  /* owned */
	struct stranger_sum last; /* of the last round, */
	struct stranger_sum next; /* and of this */
};

struct strangers {
	VEC_OF(struct stranger) kinds;
	struct stranger_sum rest, next_rest;   /* of kinds that are too many */
	struct stranger_sum alone, next_alone; /* of pods that nobody controls */
};

void strangers_begin(struct strangers *t);
/* Thousandths of a GPU of one pod. `of` NULL: nobody controls it; those of known kinds do not
 * count. True: it did. */
bool strangers_count(struct strangers *t, const struct workload_key *of, int64_t milli);
void strangers_end(struct strangers *t);
void strangers_finish(struct strangers *t);

struct stranger_row {
	const char *group, *kind; /* borrowed until the next call; NULL: of all further kinds */
	struct stranger_sum sum;
};
/* Those that have any, in no order; those that nobody controls are in `alone`. */
size_t strangers_rows(const struct strangers *t);
struct stranger_row strangers_row(const struct strangers *t, size_t i);

#endif
