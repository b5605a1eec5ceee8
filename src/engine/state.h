/* The inside of the engine: what it remembers beside the world. All of it may be lost at any time;
 * it only avoids asking for the same thing twice and tells how long something has lasted. */
#ifndef ENGINE_STATE_H
#define ENGINE_STATE_H

#include "base/rand.h"
#include "capacity/inject.h"
#include "capacity/scale.h"
#include "demand/gpu_avoidance.h"
#include "demand/needs.h"
#include "demand/quota_usage.h"
#include "demand/rank.h"
#include "demand/wholes.h"
#include "guardian/evict.h"
#include "guardian/health.h"
#include "guardian/orphan.h"
#include "guardian/overuse.h"
#include "guardian/resizes.h"
#include "ledger/engine_config.h"
#include "ledger/ledger.h"
#include "scheduling/preempt.h"
#include "scheduling/scheduling.h"
#include "scheduling/startup_order.h"
#include "policies.h"

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
	struct startup_order startup_order;
	struct orphans orphans;
	struct scale scale;
	struct resizes resizes;
	struct gpu_avoidances avoidances;

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

#endif
