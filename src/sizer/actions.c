/* Actions and their pace: SIZER_PER_SECOND in all, and first ones at a pace of their own. */
#include "actions.h"

#include "model/quantity.h"
#include "state.h"

#define FIRST_MS (1000 / SIZER_FIRST_PER_SECOND)
#define FULL_MS	 1000

static int64_t filled(int64_t tokens_ms, int64_t more_ms)
{
	bool full = more_ms >= FULL_MS || tokens_ms + more_ms >= FULL_MS;
	return full ? FULL_MS : tokens_ms + more_ms;
}

void write_fill(struct sizer *s, int64_t mono_ms)
{
	int64_t more = mono_ms - s->filled_ms;
	s->tokens_ms = filled(s->tokens_ms, more);
	s->first_ms = filled(s->first_ms, more);
	s->filled_ms = mono_ms;
}

static int64_t lacks(int64_t tokens_ms, int64_t least_ms)
{
	return tokens_ms >= least_ms ? 0 : least_ms - tokens_ms;
}

int64_t write_next(const struct sizer *s)
{
	return s->filled_ms +
	       time_min(lacks(s->tokens_ms, ACTIONS_TOKEN_MS), lacks(s->first_ms, FIRST_MS));
}

/* Those have a pace of their own, so that nobody else waits for them. */
bool write_may_first(struct sizer *s)
{
	if (s->first_ms < FIRST_MS) {
		return false;
	}
	s->first_ms -= FIRST_MS;
	return true;
}

bool write_take_token(struct sizer *s, int64_t least)
{
	if (s->tokens_ms < least) {
		return false;
	}
	s->tokens_ms -= ACTIONS_TOKEN_MS;
	return true;
}

struct action *write_action(struct sizer *s, struct plan *plan, enum action_type type)
{
	return plan_add(plan, type, ACTIONS_ID_BIT | ++s->next_id);
}

struct action *write_event(struct sizer *s, const struct sized *x, struct plan *plan)
{
	struct action *a = write_action(s, plan, ACTION_EVENT);
	a->ns = arena_strdup(&plan->arena, x->key.ns);
	a->name = arena_strdup(&plan->arena, x->object);
	a->uid = arena_strdup(&plan->arena, x->uid);
	a->regarding_kind = "GPURecommendation";
	a->regarding_api_version = NAME_GROUP "/" NAME_VERSION;
	return a;
}

const char *say_share(struct arena *a, const struct share *s)
{
	char memory[QUANTITY_TEXT_MAX];
	if (s->milli == 0) {
		return "nothing";
	}
	return arena_printf(a, "%lld%% and %s", (long long)((s->milli + 5) / 10),
		memory_format(s->mib, memory));
}

bool write_may(struct sizer *s)
{
	return write_take_token(s, ACTIONS_FIGURES_AT);
}
