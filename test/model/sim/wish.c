/* Other shares for tenants that run: somebody who sizes them says so to whoever leads, and again to
 * whoever leads then; nobody else remembers it. */
#include "wish.h"

#include <stdio.h>

#include "objects/dice.h"
#include "model/names.h"
#include "cluster/replica.h"

#define SHARES 6

static bool may_wish(const struct stored *o)
{
	return o->resource == RES_PODS && pod_is_tenant(&o->pod) && !pod_is_terminal(&o->pod) &&
	       !pod_has_gate(&o->pod, NAME_GATE) && o->pod.deleting_ms == 0;
}

static const struct stored *pick_tenant(const struct sim *s)
{
	const struct stored *best = NULL;
	uint64_t lowest = UINT64_MAX;
	for (size_t i = 0; i < s->store.items.count; i++) {
		const struct stored *o = s->store.items.items[i];
		uint64_t lot = dice_key("wished", o->uid, s->scope);
		if (may_wish(o) && lot <= lowest) {
			lowest = lot;
			best = o;
		}
	}
	return best;
}

static void tell_leaders(struct sim *s, const struct change *c)
{
	for (int i = 0; i < s->replicas; i++) {
		if (s->slots[i].replica != NULL && s->slots[i].leads) {
			replica_tell(s->slots[i].replica, c);
		}
	}
}

/* The next ones of its workload should come to another GPU. */
static void shun(struct sim *s, const struct stored *o)
{
	struct change c = {
		.type = CHANGE_AVOID_GPU, .uid = o->uid, .for_ms = 1000 * sim_between(s, 1, 120)};
	dice_say(s, "others of %s should come to another GPU", o->name);
	tell_leaders(s, &c);
}

static void wish_once(struct sim *s)
{
	static const int64_t millis[SHARES] = {50, 100, 200, 300, 500, 900};
	const struct stored *o = pick_tenant(s);
	if (o == NULL || !dice_falls(s, "wish", s->weather.wish)) {
		return;
	}
	if (dice_falls(s, "shun", s->weather.wish / 4)) {
		shun(s, o);
		return;
	}
	struct change c = {.type = CHANGE_SHARE,
		.uid = o->uid,
		.milli = millis[sim_between(s, 0, SHARES - 1)],
		.mem_mib = 1024 * sim_between(s, 1, 24)};
	if (sim_chance(s, 100)) {
		c.milli = c.mem_mib = 0;
	}
	dice_say(s, "%s should have %lld milli and %lld MiB", o->name, (long long)c.milli,
		(long long)c.mem_mib);
	tell_leaders(s, &c);
}

static void wish_again(void *data, uint64_t turn)
{
	struct sim *s = data;
	if (s->calm) {
		return;
	}
	struct dice back = dice_enter(s, dice_key("wishes", NULL, turn));
	int64_t rest = sim_between(s, 100, 3000);
	wish_once(s);
	dice_leave(s, back);
	agenda_add(&s->agenda, sim_now(s) + rest, wish_again, s, turn + 1);
}

void wish_start(struct sim *s)
{
	if (s->weather.wish > 0) {
		agenda_add(&s->agenda, sim_now(s) + 1000, wish_again, s, 0);
	}
}
