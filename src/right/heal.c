/* The state machine of healing, in the order in which it looks: an undoing, memory, compute, the
 * way back. */
#include "right/heal.h"

#include "base/number.h"

#define FULL_MILLI    1000
#define MILLI_PERCENT 10
#define NEAR_PERCENT  95
#define EXIT_PERCENT  90
#define AGAIN_PERCENT 50 /* the second step of memory */

const char *heal_signal_name(enum heal_signal s)
{
	static const char *const names[] = {
		[HEAL_QUIET] = "Quiet",
		[HEAL_DENIED] = "OutOfMemory",
		[HEAL_NEAR_LIMIT] = "MemoryNearLimit",
		[HEAL_PRESSED] = "ComputePressure",
		[HEAL_CONTENTION] = "Contention",
		[HEAL_RESTARTS_LOOP] = "RestartsAfterShrink",
	};
	return names[s];
}

bool heal_exit_is_memory(const struct heal_exit *e)
{
	return e->told || (e->used_mib >= 0 && e->share_mib > 0 &&
				  e->used_mib * 100 >= e->share_mib * EXIT_PERCENT);
}

/* A limit of 0 is none. */
static int64_t limit_to(int64_t value, int64_t limit)
{
	return limit > 0 && value > limit ? limit : value;
}

/* --- what memory and compute have in common --- */

/* A step that was asked for and has not arrived. */
static bool step_is_pending(const struct heal_half *half, int64_t allocated)
{
	return half->value > allocated;
}

static void raise(struct heal_half *half, int64_t value, int64_t hold_s, int64_t now)
{
	half->since_ms = half->value == 0 ? now : half->since_ms;
	half->value = value;
	half->until_ms = now + hold_s * 1000;
	half->last_ms = now;
	half->step++;
}

/* What cannot be more is kept at least. */
static void hold_on(struct heal_half *half, int64_t hold_s, int64_t now)
{
	if (half->value > 0) {
		half->until_ms = larger_of(half->until_ms, now + hold_s * 1000);
	}
}

/* --- memory --- */

/* The first step adds the policy's, the second of an hour half, the third is all of a device. */
static int64_t memory_want(const struct heal_ask *ask, int64_t allocated, bool denied, int32_t step)
{
	const struct sizing_heal *p = &ask->sizing->heal_memory;
	int64_t base = larger_of(ask->used_mib, allocated);
	if (denied && step >= 3 && ask->device_mib > 0) {
		return larger_of(ask->device_mib, base);
	}
	int64_t percent =
		denied && step >= 2 ? larger_of(AGAIN_PERCENT, p->step_percent) : p->step_percent;
	int64_t want = larger_of(base * (100 + percent) / 100, base + p->min_step);
	return rounded_up(want, ask->sizing->step_mem_mib);
}

static void raise_memory(
	struct heal *h, const struct heal_ask *ask, bool denied, struct heal_answer *ret)
{
	const struct sizing *s = ask->sizing;
	struct heal_half *m = &h->memory;
	/* Not what the largest pod has: that one may be the first that got the last step. */
	int64_t had = denied ? ask->denied_of_mib : 0;
	int64_t allocated = had > 0 ? had : ask->allocated.mib;
	bool again = m->step > 0 && ask->now_ms - m->last_ms <= HEAL_AGAIN_MS;
	if (step_is_pending(m, allocated)) {
		hold_on(m, s->heal_memory.hold_s, ask->now_ms);
		return;
	}
	int64_t want = memory_want(ask, allocated, denied, again ? m->step + 1 : 1);
	int64_t most = s->max_mem_mib > 0 ? s->max_mem_mib : ask->device_mib;
	int64_t value = limit_to(want, limit_to(most, ask->device_mib));
	ret->uncapped.mib =
		limit_to(want, larger_of(rounded_up(allocated * 3 / 2, s->step_mem_mib), value));
	ret->capped = value < want;
	if (value <= allocated) {
		h->exhausted |= ask->device_mib > 0 && allocated >= ask->device_mib;
		ret->capped = true;
		hold_on(m, s->heal_memory.hold_s, ask->now_ms);
		return;
	}
	if (!again && denied) {
		m->step = 0;
	}
	raise(m, value, s->heal_memory.hold_s, ask->now_ms);
	ret->acted = true;
}

static bool memory_is_nearly_full(struct heal *h, const struct heal_ask *ask)
{
	int64_t share = ask->allocated.mib;
	bool near = ask->grows && share > 0 && ask->used_mib * 100 >= share * NEAR_PERCENT;
	if (!near) {
		h->near_ms = 0;
		return false;
	}
	h->near_ms = h->near_ms == 0 ? ask->now_ms : h->near_ms;
	if (ask->now_ms - h->near_ms < HEAL_NEAR_MS) {
		return false;
	}
	h->near_ms = ask->now_ms;
	return true;
}

static void heal_memory(struct heal *h, const struct heal_ask *ask, struct heal_answer *ret)
{
	bool near = memory_is_nearly_full(h, ask);
	enum heal_signal signal = near ? HEAL_NEAR_LIMIT : HEAL_QUIET;
	if (ask->denied) {
		signal = ask->blame == BLAME_OTHERS ? HEAL_CONTENTION : HEAL_DENIED;
	}
	h->leaking |= ask->rising_hours >= HEAL_LEAK_HOURS && h->memory.step >= HEAL_LEAK_STEPS;
	if (signal == HEAL_QUIET) {
		return;
	}
	ret->saw = signal;
	ret->contention |= signal == HEAL_CONTENTION;
	bool charged = signal == HEAL_NEAR_LIMIT || ask->blame == BLAME_OWN;
	bool may = ask->sizing->heal_memory.enabled && !h->leaking && ask->allocated.mib > 0;
	if (signal != HEAL_CONTENTION && charged && may) {
		raise_memory(h, ask, signal == HEAL_DENIED, ret);
	}
}

/* --- compute --- */

static void raise_compute(struct heal *h, const struct heal_ask *ask, struct heal_answer *ret)
{
	const struct sizing *s = ask->sizing;
	struct heal_half *c = &h->compute;
	int64_t most = (int64_t)s->max_percent * MILLI_PERCENT;
	int64_t allocated = ask->pressed_milli > 0 ? ask->pressed_milli : ask->allocated.milli;
	if (step_is_pending(c, allocated)) {
		c->last_ms = ask->now_ms; /* how it does with it is known that much later */
		hold_on(c, s->heal_compute.hold_s, ask->now_ms);
		return;
	}
	if (c->step > 0 && ask->now_ms - c->last_ms < HEAL_PRESS_MS) {
		return;
	}
	int64_t want = larger_of(allocated * (100 + s->heal_compute.step_percent) / 100,
		allocated + s->heal_compute.min_step * MILLI_PERCENT);
	want = rounded_up(want, (int64_t)s->step_percent * MILLI_PERCENT);
	int64_t value = limit_to(limit_to(want, FULL_MILLI), most);
	ret->uncapped.milli = want;
	ret->capped |= value < want;
	if (value <= allocated) {
		hold_on(c, s->heal_compute.hold_s, ask->now_ms);
		return;
	}
	raise(c, value, s->heal_compute.hold_s, ask->now_ms);
	ret->acted = true;
}

static void heal_compute(struct heal *h, const struct heal_ask *ask, struct heal_answer *ret)
{
	if (ask->press == PRESS_CONTENTION) {
		ret->saw = ret->saw == HEAL_QUIET ? HEAL_CONTENTION : ret->saw;
		ret->contention = true;
	}
	if (ask->press != PRESS_MORE) {
		return;
	}
	ret->saw = ret->saw == HEAL_QUIET ? HEAL_PRESSED : ret->saw;
	if (ask->sizing->heal_compute.enabled && ask->allocated.milli > 0) {
		raise_compute(h, ask, ret);
	}
}

/* --- back --- */

/* What we did ourselves is undone at once, whatever the policy says of healing. */
static void undo_shrink(struct heal *h, const struct heal_ask *ask, struct heal_answer *ret)
{
	if (ask->shrunk_ms == 0 || ask->shrunk_ms == h->rolled_ms ||
		ask->restarts < HEAL_RESTARTS) {
		return;
	}
	const int64_t hold_s = HEAL_ROLLBACK_MS / 1000;
	h->rolled_ms = ask->shrunk_ms;
	h->paused = true;
	/* What was healed since then is more, and stays. */
	int64_t milli = larger_of(h->compute.value, ask->shrunk_from.milli);
	int64_t mib = larger_of(h->memory.value, ask->shrunk_from.mib);
	h->compute = h->memory = (struct heal_half){0};
	raise(&h->compute, milli, hold_s, ask->now_ms);
	raise(&h->memory, mib, hold_s, ask->now_ms);
	ret->saw = HEAL_RESTARTS_LOOP;
	ret->acted = true;
}

/* One step, at least the policy's smallest; 0 once it is no more than is recommended anyway. */
static void step_down(struct heal_half *half, const struct sizing_heal *p, int64_t unit,
	int64_t recommended, int64_t now)
{
	bool due = now >= half->until_ms && now - half->last_ms >= HEAL_DOWN_MS;
	if (half->value == 0 || !due) {
		return;
	}
	int64_t next = rounded_up(half->value * 100 / (100 + p->step_percent), unit);
	int64_t least = half->value - larger_of(p->min_step, 1);
	half->last_ms = now;
	half->value = smaller_of(next, least);
	if (half->value <= recommended) {
		*half = (struct heal_half){0};
	}
}

static void go_down(struct heal *h, const struct heal_ask *ask)
{
	const struct sizing *s = ask->sizing;
	struct sizing_heal compute = s->heal_compute;
	compute.min_step *= MILLI_PERCENT;
	/* Silence is no sign that less would do. */
	if (ask->sure) {
		step_down(&h->compute, &compute, (int64_t)s->step_percent * MILLI_PERCENT,
			ask->recommended.milli, ask->now_ms);
		step_down(&h->memory, &s->heal_memory, s->step_mem_mib, ask->recommended.mib,
			ask->now_ms);
	}
	if (h->memory.value == 0) {
		h->exhausted = false;
		h->leaking = h->leaking && (!ask->sure || ask->rising_hours > 0);
	}
}

/* --- what follows --- */

static struct recommended_healing healing_reported(const struct heal *h)
{
	const struct heal_half *half = h->memory.value > 0 ? &h->memory : &h->compute;
	enum healing_kind kind = h->memory.value > 0 ? HEALING_MEMORY : HEALING_COMPUTE;
	if (half->value == 0) {
		return (struct recommended_healing){0};
	}
	if (h->paused && h->rolled_ms > 0) {
		kind = HEALING_ROLLBACK;
	}
	return (struct recommended_healing){kind, half->step, half->since_ms, half->until_ms};
}

static void fill_heal_answer(
	const struct heal *h, const struct heal_ask *ask, struct heal_answer *ret)
{
	ret->target.milli = larger_of(ask->recommended.milli, h->compute.value);
	ret->target.mib = larger_of(ask->recommended.mib, h->memory.value);
	if (h->leaking && ask->allocated.mib > 0) {
		ret->target.mib = limit_to(ret->target.mib, ask->allocated.mib);
	}
	ret->told = healing_reported(h);
	ret->healing = ret->told.kind != HEALING_NONE;
	ret->blocked_ms = larger_of(h->compute.until_ms, h->memory.until_ms);
	if (ask->now_ms >= ret->blocked_ms) {
		ret->blocked_ms = 0;
	}
}

void heal_step(struct heal *h, const struct heal_ask *ask, struct heal_answer *ret)
{
	*ret = (struct heal_answer){0};
	undo_shrink(h, ask, ret);
	if (ret->saw == HEAL_QUIET) {
		heal_memory(h, ask, ret);
		heal_compute(h, ask, ret);
	}
	go_down(h, ask);
	fill_heal_answer(h, ask, ret);
}

void heal_restore(struct heal *h, const struct recommended_healing *told, struct share target,
	const struct sizing *sizing)
{
	int64_t hold_s = told->kind == HEALING_MEMORY	 ? sizing->heal_memory.hold_s
			 : told->kind == HEALING_COMPUTE ? sizing->heal_compute.hold_s
							 : HEAL_ROLLBACK_MS / 1000;
	/* `last_ms` is of the last signal that was answered: the hold began with it. */
	struct heal_half half = {.since_ms = told->since_ms,
		.until_ms = told->until_ms,
		.last_ms = larger_of(told->since_ms, told->until_ms - hold_s * 1000),
		.step = told->step};
	*h = (struct heal){0};
	if (told->kind == HEALING_COMPUTE || told->kind == HEALING_ROLLBACK) {
		h->compute = half;
		h->compute.value = target.milli;
	}
	if (told->kind == HEALING_MEMORY || told->kind == HEALING_ROLLBACK) {
		h->memory = half;
		h->memory.value = target.mib;
	}
	if (told->kind == HEALING_ROLLBACK) {
		h->paused = true;
		h->rolled_ms = told->since_ms;
	}
}

void heal_resume(struct heal *h)
{
	h->paused = false;
	h->leaking = false;
}
