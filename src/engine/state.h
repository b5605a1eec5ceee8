/* The inside of the engine: what it remembers beside the world. All of it may be lost at any time;
 * it only avoids asking for the same thing twice and tells how long something has lasted. */
#ifndef ENGINE_STATE_H
#define ENGINE_STATE_H

#include "base/alloc.h"
#include "base/clock.h"
#include "base/map.h"
#include "base/rand.h"
#include "base/str.h"
#include "base/vec.h"
#include "engine/engine.h"
#include "alarm.h"
#include "book.h"
#include "sharing_group.h"
#include "decide.h"
#include "departed_share.h"
#include "emit.h"
#include "evict.h"
#include "flight.h"
#include "gpu_index.h"
#include "group.h"
#include "health.h"
#include "eviction_hold.h"
#include "inject.h"
#include "landing.h"
#include "needs.h"
#include "picture.h"
#include "preempt.h"
#include "orphan.h"
#include "quota_usage.h"
#include "rank.h"
#include "resize.h"
#include "runtime.h"
#include "scale.h"
#include "shun.h"
#include "snapshot.h"
#include "assigned_gpus.h"
#include "turn.h"
#include "size/policy_resolution.h"
#include "place/place.h"
#include "whole.h"

/* A tenant that waits, by uid. */
struct waiter {
	char *uid;	    /* owned */
	struct arena arena; /* of `pod` */
	struct pod pod;	    /* as of `stamp` */
	uint64_t stamp;
	uint32_t at;	 /* its place in the books */
	uint64_t flight; /* the PLACE under way, 0: none; by waiter_sends alone */
	char *flight_rv; /* owned; the version that it is, or was last, made from */
	char *placed_rv; /* owned; placed from this version, the watch has not shown it yet */
	int64_t placed_until;
	char *word_from, *word_rv; /* owned; versions of one content, by an answer; NULL */
	int64_t retry_at;
	struct backoff backoff;
	char *refusal; /* owned; the answer to the last write, or to the one it depends on */
	int64_t refused_until; /* that one rests */
	int64_t first_seen;
	enum reason reason;
	uint64_t judged;       /* the step that found it */
	int64_t granting_from; /* since then it is Granting; 0: it is not */
	bool crowded;	       /* the node is to try as many RuntimeClasses already as it may */
	struct place_request asked; /* of the last look */
	struct place_verdict
		miss;	    /* the closest miss of the last look; texts live as long as the step */
	int64_t vain_since; /* C35: it waits as a whole pod would not; 0: no, -1: it was told so */
	int64_t condition_at; /* when one was last asked for; 0: never */
	enum reason condition_reason;
	uint64_t seen;	   /* the step that last met it */
	uint64_t ranked;   /* the step in which it last had a rank, 0: none */
	uint32_t rank;	   /* that one */
	uint32_t pod_slot; /* its place in waiter_by_slot, if it is there */
	struct {
		VEC_FIELDS(struct landing);
	} landings;
	/* the ledger entry that already gives it a share, found in step `granted_step` */
	struct holder *granted_by;
	uint32_t granted_index;
	uint64_t granted_step;
	struct group group;
	struct hold hold;
	int64_t preempt_at;  /* whom it could displace is not looked for before */
	int64_t quota_milli; /* what of quotas it is counted with in this step's picture */
	struct passed passed;
	int64_t asked_for_s; /* for so long a node is asked for; of this step. 0: it is not */
};

/* A capacity pod, by name: from the moment we ask for it. */
struct holder {
	char *name;	    /* owned */
	char *uid;	    /* owned; NULL until it exists */
	char *node;	    /* owned; where it was asked to be, or is */
	struct arena arena; /* of `pod` */
	struct pod pod;	    /* as of `stamp` */
	bool in_world;
	uint64_t stamp;
	uint32_t at;	 /* its place in the books */
	uint64_t flight; /* the write under way, 0: none; by holder_sends alone */
	enum action_type flight_type;
	char *flight_rv; /* owned; the version that a grant or deletion was last made from */
	/* the ledger that was acknowledged, or asked for while the fate of that is open */
	struct arena asked_arena;
	struct ledger asked;
	bool asked_holds;		 /* `asked` is what counts, not the world's */
	bool asked_keeps, asked_movable; /* with it: its node stays; it may be evicted (C39) */
	/* C14: its companion was last asked to go; 0: never */
	int64_t companion_gone_at;
	int64_t mend_at; /* no write before that only puts right what stands there */
	char *acked_rv;	 /* owned; version of the acknowledged ledger */
	int64_t acked_at;
	char *avoid_rv; /* owned; a write from this version failed: wait for another */
	int64_t avoid_until;
	int64_t expires_at;	      /* assumed but never seen by then: forgotten */
	int64_t idle_since;	      /* -1: has tenants or demand */
	bool has_grace;		      /* it had tenants, so the next one is known */
	int64_t grace_ms;	      /* how long it stays after those that it had last */
	uint64_t grace_stamp;	      /* that was learnt as of the `stamp` before this; 0: never */
	int64_t opened_at, told_from; /* first known; what agents saw since is of it */
	int64_t lost_at;	/* it told its GPU but does not hold it since then; -1: it does */
	int64_t refused_at;	/* kept from its node or its start since then; -1: not */
	int64_t going_at;	/* it was first seen being deleted; -1: it is not */
	uint64_t wanted, amiss; /* steps: a waiter chose it; who is not of its mode was on it */
	bool deleted;		/* our deletion was acknowledged */
	bool search;		/* opened to find an orphan, not found to hold one: gets nobody */
	bool told_doubled;	/* that another tells its GPU too */
	struct trust trust;	/* in its ledger, as it stands */
	bool mps, told_held;	/* it runs the daemon of MPS; that this takes nobody was told */
	char *refusal;		/* owned; why it could not be created; asked again at `retry_at` */
	int64_t retry_at;
	struct backoff backoff;
	uint32_t snap_at; /* its place in the snapshot of step `snap_step` */
	uint64_t snap_step;
	uint64_t seen;
};

struct policies_pass; /* policies.h */
struct pools;
struct engine {
	struct engine_config cfg;
	uint64_t seed;
	char *runtime_class, *injection; /* owned */
	struct injecting inject;
	struct runtime runtime;
	struct world *world; /* owned */
	struct rng rng;
	bool leads;
	uint64_t next_action;
	uint64_t step;
	int64_t deadline;
	int64_t now;		  /* of the step that runs or ran last */
	uint64_t decided_version; /* of the world at the end of the last complete step */
	bool dirty;
	uint32_t resume; /* ranks handled by an unfinished step */
	uint64_t round;	 /* the step in which the ranks were begun from the first */

	struct {
		VEC_FIELDS(struct waiter *); /* owned */
	} waiters;
	struct map waiters_by_uid;
	struct {
		VEC_FIELDS(struct waiter *); /* borrowed; NULL: not known */
	} waiter_by_slot;		     /* beside the world's pods */
	struct {
		VEC_FIELDS(struct holder *); /* owned */
	} holders;
	struct map holders_by_name;
	struct flights flights;
	struct {
		VEC_FIELDS(struct node_memo);
	} memos;
	struct map memos_by_name;
	struct absences absences;
	struct ailments ailments;
	struct evictions evictions;
	struct preempting preempting;
	struct turns turns;
	struct orphans orphans;
	struct scale scale;
	struct resizes resizes;
	struct shuns shuns;

	/* the step's scratch */
	struct wholes wholes;
	struct needs needs;
	struct snapshot snap;
	struct openings openings;
	uint32_t searches;  /* in this picture */
	size_t looked_at;   /* GPUs, nodes and guests, by the decision that runs */
	uint32_t forgotten; /* tenants that run and that no ledger counts */
	struct {
		uint64_t step; /* of which `lags` is */
		bool lags;
	} view;
	struct {
		VEC_FIELDS(struct snap_gpu);
	} snap_gpus; /* beside snap.gpus */
	struct {
		VEC_FIELDS(uint32_t);
	} snap_nodes; /* world index of each snapshot node */
	struct {
		VEC_FIELDS(uint32_t);
	} node_to_snap; /* world index to snapshot index */
	struct {
		VEC_FIELDS(struct candidate);
	} ranked;
	struct ranking ranking;
	struct {
		VEC_FIELDS(struct chosen);
	} chosen;
	struct {
		VEC_FIELDS(int64_t);
	} quota_used; /* beside the world's quotas: thousandths of a GPU */
	struct companies companies;
	struct map gpus_by_uuid; /* of this step, to places in snap_gpus */
	struct {
		VEC_FIELDS(uint64_t);
	} counted;		 /* a bit for each pod slot: the ledger counted it in this step */
	uint64_t policy_version; /* of the world, when the last pass over policies began */
	struct engine_report report;
	struct policies_pass *pass; /* owned; policies.c */
	struct pools *pools;	    /* owned; of the nodes */
	struct journal *journal;    /* borrowed; NULL: nothing is recorded */
};

/* How many GPUs it asks for. */
static inline uint32_t waiter_count(const struct waiter *w)
{
	return group_size(&w->group);
}

bool view_lags(struct engine *e); /* view.c: C21 */

/* capacity_lifecycle.c: the life of capacity pods; the last is of pending_report.c */
bool capacity_failed(struct engine *e, const struct holder *h, int64_t now);
bool holder_may_go(const struct holder *h); /* it is there, nothing is under way to it */
void capacity_tend(struct engine *e, int64_t now, struct plan *plan);
void report_waiting(struct engine *e, struct engine_now now, struct plan *plan);

/* Lower the next deadline. What is due already was looked at by this step: asking for another one
 * would only spin, for as long as that lasts. */
static inline void wake_by(struct engine *e, int64_t at)
{
	if (at > e->now) {
		e->deadline = time_min(e->deadline, at);
	}
}

#endif
