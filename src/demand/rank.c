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
	return pod_rank(&((const struct candidate *)a)->waiter->pod,
		&((const struct candidate *)b)->waiter->pod);
}

void ranking_finish(struct ranking *r)
{
	VEC_FINISH(&r->kept);
	VEC_FINISH(&r->fresh);
}

/* Those who had a rank, each in its place, with gaps for those who have left; and the others. */
static void gather(struct ranking *r, const struct picture *picture, struct ranked *ranked)
{
	static const struct candidate gap = {NULL, 0};
	size_t before = ranked->count;
	VEC_CLEAR(&r->kept);
	VEC_CLEAR(&r->fresh);
	for (size_t i = 0; i < before; i++) {
		VEC_PUSH(&r->kept, gap);
	}
	vec_for_each (const uint32_t, i, &picture->unsettled) {
		const struct world_pod *p = world_class_at(picture->world, WORLD_TENANT, *i);
		if (!p->gpu->gated || p->deleting || world_pod_terminal(p)) {
			continue;
		}
		struct candidate c = {waiter_of(picture->book, p, picture->time->now),
			world_class_slot(picture->world, WORLD_TENANT, *i)};
		waiter_refresh(c.waiter, p);
		if (c.waiter->ranked > 0 && c.waiter->ranked == r->last) {
			r->kept.items[c.waiter->rank] = c;
		} else {
			VEC_PUSH(&r->fresh, c);
		}
	}
}

static void push(struct ranked *ranked, const struct step_time *time, const struct candidate *c)
{
	c->waiter->ranked = time->step;
	c->waiter->rank = (uint32_t)ranked->count;
	VEC_PUSH(ranked, *c);
}

void rank_waiters(struct ranking *r, const struct picture *picture, struct ranked *ranked)
{
	gather(r, picture, ranked);
	if (r->fresh.count > 1) {
		qsort(r->fresh.items, r->fresh.count, sizeof *r->fresh.items, by_rank);
	}
	VEC_CLEAR(ranked);
	size_t next = 0;
	vec_for_each (const struct candidate, c, &r->kept) {
		if (c->waiter == NULL) {
			continue;
		}
		for (; next < r->fresh.count && by_rank(&r->fresh.items[next], c) < 0; next++) {
			push(ranked, picture->time, &r->fresh.items[next]);
		}
		push(ranked, picture->time, c);
	}
	for (; next < r->fresh.count; next++) {
		push(ranked, picture->time, &r->fresh.items[next]);
	}
	r->last = picture->time->step;
}
