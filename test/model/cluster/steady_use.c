/* The same figures of every pod that runs, four times a minute. */
#include "steady_use.h"

#include "objects/sim_parts.h"
#include "sizer/workload_pods.h"
#include "claims/work_objects.h"

#define USE_MS	 15000
#define USED_MIB INT64_C(4096)

static void tell_use(const struct control *c, const struct stored *o)
{
	struct sizer *sizer = rightsizing_sizer(c->rightsizing);
	const struct world_pod *wp = world_pod_by_uid(engine_world(c->engine), o->uid);
	int64_t now = clock_policy(c->config.clock);
	const struct metered_figure figure = {.container = "main",
		.compute = METERED_FULL / 5,
		.mem_bytes = USED_MIB << 20,
		.at_ms = now};
	const struct sizer_use use = {
		.uid = o->uid, .source = METERED_AGENT, .figures = &figure, .figure_count = 1};
	if (wp != NULL) {
		sizer_see(sizer, wp, now);
		(void)sizer_take(sizer, &use, now);
	}
}

static void steady_use_step(void *self, const struct turn *turn)
{
	struct steady_use *u = self;
	const struct store *store = &u->sim->store;
	if (turn->now < u->at) {
		return;
	}
	u->at = turn->now + USE_MS;
	for (size_t i = 0; i < store->items.count; i++) {
		const struct stored *o = store->items.items[i];
		if (work_of(o) != NULL && o->pod.phase == POD_RUNNING) {
			tell_use(u->control, o);
		}
	}
}

static int64_t steady_use_deadline(const void *self, const struct turn *turn)
{
	const struct steady_use *u = self;
	(void)turn;
	return u->at;
}

const struct part steady_use_part = {steady_use_step, steady_use_deadline, NULL};
