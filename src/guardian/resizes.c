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

void resizes_init(struct resizes *resizes, struct quotas *quotas)
{
	resizes->picture = quotas->picture;
	resizes->quotas = quotas;
	keyed_init(KEYED(&resizes->items), sizeof(struct resize), 1);
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
	keyed_finish(KEYED(&all->items));
	VEC_FINISH(&all->behind);
	VEC_FINISH(&all->decided);
}

struct resize *resize_find(const struct resizes *resizes, const char *uid)
{
	return keyed_find(KEYED(&resizes->items), uid, NULL);
}

static void swap(struct resizes *all, uint32_t i, uint32_t k)
{
	struct resize one = all->items.items[i], other = all->items.items[k];
	if (i == k) {
		return;
	}
	map_remove(&all->items.by_key, hash_text(one.uid), i);
	map_remove(&all->items.by_key, hash_text(other.uid), k);
	all->items.items[i] = other;
	all->items.items[k] = one;
	map_put(&all->items.by_key, hash_text(other.uid), i);
	map_put(&all->items.by_key, hash_text(one.uid), k);
}

void resize_wake(struct resizes *resizes, const char *uid)
{
	const struct resize *r = resize_find(resizes, uid);
	uint32_t i = r != NULL ? (uint32_t)(r - resizes->items.items) : 0;
	if (r != NULL && i >= resizes->awake) {
		swap(resizes, i, resizes->awake++);
	}
}

void resize_rest(struct resizes *all, uint32_t i)
{
	swap(all, i, --all->awake);
}

struct resize *resize_touch(struct resizes *resizes, const char *uid)
{
	if (resize_find(resizes, uid) == NULL) {
		struct resize fresh = {
			.uid = xstrdup(uid), .backoff = {.first_ms = 1000, .cap_ms = 60000}};
		keyed_add(KEYED(&resizes->items), &fresh);
	}
	resize_wake(resizes, uid);
	return resize_find(resizes, uid);
}

bool resize_restore(struct resizes *resizes, const struct resize *kept)
{
	if (resize_find(resizes, kept->uid) != NULL) {
		return false;
	}
	keyed_add(KEYED(&resizes->items), kept);
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
	struct resize gone = all->items.items[all->awake];
	keyed_drop(KEYED(&all->items), all->awake);
	resize_free(&gone);
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
