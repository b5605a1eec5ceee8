/* The pace as tokens that fill with time, and the actions that take them. */
#include "tracking/write_pace.h"

#include "base/clock.h"
#include "base/number.h"
#include "model/names.h"
#include "model/quantity.h"
#include "tracking/tracking.h"

#define FIRST_MS (1000 / SIZER_FIRST_PER_SECOND)
#define FULL_MS	 1000

void write_pace_init(struct write_pace *p)
{
	*p = (struct write_pace){.tokens_ms = FULL_MS, .first_ms = FULL_MS};
}

static int64_t filled(int64_t tokens_ms, int64_t more_ms)
{
	return more_ms >= FULL_MS ? FULL_MS : time_min(tokens_ms + more_ms, FULL_MS);
}

void write_pace_fill(struct write_pace *p, int64_t mono_ms)
{
	int64_t more = mono_ms - p->filled_ms;
	p->tokens_ms = filled(p->tokens_ms, more);
	p->first_ms = filled(p->first_ms, more);
	p->filled_ms = mono_ms;
}

int64_t write_pace_next(const struct write_pace *p)
{
	int64_t lacks = time_min(PACE_TOKEN_MS - p->tokens_ms, FIRST_MS - p->first_ms);
	return p->filled_ms + larger_of(lacks, 0);
}

bool write_pace_take_first(struct write_pace *p)
{
	if (p->first_ms < FIRST_MS) {
		return false;
	}
	p->first_ms -= FIRST_MS;
	return true;
}

bool write_pace_take(struct write_pace *p, int64_t least_ms)
{
	if (p->tokens_ms < least_ms) {
		return false;
	}
	p->tokens_ms -= PACE_TOKEN_MS;
	return true;
}

struct action *write_action(struct write_pace *p, struct plan *plan, enum action_type type)
{
	return plan_add(plan, type, PACE_ID_BIT | ++p->next_id);
}

struct action *write_event(struct write_pace *p, const struct sized_workload *x, struct plan *plan,
	const char *reason, const char *message)
{
	struct action *a = write_action(p, plan, ACTION_EVENT);
	a->ns = arena_strdup(&plan->arena, x->key.ns);
	a->name = arena_strdup(&plan->arena, x->row.name);
	a->uid = arena_strdup(&plan->arena, x->uid);
	a->regarding_kind = "GPURecommendation";
	a->regarding_api_version = NAME_GROUP "/" NAME_VERSION;
	a->event_reason = reason;
	a->message = message;
	return a;
}

void write_warning(struct write_pace *p, const struct sized_workload *x, struct plan *plan,
	const char *reason, const char *message)
{
	write_event(p, x, plan, reason, message)->warning = true;
}

struct action *write_eviction(struct write_pace *p, const struct sized_workload *x,
	struct plan *plan, const struct eviction *e)
{
	struct action *told = write_event(p, x, plan, reason_name(e->reason), e->message);
	told->name = arena_strdup(&plan->arena, e->name);
	told->uid = arena_strdup(&plan->arena, e->uid);
	told->regarding_kind = "Pod";
	told->regarding_api_version = "v1";
	told->warning = e->warns;
	const char *ns = told->ns, *name = told->name, *uid = told->uid;
	struct action *a = write_action(p, plan, ACTION_EVICT);
	a->ns = ns;
	a->name = name;
	a->uid = uid;
	a->reason = e->reason;
	a->message = e->message;
	return a;
}

const char *share_text(struct arena *a, const struct share *s)
{
	char memory[QUANTITY_TEXT_MAX];
	if (s->milli == 0) {
		return "nothing";
	}
	return arena_printf(a, "%lld%% and %s", (long long)((s->milli + 5) / 10),
		memory_format(s->mib, memory));
}

const char *when_text(struct arena *a, int64_t ms)
{
	char text[TIME_TEXT_MAX];
	return arena_strdup(a, time_format(ms, text));
}
