/* What is read of a pod that says more than is parsed: fifty thousand tolerations or containers,
 * say, which an API server takes and which anybody may add to a pod that runs.
 *
 * Were it skipped, what it uses of its node would be forgotten, and whether it is still there could
 * only be told by looking at all pods again, every few minutes for as long as it is there. So it is
 * read once more without the lists that anybody can make long: first with its containers, then by
 * its name, gates, node and phase, at last without its gates; always with our labels and
 * annotations. */
#include "model/names.h"
#include "pod_parts.h"

static const struct slice_keep labels_keep[] = {SLICE_KEEP_PREFIX(NAME_PREFIX), SLICE_END};
static const struct slice_keep meta_keep[] = {
	PARTS_META_KEEP,
	SLICE_KEEP("creationTimestamp"),
	SLICE_KEEP("deletionTimestamp"),
	SLICE_KEEP("deletionGracePeriodSeconds"),
	SLICE_KEEP_IN("labels", labels_keep),
	SLICE_KEEP_IN("annotations", labels_keep),
	SLICE_END,
};
static const struct slice_keep gate_keep[] = {SLICE_KEEP("name"), SLICE_END};
static const struct slice_keep requests_keep[] = {SLICE_KEEP("requests"), SLICE_END};
static const struct slice_keep spec_keep[] = {
	SLICE_KEEP_IN("containers", pod_container_keep),
	SLICE_KEEP_IN("initContainers", pod_container_keep),
	SLICE_KEEP_IN("resources", requests_keep),
	SLICE_KEEP_IN("schedulingGates", gate_keep),
	SLICE_KEEP("overhead"),
	SLICE_KEEP("hostNetwork"),
	SLICE_KEEP("nodeName"),
	SLICE_KEEP("priority"),
	SLICE_KEEP("priorityClassName"),
	SLICE_KEEP("runtimeClassName"),
	SLICE_KEEP("schedulerName"),
	SLICE_END,
};
static const struct slice_keep less_keep[] = {
	SLICE_KEEP_IN("metadata", meta_keep),
	SLICE_KEEP_IN("spec", spec_keep),
	SLICE_KEEP_IN("status", pod_status_keep),
	SLICE_END,
};

static const struct slice_keep phase_keep[] = {SLICE_KEEP("phase"), SLICE_END};
static const struct slice_keep gated_spec_keep[] = {
	SLICE_KEEP_IN("schedulingGates", gate_keep), SLICE_KEEP("nodeName"), SLICE_END};
static const struct slice_keep gated_keep[] = {
	SLICE_KEEP_IN("metadata", meta_keep),
	SLICE_KEEP_IN("spec", gated_spec_keep),
	SLICE_KEEP_IN("status", phase_keep),
	SLICE_END,
};

static const struct slice_keep node_keep[] = {SLICE_KEEP("nodeName"), SLICE_END};
static const struct slice_keep least_keep[] = {
	SLICE_KEEP_IN("metadata", meta_keep),
	SLICE_KEEP_IN("spec", node_keep),
	SLICE_KEEP_IN("status", phase_keep),
	SLICE_END,
};

int pod_parse_less(const char *json, size_t n, json_t **ret_root, struct fault *ret_fault)
{
	static const struct slice_keep *const parts[] = {less_keep, gated_keep, least_keep};
	CLEANUP(str_finish) struct str text = STR_INIT(SLICE_OBJECT_MAX);
	for (size_t i = 0; i < COUNT_OF(parts); i++) {
		if (parts_reduce(json, n, parts[i], &text) &&
			decode_parse(str_text(&text), text.len, DECODE_MEND, ret_root, ret_fault) ==
				0) {
			return 0;
		}
	}
	return fault_set(ret_fault, FAULT_LIMIT, "not even its name can be read");
}
