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
#include "overuse.h"
#include "pending_pod.h"
#include "quota_usage.h"
#include "policies.h"
#include "rank.h"
#include "request.h"
#include "resize.h"
#include "resource_version.h"
#include "runtime.h"
#include "scale.h"
#include "scheduling.h"
#include "shun.h"
#include "snapshot.h"
#include "step_time.h"
#include "assigned_gpus.h"
#include "turn.h"
#include "view.h"
#include "size/policy_resolution.h"
#include "place/place.h"
#include "whole.h"

struct pools;
struct world;
struct engine {
	struct engine_config cfg;
	uint64_t seed;
	char *runtime_class, *injection; /* owned */
	struct injecting inject;
	struct runtime runtime;
	struct world *world; /* owned */
	struct rng rng;
	bool leads;
	struct step_time time;
	uint64_t decided_version; /* of the world at the end of the last complete step */

	struct book book;
	struct ailments ailments;
	struct evictions evictions;
	struct overuses overuses;
	struct preempting preempting;
	struct turns turns;
	struct orphans orphans;
	struct scale scale;
	struct resizes resizes;
	struct shuns shuns;

	/* the step's scratch */
	struct wholes wholes;
	struct needs needs;
	struct picture picture;
	struct openings openings;
	struct ranked ranked;
	struct ranking ranking;
	struct quotas quotas;
	struct companies companies;
	struct policies policies;
	struct engine_report report;
	struct pools *pools; /* owned; of the nodes */

	struct scheduling scheduling; /* all of the above that decides who gets what */
	struct emitter emitter;
	struct journal *journal; /* borrowed; NULL: nothing is recorded */
};

/* capacity_lifecycle.c: the life of capacity pods; the last is of pending_report.c */
void capacity_tend(struct scheduling *sched, struct emitter *out);
void report_waiting(struct scheduling *sched, struct emitter *out);

#endif
