/* A table by uid, of what each uses on its GPU. */
#include "tracking/unowned_pods.h"

#include <string.h>

#include "tracking/container_use.h"

static bool other_has_uid(const void *owner, uint32_t slot, const void *key)
{
	const struct unowned_pods *o = owner;
	return strcmp(o->list.items[slot].uid, key) == 0;
}

void unowned_pods_init(struct unowned_pods *o)
{
	map_init(&o->by_uid, other_has_uid, o);
}

void unowned_pods_finish(struct unowned_pods *o)
{
	VEC_FINISH(&o->list);
	map_finish(&o->by_uid);
}

static struct unowned_pod *other_find(const struct unowned_pods *o, const char *uid)
{
	uint32_t at = map_find(&o->by_uid, hash_text(uid), uid);
	return at != MAP_NONE ? &o->list.items[at] : NULL;
}

static struct unowned_pod *other_ensure(struct unowned_pods *o, const char *uid)
{
	struct unowned_pod *it = other_find(o, uid), fresh = {.at_ms = 0};
	if (it != NULL || strlen(uid) > SIZER_UID_MAX || o->list.count >= SIZER_PODS_MAX) {
		return it;
	}
	memcpy(fresh.uid, uid, strlen(uid) + 1);
	VEC_PUSH(&o->list, fresh);
	map_put(&o->by_uid, hash_text(uid), (uint32_t)o->list.count - 1);
	return &o->list.items[o->list.count - 1];
}

static void other_remove(struct unowned_pods *o, uint32_t at)
{
	uint32_t last = (uint32_t)o->list.count - 1;
	map_remove(&o->by_uid, hash_text(o->list.items[at].uid), at);
	if (last != at) {
		uint64_t moved = hash_text(o->list.items[last].uid);
		map_remove(&o->by_uid, moved, last);
		o->list.items[at] = o->list.items[last];
		map_put(&o->by_uid, moved, at);
	}
	o->list.count--;
}

void unowned_pods_take(struct unowned_pods *o, const struct sizer_use *use)
{
	int64_t at_ms = 0;
	int64_t bytes = uses_memory(use, &at_ms);
	struct unowned_pod *it = bytes != METERED_ABSENT ? other_ensure(o, use->uid) : NULL;
	if (it != NULL) {
		it->mib = (bytes + (1 << 20) - 1) >> 20;
		it->at_ms = at_ms;
	}
}

int64_t unowned_pods_used(const struct unowned_pods *o, const char *uid, int64_t since_ms)
{
	const struct unowned_pod *it = other_find(o, uid);
	return it != NULL && it->at_ms >= since_ms ? it->mib : METERED_ABSENT;
}

void unowned_pods_forget(struct unowned_pods *o, int64_t since_ms)
{
	for (uint32_t i = (uint32_t)o->list.count; i-- > 0;) {
		if (o->list.items[i].at_ms < since_ms) {
			other_remove(o, i);
		}
	}
}
