/* Who starts, and since when. */
#include "scheduling/startup_order.h"

#include <stdlib.h>

#include "ledger/ledger.h"
#include "model/framework.h"
#include "model/names.h"

/* A large model takes minutes to load. One that is not Ready by then may never be. */
#define STARTUP_MS 600000

/* Since when it starts: from now on, if that was not known. */
static int64_t starts_since(struct startup_order *order, const char *uid)
{
	vec_for_each (const struct startup, t, order) {
		if (strcmp(t->uid, uid) == 0) {
			return t->since;
		}
	}
	struct startup made = {xstrdup(uid), order->picture->time->now};
	VEC_PUSH(order, made);
	return made.since;
}

static bool starts_in_order(const struct waiter *w)
{
	const struct framework *f = framework_find(pairs_get(&w->pod.notes, NOTE_FRAMEWORK));
	return f != NULL && f->way == FRAMEWORK_FRACTION;
}

void startup_begins(struct startup_order *order, const struct waiter *w)
{
	if (starts_in_order(w)) {
		(void)starts_since(order, w->uid);
	}
}

/* Being placed, or placed and not Ready. */
static bool is_starting(const struct book *book, const struct world_pod *p)
{
	if (p == NULL || p->deleting || world_pod_terminal(p)) {
		return false;
	}
	if (!p->gpu->gated) {
		return p->gpu->told_memory && !p->gpu->ready;
	}
	const struct waiter *w = waiter_find(book, world_pod_uid(p));
	return w != NULL && starts_in_order(w) &&
	       (w->flight != 0 || w->placed_rv != NULL || w->landings.count > 0);
}

static const struct world_pod *starts_on(
	struct startup_order *order, const struct holder *h, const char *but, int64_t *ret_until)
{
	const struct picture *picture = order->picture;
	const struct ledger *l = holder_ledger(h);
	for (uint32_t i = 0; i < l->count; i++) {
		const struct world_pod *p = world_pod_by_uid(picture->world, l->items[i].uid);
		if (strcmp(l->items[i].uid, but) == 0 || !is_starting(picture->book, p)) {
			continue;
		}
		int64_t until = starts_since(order, l->items[i].uid) + STARTUP_MS;
		if (picture->time->now < until) {
			*ret_until = until;
			return p;
		}
	}
	return NULL;
}

const struct world_pod *startup_before(
	struct startup_order *order, const struct waiter *w, int64_t *ret_until)
{
	const struct world_pod *found = NULL;
	bool several = waiter_count(w) > 1;
	size_t count = several ? w->group.granted.count : 1;
	if (!starts_in_order(w) || w->granted_step != order->picture->time->step) {
		return NULL;
	}
	for (size_t i = 0; i < count && found == NULL; i++) {
		const struct holder *h = several ? w->group.granted.items[i].holder : w->granted_by;
		found = starts_on(order, h, w->uid, ret_until);
	}
	if (found != NULL) {
		wake_by(order->picture->time, *ret_until);
	}
	return found;
}

void startup_order_sweep(struct startup_order *order)
{
	for (size_t i = order->count; i-- > 0;) {
		struct startup *t = &order->items[i];
		if (!is_starting(order->picture->book,
			    world_pod_by_uid(order->picture->world, t->uid))) {
			free(t->uid);
			VEC_REMOVE_SWAP(order, i);
		}
	}
}

void startup_order_finish(struct startup_order *all)
{
	vec_for_each (struct startup, t, all) {
		free(t->uid);
	}
	VEC_FINISH(all);
}
