/* The engine's lists: tenants that wait, capacity pods, nodes, tenants that are gone, each with
 * what was asked for it and since when. Found by a key, swept at the end of a step. */
#include "ledger/book.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/rand.h"
#include "ledger/capacity_pod.h"
#include "ledger/pending_pod.h"
#include "ledger/step_time.h"
#include "world/world.h"

#define TROUBLE_FIRST_MS 10000
#define TROUBLE_CAP_MS	 300000
/* A node that has not failed for this long starts again from the first delay. */
#define TROUBLE_RESET_MS 600000

static bool waiter_same(const void *owner, uint32_t slot, const void *key)
{
	const struct book *b = owner;
	return strcmp(b->waiters.items[slot]->uid, key) == 0;
}

static bool holder_same(const void *owner, uint32_t slot, const void *key)
{
	const struct book *b = owner;
	return strcmp(b->holders.items[slot]->name, key) == 0;
}

void book_init(struct book *b, const struct step_time *time, struct world *world, struct rng *rng)
{
	*b = (struct book){.time = time, .world = world, .rng = rng};
	keyed_init(KEYED(&b->memos), sizeof(struct node_memo), 1);
	map_init(&b->waiters_by_uid, waiter_same, b);
	map_init(&b->holders_by_name, holder_same, b);
	flights_init(b);
}

struct waiter *waiter_find(const struct book *b, const char *uid)
{
	uint32_t i = map_find(&b->waiters_by_uid, hash_text(uid), uid);
	return i == MAP_NONE ? NULL : b->waiters.items[i];
}

struct waiter *waiter_giving_back(const struct book *b, const char *uid, const struct holder *h)
{
	struct waiter *w = waiter_find(b, uid);
	return w != NULL && waiter_gives_back(w, h) ? w : NULL;
}

static struct waiter *waiter_add(struct book *b, const char *uid, int64_t now)
{
	struct waiter *w = xcalloc(1, sizeof *w);
	w->uid = xstrdup(uid);
	w->arena.block_bytes = 1024;
	w->stamp = UINT64_MAX;
	w->first_seen = now;
	w->passed.lacks_since = w->passed.waits_since = -1;
	w->backoff = (struct backoff){.first_ms = 500, .cap_ms = 60000};
	w->at = (uint32_t)b->waiters.count;
	VEC_PUSH(&b->waiters, w);
	map_put(&b->waiters_by_uid, hash_text(uid), (uint32_t)b->waiters.count - 1);
	return w;
}

struct waiter *waiter_touch(struct book *b, const char *uid, int64_t now)
{
	struct waiter *w = waiter_find(b, uid);
	w = w != NULL ? w : waiter_add(b, uid, now);
	w->seen = b->time->step;
	return w;
}

static void leave_slot(struct book *b, const struct waiter *w)
{
	if (w->pod_slot < b->waiter_by_slot.count && b->waiter_by_slot.items[w->pod_slot] == w) {
		b->waiter_by_slot.items[w->pod_slot] = NULL;
	}
}

/* The same by the place of its pod, which saves hashing the uid of everybody who waits. A waiter
 * that has read the pod as it stands there is the pod's: no two have the same stamp. */
struct waiter *waiter_of(struct book *b, const struct world_pod *p, int64_t now)
{
	uint32_t slot = world_class_slot(b->world, p->gpu->class, p->gpu->slot);
	while (b->waiter_by_slot.count <= slot) {
		VEC_PUSH(&b->waiter_by_slot, NULL);
	}
	struct waiter *w = b->waiter_by_slot.items[slot];
	if (w != NULL && w->stamp == p->gpu->stamp) {
		w->seen = b->time->step;
		return w;
	}
	w = waiter_touch(b, world_pod_uid(p), now);
	leave_slot(b, w);
	w->pod_slot = slot;
	b->waiter_by_slot.items[slot] = w;
	return w;
}

struct holder *holder_find(const struct book *b, const char *name)
{
	uint32_t i = map_find(&b->holders_by_name, hash_text(name), name);
	return i == MAP_NONE ? NULL : b->holders.items[i];
}

static void leave_place(struct book *b, const struct holder *h)
{
	if (h->place < b->holder_by_place.count && b->holder_by_place.items[h->place] == h) {
		b->holder_by_place.items[h->place] = NULL;
	}
}

struct holder *holder_touch(struct book *b, const char *name, int64_t now)
{
	struct holder *h = holder_find(b, name);
	if (h == NULL) {
		h = xcalloc(1, sizeof *h);
		h->name = xstrdup(name);
		h->unpinned = strncmp(name, CAPACITY_UP_HEAD, strlen(CAPACITY_UP_HEAD)) == 0;
		h->told_anew = true;
		h->arena.block_bytes = 2048;
		h->asked_arena.block_bytes = 1024;
		h->stamp = UINT64_MAX;
		h->opened_at = h->told_from = now;
		h->lost_at = h->refused_at = h->going_at = -1;
		h->idle_since = now;
		h->backoff = (struct backoff){.first_ms = 1000, .cap_ms = 60000};
		h->at = (uint32_t)b->holders.count;
		VEC_PUSH(&b->holders, h);
		map_put(&b->holders_by_name, hash_text(name), (uint32_t)b->holders.count - 1);
	}
	h->seen = b->time->step;
	return h;
}

/* By the place of its pod, which saves hashing the names of all of them. No two pods have the same
 * stamp. */
struct holder *holder_of(struct book *b, size_t place, int64_t now)
{
	const struct world_pod *p = world_class_at(b->world, WORLD_CAPACITY, place);
	while (b->holder_by_place.count <= place) {
		VEC_PUSH(&b->holder_by_place, NULL);
	}
	struct holder *h = b->holder_by_place.items[place];
	if (h != NULL && h->in_world && h->stamp == p->gpu->stamp) {
		h->seen = b->time->step;
		return h;
	}
	h = holder_touch(b, world_pod_name(p), now);
	leave_place(b, h);
	h->place = (uint32_t)place;
	b->holder_by_place.items[place] = h;
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

struct node_memo *memo_find(struct book *b, const char *node)
{
	return keyed_find(KEYED(&b->memos), node, NULL);
}

struct node_memo *memo_touch(struct book *b, const char *node)
{
	struct node_memo *m = memo_find(b, node);
	if (m == NULL) {
		struct node_memo made = {.name = xstrdup(node), .node = WORLD_NONE};
		m = keyed_add(KEYED(&b->memos), &made);
	}
	return m;
}

void trouble_note(struct book *b, const char *node, int64_t now)
{
	struct node_memo *m = memo_touch(b, node);
	if (m->backoff.first_ms == 0 || now - m->last_failure > TROUBLE_RESET_MS) {
		m->backoff =
			(struct backoff){.first_ms = TROUBLE_FIRST_MS, .cap_ms = TROUBLE_CAP_MS};
	}
	m->last_failure = now;
	m->until = now + backoff_next(&m->backoff, b->rng);
}

struct absence *absence_of(struct book *b, const char *uid, int64_t now)
{
	vec_for_each (struct absence, a, &b->absences) {
		if (strcmp(a->uid, uid) == 0) {
			a->seen = b->time->step;
			return a;
		}
	}
	struct absence made = {.uid = xstrdup(uid), .since = now, .seen = b->time->step};
	VEC_PUSH(&b->absences, made);
	return &b->absences.items[b->absences.count - 1];
}

static void absence_free(struct absence *a)
{
	free(a->holder);
	free(a->uid);
}

/* The last one takes its place, and the indexes follow: in a burst some go in each step, and
 * thousands stay. */
static void drop_waiter(struct book *b, uint32_t at)
{
	uint32_t last = (uint32_t)b->waiters.count - 1;
	struct waiter *w = b->waiters.items[at], *moved = b->waiters.items[last];
	map_remove(&b->waiters_by_uid, hash_text(w->uid), at);
	waiter_heard(b, w);
	if (at != last) {
		map_remove(&b->waiters_by_uid, hash_text(moved->uid), last);
		map_put(&b->waiters_by_uid, hash_text(moved->uid), at);
		waiter_moves(b, moved, at);
	}
	VEC_REMOVE_SWAP(&b->waiters, at);
	leave_slot(b, w);
	waiter_free(w);
}

static void sweep_waiters(struct book *b)
{
	for (size_t i = b->waiters.count; i-- > 0;) {
		if (b->waiters.items[i]->seen != b->time->step) {
			drop_waiter(b, (uint32_t)i);
		}
	}
}

static void drop_holder(struct book *b, uint32_t at)
{
	uint32_t last = (uint32_t)b->holders.count - 1;
	struct holder *h = b->holders.items[at], *moved = b->holders.items[last];
	map_remove(&b->holders_by_name, hash_text(h->name), at);
	holder_heard(b, h);
	if (at != last) {
		map_remove(&b->holders_by_name, hash_text(moved->name), last);
		map_put(&b->holders_by_name, hash_text(moved->name), at);
		holder_moves(b, moved, at);
	}
	VEC_REMOVE_SWAP(&b->holders, at);
	leave_place(b, h);
	holder_free(h);
}

static void sweep_holders(struct book *b)
{
	for (size_t i = b->holders.count; i-- > 0;) {
		if (b->holders.items[i]->seen != b->time->step) {
			drop_holder(b, (uint32_t)i);
		}
	}
}

/* A node that failed long ago has not failed; of one that is gone nothing holds for the next of
 * that name. */
static void sweep_memos(struct book *b)
{
	for (size_t i = b->memos.count; i-- > 0;) {
		struct node_memo *m = &b->memos.items[i];
		m->node = m->node == WORLD_NONE ? world_node_find(b->world, m->name) : m->node;
		if (m->node == WORLD_NONE || !world_node_at(b->world, m->node)->known) {
			m->usable_mib = 0;
		}
		bool failed = m->backoff.first_ms != 0 &&
			      b->time->now - m->last_failure <= TROUBLE_RESET_MS;
		if (!failed && m->usable_mib == 0) {
			struct node_memo gone = *m;
			keyed_drop(KEYED(&b->memos), i);
			free(gone.name);
			free(gone.why);
		}
	}
}

void book_sweep(struct book *b)
{
	sweep_memos(b);
	sweep_waiters(b);
	sweep_holders(b);
	for (size_t i = b->absences.count; i-- > 0;) {
		if (b->absences.items[i].seen != b->time->step) {
			absence_free(&b->absences.items[i]);
			VEC_REMOVE_SWAP(&b->absences, i);
		}
	}
}

/* What the old term asked for, the watch tells; but not what of it may still happen. */
void book_new_term(struct book *b)
{
	struct book old = *b;
	book_init(b, old.time, old.world, old.rng);
	b->flights.decided = old.flights.decided;
	b->flights.told = old.flights.told;
	for (size_t i = 0; i < old.waiters.count; i++) {
		struct waiter *w = old.waiters.items[i];
		if (w->landings.count > 0) {
			struct waiter *kept = waiter_add(b, w->uid, b->time->now);
			memcpy(&kept->landings, &w->landings, sizeof kept->landings);
			memset(&w->landings, 0, sizeof w->landings);
		}
	}
	book_finish(&old);
}

void book_finish(struct book *b)
{
	for (size_t i = 0; i < b->waiters.count; i++) {
		waiter_free(b->waiters.items[i]);
	}
	for (size_t i = 0; i < b->holders.count; i++) {
		holder_free(b->holders.items[i]);
	}
	vec_for_each (struct node_memo, m, &b->memos) {
		free(m->name);
		free(m->why);
	}
	vec_for_each (struct absence, a, &b->absences) {
		absence_free(a);
	}
	VEC_FINISH(&b->waiters);
	VEC_FINISH(&b->waiter_by_slot);
	VEC_FINISH(&b->holders);
	VEC_FINISH(&b->holder_by_place);
	keyed_finish(KEYED(&b->memos));
	VEC_FINISH(&b->absences);
	map_finish(&b->waiters_by_uid);
	map_finish(&b->holders_by_name);
	flights_finish(&b->flights);
}
