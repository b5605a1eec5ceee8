/* Halves that last. When a tenant of several GPUs is granted one of them, somebody takes another
 * one of that node before it is granted: a person deletes the capacity pod, and a pod for a whole
 * GPU comes that outranks everybody and stays. What was granted is then of no use, and must be
 * given back. */
#include "rival.h"

#include <stdio.h>

#include "objects/api_object.h"
#include "objects/told.h"
#include "objects/trace.h"
#include "people.h"

static uint64_t object_serial(const struct stored *o)
{
	int64_t serial = 0;
	return parse_i64(view_of(o->uid + 4), 0, INT64_MAX, &serial) ? (uint64_t)serial : 0;
}

static void rival_comes(struct sim *s, uint64_t number)
{
	char name[32];
	snprintf(name, sizeof name, "rival-%llu", (unsigned long long)number);
	if (store_find(&s->store, RES_PODS, "team", name) == NULL) {
		people_ask_for(s,
			&(struct wanted_pod){
				.name = name, .gpus = "1", .priority = SIM_RANKS, .lasting = true});
	}
}

/* Another one on its node that nobody uses yet. */
static struct stored *neighbour_of(const struct sim *s, const struct stored *of)
{
	for (size_t i = 0; i < s->store.items.count; i++) {
		struct stored *o = s->store.items.items[i];
		if (o != of && o->resource == RES_PODS && pod_is_capacity(&o->pod) &&
			!pod_is_terminal(&o->pod) && o->pod.ledger.count == 0 &&
			text_equals(o->pod.node, of->pod.node)) {
			return o;
		}
	}
	return NULL;
}

static void rival_takes(void *data, uint64_t serial)
{
	struct sim *s = data;
	char uid[32];
	snprintf(uid, sizeof uid, "uid-%06llu", (unsigned long long)serial);
	const struct stored *granted = store_find_uid(&s->store, uid);
	struct stored *other = granted != NULL ? neighbour_of(s, granted) : NULL;
	if (other != NULL) {
		sim_trace(s, "a person takes %s away, and somebody comes", other->name);
		rival_comes(s, serial);
		apiserver_delete_pod(s, other, 0, ACTOR_PERSON);
	}
}

/* It has just been given a part there and waits for the rest. */
static bool is_halved(const struct sim *s, const struct commit *c)
{
	const struct ledger *had = &c->before->pod.ledger, *has = &c->after->pod.ledger;
	if (has->count <= had->count) {
		return false;
	}
	const struct stored *t = store_find_uid(&s->store, has->items[has->count - 1].uid);
	return t != NULL && group_asked(&t->pod) > 1 && group_is_partial(s, t);
}

void rival_committed(struct sim *s, const struct commit *c)
{
	bool grants = c->actor >= 0 && c->before != NULL && c->after != NULL &&
		      c->after->resource == RES_PODS && pod_is_capacity(&c->after->pod);
	if (s->calm || s->weather.halved == 0 || !grants || !is_halved(s, c)) {
		return;
	}
	struct dice back = dice_enter(s, dice_next(s, "halved", c->after->name, 0));
	if (dice_falls(s, "rival", s->weather.halved)) {
		dice_say(s, "a rival comes, and a neighbour of %s is taken", c->after->name);
		agenda_add(&s->agenda, sim_now(s) + 1, rival_takes, s, object_serial(c->after));
	}
	dice_leave(s, back);
}
