/* Orphans (C11, I8): GPUs that live tenants use and no live capacity pod holds, so that the device
 * plugin takes them for free. Each is told to its tenants and gets nobody else. Unless the policy
 * says otherwise it is searched for: the device plugin gives out whichever device is free, so that
 * every free GPU of the node is asked for at once, the capacity pod that gets the right one stays
 * and is an ordinary one from then on, and the others go. After a time its tenants are evicted.
 *
 * The engine owns all of it, and may lose it: which GPUs are orphans follows from the objects. Lost
 * with it is only since when, and who was told. Nothing here fails. */
#ifndef GUARDIAN_ORPHAN_H
#define GUARDIAN_ORPHAN_H

#include "base/clock.h"
#include "base/map.h"
#include "base/vec.h"
#include "ledger/keyed.h"
#include "ledger/nouns.h"

struct orphan {
	char *uuid;    /* owned */
	char *node;    /* owned */
	int64_t since; /* when it was found that nobody holds it any more, on a node that answers;
			  -1: that is not so yet */
	int64_t retry_at; /* not searched for before */
	struct backoff backoff;
	VEC_OF(char *) told; /* owned; uids of the tenants that were told */
	uint64_t seen;
	bool amiss;	/* a capacity pod of the other mode had it */
	bool asked_mps; /* the mode of those that were last asked for */
	/* of this step */
	bool leaving;  /* its capacity pod is still there, on its way out */
	bool searched; /* some tenant's policy says Reacquire */
	bool mps;      /* its tenants are clients of MPS */
};

/* A tenant of an orphan, in this step. */
struct stranded {
	uint32_t orphan, slot;
	bool go; /* its policy says Evict */
};

/* The search on one node, in this step. */
struct search {
	uint32_t lost, leaving; /* orphans that are searched for, by whether they are free yet */
	uint32_t opening;	/* capacity pods of the search that have not told their GPU */
	uint32_t unbound;	/* those of them that no node has yet */
	int64_t want;		/* how many more to ask for */
	uint32_t mps;		/* orphans whose capacity pod was of that mode */
	uint32_t amiss;		/* capacity pods of the other mode, which go */
	bool mps_is_free;	/* one of those orphans was found in mode None since then */
	bool due, fresh;	/* may ask now; some orphan's time is not over */
	bool asked, asked_mps;
};

struct orphans {
	struct picture *picture; /* borrowed */
	struct {
		KEYED_FIELDS(struct orphan);
	} items; /* by uuid and node: a UUID names a GPU of its node alone */
	/* the step's scratch */
	VEC_OF(struct stranded) stranded;
	VEC_OF(struct search)
	searches;	    /* beside the snapshot's nodes; empty where there is no orphan */
	struct map outside; /* by UUID and node, to holders that are not in the snapshot */
};

void orphans_init(struct orphans *orphans, struct picture *picture);
void orphans_finish(struct orphans *all);
/* One that is known; it must not be yet. */
struct orphan *orphan_add(struct orphans *orphans, const char *uuid, const char *node);
/* NULL: it is none */
struct orphan *orphan_find(struct orphans *orphans, const char *uuid, const char *node);
/* Some capacity pod holds that GPU, or a tenant runs on it. After orphans_find. */
bool gpu_is_anybodys(struct orphans *orphans, const char *uuid, const char *node);
/* In the snapshot, after everybody was counted. */
void orphans_find(struct orphans *orphans);
uint32_t orphans_count(const struct orphans *orphans); /* in this step */
void orphans_tend(struct orphans *orphans, struct evictions *evictions, struct emitter *out);
/* It was searched for long enough. */
bool orphan_is_late(const struct picture *picture, const struct orphan *o);

#endif
