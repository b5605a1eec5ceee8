/* What a tenant that waits asks for: what the webhook wrote, under the policy as it is now, within
 * its quotas, with its volumes and its neighbours. */
#include "request.h"

#include "demand/needs.h"
#include "demand/quota_usage.h"
#include "ledger/ledger.h"
#include "model/framework.h"
#include "model/names.h"
#include "model/quantity.h"
#include "scheduling/scheduling.h"
#include "size/managed.h"
#include "size/policy_resolution.h"

/* The policy as it is now, not as it was at admission, if a webhook judged the pod at all: whether
 * there is one and it wants shares, its bounds and its number of tenants (C8). */
static enum reason apply_policy(
	struct scheduling *sched, const struct waiter *w, struct place_request *r)
{
	struct policy_choice choice = policy_of(sched->picture->world, &w->pod);
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
	struct manners manners = manners_under(sched->companies, choice.policy, &w->pod);
	r->max_tenants = manners.max_tenants;
	r->company = manners.company;
	r->mps = manners.mps;
	/* Two ranks of one job on one GPU refuse to work. Others do not wait for a GPU of their own
	 * that nobody may open. */
	bool spreads =
		choice.policy->packing == PACKING_SPREAD && !sched->openings->refused[r->mps];
	r->spread = spreads || admit_is_rank(&w->pod);
	return REASON_NONE;
}

/* What the webhook wrote is a request, not an authority: it is read again, strictly. */
static enum reason read_request(
	struct scheduling *sched, const struct waiter *w, struct place_request *ret)
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
	if ((!text_empty(share) && share_parse(view_of(share), &r.milli, NULL) < 0) ||
		(!text_empty(memory) && memory_parse(view_of(memory), &r.mem_mib, NULL) < 0)) {
		return REASON_NOT_OURS;
	}
	/* A tenant that still asks for a whole GPU would take two, and one that nobody here can
	 * tell its memory would take all of it. */
	const char *framework = pairs_get(&w->pod.notes, NOTE_FRAMEWORK);
	if (w->pod.gpus != 0 || w->group.unreadable ||
		(framework != NULL && framework_find(framework) == NULL)) {
		return REASON_NOT_OURS;
	}
	int64_t context_mib = sched->picture->cfg->context_mib;
	r.context_mib = framework != NULL ? framework_least_mib(context_mib) : context_mib;
	*ret = r;
	return apply_policy(sched, w, ret);
}

bool waiter_asks(struct scheduling *sched, struct waiter *w, struct claims_of *claims)
{
	struct place_request r;
	w->miss = (struct place_verdict){0};
	w->passed.kept_for = 0;
	if (w->pod.too_complex) {
		w->reason = REASON_TOO_COMPLEX;
		return false;
	}
	w->reason = read_request(sched, w, &r);
	if (w->reason != REASON_NONE) {
		return false;
	}
	w->asked = r;
	/* Before any GPU is looked for, so that none is opened for a pod that must not have it. */
	struct quota_view quota;
	int64_t left = quotas_left(sched->quotas, w, &quota) / waiter_count(w);
	if (left < (w->asked.milli > 0 ? w->asked.milli : 1)) {
		w->reason = REASON_QUOTA;
		return false;
	}
	w->asked.quota_left_milli = quota.name != NULL ? left : 0;
	w->reason = needs_claims(sched->picture->world, &w->pod, claims);
	if (w->reason != REASON_NONE) {
		return false;
	}
	needs_ask(sched->needs, &w->pod, claims, &w->asked);
	return true;
}

/* They are of this step, what is asked for lasts. */
void waiter_asked(struct waiter *w)
{
	w->asked.claims = NULL;
	w->asked.claim_count = w->asked.apart = 0;
	w->asked.quota_left_milli = 0;
}
