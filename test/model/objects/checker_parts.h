/* What the checkers and the claims remember. */
#ifndef SIM_CHECKER_PARTS_H
#define SIM_CHECKER_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

#define SIM_RANKS 3 /* priorities of tenants, from 0; whole pods may have this one, too */

struct greedy_look {
	char uid[40], uuid[96];
	int64_t at;
	bool is_short; /* the device, too */
};
struct starved {
	char uid[40], uuid[96];
	int64_t at;
};
struct sent_away {
	char uid[40], uuids[400];
	int64_t at;	 /* when it was decided */
	int64_t done_at; /* and accepted; 0: not yet */
	int replica, incarnation;
};
/* What the checker remembers of it. */
struct greed {
	struct {
		VEC_FIELDS(struct greedy_look);
	} looks; /* samples in which somebody was over its share */
	struct {
		VEC_FIELDS(struct starved);
	} starved; /* who ended because a GPU had no memory left */
	struct {
		VEC_FIELDS(struct sent_away);
	} sent;
};
/* A tenant that was granted some of its GPUs. */
struct half {
	char uid[40];
	int64_t version;       /* of the store when it began */
	int64_t seen, kept_ms; /* for so long a leader could have done something */
	uint64_t term;
};
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
	bool nearest;		       /* claims/check_nearest.c judges this run */
	int64_t waited[SIM_RANKS + 1]; /* when one of this priority last waited; 0: never */
};

struct delay {
	char uid[40];
	uint64_t term;
	int64_t waited_ms; /* while somebody could have told it why; below 0: it was told */
};

/* What a controller decided to do, and when. */
struct intent {
	int64_t at;
	size_t moment;	 /* object_history.h */
	int64_t version; /* of the store then */
	int replica;
	uint64_t term; /* takeovers until then */
	uint64_t id;   /* of the action, in that process */
	int kind;      /* enum action_type */
	bool is_false; /* conditions */
	bool not_done; /* the answer said so for certain */
	char uid[40], name[64], node[64];
};

/* A share that a controller has decided to give, for as long as each of its writes to that capacity
 * pod says so again. */
struct chosen {
	int replica;
	size_t moment; /* of the first of them */
	int64_t at;    /* its time */
	bool again;
	char holder[64], uid[40];
};

struct claims {
	struct {
		VEC_FIELDS(struct chosen);
	} chosen;
	struct {
		VEC_FIELDS(struct intent);
	} intents;
	struct {
		VEC_FIELDS(struct intent); /* name: a node on which a capacity pod failed */
	} failures;
	int64_t leads_since;   /* the last time that anybody began to lead */
	int64_t refused_at[2]; /* by controller: when a write of it did not hold; 0: never */
};

#endif
