/* Step 4: where each of those who wait goes. */
#include "state.h"

#include "model/framework.h"
#include "model/names.h"
#include "model/quantity.h"
#include "model/refusal.h"
#include "size/admit.h"
#include "size/managed.h"
#include "size/policy_resolution.h"

struct policy_choice policy_of(const struct engine *e, const struct pod *pod)
{
	const struct world_namespace *n = world_namespace_find(e->world, pod->ns);
	struct policy_subject who = policy_subject_of(pod, n != NULL && n->known ? &n->noun : NULL);
	struct policy_set set;
	set.items = world_policies(e->world, &set.count);
	return policy_choose(&set, &who);
}

/* The policy as it is now, not as it was at admission, if a webhook judged the pod at all: whether
 * there is one and it wants shares, its bounds and its number of tenants (C8). */
static enum reason apply_policy(struct engine *e, const struct waiter *w, struct place_request *r)
{
	struct policy_choice choice = policy_of(e, &w->pod);
	if (choice.excluded) {
		return REASON_EXCLUDED;
	}
	if (choice.policy == NULL) {
		return choice.reason;
	}
	if (choice.mode == MODE_DISABLED) {
		return REASON_DISABLED;
	}
	policy_bound_share(choice.policy, r->context_mib, &r->milli, &r->mem_mib);
	if (!choice.policy->built_in) {
		r->max_milli = (int64_t)choice.policy->sizing.max_percent * 10;
		r->max_mib = choice.policy->sizing.max_mem_mib;
	}
	struct manners manners = manners_under(e, choice.policy, &w->pod);
	r->max_tenants = manners.max_tenants;
	r->company = manners.company;
	r->mps = manners.mps;
	/* Two ranks of one job on one GPU refuse to work. Others do not wait for a GPU of their own
	 * that nobody may open. */
	bool spreads = choice.policy->packing == PACKING_SPREAD && !e->openings.refused[r->mps];
	r->spread = spreads || admit_is_rank(&w->pod);
	return REASON_NONE;
}

static int64_t least_mib(const struct engine *e, const struct waiter *w)
{
	bool told = pairs_get(&w->pod.notes, NOTE_FRAMEWORK) != NULL;
	return told ? framework_least_mib(e->cfg.context_mib) : e->cfg.context_mib;
}

/* What the webhook wrote is a request, not an authority: it is read again, strictly. */
static enum reason read_request(struct engine *e, const struct waiter *w, struct place_request *ret)
{
	const char *share = pairs_get(&w->pod.notes, NOTE_SHARE);
	const char *memory = pairs_get(&w->pod.notes, NOTE_MEMORY);
	struct place_request r = {.pod = &w->pod};
	/* Without the label nobody would count it once its gate is gone. */
	if (!pod_is_tenant(&w->pod) || w->pod.forged ||
		text_empty(pairs_get(&w->pod.notes, NOTE_ORIGINAL)) ||
		(text_empty(share) && text_empty(memory))) {
		return REASON_NOT_OURS;
	}
	if (!text_empty(share) && share_parse(view_of(share), &r.milli, NULL) < 0) {
		return REASON_NOT_OURS;
	}
	if (!text_empty(memory) && memory_parse(view_of(memory), &r.mem_mib, NULL) < 0) {
		return REASON_NOT_OURS;
	}
	/* A tenant that still asks for a whole GPU would take two, and one that nobody here can
	 * tell its memory would take all of it. */
	const char *framework = pairs_get(&w->pod.notes, NOTE_FRAMEWORK);
	if (w->pod.gpus != 0 || w->group.unreadable ||
		(framework != NULL && framework_find(framework) == NULL)) {
		return REASON_NOT_OURS;
	}
	r.context_mib = least_mib(e, w);
	enum reason reason = apply_policy(e, w, &r);
	if (reason == REASON_NONE) {
		*ret = r;
	}
	return reason;
}

/* Waits for something that is on its way, or for what only we can do. */
static bool held_back(struct engine *e, struct waiter *w, int64_t now)
{
	if (w->flight != 0 || w->placed_rv != NULL) {
		if (w->placed_rv != NULL && now >= w->placed_until) {
			text_set(&w->placed_rv, NULL);
			return false;
		}
		w->reason = REASON_GRANTING;
		wake_by(e, w->flight != 0 ? TIME_NEVER : w->placed_until);
		return true;
	}
	if (now < w->retry_at) {
		w->reason = refusal_reason(w->refusal);
		wake_by(e, w->retry_at);
		return true;
	}
	return false;
}

/* A new GPU in the picture for a capacity pod that was just asked for. */
static uint32_t add_opening(struct engine *e, struct holder *h, uint32_t node)
{
	struct place_node *n = &e->snap.nodes.items[node];
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
	VEC_PUSH(&e->snap.gpus, g);
	VEC_PUSH(&e->snap_gpus, s);
	uint32_t at = (uint32_t)e->snap.gpus.count - 1;
	snapshot_gpu_moved(&e->snap, at);
	return at;
}

static bool is_unfit(enum reason reason)
{
	return reason == REASON_NODE_UNFIT || reason == REASON_OTHER_SHARING ||
	       reason == REASON_RUNTIME_CLASS || reason == REASON_NO_INJECTION;
}

/* The closest miss is kept with the waiter's reason, for the sentence. */
static void note_refusal(const struct snapshot *s, struct waiter *w,
	const struct place_verdict *fit, const struct place_verdict *open)
{
	if (place_never_fits(s, &w->asked, &w->miss)) {
		/* By which of the others one meets it is chance. */
		w->reason = w->miss.reason;
		return;
	}
	/* Without an open GPU where the pod may go, what keeps one from being opened is the answer.
	 * Where no node suits it in either case, the nearer one is. */
	bool none_near = fit->reason == REASON_NO_GPU_NODE;
	if (is_unfit(fit->reason)) {
		none_near = is_unfit(open->reason) ? open->nearest > fit->nearest
						   : open->reason != REASON_NO_GPU_NODE;
	}
	w->miss = none_near ? *open : *fit;
	w->reason = w->miss.reason;
}

/* It could have something that is kept for somebody who ranks before it. */
static void note_keeper(struct engine *e, struct waiter *w)
{
	const struct place_keep *k = place_kept_from(&e->snap, &w->asked);
	if (k != NULL) {
		reserve_note(e, w, k);
	} else if (is_unfit(w->reason) || w->reason == REASON_NO_GPU_NODE) {
		place_note_kept(&e->snap, &w->asked, &w->miss);
		w->reason = w->miss.reason;
	}
}

/* It would go on a GPU whose capacity pod could not be created: not yet, or now once more. */
void await_creation(
	struct engine *e, int64_t now, struct waiter *w, struct holder *h, struct plan *plan)
{
	w->reason = REASON_WAITING_FOR_CAPACITY;
	if (inject_tries(e, w, h)) {
		return;
	}
	if (h->refusal == NULL || h->flight != 0 || h->in_world) {
		return;
	}
	text_set(&w->refusal, h->refusal);
	w->refused_until = h->retry_at;
	w->reason = refusal_reason(h->refusal);
	if (now >= h->retry_at) {
		emit_create_again(e, h, &w->pod, plan);
	} else {
		wake_by(e, h->retry_at);
	}
}

/* The first two are looked for one by one; whatever comes after them pays for an index. Its making
 * looks at everything once. */
#define INDEX_FROM 2

static void index_picture(struct engine *e)
{
	if (e->searches++ == INDEX_FROM) {
		snapshot_index(&e->snap);
		e->looked_at += e->snap.gpus.count + e->snap.nodes.count;
	}
}

/* Who spreads does not join others while a GPU can be opened. */
static bool wants_its_own(
	const struct engine *e, const struct waiter *w, const struct place_verdict *v)
{
	return w->asked.spread && e->snap.gpus.items[v->gpu].tenants > 0;
}

bool open_gpu(struct engine *e, int64_t now, const struct waiter *w, struct plan *plan,
	struct place_verdict *open)
{
	if (open->node == PLACE_NOWHERE) {
		return false;
	}
	struct place_node *n = &e->snap.nodes.items[open->node];
	if (standins_yield(e, n->noun->name)) {
		/* What stands in for such tenants there has the GPU, and goes first. */
		place_reserve_capacity(n, w->asked.mps);
		snapshot_node_moved(&e->snap, open->node);
		return false;
	}
	struct holder *h = emit_create(e, now, n->noun->name, &w->pod, plan);
	if (h != NULL) {
		open->gpu = add_opening(e, h, open->node);
	}
	return h != NULL;
}

static void refuse(struct engine *e, struct waiter *w, const struct place_verdict *fit,
	const struct place_verdict *open)
{
	if (open->node == PLACE_NOWHERE) {
		note_refusal(&e->snap, w, fit, open);
		note_keeper(e, w);
	} else {
		w->reason = REASON_WAITING_FOR_CAPACITY;
	}
}

/* A GPU that there is, or one more; false: neither, and the waiter has the reason. */
static bool find_in_picture(struct engine *e, int64_t now, struct waiter *w, struct plan *plan,
	struct place_verdict *ret)
{
	struct place_verdict v = place_best_fit(&e->snap, &w->asked);
	e->looked_at += v.looked_at;
	if (v.gpu == PLACE_NOWHERE || wants_its_own(e, w, &v)) {
		struct place_verdict open = place_open(&e->snap, &w->asked);
		e->looked_at += open.looked_at;
		if (!open_gpu(e, now, w, plan, &open) && v.gpu == PLACE_NOWHERE) {
			refuse(e, w, &v, &open);
			return false;
		}
		v = open.gpu != PLACE_NOWHERE ? open : v;
	}
	*ret = v;
	return true;
}

/* One that its workload was taken away from is looked at only where no other takes it. */
static bool find_gpu(struct engine *e, int64_t now, struct waiter *w, struct plan *plan,
	struct place_verdict *ret)
{
	struct place_verdict v;
	index_picture(e);
	bool hides = shuns_hide(e, w);
	bool found = find_in_picture(e, now, w, plan, &v);
	if (hides) {
		shuns_show(e);
		w->passed.kept_for = found ? w->passed.kept_for : 0;
		found = found || find_in_picture(e, now, w, plan, &v);
	}
	if (!found) {
		return false;
	}
	company_comes(e, w, v.gpu);
	place_reserve(&e->snap, &w->asked, &v);
	*ret = v;
	return true;
}

/* Before any GPU is looked for, so that none is opened for a pod that must not have it. */
static bool within_quota(struct engine *e, struct waiter *w)
{
	struct quota_view quota;
	int64_t count = waiter_count(w);
	int64_t left = quotas_left(e, w, &quota) / count;
	if (left < (w->asked.milli > 0 ? w->asked.milli : 1)) {
		w->reason = REASON_QUOTA;
		return false;
	}
	w->asked.most_milli = quota.name != NULL ? left : 0;
	return true;
}

bool waiter_asks(struct engine *e, struct waiter *w, struct claims_of *claims)
{
	struct place_request r;
	w->miss = (struct place_verdict){0};
	w->passed.kept_for = 0;
	if (w->pod.too_complex) {
		w->reason = REASON_TOO_COMPLEX;
		return false;
	}
	w->reason = read_request(e, w, &r);
	if (w->reason != REASON_NONE) {
		return false;
	}
	w->asked = r;
	if (!within_quota(e, w)) {
		return false;
	}
	w->reason = needs_claims(e, &w->pod, claims);
	if (w->reason != REASON_NONE) {
		return false;
	}
	w->asked.claims = claims->items;
	w->asked.claim_count = claims->count;
	w->asked.apart = neighbours_mark(e, &w->pod);
	return true;
}

/* They are of this step, what is asked for lasts. */
void waiter_asked(struct waiter *w)
{
	w->asked.claims = NULL;
	w->asked.claim_count = w->asked.apart = 0;
	w->asked.most_milli = 0;
}

/* True: there might be a GPU for it, and none fits it now. */
static bool place_waiter(struct engine *e, int64_t now, struct waiter *w, struct plan *plan)
{
	struct place_verdict v;
	struct claims_of claims;
	if (!waiter_asks(e, w, &claims)) {
		return false;
	}
	landings_lift(e, w);
	hold_lift(e, w);
	bool found = find_gpu(e, now, w, plan, &v);
	hold_settle(e, w, found ? &v : NULL);
	landings_settle(e, w, found ? &v : NULL);
	waiter_asked(w);
	if (!found) {
		return w->reason != REASON_QUOTA && w->reason != REASON_WAITING_FOR_CAPACITY;
	}
	wholes_picture_changed(e);
	neighbours_arrive(e, v.node, &w->pod);
	quotas_take(e, w, v.milli);
	struct snap_gpu *s = &e->snap_gpus.items[v.gpu];
	s->demand++;
	s->holder->wanted = e->step;
	if (e->snap.gpus.items[v.gpu].state != GPU_OPEN) {
		if (e->snap.gpus.items[v.gpu].state == GPU_BUSY) {
			w->reason = REASON_GRANTING;
		} else {
			await_creation(e, now, w, s->holder, plan);
		}
		return false;
	}
	if (inject_awaits(e, w, s->holder)) {
		return false;
	}
	w->reason = REASON_GRANTING;
	if (view_lags(e) || (s->added == 0 && !flights_room(e))) {
		return false;
	}
	e->flights.decided += s->added == 0 ? 1 : 0;
	s->added++;
	s->keepers += w->pod.keeps_node ? 1 : 0;
	struct chosen c = {w, v.gpu, v.milli, v.mem_mib};
	VEC_PUSH(&e->chosen, c);
	return false;
}

static void place_in_turn(struct engine *e, struct waiter *w, struct holder *h,
	const struct grant *g, struct plan *plan)
{
	int64_t until;
	if (turn_of_another(e, w, &until) != NULL) {
		w->reason = REASON_STARTS_IN_TURN;
	} else {
		emit_place(e, w, h, g, plan);
	}
}

static bool decide_one(struct engine *e, int64_t now, struct waiter *w, struct plan *plan)
{
	if (held_back(e, w, now)) {
		return false;
	}
	if (!pod_has_gate(&w->pod, NAME_GATE) || w->pod.gate_count != 1) {
		w->reason = REASON_OTHER_GATES;
		return false;
	}
	if (waiter_count(w) > 1) {
		return group_decide(e, now, w, plan);
	}
	if (w->granted_step != e->step) {
		return place_waiter(e, now, w, plan);
	}
	struct holder *h = w->granted_by;
	const struct grant *g = &holder_ledger(h)->items[w->granted_index];
	w->reason = REASON_GRANTING;
	/* Only an entry that the watch of pods has brought back may be told to the tenant: it was
	 * acknowledged, and what is known of the node includes all that came before it (C21). */
	if (!h->asked_holds && flights_room(e) && !view_lags(e) && h->in_world &&
		h->pod.identity != NULL && !text_empty(h->pod.node) && !inject_awaits(e, w, h)) {
		place_in_turn(e, w, h, g, plan);
	}
	return false;
}

static void note_judged(const struct engine *e, struct waiter *w, int64_t now)
{
	int64_t from = w->granting_from > 0 ? w->granting_from : now;
	w->granting_from = w->reason == REASON_GRANTING ? from : 0;
	w->judged = e->step;
}

/* Most of what a search looks at is passed over by its first number. */
#define LOOKS_A_UNIT 16

void decide(struct engine *e, int64_t now, uint32_t budget, struct plan *plan)
{
	VEC_CLEAR(&e->chosen);
	uint32_t work = 0;
	uint32_t i = e->resume < e->ranked.count ? e->resume : 0;
	uint32_t first = i;
	e->round = i == 0 ? e->step : e->round;
	e->looked_at = 0;
	for (uint32_t k = 0; k < first; k++) {
		wholes_until(e, &e->ranked.items[k].waiter->pod, plan);
		reserve_again(e, e->ranked.items[k].waiter);
	}
	for (; i < e->ranked.count; i++) {
		if (work >= budget) {
			plan->unfinished = true;
			break;
		}
		struct waiter *w = e->ranked.items[i].waiter;
		e->looked_at = e->needs.keepers.count;
		wholes_until(e, &w->pod, plan);
		bool lacks = decide_one(e, now, w, plan);
		inject_reason(e, w);
		note_judged(e, w, now);
		reserve_judge(e, w, lacks);
		e->report.decisions++;
		work += 1 + (uint32_t)(e->looked_at / LOOKS_A_UNIT);
	}
	e->resume = plan->unfinished ? i : 0;
	if (!plan->unfinished) {
		wholes_until(e, NULL, plan);
	}
	reserve_count(e, 0, i);
}
