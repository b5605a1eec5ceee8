/* Holds in the picture of a step. */
#include "hold.h"

#include <stdlib.h>

#include "state.h"

#define HOLD_MS 60000

void hold_make(struct engine *e, struct waiter *w, const char *uuid, const struct place_verdict *v)
{
	text_set(&w->hold.uuid, uuid);
	w->hold.milli = v->milli;
	w->hold.mem_mib = v->mem_mib;
	w->hold.until = e->now + HOLD_MS;
	w->hold.at = WORLD_NONE;
}

void hold_drop(struct waiter *w)
{
	free(w->hold.uuid);
	w->hold = (struct hold){.at = WORLD_NONE};
}

/* Takes out of the picture (sign 1), or gives back (-1). */
static void hold_move(struct engine *e, const struct waiter *w, int sign)
{
	struct place_gpu *g = &e->snap.gpus.items[w->hold.at];
	struct place_node *n = &e->snap.nodes.items[g->node];
	g->free_milli -= sign * w->hold.milli;
	g->free_mib -= sign * w->hold.mem_mib;
	g->tenants += (uint32_t)sign;
	n->free_cpu_milli -= sign * w->pod.cpu_milli;
	n->free_mem_bytes -= sign * w->pod.mem_bytes;
	n->free_slots -= sign;
	snapshot_gpu_moved(&e->snap, w->hold.at);
}

void holds_count(struct engine *e)
{
	for (size_t i = 0; i < e->waiters.count; i++) {
		struct waiter *w = e->waiters.items[i];
		if (w->hold.uuid == NULL) {
			continue;
		}
		const struct world_pod *p = world_pod_by_uid(e->world, w->uid);
		bool waits = p != NULL && p->gpu->gated && !p->deleting && !world_pod_terminal(p);
		/* In a ledger its share counts already. */
		if (!waits || w->granted_step == e->step || e->now >= w->hold.until) {
			hold_drop(w);
			continue;
		}
		waiter_refresh(w, p);
		w->seen = e->step;
		w->hold.at = snap_gpu_by_uuid(e, w->hold.uuid);
		if (w->hold.at != WORLD_NONE) {
			hold_move(e, w, 1);
			e->snap_gpus.items[w->hold.at].demand++;
		}
	}
}

void hold_lift(struct engine *e, struct waiter *w)
{
	if (w->hold.uuid != NULL && w->hold.at != WORLD_NONE) {
		hold_move(e, w, -1);
	}
}

void hold_settle(struct engine *e, struct waiter *w, const struct place_verdict *v)
{
	if (w->hold.uuid == NULL || w->hold.at == WORLD_NONE) {
		return;
	}
	if (v != NULL && v->gpu == w->hold.at) {
		/* The verdict has taken it. */
		w->hold.at = WORLD_NONE;
	} else {
		hold_move(e, w, 1);
	}
}
