/* A few pairs of workload and GPU or node, each for a time. */
#include "demand/gpu_avoidance.h"

#include <stdlib.h>

#include "ledger/ledger.h"
#include "model/change.h"

/* More than any GPU has: nothing fits what is left. */
#define OUT_OF_SIGHT ((int64_t)4 * MODEL_GPU_MILLI)

void avoidances_finish(struct gpu_avoidances *all)
{
	vec_for_each (struct gpu_avoidance, s, &all->items) {
		free(s->what);
	}
	VEC_FINISH(&all->items);
	VEC_FINISH(&all->hidden);
}

static void drop_avoidance(struct gpu_avoidances *all, size_t i)
{
	free(all->items.items[i].what);
	VEC_REMOVE_SWAP(&all->items, i);
}

/* In the place of what is over, of the same once more, and of one of too many. */
static void add_avoidance(struct gpu_avoidances *all, const struct gpu_avoidance *like)
{
	int64_t now = all->picture->time->now;
	size_t first = 0;
	for (size_t i = all->items.count; i-- > 0;) {
		const struct gpu_avoidance *s = &all->items.items[i];
		if (now >= s->until ||
			(s->workload == like->workload && s->is_node == like->is_node &&
				text_equals(s->what, like->what))) {
			drop_avoidance(all, i);
		}
	}
	if (like->until <= now) {
		return;
	}
	for (size_t i = 1; i < all->items.count; i++) {
		first = all->items.items[i].until < all->items.items[first].until ? i : first;
	}
	if (all->items.count >= AVOIDANCES_MAX) {
		drop_avoidance(all, first);
	}
	struct gpu_avoidance s = *like;
	s.what = xstrdup(like->what);
	VEC_PUSH(&all->items, s);
}

void avoidance_wanted(struct gpu_avoidances *avoidances, const struct change *c)
{
	const struct world_pod *p =
		c->uid != NULL ? world_pod_by_uid(avoidances->picture->world, c->uid) : NULL;
	if (p == NULL || p->gpu == NULL || text_empty(p->gpu->uuid)) {
		return;
	}
	CLEANUP(arena_finish) struct arena arena = {.block_bytes = 1024};
	struct pod pod;
	if (world_pod_unpack(p, &arena, &pod)) {
		const struct gpu_avoidance s = {
			.workload = company_workload(avoidances->companies, &pod),
			.what = (char *)(uintptr_t)p->gpu->uuid,
			.until = avoidances->picture->time->now + c->for_ms};
		add_avoidance(avoidances, &s);
	}
}

void avoidance_of_node(
	struct gpu_avoidances *avoidances, const struct pod *pod, const char *node, int64_t for_ms)
{
	const struct gpu_avoidance s = {.workload = company_workload(avoidances->companies, pod),
		.what = (char *)(uintptr_t)node,
		.is_node = true,
		.until = avoidances->picture->time->now + for_ms};
	if (!text_empty(node)) {
		add_avoidance(avoidances, &s);
	}
}

static void move_gpu(struct picture *picture, uint32_t gpu, int64_t by)
{
	picture->snap.gpus.items[gpu].free_milli += by;
	snapshot_gpu_moved(&picture->snap, gpu);
}

bool avoided_gpus_hide(struct gpu_avoidances *all, const struct waiter *w)
{
	struct picture *picture = all->picture;
	VEC_CLEAR(&all->hidden);
	if (all->items.count == 0) {
		return false;
	}
	uint64_t workload = company_workload(all->companies, &w->pod);
	vec_for_each (const struct gpu_avoidance, s, &all->items) {
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

void avoided_gpus_show(struct gpu_avoidances *avoidances)
{
	vec_for_each (const uint32_t, at, &avoidances->hidden) {
		move_gpu(avoidances->picture, *at, OUT_OF_SIGHT);
	}
	VEC_CLEAR(&avoidances->hidden);
}
