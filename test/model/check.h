/* What the checker remembers, and what its files ask of each other. The run owns it. */
#ifndef SIM_CHECK_H
#define SIM_CHECK_H

#include <stdbool.h>
#include <stdint.h>

#include "appetite.h"
#include "base/str.h"
#include "base/vec.h"
#include "check_group.h"
#include "facts.h"
#include "model/wire.h"
#include "store.h"

#define SIM_RANKS 3 /* priorities of tenants, from 0; whole pods may have this one, too */

struct action;
struct sim;
struct weather;

/* --- check.c, check_end.c --- */
struct promise {
	char holder[64], holder_uid[40], uuid[96], node[64], tenant[40];
	int64_t milli, mem_mib;
	int64_t gone_at; /* when the tenant's object went; 0: it is there */
	bool over;	 /* and it had ended before */
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
	int64_t known_at, first_at;	      /* since when no tenant that waits ranks before it */
	int64_t known_version, first_version; /* of the store, then */
};
/* For how long something has lacked room, while a leader could see and write. */
struct lacked {
	int64_t since, lacked_ms;
	int64_t reserved_at; /* since when nobody after it may come there; 0: not yet */
};
/* A tenant that has lacked room on the only node that could hold it, or wherever it could go. */
struct passed_over {
	char uid[40], node[64];
	uint64_t term;
	int replica;	     /* whose seconds are counted */
	int64_t leads_since; /* of the term in which that was seen */
	struct lacked only, wide;
};
/* A GPU that its capacity pod let go, the last time. */
struct lost_gpu {
	char uuid[96];
	int64_t at;
};
struct checker {
	struct greed greed;
	struct {
		VEC_FIELDS(struct lost_gpu);
	} lost;
	struct {
		VEC_FIELDS(struct half); /* tenants that were granted some of their GPUs */
	} halves;
	struct {
		VEC_FIELDS(struct pending);
	} pending;
	struct {
		VEC_FIELDS(struct passed_over);
	} passed;
	struct {
		VEC_FIELDS(struct left);
	} left;
	struct {
		VEC_FIELDS(struct promise); /* every entry of every ledger that ever was */
	} promises;
	bool nearest;		       /* check_nearest.c judges this run */
	int64_t waited[SIM_RANKS + 1]; /* when one of this priority last waited; 0: never */
};
void check_finish(struct sim *s);

void check_commit(struct sim *s, const struct commit *c);

/* --- delay.c --- */
struct delay {
	char uid[40];
	uint64_t term;
	int64_t waited_ms; /* while somebody could have told it why; below 0: it was told */
};

#endif
