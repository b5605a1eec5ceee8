/* The memory watchdog where nothing enforces a share of GPU memory (mode None): who uses more than
 * was granted, as the agents measure it, is told so at once; and evicted only where its policy says
 * so and the GPU is really short. A figure that nobody tells, or told too long ago, is unknown, and
 * of what is unknown nothing follows but silence. docs/design/overuse.md.
 *
 * Whoever ran out of memory through others is told so too (C29).
 *
 * One pass a second goes from node to node, in slices: a tenant, its GPUs and its neighbours are
 * all of one node, and a node is judged in one piece, as it is in that moment. So between two
 * slices nothing is kept but how far the pass has come.
 *
 * The engine owns all of it, and may lose it: it is then learnt from the next states, and who was
 * told shows in the pods' conditions. Nothing here fails. */
#ifndef GUARDIAN_OVERUSE_H
#define GUARDIAN_OVERUSE_H

#include "base/vec.h"
#include "ledger/engine_config.h"
#include "ledger/keyed.h"
#include "ledger/nouns.h"

/* A tenant that was seen over its share of one GPU. */
struct overuse {
	char *uid, *uuid; /* owned */
	int64_t share_mib, used_mib;
	int64_t seen_ms; /* the look that counted last had been taken by then */
	uint32_t looks;	 /* in a row that say the contrary of `over` */
	bool over;
	bool known;	 /* the figures are fresh, as of the last pass */
	int64_t told_at; /* -1: not yet */
	/* while its node is judged */
	int64_t sum_mib; /* what its node tells; -1: not known */
	uint32_t next;	 /* of the same crowd; MAP_NONE: none */
	uint64_t visit;	 /* the one that met it last */
	/* since when it has the share that it has (policy time), as of this stamp and 1 */
	uint64_t stamp;
	int64_t resized_ms;
};

/* A GPU on which somebody may be over. */
struct crowd {
	char *uuid;	    /* owned */
	uint64_t members;   /* one number for all tenants that are there */
	int64_t changed_at; /* these since then */
	int64_t failed_at;  /* one of them ran out of memory through others; -1: not since */
	char *victim;	    /* owned; uid of that one */
	uint64_t met;	    /* the pass that met it last */
	/* while its node is judged */
	uint64_t visit; /* this one */
	bool leaving;
	uint64_t sum;
	uint32_t first; /* of those that are over or may be; MAP_NONE: none */
};

/* A tenant that told that a GPU had no memory left. */
struct failure {
	char *uid;     /* owned */
	int64_t at_ms; /* as it says itself: one time is one failure */
	int64_t seen_at;
	bool judged;
	int64_t contended_at; /* it was through others, last then; -1: never */
	int64_t told_at;      /* -1: not yet */
	uint64_t met;	      /* the pass that met it last */
};

/* A condition was asked for. */
struct remark {
	char *uid; /* owned */
	int64_t at;
};

/* What a pass goes through, one after the other; the three in the middle node by node. */
enum overuse_stage {
	OVERUSE_RESTS,
	OVERUSE_REMARKS,  /* that are too old */
	OVERUSE_LEFT,	  /* tenants that were over, and are not there any more */
	OVERUSE_FAILURES, /* tenants of a node that ran out of memory */
	OVERUSE_JUDGE,	  /* a node: who is over, and who must go */
	OVERUSE_INFORM,	  /* its tenants, what was found of them */
	OVERUSE_CROWDS,	  /* that were not met */
	OVERUSE_FAILED,	  /* and those who ran out of memory and were not */
	OVERUSE_STAGES
};

struct overuse_pass {
	enum overuse_stage stage;
	uint64_t at;	      /* of a list, that many are left; else the node */
	uint32_t slot;	      /* tenants of that node: those from this slot of the world on */
	uint64_t pass, visit; /* counted */
	int64_t left;	      /* work of this slice */
	/* found so far, told when the pass is complete */
	uint32_t over, contended;
	int64_t over_mib;
};

/* There may be as many of each as there are tenants, so each is found by its key. They come and go
 * through overuse_find.c alone. */
struct overuses {
	struct picture *picture; /* borrowed, as are these */
	struct evictions *evictions;
	struct {
		KEYED_FIELDS(struct overuse);
	} items; /* by uid and uuid */
	struct {
		KEYED_FIELDS(struct crowd);
	} crowds;
	struct {
		KEYED_FIELDS(struct failure);
	} failures;
	struct {
		KEYED_FIELDS(struct remark);
	} remarks;	       /* of the last minute */
	VEC_OF(uint32_t) here; /* scratch: places in `items` of those of the node that is judged */
	VEC_OF(uint32_t) crowded; /* the same of crowds */
	int64_t next_at;
	struct overuse_pass pass;
};

/* overuse.c: a node in one piece. */
void overuse_judge(struct overuses *all, uint32_t node, int64_t policy_ms, struct emitter *out);
/* Somebody is over no more: who ran out of memory before that is helped. */
void overuse_relieved(struct overuses *all, const char *uuid);
/* A tenant that runs, whose memory somebody may be watching. */
bool overuse_uses_now(const struct world_pod *p);

/* What is shared with contention.c. */
#define OVERUSE_REPORT_EVERY_MS 600000
/* A tenant whose memory somebody may be watching: it runs, or has just ended, on a GPU in mode
 * None. */
bool overuse_concerns(const struct world_pod *p);
/* What it uses of the device; -1: not known. */
int64_t overuse_measured(
	const struct picture *picture, const struct world_pod *p, const char *uuid);
struct crowd *crowd_touch(struct overuses *all, const char *uuid);

#endif
