/* A few pairs of workload and GPU or node, each for a time. */
#include "demand/shun.h"

#include <stdlib.h>

#include "ledger/ledger.h"
#include "model/change.h"

/* More than any GPU has: nothing fits what is left. */
#define OUT_OF_SIGHT ((int64_t)4 * MODEL_GPU_MILLI)

void shuns_finish(struct shuns *all)
{
	vec_for_each (struct shun, s, &all->items) {
		free(s->what);
	}
	VEC_FINISH(&all->items);
	VEC_FINISH(&all->hidden);
}

static void drop_shun(struct shuns *all, size_t i)
{
	free(all->items.items[i].what);
	VEC_REMOVE_SWAP(&all->items, i);
}

/* In the place of what is over, of the same once more, and of one of too many. */
static void add_shun(struct shuns *all, const struct shun *like)
{
	int64_t now = all->picture->time->now;
	size_t first = 0;
	for (size_t i = all->items.count; i-- > 0;) {
		const struct shun *s = &all->items.items[i];
		if (now >= s->until ||
			(s->workload == like->workload && s->is_node == like->is_node &&
				text_equals(s->what, like->what))) {
			drop_shun(all, i);
		}
	}
	if (like->until <= now) {
		return;
	}
	for (size_t i = 1; i < all->items.count; i++) {
		first = all->items.items[i].until < all->items.items[first].until ? i : first;
	}
	if (all->items.count >= SHUNS_MAX) {
		drop_shun(all, first);
	}
	struct shun s = *like;
	s.what = xstrdup(like->what);
	VEC_PUSH(&all->items, s);
}

void shun_wanted(struct shuns *shuns, const struct change *c)
{
	const struct world_pod *p =
		c->uid != NULL ? world_pod_by_uid(shuns->picture->world, c->uid) : NULL;
	if (p == NULL || p->gpu == NULL || text_empty(p->gpu->uuid)) {
		return;
	}
	CLEANUP(arena_finish) struct arena arena = {.block_bytes = 1024};
	struct pod pod;
	if (world_pod_unpack(p, &arena, &pod)) {
		const struct shun s = {.workload = company_workload(shuns->companies, &pod),
			.what = (char *)(uintptr_t)p->gpu->uuid,
			.until = shuns->picture->time->now + c->for_ms};
		add_shun(shuns, &s);
	}
}

void shun_refused(struct shuns *shuns, const struct pod *pod, const char *node, int64_t for_ms)
{
	const struct shun s = {.workload = company_workload(shuns->companies, pod),
		.what = (char *)(uintptr_t)node,
		.is_node = true,
		.until = shuns->picture->time->now + for_ms};
	if (!text_empty(node)) {
		add_shun(shuns, &s);
	}
}

static void move_gpu(struct picture *picture, uint32_t gpu, int64_t by)
{
	picture->snap.gpus.items[gpu].free_milli += by;
	snapshot_gpu_moved(&picture->snap, gpu);
}

bool shuns_hide(struct shuns *all, const struct waiter *w)
{
	struct picture *picture = all->picture;
	VEC_CLEAR(&all->hidden);
	if (all->items.count == 0) {
		return false;
	}
	uint64_t workload = company_workload(all->companies, &w->pod);
	vec_for_each (const struct shun, s, &all->items) {
		bool holds =
			!s->is_node && s->workload == workload && picture->time->now < s->until;
		uint32_t at = holds ? snap_gpu_first(picture, s->what) : WORLD_NONE;
		for (; at != WORLD_NONE; at = snap_gpu_next(picture, at)) {
			VEC_PUSH(&all->hidden, at);
			move_gpu(picture, at, -OUT_OF_SIGHT);
		}
	}
	return all->hidden.count > 0;
}

void shuns_show(struct shuns *shuns)
{
	vec_for_each (const uint32_t, at, &shuns->hidden) {
		move_gpu(shuns->picture, *at, OUT_OF_SIGHT);
	}
	VEC_CLEAR(&shuns->hidden);
}
