/* The walk over what is known of use, and the sizer's turns between it. */
#include "sizes.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/log.h"

/* Pods whose figures are handed on in one turn, and units of work of one step of the sizer: some
 * tenths of a millisecond each. */
#define WALK_PODS   200
#define STEP_BUDGET 400

struct sizes {
	struct sizes_config config;
	struct sizer *sizer; /* owned */
	struct plan plan;
	int64_t walk_at;
	bool walking;
	uint32_t at; /* in what is known */
};

struct sizes *sizes_create(const struct sizes_config *config)
{
	struct sizer_config sizer = {.groups = config->groups, .round_ms = config->round_ms};
	struct sizes *z = xcalloc(1, sizeof *z);
	z->config = *config;
	z->sizer = sizer_create(&sizer);
	return z;
}

void sizes_destroy(struct sizes *z)
{
	if (z == NULL) {
		return;
	}
	sizer_destroy(z->sizer);
	plan_finish(&z->plan);
	free(z);
}

bool sizes_observe(struct sizes *z, const struct change *c)
{
	return sizer_observe(z->sizer, c);
}

/* --- what is used --- */

static void hand_on(struct sizes *z, const struct latest_pod *p)
{
	struct sizer_figure figures[LATEST_FIGURES_MAX];
	const struct world_pod *wp = world_pod_find(z->config.world, p->ns, p->name);
	if (wp == NULL || p->state != LATEST_FRESH) {
		return;
	}
	for (uint32_t i = 0; i < p->figure_count; i++) {
		const struct latest_figure *f = &p->figures[i];
		figures[i] = (struct sizer_figure){
			f->container, f->basis, f->estimated, f->compute, f->mem_bytes, f->at_ms};
	}
	struct sizer_use use = {
		.uid = world_pod_uid(wp),
		.source = p->source,
		.figures = figures,
		.figure_count = p->figure_count,
		.kv_used = p->gauges_state == LATEST_FRESH ? p->gauges.kv_used : METERED_ABSENT,
	};
	(void)sizer_take(z->sizer, &use, clock_policy(z->config.clock));
}

static void walk(struct sizes *z, int64_t now)
{
	struct latest_pod pod;
	if (!z->walking) {
		z->walking = true;
		z->at = 0;
	}
	for (int budget = WALK_PODS; budget > 0; budget--) {
		if (z->at >= latest_count(z->config.latest)) {
			z->walking = false;
			z->walk_at = now + z->config.use_ms;
			return;
		}
		latest_at(z->config.latest, z->at++, &pod);
		hand_on(z, &pod);
	}
}

/* --- turns --- */

static struct sizer_now now_of(const struct sizes *z)
{
	return (struct sizer_now){clock_mono(z->config.clock), clock_policy(z->config.clock)};
}

void sizes_step(struct sizes *z, int64_t now, bool leads)
{
	if (!leads || !world_all_synced(z->config.world)) {
		return;
	}
	if (z->walking || now >= z->walk_at) {
		walk(z, now);
	}
	if (now < sizer_deadline(z->sizer)) {
		return;
	}
	sizer_step(z->sizer, now_of(z), z->config.world, STEP_BUDGET, &z->plan);
	for (size_t i = 0; i < z->plan.actions.count; i++) {
		act_submit(z->config.act, &z->plan.actions.items[i]);
	}
}

bool sizes_settle(struct sizes *z, const struct action *action, const struct outcome *outcome)
{
	if (!sizer_owns(action->id)) {
		return false;
	}
	sizer_settle(z->sizer, now_of(z), action->id, outcome);
	return true;
}

int64_t sizes_deadline(const struct sizes *z, bool leads)
{
	if (!leads) {
		return TIME_NEVER;
	}
	return time_min(z->walking ? 0 : z->walk_at, sizer_deadline(z->sizer));
}

void sizes_sum(const struct sizes *z, struct sizer_totals *ret)
{
	sizer_sum(z->sizer, ret);
}
