/* Where they are and how they are read. */
#include "kube/feed.h"

#include "codec/budget.h"
#include "codec/gpuslice.h"
#include "codec/gpuworkloadgroup.h"
#include "codec/limitrange.h"
#include "codec/namespace.h"
#include "codec/node.h"
#include "codec/pod_decode.h"
#include "codec/podgroup.h"
#include "codec/gpupolicy.h"
#include "codec/resourcequota.h"
#include "codec/gpurecommendation.h"
#include "codec/autoscaler.h"
#include "model/names.h"

#define SLICES_API  "resource.k8s.io/v1"
#define SCALERS_API "autoscaling/v2"
#define KEDA_API    "keda.sh/v1alpha1"
#define BUDGETS_API "policy/v1"
#define GROUPS_API  "scheduling.k8s.io/v1alpha2"
#define OUR_API	    NAME_GROUP "/" NAME_VERSION

/* The resource is the name in logs and metrics, too. */
static const struct row {
	const char *group_version, *resource, *field_selector;
	const struct slice_keep *(*projection)(void);
} rows[KIND_COUNT] = {
	[KIND_POD] = {"v1", "pods", NULL, pod_projection},
	[KIND_NODE] = {"v1", "nodes", NULL, node_projection},
	[KIND_POLICY] = {OUR_API, "gpupolicies", NULL, policy_projection},
	[KIND_NAMESPACE] = {"v1", "namespaces", NULL, namespace_projection},
	[KIND_LIMIT_RANGE] = {"v1", "limitranges", NULL, limit_range_projection},
	[KIND_QUOTA] = {"v1", "resourcequotas", NULL, quota_projection},
	[KIND_SLICE] = {SLICES_API, "resourceslices", GPU_SLICE_SELECTOR, gpu_slice_projection},
	[KIND_RECOMMENDATION] = {OUR_API, "gpurecommendations", NULL, recommendation_projection},
	[KIND_GROUP] = {OUR_API, "gpuworkloadgroups", NULL, group_projection},
	[KIND_SCALER] = {SCALERS_API, "horizontalpodautoscalers", NULL, scaler_projection},
	[KIND_SCALED_OBJECT] = {KEDA_API, "scaledobjects", NULL, scaled_object_projection},
	[KIND_BUDGET] = {BUDGETS_API, "poddisruptionbudgets", NULL, budget_projection},
	[KIND_POD_GROUP] = {GROUPS_API, "podgroups", NULL, pod_group_projection},
};

struct reflector_kind feed_kind(enum kind kind)
{
	const struct row *r = &rows[kind];
	ENSURE(r->resource != NULL);
	return (struct reflector_kind){.name = r->resource,
		.group_version = r->group_version,
		.resource = r->resource,
		.field_selector = r->field_selector,
		.projection = r->projection()};
}

/* What else acts on workloads, or ties pods to each other. */
static int decode_around(
	enum kind kind, struct view json, struct arena *a, struct change *c, struct fault *fault)
{
	if (kind == KIND_BUDGET) {
		struct budget *budget = ARENA_NEW(a, struct budget);
		c->budget = budget;
		return budget_decode(json.p, json.n, a, budget, fault);
	}
	if (kind == KIND_POD_GROUP) {
		struct pod_group *group = ARENA_NEW(a, struct pod_group);
		c->pod_group = group;
		return pod_group_decode(json.p, json.n, a, group, fault);
	}
	struct scaler *scaler = ARENA_NEW(a, struct scaler);
	c->scaler = scaler;
	return kind == KIND_SCALER ? scaler_decode(json.p, json.n, a, scaler, fault)
				   : scaled_object_decode(json.p, json.n, a, scaler, fault);
}

int feed_decode(
	enum kind kind, struct view json, struct arena *a, struct change *c, struct fault *fault)
{
	*c = (struct change){.type = CHANGE_SET, .kind = kind};
	switch (kind) {
	case KIND_POD: {
		struct pod *pod = ARENA_NEW(a, struct pod);
		c->pod = pod;
		return pod_decode(json.p, json.n, a, pod, fault);
	}
	case KIND_NODE: {
		struct node *node = ARENA_NEW(a, struct node);
		c->node = node;
		return node_decode(json.p, json.n, a, node, fault);
	}
	case KIND_POLICY: {
		struct policy *policy = ARENA_NEW(a, struct policy);
		c->policy = policy;
		return policy_decode(json.p, json.n, a, policy, fault);
	}
	case KIND_NAMESPACE: {
		struct namespace *ns = ARENA_NEW(a, struct namespace);
		c->namespace = ns;
		return namespace_decode(json.p, json.n, a, ns, fault);
	}
	case KIND_LIMIT_RANGE: {
		struct limit_range *range = ARENA_NEW(a, struct limit_range);
		c->limit_range = range;
		return limit_range_decode(json.p, json.n, a, range, fault);
	}
	case KIND_QUOTA: {
		struct quota *quota = ARENA_NEW(a, struct quota);
		c->quota = quota;
		return quota_decode(json.p, json.n, a, quota, fault);
	}
	case KIND_SLICE: {
		struct gpu_slice *slice = ARENA_NEW(a, struct gpu_slice);
		c->slice = slice;
		return gpu_slice_decode(json.p, json.n, a, slice, fault);
	}
	case KIND_RECOMMENDATION: {
		struct recommendation *recommendation = ARENA_NEW(a, struct recommendation);
		c->recommendation = recommendation;
		return recommendation_decode(json.p, json.n, a, recommendation, fault);
	}
	case KIND_GROUP: {
		struct workload_group *group = ARENA_NEW(a, struct workload_group);
		c->group = group;
		return group_decode(json.p, json.n, a, group, fault);
	}
	case KIND_SCALER:
	case KIND_SCALED_OBJECT:
	case KIND_BUDGET:
	case KIND_POD_GROUP:
		return decode_around(kind, json, a, c, fault);
	case KIND_CLAIM:
	case KIND_STATE:
	case KIND_COUNT:
		break;
	}
	BUG("no such kind");
}
