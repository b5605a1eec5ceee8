/* One row a kind: where it is watched, what of it is kept, how it is decoded. */
#include "kube/feeds.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/log.h"
#include "codec/budget.h"
#include "codec/gpuslice.h"
#include "codec/group.h"
#include "codec/limitrange.h"
#include "codec/namespace.h"
#include "codec/node.h"
#include "codec/pod.h"
#include "codec/policy.h"
#include "codec/quota.h"
#include "codec/recommendation.h"
#include "codec/scaler.h"
#include "kube/reflector.h"
#include "model/names.h"

struct feed {
	struct feeds *all; /* borrowed */
	enum kind kind;
	struct reflector *reflector; /* owned; NULL: there is no watch, or not yet */
	/* of those that need not be there */
	uint64_t call; /* whether the API server has them; 0: none under way */
	int64_t ask_at;
	bool refused; /* it does not, or does not let us see them */
};

struct feeds {
	struct feed items[KIND_COUNT];
	bool (*on_change)(void *data, const struct change *c);
	void *data;
	struct arena arena; /* of one object */
	struct kube *kube;  /* borrowed */
	uint64_t seed;
};

/* What else acts on workloads. */
static int decode_around(
	struct feed *f, const char *json, size_t n, struct change *c, struct fault *fault)
{
	struct arena *a = &f->all->arena;
	if (f->kind == KIND_BUDGET) {
		struct budget *budget = ARENA_NEW(a, struct budget);
		c->budget = budget;
		return budget_decode(json, n, a, budget, fault);
	}
	struct scaler *scaler = ARENA_NEW(a, struct scaler);
	c->scaler = scaler;
	return f->kind == KIND_SCALER ? scaler_decode(json, n, a, scaler, fault)
				      : scaled_object_decode(json, n, a, scaler, fault);
}

static int decode(struct feed *f, const char *json, size_t n, struct change *c, struct fault *fault)
{
	struct arena *a = &f->all->arena;
	switch (f->kind) {
	case KIND_POD: {
		struct pod *pod = ARENA_NEW(a, struct pod);
		c->pod = pod;
		return pod_decode(json, n, a, pod, fault);
	}
	case KIND_NODE: {
		struct node *node = ARENA_NEW(a, struct node);
		c->node = node;
		return node_decode(json, n, a, node, fault);
	}
	case KIND_POLICY: {
		struct policy *policy = ARENA_NEW(a, struct policy);
		c->policy = policy;
		return policy_decode(json, n, a, policy, fault);
	}
	case KIND_NAMESPACE: {
		struct namespace *ns = ARENA_NEW(a, struct namespace);
		c->namespace = ns;
		return namespace_decode(json, n, a, ns, fault);
	}
	case KIND_LIMIT_RANGE: {
		struct limit_range *range = ARENA_NEW(a, struct limit_range);
		c->limit_range = range;
		return limit_range_decode(json, n, a, range, fault);
	}
	case KIND_QUOTA: {
		struct quota *quota = ARENA_NEW(a, struct quota);
		c->quota = quota;
		return quota_decode(json, n, a, quota, fault);
	}
	case KIND_SLICE: {
		struct gpu_slice *slice = ARENA_NEW(a, struct gpu_slice);
		c->slice = slice;
		return gpu_slice_decode(json, n, a, slice, fault);
	}
	case KIND_RECOMMENDATION: {
		struct recommendation *recommendation = ARENA_NEW(a, struct recommendation);
		c->recommendation = recommendation;
		return recommendation_decode(json, n, a, recommendation, fault);
	}
	case KIND_GROUP: {
		struct workload_group *group = ARENA_NEW(a, struct workload_group);
		c->group = group;
		return group_decode(json, n, a, group, fault);
	}
	case KIND_SCALER:
	case KIND_SCALED_OBJECT:
	case KIND_BUDGET:
		return decode_around(f, json, n, c, fault);
	case KIND_CLAIM:
	case KIND_STATE:
	case KIND_COUNT:
		break;
	}
	BUG("no such kind");
}

static bool tell(struct feed *f, struct change c)
{
	c.kind = f->kind;
	return f->all->on_change(f->all->data, &c);
}

static void on_begin(void *data)
{
	tell(data, (struct change){.type = CHANGE_RELIST_BEGIN});
}

static bool on_object(void *data, const char *json, size_t n)
{
	struct feed *f = data;
	struct change c = {.type = CHANGE_SET};
	struct fault fault;
	int result = decode(f, json, n, &c, &fault);
	if (result == 0 && !tell(f, c)) {
		result = fault_set(&fault, FAULT_LIMIT, "it is too large to be kept");
	}
	if (result < 0) {
		log_warn("an object cannot be read", LOG_S("kind", kind_name(f->kind)),
			LOG_F(&fault));
	}
	arena_reset(&f->all->arena);
	return result == 0;
}

static void on_gone(void *data, const char *ns, const char *name, const char *uid)
{
	tell(data, (struct change){.type = CHANGE_GONE, .ns = ns, .name = name, .uid = uid});
}

static void on_unread(void *data, const char *ns, const char *name)
{
	tell(data, (struct change){.type = CHANGE_KEEP, .ns = ns, .name = name});
}

static void on_end(void *data, bool sweep)
{
	tell(data, (struct change){.type = CHANGE_RELIST_END, .no_sweep = !sweep});
}

static void on_stale(void *data, bool stale)
{
	tell(data, (struct change){.type = stale ? CHANGE_STALE : CHANGE_FRESH});
}

static const struct reflector_events feed_events = {.on_begin = on_begin,
	.on_object = on_object,
	.on_gone = on_gone,
	.on_unread = on_unread,
	.on_end = on_end,
	.on_stale = on_stale};

/* --- those that need not be there: ResourceSlices (from 1.34 on), ours of which somebody may have
 * left a CRD out, KEDA's, and what somebody may not let us see --- */

#define SLICES_API   "resource.k8s.io/v1"
#define SCALERS_API  "autoscaling/v2"
#define KEDA_API     "keda.sh/v1alpha1"
#define BUDGETS_API  "policy/v1"
#define OUR_API	     NAME_GROUP "/" NAME_VERSION
#define ASK_EVERY_MS 300000
#define ASK_AGAIN_MS 10000

static const struct optional {
	enum kind kind;
	const char *ask; /* answered with 404 where they are not */
	struct reflector_kind reflector;
	const struct slice_keep *(*projection)(void);
} optionals[] = {
	{KIND_SLICE, "/apis/" SLICES_API,
		{.name = "resourceslices",
			.group_version = SLICES_API,
			.resource = "resourceslices",
			.field_selector = GPU_SLICE_SELECTOR},
		gpu_slice_projection},
	{KIND_RECOMMENDATION, "/apis/" OUR_API "/gpurecommendations?limit=1",
		{.name = "gpurecommendations",
			.group_version = OUR_API,
			.resource = "gpurecommendations"},
		recommendation_projection},
	{KIND_GROUP, "/apis/" OUR_API "/gpuworkloadgroups?limit=1",
		{.name = "gpuworkloadgroups",
			.group_version = OUR_API,
			.resource = "gpuworkloadgroups"},
		group_projection},
	{KIND_SCALER, "/apis/" SCALERS_API "/horizontalpodautoscalers?limit=1",
		{.name = "horizontalpodautoscalers",
			.group_version = SCALERS_API,
			.resource = "horizontalpodautoscalers"},
		scaler_projection},
	{KIND_SCALED_OBJECT, "/apis/" KEDA_API "/scaledobjects?limit=1",
		{.name = "scaledobjects", .group_version = KEDA_API, .resource = "scaledobjects"},
		scaled_object_projection},
	{KIND_BUDGET, "/apis/" BUDGETS_API "/poddisruptionbudgets?limit=1",
		{.name = "poddisruptionbudgets",
			.group_version = BUDGETS_API,
			.resource = "poddisruptionbudgets"},
		budget_projection},
};

static void start(struct feed *f, const struct reflector_kind *kind)
{
	struct reflector_options options = {.seed = f->all->seed};
	f->reflector = reflector_create(f->all->kube, kind, &options, &feed_events, f);
}

static void on_asked(void *data, const struct kube_answer *answer)
{
	struct feed *f = data;
	f->call = 0;
	if (answer->fault.kind != FAULT_NONE) {
		bool absent = answer->fault.kind == FAULT_NOT_FOUND;
		f->refused = absent || answer->fault.kind == FAULT_DENIED;
		f->ask_at = clock_mono(kube_clock(f->all->kube)) +
			    (absent ? ASK_EVERY_MS : ASK_AGAIN_MS);
		return;
	}
	for (size_t i = 0; i < COUNT_OF(optionals); i++) {
		if (optionals[i].kind == f->kind) {
			struct reflector_kind kind = optionals[i].reflector;
			kind.projection = optionals[i].projection();
			start(f, &kind);
		}
	}
}

/* A watch of what is not there would fail every ten seconds. */
static void ask_for_optionals(struct feeds *all, int64_t now)
{
	for (size_t i = 0; i < COUNT_OF(optionals); i++) {
		struct feed *f = &all->items[optionals[i].kind];
		struct kube_request request = {.method = WIRE_GET, .path = optionals[i].ask};
		if (f->reflector == NULL && f->call == 0 && now >= f->ask_at) {
			f->call = kube_call(all->kube, &request, on_asked, f);
		}
	}
}

static int64_t asking_deadline(const struct feeds *all)
{
	int64_t at = TIME_NEVER;
	for (size_t i = 0; i < COUNT_OF(optionals); i++) {
		const struct feed *f = &all->items[optionals[i].kind];
		if (f->reflector == NULL && f->call == 0) {
			at = time_min(at, f->ask_at);
		}
	}
	return at;
}

/* --- all of them --- */

struct feeds *feeds_create(struct kube *kube, uint64_t seed,
	bool (*on_change)(void *data, const struct change *c), void *data)
{
	const struct reflector_kind kinds[KIND_REQUIRED] = {
		[KIND_POD] = {.name = "pods",
			.group_version = "v1",
			.resource = "pods",
			.projection = pod_projection()},
		[KIND_NODE] = {.name = "nodes",
			.group_version = "v1",
			.resource = "nodes",
			.projection = node_projection()},
		[KIND_POLICY] = {.name = "gpupolicies",
			.group_version = OUR_API,
			.resource = "gpupolicies",
			.projection = policy_projection()},
		[KIND_NAMESPACE] = {.name = "namespaces",
			.group_version = "v1",
			.resource = "namespaces",
			.projection = namespace_projection()},
		[KIND_LIMIT_RANGE] = {.name = "limitranges",
			.group_version = "v1",
			.resource = "limitranges",
			.projection = limit_range_projection()},
		[KIND_QUOTA] = {.name = "resourcequotas",
			.group_version = "v1",
			.resource = "resourcequotas",
			.projection = quota_projection()},
	};
	struct feeds *f = xcalloc(1, sizeof *f);
	f->on_change = on_change;
	f->data = data;
	f->kube = kube;
	f->seed = seed;
	for (int k = 0; k < KIND_COUNT; k++) {
		f->items[k] = (struct feed){.all = f, .kind = (enum kind)k};
		if (k < KIND_REQUIRED) {
			start(&f->items[k], &kinds[k]);
		}
	}
	return f;
}

void feeds_destroy(struct feeds *f)
{
	if (f == NULL) {
		return;
	}
	for (int k = 0; k < KIND_COUNT; k++) {
		kube_cancel(f->kube, f->items[k].call);
		reflector_destroy(f->items[k].reflector);
	}
	arena_finish(&f->arena);
	free(f);
}

void feeds_step(struct feeds *f, int64_t now_mono_ms)
{
	int64_t accepted = -1;
	for (int k = 0; k < KIND_COUNT; k++) {
		if (f->items[k].reflector != NULL) {
			int64_t at = reflector_accepted_ms(f->items[k].reflector);
			accepted = at > accepted ? at : accepted;
		}
	}
	for (int k = 0; k < KIND_COUNT; k++) {
		if (f->items[k].reflector != NULL) {
			reflector_server_accepts(f->items[k].reflector, accepted, now_mono_ms);
			reflector_step(f->items[k].reflector, now_mono_ms);
		}
	}
	ask_for_optionals(f, now_mono_ms);
}

int64_t feeds_deadline(const struct feeds *f)
{
	int64_t at = asking_deadline(f);
	for (int k = 0; k < KIND_COUNT; k++) {
		if (f->items[k].reflector != NULL) {
			at = time_min(at, reflector_deadline(f->items[k].reflector));
		}
	}
	return at;
}

void feeds_relist(struct feeds *f)
{
	for (int k = 0; k < KIND_COUNT; k++) {
		if (f->items[k].reflector != NULL) {
			reflector_relist(f->items[k].reflector);
		}
	}
}

bool feeds_settled(const struct feeds *f)
{
	for (size_t i = 0; i < COUNT_OF(optionals); i++) {
		const struct feed *o = &f->items[optionals[i].kind];
		if (o->reflector != NULL ? !reflector_synced(o->reflector) : !o->refused) {
			return false;
		}
	}
	return true;
}
