/* Who should have another share: a table, whose first part is looked at in every step. Whoever has
 * what is wanted rests in the second until something about it changes. */
#include "guardian/resizes.h"

#include <stdlib.h>

#include "demand/quota_usage.h"
#include "ledger/ledger.h"
#include "model/change.h"
#include "model/share.h"

/* A write that was answered is shown by the watch, or it is asked for again. */
#define ASSUME_MS   30000
#define CONFLICT_MS 5000

static bool resize_same(const void *owner, uint32_t slot, const void *key)
{
	const struct resizes *all = owner;
	return strcmp(all->items.items[slot].uid, key) == 0;
}

void resizes_init(struct resizes *resizes, struct quotas *quotas)
{
	resizes->picture = quotas->picture;
	resizes->quotas = quotas;
	map_init(&resizes->by_uid, resize_same, resizes);
}

static void resize_free(struct resize *r)
{
	free(r->uid);
	free(r->rv);
	free(r->quota);
}

void resizes_finish(struct resizes *all)
{
	vec_for_each (struct resize, r, &all->items) {
		resize_free(r);
	}
	VEC_FINISH(&all->items);
	VEC_FINISH(&all->behind);
	VEC_FINISH(&all->decided);
	map_finish(&all->by_uid);
}

struct resize *resize_find(const struct resizes *resizes, const char *uid)
{
	uint32_t i = map_find(&resizes->by_uid, hash_text(uid), uid);
	return i == MAP_NONE ? NULL : &resizes->items.items[i];
}

static void make(struct resizes *all, const char *uid)
{
	struct resize fresh = {.uid = xstrdup(uid), .backoff = {.first_ms = 1000, .cap_ms = 60000}};
	VEC_PUSH(&all->items, fresh);
	map_put(&all->by_uid, hash_text(uid), (uint32_t)all->items.count - 1);
}

static void swap(struct resizes *all, uint32_t i, uint32_t k)
{
	struct resize one = all->items.items[i], other = all->items.items[k];
	if (i == k) {
		return;
	}
	map_remove(&all->by_uid, hash_text(one.uid), i);
	map_remove(&all->by_uid, hash_text(other.uid), k);
	all->items.items[i] = other;
	all->items.items[k] = one;
	map_put(&all->by_uid, hash_text(other.uid), i);
	map_put(&all->by_uid, hash_text(one.uid), k);
}

static void wake_at(struct resizes *all, uint32_t i)
{
	if (i >= all->awake) {
		swap(all, i, all->awake++);
	}
}

void resize_wake(struct resizes *resizes, const char *uid)
{
	uint32_t i = map_find(&resizes->by_uid, hash_text(uid), uid);
	if (i != MAP_NONE) {
		wake_at(resizes, i);
	}
}

void resize_rest(struct resizes *all, uint32_t i)
{
	swap(all, i, --all->awake);
}

struct resize *resize_touch(struct resizes *resizes, const char *uid)
{
	if (resize_find(resizes, uid) == NULL) {
		make(resizes, uid);
	}
	resize_wake(resizes, uid);
	return resize_find(resizes, uid);
}

bool resize_restore(struct resizes *resizes, const struct resize *kept)
{
	if (resize_find(resizes, kept->uid) != NULL) {
		return false;
	}
	VEC_PUSH(&resizes->items, *kept);
	map_put(&resizes->by_uid, hash_text(kept->uid), (uint32_t)resizes->items.count - 1);
	return true;
}

void resize_noted(struct resizes *resizes, const struct change *c)
{
	const char *uid = c->type == CHANGE_SET ? c->pod->uid : c->uid;
	if (c->type != CHANGE_SET && c->type != CHANGE_GONE && c->type != CHANGE_RELIST_END) {
		return;
	}
	if (c->type == CHANGE_RELIST_END || uid == NULL) {
		resizes->awake = (uint32_t)resizes->items.count;
	} else {
		resize_wake(resizes, uid);
	}
}

void resize_wanted(struct resizes *resizes, const struct change *c)
{
	bool sound = c->milli > 0 && c->milli <= MODEL_GPU_MILLI && c->mem_mib > 0 &&
		     c->mem_mib <= RESIZE_MIB_MAX;
	if (text_empty(c->uid)) {
		return;
	}
	struct resize *r = resize_touch(resizes, c->uid);
	r->want = sound ? (struct share){c->milli, c->mem_mib} : (struct share){0};
	r->memory_stays = false;
	r->state = sound ? SHARE_UNDERWAY : SHARE_UNASKED;
	r->follows = false;
	r->behind_since = 0;
	resizes->picture->time->dirty = true;
}

void resize_fate(const struct resizes *resizes, const char *uid, struct share_fate *ret)
{
	const struct resize *r = resize_find(resizes, uid);
	const struct world_pod *p = world_pod_by_uid(resizes->picture->world, uid);
	*ret = (struct share_fate){SHARE_UNASKED, NULL};
	if (r == NULL || r->follows || p == NULL || p->gpu == NULL) {
		return;
	}
	ret->state = r->state;
	if (r->state == SHARE_QUOTA) {
		ret->blocker = r->quota;
	} else if (r->state == SHARE_NO_ROOM) {
		ret->blocker = p->gpu->uuid;
	}
}

void resize_unask(struct resize *r)
{
	r->want = (struct share){0};
	r->state = SHARE_UNASKED;
	r->follows = false;
	r->behind_since = 0;
}

void resize_settle(struct resizes *resizes, int64_t now, uint64_t id, const struct outcome *o)
{
	for (uint32_t i = 0; i < resizes->awake; i++) {
		struct resize *r = &resizes->items.items[i];
		if (r->flight != id) {
			continue;
		}
		r->flight = 0;
		resizes->picture->book->flights.told--;
		r->sealed = o->fault.kind == FAULT_NONE;
		if (r->sealed) {
			r->most = r->sent; /* no other of that version can be done any more */
			r->backoff.attempt = 0;
			r->rest_until = now + ASSUME_MS;
		} else if (o->fault.kind == FAULT_CONFLICT || o->fault.unknown_outcome) {
			r->rest_until = now + CONFLICT_MS;
		} else {
			r->rest_until =
				now + backoff_next(&r->backoff, resizes->picture->book->rng);
		}
		return;
	}
}

void resize_forget(struct resizes *all, uint32_t i)
{
	resize_rest(all, i);
	i = all->awake;
	map_remove(&all->by_uid, hash_text(all->items.items[i].uid), i);
	resize_free(&all->items.items[i]);
	uint32_t last = (uint32_t)all->items.count - 1;
	if (i != last) {
		const char *uid = all->items.items[last].uid;
		map_remove(&all->by_uid, hash_text(uid), last);
		map_put(&all->by_uid, hash_text(uid), i);
	}
	VEC_REMOVE_SWAP(&all->items, i);
}

/* What is wanted is told anew by who wants it; but what was sent may still be done. */
void resizes_new_term(struct resizes *resizes)
{
	vec_for_each (struct resize, r, &resizes->items) {
		resize_unask(r);
		r->flight = 0;
		r->rest_until = 0;
		r->sealed = false;
	}
	resizes->awake = (uint32_t)resizes->items.count;
	resizes->picture->book->flights.told = 0;
}
