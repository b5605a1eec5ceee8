/* One more GPU for a tenant that waits: a capacity pod is asked for, and stands in the picture. */
#include "capacity/open_gpu.h"

#include "capacity/inject.h"
#include "capacity/inject_class.h"
#include "capacity/scale.h"
#include "capacity/standin.h"
#include "ledger/ledger.h"
#include "model/refusal.h"

/* A new GPU in the picture for a capacity pod that was just asked for. */
static uint32_t add_opening(struct picture *picture, struct holder *h, uint32_t node)
{
	struct place_node *n = &picture->snap.nodes.items[node];
	struct place_gpu g = {.node = node,
		.state = GPU_OPENING,
		.capacity_pod = h->name,
		.usable_mib = n->gpu_mem_mib,
		.free_milli = MODEL_GPU_MILLI,
		.free_mib = n->gpu_mem_mib,
		.max_tenants = MODEL_GRANTS_MAX,
		.company = place_nobody(h->mps),
		.mps = h->mps};
	struct snap_gpu s = {.holder = h};
	place_reserve_capacity(n, h->mps);
	VEC_PUSH(&picture->snap.gpus, g);
	VEC_PUSH(&picture->snap_gpus, s);
	uint32_t at = (uint32_t)picture->snap.gpus.count - 1;
	snapshot_gpu_moved(&picture->snap, at);
	return at;
}

bool open_gpu(struct scale *scale, const struct waiter *w, struct emitter *out,
	struct place_verdict *open)
{
	if (open->node == PLACE_NOWHERE) {
		return false;
	}
	struct place_node *n = &scale->picture->snap.nodes.items[open->node];
	if (standins_yield(scale, n->noun->name)) {
		/* What stands in for such tenants there has the GPU, and goes first. */
		place_reserve_capacity(n, w->asked.mps);
		snapshot_node_moved(&scale->picture->snap, open->node);
		return false;
	}
	struct holder *h = emit_create(out, n->noun->name, &w->pod);
	if (h != NULL) {
		open->gpu = add_opening(scale->picture, h, open->node);
	}
	return h != NULL;
}

/* It would go on a GPU whose capacity pod could not be created: not yet, or now once more. */
void await_creation(
	struct injecting *inject, struct waiter *w, struct holder *h, struct emitter *out)
{
	w->reason = REASON_WAITING_FOR_CAPACITY;
	if (inject_tries(inject, w, h)) {
		return;
	}
	if (h->refusal == NULL || h->flight != 0 || h->in_world) {
		return;
	}
	text_set(&w->refusal, h->refusal);
	w->refused_until = h->retry_at;
	w->reason = refusal_reason(h->refusal);
	if (inject->picture->time->now >= h->retry_at) {
		emit_create_again(out, h, &w->pod);
	} else {
		wake_by(inject->picture->time, h->retry_at);
	}
}
