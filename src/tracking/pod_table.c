/* The table of pods, and what is known of each by itself. */
#include "tracking/pod_table.h"

#include <stdlib.h>

#include "base/number.h"
#include "tracking/workload_table.h"

struct sized_pod *pods_find(const struct tracking *s, const char *uid)
{
	uint32_t at = map_find(&s->by_uid, hash_text(uid), uid);
	return at != MAP_NONE ? s->pods.items[at] : NULL;
}

void pods_drop(struct tracking *s, struct sized_pod *p)
{
	/* What it was told is counted; who comes next begins anew. */
	for (uint8_t i = 0; i < p->feed_count; i++) {
		struct sized_feed *f = &p->feeds[i];
		history_leave(f->container->history, &f->feed);
		f->container->feeds--;
	}
	struct sized_workload *x = p->of;
	x->pods--;
	x->newest = x->newest == p ? NULL : x->newest;
	x->worst = x->worst == p ? NULL : x->worst;
	*(p->previous != NULL ? &p->previous->next : &x->members) = p->next;
	if (p->next != NULL) {
		p->next->previous = p->previous;
	}
	map_remove(&s->by_uid, hash_text(p->uid), p->slot);
	struct sized_pod *last = s->pods.items[s->pods.count - 1];
	if (last != p) {
		map_remove(&s->by_uid, hash_text(last->uid), last->slot);
		last->slot = p->slot;
		s->pods.items[last->slot] = last;
		map_put(&s->by_uid, hash_text(last->uid), last->slot);
	}
	s->pods.count--;
	if (p->feeds != &p->only) {
		free(p->feeds);
	}
	slab_free(&s->records, p, sizeof *p);
}

struct sized_pod *pods_add(struct tracking *s, struct sized_workload *of, const char *uid)
{
	struct sized_pod *p = slab_alloc(&s->records, sizeof *p);
	p->of = of;
	memcpy(p->uid, uid, strlen(uid) + 1);
	p->slot = (uint32_t)s->pods.count;
	VEC_PUSH(&s->pods, p);
	map_put(&s->by_uid, hash_text(uid), p->slot);
	of->pods++;
	p->next = of->members;
	if (p->next != NULL) {
		p->next->previous = p;
	}
	of->members = p;
	return p;
}

int64_t pods_sampled_ms(const struct sized_pod *p)
{
	int64_t last_ms = 0;
	for (uint8_t i = 0; i < p->feed_count; i++) {
		last_ms = larger_of(last_ms, p->feeds[i].feed.last_ms);
	}
	return last_ms;
}

struct share pods_changeable(const struct sized_pod *p)
{
	return p->changes ? share_widened(p->heal.share) : (struct share){0, 0};
}

struct sized_feed *pods_feed(struct sized_pod *p, const char *container)
{
	for (uint8_t i = 0; i < p->feed_count; i++) {
		if (text_equals(p->feeds[i].container->name, container)) {
			return &p->feeds[i];
		}
	}
	struct sized_container *c = sized_container_of(p->of, container);
	if (c == NULL || p->feed_count >= SIZER_CONTAINERS_MAX) {
		return NULL;
	}
	if (p->feed_count == 0) {
		p->feeds = &p->only;
	} else if (p->feeds == &p->only) {
		p->feeds = xcalloc(2, sizeof *p->feeds);
		p->feeds[0] = p->only;
	} else {
		p->feeds = xreallocarray(p->feeds, p->feed_count + 1u, sizeof *p->feeds);
	}
	p->feeds[p->feed_count] = (struct sized_feed){.container = c};
	c->feeds++;
	return &p->feeds[p->feed_count++];
}

bool pods_wait_in_vain(const struct sized_pod *p, const struct world_pod *wp)
{
	const struct world_gpu *g = wp->gpu;
	return g->class == WORLD_TENANT && g->gated && !g->other_gates && !g->beside &&
	       p->advised && !wp->deleting && reason_would_run_whole(g->told);
}

int64_t pods_ready_ms(const struct sized_pod *p, const struct world_gpu *g, int64_t now_ms)
{
	return !g->ready ? 0 : p->ready_ms != 0 ? p->ready_ms : now_ms;
}
