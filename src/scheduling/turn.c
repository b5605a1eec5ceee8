/* Who starts, and since when. */
#include "scheduling/turn.h"

#include <stdlib.h>

#include "ledger/ledger.h"
#include "model/framework.h"
#include "model/names.h"

/* A large model takes minutes to load. One that is not Ready by then may never be. */
#define TURN_MS 600000

/* Since when it starts: from now on, if that was not known. */
static int64_t starts_since(struct turns *turns, const char *uid)
{
	vec_for_each (const struct turn, t, turns) {
		if (strcmp(t->uid, uid) == 0) {
			return t->since;
		}
	}
	struct turn made = {xstrdup(uid), turns->picture->time->now};
	VEC_PUSH(turns, made);
	return made.since;
}

static bool takes_turns(const struct waiter *w)
{
	const struct framework *f = framework_find(pairs_get(&w->pod.notes, NOTE_FRAMEWORK));
	return f != NULL && f->way == FRAMEWORK_FRACTION;
}

void turn_begins(struct turns *turns, const struct waiter *w)
{
	if (takes_turns(w)) {
		(void)starts_since(turns, w->uid);
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
	return w != NULL && takes_turns(w) &&
	       (w->flight != 0 || w->placed_rv != NULL || w->landings.count > 0);
}

static const struct world_pod *starts_on(
	struct turns *turns, const struct holder *h, const char *but, int64_t *ret_until)
{
	const struct picture *picture = turns->picture;
	const struct ledger *l = holder_ledger(h);
	for (uint32_t i = 0; i < l->count; i++) {
		const struct world_pod *p = world_pod_by_uid(picture->world, l->items[i].uid);
		if (strcmp(l->items[i].uid, but) == 0 || !is_starting(picture->book, p)) {
			continue;
		}
		int64_t until = starts_since(turns, l->items[i].uid) + TURN_MS;
		if (picture->time->now < until) {
			*ret_until = until;
			return p;
		}
	}
	return NULL;
}

const struct world_pod *turn_of_another(
	struct turns *turns, const struct waiter *w, int64_t *ret_until)
{
	const struct world_pod *found = NULL;
	bool several = waiter_count(w) > 1;
	size_t count = several ? w->group.granted.count : 1;
	if (!takes_turns(w) || w->granted_step != turns->picture->time->step) {
		return NULL;
	}
	for (size_t i = 0; i < count && found == NULL; i++) {
		const struct holder *h = several ? w->group.granted.items[i].holder : w->granted_by;
		found = starts_on(turns, h, w->uid, ret_until);
	}
	if (found != NULL) {
		wake_by(turns->picture->time, *ret_until);
	}
	return found;
}

void turns_sweep(struct turns *turns)
{
	for (size_t i = turns->count; i-- > 0;) {
		struct turn *t = &turns->items[i];
		if (!is_starting(turns->picture->book,
			    world_pod_by_uid(turns->picture->world, t->uid))) {
			free(t->uid);
			VEC_REMOVE_SWAP(turns, i);
		}
	}
}

void turns_finish(struct turns *all)
{
	vec_for_each (struct turn, t, all) {
		free(t->uid);
	}
	VEC_FINISH(all);
}
