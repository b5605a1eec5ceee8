/* Holds in the picture of a step. */
#include "ledger/eviction_hold.h"

#include "ledger/ledger.h"

#define HOLD_MS 60000

void hold_make(
	struct step_time *time, struct waiter *w, const char *uuid, const struct place_verdict *v)
{
	text_set(&w->hold.uuid, uuid);
	w->hold.milli = v->milli;
	w->hold.mem_mib = v->mem_mib;
	w->hold.until = time->now + HOLD_MS;
	w->hold.count = 0;
}

bool hold_is_on(const struct waiter *w, uint32_t gpu)
{
	bool on = false;
	for (uint32_t i = 0; i < w->hold.count; i++) {
		on = on || w->hold.at[i] == gpu;
	}
	return on;
}

/* Out of the picture (sign 1), or back (-1). */
static void share_move(struct picture *picture, const struct waiter *w, uint32_t gpu, int sign)
{
	struct place_gpu *g = &picture->snap.gpus.items[gpu];
	g->free_milli -= sign * w->hold.milli;
	g->free_mib -= sign * w->hold.mem_mib;
	g->tenants += (uint32_t)sign;
	snapshot_gpu_moved(&picture->snap, gpu);
}

/* What the pod needs beside, once: all of its GPUs are on one node. */
static void room_move(struct picture *picture, const struct waiter *w, uint32_t gpu, int sign)
{
	struct place_node *n = &picture->snap.nodes.items[picture->snap.gpus.items[gpu].node];
	n->free_cpu_milli -= sign * w->pod.cpu_milli;
	n->free_mem_bytes -= sign * w->pod.mem_bytes;
	n->free_slots -= sign;
	snapshot_gpu_moved(&picture->snap, gpu);
}

static void hold_move(struct picture *picture, const struct waiter *w, int sign)
{
	for (uint32_t i = 0; i < w->hold.count; i++) {
		share_move(picture, w, w->hold.at[i], sign);
	}
	if (w->hold.count > 0) {
		room_move(picture, w, w->hold.at[0], sign);
	}
}

static void hold_find(struct picture *picture, struct waiter *w)
{
	struct told t = told_of(w->hold.uuid, NULL);
	w->hold.count = 0;
	while (told_next(&t)) {
		uint32_t at = snap_gpu_first(picture, t.uuid);
		while (at != WORLD_NONE && w->hold.count < MODEL_GPU_COUNT_MAX) {
			w->hold.at[w->hold.count++] = at;
			picture->snap_gpus.items[at].demand++;
			at = snap_gpu_next(picture, at);
		}
	}
}

void holds_count(struct picture *picture)
{
	for (size_t i = 0; i < picture->book->waiters.count; i++) {
		struct waiter *w = picture->book->waiters.items[i];
		if (w->hold.uuid == NULL) {
			continue;
		}
		const struct world_pod *p = world_pod_by_uid(picture->world, w->uid);
		bool waits = p != NULL && p->gpu->gated && !p->deleting && !world_pod_terminal(p);
		/* In a ledger its share counts already. */
		if (!waits || w->granted_step == picture->time->step ||
			picture->time->now >= w->hold.until) {
			hold_drop(w);
			continue;
		}
		waiter_refresh(w, p);
		w->seen = picture->time->step;
		hold_find(picture, w);
		hold_move(picture, w, 1);
	}
}

void hold_lift(struct picture *picture, struct waiter *w)
{
	if (w->hold.uuid != NULL) {
		hold_move(picture, w, -1);
	}
}

void hold_settle(struct picture *picture, struct waiter *w, const struct place_verdict *v)
{
	struct place_group one = {.count = v != NULL ? 1 : 0};
	if (v != NULL) {
		one.gpus[0] = v->gpu;
	}
	hold_settle_group(picture, w, &one);
}

static bool goes_on(const struct place_group *g, uint32_t gpu)
{
	bool on = false;
	for (uint32_t i = 0; i < g->count; i++) {
		on = on || g->gpus[i] == gpu;
	}
	return on;
}

/* The verdict has taken what it goes to, and needs nothing of the rest. */
void hold_settle_group(struct picture *picture, struct waiter *w, const struct place_group *g)
{
	bool taken = false;
	for (uint32_t i = 0; i < w->hold.count; i++) {
		taken = taken || goes_on(g, w->hold.at[i]);
	}
	if (taken) {
		w->hold.count = 0;
	} else if (w->hold.uuid != NULL) {
		hold_move(picture, w, 1);
	}
}
