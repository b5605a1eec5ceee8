/* Pods: to which workload each belongs, what all of a workload's have, and what each of them uses.
 */
#include <stdlib.h>

#include "container_use.h"
#include "model/names.h"
#include "resize_request.h"
#include "size/admit.h"
#include "state.h"
#include "world/world.h"

/* --- the table --- */

struct sized_pod *pods_find(const struct sizer *s, const char *uid)
{
	uint32_t at = map_find(&s->by_uid, hash_text(uid), uid);
	return at != MAP_NONE ? s->pods.items[at] : NULL;
}

/* What it was told is counted; who comes next begins anew. */
static void leave(struct sized_pod *p)
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
	leave(p);
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

static struct sized_pod *make(struct sizer *s, struct sized *of, const char *uid)
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
	return p->changes ? share_of(p->heal.share) : (struct share){0, 0};
}

static struct sized_feed *feed_of(struct sized_pod *p, const char *container)
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

static struct sized *owner_of(struct sizer *s, const struct world_pod *wp, struct whose *ret_whose)
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
	return owner_of(s, wp, &whose);
}

struct sized *pods_advised(struct sizer *s, const struct world_pod *wp)
{
	struct whose whose = {.advised = false};
	struct sized *x = owner_of(s, wp, &whose);
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
static struct sized_pod *known(struct sizer *s, const struct world_pod *wp, bool *ret_alone)
{
	const char *uid = world_pod_uid(wp);
	struct sized_pod *p = pods_find(s, uid);
	if (p != NULL && p->groups_version == (uint32_t)groups_now(s)) {
		return p;
	}
	struct whose whose = {.advised = false};
	struct sized *of = strlen(uid) <= SIZER_UID_MAX ? owner_of(s, wp, &whose) : NULL;
	*ret_alone = whose.alone;
	if (whose.pending) {
		return p;
	}
	if (p != NULL && p->of != of) {
		pods_drop(s, p);
		p = NULL;
	}
	if (p == NULL && of != NULL && s->pods.count < SIZER_PODS_MAX) {
		p = make(s, of, uid);
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

/* --- what they have --- */

static void begin_tally(const struct sizer *s, struct sized *x)
{
	if (x->round == s->round) {
		return;
	}
	x->round = s->round;
	x->multi = x->parted = x->vain = false;
	x->newest = NULL;
	wish_begin(x);
	for (size_t i = 0; i < x->containers.count; i++) {
		x->containers.items[i]->tally = (struct sized_tally){0};
	}
}

static int32_t larger(int64_t a, int64_t b)
{
	return small(a > b ? a : b);
}

static bool has(const struct share *want, int64_t milli, int64_t mib)
{
	return want->milli > 0 && want->milli == milli && want->mib == mib;
}

static void tally_tenant(struct sized_tally *t, const struct world_gpu *g, const struct share *want)
{
	int64_t devices = g->devices > 1 ? g->devices : 1;
	t->original.milli = larger(t->original.milli, devices * MODEL_GPU_MILLI);
	if (g->milli == 0) {
		t->pending++;
		return;
	}
	t->running++;
	t->allocated.milli = larger(t->allocated.milli, g->milli);
	t->allocated.mib = larger(t->allocated.mib, g->mem_mib);
	t->heal.granted.milli = larger(t->heal.granted.milli, g->milli);
	t->heal.granted.mib = larger(t->heal.granted.mib, g->mem_mib);
	t->saved_milli += devices * (MODEL_GPU_MILLI - g->milli);
	t->up_to_date += has(want, g->milli, g->mem_mib);
}

/* All of the GPU that it has; where nobody knows that, of the largest that there is. */
static int64_t device_of(const struct sizer *s, const struct sized_pod *p)
{
	int64_t mib = devices_at(&s->devices, p->heal.node);
	return mib > 0 ? mib : devices_largest(&s->devices);
}

static void tally_whole(struct sized_tally *t, const struct world_pod *wp, const struct share *want,
	int64_t device_mib)
{
	int64_t gpus = wp->gpu->gpus > 1 ? wp->gpu->gpus : 1;
	t->whole = true;
	t->original.milli = larger(t->original.milli, gpus * MODEL_GPU_MILLI);
	t->original.mib = larger(t->original.mib, device_mib);
	if (wp->phase != POD_RUNNING) {
		t->pending++;
		return;
	}
	t->running++;
	t->allocated.milli = larger(t->allocated.milli, gpus * MODEL_GPU_MILLI);
	t->allocated.mib = larger(t->allocated.mib, device_mib);
	t->up_to_date += want->milli >= MODEL_GPU_MILLI;
}

bool pods_wait_in_vain(const struct sized_pod *p, const struct world_pod *wp)
{
	const struct world_gpu *g = wp->gpu;
	return g->class == WORLD_TENANT && g->gated && !g->other_gates && !g->beside &&
	       p->advised && !wp->deleting && reason_would_run_whole(g->told);
}

/* C35. The first time it counts from when it was told, so that another leader goes on. */
static void note_vain(struct sized_pod *p, const struct world_pod *wp, int64_t now_ms)
{
	const struct world_gpu *g = wp->gpu;
	if (!pods_wait_in_vain(p, wp)) {
		return;
	}
	int64_t since_ms = g->told_ms < now_ms && g->told_ms > 0 ? g->told_ms : now_ms;
	p->of->vain = true;
	p->of->vain_s = p->of->vain_s != 0 ? p->of->vain_s : (uint32_t)(since_ms / 1000);
}

static void tally(struct sizer *s, struct sized_pod *p, const struct world_pod *wp, int64_t now_ms)
{
	const struct world_gpu *g = wp->gpu;
	note_vain(p, wp, now_ms);
	struct sized_feed *f = g->container != NULL ? feed_of(p, g->container) : NULL;
	if (f == NULL) {
		return;
	}
	struct sized_container *c = f->container;
	struct history_kept *kept = history_kept(c->history);
	if (p->ahead || p->told_memory) {
		kept->memory_class = MEMORY_PREALLOCATED;
	}
	c->seen_ms = now_ms;
	c->tally.pods++;
	if (g->class == WORLD_TENANT) {
		tally_tenant(&c->tally, g, &c->in_force);
	} else {
		tally_whole(&c->tally, wp, &c->in_force, device_of(s, p));
	}
}

void pods_settle(struct sizer *s, struct sized_pod *p, int64_t now_ms)
{
	for (uint8_t i = 0; i < p->feed_count; i++) {
		history_settle(p->feeds[i].container->history, &p->feeds[i].feed, now_ms);
	}
	heals_tally(s, p, now_ms);
}

int64_t pods_ready_ms(const struct sized_pod *p, const struct world_gpu *g, int64_t now_ms)
{
	if (!g->ready) {
		return 0;
	}
	return p->ready_ms != 0 ? p->ready_ms : now_ms;
}

static void note_share(struct sized_pod *p, const struct world_gpu *g)
{
	p->mps = g->class == WORLD_TENANT && g->mps;
	p->changes = g->class == WORLD_TENANT && !g->mps;
}

void pods_see(struct sizer *s, const struct world_pod *wp, int64_t now_ms)
{
	const struct world_gpu *g = wp->gpu;
	if (world_pod_terminal(wp) || wp->deleting) {
		if (!s->recalled && pods_find(s, world_pod_uid(wp)) == NULL) {
			runs_recall(s, wp);
		}
		return;
	}
	bool alone = false;
	struct sized_pod *p = known(s, wp, &alone);
	if (p == NULL) {
		if (alone) {
			(void)strangers_count(&s->strangers, NULL, world_pod_milli(wp));
		}
		return;
	}
	struct sized *x = p->of;
	begin_tally(s, x);
	if (x->strange) {
		(void)strangers_count(&s->strangers, &x->key, world_pod_milli(wp));
	}
	p->round = s->round;
	p->heal.node = wp->node;
	p->whole = g->class != WORLD_TENANT;
	p->parted = g->container == NULL;
	p->created_ms = g->created_ms;
	p->ready_ms = pods_ready_ms(p, g, now_ms);
	p->told_memory = g->told_memory;
	p->heal.gpu = gpus_at(&s->gpus, g->uuid);
	note_share(p, g);
	x->seen_ms = now_ms;
	x->parted = x->parted || p->parted;
	x->multi = x->multi || p->parted || g->gpus > 1 || g->devices > 1;
	if (x->newest == NULL || p->created_ms > x->newest->created_ms) {
		x->newest = p;
	}
	tally(s, p, wp, now_ms);
	heals_see(s, p, wp, now_ms);
	wish_look(s, p);
}

void sizer_see(struct sizer *s, const struct world_pod *wp, int64_t now_ms)
{
	struct sized_pod *p = wp->gpu != NULL ? pods_find(s, world_pod_uid(wp)) : NULL;
	if (p != NULL && (world_pod_terminal(wp) || wp->deleting)) {
		heals_over(s, p, wp, now_ms);
	} else if (p == NULL && wp->gpu != NULL && world_pod_terminal(wp)) {
		heals_unseen(s, wp, now_ms);
	} else if (p != NULL) {
		p->ready_ms = pods_ready_ms(p, wp->gpu, now_ms);
		note_share(p, wp->gpu);
		heals_see(s, p, wp, now_ms);
	}
}

/* --- what they use --- */

static const char *name_of(const struct sized_pod *p, const struct sizer_figure *f)
{
	if (p->parted && f->container[0] != '\0') {
		return f->container;
	}
	return p->feed_count == 1 ? p->feeds[0].container->name : NULL;
}

static void classify(const struct sizer *s, const struct sized_pod *p, struct sized_feed *f,
	const struct history_sample *sample, bool hinted)
{
	struct history_kept *kept = history_kept(f->container->history);
	if (kept->memory_class != MEMORY_UNDECIDED && !hinted) {
		return;
	}
	struct prealloc_look look = {
		.hinted = hinted,
		.owns_device = p->whole,
		.started_ms = p->created_ms,
		.used_mib = sample->mem_bytes != METERED_ABSENT ? sample->mem_bytes >> 20
								: METERED_ABSENT,
		.visible_mib = device_of(s, p),
		.now_ms = sample->at_ms,
	};
	kept->memory_class = (uint8_t)prealloc_classify(
		(enum memory_class)kept->memory_class, &f->memory.watch, &look);
}

static void take(struct sizer *s, struct sized_pod *p, const struct sizer_use *use,
	const struct sizer_figure *f, int64_t now_ms)
{
	const char *name = name_of(p, f);
	struct history_sample sample = {
		.source = {use->source, f->estimated, f->basis},
		.at_ms = f->at_ms,
		.compute = f->compute,
		.wall = p->mps && p->heal.share.milli > 0
				? (int64_t)p->heal.share.milli * (METERED_FULL / MODEL_GPU_MILLI)
				: METERED_FULL,
		.mem_bytes = f->mem_bytes,
	};
	struct sized_feed *feed = name != NULL ? feed_of(p, name) : NULL;
	if (feed == NULL || !feed->container->fitted) {
		return;
	}
	feed->container->seen_ms = now_ms;
	if (history_take(feed->container->history, &feed->feed, &sample, now_ms)) {
		classify(s, p, feed, &sample, pools_told(use->app));
		heals_take(
			s, p, feed, &sample, use->app != NULL ? use->app->waiting : METERED_ABSENT);
	}
}

/* Sidecars are not sized: the share is the pod's, and its container's that has the GPU. */
static void take_all(
	struct sizer *s, struct sized_pod *p, const struct sizer_use *use, int64_t now_ms)
{
	struct sizer_figure f;
	if (!p->parted) {
		const char *name = p->feed_count == 1 ? p->feeds[0].container->name : NULL;
		if (name != NULL && uses_pod(use, name, &f)) {
			take(s, p, use, &f, now_ms);
		}
		return;
	}
	for (uint32_t i = 0; i < use->figure_count; i++) {
		if (uses_container(use, i, &f)) {
			take(s, p, use, &f, now_ms);
		}
	}
}

bool sizer_take(struct sizer *s, const struct sizer_use *use, int64_t now_ms)
{
	struct sized_pod *p = pods_find(s, use->uid);
	if (p == NULL) {
		others_take(&s->others, use);
		return false;
	}
	take_all(s, p, use, now_ms);
	pools_take(p, use, now_ms);
	return true;
}
