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
#include "book.h"
#include "capacity_failure.h"
#include "capacity_pod.h"
#include "sharing_group.h"
#include "decide.h"
#include "departed_share.h"
#include "doubled_gpu.h"
#include "emit.h"
#include "emit_grant.h"
#include "evict.h"
#include "flight.h"
#include "group.h"
#include "health.h"
#include "eviction_hold.h"
#include "inject.h"
#include "keeper.h"
#include "landing.h"
#include "needs.h"
#include "picture.h"
#include "pod_object.h"
#include "pod_policy.h"
#include "preempt.h"
#include "open_gpu.h"
#include "opening.h"
#include "orphan.h"
#include "pending_pod.h"
#include "quota_usage.h"
#include "rank.h"
#include "request.h"
#include "resize.h"
#include "resource_version.h"
#include "runtime.h"
#include "scale.h"
#include "shun.h"
#include "snapshot.h"
#include "assigned_gpus.h"
#include "turn.h"
#include "size/policy_resolution.h"
#include "place/place.h"
#include "whole.h"

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

bool view_lags(struct engine *e); /* view.c: C21 */

/* capacity_lifecycle.c: the life of capacity pods; the last is of pending_report.c */
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
