/* What admission will say of the next pod of a workload: asked before one goes, for an eviction
 * after which it stays whole is for nothing, and one after which it is refused is a replica less.
 *
 * The next pod is like the one that was made last, without what the API server, the scheduler and
 * the webhook did to that one. What neither shows, the template does: arguments, variables,
 * privileges. That is judged when the owner is read (roll_record.c), and only the reason is
 * kept. */
#include "next_pod.h"

#include "base/number.h"
#include "rollout_input.h"
#include "rollouts/roll_record.h"
#include "owner/groups.h"
#include "owner/podgroups.h"
#include "size/admit.h"
#include "size/explain.h"
#include "world/sightings.h"

/* C1: no configuration of ours sees pods there, or in our own namespace. */
#define UNSEEN	     "kube-system"
#define SENTENCE_MAX 512
/* Sums of people's figures must not overflow. */
#define QUOTA_MAX (INT64_MAX / 4)

/* One workload, asked about once. */
struct next {
	const struct sized_workload *x;
	const struct decision *d;
	const struct rollout_input *asked;
	const struct world_pod *like;
	const struct world_namespace *space; /* NULL: not known, like */
	const struct namespace *ns;	     /* this */
	struct pod pod;			     /* as it will be, with */
	struct container gpu;		     /* that container alone */
	struct workload workload;
};

static const char *sentence_whole(
	struct arena *a, enum reason reason, const struct explain_facts *facts)
{
	CLEANUP(str_finish) struct str text = STR_INIT(SENTENCE_MAX);
	explain(&text, reason, facts);
	return arena_printf(
		a, "the next one stays whole, %s: %s", reason_name(reason), str_text(&text));
}

/* --- who comes --- */

/* What was written so that a runtime gives it its GPU is the engine's. */
static void copy_notes(const struct pairs *from, struct arena *a, struct pairs *ret)
{
	*ret = (struct pairs){ARENA_ARRAY(a, struct pair, from->count + 1), 0};
	for (uint32_t i = 0; i < from->count; i++) {
		if (!view_starts_with(view_of(from->items[i].key), NAME_CDI_PREFIX)) {
			ret->items[ret->count++] = from->items[i];
		}
	}
}

static int64_t gpu_count_of(const struct world_gpu *g)
{
	int64_t n = g->class == WORLD_TENANT ? g->devices : g->gpus;
	return n > 1 ? n : 1;
}

static void imagine(struct next *n, const struct pod *like, struct arena *a)
{
	n->gpu = (struct container){
		.name = text_or(like->gpu_container, "?"), .gpus = gpu_count_of(n->like->gpu)};
	n->pod = *like;
	n->pod.node = NULL;
	n->pod.gate_count = 0;
	n->pod.containers = &n->gpu;
	n->pod.container_count = 1;
	copy_notes(&like->notes, a, &n->pod.notes);
	workload_of(n->d->config->groups, n->d->config->owners, &n->pod, a, &n->workload);
}

/* --- what it is told --- */

/* C1. What the configuration says beyond that is asked. */
static bool is_seen(const struct next *n)
{
	const struct sizer_admission *port = &n->d->config->admission;
	const char *name = n->x->key.ns;
	if (text_equals(name, NAME_NAMESPACE) || text_equals(name, UNSEEN)) {
		return false;
	}
	return port->sees == NULL || n->ns == NULL || port->sees(port->data, n->ns);
}

static struct admit_verdict admit_next(
	const struct next *n, struct unfit_tally *unshared, struct arena *a)
{
	const struct sizer_config *config = n->d->config;
	const struct sizer_admission *port = &config->admission;
	const struct sized_pod *newest = n->x->newest;
	const struct world_namespace *home = world_namespace_find(n->d->world, NAME_NAMESPACE);
	struct admit_input in = {.pod = &n->pod,
		.ns = n->ns,
		.home = home != NULL && home->known ? &home->noun : NULL,
		.schedulers = config->schedulers,
		.scheduler_count = config->scheduler_count,
		.limits_gpus = n->space != NULL && n->space->gpu_limits > 0,
		.zero_quota = world_zero_quota(n->d->world, &n->pod),
		.meets_others = world_meets_others(n->d->world, &n->pod),
		.basic_group = podgroups_frees(config->pod_groups, &n->pod),
		.workload = &n->workload,
		.recommendation =
			arena_printf(a, "%s@%lld", n->x->row.name, (long long)n->x->revision),
		.count_max = MODEL_GPU_COUNT_MAX,
		.context_mib = port->context_mib,
		.mps_unlabelled = port->mps_unlabelled,
		.notes_names = port->notes_names};
	in.policies.items = world_policies(n->d->world, &in.policies.count);
	if (newest->feed_count == 1) {
		in.target_milli = newest->feeds[0].container->in_force.milli;
		in.target_mib = newest->feeds[0].container->in_force.mib;
	}
	struct admit_verdict v = admit_judge(&in);
	bool shared = v.convert || v.reason == REASON_NOT_SYNCED;
	if (shared && port->unshared != NULL && port->unshared(port->data, &n->pod, unshared)) {
		in.unshared = unshared;
		v = admit_judge(&in);
	}
	return v;
}

/* --- its place in quotas --- */

/* The least that one of those frees who are to go. */
static int64_t freed(const struct next *n)
{
	int64_t least = INT64_MAX;
	for (uint32_t i = 0; i < n->asked->ask.pod_count; i++) {
		const struct world_pod *wp = world_pod_by_uid(n->d->world, n->asked->pods[i].uid);
		if (n->asked->pods[i].up_to_date || wp == NULL) {
			continue;
		}
		const struct world_gpu *g = wp->gpu;
		int64_t milli = g->class == WORLD_TENANT ? g->milli : MODEL_GPU_MILLI;
		milli = milli < QUOTA_MAX / MODEL_GPU_COUNT_MAX ? milli * gpu_count_of(g) : 0;
		least = smaller_of(milli, least);
	}
	return least != INT64_MAX ? least : 0;
}

/* C7: the engine would keep it waiting for as long as that is so. */
static const char *without_quota(const struct next *n, int64_t milli, struct arena *a)
{
	struct quota_subject who = quota_subject_of(&n->pod);
	for (size_t i = 0; n->space != NULL && i < n->space->quotas.count; i++) {
		const struct world_quota *q = n->space->quotas.items[i];
		int64_t whole =
			smaller_of(q->whole_gpus, QUOTA_MAX / MODEL_GPU_MILLI) * MODEL_GPU_MILLI;
		int64_t then = whole + smaller_of(q->granted_milli, QUOTA_MAX) - freed(n) + milli;
		if (quota_covers(&q->noun, &who) && then > q->noun.hard_milli) {
			return arena_printf(a,
				"the ResourceQuota %s would leave no room for the next one",
				q->noun.name);
		}
	}
	return NULL;
}

/* --- the answer --- */

const char *next_pod_stays_whole(const struct sized_workload *x, const struct decision *d,
	const struct pod *like, const struct rollout_input *asked, struct arena *a)
{
	const struct world_namespace *space = world_namespace_find(d->world, x->key.ns);
	struct next n = {.x = x,
		.d = d,
		.asked = asked,
		.like = world_pod_by_uid(d->world, x->newest->uid),
		.space = space,
		.ns = space != NULL && space->known ? &space->noun : NULL};
	const struct explain_facts nothing = {.name = NULL};
	if (like->owner.kind == NULL) {
		return NULL; /* there is no next one */
	}
	imagine(&n, like, a);
	if (!is_seen(&n)) {
		return arena_printf(a,
			"the next one stays whole: the webhook does not see namespace %s",
			x->key.ns);
	}
	struct unfit_tally unshared;
	const struct admit_verdict v = admit_next(&n, &unshared, a);
	/* A target may be the whole GPU. What is said of the namespace by who does not know it is
	 * said by other questions, and of gangs as well. */
	if (!v.convert && v.reason != REASON_NOT_SYNCED && v.reason != REASON_GANG &&
		(v.reason != REASON_WHOLE || ask_is_present(&v.ask))) {
		return sentence_whole(a, v.reason, &v.facts);
	}
	uint8_t told = REASON_NONE;
	if (x->roll != NULL) {
		const struct owner_seen *seen = &x->roll->seen;
		told = v.isolation != ISOLATION_NONE ? seen->whole_walled : seen->whole;
	}
	if (told != REASON_NONE) {
		return sentence_whole(a, (enum reason)told, &nothing);
	}
	return without_quota(&n, v.milli * n.gpu.gpus, a);
}
