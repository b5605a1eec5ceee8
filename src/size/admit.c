/* The verdict. Six groups of questions, asked in this order; the first reason found is the answer:
 *
 *   will     what people and policies want of this pod
 *   shape    what the pod itself makes impossible (C4)
 *   cluster  what its namespace makes impossible (C7)
 *   value    what it asks for, read and clamped (C6)
 *   places   whether there are nodes for it, and they can be told apart (C34, C36)
 *   now      whether anyone would place it (C2)
 *
 * The last group comes last so that its counters mean "would have been converted". */
#include "size/admit.h"

#include "size/builtin.h"
#include "size/framework_detection.h"
#include "size/managed.h"

/* What is looked for in containers. */
enum trait {
	ASKS_FOR_GPUS = 1 << 0,
	HAS_MIG = 1 << 1,
	HAS_CLAIMS = 1 << 2,
	BAD_GPUS = 1 << 3,
	PRIVILEGED = 1 << 4, /* and asks for GPUs, as */
	GPU_INIT = 1 << 5,   /* this */
	OWN_DEVICES = 1 << 6,
};

static bool has_trait(const struct container *c, enum trait trait)
{
	bool gpu = c->gpus > 0;
	/* In the GPU container a person's `none` or `void` is a device choice like any other. In
	 * the others it is what we would write ourselves. */
	bool devices = c->visible_devices == ENV_OTHER || c->visible_devices == ENV_VALUE_FROM ||
		       (gpu && c->visible_devices == ENV_NONE_OR_VOID);
	int traits = (gpu ? ASKS_FOR_GPUS : 0) | (c->mig ? HAS_MIG : 0) |
		     (c->claims ? HAS_CLAIMS : 0) | (c->bad_gpus ? BAD_GPUS : 0) |
		     (gpu && c->privileged ? PRIVILEGED : 0) | (gpu && c->init ? GPU_INIT : 0) |
		     (devices ? OWN_DEVICES : 0);
	return (traits & (int)trait) != 0;
}

static const struct container *first(const struct pod *p, enum trait trait, uint32_t from)
{
	for (uint32_t i = from; i < p->container_count; i++) {
		if (has_trait(&p->containers[i], trait)) {
			return &p->containers[i];
		}
	}
	return NULL;
}

/* The name of what is wrong goes with the reason. */
static enum reason reason_named(struct explain_facts *f, enum reason reason, const char *name)
{
	f->name = name;
	return reason;
}

static enum reason judge_will(const struct admit_input *in, struct admit_verdict *v)
{
	const struct pod *p = in->pod;
	if (in->unreadable) {
		return REASON_NOT_OURS;
	}
	if (first(p, ASKS_FOR_GPUS, 0) == NULL && first(p, HAS_MIG, 0) == NULL) {
		return pod_has_gate(p, NAME_GATE) ? REASON_NOT_OURS : REASON_NO_GPU;
	}
	if (v->choice.excluded) {
		return REASON_EXCLUDED;
	}
	if (v->choice.reason != REASON_NONE) {
		return reason_named(&v->facts, v->choice.reason, v->choice.missing);
	}
	if (v->choice.mode == MODE_DISABLED) {
		return reason_named(&v->facts, REASON_DISABLED, v->choice.policy->name);
	}
	if (ask_is_present(&v->ask)) {
		return REASON_NONE;
	}
	if (in->recommendation == NULL) {
		return REASON_NO_RECOMMENDATION;
	}
	if (v->choice.mode != MODE_AUTOMATE) {
		return reason_named(&v->facts, REASON_NOT_AUTOMATED, v->choice.policy->name);
	}
	const char *kind =
		in->workload != NULL ? in->workload->key.kind : owner_top_of(p, NULL).kind;
	if (policy_never_sizes(v->choice.policy, kind)) {
		return reason_named(&v->facts, REASON_NEVER_SIZED, v->choice.policy->name);
	}
	bool is_owned = in->workload != NULL ? in->workload->key.name != NULL : kind != NULL;
	if (p->owner.uid != NULL && !is_owned) {
		return reason_named(&v->facts, REASON_OWNER_UNKNOWN, p->owner.uid);
	}
	return REASON_NONE;
}

static bool scheduler_is_allowed(const struct admit_input *in)
{
	const char *name =
		text_empty(in->pod->scheduler) ? "default-scheduler" : in->pod->scheduler;
	if (in->scheduler_count == 0) {
		return text_equals(name, "default-scheduler");
	}
	for (uint32_t i = 0; i < in->scheduler_count; i++) {
		if (text_equals(in->schedulers[i], name)) {
			return true;
		}
	}
	return false;
}

static bool is_bare(const struct pod *p)
{
	return p->owner.kind == NULL && p->owner.uid == NULL;
}

/* A queue counts what the pod asks for, whoever asks for a share. Ranks of a parallel job may end
 * up on one GPU, which NCCL refuses: they need the word of who wrote them. */
static enum reason judge_managed(const struct pod *p, struct admit_verdict *v)
{
	const char *by = managed_queue(p);
	if (by != NULL) {
		return reason_named(&v->facts, REASON_QUEUE, by);
	}
	by = v->ask.is_own ? NULL : managed_rank(p, first(p, ASKS_FOR_GPUS, 0));
	return by != NULL ? reason_named(&v->facts, REASON_RANK, by) : REASON_NONE;
}

static enum reason pod_refusal(const struct admit_input *in, struct admit_verdict *v)
{
	const struct pod *p = in->pod;
	if (!scheduler_is_allowed(in)) {
		return reason_named(&v->facts, REASON_SCHEDULER, p->scheduler);
	}
	if (!text_empty(p->node)) {
		return reason_named(&v->facts, REASON_NODE_NAME, p->node);
	}
	if (p->is_static) {
		return REASON_STATIC_POD;
	}
	if (is_bare(p) && !v->ask.is_own) {
		return REASON_BARE_POD;
	}
	if (is_bare(p) && in->declared != NULL) {
		return reason_named(&v->facts, REASON_DECLARED, in->declared);
	}
	if (p->too_complex) {
		return REASON_TOO_COMPLEX;
	}
	const char *gang = admit_gang(p, in->basic_group);
	if (gang != NULL || in->in_group) {
		return reason_named(&v->facts, REASON_GANG, text_or(gang, "a group annotation"));
	}
	return judge_managed(p, v);
}

static enum reason judge_containers(const struct admit_input *in, struct admit_verdict *v)
{
	static const struct {
		enum reason reason;
		enum trait trait;
	} rules[] = {
		{REASON_BAD_AMOUNT, BAD_GPUS},
		{REASON_PRIVILEGED, PRIVILEGED},
		{REASON_OWN_DEVICES, OWN_DEVICES},
		{REASON_GPU_INIT_CONTAINER, GPU_INIT},
	};
	const struct pod *p = in->pod;
	for (size_t i = 0; i < COUNT_OF(rules); i++) {
		const struct container *c = first(p, rules[i].trait, 0);
		if (c != NULL) {
			return reason_named(&v->facts, rules[i].reason, c->name);
		}
		if (rules[i].reason == REASON_OWN_DEVICES) {
			for (uint32_t n = 0; n < p->notes.count; n++) {
				const char *key = p->notes.items[n].key;
				if (view_starts_with(view_of(key), NAME_CDI_PREFIX)) {
					return reason_named(&v->facts, REASON_OWN_DEVICES, key);
				}
			}
		}
	}
	return REASON_NONE;
}

static const char *pod_security_level(const struct namespace *ns)
{
	return ns != NULL ? pairs_get(&ns->labels, LABEL_POD_SECURITY) : NULL;
}

/* A client of MPS mounts directories of the node, which Pod Security refuses from the level
 * baseline on: such a pod would never be created. A cluster may enforce that, or forbid them by
 * other means, where a namespace has no label; so nothing but the word of the namespace's owner
 * counts.
 *
 * The daemon's pod is in the namespace of capacity pods, which forbids it where it enforces more:
 * the overlay `restricted`. */
static void settle_isolation(const struct admit_input *in, struct admit_verdict *v)
{
	const char *level = pod_security_level(in->home);
	bool asked = v->choice.policy->isolation == ISOLATION_MPS;
	bool home = level != NULL && !text_equals(level, "privileged");
	level = home ? level : pod_security_level(in->ns);
	bool forbidden = level != NULL ? !text_equals(level, "privileged") : !in->mps_unlabelled;
	v->home_forbids_mps = asked && home;
	v->isolation = asked && !forbidden ? ISOLATION_MPS : ISOLATION_NONE;
	v->forbids_mps = asked && forbidden ? text_or(level, "") : NULL;
}

/* MPS would stop it, and it would end: what it reads of the memory under that limit is not known
 * (gpu-truth, R8). So there it is left whole, whatever it could be told. */
static enum reason judge_framework(const struct container *gpu, struct admit_verdict *v)
{
	struct telling t = telling_of(gpu);
	v->framework = t.tells;
	v->script = t.script;
	bool walled = v->isolation != ISOLATION_NONE;
	if (t.name == NULL || (t.tells != NULL && !walled)) {
		return REASON_NONE;
	}
	if (t.pinned == NULL || walled) {
		return reason_named(&v->facts, REASON_PREALLOCATES, t.name);
	}
	v->facts.expected = t.name;
	return reason_named(&v->facts, REASON_USER_PINNED, t.pinned);
}

static enum reason judge_gpu_container(const struct admit_input *in, struct admit_verdict *v)
{
	const struct pod *p = in->pod;
	const struct container *gpu = first(p, ASKS_FOR_GPUS, 0);
	if (gpu != NULL) {
		v->container = (uint32_t)(gpu - p->containers);
		const struct container *second = first(p, ASKS_FOR_GPUS, v->container + 1);
		if (second != NULL) {
			return reason_named(&v->facts, REASON_SEVERAL_GPU_CONTAINERS, second->name);
		}
	}
	const struct container *c = first(p, HAS_MIG, 0);
	if (c != NULL) {
		return reason_named(&v->facts, REASON_MIG, c->name);
	}
	c = first(p, HAS_CLAIMS, 0);
	if (c != NULL || p->has_claims) {
		return reason_named(&v->facts, REASON_RESOURCE_CLAIMS, c != NULL ? c->name : NULL);
	}
	if (in->notes_names && gpu != NULL && strlen(gpu->name) > INJECT_NOTED_NAME_MAX) {
		v->facts.limit = INJECT_NOTED_NAME_MAX;
		return reason_named(&v->facts, REASON_LONG_NAME, gpu->name);
	}
	settle_isolation(in, v);
	return judge_framework(gpu, v);
}

/* What follows from the other dimension is bounded from above where the GPU is known (place_share).
 */
static void settle_share(const struct admit_input *in, struct admit_verdict *v)
{
	const struct policy *p = v->choice.policy;
	bool asked = ask_is_present(&v->ask);
	int64_t milli = asked ? v->ask.milli : in->target_milli;
	int64_t mem_mib = asked ? v->ask.mem_mib : in->target_mib;
	v->milli = milli;
	v->mem_mib = mem_mib;
	if (!asked && milli == MODEL_GPU_MILLI) {
		return; /* a conversion was undone: bounds are of shares, and it gets none */
	}
	int64_t least =
		v->framework != NULL ? framework_least_mib(in->context_mib) : in->context_mib;
	policy_bound_share(p, least, &v->milli, &v->mem_mib);
	v->clamped = asked && (v->milli != milli || v->mem_mib != mem_mib);
	v->facts.want_milli = v->milli;
	v->facts.want_mib = v->mem_mib;
}

static enum reason judge_value(const struct admit_input *in, struct admit_verdict *v)
{
	const struct container *gpu = &in->pod->containers[v->container];
	if (v->ask.bad_count > 0) {
		v->facts.value = v->ask.bad[0].value;
		v->facts.expected = v->ask.bad[0].expected;
		return reason_named(&v->facts, REASON_BAD_VALUE, v->ask.bad[0].key);
	}
	v->count = gpu->gpus;
	v->facts.count = gpu->gpus;
	if (v->ask.count != 0 && v->ask.count != gpu->gpus) {
		v->facts.limit = v->ask.count;
		return reason_named(&v->facts, REASON_COUNT_MISMATCH, gpu->name);
	}
	settle_share(in, v);
	if (v->milli == MODEL_GPU_MILLI) {
		return REASON_WHOLE;
	}
	/* An MPS client has one pipe directory, so it can be a client of one GPU only. And what
	 * was measured of several GPUs is recommended, but nobody's wish. */
	bool one = v->isolation == ISOLATION_MPS || !ask_is_present(&v->ask);
	v->facts.limit = one || in->count_max < 1 ? 1 : in->count_max;
	return gpu->gpus > v->facts.limit ? REASON_MULTI_GPU : REASON_NONE;
}

static enum reason judge_places(const struct admit_input *in, struct admit_verdict *v)
{
	const struct pod *p = in->pod;
	/* Once it is pinned the scheduler cannot keep what we did not judge. Who asks for a share
	 * on the pod itself wants that first; what a namespace gives to all of its pods says
	 * nothing of this one. */
	if (!v->ask.is_own && (in->meets_others || p->has_pod_affinity || p->has_spread)) {
		return REASON_NEIGHBOURS;
	}
	v->facts.unfit = in->unshared;
	return in->unshared != NULL ? REASON_NO_SHARE_NODE : REASON_NONE;
}

static enum reason judge_now(const struct admit_input *in, struct admit_verdict *v)
{
	(void)v;
	/* Without the namespace we cannot know whether its owner excluded it. */
	return in->ns == NULL && in->cannot == REASON_NONE ? REASON_NOT_SYNCED : in->cannot;
}

static enum reason judge_cluster(const struct admit_input *in, struct admit_verdict *v)
{
	if (in->limits_gpus) {
		return REASON_LIMIT_RANGE;
	}
	/* The API server refuses it then, as it would without us. */
	return in->zero_quota != NULL ? reason_named(&v->facts, REASON_QUOTA_ZERO, in->zero_quota)
				      : REASON_NONE;
}

struct admit_verdict admit_judge(const struct admit_input *in)
{
	static enum reason (*const groups[])(const struct admit_input *in,
		struct admit_verdict *v) = {judge_will, pod_refusal, judge_containers,
		judge_gpu_container, judge_cluster, judge_value, judge_places, judge_now};
	struct policy_subject who = policy_subject_of(in->pod, in->ns);
	if (in->workload != NULL) {
		policy_subject_in(&who, in->workload);
	}
	struct admit_verdict v = {.choice = policy_choose(&in->policies, &who),
		.ask = ask_read(in->pod, in->ns),
		.reason = REASON_NONE};
	for (size_t i = 0; i < COUNT_OF(groups) && v.reason == REASON_NONE; i++) {
		v.reason = groups[i](in, &v);
	}
	v.convert = v.reason == REASON_NONE;
	if (v.convert) {
		v.reason = REASON_CONVERTED;
	}
	return v;
}

/* Whatever namespace it is in, and whatever that asks for. */
enum reason admit_template(
	const struct admit_input *in, enum isolation isolation, struct explain_facts *ret_facts)
{
	static enum reason (*const groups[])(const struct admit_input *in,
		struct admit_verdict *v) = {pod_refusal, judge_containers, judge_gpu_container};
	struct policy policy = *policy_builtin();
	struct pod pod = *in->pod;
	struct admit_input made = *in;
	struct admit_verdict v = {.choice = {.policy = &policy},
		.ask = ask_read(in->pod, NULL),
		.reason = REASON_NONE};
	policy.isolation = isolation;
	made.ns = made.home = NULL;
	made.mps_unlabelled = true;
	pod.owner = (struct owner){.kind = "ReplicaSet", .uid = "some"};
	made.pod = &pod;
	if (first(&pod, ASKS_FOR_GPUS, 0) == NULL) {
		return REASON_NONE;
	}
	for (size_t i = 0; i < COUNT_OF(groups) && v.reason == REASON_NONE; i++) {
		v.reason = groups[i](&made, &v);
	}
	if (v.reason == REASON_NONE && v.ask.is_own) {
		v.reason = judge_value(&made, &v);
	}
	*ret_facts = v.facts;
	return v.reason;
}

void admit_mutation(const struct admit_input *in, const struct admit_verdict *v, struct arena *a,
	struct mutation *ret_mutation)
{
	ENSURE(v->convert);
	const struct policy *p = v->choice.policy;
	bool mps = v->isolation == ISOLATION_MPS;
	const struct framework *f = v->framework;
	const struct pairs *wanted = &in->runtime_selector;
	const char *class = text_empty(in->pod->runtime_class) ? in->runtime_class : NULL;
	for (uint32_t i = 0; i < wanted->count; i++) {
		const char *own = pairs_get(&in->pod->node_selector, wanted->items[i].key);
		/* The API server merges the class's selector into the pod's, and refuses the pod
		 * where the two contradict each other: then it starts without the class rather than
		 * not at all. */
		if (own != NULL && !text_equals(own, wanted->items[i].value)) {
			class = NULL;
		}
	}
	*ret_mutation = (struct mutation){
		.container = in->pod->containers[v->container].name,
		.milli = v->milli,
		.mem_mib = v->mem_mib,
		.count = v->count,
		.policy_applied =
			arena_printf(a, "%s@%lld", text_or(p->name, ""), (long long)p->generation),
		.recommendation = ask_is_present(&v->ask) ? NULL : in->recommendation,
		.runtime_class = class,
		.isolation = mps		      ? ISOLATION_MPS_TEXT
			     : v->forbids_mps != NULL ? ISOLATION_NONE_TEXT
						      : NULL,
		.env = f != NULL ? f->env
		       : mps	 ? mps_env
				 : tenant_env,
		.env_count = f != NULL ? f->env_count
			     : mps     ? MPS_ENV_COUNT
				       : TENANT_ENV_COUNT,
		.framework = f != NULL ? f->name : NULL,
		.argument = f != NULL ? f->argument : NULL,
		.script = v->script,
		.others = others_env,
		.others_count = OTHERS_ENV_COUNT,
		.mounts = mps ? mps_mounts : NULL,
		.mount_count = mps ? MPS_MOUNTS_COUNT : 0,
	};
}
