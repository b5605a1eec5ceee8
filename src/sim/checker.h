/* What the checker remembers beside the objects. */
#ifndef SIM_CHECKER_H
#define SIM_CHECKER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

struct promise {
	char holder[64], holder_uid[40], uuid[96], node[64], tenant[40];
	int64_t milli, mem_mib;
	bool late; /* kept when its capacity pod was already gone */
};
/* What still runs although its pod is gone. */
struct left {
	char tenant[40];
	char holder[40], uuid[96], node[64]; /* uid of the capacity pod that had it in its books */
	int64_t milli, mem_mib, until;
};
/* A pod that asks for whole GPUs and that the scheduler has found no node for. */
struct pending {
	char uid[40];
	int64_t known_at, first_at; /* since when no tenant that waits ranks before it */
};
struct checker {
	struct {
		VEC_FIELDS(struct pending);
	} pending;
	struct {
		VEC_FIELDS(struct left);
	} left;
	struct {
		VEC_FIELDS(struct promise); /* every entry of every ledger that ever was */
	} promises;
};

#endif
