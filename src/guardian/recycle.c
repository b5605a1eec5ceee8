/* Tenants that were placed and that the scheduler cannot bind (C21): the node was cordoned or
 * filled between the grant and the binding. The pin cannot be taken back, so the pod is of no use.
 * Where a controller makes another one without counting this one as a failure, it is evicted, and
 * its share is free as soon as it has ended, since it never ran; a Pending pod passes every budget.
 * Anybody else keeps its share and waits, with a reason. Whether a Job counts it is written in the
 * Job, which is read then (jobs.h). */
#include "guardian/recycle.h"

#include "demand/gpu_avoidance.h"
#include "guardian/evict.h"
#include "guardian/jobs.h"
#include "ledger/ledger.h"
#include "owner/owner.h"

#define TELL_EVERY_MS 60000
#define REFUSED_MS    ((int64_t)120000)

static bool is_stuck(const struct world_pod *p)
{
	return !p->gpu->gated && p->gpu->unschedulable && p->node == WORLD_NONE &&
	       p->gpu->capacity_pod != NULL && !p->deleting && !world_pod_terminal(p);
}

static int64_t stuck_since(struct evictions *evictions, const struct world_pod *p)
{
	vec_for_each (struct stuck, s, &evictions->stuck) {
		if (strcmp(s->uid, world_pod_uid(p)) == 0) {
			s->seen = evictions->picture->time->step;
			return s->since;
		}
	}
	struct stuck made = {.uid = xstrdup(world_pod_uid(p)),
		.since = evictions->picture->time->now,
		.seen = evictions->picture->time->step};
	VEC_PUSH(&evictions->stuck, made);
	return made.since;
}

/* The rests of an owner grow so often, and begin anew after such a time without one. */
#define DOUBLED_MOST 6
#define CALM_MS	     ((int64_t)3600000)

static struct recycled *recycled_of(struct evictions *evictions, const char *owner)
{
	vec_for_each (struct recycled, r, &evictions->recycled) {
		if (strcmp(r->owner, owner) == 0) {
			return r;
		}
	}
	return NULL;
}

static void recycled_count(struct evictions *evictions, const char *owner, int64_t since)
{
	struct recycled *r = recycled_of(evictions, owner);
	if (r == NULL) {
		struct recycled made = {.owner = xstrdup(owner), .round_at = INT64_MIN};
		VEC_PUSH(&evictions->recycled, made);
		r = &evictions->recycled.items[evictions->recycled.count - 1];
	}
	if (since > r->round_at) {
		r->rounds++;
		r->round_at = evictions->picture->time->now;
	}
	r->last_at = evictions->picture->time->now;
}

static void recycled_sweep(struct evictions *evictions)
{
	for (size_t i = evictions->recycled.count; i-- > 0;) {
		if (evictions->picture->time->now - evictions->recycled.items[i].last_at >=
			CALM_MS) {
			free(evictions->recycled.items[i].owner);
			VEC_REMOVE_SWAP(&evictions->recycled, i);
		}
	}
}

/* What cannot be judged before the pin may refuse a pod's successors one after the other: those are
 * given twice as long each time. */
static int64_t rest_of(struct evictions *evictions, const char *owner, int64_t since)
{
	const struct recycled *r = recycled_of(evictions, owner);
	uint32_t doubled = r == NULL ? 0 : since > r->round_at ? r->rounds : r->rounds - 1;
	return evictions->picture->cfg->stuck_ms
	       << (doubled < DOUBLED_MOST ? doubled : DOUBLED_MOST);
}

/* For so long the next pods of the workload are not pinned to the node that refused this one. */
static int64_t refused_ms(struct evictions *evictions, const char *owner)
{
	const struct recycled *r = recycled_of(evictions, owner);
	uint32_t doubled = r != NULL ? r->rounds - 1 : 0;
	return REFUSED_MS << (doubled < DOUBLED_MOST ? doubled : DOUBLED_MOST);
}

static struct explain_facts facts_of(const struct book *book, const struct world_pod *p)
{
	const struct holder *h = holder_of_tenant(book, p->gpu);
	return (struct explain_facts){.want_milli = p->gpu->milli,
		.want_mib = p->gpu->mem_mib,
		.gpu = p->gpu->uuid,
		.best_node = h != NULL ? h->node : NULL};
}

/* The condition stays True, for the pod has what Placed speaks of; its reason is what is new. */
static void tell(const struct picture *picture, const struct world_pod *p, enum reason reason,
	const struct explain_facts *facts, struct emitter *out)
{
	struct waiter *w = waiter_touch(picture->book, world_pod_uid(p), picture->time->now);
	bool too_soon =
		w->condition_at != 0 && picture->time->now - w->condition_at < TELL_EVERY_MS;
	if (p->gpu->told == reason || too_soon) {
		return;
	}
	CLEANUP(str_finish) struct str text = STR_INIT(1024);
	explain(&text, reason, facts);
	struct action *a = emit_about(out, ACTION_CONDITION, about_pod(p));
	a->is_true = true;
	a->reason = reason;
	a->message = arena_strdup(&out->plan->arena, str_text(&text));
	w->condition_at = picture->time->now;
	w->condition_reason = reason;
}

/* It has been stuck for long enough to do something about it. */
static void recycle(struct evictions *evictions, struct gpu_avoidances *avoidances,
	const struct world_pod *p, int64_t since, struct emitter *out)
{
	const struct picture *picture = evictions->picture;
	CLEANUP(arena_finish) struct arena arena = {.block_bytes = 1024};
	const struct pod pod = pod_of(p, &arena);
	const char *owner = text_or(pod.owner.uid, "");
	int64_t rest = rest_of(evictions, owner, since);
	wake_by(picture->time, since + rest);
	enum job_says job = job_owns(&pod) ? job_ask(evictions, &pod, out) : JOB_SAYS_MAX;
	if (job == JOB_ASKED) {
		return;
	}
	struct explain_facts facts = facts_of(picture->book, p);
	facts.waited_s = (picture->time->now - since) / 1000;
	struct evict_why why = {.reason = REASON_RECYCLED, .facts = facts, .as_judged = true};
	bool goes = picture->time->now - since >= rest &&
		    (owner_makes_anew(&pod.owner) || job == JOB_SPARES);
	enum evict_state state = goes ? evict_tenant(evictions, p, &why, out) : EVICT_HELD;
	if (state == EVICT_SENT) {
		recycled_count(evictions, owner, since);
		avoidance_of_node(avoidances, &pod, facts.best_node, refused_ms(evictions, owner));
	}
	facts.name = job == JOB_COUNTS ? pod.owner.name : NULL;
	if (state == EVICT_HELD || state == EVICT_REFUSED) {
		tell(picture, p, REASON_PINNED_UNSCHEDULABLE, &facts, out);
	}
}

static void look_at(struct evictions *evictions, struct gpu_avoidances *avoidances,
	const struct world_pod *p, struct emitter *out)
{
	const struct picture *picture = evictions->picture;
	int64_t since = stuck_since(evictions, p);
	if (picture->time->now - since < picture->cfg->stuck_ms) {
		wake_by(picture->time, since + picture->cfg->stuck_ms);
	} else {
		recycle(evictions, avoidances, p, since, out);
	}
}

void recycle_tenants(
	struct evictions *evictions, struct gpu_avoidances *avoidances, struct emitter *out)
{
	const struct picture *picture = evictions->picture;
	recycled_sweep(evictions);
	vec_for_each (const uint32_t, i, &picture->unsettled) {
		const struct world_pod *p = world_class_at(picture->world, WORLD_TENANT, *i);
		if (is_stuck(p)) {
			look_at(evictions, avoidances, p, out);
		} else if (p->gpu->told == REASON_PINNED_UNSCHEDULABLE && !p->gpu->gated &&
			   p->node != WORLD_NONE && !world_pod_terminal(p)) {
			struct explain_facts facts = facts_of(picture->book, p);
			tell(picture, p, REASON_PLACED, &facts, out);
		}
	}
}
