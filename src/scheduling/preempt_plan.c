/* Which GPUs of which node, and who would have to go. */
#include "scheduling/preempt_plan.h"

#include <stdlib.h>

#include "demand/wholes.h"
#include "guardian/evict.h"
#include "ledger/ledger.h"
#include "scheduling/incumbent.h"
#include "scheduling/preempt.h"
#include "scheduling/preempt_set.h"
#include "scheduling/scheduling.h"

static void push_victims(struct tenant_list *to, const struct contest *c, uint64_t mask)
{
	for (uint32_t i = 0; i < c->count; i++) {
		if ((mask >> i & 1) != 0) {
			VEC_PUSH(to, c->victims[i]);
		}
	}
}

/* Of those who have to go the one to ask first; NULL: nobody has to. */
static const struct world_pod *first_to_go(
	const struct evictions *evictions, const struct preempt_search *s)
{
	vec_for_each (const struct world_pod *const, p, &s->chosen) {
		if (evict_is_doubtful(evictions, *p)) {
			return *p;
		}
	}
	return s->chosen.count > 0 ? s->chosen.items[0] : NULL;
}

/* Nothing is gained by moving on while another GPU, or node, is as good as the one that is held. */
static bool is_better(const struct victims *cost, const struct preempt_plan *best, bool held)
{
	return best->node == WORLD_NONE || victims_are_cheaper(cost, &best->cost) ||
	       (held && !victims_are_cheaper(&best->cost, cost));
}

/* --- one GPU --- */

struct preempt_plan preempt_plan_one(
	struct preempting *preempting, const struct waiter *w, const struct place_request *r)
{
	struct contest c = {.snap = &preempting->picture->snap, .request = r};
	const struct incumbents *all = &preempting->incumbents;
	struct preempt_search *s = &preempting->search;
	struct preempt_plan best = {.node = WORLD_NONE};
	struct victims v;
	for (size_t i = 0; i < all->count; i++) {
		uint32_t gpu = all->items[i].gpu;
		if (i > 0 && all->items[i - 1].gpu == gpu) {
			continue;
		}
		incumbents_contest(preempting, gpu, w->pod.priority, &c);
		bool usable =
			c.gpu.state != GPU_OPENING && !c.gpu.fenced && !c.node.no_grants &&
			!kept_from(preempting->scheduling->wholes, c.gpu.kept_by, &w->pod, false);
		bool held = w->hold.uuid != NULL && hold_is_on(w, gpu);
		if (usable && contest_solve(&c, &v) && is_better(&v, &best, held)) {
			VEC_CLEAR(&s->chosen);
			push_victims(&s->chosen, &c, v.mask);
			best = (struct preempt_plan){c.gpu.node, {gpu}, 1, v, NULL};
			best.first = first_to_go(preempting->evictions, s);
		}
	}
	return best;
}

/* --- several --- */

/* A share of it. What is not open yet is counted in only as it is. Whether the node has room for
 * the pod is asked of all its GPUs together. */
static bool may_share(struct contest *c, struct victims *ret)
{
	c->node.free_cpu_milli = c->node.free_mem_bytes = c->node.free_slots = INT64_MAX / 4;
	return contest_solve(c, ret) && (ret->count == 0 || c->gpu.state != GPU_OPENING);
}

/* All of it: everybody who is there leaves or may be asked to, and nobody is there of whom nothing
 * is known. */
static bool may_empty(const struct contest *c, const struct snap_gpu *s)
{
	bool known = c->rules_known && c->gpu.tenants == c->count;
	bool lives =
		c->gpu.state != GPU_OPENING || (c->gpu.tenants == 0 && holder_may_go(s->holder));
	return known && lives && !s->holder->search && !s->yields;
}

static void add_candidate(
	struct preempting *preempting, const struct preempt_want *want, uint32_t gpu)
{
	struct preempt_search *s = &preempting->search;
	struct contest c = {.snap = &preempting->picture->snap, .request = want->request};
	struct victims v = {.mask = UINT64_MAX};
	incumbents_contest(preempting, gpu, want->request->pod->priority, &c);
	bool may = want->whole ? may_empty(&c, &preempting->picture->snap_gpus.items[gpu])
			       : may_share(&c, &v);
	if (c.gpu.fenced || !may) {
		return;
	}
	struct candidate_gpu made = {.node = c.gpu.node,
		.gpu = gpu,
		.first = s->pods.count,
		.milli = v.share.milli,
		.mem_mib = v.share.mem_mib};
	push_victims(&s->pods, &c, v.mask);
	made.count = s->pods.count - made.first;
	VEC_PUSH(&s->candidates, made);
}

static int by_node(const void *a, const void *b)
{
	const struct candidate_gpu *x = a, *y = b;
	if (x->node != y->node) {
		return x->node < y->node ? -1 : 1;
	}
	return x->gpu < y->gpu ? -1 : x->gpu > y->gpu;
}

static void find_candidates(struct preempting *preempting, const struct preempt_want *want)
{
	struct preempt_search *s = &preempting->search;
	VEC_CLEAR(&s->candidates);
	VEC_CLEAR(&s->pods);
	for (uint32_t i = 0; i < preempting->picture->snap.gpus.count; i++) {
		const struct place_gpu *g = &preempting->picture->snap.gpus.items[i];
		if (preempting->picture->snap.nodes.items[g->node].no_grants ||
			kept_from(preempting->scheduling->wholes, g->kept_by, want->request->pod,
				want->whole)) {
			continue;
		}
		add_candidate(preempting, want, i);
	}
	if (s->candidates.count > 1) {
		qsort(s->candidates.items, s->candidates.count, sizeof *s->candidates.items,
			by_node);
	}
}

/* GPUs of the node that it can have without anybody's going. */
static uint32_t free_on(struct wholes *wholes, const struct preempt_want *want, uint32_t node)
{
	const struct place_node *n = &wholes->picture->snap.nodes.items[node];
	int64_t free = n->free_gpus > 0 ? n->free_gpus : 0;
	bool kept = kept_from(wholes, n->kept_by, want->request->pod, want->whole);
	if (kept || (!want->whole && (n->no_opening || !place_share_possible(n, want->request)))) {
		free = 0;
	}
	free += want->whole ? wholes->rooms.items[node].leaving : 0;
	return free < want->count ? (uint32_t)free : want->count;
}

static bool is_chosen(const struct preempt_search *s, const struct world_pod *p)
{
	for (size_t i = 0; i < s->chosen.count; i++) {
		if (s->chosen.items[i] == p) {
			return true;
		}
	}
	return false;
}

/* Who has to go for this one beside those who go already. */
static struct victims cost_of(const struct preempt_search *s, const struct candidate_gpu *f)
{
	struct victims v = {.top_priority = INT32_MIN};
	for (size_t i = 0; i < f->count; i++) {
		const struct world_pod *p = s->pods.items[f->first + i];
		if (!is_chosen(s, p)) {
			victims_add(&v, p);
		}
	}
	return v;
}

static struct candidate_gpu *cheapest_candidate(struct preempt_search *s, size_t from, size_t end)
{
	struct candidate_gpu *best = NULL;
	struct victims least = {0};
	for (size_t i = from; i < end; i++) {
		struct candidate_gpu *f = &s->candidates.items[i];
		struct victims v = cost_of(s, f);
		if (!f->taken && (best == NULL || victims_are_cheaper(&v, &least))) {
			best = f;
			least = v;
		}
	}
	return best;
}

static void take_candidate(
	struct preempt_search *s, struct candidate_gpu *f, struct preempt_plan *plan)
{
	f->taken = true;
	plan->gpus[plan->gpu_count++] = f->gpu;
	struct place_verdict *share = &plan->cost.share;
	share->milli = f->milli > share->milli ? f->milli : share->milli;
	share->mem_mib = f->mem_mib > share->mem_mib ? f->mem_mib : share->mem_mib;
	for (size_t i = 0; i < f->count; i++) {
		const struct world_pod *p = s->pods.items[f->first + i];
		if (!is_chosen(s, p)) {
			victims_add(&plan->cost, p);
			VEC_PUSH(&s->chosen, p);
		}
	}
}

/* Those who leave these GPUs anyway take nothing of the node any more either. */
static void choose_leavers(struct preempting *preempting, const struct preempt_plan *plan)
{
	struct preempt_search *s = &preempting->search;
	for (uint32_t k = 0; k < plan->gpu_count; k++) {
		struct incumbent_range r = incumbents_of(preempting, plan->gpus[k]);
		for (size_t i = r.first; i < r.end; i++) {
			const struct incumbent *one = &preempting->incumbents.items[i];
			if (one->leaves && !is_chosen(s, one->pod)) {
				VEC_PUSH(&s->chosen, one->pod);
			}
		}
	}
}

static bool node_takes(struct preempting *preempting, const struct preempt_want *want,
	const struct preempt_plan *plan, uint32_t opened)
{
	struct place_node rest = preempting->picture->snap.nodes.items[plan->node];
	choose_leavers(preempting, plan);
	vec_for_each (const struct world_pod *const, p, &preempting->search.chosen) {
		contest_leave_node(&rest, *p);
	}
	while (want->whole && rest.free_gpus < want->count) {
		place_return_capacity(&rest, false);
	}
	for (uint32_t i = 0; i < opened && !want->whole; i++) {
		place_reserve_capacity(&rest, want->request->mps);
	}
	return place_unfit(&preempting->picture->snap, want->request, &rest, NULL) == UNFIT_NONE;
}

static struct preempt_plan plan_on_node(
	struct preempting *preempting, const struct preempt_want *want, size_t from, size_t end)
{
	struct preempt_search *s = &preempting->search;
	struct preempt_plan plan = {
		.node = s->candidates.items[from].node, .cost = {.top_priority = INT32_MIN}};
	uint32_t free = free_on(preempting->scheduling->wholes, want, plan.node);
	VEC_CLEAR(&s->chosen);
	while (free + plan.gpu_count < want->count) {
		struct candidate_gpu *f = cheapest_candidate(s, from, end);
		if (f == NULL) {
			return (struct preempt_plan){.node = WORLD_NONE};
		}
		take_candidate(s, f, &plan);
	}
	plan.first = first_to_go(preempting->evictions, s);
	plan.node = node_takes(preempting, want, &plan, free) ? plan.node : WORLD_NONE;
	return plan;
}

static bool is_held(const struct picture *picture, const struct preempt_want *want, uint32_t node)
{
	struct told t = told_of(want->held, NULL);
	uint32_t at = told_next(&t) ? snap_gpu_on(picture, t.uuid, node) : WORLD_NONE;
	return at != WORLD_NONE;
}

struct preempt_plan preempt_plan_several(
	struct preempting *preempting, const struct preempt_want *want)
{
	struct preempt_search *s = &preempting->search;
	struct preempt_plan best = {.node = WORLD_NONE};
	find_candidates(preempting, want);
	for (size_t from = 0, end; from < s->candidates.count; from = end) {
		end = from;
		while (end < s->candidates.count &&
			s->candidates.items[end].node == s->candidates.items[from].node) {
			end++;
		}
		struct preempt_plan here = plan_on_node(preempting, want, from, end);
		if (here.node != WORLD_NONE &&
			is_better(
				&here.cost, &best, is_held(preempting->picture, want, here.node))) {
			best = here;
		}
	}
	return best;
}

void preempt_search_finish(struct preempt_search *s)
{
	VEC_FINISH(&s->candidates);
	VEC_FINISH(&s->pods);
	VEC_FINISH(&s->chosen);
}
