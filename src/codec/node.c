/* Nodes. */
#include "codec/objects.h"

#include "model/names.h"
#include "codec/parts.h"

/* GPU feature discovery's labels for a GPU that is already handed out in parts. */
#define SHARING_STRATEGY_LABEL "nvidia.com/gpu.sharing-strategy"
#define REPLICAS_LABEL	       "nvidia.com/gpu.replicas"
/* With one size of partitions on all GPUs it names that too, and counts them as GPUs. */
#define PRODUCT_LABEL "nvidia.com/gpu.product"
#define MIG_PRODUCT   "-MIG-"
/* HAMi's device plugin writes the node's GPUs here, for HAMi's scheduler. */
#define HAMI_NOTE "hami.io/node-nvidia-register"
/* Nodes that carry it belong to one of KAI's schedulers. */
#define KAI_LABEL "kai.scheduler/node-pool"

#define INFO_MAX   253
#define OTHERS_MAX 256 /* kinds of resources of one node */
/* A kubelet, or who has its rights, may label its node without end. */
#define LABELS_MAX 65536
#define LIST_MAX   65536

/* What others than the kubelet may publish without end is cut off: nobody asks for so many. */
static void read_others(const json_t *root, struct arena *arena, struct node *node)
{
	json_t *all = (json_t *)(uintptr_t)decode_find(root, "status.allocatable");
	const char *name;
	json_t *value;
	json_object_foreach(all, name, value)
	{
		int64_t amount = 0;
		bool apart = strcmp(name, "cpu") == 0 || strcmp(name, "memory") == 0 ||
			     strcmp(name, "pods") == 0 || strcmp(name, NAME_GPU_RESOURCE) == 0;
		if (apart || node->others.count >= OTHERS_MAX ||
			parts_read_units(value, &amount, NULL) < 0 || amount <= 0) {
			continue;
		}
		if (node->others.items == NULL) {
			node->others.items = ARENA_ARRAY(arena, struct amount, OTHERS_MAX);
		}
		node->others.items[node->others.count++] =
			(struct amount){arena_strdup(arena, name), amount};
	}
}

static bool shares_already(const struct pairs *labels)
{
	const char *strategy = pairs_get(labels, SHARING_STRATEGY_LABEL);
	const char *replicas = pairs_get(labels, REPLICAS_LABEL);
	int64_t count = 0;
	if (text_equals(strategy, "time-slicing") || text_equals(strategy, "mps")) {
		return true;
	}
	return replicas != NULL && parse_i64(view_of(replicas), 0, INT32_MAX, &count) && count > 1;
}

/* NULL for what is too long: who remembers it, to compare a later one with it, has room for so
 * much. */
static const char *text_if_short(const char *text)
{
	return text != NULL && strlen(text) <= INFO_MAX ? text : NULL;
}

/* Nothing is registered any more where HAMi's list is empty. */
static int finish_node(const struct reading *r, void *noun)
{
	struct node *node = noun;
	if (node->cpu_milli < 0 || node->mem_bytes < 0 || node->pod_slots < 0 || node->gpus < 0) {
		return fault_set(r->fault, FAULT_INVALID, "status.allocatable: negative");
	}
	const char *product = pairs_get(&node->labels, PRODUCT_LABEL);
	const char *hami = decode_find_text(r->object, "metadata.annotations/" HAMI_NOTE);
	node->boot = text_if_short(node->boot);
	node->runtime = text_if_short(node->runtime);
	node->gpus_reset = text_empty(node->gpus_reset) ? NULL : text_if_short(node->gpus_reset);
	read_others(r->object, r->arena, node);
	node->shares_already = shares_already(&node->labels);
	node->is_mig = product != NULL && strstr(product, MIG_PRODUCT) != NULL;
	node->serves_hami = !text_empty(hami) && !text_equals(hami, "[]");
	node->serves_kai = pairs_get(&node->labels, KAI_LABEL) != NULL;
	/* Whom it keeps off, and who asks for it, cannot be told by half of its labels or taints.
	 */
	node->unschedulable |= json_is_true(json_object_get(r->object, SLICE_CUT));
	return 0;
}

static int take_node_condition(const struct reading *r, const void *item, void *noun)
{
	struct node *node = noun;
	const struct condition *c = item;
	(void)r;
	node->ready = text_equals(c->type, "Ready") ? text_equals(c->status, "True") : node->ready;
	return 0;
}

static const struct field condition_fields[] = {
	FIELD("type", text, AT(condition, type)),
	FIELD("status", text, AT(condition, status)),
};
static const struct shape condition_shape = {SHAPE(condition, condition_fields)};

static const struct field taint_fields[] = {
	FIELD("key", text, AT(taint, key), .required = true),
	FIELD("value", text, AT(taint, value)),
	FIELD("effect", text, AT(taint, effect), .required = true),
};
static const struct shape taint_shape = {
	SHAPE(taint, taint_fields), .defaults = &(const struct taint){.value = ""}};

static const struct field node_fields[] = {
	FIELD("metadata.name", text, AT(node, name), .required = true),
	FIELD("metadata.uid", text, AT(node, uid)),
	FIELD("metadata.resourceVersion", text, AT(node, resource_version)),
	FIELD("metadata.labels", pairs, AT(node, labels),
		.keys = WORDS(NAME_PREFIX "*", "nvidia.com/*", "topology.kubernetes.io/*", "*"),
		.bytes = LABELS_MAX),
	FIELD_KEPT("metadata.annotations/" HAMI_NOTE),
	FIELD("metadata.annotations/" NOTE_GPUS_RESET, note, AT(node, gpus_reset)),
	FIELD("spec.taints", list, AT(node, taints), COUNT_AT(node, taint_count),
		.inside = &taint_shape, .bytes = LIST_MAX),
	FIELD("spec.unschedulable", flag, AT(node, unschedulable)),
	FIELD("status.allocatable.cpu", milli, AT(node, cpu_milli)),
	FIELD("status.allocatable.memory", units, AT(node, mem_bytes)),
	FIELD("status.allocatable.pods", units, AT(node, pod_slots)),
	FIELD("status.allocatable/" NAME_GPU_RESOURCE, units, AT(node, gpus)),
	{.path = "status.allocatable", .keys = WORDS("*"), .bytes = LIST_MAX},
	FIELD("status.conditions", each, .inside = &condition_shape, .each = take_node_condition,
		.bytes = LIST_MAX),
	FIELD("status.nodeInfo.bootID", text, AT(node, boot)),
	FIELD("status.nodeInfo.containerRuntimeVersion", text, AT(node, runtime)),
};
const struct shape node_shape = {SHAPE(node, node_fields),
	.defaults = &(const struct node){.name = "", .uid = "", .resource_version = ""},
	SHAPE_NAME("node", node, name), .flags = DECODE_MEND, .finish = finish_node};
