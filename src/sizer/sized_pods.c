/* The table of pods: to which workload each belongs, and what is known of it by itself. */
#include "sized_pods.h"

#include <stdlib.h>

#include "owner/kinds.h"
#include "size/framework_detection.h"
#include "size/managed.h"
#include "sized.h"
#include "world/world.h"

struct sized_pod *pods_find(const struct sizer *s, const char *uid)
{
	uint32_t at = map_find(&s->by_uid, hash_text(uid), uid);
	return at != MAP_NONE ? s->pods.items[at] : NULL;
}

/* What it was told is counted; who comes next begins anew. */
static void pod_leave_workload(struct sized_pod *p)
{
	for (uint8_t i = 0; i < p->feed_count; i++) {
		struct sized_feed *f = &p->feeds[i];
		history_leave(f->container->history, &f->feed);
		f->container->feeds--;
	}
	p->feed_count = 0;
	p->of->pods--;
	if (p->of->newest == p) {
		p->of->newest = NULL;
	}
	if (p->previous != NULL) {
		p->previous->next = p->next;
	} else {
		p->of->members = p->next;
	}
	if (p->next != NULL) {
		p->next->previous = p->previous;
	}
	if (p->of->worst == p) {
		p->of->worst = NULL;
	}
}

void pods_drop(struct sizer *s, struct sized_pod *p)
{
	pod_leave_workload(p);
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

struct sized_pod *pods_add(struct sizer *s, struct sized *of, const char *uid)
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
		last_ms = p->feeds[i].feed.last_ms > last_ms ? p->feeds[i].feed.last_ms : last_ms;
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
	if (!g->ready) {
		return 0;
	}
	return p->ready_ms != 0 ? p->ready_ms : now_ms;
}

/* --- whose --- */

/* The workload of a pod, by its noun; NULL: it has none, or none that can be kept. */
struct whose {
	bool advised;
	bool alike;
	bool pending; /* it is being asked for */
	bool alone;   /* nobody controls it, and no group takes it */
	uint64_t set;
	bool irretrievable;
	struct bill_pod bill;
	bool ahead; /* its image takes memory ahead of need */
};

/* Members of a group have owners of their own: each has its replicas, and some end. */
static void look_at_member(
	const struct sizer *s, const struct pod *pod, const struct workload *w, struct whose *ret)
{
	const struct owner_top *top = &w->top;
	if (top->kind == NULL) {
		ret->set = 0;
		ret->irretrievable = true;
		return;
	}
	const struct owner_row *row = owner_row_find(top->group, top->kind);
	uint64_t hash = hash_bytes(top->name.p, top->name.n, hash_text(top->kind));
	ret->set = hash_bytes(top->group.p, top->group.n, hash) | 1;
	ret->irretrievable = (row != NULL && row->leaves) ||
			     admit_gang(pod, podgroups_frees(s->config.pod_groups, pod)) != NULL;
}

static struct sized *workload_of_pod(
	struct sizer *s, const struct world_pod *wp, struct whose *ret_whose)
{
	struct pod pod;
	struct workload w;
	arena_reset(&s->scratch);
	if (!world_pod_unpack(wp, &s->scratch, &pod)) {
		return NULL;
	}
	workload_of(s->config.groups, s->config.owners, &pod, &s->scratch, &w);
	ret_whose->ahead = admit_takes_ahead(pod.gpu_image);
	ret_whose->advised = pairs_get(&pod.notes, NOTE_RECOMMENDATION) != NULL;
	bills_label(s, &ret_whose->bill, &pod);
	ret_whose->set = pod.owner.uid != NULL ? hash_text(pod.owner.uid) : 0;
	if (w.gathered_by != NULL) {
		look_at_member(s, &pod, &w, ret_whose);
	}
	ret_whose->alike = text_equals(pod.owner.kind, "ReplicaSet");
	ret_whose->pending = w.top.pending;
	ret_whose->alone = w.key.name == NULL && !w.top.pending;
	if (w.key.name == NULL || w.top.pending) {
		return NULL;
	}
	struct sized *x = sized_of(s, &w.key);
	if (x != NULL) {
		x->type = w.type;
		x->gathered = w.gathered_by != NULL ? hash_text(w.gathered_by) : 0;
		x->retention_s = w.retention_s;
	}
	return x;
}

struct sized *pods_workload(struct sizer *s, const struct world_pod *wp)
{
	struct whose whose = {.advised = false};
	return workload_of_pod(s, wp, &whose);
}

struct sized *pods_advised(struct sizer *s, const struct world_pod *wp)
{
	struct whose whose = {.advised = false};
	struct sized *x = workload_of_pod(s, wp, &whose);
	return whose.advised ? x : NULL;
}

/* Each only grows. */
static uint64_t groups_now(const struct sizer *s)
{
	const struct owner_port *o = s->config.owners;
	return (s->config.groups != NULL ? groups_version(s->config.groups) : 0) +
	       (o != NULL && o->version != NULL ? o->version(o->data) : 0);
}

/* Groups, or owners of owners, may have changed since it was given to its workload. One whose
 * owners are being asked for stays where it is. */
struct sized_pod *pods_assigned(struct sizer *s, const struct world_pod *wp, bool *ret_alone)
{
	const char *uid = world_pod_uid(wp);
	struct sized_pod *p = pods_find(s, uid);
	if (p != NULL && p->groups_version == (uint32_t)groups_now(s)) {
		return p;
	}
	struct whose whose = {.advised = false};
	struct sized *of = strlen(uid) <= SIZER_UID_MAX ? workload_of_pod(s, wp, &whose) : NULL;
	*ret_alone = whose.alone;
	if (whose.pending) {
		return p;
	}
	if (p != NULL && p->of != of) {
		pods_drop(s, p);
		p = NULL;
	}
	if (p == NULL && of != NULL && s->pods.count < SIZER_PODS_MAX) {
		p = pods_add(s, of, uid);
	}
	if (p != NULL) {
		p->groups_version = (uint32_t)groups_now(s);
		p->advised = whose.advised;
		p->set = whose.set;
		p->irretrievable = whose.irretrievable;
		p->alike = whose.alike;
		p->bill.team = whose.bill.team;
		p->bill.model = whose.bill.model;
		p->ahead = whose.ahead;
	}
	return p;
}
