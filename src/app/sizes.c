/* The walk over what is known of use, and the sizer's turns between it. */
#include "sizes.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/log.h"
#include "recall.h"

/* Pods whose figures are handed on in one turn, and units of work of one step of the sizer: some
 * tenths of a millisecond each. */
#define WALK_PODS   200
#define STEP_BUDGET 400

struct sizes {
	struct sizes_config config;
	struct sizer *sizer; /* owned */
	struct plan plan;
	struct recall *recall; /* owned; while checkpoints are read */
	bool led, recalled, ending;
	int64_t walk_at;
	bool walking;
	uint32_t at; /* in what is known */
};

struct sizes *sizes_create(const struct sizes_config *config)
{
	struct sizer_config sizer = {.groups = config->groups,
		.round_ms = config->round_ms,
		.checkpoint_ms = config->checkpoint_ms};
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
	recall_destroy(z->recall);
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

/* Whoever runs and should have another share. */
static void ask_engine(struct sizes *z)
{
	size_t count = 0;
	const struct sizer_wish *wishes = sizer_wishes(z->sizer, &count);
	for (size_t i = 0; i < count; i++) {
		struct change c = {.type = CHANGE_SHARE,
			.kind = KIND_POD,
			.uid = wishes[i].uid,
			.milli = wishes[i].milli,
			.mem_mib = wishes[i].mib};
		(void)z->config.tell(z->config.data, &c);
	}
}

static struct sizer_now now_of(const struct sizes *z)
{
	return (struct sizer_now){clock_mono(z->config.clock), clock_policy(z->config.clock)};
}

static void end_recall(struct sizes *z)
{
	recall_destroy(z->recall);
	z->recall = NULL;
}

/* Somebody else may have measured before: his checkpoints count. */
static bool is_acquainted(struct sizes *z, int64_t now)
{
	if (!z->led) {
		sizer_forget(z->sizer);
		z->led = true;
		z->recalled = false;
	}
	if (!z->recalled && z->recall == NULL && sizer_listed(z->sizer)) {
		z->recall = recall_create(z->config.kube, z->sizer);
	}
	if (z->recall != NULL && recall_step(z->recall, now)) {
		end_recall(z);
		z->recalled = true;
	}
	return z->recalled;
}

void sizes_step(struct sizes *z, int64_t now, bool leads)
{
	if (!leads) {
		z->led = false;
		end_recall(z);
		return;
	}
	if (!world_all_synced(z->config.world) || !is_acquainted(z, now)) {
		return;
	}
	if (z->walking || now >= z->walk_at) {
		walk(z, now);
	}
	if (now < sizer_deadline(z->sizer) && !z->ending) {
		return;
	}
	sizer_step(z->sizer, now_of(z), z->config.world, STEP_BUDGET, &z->plan);
	for (size_t i = 0; i < z->plan.actions.count; i++) {
		act_submit(z->config.act, &z->plan.actions.items[i]);
	}
	ask_engine(z);
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
	if (z->recall != NULL) {
		return recall_deadline(z->recall);
	}
	return time_min(z->walking ? 0 : z->walk_at, sizer_deadline(z->sizer));
}

void sizes_end(struct sizes *z)
{
	z->ending = true;
	sizer_end(z->sizer);
}

bool sizes_ended(const struct sizes *z, bool leads)
{
	return !leads || !z->recalled || sizer_ended(z->sizer, now_of(z));
}

void sizes_sum(const struct sizes *z, struct sizer_totals *ret)
{
	sizer_sum(z->sizer, ret);
}
