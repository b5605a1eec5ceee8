/* The walk over what is known of use, and the sizer's turns between it. */
#include "sizes.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "sizer/recommendation_watch.h"
#include "sizer/usage_checkpoints.h"
#include "sizer/workload_pods.h"
#include "pasts.h"
#include "recall.h"
#include "sizer_metrics.h"

/* Pods whose figures are handed on in one turn, and units of work of one step of the sizer: some
 * tenths of a millisecond each. */
#define WALK_PODS   200
#define STEP_BUDGET 400
/* For so long after the beginning the watches are waited for that need not be there. */
#define SETTLE_MS 60000

struct sizes {
	struct sizes_config config;
	struct sizer *sizer; /* owned */
	struct plan plan;
	struct recall *recall; /* owned; while checkpoints are read */
	struct pasts *pasts;   /* owned */
	bool led, recalled, ending;
	bool reached;
	int64_t reached_ms, synced_ms; /* policy time; the views are whole since */
	bool settled; /* the watches that need not be there are, or are not waited for */
	int64_t led_at;
	int64_t walk_at;
	bool walking;
	uint32_t at; /* in what is known */
};

static const struct zone *find_zone(void *data, const char *name)
{
	const struct sizes *z = data;
	return around_zone(z->config.around, name);
}

struct sizes *sizes_create(const struct sizes_config *config)
{
	struct sizes *z = xcalloc(1, sizeof *z);
	struct sizer_config sizer = {.groups = config->groups,
		.engine = {config->data, config->fate, config->evicts},
		.owners = config->owners,
		.bill = config->bill,
		.around = config->around,
		.pod_groups = config->pod_groups,
		.schedulers = config->schedulers,
		.scheduler_count = config->scheduler_count,
		.admission = config->admission,
		.zones = {z, find_zone},
		.round_ms = config->round_ms,
		.checkpoint_ms = config->checkpoint_ms,
		.context_mib = config->context_mib,
		.past = config->prometheus != NULL};
	z->config = *config;
	z->sizer = sizer_create(&sizer);
	z->pasts = pasts_create(config->prometheus, z->sizer, config->clock);
	return z;
}

void sizes_destroy(struct sizes *z)
{
	if (z == NULL) {
		return;
	}
	recall_destroy(z->recall);
	pasts_destroy(z->pasts);
	sizer_destroy(z->sizer);
	plan_finish(&z->plan);
	free(z);
}

bool sizes_observe(struct sizes *z, const struct change *c)
{
	return sizer_observe(z->sizer, c);
}

void sizes_look(struct sizes *z, const struct change *c)
{
	bool ended =
		z->led && c->kind == KIND_POD && c->type == CHANGE_SET && pod_is_terminal(c->pod);
	const struct world_pod *wp =
		ended ? world_pod_find(z->config.world, c->pod->ns, c->pod->name) : NULL;
	if (wp != NULL) {
		sizer_see(z->sizer, wp, clock_policy(z->config.clock));
	}
}

/* --- what is used --- */

static void hand_on_usage(struct sizes *z, const struct latest_pod *p)
{
	struct sizer_figure figures[LATEST_FIGURES_MAX];
	const struct world_pod *wp = world_pod_find(z->config.world, p->ns, p->name);
	if (wp == NULL) {
		return;
	}
	sizer_see(z->sizer, wp, clock_policy(z->config.clock));
	if (p->state != LATEST_FRESH) {
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
		.app = p->gauges_state == LATEST_FRESH ? &p->gauges : NULL,
	};
	(void)sizer_take(z->sizer, &use, clock_policy(z->config.clock));
}

static void walk_usage(struct sizes *z, int64_t now)
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
		hand_on_usage(z, &pod);
	}
}

/* --- turns --- */

/* Whoever runs and should have another share. */
static void ask_for_resizes(struct sizes *z)
{
	size_t count = 0;
	const struct sizer_wish *wishes = sizer_wishes(z->sizer, &count);
	for (size_t i = 0; i < count; i++) {
		struct change c = {.type = wishes[i].away_ms != 0 ? CHANGE_SHUN : CHANGE_SHARE,
			.kind = KIND_POD,
			.uid = wishes[i].uid,
			.for_ms = wishes[i].away_ms,
			.milli = wishes[i].milli,
			.mem_mib = wishes[i].mib};
		(void)z->config.tell(z->config.data, &c);
	}
}

static struct sizer_now sizes_now(const struct sizes *z)
{
	return (struct sizer_now){clock_mono(z->config.clock), clock_policy(z->config.clock),
		clock_wall(z->config.clock)};
}

static void end_recall(struct sizes *z)
{
	recall_destroy(z->recall);
	z->recall = NULL;
}

/* Somebody else may have measured before: his checkpoints count. And somebody may scale workloads:
 * compute of those must not be touched, so that the watches that tell it are waited for. */
static bool sizes_are_known(struct sizes *z, int64_t now)
{
	if (!z->led) {
		sizer_forget(z->sizer);
		sizer_wait(z->sizer, true);
		z->led = true;
		z->recalled = z->settled = false;
		z->led_at = now;
	}
	z->settled = z->settled || z->config.feeds == NULL || feeds_settled(z->config.feeds) ||
		     now - z->led_at > SETTLE_MS;
	if (!z->settled) {
		return false;
	}
	if (!z->recalled && z->recall == NULL && sizer_listed(z->sizer)) {
		z->recall = recall_create(z->config.kube, z->sizer);
	}
	if (z->recall != NULL && recall_step(z->recall, now)) {
		end_recall(z);
		sizer_wait(z->sizer, false);
		z->recalled = true;
	}
	return z->recalled || (z->recall != NULL && recall_is_late(z->recall, now));
}

void sizes_reach(struct sizes *z, bool reached, int64_t seen_mono_ms)
{
	int64_t ago = clock_mono(z->config.clock) - seen_mono_ms;
	z->reached = reached;
	z->reached_ms = seen_mono_ms > 0 ? clock_policy(z->config.clock) - ago : 0;
}

void sizes_may_surge(struct sizes *z, enum sizer_surge right)
{
	sizer_may_surge(z->sizer, right);
}

/* What replacing pods waits for. */
static void update_roll_gate(struct sizes *z, bool leads)
{
	bool whole = leads && world_all_synced(z->config.world);
	if (!whole) {
		z->synced_ms = 0;
	} else if (z->synced_ms == 0) {
		z->synced_ms = clock_policy(z->config.clock);
	}
	struct roll_gate gate = {leads, z->synced_ms, z->reached_ms, z->reached};
	sizer_gate(z->sizer, &gate);
}

void sizes_step(struct sizes *z, int64_t now, bool leads)
{
	update_roll_gate(z, leads);
	if (!leads) {
		z->led = false;
		end_recall(z);
		pasts_end(z->pasts);
		return;
	}
	if (!world_all_synced(z->config.world) || !sizes_are_known(z, now)) {
		return;
	}
	if (z->walking || now >= z->walk_at) {
		walk_usage(z, now);
	}
	pasts_step(z->pasts, now);
	if (now < sizer_deadline(z->sizer) && !z->ending) {
		return;
	}
	sizer_step(z->sizer, sizes_now(z), z->config.world, STEP_BUDGET, &z->plan);
	for (size_t i = 0; i < z->plan.actions.count; i++) {
		act_submit(z->config.act, &z->plan.actions.items[i]);
	}
	ask_for_resizes(z);
}

bool sizes_settle(struct sizes *z, const struct action *action, const struct outcome *outcome)
{
	if (!sizer_owns(action->id)) {
		return false;
	}
	sizer_settle(z->sizer, sizes_now(z), action->id, outcome);
	return true;
}

int64_t sizes_deadline(const struct sizes *z, bool leads)
{
	if (!leads) {
		return TIME_NEVER;
	}
	int64_t at = z->recall != NULL ? recall_deadline(z->recall) : TIME_NEVER;
	if (z->recall != NULL && !recall_is_late(z->recall, clock_mono(z->config.clock))) {
		return at;
	}
	at = time_min(at, time_min(pasts_deadline(z->pasts), sizer_deadline(z->sizer)));
	return time_min(z->walking ? 0 : z->walk_at, at);
}

void sizes_end(struct sizes *z)
{
	z->ending = true;
	sizer_end(z->sizer);
}

bool sizes_ended(const struct sizes *z, bool leads)
{
	return !leads || !z->recalled || sizer_ended(z->sizer, sizes_now(z));
}

void sizes_write_bill(const struct sizes *z, struct str *out)
{
	bills_write(z->sizer, z->config.world, z->config.bill.currency, out);
}

void sizes_write_strangers(const struct sizes *z, struct str *out)
{
	strangers_write(sizer_strangers(z->sizer), out);
}

void sizes_sum(const struct sizes *z, struct sizer_totals *ret)
{
	sizer_sum(z->sizer, ret);
}

bool sizes_gathers(const struct sizes *z, const char *group, struct sizer_gathered *ret)
{
	return sizer_gathers(z->sizer, group, ret);
}
