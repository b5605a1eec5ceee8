/* Where they are and how they are read. */
#include "kube/feed.h"

#include "own/gpupolicy.h"
#include "own/gpurecommendation.h"
#include "own/gpuworkloadgroup.h"
#include "codec/objects.h"
#include "pods/pod_decode.h"
#include "model/names.h"

#define SLICES_API  "resource.k8s.io/v1"
#define SCALERS_API "autoscaling/v2"
#define KEDA_API    "keda.sh/v1alpha1"
#define BUDGETS_API "policy/v1"
#define GROUPS_API  "scheduling.k8s.io/v1alpha2"
#define OUR_API	    NAME_GROUP "/" NAME_VERSION

#define IN(noun) offsetof(struct change, noun)

/* The resource is the name in logs and metrics, too. */
static const struct row {
	const char *group_version, *resource, *field_selector;
	const struct shape *shape;
	size_t at; /* of the noun, in struct change */
} rows[KIND_COUNT] = {
	[KIND_POD] = {"v1", "pods", NULL, &pod_shape, IN(pod)},
	[KIND_NODE] = {"v1", "nodes", NULL, &node_shape, IN(node)},
	[KIND_POLICY] = {OUR_API, "gpupolicies", NULL, &policy_shape, IN(policy)},
	[KIND_NAMESPACE] = {"v1", "namespaces", NULL, &namespace_shape, IN(namespace)},
	[KIND_LIMIT_RANGE] = {"v1", "limitranges", NULL, &limit_range_shape, IN(limit_range)},
	[KIND_QUOTA] = {"v1", "resourcequotas", NULL, &quota_shape, IN(quota)},
	[KIND_SLICE] = {SLICES_API, "resourceslices", GPU_SLICE_SELECTOR, &gpu_slice_shape,
		IN(slice)},
	[KIND_RECOMMENDATION] = {OUR_API, "gpurecommendations", NULL, &recommendation_shape,
		IN(recommendation)},
	[KIND_GROUP] = {OUR_API, "gpuworkloadgroups", NULL, &group_shape, IN(group)},
	[KIND_SCALER] = {SCALERS_API, "horizontalpodautoscalers", NULL, &scaler_shape, IN(scaler)},
	[KIND_SCALED_OBJECT] = {KEDA_API, "scaledobjects", NULL, &scaled_object_shape, IN(scaler)},
	[KIND_BUDGET] = {BUDGETS_API, "poddisruptionbudgets", NULL, &budget_shape, IN(budget)},
	[KIND_POD_GROUP] = {GROUPS_API, "podgroups", NULL, &pod_group_shape, IN(pod_group)},
};

struct reflector_kind feed_kind(enum kind kind)
{
	const struct row *r = &rows[kind];
	ENSURE(r->resource != NULL);
	return (struct reflector_kind){.name = r->resource,
		.group_version = r->group_version,
		.resource = r->resource,
		.field_selector = r->field_selector,
		.projection = meta_projection(r->shape)};
}

int feed_decode(
	enum kind kind, struct view json, struct arena *a, struct change *c, struct fault *fault)
{
	const struct row *r = &rows[kind];
	ENSURE(r->shape != NULL);
	void *noun = arena_alloc(a, r->shape->size);
	*c = (struct change){.type = CHANGE_SET, .kind = kind};
	*(void **)(void *)((char *)c + r->at) = noun;
	return fields_decode(json, r->shape, a, noun, fault);
}
