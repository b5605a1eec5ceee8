/* Healing of workloads: what is seen of their pods becomes signals, and what right/heal.h makes of
 * them becomes targets. Pods in need are looked at when their figures come, all others once a
 * round. */
#include "healing/healing.h"

#include "base/number.h"
#include "healing/failed_containers.h"
#include "size/blame.h"

#define MOST_FOR_MS  60000
#define NEAR_PERCENT 95

static bool is_prealloc(const struct sized_container *c)
{
	return history_kept(c->history)->memory_class == MEMORY_PREALLOCATED;
}

void healing_init(struct healing *s, struct tracking *tracking, struct supply *supply)
{
	*s = (struct healing){.tracking = tracking, .supply = supply};
	unowned_pods_init(&s->unowned_pods);
}

void healing_finish(struct healing *s)
{
	table_finish(&s->unowned_pods);
	VEC_FINISH(&s->alarms.ends);
}

/* --- what is seen of pods --- */

static bool share_is_less(const struct share *a, const struct share *b)
{
	return a->milli < b->milli || a->mib < b->mib;
}

/* It has what our last shrink left it, since now; one that had no more before has not got it. */
static void see_shrink(
	struct sized_pod *p, const struct heal_record *h, const struct share *was, int64_t now)
{
	const struct share has = share_widened(p->heal.share), from = share_widened(h->shrunk_from);
	if (h->shrunk_ms > 0 && p->heal.shrunk_of != h->shrunk_ms && has.milli > 0 &&
		share_is_less(&has, &from) && (was->milli == 0 || share_is_less(&has, was))) {
		p->heal.shrunk_of = h->shrunk_ms;
		p->heal.shrunk_ms = now;
		p->heal.loops = 0;
	}
}

/* Restarts of several pods are no loop: each may be that of a start. */
static void see_restarts(struct healing *s, struct sized_pod *p, struct sized_container *c,
	const struct world_gpu *g, int64_t now)
{
	uint32_t more = g->restarts > p->heal.restarts ? g->restarts - p->heal.restarts : 0;
	p->heal.restarts = g->restarts;
	if (healing_of(c)->shrunk_ms == 0 || p->heal.shrunk_of != healing_of(c)->shrunk_ms) {
		return;
	}
	struct heal_record *h = healing_touch(c);
	if (more > 0 && now - p->heal.shrunk_ms <= HEAL_RESTARTS_MS) {
		p->heal.loops += more < 1000 ? more : 1000;
		h->restarts = (int32_t)larger_of(h->restarts, p->heal.loops);
		healing_alert(&s->alarms, p->of);
	}
	if (g->ready && p->heal.loops < HEAL_RESTARTS &&
		now - p->heal.shrunk_ms >= HEAL_PROVEN_MS) {
		h->shrunk_ms = 0;
		h->restarts = 0;
	}
}

void healing_see(struct healing *s, struct sized_pod *p, const struct world_pod *wp, int64_t now_ms)
{
	const struct world_gpu *g = wp->gpu;
	bool tenant = g->class == WORLD_TENANT && g->milli > 0;
	const struct share was = share_widened(p->heal.share);
	p->heal.share = tenant ? small_of(g->milli, g->mem_mib) : (struct small_share){0, 0};
	struct sized_container *c = healing_sole(p);
	if (c == NULL) {
		return;
	}
	if (!p->seen) {
		/* One that was made after our shrink has restarted since then. */
		p->heal.restarts = healing_of(c)->shrunk_ms > 0 ? 0 : g->restarts;
	}
	see_shrink(p, healing_of(c), &was, now_ms);
	see_restarts(s, p, c, g, now_ms);
	healing_ended(s, p, g, now_ms);
	p->seen = true;
}

static void tally_pressed(struct heal_tally *t, const struct sized_pod *p)
{
	t->pressed++;
	t->pressed_milli = larger_int32(t->pressed_milli, p->heal.share.milli);
}

void healing_take(struct healing *s, struct sized_pod *p, struct sized_feed *f,
	const struct history_sample *sample, int64_t waiting)
{
	struct sized_container *c = f->container;
	struct press_look look = {.at_ms = sample->at_ms,
		.compute = sample->compute,
		.share = (int64_t)p->heal.share.milli * (METERED_FULL / MODEL_GPU_MILLI),
		.throttled = METERED_ABSENT,
		.waiting = waiting,
		.device = gpus_busy(&s->supply->gpus, p->heal.gpu)};
	f->heal.compute = to_int32(sample->compute);
	press_take(&f->heal.press, &look);
	if (f->heal.pressed != PRESS_MORE &&
		press_judge(&f->heal.press, sample->at_ms) == PRESS_MORE) {
		f->heal.pressed = PRESS_MORE;
		if (!s->round_counts) {
			tally_pressed(&c->tally.heal, p);
		}
		healing_alert(&s->alarms, p->of);
	}
	if (sample->mem_bytes == METERED_ABSENT) {
		return;
	}
	f->heal.mib = to_int32((sample->mem_bytes + (1 << 20) - 1) >> 20);
	f->heal.at_ms = sample->at_ms;
	if (f->heal.mib >= f->heal.most_mib || f->heal.at_ms - f->heal.most_ms > MOST_FOR_MS) {
		f->heal.most_mib = f->heal.mib;
		f->heal.most_ms = f->heal.at_ms;
	}
	if (p->heal.share.mib <= 0) {
		return;
	}
	c->tally.heal.used_mib = larger_int32(c->tally.heal.used_mib, f->heal.mib);
	bool near = f->heal.mib * INT64_C(100) >= (int64_t)p->heal.share.mib * NEAR_PERCENT;
	if (near && !p->told_memory && !is_prealloc(c) && p->advised) {
		healing_alert(&s->alarms, p->of);
	}
}

void healing_tally(struct healing *s, struct sized_pod *p, int64_t now_ms)
{
	for (uint8_t i = 0; i < p->feed_count; i++) {
		struct heal_feed *f = &p->feeds[i].heal;
		struct heal_tally *t = &p->feeds[i].container->tally.heal;
		int64_t last_ms = p->feeds[i].feed.last_ms;
		bool fresh = last_ms > 0 && now_ms - last_ms <= HISTORY_FRESH_MS;
		if (fresh) {
			gpus_add(&s->supply->gpus, p->heal.gpu, f->compute);
		}
		f->pressed = (uint8_t)press_judge(&f->press, now_ms);
		if (p->heal.share.milli == 0) {
			continue;
		}
		t->tenants++;
		t->told = t->told || p->told_memory;
		if (f->pressed == PRESS_MORE) {
			tally_pressed(t, p);
		}
		t->crowded += f->pressed == PRESS_CONTENTION;
		if (fresh && f->at_ms > 0) {
			t->used_mib = larger_int32(t->used_mib, f->mib);
		}
	}
}

/* --- one container --- */

static void read_reported_healing(
	const struct sized_workload *x, struct sized_container *c, const struct sizing *sizing)
{
	if (c->heal_read) {
		return;
	}
	c->heal_read = true;
	if (x->heal.told.kind == HEALING_NONE && !x->heal.leaks) {
		return;
	}
	struct heal_record *h = healing_touch(c);
	if (x->heal.told.kind != HEALING_NONE && c->in_force.milli > 0) {
		heal_restore(&h->state, &x->heal.told, c->in_force, sizing);
	}
	h->state.leaking = x->heal.leaks;
	h->answer.healing = x->heal.told.kind != HEALING_NONE;
}

/* What a person or a policy says anew counts. */
void healing_policy(struct sized_workload *x, const struct policy_choice *choice)
{
	const struct policy *p = choice->policy;
	if (p == NULL) {
		return;
	}
	bool same = text_equals(x->policy, p->name) && x->heal.policy_generation == p->generation &&
		    (!x->decided || x->mode == choice->mode);
	bool known = x->policy != NULL;
	x->heal.policy_generation = p->generation;
	for (size_t i = 0; i < x->containers.count; i++) {
		read_reported_healing(x, x->containers.items[i], &choice->sizing);
		if (known && !same && x->containers.items[i]->heal != NULL) {
			heal_resume(&x->containers.items[i]->heal->state);
		}
	}
}

struct share healing_base(
	const struct sized_workload *x, struct sized_container *c, const struct sizing *sizing)
{
	read_reported_healing(x, c, sizing);
	const struct heal *h = &healing_of(c)->state;
	const struct share held = history_kept(c->history)->held;
	struct share base = c->in_force;
	base.milli = h->compute.value > 0 && held.milli > 0 ? held.milli : base.milli;
	base.mib = h->memory.value > 0 && held.mib > 0 ? held.mib : base.mib;
	return base;
}

void healing_shrunk(struct sized_container *c, const struct share *from, int64_t now_ms)
{
	if (!share_is_less(&c->in_force, from) || c->in_force.milli == 0) {
		return;
	}
	struct heal_record *h = healing_touch(c);
	h->shrunk_ms = now_ms;
	h->shrunk_from = small_of(from->milli, from->mib);
	h->restarts = 0;
}

static enum press_verdict press_of(const struct sized_container *c, const struct sizing *s)
{
	const struct heal_tally *t = &c->tally.heal;
	if (press_counts(t->pressed, t->tenants, s->percentile)) {
		return PRESS_MORE;
	}
	return press_counts(t->crowded, t->tenants, s->percentile) ? PRESS_CONTENTION : PRESS_NONE;
}

static void note_cap(struct heal_record *h, const struct heal_answer *a, const struct sizing *s,
	int64_t device_mib)
{
	bool by_policy =
		a->uncapped.milli > 0
			? s->max_percent < 100
			: s->max_mem_mib > 0 && (device_mib == 0 || s->max_mem_mib < device_mib);
	if (a->capped) {
		h->capped_by = by_policy ? CAPPED_BY_POLICY_MAX : CAPPED_BY_DEVICE;
		h->uncapped = small_of(a->uncapped.milli, a->uncapped.mib);
	} else if (a->acted || !a->healing) {
		h->capped_by = CAPPED_BY_NONE;
		h->uncapped = (struct small_share){0, 0};
	}
}

static bool is_off(enum heal_signal saw, const struct sizing *s)
{
	return saw == HEAL_PRESSED
		       ? !s->heal_compute.enabled
		       : (saw == HEAL_DENIED || saw == HEAL_NEAR_LIMIT) && !s->heal_memory.enabled;
}

/* What events will tell. */
static void note_events(
	struct heal_record *h, const struct heal_answer *a, const struct decision *d, bool leaked)
{
	bool healed = h->answer.healing;
	h->rolled = h->rolled || (a->acted && a->saw == HEAL_RESTARTS_LOOP);
	h->began = h->began || (a->acted && a->saw != HEAL_RESTARTS_LOOP);
	h->ended = (h->ended || healed) && !a->healing;
	h->leaks = h->leaks || (h->state.leaking && !leaked);
	h->ignored = is_off(a->saw, &d->choice.sizing) ? (uint8_t)a->saw : h->ignored;
	if (a->contention) {
		h->contended_ms = d->now_ms;
	}
	bool judged = h->blame != BLAME_UNKNOWN || is_off(a->saw, &d->choice.sizing);
	if (a->saw == HEAL_DENIED) {
		h->unjudged_ms = judged ? 0 : d->now_ms;
	}
}

struct share healing_step(struct sized_workload *x, struct sized_container *c,
	const struct decision *d, const struct share *recommended)
{
	struct heal_record none = {.answer = {.healing = false}};
	struct heal_record *h = c->heal != NULL ? c->heal : &none;
	struct heal_answer answer;
	const struct sizing *sizing = &d->choice.sizing;
	struct share granted = share_widened(c->tally.heal.granted);
	if (granted.mib == 0 && h->denied) {
		granted.mib = h->denied_of_mib; /* it ran once and ended so: nothing may be left */
	}
	struct heal_ask ask = {.sizing = sizing,
		.now_ms = d->now_ms,
		.allocated = granted,
		.recommended = *recommended,
		/* nobody tells whether less would do while nothing of it runs */
		.sure = c->facts.state == HISTORY_SUFFICIENT && c->tally.running > 0,
		.device_mib = x->device_mib,
		.denied = h->denied,
		.blame = (enum blame)h->blame,
		.denied_of_mib = h->denied_of_mib,
		.used_mib = larger_of(c->tally.heal.used_mib, h->denied ? h->denied_mib : 0),
		.grows = !c->tally.heal.told && !is_prealloc(c),
		.rising_hours = history_rising(c->history, d->now_ms),
		/* who scales it on its compute is left to it (U14) */
		.press = d->scaler != NULL ? PRESS_NONE : press_of(c, sizing),
		.pressed_milli = c->tally.heal.pressed_milli,
		.shrunk_ms = h->shrunk_ms,
		.shrunk_from = share_widened(h->shrunk_from),
		.restarts = h->restarts};
	bool leaked = h->state.leaking;
	if (h->state.paused && d->now_ms >= healing_blocked_ms(c)) {
		heal_resume(&h->state);
	}
	heal_step(&h->state, &ask, &answer);
	h->denied = false;
	note_cap(h, &answer, sizing, x->device_mib);
	note_events(h, &answer, d, leaked);
	h->answer.told = answer.told;
	h->answer.blocked_ms = answer.blocked_ms;
	h->answer.healing = answer.healing;
	h->answer.saw = (uint8_t)answer.saw;
	x->heal.paused = x->heal.paused || h->state.paused;
	if (answer.acted && answer.saw == HEAL_RESTARTS_LOOP &&
		h->shrunk_from.milli >= MODEL_GPU_MILLI) {
		c->converted = false; /* it was our first change of it that did not go well */
	}
	if (c->heal == NULL && !healing_is_blank(h)) {
		c->heal = xmemdup(h, sizeof *h);
	}
	bool frozen = h->state.paused && !answer.acted && c->in_force.milli > 0;
	return frozen ? c->in_force : answer.target;
}
