/* The engine's memory of what it asked for and how long things have lasted. */
#include "state.h"

#include <stdlib.h>

#define TROUBLE_FIRST_MS 10000
#define TROUBLE_CAP_MS	 300000
/* A node that has not failed for this long starts again from the first delay. */
#define TROUBLE_RESET_MS 600000

static bool waiter_same(const void *owner, uint32_t slot, const void *key)
{
	const struct engine *e = owner;
	return strcmp(e->waiters.items[slot]->uid, key) == 0;
}

static bool holder_same(const void *owner, uint32_t slot, const void *key)
{
	const struct engine *e = owner;
	return strcmp(e->holders.items[slot]->name, key) == 0;
}

static bool memo_same(const void *owner, uint32_t slot, const void *key)
{
	const struct engine *e = owner;
	return strcmp(e->memos.items[slot].name, key) == 0;
}

void book_init(struct engine *e)
{
	map_init(&e->memos_by_name, memo_same, e);
	map_init(&e->waiters_by_uid, waiter_same, e);
	map_init(&e->holders_by_name, holder_same, e);
	flights_init(e);
}

struct waiter *waiter_find(const struct engine *e, const char *uid)
{
	uint32_t i = map_find(&e->waiters_by_uid, hash_text(uid), uid);
	return i == MAP_NONE ? NULL : e->waiters.items[i];
}

struct waiter *waiter_giving_back(const struct engine *e, const char *uid, const struct holder *h)
{
	struct waiter *w = waiter_find(e, uid);
	return w != NULL && waiter_gives_back(w, h) ? w : NULL;
}

static struct waiter *waiter_add(struct engine *e, const char *uid, int64_t now)
{
	struct waiter *w = xcalloc(1, sizeof *w);
	w->uid = xstrdup(uid);
	w->arena.block_bytes = 1024;
	w->stamp = UINT64_MAX;
	w->first_seen = now;
	w->passed.lacks_since = w->passed.waits_since = -1;
	w->backoff = (struct backoff){.first_ms = 500, .cap_ms = 60000};
	w->at = (uint32_t)e->waiters.count;
	VEC_PUSH(&e->waiters, w);
	map_put(&e->waiters_by_uid, hash_text(uid), (uint32_t)e->waiters.count - 1);
	return w;
}

struct waiter *waiter_touch(struct engine *e, const char *uid, int64_t now)
{
	struct waiter *w = waiter_find(e, uid);
	w = w != NULL ? w : waiter_add(e, uid, now);
	w->seen = e->step;
	return w;
}

static void leave_slot(struct engine *e, const struct waiter *w)
{
	if (w->pod_slot < e->waiter_by_slot.count && e->waiter_by_slot.items[w->pod_slot] == w) {
		e->waiter_by_slot.items[w->pod_slot] = NULL;
	}
}

/* The same by the place of its pod, which saves hashing the uid of everybody who waits. A waiter
 * that has read the pod as it stands there is the pod's: no two have the same stamp. */
struct waiter *waiter_of(struct engine *e, const struct world_pod *p, int64_t now)
{
	uint32_t slot = world_class_slot(e->world, p->gpu->class, p->gpu->slot);
	while (e->waiter_by_slot.count <= slot) {
		VEC_PUSH(&e->waiter_by_slot, NULL);
	}
	struct waiter *w = e->waiter_by_slot.items[slot];
	if (w != NULL && w->stamp == p->gpu->stamp) {
		w->seen = e->step;
		return w;
	}
	w = waiter_touch(e, world_pod_uid(p), now);
	leave_slot(e, w);
	w->pod_slot = slot;
	e->waiter_by_slot.items[slot] = w;
	return w;
}

struct holder *holder_find(const struct engine *e, const char *name)
{
	uint32_t i = map_find(&e->holders_by_name, hash_text(name), name);
	return i == MAP_NONE ? NULL : e->holders.items[i];
}

struct holder *holder_touch(struct engine *e, const char *name, int64_t now)
{
	struct holder *h = holder_find(e, name);
	if (h == NULL) {
		h = xcalloc(1, sizeof *h);
		h->name = xstrdup(name);
		h->arena.block_bytes = 2048;
		h->asked_arena.block_bytes = 1024;
		h->stamp = UINT64_MAX;
		h->opened_at = h->told_from = now;
		h->lost_at = h->refused_at = h->going_at = -1;
		h->idle_since = now;
		h->backoff = (struct backoff){.first_ms = 1000, .cap_ms = 60000};
		h->at = (uint32_t)e->holders.count;
		VEC_PUSH(&e->holders, h);
		map_put(&e->holders_by_name, hash_text(name), (uint32_t)e->holders.count - 1);
	}
	h->seen = e->step;
	return h;
}

static void holder_free(struct holder *h)
{
	arena_finish(&h->arena);
	arena_finish(&h->asked_arena);
	free(h->acked_rv);
	free(h->avoid_rv);
	free(h->refusal);
	free(h->flight_rv);
	free(h->node);
	free(h->uid);
	free(h->name);
	free(h);
}

struct node_memo *memo_find(struct engine *e, const char *node)
{
	uint32_t i = map_find(&e->memos_by_name, hash_text(node), node);
	return i == MAP_NONE ? NULL : &e->memos.items[i];
}

struct node_memo *memo_touch(struct engine *e, const char *node)
{
	struct node_memo *m = memo_find(e, node);
	if (m == NULL) {
		struct node_memo made = {.name = xstrdup(node)};
		VEC_PUSH(&e->memos, made);
		m = &e->memos.items[e->memos.count - 1];
		map_put(&e->memos_by_name, hash_text(node), (uint32_t)e->memos.count - 1);
	}
	return m;
}

void trouble_note(struct engine *e, const char *node, int64_t now)
{
	struct node_memo *m = memo_touch(e, node);
	if (m->backoff.first_ms == 0 || now - m->last_failure > TROUBLE_RESET_MS) {
		m->backoff =
			(struct backoff){.first_ms = TROUBLE_FIRST_MS, .cap_ms = TROUBLE_CAP_MS};
	}
	m->last_failure = now;
	m->until = now + backoff_next(&m->backoff, &e->rng);
}

struct absence *absence_of(struct engine *e, const char *uid, int64_t now)
{
	vec_for_each (struct absence, a, &e->absences) {
		if (strcmp(a->uid, uid) == 0) {
			a->seen = e->step;
			return a;
		}
	}
	struct absence made = {.uid = xstrdup(uid), .since = now, .seen = e->step};
	VEC_PUSH(&e->absences, made);
	return &e->absences.items[e->absences.count - 1];
}

static void absence_free(struct absence *a)
{
	free(a->holder);
	free(a->uid);
}

/* The last one takes its place, and the indexes follow: in a burst some go in each step, and
 * thousands stay. */
static void drop_waiter(struct engine *e, uint32_t at)
{
	uint32_t last = (uint32_t)e->waiters.count - 1;
	struct waiter *w = e->waiters.items[at], *moved = e->waiters.items[last];
	map_remove(&e->waiters_by_uid, hash_text(w->uid), at);
	waiter_heard(e, w);
	if (at != last) {
		map_remove(&e->waiters_by_uid, hash_text(moved->uid), last);
		map_put(&e->waiters_by_uid, hash_text(moved->uid), at);
		waiter_moves(e, moved, at);
	}
	VEC_REMOVE_SWAP(&e->waiters, at);
	leave_slot(e, w);
	waiter_free(w);
}

static void sweep_waiters(struct engine *e)
{
	for (size_t i = e->waiters.count; i-- > 0;) {
		if (e->waiters.items[i]->seen != e->step) {
			drop_waiter(e, (uint32_t)i);
		}
	}
}

static void drop_holder(struct engine *e, uint32_t at)
{
	uint32_t last = (uint32_t)e->holders.count - 1;
	struct holder *h = e->holders.items[at], *moved = e->holders.items[last];
	map_remove(&e->holders_by_name, hash_text(h->name), at);
	holder_heard(e, h);
	if (at != last) {
		map_remove(&e->holders_by_name, hash_text(moved->name), last);
		map_put(&e->holders_by_name, hash_text(moved->name), at);
		holder_moves(e, moved, at);
	}
	VEC_REMOVE_SWAP(&e->holders, at);
	holder_free(h);
}

static void sweep_holders(struct engine *e)
{
	for (size_t i = e->holders.count; i-- > 0;) {
		if (e->holders.items[i]->seen != e->step) {
			drop_holder(e, (uint32_t)i);
		}
	}
}

/* A node that failed long ago has not failed; of one that is gone nothing holds for the next of
 * that name. */
static void sweep_memos(struct engine *e)
{
	bool any = false;
	for (size_t i = e->memos.count; i-- > 0;) {
		struct node_memo *m = &e->memos.items[i];
		uint32_t node = world_node_find(e->world, m->name);
		if (node == WORLD_NONE || !world_node_at(e->world, node)->known) {
			m->usable_mib = 0;
		}
		bool failed =
			m->backoff.first_ms != 0 && e->now - m->last_failure <= TROUBLE_RESET_MS;
		if (!failed && m->usable_mib == 0) {
			free(m->name);
			free(m->why);
			VEC_REMOVE_SWAP(&e->memos, i);
			any = true;
		}
	}
	if (!any) {
		return;
	}
	map_clear(&e->memos_by_name);
	for (size_t i = 0; i < e->memos.count; i++) {
		map_put(&e->memos_by_name, hash_text(e->memos.items[i].name), (uint32_t)i);
	}
}

void book_sweep(struct engine *e)
{
	sweep_memos(e);
	sweep_waiters(e);
	sweep_holders(e);
	for (size_t i = e->absences.count; i-- > 0;) {
		if (e->absences.items[i].seen != e->step) {
			absence_free(&e->absences.items[i]);
			VEC_REMOVE_SWAP(&e->absences, i);
		}
	}
}

/* What the old term asked for, the watch tells; but not what of it may still happen. */
void book_new_term(struct engine *e)
{
	struct engine old = {.waiters = e->waiters,
		.holders = e->holders,
		.memos = e->memos,
		.absences = e->absences,
		.waiters_by_uid = e->waiters_by_uid,
		.holders_by_name = e->holders_by_name,
		.flights = e->flights,
		.memos_by_name = e->memos_by_name};
	memset(&e->waiters, 0, sizeof e->waiters);
	memset(&e->holders, 0, sizeof e->holders);
	memset(&e->memos, 0, sizeof e->memos);
	memset(&e->absences, 0, sizeof e->absences);
	VEC_CLEAR(&e->waiter_by_slot);
	book_init(e);
	for (size_t i = 0; i < old.waiters.count; i++) {
		struct waiter *w = old.waiters.items[i];
		if (w->landings.count > 0) {
			struct waiter *kept = waiter_add(e, w->uid, e->now);
			memcpy(&kept->landings, &w->landings, sizeof kept->landings);
			memset(&w->landings, 0, sizeof w->landings);
		}
	}
	book_finish(&old);
}

void book_finish(struct engine *e)
{
	for (size_t i = 0; i < e->waiters.count; i++) {
		waiter_free(e->waiters.items[i]);
	}
	for (size_t i = 0; i < e->holders.count; i++) {
		holder_free(e->holders.items[i]);
	}
	vec_for_each (struct node_memo, m, &e->memos) {
		free(m->name);
		free(m->why);
	}
	vec_for_each (struct absence, a, &e->absences) {
		absence_free(a);
	}
	VEC_FINISH(&e->waiters);
	VEC_FINISH(&e->waiter_by_slot);
	VEC_FINISH(&e->holders);
	VEC_FINISH(&e->memos);
	VEC_FINISH(&e->absences);
	map_finish(&e->waiters_by_uid);
	map_finish(&e->holders_by_name);
	flights_finish(&e->flights);
	map_finish(&e->memos_by_name);
}
