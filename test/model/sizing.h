/* The rightsizing half of a modelled controller: the sizer as it ships, wired and stepped as
 * app/sizes.c does it. What pods use is a fixed stream, for what becomes of figures is tested
 * elsewhere: a workload that is told 20 % of a GPU all the time is soon to have 30 %. Checkpoints
 * are not written, so that a new leader learns anew. */
#ifndef SIM_SIZING_H
#define SIM_SIZING_H

#include "act/act.h"
#include "around/around.h"
#include "base/clock.h"
#include "engine/engine.h"
#include "kube/feeds.h"
#include "model/plan.h"
#include "owner/groups.h"
#include "sizer/sizer.h"
#include "world/advice.h"

struct replica;
struct sim;
struct rightsizer {
	struct sim *sim; /* borrowed, like the next four */
	const struct clock *clock;
	struct engine *engine;
	struct act *act;
	struct feeds *feeds;
	int index;	       /* of the controller */
	struct groups *groups; /* owned, like the next three */
	struct around *around;
	struct advice *advice;
	struct sizer *sizer;
	struct plan plan;
	bool led, settled;
	int64_t led_at, synced_ms, reached_ms, use_at, reach_at;
};

/* What was set is borrowed as above; the rest is made. */
void sizing_begin(struct rightsizer *z);
void sizing_finish(struct rightsizer *z);
/* Of the kinds that are none of the engine's. */
bool sizing_observe(struct rightsizer *z, const struct change *c);
void sizing_step(struct rightsizer *z, int64_t now, bool leads);
/* False: it is the engine's. */
bool sizing_settle(struct rightsizer *z, const struct action *a, const struct outcome *o);
int64_t sizing_deadline(const struct rightsizer *z, bool leads);

#endif
