/* Four arrays of the watchdog, each with an index from its key to the place. */
#include "guardian/overuse_find.h"

#include <stdlib.h>
#include <string.h>

#include "guardian/overuse.h"

/* What was last stands at `at` from now on. */
static void index_moves(struct map *m, uint64_t last_hash, size_t last, size_t at)
{
	if (at != last) {
		(void)map_remove(m, last_hash, (uint32_t)last);
		map_put(m, last_hash, (uint32_t)at);
	}
}

/* --- tenants over their share of a GPU --- */

static bool overuse_same(const void *owner, uint32_t slot, const void *key)
{
	const struct overuses *all = owner;
	const struct overuse *o = &all->items.items[slot];
	const char *const *texts = key;
	return strcmp(o->uid, texts[0]) == 0 && strcmp(o->uuid, texts[1]) == 0;
}

struct overuse *overuse_find(struct overuses *all, const char *uid, const char *uuid)
{
	const char *const key[] = {uid, uuid};
	uint32_t at = map_find(&all->items.by_key, hash_pair(uid, uuid), key);
	return at != MAP_NONE ? &all->items.items[at] : NULL;
}

struct overuse *overuse_add(struct overuses *all, const struct overuse *made)
{
	map_put(&all->items.by_key, hash_pair(made->uid, made->uuid), (uint32_t)all->items.count);
	VEC_PUSH(&all->items, *made);
	return &all->items.items[all->items.count - 1];
}

static void overuse_free(struct overuse *x)
{
	free(x->uid);
	free(x->uuid);
}

void overuse_drop(struct overuses *all, size_t i)
{
	struct overuse *gone = &all->items.items[i],
		       *last = &all->items.items[all->items.count - 1];
	(void)map_remove(&all->items.by_key, hash_pair(gone->uid, gone->uuid), (uint32_t)i);
	index_moves(&all->items.by_key, hash_pair(last->uid, last->uuid), all->items.count - 1, i);
	overuse_free(gone);
	VEC_REMOVE_SWAP(&all->items, i);
}

/* --- GPUs --- */

static bool crowd_same(const void *owner, uint32_t slot, const void *key)
{
	const struct overuses *all = owner;
	return strcmp(all->crowds.items[slot].uuid, key) == 0;
}

struct crowd *crowd_find(struct overuses *all, const char *uuid)
{
	uint32_t at = map_find(&all->crowds.by_uuid, hash_text(uuid), uuid);
	return at != MAP_NONE ? &all->crowds.items[at] : NULL;
}

struct crowd *crowd_add(struct overuses *all, const struct crowd *made)
{
	map_put(&all->crowds.by_uuid, hash_text(made->uuid), (uint32_t)all->crowds.count);
	VEC_PUSH(&all->crowds, *made);
	return &all->crowds.items[all->crowds.count - 1];
}

static void crowd_free(struct crowd *x)
{
	free(x->uuid);
	free(x->victim);
}

void crowd_drop(struct overuses *all, size_t i)
{
	struct crowd *gone = &all->crowds.items[i],
		     *last = &all->crowds.items[all->crowds.count - 1];
	(void)map_remove(&all->crowds.by_uuid, hash_text(gone->uuid), (uint32_t)i);
	index_moves(&all->crowds.by_uuid, hash_text(last->uuid), all->crowds.count - 1, i);
	crowd_free(gone);
	VEC_REMOVE_SWAP(&all->crowds, i);
}

/* --- tenants that ran out of memory --- */

static bool failure_same(const void *owner, uint32_t slot, const void *key)
{
	const struct overuses *all = owner;
	return strcmp(all->failures.items[slot].uid, key) == 0;
}

struct failure *failure_find(struct overuses *all, const char *uid)
{
	uint32_t at = map_find(&all->failures.by_uid, hash_text(uid), uid);
	return at != MAP_NONE ? &all->failures.items[at] : NULL;
}

struct failure *failure_add(struct overuses *all, const struct failure *made)
{
	map_put(&all->failures.by_uid, hash_text(made->uid), (uint32_t)all->failures.count);
	VEC_PUSH(&all->failures, *made);
	return &all->failures.items[all->failures.count - 1];
}

static void failure_free(struct failure *x)
{
	free(x->uid);
}

void failure_drop(struct overuses *all, size_t i)
{
	struct failure *gone = &all->failures.items[i],
		       *last = &all->failures.items[all->failures.count - 1];
	(void)map_remove(&all->failures.by_uid, hash_text(gone->uid), (uint32_t)i);
	index_moves(&all->failures.by_uid, hash_text(last->uid), all->failures.count - 1, i);
	failure_free(gone);
	VEC_REMOVE_SWAP(&all->failures, i);
}

/* --- conditions --- */

static bool remark_same(const void *owner, uint32_t slot, const void *key)
{
	const struct overuses *all = owner;
	return strcmp(all->remarks.items[slot].uid, key) == 0;
}

struct remark *remark_find(struct overuses *all, const char *uid)
{
	uint32_t at = map_find(&all->remarks.by_uid, hash_text(uid), uid);
	return at != MAP_NONE ? &all->remarks.items[at] : NULL;
}

struct remark *remark_add(struct overuses *all, const struct remark *made)
{
	map_put(&all->remarks.by_uid, hash_text(made->uid), (uint32_t)all->remarks.count);
	VEC_PUSH(&all->remarks, *made);
	return &all->remarks.items[all->remarks.count - 1];
}

static void remark_free(struct remark *x)
{
	free(x->uid);
}

void remark_drop(struct overuses *all, size_t i)
{
	struct remark *gone = &all->remarks.items[i],
		      *last = &all->remarks.items[all->remarks.count - 1];
	(void)map_remove(&all->remarks.by_uid, hash_text(gone->uid), (uint32_t)i);
	index_moves(&all->remarks.by_uid, hash_text(last->uid), all->remarks.count - 1, i);
	remark_free(gone);
	VEC_REMOVE_SWAP(&all->remarks, i);
}

/* --- all of them --- */

void overuses_init(struct overuses *all)
{
	map_init(&all->items.by_key, overuse_same, all);
	map_init(&all->crowds.by_uuid, crowd_same, all);
	map_init(&all->failures.by_uid, failure_same, all);
	map_init(&all->remarks.by_uid, remark_same, all);
}

bool overuses_index(struct overuses *all)
{
	bool once = true;
	for (uint32_t i = 0; i < all->items.count; i++) {
		const struct overuse *o = &all->items.items[i];
		once = once && overuse_find(all, o->uid, o->uuid) == NULL;
		map_put(&all->items.by_key, hash_pair(o->uid, o->uuid), i);
	}
	for (uint32_t i = 0; i < all->crowds.count; i++) {
		struct crowd *c = &all->crowds.items[i];
		once = once && crowd_find(all, c->uuid) == NULL;
		map_put(&all->crowds.by_uuid, hash_text(c->uuid), i);
		c->first = MAP_NONE;
	}
	for (uint32_t i = 0; i < all->failures.count; i++) {
		const struct failure *f = &all->failures.items[i];
		once = once && failure_find(all, f->uid) == NULL;
		map_put(&all->failures.by_uid, hash_text(f->uid), i);
	}
	for (uint32_t i = 0; i < all->remarks.count; i++) {
		const struct remark *r = &all->remarks.items[i];
		once = once && remark_find(all, r->uid) == NULL;
		map_put(&all->remarks.by_uid, hash_text(r->uid), i);
	}
	return once;
}

void overuse_forget(struct overuses *all)
{
	vec_for_each (struct overuse, x, &all->items) {
		overuse_free(x);
	}
	vec_for_each (struct crowd, x, &all->crowds) {
		crowd_free(x);
	}
	vec_for_each (struct failure, x, &all->failures) {
		failure_free(x);
	}
	vec_for_each (struct remark, x, &all->remarks) {
		remark_free(x);
	}
	VEC_FINISH(&all->items);
	map_clear(&all->items.by_key);
	VEC_FINISH(&all->crowds);
	map_clear(&all->crowds.by_uuid);
	VEC_FINISH(&all->failures);
	map_clear(&all->failures.by_uid);
	VEC_FINISH(&all->remarks);
	map_clear(&all->remarks.by_uid);
	VEC_FINISH(&all->here);
	VEC_FINISH(&all->crowded);
	all->pass = (struct overuse_pass){.stage = OVERUSE_RESTS};
	all->next_at = 0;
}
