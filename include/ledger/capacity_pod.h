/* One capacity pod: what the watch shows of it, what was asked for since, and what follows from
 * these alone. Nothing here fails. */
#ifndef LEDGER_CAPACITY_POD_H
#define LEDGER_CAPACITY_POD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "ledger/flight.h"
#include "ledger/kept_picture.h"
#include "model/plan.h"
#include "model/pod.h"

struct world_gpu;

/* A capacity pod, by name: from the moment we ask for it. What every step asks of each of them
 * comes first and close together: that is most of what a step waits for. */
struct holder {
	char *name;	  /* owned */
	char *node;	  /* owned; where it was asked to be, or is */
	uint32_t node_at; /* the world's place of it, if `node_known` */
	uint32_t at;	  /* its place in the books */
	uint32_t place;	  /* that of its pod in the world, if the books have it there */
	uint64_t seen;
	uint64_t flight; /* the write under way, 0: none; by holder_sends alone */
	char *acked_rv;	 /* owned; version of the acknowledged ledger */
	char *avoid_rv;	 /* owned; a write from this version failed: wait for another */
	enum action_type flight_type;
	bool in_world;
	bool node_known;
	bool told_anew;			 /* another GPU than in the last picture */
	bool unpinned;			 /* holder_asks_for_node */
	bool asked_holds;		 /* `asked` is what counts, not the world's */
	bool asked_keeps, asked_movable; /* with it: its node stays; it may be evicted (C39) */
	bool has_grace;			 /* it had tenants, so the next one is known */
	bool deleted;			 /* our deletion was acknowledged */
	bool search;	     /* opened to find an orphan, not found to hold one: gets nobody */
	bool told_doubled;   /* that another tells its GPU too */
	bool label_movable;  /* its label says that it may be evicted (C39), as of `label_stamp` */
	bool mps, told_held; /* it runs the daemon of MPS; that this takes nobody was told */
	uint64_t stamp;	     /* of the world's pod, of which `pod` is */
	uint32_t snap_at;    /* its place in the snapshot of step `snap_step` */
	uint64_t snap_step;
	int64_t opened_at, told_from; /* first known; what agents saw since is of it */
	int64_t lost_at;	/* it told its GPU but does not hold it since then; -1: it does */
	int64_t refused_at;	/* kept from its node or its start since then; -1: not */
	int64_t idle_since;	/* -1: has tenants or demand */
	int64_t going_at;	/* it was first seen being deleted; -1: it is not */
	uint64_t wanted, amiss; /* steps: a waiter chose it; who is not of its mode was on it */
	int64_t expires_at;	/* assumed but never seen by then: forgotten */
	struct pod pod;		/* as of `stamp` */
	struct arena arena;	/* of `pod` */
	struct kept_ledger kept;
	char *uid;	 /* owned; NULL until it exists */
	char *flight_rv; /* owned; the version that a grant or deletion was last made from */
	/* the ledger that was acknowledged, or asked for while the fate of that is open */
	struct arena asked_arena;
	struct ledger asked;
	int64_t companion_gone_at; /* C14: its companion was asked to go; 0: never */
	int64_t mend_at;	   /* no write before that only puts right what stands there */
	int64_t acked_at;
	int64_t avoid_until;
	int64_t grace_ms;     /* how long it stays after those that it had last */
	uint64_t label_stamp; /* the `stamp` before this; 0: never */
	uint64_t grace_stamp; /* that was learnt as of the `stamp` before this; 0: never */
	struct trust trust;   /* in its ledger, as it stands */
	char *refusal;	      /* owned; why it could not be created; asked again at `retry_at` */
	int64_t retry_at;
	struct backoff backoff;
};

/* Its ledger as it counts: what was asked for last, or what the watch shows. */
const struct ledger *holder_ledger(const struct holder *h);
const char *holder_version(const struct holder *h); /* which that ledger has */
void holder_drop_asked(struct holder *h);	    /* what the watch shows counts again */
/* It is there, nothing is under way to it. */
bool holder_may_go(const struct holder *h);
bool holder_is_deleted(const struct holder *h); /* that was asked for, answered or not */
bool holder_is_leaving(const struct holder *h); /* or somebody else deletes it */
/* C39: it is being ended, and holds its GPU through a long grace for whoever is still there. */
bool holder_waits_for_tenants(const struct holder *h);
/* C14: it was not pinned when it was made: versions before asked for nodes with such. */
#define CAPACITY_UP_HEAD "capacity-up-"
static inline bool holder_asks_for_node(const struct holder *h)
{
	return h->unpinned;
}
/* The device is what a tenant runs on. A name can be used again by a pod that got another GPU, and
 * the GPU may be held under another name by now. */
bool tenant_is_on(const struct holder *h, const struct world_gpu *tenant);

bool ledger_has(const struct ledger *l, const char *uid);
const struct grant *ledger_find(const struct ledger *l, const char *uid); /* NULL: not in it */

#endif
