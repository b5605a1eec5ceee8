/* Turns of the sizer. */
#include "sizing.h"

#include "check_roll.h"
#include "sizer/recommendation_watch.h"
#include "sizer/usage_checkpoints.h"
#include "sizer/workload_pods.h"
#include "trace.h"
#include "webhook.h"
#include "work_objects.h"
#include "works.h"

#define STEP_BUDGET 400
#define SETTLE_MS   60000
#define ROUND_MS    5000
#define USE_MS	    15000
#define REACH_MS    10000 /* the canary */
#define USED_MIB    INT64_C(4096)

static void rightsizer_fate(void *data, const char *uid, struct share_fate *ret)
{
	engine_share_fate(data, uid, ret);
}

static bool evicts(void *data, const char *uid)
{
	return engine_evicts(data, uid);
}

void sizing_begin(struct rightsizer *z)
{
	z->groups = groups_create();
	z->around = around_create();
	z->advice = advice_create();
	struct sizer_config config = {.groups = z->groups,
		.around = z->around,
		.engine = {z->engine, rightsizer_fate, evicts},
		.round_ms = ROUND_MS};
	z->sizer = sizer_create(&config);
}

void sizing_finish(struct rightsizer *z)
{
	if (z->sizer == NULL) {
		return;
	}
	sizer_destroy(z->sizer);
	advice_destroy(z->advice);
	around_destroy(z->around);
	groups_destroy(z->groups);
	plan_finish(&z->plan);
}

bool sizing_observe(struct rightsizer *z, const struct change *c)
{
	if (z->sizer == NULL) {
		return true;
	}
	if (c->kind == KIND_RECOMMENDATION) {
		return advice_apply(z->advice, c) && sizer_observe(z->sizer, c);
	}
	return c->kind == KIND_GROUP ? groups_apply(z->groups, c) : around_apply(z->around, c);
}

static struct sizer_now rightsizer_now(const struct rightsizer *z)
{
	return (struct sizer_now){
		clock_mono(z->clock), clock_policy(z->clock), clock_wall(z->clock)};
}

/* --- use --- */

static void tell_use(struct rightsizer *z, const struct stored *o)
{
	const struct world_pod *wp = world_pod_by_uid(engine_world(z->engine), o->uid);
	int64_t now = clock_policy(z->clock);
	const struct sizer_figure figure = {.container = "main",
		.compute = METERED_FULL / 5,
		.mem_bytes = USED_MIB << 20,
		.at_ms = now};
	const struct sizer_use use = {
		.uid = o->uid, .source = METERED_AGENT, .figures = &figure, .figure_count = 1};
	if (wp != NULL) {
		sizer_see(z->sizer, wp, now);
		(void)sizer_take(z->sizer, &use, now);
	}
}

static void measure_use(struct rightsizer *z, int64_t now)
{
	const struct store *store = &z->sim->store;
	if (now < z->use_at) {
		return;
	}
	z->use_at = now + USE_MS;
	for (size_t i = 0; i < store->items.count; i++) {
		const struct stored *o = store->items.items[i];
		if (work_of(o) != NULL && o->pod.phase == POD_RUNNING) {
			tell_use(z, o);
		}
	}
}

/* --- turns --- */

/* Somebody may scale workloads: the watches that tell it are waited for. */
static bool rightsizer_is_settled(struct rightsizer *z, int64_t now)
{
	if (!z->led) {
		sizer_forget(z->sizer);
		z->led = true;
		z->settled = false;
		z->led_at = now;
	}
	z->settled = z->settled || feeds_settled(z->feeds) || now - z->led_at > SETTLE_MS;
	return z->settled && sizer_listed(z->sizer);
}

static void look_at_webhook(struct rightsizer *z, int64_t now)
{
	if (now >= z->reach_at) {
		z->reach_at = now + REACH_MS;
		z->reached_ms = webhook_answers(z->sim) ? clock_policy(z->clock) : z->reached_ms;
	}
}

static void rightsizer_gate(struct rightsizer *z, bool leads)
{
	bool whole = leads && world_all_synced(engine_world(z->engine));
	if (!whole) {
		z->synced_ms = 0;
	} else if (z->synced_ms == 0) {
		z->synced_ms = clock_policy(z->clock);
	}
	struct roll_gate gate = {leads, z->synced_ms, z->reached_ms, z->reached_ms != 0};
	sizer_gate(z->sizer, &gate);
	sizer_may_surge(
		z->sizer, z->sim->works.surges ? SIZER_SURGE_ALLOWED : SIZER_SURGE_FORBIDDEN);
}

static void rightsizer_ask(struct rightsizer *z)
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
		(void)engine_observe(z->engine, &c);
	}
}

void sizing_step(struct rightsizer *z, int64_t now, bool leads)
{
	if (z->sizer == NULL) {
		return;
	}
	if (leads) {
		look_at_webhook(z, now);
	}
	rightsizer_gate(z, leads);
	if (!leads) {
		z->led = false;
		return;
	}
	if (!world_all_synced(engine_world(z->engine)) || !rightsizer_is_settled(z, now)) {
		return;
	}
	measure_use(z, now);
	if (now < sizer_deadline(z->sizer)) {
		return;
	}
	sizer_step(z->sizer, rightsizer_now(z), engine_world(z->engine), STEP_BUDGET, &z->plan);
	for (size_t i = 0; i < z->plan.actions.count; i++) {
		const struct action *a = &z->plan.actions.items[i];
		sim_trace(z->sim, "r%d: sizer %s %s/%s %s", z->index,
			a->type == ACTION_SURGE ? surge_task_name(a->surge->task)
						: action_type_name(a->type),
			text_or(a->ns, ""), text_or(a->name, ""), text_or(a->message, ""));
		roll_intended(z->sim, z->index, a);
		act_submit(z->act, a);
	}
	rightsizer_ask(z);
}

bool sizing_settle(struct rightsizer *z, const struct action *a, const struct outcome *o)
{
	if (z->sizer == NULL || !sizer_owns(a->id)) {
		return false;
	}
	sizer_settle(z->sizer, rightsizer_now(z), a->id, o);
	return true;
}

int64_t sizing_deadline(const struct rightsizer *z, bool leads)
{
	if (z->sizer == NULL || !leads) {
		return TIME_NEVER;
	}
	int64_t at = time_min(z->use_at, z->reach_at);
	return time_min(at, sizer_deadline(z->sizer));
}
