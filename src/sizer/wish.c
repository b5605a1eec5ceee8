/* Tenants that run and whose share is not the target: the engine is asked to change it in place.
 * Only where pods may be brought to a new share while they run, and where it was recommended and
 * not asked for by a person. What a framework took ahead of need it does not give back. */
#include "state.h"

static enum rollout_strategy strategy_of(const struct policy *p, const struct workload_key *key)
{
	for (uint32_t i = 0; i < p->rollout.kind_count; i++) {
		if (text_equals(p->rollout.kinds[i].kind, key->kind)) {
			return p->rollout.kinds[i].strategy;
		}
	}
	const struct owner_row *row = owner_row_find(view_of(key->group), key->kind);
	return row != NULL && row->ongoing ? ROLLOUT_ONGOING : ROLLOUT_ON_CREATE;
}

void wish_decide(struct sized *x, const struct decision *d)
{
	const struct policy *p = d->choice.policy;
	x->acts = p != NULL && d->choice.mode == MODE_AUTOMATE && !d->choice.excluded &&
		  x->multi == 0 && strategy_of(p, &x->key) == ROLLOUT_ONGOING;
	x->keeps_running = p != NULL && p->sizing.keeps_running;
}

static int64_t larger(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* 0, 0: whatever it has. */
static struct share wanted(
	const struct sized *x, struct sized_container *c, const struct sized_pod *p)
{
	const struct share none = {0, 0};
	struct share want = c->in_force;
	bool heard = c->facts.state == HISTORY_SUFFICIENT || c->facts.state == HISTORY_LEARNING;
	if (!x->acts || !p->advised || !c->converted || want.milli == 0 || want.mib == 0) {
		return none;
	}
	if (!heard) {
		return p->wished;
	}
	if (x->keeps_running) {
		want.milli = larger(want.milli, p->has.milli);
		want.mib = larger(want.mib, p->has.mib);
	}
	if (history_kept(c->history)->memory_class == MEMORY_PREALLOCATED) {
		want.mib = p->has.mib;
	}
	return want;
}

void wish_pod(struct sizer *s, struct sized_pod *p)
{
	if (p->has.milli == 0 || p->feed_count != 1) {
		return;
	}
	struct share want = wanted(p->of, p->feeds[0].container, p);
	bool same = want.milli == p->has.milli && want.mib == p->has.mib;
	bool told = want.milli == p->wished.milli && want.mib == p->wished.mib;
	bool never = p->wished.milli == 0 && p->wished.mib == 0;
	if (told || (same && never)) {
		return;
	}
	struct sizer_wish wish = {.milli = want.milli, .mib = want.mib};
	memcpy(wish.uid, p->uid, sizeof wish.uid);
	p->wished = want;
	VEC_PUSH(&s->wishes, wish);
}

const struct sizer_wish *sizer_wishes(const struct sizer *s, size_t *ret_count)
{
	*ret_count = s->wishes.count;
	return s->wishes.items;
}
