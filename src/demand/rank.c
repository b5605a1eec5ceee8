/* Step 3: who waits, and in which order tenants are looked at.
 *
 * What a rank is made of lasts as long as a pod, and thousands wait while a burst is placed. So an
 * order is kept from step to step: whoever has one already stands where it stood, and only the
 * others are compared, with one another and once with those. */
#include "demand/rank.h"

#include <stdlib.h>

#include "ledger/ledger.h"

int pod_rank_class(const struct pod *a, const struct pod *b)
{
	if (a->priority != b->priority) {
		return a->priority > b->priority ? -1 : 1;
	}
	if (a->created_ms != b->created_ms) {
		return a->created_ms < b->created_ms ? -1 : 1;
	}
	return 0;
}

int pod_rank(const struct pod *a, const struct pod *b)
{
	int class = pod_rank_class(a, b);
	int ns = class != 0 ? class : strcmp(a->ns, b->ns);
	return ns != 0 ? ns : strcmp(a->name, b->name);
}

static int by_rank(const void *a, const void *b)
{
	const struct waiter *const *x = a, *const *y = b;
	return pod_rank(&(*x)->pod, &(*y)->pod);
}

void ranking_finish(struct ranking *r)
{
	VEC_FINISH(&r->kept);
	VEC_FINISH(&r->fresh);
}

/* Those who had a rank, each in its place, with gaps for those who have left; and the others. */
static void gather_waiters(struct ranking *r, const struct picture *picture, struct ranked *ranked)
{
	VEC_CLEAR(&r->kept);
	VEC_CLEAR(&r->fresh);
	while (r->kept.count < ranked->count) {
		VEC_PUSH(&r->kept, NULL);
	}
	vec_for_each (const uint32_t, i, &picture->unsettled) {
		const struct world_pod *p = world_class_at(picture->world, WORLD_TENANT, *i);
		if (!p->gpu->gated || p->deleting || world_pod_terminal(p)) {
			continue;
		}
		struct waiter *w = waiter_of(picture->book, p, picture->time->now);
		waiter_refresh(w, p);
		if (w->ranked > 0 && w->ranked == r->last) {
			r->kept.items[w->rank] = w;
		} else {
			VEC_PUSH(&r->fresh, w);
		}
	}
}

static void push_ranked(struct ranked *ranked, const struct step_time *time, struct waiter *w)
{
	w->ranked = time->step;
	w->rank = (uint32_t)ranked->count;
	VEC_PUSH(ranked, w);
}

void rank_waiters(struct ranking *r, const struct picture *picture, struct ranked *ranked)
{
	gather_waiters(r, picture, ranked);
	if (r->fresh.count > 1) {
		qsort(r->fresh.items, r->fresh.count, sizeof *r->fresh.items, by_rank);
	}
	VEC_CLEAR(ranked);
	size_t next = 0;
	vec_for_each (struct waiter *const, w, &r->kept) {
		if (*w == NULL) {
			continue;
		}
		while (next < r->fresh.count && by_rank(&r->fresh.items[next], w) < 0) {
			push_ranked(ranked, picture->time, r->fresh.items[next++]);
		}
		push_ranked(ranked, picture->time, *w);
	}
	while (next < r->fresh.count) {
		push_ranked(ranked, picture->time, r->fresh.items[next++]);
	}
	r->last = picture->time->step;
}
