/* Best fit over the GPUs that there are, and the choice of a node for one more. */
#include "parts.h"

#include <string.h>

#include "base/str.h"
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
	return r->most_milli > 0 && milli > r->most_milli;
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

static bool node_serves(const struct snapshot *s, const struct place_request *r,
	const struct place_node *n, struct place_verdict *v)
{
	enum unfit cause = place_unfit(s, r, n, NULL);
	v->nearest = cause > v->nearest ? cause : v->nearest;
	return cause == UNFIT_NONE;
}

/* Where all nodes that were looked at have somebody else, that is the reason. */
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

/* Which miss to tell a person: the GPU with most of what was short, on a node that the pod may use
 * if there is any; what is short elsewhere does not matter to it. */
static void note_gpu_miss(struct place_verdict *v, const struct snapshot *s, uint32_t at,
	const struct place_request *r, enum reason reason)
{
	const struct place_gpu *g = &s->gpus.items[at];
	bool settled = v->best_node != NULL && v->reason != REASON_NODE_UNFIT;
	bool closer = v->best_node == NULL || g->free_milli > v->best_milli ||
		      (g->free_milli == v->best_milli && g->free_mib > v->best_mib);
	if (settled && !closer) {
		return;
	}
	if (reason != REASON_NODE_UNFIT && !node_serves(s, r, &s->nodes.items[g->node], v)) {
		reason = REASON_NODE_UNFIT;
	}
	bool unfit = reason == REASON_NODE_UNFIT;
	if (settled ? unfit : unfit && !closer) {
		return;
	}
	v->best_node = s->nodes.items[g->node].noun->name;
	v->best_gpu = at;
	v->best_milli = g->free_milli;
	v->best_mib = g->free_mib;
	v->reason = reason;
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

struct place_verdict walk_best_fit(const struct snapshot *s, const struct place_request *r)
{
	struct place_verdict v = {
		.gpu = PLACE_NOWHERE, .node = PLACE_NOWHERE, .reason = REASON_NO_GPU_NODE};
	for (uint32_t i = 0; i < s->gpus.count; i++) {
		const struct place_gpu *g = &s->gpus.items[i];
		int64_t milli, mib;
		if (g->kept_by != 0) {
			continue;
		}
		place_share(r, g->usable_mib, &milli, &mib);
		enum reason reason = place_gpu_fits(g, r, milli, mib);
		if (reason == REASON_NONE && !node_serves(s, r, &s->nodes.items[g->node], &v)) {
			reason = REASON_NODE_UNFIT;
		}
		if (reason != REASON_NONE) {
			note_gpu_miss(&v, s, i, r, reason);
			continue;
		}
		if (v.gpu == PLACE_NOWHERE || place_better(s, r, g, &s->gpus.items[v.gpu])) {
			v.gpu = i;
			v.node = g->node;
			v.milli = milli;
			v.mem_mib = mib;
		}
	}
	place_settle(&v, s->gpus.count);
	return v;
}

struct place_verdict place_best_fit(const struct snapshot *s, const struct place_request *r)
{
	return index_is_built(s) ? index_best_fit(s, r) : walk_best_fit(s, r);
}

bool place_would_fit(const struct snapshot *s, const struct place_request *r,
	const struct place_gpu *g, const struct place_node *n, struct place_verdict *ret_verdict)
{
	int64_t milli, mib;
	place_share(r, g->usable_mib, &milli, &mib);
	if (place_gpu_fits(g, r, milli, mib) != REASON_NONE ||
		place_unfit(s, r, n, NULL) != UNFIT_NONE) {
		return false;
	}
	*ret_verdict = (struct place_verdict){
		.gpu = PLACE_NOWHERE, .node = g->node, .milli = milli, .mem_mib = mib};
	return true;
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

bool place_never_fits(
	const struct snapshot *s, const struct place_request *r, struct place_verdict *ret_verdict)
{
	struct place_verdict v = {.gpu = PLACE_NOWHERE,
		.node = PLACE_NOWHERE,
		.reason = REASON_LARGER_THAN_ANY_GPU,
		.best_milli = MODEL_GPU_MILLI};
	/* A part of a GPU is never more than one. */
	for (uint32_t i = 0; r->mem_mib > 0 && i < s->nodes.count; i++) {
		const struct place_node *n = &s->nodes.items[i];
		if (place_given_out_by(n) != UNFIT_NONE || !place_node_suits(r->pod, n->noun)) {
			continue;
		}
		if (place_share_possible(n, r)) {
			return false;
		}
		if (v.best_node == NULL || n->gpu_mem_mib > v.best_mib) {
			v.best_node = n->noun->name;
			v.best_mib = n->gpu_mem_mib;
		}
	}
	if (v.best_node == NULL) {
		return false;
	}
	*ret_verdict = v;
	return true;
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

struct place_verdict walk_open(const struct snapshot *s, const struct place_request *r)
{
	struct place_verdict v = {
		.gpu = PLACE_NOWHERE, .node = PLACE_NOWHERE, .reason = REASON_NO_GPU_NODE};
	for (uint32_t i = 0; i < s->nodes.count; i++) {
		const struct place_node *n = &s->nodes.items[i];
		if (!place_opens(n) || !place_share_possible(n, r)) {
			continue;
		}
		if (place_opens_above_quota(n, r)) {
			place_note_quota(&v);
			continue;
		}
		/* Both must fit, or the GPU would be opened for nobody, again and again. */
		struct place_node rest = *n;
		place_reserve_capacity(&rest, r->mps);
		bool suits = node_serves(s, r, &rest, &v);
		if (n->no_opening || !suits) {
			place_note_closed(&v, &rest, suits);
			continue;
		}
		/* The node with the fewest free GPUs left: whole nodes stay whole. */
		const struct place_node *best =
			v.node != PLACE_NOWHERE ? &s->nodes.items[v.node] : NULL;
		if (best == NULL || n->free_gpus < best->free_gpus ||
			(n->free_gpus == best->free_gpus &&
				strcmp(n->noun->name, best->noun->name) < 0)) {
			v.node = i;
		}
	}
	if (v.node != PLACE_NOWHERE) {
		place_share(r, s->nodes.items[v.node].gpu_mem_mib, &v.milli, &v.mem_mib);
	}
	place_settle(&v, s->nodes.count);
	return v;
}

struct place_verdict place_open(const struct snapshot *s, const struct place_request *r)
{
	return index_is_built(s) ? index_open(s, r) : walk_open(s, r);
}

void place_reserve_share(struct snapshot *s, const struct place_request *r, uint32_t gpu,
	int64_t milli, int64_t mem_mib)
{
	struct place_gpu *g = &s->gpus.items[gpu];
	g->free_milli -= milli;
	g->free_mib -= g->usable_mib > 0 ? mem_mib : 0;
	g->tenants++;
	g->max_tenants = g->max_tenants < r->max_tenants ? g->max_tenants : r->max_tenants;
	g->company = place_is_empty(g->company) ? r->company : g->company;
	snapshot_gpu_moved(s, gpu);
}

void place_reserve(struct snapshot *s, const struct place_request *r, const struct place_verdict *v)
{
	struct place_node *n = &s->nodes.items[s->gpus.items[v->gpu].node];
	place_reserve_pod(s, n, r->pod);
	place_reserve_share(s, r, v->gpu, v->milli, v->mem_mib);
}

static int64_t capacity_cpu(const struct place_node *n, bool mps)
{
	return (mps ? CAPACITY_MPS_CPU_MILLI : CAPACITY_CPU_MILLI) +
	       (n->runtime != NULL ? n->runtime->cpu_milli : 0);
}

static int64_t capacity_mem(const struct place_node *n, bool mps)
{
	return (mps ? CAPACITY_MPS_MEM_BYTES : CAPACITY_MEM_BYTES) +
	       (n->runtime != NULL ? n->runtime->mem_bytes : 0);
}

void place_reserve_capacity(struct place_node *n, bool mps)
{
	n->free_gpus--;
	n->free_slots--;
	n->free_cpu_milli -= capacity_cpu(n, mps);
	n->free_mem_bytes -= capacity_mem(n, mps);
}

void place_return_capacity(struct place_node *n, bool mps)
{
	n->free_gpus++;
	n->free_slots++;
	n->free_cpu_milli += capacity_cpu(n, mps);
	n->free_mem_bytes += capacity_mem(n, mps);
}

void snapshot_clear(struct snapshot *s)
{
	VEC_CLEAR(&s->nodes);
	VEC_CLEAR(&s->gpus);
	VEC_CLEAR(&s->others);
	VEC_CLEAR(&s->promised);
	VEC_CLEAR(&s->keeps);
	if (s->index != NULL) {
		index_drop(s->index);
	}
}

void snapshot_finish(struct snapshot *s)
{
	VEC_FINISH(&s->nodes);
	VEC_FINISH(&s->gpus);
	VEC_FINISH(&s->others);
	VEC_FINISH(&s->promised);
	VEC_FINISH(&s->keeps);
	index_free(s->index);
	s->index = NULL;
}
