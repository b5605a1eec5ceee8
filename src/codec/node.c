/* Nodes. */
#include "codec/node.h"

#include "model/names.h"
#include "parts.h"

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

static const struct slice_keep labels_keep[] = {
	SLICE_KEEP_PREFIX(NAME_PREFIX),
	SLICE_KEEP_PREFIX("nvidia.com/"),
	SLICE_KEEP_PREFIX("topology.kubernetes.io/"),
	SLICE_KEEP_PREFIX(""),
	SLICE_END,
};
static const struct slice_keep notes_keep[] = {
	PARTS_BOOKMARK_KEEP, SLICE_KEEP(HAMI_NOTE), SLICE_KEEP(NOTE_GPUS_RESET), SLICE_END};
static const struct slice_keep meta_keep[] = {
	PARTS_META_KEEP,
	SLICE_KEEP_SOME("labels", labels_keep, LABELS_MAX),
	SLICE_KEEP_IN("annotations", notes_keep),
	SLICE_END,
};
static const struct slice_keep taint_keep[] = {
	SLICE_KEEP("key"),
	SLICE_KEEP("value"),
	SLICE_KEEP("effect"),
	SLICE_END,
};
static const struct slice_keep spec_keep[] = {
	SLICE_KEEP_SOME("taints", taint_keep, LIST_MAX),
	SLICE_KEEP("unschedulable"),
	SLICE_END,
};
static const struct slice_keep condition_keep[] = {
	SLICE_KEEP("type"),
	SLICE_KEEP("status"),
	SLICE_END,
};
static const struct slice_keep allocatable_keep[] = {
	SLICE_KEEP("cpu"),
	SLICE_KEEP("memory"),
	SLICE_KEEP("pods"),
	SLICE_KEEP(NAME_GPU_RESOURCE),
	SLICE_KEEP_PREFIX(""),
	SLICE_END,
};
static const struct slice_keep info_keep[] = {
	SLICE_KEEP("bootID"), SLICE_KEEP("containerRuntimeVersion"), SLICE_END};
static const struct slice_keep status_keep[] = {
	SLICE_KEEP_SOME("allocatable", allocatable_keep, LIST_MAX),
	SLICE_KEEP_SOME("conditions", condition_keep, LIST_MAX),
	SLICE_KEEP_IN("nodeInfo", info_keep),
	SLICE_END,
};
static const struct slice_keep node_keep[] = {
	SLICE_KEEP_IN("metadata", meta_keep),
	SLICE_KEEP_IN("spec", spec_keep),
	SLICE_KEEP_IN("status", status_keep),
	SLICE_END,
};

const struct slice_keep *node_projection(void)
{
	return node_keep;
}

static const struct decode_field node_fields[] = {
	{"metadata.name", DECODE_TEXT, true, offsetof(struct node, name), NULL},
	{"metadata.uid", DECODE_TEXT, false, offsetof(struct node, uid), NULL},
	{"metadata.resourceVersion", DECODE_TEXT, false, offsetof(struct node, resource_version),
		NULL},
	{"status.nodeInfo.bootID", DECODE_TEXT, false, offsetof(struct node, boot), NULL},
	{"status.nodeInfo.containerRuntimeVersion", DECODE_TEXT, false,
		offsetof(struct node, runtime), NULL},
	{"spec.unschedulable", DECODE_BOOL, false, offsetof(struct node, unschedulable), NULL},
	{"status.allocatable.cpu", DECODE_CUSTOM, false, offsetof(struct node, cpu_milli),
		parts_read_milli},
	{"status.allocatable.memory", DECODE_CUSTOM, false, offsetof(struct node, mem_bytes),
		parts_read_units},
	{"status.allocatable.pods", DECODE_CUSTOM, false, offsetof(struct node, pod_slots),
		parts_read_units},
};

static const struct decode_field taint_fields[] = {
	{"key", DECODE_TEXT, true, offsetof(struct taint, key), NULL},
	{"value", DECODE_TEXT, false, offsetof(struct taint, value), NULL},
	{"effect", DECODE_TEXT, true, offsetof(struct taint, effect), NULL},
};

static int read_taints(
	const json_t *root, struct arena *arena, struct node *node, struct fault *ret_fault)
{
	const json_t *array = NULL;
	if (decode_array(root, "spec.taints", &array, ret_fault) < 0) {
		return -1;
	}
	size_t count = array != NULL ? json_array_size(array) : 0;
	node->taints = count > 0 ? ARENA_ARRAY(arena, struct taint, count) : NULL;
	for (size_t i = 0; i < count; i++) {
		struct taint *t = &node->taints[node->taint_count++];
		t->value = "";
		if (decode_fields(json_array_get(array, i), taint_fields, COUNT_OF(taint_fields),
			    arena, t, ret_fault) < 0) {
			return fault_wrap(ret_fault, "spec.taints[%zu]", i);
		}
	}
	return 0;
}

static int read_ready(const json_t *root, struct node *node, struct fault *ret_fault)
{
	const json_t *array = NULL;
	if (decode_array(root, "status.conditions", &array, ret_fault) < 0) {
		return -1;
	}
	for (size_t i = 0; array != NULL && i < json_array_size(array); i++) {
		const json_t *condition = json_array_get(array, i);
		const char *type = NULL;
		const char *status = NULL;
		if (decode_text(condition, "type", &type, ret_fault) < 0 ||
			decode_text(condition, "status", &status, ret_fault) < 0) {
			return fault_wrap(ret_fault, "status.conditions[%zu]", i);
		}
		if (text_equals(type, "Ready")) {
			node->ready = text_equals(status, "True");
		}
	}
	return 0;
}

static int read_gpus(const json_t *root, struct node *node, struct fault *ret_fault)
{
	/* A key with a dot is no path. */
	const json_t *gpus =
		json_object_get(decode_find(root, "status.allocatable"), NAME_GPU_RESOURCE);
	if (gpus != NULL && parts_read_units(gpus, NULL, &node->gpus, ret_fault) < 0) {
		return fault_wrap(ret_fault, "status.allocatable.%s", NAME_GPU_RESOURCE);
	}
	if (node->cpu_milli < 0 || node->mem_bytes < 0 || node->pod_slots < 0 || node->gpus < 0) {
		return fault_set(ret_fault, FAULT_INVALID, "status.allocatable: negative");
	}
	return 0;
}

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
			parts_read_units(value, NULL, &amount, NULL) < 0 || amount <= 0) {
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

/* A key with a dot is no path. "": there is none. */
static const char *note_of(const json_t *root, const char *key)
{
	const json_t *notes = decode_find(root, "metadata.annotations");
	const json_t *value = json_object_get(notes, key);
	return json_is_string(value) ? json_string_value(value) : "";
}

/* Nothing is registered any more where the list is empty. */
static bool serves_hami(const json_t *root)
{
	const char *text = note_of(root, HAMI_NOTE);
	return !text_empty(text) && !text_equals(text, "[]");
}

/* What is remembered of a node is compared with them: what is too long for that is not known. */
static const char *bounded(const char *text)
{
	return text != NULL && strlen(text) <= INFO_MAX ? text : NULL;
}

static int read_node(
	const json_t *root, struct arena *arena, struct node *node, struct fault *ret_fault)
{
	const json_t *labels = NULL;
	if (decode_fields(root, node_fields, COUNT_OF(node_fields), arena, node, ret_fault) < 0 ||
		decode_object(root, "metadata.labels", &labels, ret_fault) < 0) {
		return -1;
	}
	if (parts_read_pairs(labels, NULL, arena, &node->labels, ret_fault) < 0) {
		return fault_wrap(ret_fault, "metadata.labels");
	}
	if (read_taints(root, arena, node, ret_fault) < 0 ||
		read_ready(root, node, ret_fault) < 0 || read_gpus(root, node, ret_fault) < 0) {
		return -1;
	}
	node->boot = bounded(node->boot);
	node->runtime = bounded(node->runtime);
	const char *reset = bounded(note_of(root, NOTE_GPUS_RESET));
	node->gpus_reset = text_empty(reset) ? NULL : arena_strdup(arena, reset);
	read_others(root, arena, node);
	node->shares_already = shares_already(&node->labels);
	const char *product = pairs_get(&node->labels, PRODUCT_LABEL);
	node->is_mig = product != NULL && strstr(product, MIG_PRODUCT) != NULL;
	node->serves_hami = serves_hami(root);
	node->serves_kai = pairs_get(&node->labels, KAI_LABEL) != NULL;
	return 0;
}

int node_decode(const char *json, size_t n, struct arena *arena, struct node *ret_node,
	struct fault *ret_fault)
{
	CLEANUP(decode_release) json_t *root = NULL;
	struct node node = {.name = "", .uid = "", .resource_version = ""};
	if (decode_parse(json, n, DECODE_MEND, &root, ret_fault) < 0 ||
		read_node(root, arena, &node, ret_fault) < 0) {
		return fault_wrap(ret_fault, "node %.63s", node.name);
	}
	/* Whom it keeps off, and who asks for it, cannot be told by half of its labels or taints.
	 */
	node.unschedulable |= json_is_true(json_object_get(root, SLICE_CUT));
	*ret_node = node;
	return 0;
}
