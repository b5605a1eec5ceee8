/* Tenants that run and whose share is not the target: the engine is asked to change it in place. A
 * change of the books replaces no pod, so it is made whatever the strategy says of replacing, but
 * not where it is Never; and where the share was recommended and not asked for by a person. What a
 * framework took ahead of need it does not give back. */
#include "resize_request.h"

#include "base/number.h"
#include "model/quantity.h"
#include "roll/rollout_explain.h"
#include "tracking/pod_table.h"

/* What a framework took at its start. */
static bool keeps_memory(const struct sized_container *c, const struct sized_pod *p)
{
	return p->told_memory || history_kept(c->history)->memory_class == MEMORY_PREALLOCATED;
}

/* 0, 0: whatever it has. */
static struct share wanted_share(
	const struct sized_workload *x, struct sized_container *c, const struct sized_pod *p)
{
	const struct share none = {0, 0};
	const struct share has = pods_changeable(p);
	struct share want = c->in_force;
	bool heard = c->facts.state == HISTORY_SUFFICIENT || c->facts.state == HISTORY_LEARNING;
	bool heals = healing_of(c)->answer.healing;
	if (!x->acts || !p->advised || !c->converted || want.milli == 0 || want.mib == 0) {
		return none;
	}
	if (!heard && !heals) {
		return share_widened(p->requested);
	}
	if (x->keeps_running || !heard) {
		want.milli = larger_of(want.milli, has.milli);
		want.mib = larger_of(want.mib, has.mib);
	}
	if (x->keeps_compute) {
		want.milli = has.milli;
	}
	if (keeps_memory(c, p)) {
		want.mib = has.mib;
	}
	return want;
}

void request_resize(struct tracking *s, struct sized_pod *p)
{
	const struct share has = pods_changeable(p);
	if (has.milli == 0 || p->feed_count != 1) {
		return;
	}
	struct share want = wanted_share(p->of, p->feeds[0].container, p);
	bool same = want.milli == has.milli && want.mib == has.mib;
	bool told = want.milli == p->requested.milli && want.mib == p->requested.mib;
	bool never = p->requested.milli == 0 && p->requested.mib == 0;
	if (told || (same && never)) {
		return;
	}
	struct resize_request request = {.milli = want.milli, .mib = want.mib};
	memcpy(request.uid, p->uid, sizeof request.uid);
	p->requested = small_of(want.milli, want.mib);
	VEC_PUSH(&s->requests, request);
}

/* --- what became of it --- */

void resize_counts_clear(struct sized_workload *x)
{
	memset(x->resizes, 0, sizeof x->resizes);
	x->worst = NULL;
}

void resize_counts_add(const struct sizer_port *engine, struct sized_pod *p)
{
	struct sized_workload *x = p->of;
	const struct sized_container *c = p->feed_count == 1 ? p->feeds[0].container : NULL;
	const struct share has = pods_changeable(p);
	struct share_fate fate = {SHARE_UNASKED, NULL};
	if (p->requested.milli > 0 && engine->resize_status != NULL) {
		engine->resize_status(engine->data, p->uid, &fate);
	}
	p->resize_status = (uint8_t)fate.state;
	p->stuck = fate.state == SHARE_NO_ROOM;
	p->memory_stays = c != NULL && x->acts && p->advised && c->converted && has.mib > 0 &&
			  c->in_force.mib > 0 && c->in_force.mib != has.mib && keeps_memory(c, p);
	x->resizes[fate.state]++;
	x->resizes[SHARE_MEMORY_STAYS] +=
		p->memory_stays && fate.state != SHARE_MEMORY_STAYS ? 1 : 0;
	bool kept = fate.state == SHARE_QUOTA || fate.state == SHARE_NO_ROOM;
	if (kept && (x->worst == NULL || fate.state > x->worst->resize_status)) {
		x->worst = p;
	}
}

bool resize_blocker(const struct sized_workload *x, const struct decision *d, struct arena *a,
	struct sentence *ret)
{
	char memory[QUANTITY_TEXT_MAX];
	struct share_fate fate = {SHARE_UNASKED, NULL};
	const struct sized_pod *p = x->worst;
	const struct world_pod *wp = p != NULL ? world_pod_by_uid(d->world, p->uid) : NULL;
	if (wp == NULL) {
		return false;
	}
	d->config->engine.resize_status(d->config->engine.data, p->uid, &fate);
	bool quota = p->resize_status == SHARE_QUOTA;
	const char *by = fate.state == p->resize_status ? text_or(fate.blocker, "?") : "?";
	uint32_t others = x->resizes[SHARE_NO_ROOM] + x->resizes[SHARE_QUOTA] - 1;
	ret->reason = quota ? "Quota" : "NoRoomOnGPU";
	ret->message = arena_printf(a,
		"%s%s should have %lld%% and %s: %s %s %s. What it has stays; it is tried again as "
		"soon as something changes there, and %s.",
		world_pod_name(wp),
		others == 0 ? "" : arena_printf(a, " and %u more of its pods", others),
		(long long)((p->requested.milli + 5) / 10), memory_format(p->requested.mib, memory),
		quota ? "the ResourceQuota" : "its GPU", by,
		quota ? "has no room for it" : "has no room for it, or gives nobody more",
		roll_again(d->config->round_ms, a));
	return true;
}
