/* Whether one GPU, or one to be opened, takes a share, which of two is better, and what is told
 * where none does. */
#include "place/gpu_fit.h"

#include <string.h>

#include "model/names.h"

static int64_t bounded_by(int64_t value, int64_t max)
{
	return max > 0 && value > max ? max : value;
}

/* What follows from the other one on this GPU is not more than the policy allows either: who may
 * have 8 GiB does not get 40 by asking for half of a GPU. */
void place_share(
	const struct place_request *r, int64_t usable_mib, int64_t *ret_milli, int64_t *ret_mib)
{
	int64_t milli = r->milli;
	int64_t mib = r->mem_mib;
	if (milli == 0) {
		milli = share_milli_of_memory(mib, usable_mib);
		milli = milli > MODEL_GPU_MILLI ? milli : bounded_by(milli, r->max_milli);
	}
	if (mib == 0 && usable_mib > 0) {
		mib = share_memory_of_milli(milli, usable_mib, r->context_mib);
		mib = bounded_by(mib, r->max_mib);
	}
	*ret_milli = milli;
	*ret_mib = mib;
}

/* What memory comes to differs from GPU to GPU, and so does how much of a quota it takes. */
bool place_above_quota(const struct place_request *r, int64_t milli)
{
	return r->quota_left_milli > 0 && milli > r->quota_left_milli;
}

/* Why this GPU cannot take it, most telling first. */
enum reason place_gpu_fits(
	const struct place_gpu *g, const struct place_request *r, int64_t milli, int64_t mib)
{
	if (g->fenced) {
		return g->unhealthy  ? REASON_GPU_UNHEALTHY
		       : g->searches ? REASON_REACQUIRING
				     : REASON_CAPACITY_FAILED;
	}
	if (g->held_off && r->mps) {
		return REASON_MPS_HELD_OFF;
	}
	if (g->company != place_nobody(r->mps) && g->company != r->company) {
		return REASON_EXCLUSIVE;
	}
	uint32_t most = g->max_tenants < r->max_tenants ? g->max_tenants : r->max_tenants;
	if (g->tenants >= most || g->tenants >= MODEL_GRANTS_MAX) {
		return REASON_MAX_TENANTS;
	}
	if (place_above_quota(r, milli)) {
		return REASON_QUOTA;
	}
	bool lacks_mib = g->usable_mib > 0 && mib > g->free_mib;
	/* Who asked for memory alone is told of memory. */
	if (lacks_mib && r->milli == 0) {
		return REASON_SHORT_MEMORY;
	}
	return milli > g->free_milli ? REASON_SHORT_COMPUTE
	       : lacks_mib	     ? REASON_SHORT_MEMORY
				     : REASON_NONE;
}

enum reason place_gpu_takes(const struct place_gpu *g, const struct place_request *r)
{
	int64_t milli, mib;
	place_share(r, g->usable_mib, &milli, &mib);
	return place_gpu_fits(g, r, milli, mib);
}

void place_note_miss(const struct snapshot *s, struct place_verdict *v, uint32_t gpu)
{
	const struct place_gpu *g = &s->gpus.items[gpu];
	v->best_node = s->nodes.items[g->node].noun->name;
	v->best_gpu = gpu;
	v->best_milli = g->free_milli;
	v->best_mib = g->free_mib;
}

/* Open before busy before opening, then the least left over, memory breaking ties. Who spreads
 * takes the most, and waits for a GPU that is being opened rather than join others. */
bool place_better(const struct snapshot *s, const struct place_request *r,
	const struct place_gpu *a, const struct place_gpu *b)
{
	if (r->spread && a->free_milli != b->free_milli) {
		return a->free_milli > b->free_milli;
	}
	if (a->state != b->state) {
		return a->state < b->state;
	}
	if (a->free_milli != b->free_milli) {
		return a->free_milli < b->free_milli;
	}
	if (a->free_mib != b->free_mib) {
		return r->spread ? a->free_mib > b->free_mib : a->free_mib < b->free_mib;
	}
	int by_node =
		strcmp(s->nodes.items[a->node].noun->name, s->nodes.items[b->node].noun->name);
	if (by_node != 0) {
		return by_node < 0;
	}
	return strcmp(a->capacity_pod, b->capacity_pod) < 0;
}

/* A node that does not suit is told by a reason of its own where its cause has one. */
static void name_unfit(struct place_verdict *v)
{
	if (v->reason == REASON_NODE_UNFIT && unfit_is_given_out(v->nearest)) {
		v->reason = REASON_OTHER_SHARING;
	}
	if (v->reason == REASON_NODE_UNFIT && v->nearest == UNFIT_RUNTIME) {
		v->reason = REASON_RUNTIME_CLASS;
	}
	if (v->reason == REASON_NODE_UNFIT && v->nearest == UNFIT_CLASS) {
		v->reason = REASON_NO_INJECTION;
	}
}

/* What was noted on the way counts only where it is the answer. */
void place_settle(struct place_verdict *v, size_t looked_at)
{
	bool found = v->gpu != PLACE_NOWHERE || v->node != PLACE_NOWHERE;
	if (found) {
		v->reason = REASON_NONE;
		v->best_node = NULL;
		v->best_gpu = 0;
		v->best_milli = v->best_mib = 0;
	}
	if (v->reason != REASON_NODE_UNFIT) {
		v->nearest = UNFIT_NONE;
	}
	v->looked_at = (uint32_t)looked_at;
	name_unfit(v);
}

/* Has it a GPU that may be opened? */
bool place_opens(const struct place_node *n)
{
	return n->free_gpus > 0 && n->kept_by == 0;
}

bool place_share_possible(const struct place_node *n, const struct place_request *r)
{
	int64_t milli, mib;
	place_share(r, n->gpu_mem_mib, &milli, &mib);
	return milli <= MODEL_GPU_MILLI && (n->gpu_mem_mib == 0 || mib <= n->gpu_mem_mib);
}

/* The same where one would be opened. */
bool place_opens_above_quota(const struct place_node *n, const struct place_request *r)
{
	int64_t milli, mib;
	place_share(r, n->gpu_mem_mib, &milli, &mib);
	return place_above_quota(r, milli);
}

/* A node that rests after a failure is nearer to the pod than one that does not suit it. */
void place_note_closed(struct place_verdict *v, const struct place_node *n, bool rests)
{
	if (rests || v->reason != REASON_CAPACITY_FAILED) {
		v->reason = rests ? REASON_CAPACITY_FAILED : REASON_NODE_UNFIT;
		v->best_node = n->noun->name;
	}
}

/* Whatever else keeps one from being opened is told before it. */
void place_note_quota(struct place_verdict *v)
{
	v->reason = v->reason == REASON_NO_GPU_NODE ? REASON_QUOTA : v->reason;
}
