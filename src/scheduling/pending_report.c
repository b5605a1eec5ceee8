/* What people are told: why a tenant waits, where it went, and the counts behind the metrics. */
#include "scheduling/pending_report.h"

#include "capacity/inject_class.h"
#include "capacity/scale.h"
#include "demand/needs.h"
#include "demand/neighbours.h"
#include "demand/node_pools.h"
#include "demand/quota_usage.h"
#include "demand/rank.h"
#include "demand/wholes.h"
#include "guardian/mps.h"
#include "ledger/ledger.h"
#include "model/names.h"
#include "model/refusal.h"
#include "scheduling/scheduling.h"
#include "scheduling/startup_order.h"
#include "size/explain.h"
#include "size/explain_gpus.h"

/* C23: after ten seconds or on a new reason, at most one a minute a pod. */
#define TELL_AFTER_MS 10000
#define TELL_EVERY_MS 60000
/* A write that takes longer than this is worth a word; before, it is the normal course of things.
 */
#define GRANTING_SLOW_MS 30000
#define GRANTING_FULL_MS 60000
/* It is not told so again before the watch has surely shown that it was. */
#define GRANTING_AGAIN_MS 600000

#define SENTENCE_MAX 1024
#define LOST_MPS     "isolation None, not MPS: its namespace or " NAME_NAMESPACE " does not allow it"

static const char *sentence(struct plan *plan, enum reason reason, const struct explain_facts *f)
{
	CLEANUP(str_finish) struct str text = STR_INIT(SENTENCE_MAX);
	explain(&text, reason, f);
	return arena_strdup(&plan->arena, str_text(&text));
}

/* It stands in a ledger, and only the watch is late. A word would make another version of it, which
 * the watch shows even later: the placement would meet a conflict until then, and with a word a
 * minute for ever. Not where a word is what ends a placement that may land yet. */
static bool only_lacks_watch(const struct step_time *time, const struct waiter *w)
{
	if (w->reason != REASON_GRANTING || w->granted_step != time->step || landings_linger(w)) {
		return false;
	}
	const struct holder *h = w->granted_by;
	return h->flight == 0 || ledger_has(&h->pod.ledger, w->uid);
}

/* Whoever waited long for something else is not told of a write that has just begun. While as many
 * writes are under way as may be, one that says so would only make it last longer. */
static bool is_early(const struct book *book, const struct waiter *w, int64_t now)
{
	int64_t waited = now - w->first_seen;
	if (w->reason != REASON_GRANTING) {
		return waited < TELL_AFTER_MS;
	}
	int64_t least = only_lacks_watch(book->time, w) ? GRANTING_FULL_MS : TELL_AFTER_MS;
	int64_t slow = flights_room(book) ? GRANTING_SLOW_MS : GRANTING_FULL_MS;
	return now - w->granting_from < least || waited < slow;
}

static bool worth_telling(const struct book *book, const struct waiter *w, int64_t now)
{
	/* What an earlier step found may be of minutes ago: of before the watches broke, or before
	 * this process was stopped. A step that was cut short comes to it soon. */
	if (w->reason == REASON_NONE || w->judged != book->time->step || is_early(book, w, now)) {
		return false;
	}
	bool shown =
		text_equals(w->pod.placed.reason, reason_name(w->reason)) && !w->pod.placed.is_true;
	int64_t every = only_lacks_watch(book->time, w) ? GRANTING_AGAIN_MS : TELL_EVERY_MS;
	bool too_soon = w->condition_at != 0 && now - w->condition_at < every;
	/* A write that is under way says it itself, and another to the same pod would end it. */
	if (w->reason == REASON_GRANTING && w->flight != 0) {
		return false;
	}
	/* Any write to the tenant ends what may land on it yet. */
	bool news = !shown || landings_linger(w);
	return news && !too_soon;
}

/* I7: the blocker by its name. */
static const char *other_gate(const struct pod *p)
{
	for (uint32_t i = 0; i < p->gate_count; i++) {
		if (!text_equals(p->gates[i], NAME_GATE)) {
			return p->gates[i];
		}
	}
	return NULL;
}

/* Why the nodes do not suit it, as of now; those included whose GPUs nobody offers to us at all. */
static void count_unfit(
	const struct picture *picture, const struct place_request *r, struct unfit_tally *ret)
{
	place_survey(&picture->snap, r, ret);
	for (uint32_t i = 0; i < world_node_slots(picture->world); i++) {
		const struct world_node *n = world_node_at(picture->world, i);
		enum unfit cause =
			!n->known || n->noun.gpus > 0 ? UNFIT_NONE : node_given_out_by(n);
		if (cause != UNFIT_NONE) {
			unfit_add(ret, cause, NULL);
		}
	}
}

/* C23: of the nodes that do suit it, what their GPUs lack. A look at all of them, so only where the
 * sentence has a place for it. What is kept for the pod itself would count as if others had it. */
static bool count_lacks(const struct picture *picture, const struct waiter *w,
	const struct place_request *r, struct lack_tally *ret)
{
	static const enum reason with_lacks[] = {REASON_SHORT_COMPUTE, REASON_SHORT_MEMORY,
		REASON_MAX_TENANTS, REASON_NO_SCALE_UP, REASON_GPU_UNHEALTHY, REASON_SHORT_GPUS,
		REASON_EXCLUSIVE, REASON_REACQUIRING, REASON_MPS_HELD_OFF};
	bool has_some =
		w->granted_step == picture->time->step || w->hold.count > 0 || landings_linger(w);
	for (size_t i = 0; i < COUNT_OF(with_lacks) && !has_some; i++) {
		if (w->reason == with_lacks[i]) {
			place_count_lacks(&picture->snap, r, ret);
			return true;
		}
	}
	return false;
}

/* The smallest number of those who are there and its own; or how many GPUs one node has for it. */
static uint32_t most_tenants(const struct picture *picture, const struct waiter *w)
{
	uint32_t most = w->asked.max_tenants, at = w->miss.best_gpu;
	if (w->reason == REASON_SHORT_GPUS) {
		return w->group.best_count;
	}
	if (w->reason == REASON_MAX_TENANTS && w->miss.best_node != NULL &&
		at < picture->snap.gpus.count && picture->snap.gpus.items[at].max_tenants < most) {
		most = picture->snap.gpus.items[at].max_tenants;
	}
	return most;
}

/* By name what it waits for, a rule of its own or another pod; what the tenants of the GPU say, and
 * when the other pod's time ends. */
static const char *blocker_name(struct scheduling *sched, const struct waiter *w,
	struct arena *arena, const char **theirs, int64_t *next)
{
	const char *name = NULL;
	if (w->reason == REASON_EXCLUSIVE) {
		company_explain(sched->companies, w, &name, theirs);
	} else if (w->reason == REASON_STARTS_IN_TURN) {
		const struct world_pod *p = startup_before(sched->startup_order, w, next);
		name = p != NULL ? arena_printf(arena, "%s/%s", p->ns, world_pod_name(p)) : NULL;
	} else if (w->passed.kept_for != 0) {
		const struct pod *pod = sched->wholes->keepers.items[w->passed.kept_for - 1].pod;
		name = arena_printf(arena, "%s/%s", pod->ns, pod->name);
	}
	return name;
}

/* The miss is that with most free compute; what is told is memory. */
static void name_most_memory(
	const struct picture *picture, struct waiter *w, const struct place_request *r)
{
	uint32_t gpu = place_most_memory(&picture->snap, r);
	if (gpu != PLACE_NOWHERE) {
		const struct place_gpu *g = &picture->snap.gpus.items[gpu];
		w->miss.best_node = picture->snap.nodes.items[g->node].noun->name;
		w->miss.best_gpu = gpu;
		w->miss.best_milli = g->free_milli;
		w->miss.best_mib = g->free_mib;
	}
}

/* What its daemon, or the last capacity pod of its node, said. */
static const char *failure_of(struct picture *picture, const struct waiter *w)
{
	if (w->reason == REASON_MPS_HELD_OFF) {
		return mps_explain(picture, w);
	}
	if (w->reason != REASON_CAPACITY_FAILED || w->miss.best_node == NULL) {
		return NULL;
	}
	const struct node_memo *m = memo_find(picture->book, w->miss.best_node);
	return m != NULL && picture->time->now < m->until ? m->why : NULL;
}

/* The policy that an answer names; NULL: none. */
static const char *policy_in(const char *refusal, struct arena *arena)
{
	char name[REFUSAL_NAME_MAX];
	return refusal != NULL && refusal_by_policy(refusal, name) ? arena_strdup(arena, name)
								   : NULL;
}

static struct action *emit_condition(struct emitter *out, struct about pod, struct waiter *w,
	enum reason reason, const struct explain_facts *f)
{
	struct action *a = emit_about(out, ACTION_CONDITION, pod);
	a->is_true = reason == REASON_PLACED;
	a->reason = reason;
	a->message = sentence(out->plan, reason, f);
	w->condition_at = out->picture->time->now;
	w->condition_reason = reason;
	return a;
}

static void report_pending(
	struct scheduling *sched, struct waiter *w, int64_t now, struct emitter *out)
{
	struct picture *picture = sched->picture;
	struct arena *arena = &out->plan->arena;
	struct unfit_tally unfit = {0};
	struct lack_tally lacks;
	struct claims_of claims;
	struct place_request r = w->asked;
	(void)needs_claims(picture->world, &w->pod, &claims);
	needs_ask(sched->needs, &w->pod, &claims, &r);
	count_unfit(picture, &r, &unfit);
	if (w->reason == REASON_SHORT_MEMORY) {
		name_most_memory(picture, w, &r);
	}
	int64_t next = w->retry_at > w->refused_until ? w->retry_at : w->refused_until;
	struct inject_words injection = inject_words(sched->inject, w, arena);
	next = injection.next > 0 ? injection.next : next;
	/* Asked again: others may have been given more since it was judged. A pod that shows the
	 * reason already is not told anew (worth_telling). */
	struct quota_view quota = {0};
	if (w->reason == REASON_QUOTA) {
		(void)quotas_left(sched->quotas, w, &quota);
	}
	const char *theirs = failure_of(picture, w);
	const char *blocker = blocker_name(sched, w, arena, &theirs, &next);
	const char *policy =
		w->reason == REASON_POLICY_REFUSED ? policy_in(w->refusal, arena) : NULL;
	bool counts = w->reason == REASON_SHORT_GPUS || w->reason == REASON_QUOTA;
	struct explain_facts f = {.want_milli = w->asked.milli,
		.want_mib = w->asked.mem_mib,
		.quota_milli = quota.hard_milli,
		.quota_used_milli = quota.used_milli,
		.value = policy != NULL			   ? refusal_words(w->refusal)
			 : w->reason == REASON_API_REFUSED ? w->refusal
			 : injection.value != NULL	   ? injection.value
							   : theirs,
		.best_node = w->miss.best_node,
		.best_milli = w->miss.best_milli,
		.best_mib = w->miss.best_mib,
		.unfit = &unfit,
		.lacks = count_lacks(picture, w, &r, &lacks) ? &lacks : NULL,
		.claim = w->reason == REASON_VOLUME_NOT_READY ? claims.blocker : NULL,
		.count = counts && waiter_count(w) > 1 ? waiter_count(w) : 0,
		.limit = injection.times > 0 ? injection.times : most_tenants(picture, w),
		.name = policy != NULL			  ? policy
			: w->reason == REASON_OTHER_GATES ? other_gate(&w->pod)
			: injection.class != NULL	  ? injection.class
			: blocker != NULL		  ? blocker
							  : quota.name,
		.asked_s = w->asked_for_s,
		/* Of what would ask an autoscaler, where nobody knows of one. */
		.refuser = policy_in(scale_refusal(sched->scale, w), arena),
		.waited_s = (now - w->first_seen) / 1000,
		.next_s = next > now ? (next - now + 999) / 1000 : 0};
	struct action *a = emit_condition(out, about_waiter(w), w, w->reason, &f);
	a->resource_version = arena_strdup(arena, w->pod.resource_version);
}

/* C35. Nobody makes a bare pod anew, so it is not given back: its owner is told, once. */
static void report_bare(
	const struct picture *picture, struct waiter *w, int64_t now, struct emitter *out)
{
	if (!text_empty(w->pod.owner.uid) || w->judged != picture->time->step ||
		w->vain_since < 0) {
		return;
	}
	if (!reason_would_run_whole(w->reason)) {
		w->vain_since = 0;
		return;
	}
	w->vain_since = w->vain_since > 0 ? w->vain_since : now;
	const struct policy *p = policy_of(picture->world, &w->pod).policy;
	int64_t minutes = p != NULL ? p->rollout.give_back_min : 0;
	int64_t due = w->vain_since + minutes * 60000;
	if (minutes == 0 || now < due) {
		wake_by(picture->time, due);
		return;
	}
	CLEANUP(str_finish) struct str text = STR_INIT(SENTENCE_MAX);
	explain_in_vain(&text, w->reason, minutes);
	struct action *a = emit_event(out, about_waiter(w), str_text(&text));
	a->resource_version = arena_strdup(&out->plan->arena, w->pod.resource_version);
	a->event_reason = "WaitsInVain";
	a->warning = true;
	w->vain_since = -1;
}

static struct explain_facts placed_facts(const struct world_pod *p)
{
	return (struct explain_facts){.want_milli = p->gpu->milli,
		.want_mib = p->gpu->mem_mib,
		.count = p->gpu->devices > 1 ? p->gpu->devices : 0,
		.gpu = p->gpu->uuid};
}

/* A pod whose gate is gone and that we remember placing: say so once. */
static void report_placed(const struct picture *picture, struct waiter *w, struct emitter *out)
{
	if (w->seen == picture->time->step || w->condition_reason == REASON_PLACED) {
		return;
	}
	const struct world_pod *p = world_pod_by_uid(picture->world, w->uid);
	if (p == NULL || p->gpu->uuid == NULL) {
		return;
	}
	const struct holder *h = holder_of_tenant(picture->book, p->gpu);
	struct explain_facts f = placed_facts(p);
	f.best_node = h != NULL ? h->node : NULL;
	f.value = pod_lost_mps(&w->pod) ? LOST_MPS : NULL;
	f.left = &w->pod;
	/* Not all that is remembered has looked at its pod: an entry of the ledger is enough. */
	emit_event(out, about_pod(p), sentence(out->plan, REASON_PLACED, &f))->reason =
		REASON_PLACED;
	w->condition_reason = REASON_PLACED;
	/* What was told while it waited does not hold back the correction. */
	w->condition_at = 0;
}

/* The condition still says that it waits although it runs: correct it. */
static void correct_placed(const struct picture *picture, int64_t now, struct emitter *out)
{
	vec_for_each (const uint32_t, i, &picture->unsettled) {
		const struct world_pod *p = world_class_at(picture->world, WORLD_TENANT, *i);
		if (p->gpu->gated || !p->gpu->waiting_shown || p->gpu->uuid == NULL ||
			world_pod_terminal(p)) {
			continue;
		}
		struct waiter *w = waiter_touch(picture->book, world_pod_uid(p), now);
		if (w->condition_reason == REASON_PLACED && w->condition_at != 0 &&
			now - w->condition_at < TELL_EVERY_MS) {
			continue;
		}
		struct explain_facts f = placed_facts(p);
		(void)emit_condition(out, about_pod(p), w, REASON_PLACED, &f);
	}
}

void report_waiting(struct scheduling *sched, struct emitter *out)
{
	const int64_t now = sched->picture->time->now;
	const struct picture *picture = sched->picture;
	memset(out->report->by_reason, 0, sizeof out->report->by_reason);
	out->report->waiting = (uint32_t)sched->ranked->count;
	for (size_t i = 0; i < sched->ranked->count; i++) {
		struct waiter *w = sched->ranked->items[i];
		out->report->by_reason[w->reason]++;
		wake_by(picture->time, w->first_seen + TELL_AFTER_MS);
		if (worth_telling(picture->book, w, now)) {
			report_pending(sched, w, now, out);
		}
		report_bare(picture, w, now, out);
		/* Names of nodes die with the snapshot. */
		w->miss.best_node = NULL;
		w->passed.kept_for = 0;
	}
	for (size_t i = 0; i < picture->book->waiters.count; i++) {
		report_placed(picture, picture->book->waiters.items[i], out);
	}
	correct_placed(picture, now, out);
	out->report->granted_milli = 0;
	vec_for_each (const struct place_gpu, g, &picture->snap.gpus) {
		out->report->granted_milli +=
			g->state == GPU_OPENING ? 0 : MODEL_GPU_MILLI - g->free_milli;
	}
}
