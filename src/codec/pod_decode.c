/* A pod's metadata and the scheduling part of its spec. */
#include "codec/pod_decode.h"

#include "codec/capacity_text.h"
#include "codec/injection_text.h"
#include "model/names.h"
#include "pod_parts.h"
#include "tenant.h"

#define MIRROR_NOTE "kubernetes.io/config.mirror"
#define SOURCE_NOTE "kubernetes.io/config.source"

/* --- what a watch keeps ---
 *
 * The API server takes fifty thousand tolerations or containers, and anybody may add them to a pod
 * that runs. Whoever reads such a pod has no time for others meanwhile, so what has no end is
 * bounded while it comes (SLICE_KEEP_SOME, SLICE_KEEP_MOST), by several times of what is looked at
 * of it anywhere (pod_bounds.c, pod_placing.c). What the pod uses stays counted as far as it was
 * read, and nobody places it. */

#define LABELS_READ    16384 /* pod_bounds.c keeps half as much */
#define NOTES_MAX      65536
#define LIST_MAX       32768
#define RULES_MAX      65536 /* about nodes */
#define SELECTOR_MAX   16384
#define CONTAINERS_MAX 131072

static const struct slice_keep any_keep[] = {SLICE_KEEP_PREFIX(""), SLICE_END};
/* What we read by its name no other label takes the room of. */
static const struct slice_keep labels_keep[] = {
	SLICE_KEEP(LABEL_TENANT),
	SLICE_KEEP(LABEL_CAPACITY),
	SLICE_KEEP_PREFIX(NAME_PREFIX),
	SLICE_KEEP_PREFIX(""),
	SLICE_END,
};
static const struct slice_keep notes_keep[] = {
	/* What we read by its name no other annotation takes the room of. */
	SLICE_KEEP(NOTE_POLICY),
	SLICE_KEEP(NOTE_EXCLUDE),
	SLICE_KEEP(NOTE_MODE),
	SLICE_KEEP(NOTE_GPU_FRACTION),
	SLICE_KEEP(NOTE_GPU_MEMORY),
	SLICE_KEEP(NOTE_GPU_COUNT),
	SLICE_KEEP(NOTE_SURGED_BY),
	SLICE_KEEP(NOTE_SURGE_HASH),
	SLICE_KEEP(NOTE_SURGE_GENERATION),
	SLICE_KEEP(NOTE_ORIGINAL),
	SLICE_KEEP(NOTE_CONTAINER),
	SLICE_KEEP(NOTE_SHARE),
	SLICE_KEEP(NOTE_MEMORY),
	SLICE_KEEP(NOTE_POLICY_APPLIED),
	SLICE_KEEP(NOTE_RECOMMENDATION),
	SLICE_KEEP(NOTE_ISOLATION),
	SLICE_KEEP(NOTE_FRAMEWORK),
	SLICE_KEEP(NOTE_GPU_UUID),
	SLICE_KEEP(NOTE_VISIBLE_DEVICES),
	SLICE_KEEP(NOTE_COMPUTE_MILLI),
	SLICE_KEEP(NOTE_MEMORY_MIB),
	SLICE_KEEP(NOTE_MPS_THREADS),
	SLICE_KEEP(NOTE_MPS_MEMORY),
	SLICE_KEEP(NOTE_FRAMEWORK_MEMORY),
	SLICE_KEEP(NOTE_CAPACITY_POD),
	SLICE_KEEP(NOTE_TERM),
	SLICE_KEEP(NOTE_RESIZED),
	SLICE_KEEP(NOTE_GRANTS),
	SLICE_KEEP(NOTE_INJECTION),
	SLICE_KEEP_PREFIX(NAME_PREFIX),
	SLICE_KEEP_PREFIX(NAME_CDI_PREFIX),
	SLICE_KEEP(NOTE_SAFE_TO_EVICT),
	SLICE_KEEP(NOTE_DO_NOT_DISRUPT),
	SLICE_KEEP(NOTE_DELETION_COST),
	SLICE_KEEP(MIRROR_NOTE),
	SLICE_KEEP(SOURCE_NOTE),
	SLICE_KEEP_PREFIX("prometheus.io/"),
	PARTS_BOOKMARK_KEEP,
	SLICE_END,
};
static const struct slice_keep owner_keep[] = {
	SLICE_KEEP("apiVersion"),
	SLICE_KEEP("kind"),
	SLICE_KEEP("name"),
	SLICE_KEEP("uid"),
	SLICE_KEEP("controller"),
	SLICE_END,
};
static const struct slice_keep meta_keep[] = {
	PARTS_META_KEEP,
	SLICE_KEEP("creationTimestamp"),
	SLICE_KEEP("deletionTimestamp"),
	SLICE_KEEP("deletionGracePeriodSeconds"),
	SLICE_KEEP_SOME("labels", labels_keep, LABELS_READ),
	SLICE_KEEP_SOME("annotations", notes_keep, NOTES_MAX),
	SLICE_KEEP_SOME("ownerReferences", owner_keep, LIST_MAX),
	SLICE_END,
};
static const struct slice_keep spaces_keep[] = {SLICE_KEEP_MOST("namespaces", SELECTOR_MAX),
	SLICE_KEEP_MOST("namespaceSelector", SELECTOR_MAX), SLICE_END};
static const struct slice_keep preferred_keep[] = {
	SLICE_KEEP_IN("podAffinityTerm", spaces_keep), SLICE_END};
static const struct slice_keep neighbour_keep[] = {
	SLICE_KEEP("topologyKey"),
	SLICE_KEEP_MOST("labelSelector", SELECTOR_MAX),
	SLICE_KEEP_MOST("matchLabelKeys", SELECTOR_MAX),
	SLICE_KEEP_MOST("mismatchLabelKeys", SELECTOR_MAX),
	SLICE_KEEP_MOST("namespaces", SELECTOR_MAX),
	SLICE_KEEP_MOST("namespaceSelector", SELECTOR_MAX),
	SLICE_END,
};
static const struct slice_keep required_neighbours_keep[] = {
	SLICE_KEEP_SOME("requiredDuringSchedulingIgnoredDuringExecution", neighbour_keep, LIST_MAX),
	SLICE_KEEP_SOME(
		"preferredDuringSchedulingIgnoredDuringExecution", preferred_keep, LIST_MAX),
	SLICE_END,
};
static const struct slice_keep required_nodes_keep[] = {
	SLICE_KEEP_MOST("requiredDuringSchedulingIgnoredDuringExecution", RULES_MAX),
	SLICE_END,
};
static const struct slice_keep affinity_keep[] = {
	SLICE_KEEP_IN("nodeAffinity", required_nodes_keep),
	SLICE_KEEP_IN("podAffinity", required_neighbours_keep),
	SLICE_KEEP_IN("podAntiAffinity", required_neighbours_keep),
	SLICE_END,
};
static const struct slice_keep spread_keep[] = {
	SLICE_KEEP("whenUnsatisfiable"),
	SLICE_KEEP("topologyKey"),
	SLICE_KEEP("maxSkew"),
	SLICE_KEEP("minDomains"),
	SLICE_KEEP_MOST("labelSelector", SELECTOR_MAX),
	SLICE_KEEP_MOST("matchLabelKeys", SELECTOR_MAX),
	SLICE_KEEP("nodeAffinityPolicy"),
	SLICE_KEEP("nodeTaintsPolicy"),
	SLICE_END,
};
static const struct slice_keep nothing_keep[] = {SLICE_END};
static const struct slice_keep claim_name_keep[] = {SLICE_KEEP("claimName"), SLICE_END};
static const struct slice_keep volume_keep[] = {
	SLICE_KEEP("name"),
	SLICE_KEEP_IN("persistentVolumeClaim", claim_name_keep),
	SLICE_KEEP_IN("ephemeral", nothing_keep),
	SLICE_END,
};
static const struct slice_keep claim_keep[] = {SLICE_KEEP("name"), SLICE_END};
static const struct slice_keep requests_keep[] = {SLICE_KEEP_MOST("requests", LIST_MAX), SLICE_END};
static const struct slice_keep gate_keep[] = {SLICE_KEEP("name"), SLICE_END};
static const struct slice_keep toleration_keep[] = {
	SLICE_KEEP("key"),
	SLICE_KEEP("operator"),
	SLICE_KEEP("value"),
	SLICE_KEEP("effect"),
	SLICE_END,
};
static const struct slice_keep spec_keep[] = {
	SLICE_KEEP_SOME("containers", pod_container_keep, CONTAINERS_MAX),
	SLICE_KEEP_SOME("initContainers", pod_container_keep, CONTAINERS_MAX),
	SLICE_KEEP_SOME("volumes", volume_keep, LIST_MAX),
	SLICE_KEEP_IN("affinity", affinity_keep),
	SLICE_KEEP_SOME("topologySpreadConstraints", spread_keep, LIST_MAX),
	SLICE_KEEP_SOME("resourceClaims", claim_keep, LIST_MAX),
	SLICE_KEEP_IN("resources", requests_keep),
	SLICE_KEEP("activeDeadlineSeconds"),
	SLICE_KEEP("hostNetwork"),
	SLICE_KEEP("nodeName"),
	SLICE_KEEP_SOME("nodeSelector", any_keep, 2 * RULES_MAX),
	SLICE_KEEP_MOST("overhead", LIST_MAX),
	SLICE_KEEP("preemptionPolicy"),
	SLICE_KEEP("priority"),
	SLICE_KEEP("priorityClassName"),
	SLICE_KEEP("runtimeClassName"),
	SLICE_KEEP("schedulerName"),
	SLICE_KEEP_SOME("schedulingGates", gate_keep, RULES_MAX),
	SLICE_KEEP("schedulingGroup"),
	SLICE_KEEP("workloadRef"),
	SLICE_KEEP("terminationGracePeriodSeconds"),
	SLICE_KEEP_SOME("tolerations", toleration_keep, RULES_MAX),
	SLICE_END,
};
static const struct slice_keep pod_keep[] = {
	SLICE_KEEP_IN("metadata", meta_keep),
	SLICE_KEEP_IN("spec", spec_keep),
	SLICE_KEEP_IN("status", pod_status_keep),
	SLICE_END,
};

const struct slice_keep *pod_projection(void)
{
	return pod_keep;
}

/* --- metadata --- */

static const struct decode_field meta_fields[] = {
	{"namespace", DECODE_TEXT, false, offsetof(struct pod, ns), NULL},
	{"name", DECODE_TEXT, false, offsetof(struct pod, name), NULL},
	{"generateName", DECODE_TEXT, false, offsetof(struct pod, generate_name), NULL},
	{"uid", DECODE_TEXT, false, offsetof(struct pod, uid), NULL},
	{"resourceVersion", DECODE_TEXT, false, offsetof(struct pod, resource_version), NULL},
	{"creationTimestamp", DECODE_TIME, false, offsetof(struct pod, created_ms), NULL},
	{"deletionTimestamp", DECODE_TIME, false, offsetof(struct pod, deleting_ms), NULL},
	{"deletionGracePeriodSeconds", DECODE_I64, false, offsetof(struct pod, grace_s), NULL},
};

static const struct decode_field owner_fields[] = {
	{"apiVersion", DECODE_TEXT, true, offsetof(struct owner, api_version), NULL},
	{"kind", DECODE_TEXT, true, offsetof(struct owner, kind), NULL},
	{"name", DECODE_TEXT, true, offsetof(struct owner, name), NULL},
	{"uid", DECODE_TEXT, false, offsetof(struct owner, uid), NULL},
};

static bool is_replica_set(const json_t *owner)
{
	return text_equals(json_string_value(decode_find(owner, "kind")), "ReplicaSet") &&
	       text_equals(json_string_value(decode_find(owner, "apiVersion")), "apps/v1");
}

/* Where the owner stands among them that counts; as many as there are: none does. */
static size_t find_owner(const json_t *owners, struct pod *pod)
{
	size_t count = json_array_size(owners);
	for (size_t i = 0; i < count; i++) {
		if (json_is_true(decode_find(json_array_get(owners, i), "controller"))) {
			return i;
		}
	}
	if (count != 1 || pairs_get(&pod->labels, LABEL_SURGE) == NULL ||
		!is_replica_set(json_array_get(owners, 0))) {
		return count;
	}
	pod->beside = true;
	return 0;
}

/* The API server checks that there is a kind and a name, not how long they are. What no object is
 * called owns nothing: such a pod is as one that nobody made, and its cluster collects it. */
#define OWNER_WORD_MAX 320

static bool is_owner(const struct owner *o)
{
	return parts_is_name(o->name) && strnlen(o->kind, OWNER_WORD_MAX) < OWNER_WORD_MAX &&
	       strnlen(o->api_version, OWNER_WORD_MAX) < OWNER_WORD_MAX &&
	       strnlen(text_or(o->uid, ""), OWNER_WORD_MAX) < OWNER_WORD_MAX;
}

static int read_owner(
	const json_t *meta, struct arena *arena, struct pod *pod, struct fault *ret_fault)
{
	const json_t *owners = NULL;
	if (decode_array(meta, "ownerReferences", &owners, ret_fault) < 0) {
		return -1;
	}
	size_t i = find_owner(owners, pod);
	if (i < json_array_size(owners)) {
		const json_t *owner = json_array_get(owners, i);
		if (decode_fields(owner, owner_fields, COUNT_OF(owner_fields), arena, &pod->owner,
			    ret_fault) < 0) {
			return fault_wrap(ret_fault, "ownerReferences[%zu]", i);
		}
		if (!is_owner(&pod->owner)) {
			pod->owner = (struct owner){0};
			pod->beside = false;
		}
	}
	return 0;
}

/* C15. Karpenter also takes a duration for an answer. */
static bool keeps_node(const json_t *notes)
{
	const char *evict = json_string_value(json_object_get(notes, NOTE_SAFE_TO_EVICT));
	const char *disrupt = json_string_value(json_object_get(notes, NOTE_DO_NOT_DISRUPT));
	return text_equals(evict, "false") ||
	       (!text_empty(disrupt) && !text_equals(disrupt, "false"));
}

static int read_notes(
	const json_t *meta, struct arena *arena, struct pod *pod, struct fault *ret_fault)
{
	static const char *const prefixes[] = {NAME_PREFIX, NAME_CDI_PREFIX, NULL};
	const json_t *notes = NULL;
	if (decode_object(meta, "annotations", &notes, ret_fault) < 0) {
		return -1;
	}
	if (parts_read_pairs(notes, prefixes, arena, &pod->notes, ret_fault) < 0) {
		return fault_wrap(ret_fault, "annotations");
	}
	pod->keeps_node = keeps_node(notes);
	pod->surged = pairs_get(&pod->notes, NOTE_SURGED_BY) != NULL;
	pod->own_cost = !pod->surged && json_object_get(notes, NOTE_DELETION_COST) != NULL;
	/* Keys with dots: not a path. */
	const json_t *source = json_object_get(notes, SOURCE_NOTE);
	pod->is_static = json_object_get(notes, MIRROR_NOTE) != NULL ||
			 (json_is_string(source) && strcmp(json_string_value(source), "api") != 0);
	return 0;
}

/* A ledger that cannot be read is not an empty one: nothing is granted where nobody knows what is.
 */
static void read_ledger(struct arena *arena, struct pod *pod)
{
	const char *text = pairs_get(&pod->notes, NOTE_GRANTS);
	pod->ledger_bad = ledger_decode(text, arena, &pod->ledger, NULL) < 0;
}

/* One that cannot be read proves nothing. */
static void read_claim(struct arena *arena, struct pod *pod)
{
	const char *text = pairs_get(&pod->notes, NOTE_INJECTION);
	struct inject_claim *claim = ARENA_NEW(arena, struct inject_claim);
	if (text != NULL && inject_claim_decode(text, arena, claim, NULL) == 0) {
		pod->claim = claim;
	}
}

static int read_meta(
	const json_t *meta, struct arena *arena, struct pod *pod, struct fault *ret_fault)
{
	const json_t *labels = NULL;
	if (meta == NULL) {
		return 0;
	}
	if (decode_fields(meta, meta_fields, COUNT_OF(meta_fields), arena, pod, ret_fault) < 0 ||
		decode_object(meta, "labels", &labels, ret_fault) < 0) {
		return -1;
	}
	if (parts_read_pairs(labels, NULL, arena, &pod->labels, ret_fault) < 0) {
		return fault_wrap(ret_fault, "labels");
	}
	if (read_notes(meta, arena, pod, ret_fault) < 0) {
		return -1;
	}
	if (pod_is_capacity(pod)) {
		read_ledger(arena, pod);
	}
	if (pod_is_capacity(pod) || pod_is_probe(pod)) {
		read_claim(arena, pod);
	}
	if (read_owner(meta, arena, pod, ret_fault) < 0) {
		return -1;
	}
	pod->keeps_node = pod->keeps_node || text_equals(pod->owner.kind, "Job");
	return 0;
}

/* --- spec --- */

static const struct decode_field spec_fields[] = {
	{"nodeName", DECODE_TEXT, false, offsetof(struct pod, node), NULL},
	{"schedulerName", DECODE_TEXT, false, offsetof(struct pod, scheduler), NULL},
	{"runtimeClassName", DECODE_TEXT, false, offsetof(struct pod, runtime_class), NULL},
	{"priorityClassName", DECODE_TEXT, false, offsetof(struct pod, priority_class), NULL},
	{"priority", DECODE_I32, false, offsetof(struct pod, priority), NULL},
};

static bool any_in(const json_t *spec, const char *path)
{
	const json_t *array = decode_find(spec, path);
	return json_is_array(array) && json_array_size(array) > 0;
}

/* Of an ephemeral volume the claim is made for the pod, under both their names. */
static const char *claim_of(const json_t *volume, const struct pod *pod, struct arena *arena)
{
	const json_t *claim = decode_find(volume, "persistentVolumeClaim.claimName");
	const json_t *name = decode_find(volume, "name");
	if (json_is_string(claim)) {
		return arena_strdup(arena, json_string_value(claim));
	}
	if (decode_find(volume, "ephemeral") != NULL && json_is_string(name)) {
		return arena_printf(arena, "%s-%s", pod->name, json_string_value(name));
	}
	return NULL;
}

static bool is_listed(const struct pod *pod, const char *claim)
{
	for (uint32_t i = 0; i < pod->claim_count; i++) {
		if (strcmp(pod->claims[i], claim) == 0) {
			return true;
		}
	}
	return false;
}

static void read_claims(const json_t *spec, struct arena *arena, struct pod *pod)
{
	const json_t *array = decode_find(spec, "volumes");
	for (size_t i = 0; i < json_array_size(array); i++) {
		const char *claim = claim_of(json_array_get(array, i), pod, arena);
		if (claim == NULL || is_listed(pod, claim)) {
			continue;
		}
		pod->has_volumes_claimed = true;
		/* Of a claim's name nobody checks more than that there is one. */
		if (pod->claim_count == POD_CLAIMS_MAX || !parts_is_name(claim)) {
			pod->too_complex = pod->cut = true;
			return;
		}
		if (pod->claims == NULL) {
			pod->claims = ARENA_ARRAY(arena, const char *, POD_CLAIMS_MAX);
		}
		pod->claims[pod->claim_count++] = claim;
	}
}

/* 1.35 knew the same thing by another name. */
static void read_group(const json_t *spec, struct arena *arena, struct pod *pod)
{
	const json_t *group = decode_find(spec, "schedulingGroup");
	const char *name = json_string_value(json_object_get(group, "podGroupName"));
	bool elsewhere = decode_find(spec, "workloadRef") != NULL;
	pod->has_group = group != NULL || elsewhere;
	if (!elsewhere && json_object_size(group) == 1 && name != NULL && parts_is_name(name)) {
		pod->group_name = arena_strdup(arena, name);
	}
}

static int read_spec(const json_t *spec, bool admission, struct arena *arena, struct pod *pod,
	struct fault *ret_fault)
{
	const char *preemption = NULL;
	if (spec == NULL) {
		return 0;
	}
	if (decode_fields(spec, spec_fields, COUNT_OF(spec_fields), arena, pod, ret_fault) < 0 ||
		decode_text(spec, "preemptionPolicy", &preemption, ret_fault) < 0) {
		return -1;
	}
	pod->has_priority = decode_find(spec, "priority") != NULL;
	pod->never_preempts = text_equals(preemption, "Never");
	pod->has_claims = any_in(spec, "resourceClaims");
	read_group(spec, arena, pod);
	pod->has_deadline = decode_find(spec, "activeDeadlineSeconds") != NULL;
	pod->lingers = pod_is_capacity(pod) &&
		       json_integer_value(decode_find(spec, "terminationGracePeriodSeconds")) >=
			       CAPACITY_LINGER_S;
	if (pod_placing_decode(spec, admission, arena, pod, ret_fault) < 0) {
		return -1;
	}
	read_claims(spec, arena, pod);
	if (pod_neighbours_decode(spec, arena, pod, ret_fault) < 0) {
		return -1;
	}
	pod->crosses_namespaces = pod_crosses_namespaces(spec);
	return pod_containers_decode(spec, admission, arena, pod, ret_fault);
}

/* --- the pod --- */

/* A tenant could not be made whole again by it. */
static bool is_forged(const struct pod *pod)
{
	const char *original = pairs_get(&pod->notes, NOTE_ORIGINAL);
	return !text_empty(original) && !tenant_original_reads(original);
}

static int read_parts(const json_t *root, bool admission, struct arena *arena, struct pod *pod,
	struct fault *ret_fault)
{
	const json_t *meta = NULL;
	const json_t *spec = NULL;
	const json_t *status = NULL;
	if (!json_is_object(root)) {
		return decode_mismatch(root, "object", ret_fault);
	}
	if (decode_object(root, "metadata", &meta, ret_fault) < 0 ||
		decode_object(root, "spec", &spec, ret_fault) < 0 ||
		decode_object(root, "status", &status, ret_fault) < 0) {
		return -1;
	}
	if (read_meta(meta, arena, pod, ret_fault) < 0) {
		return fault_wrap(ret_fault, "metadata");
	}
	if (read_spec(spec, admission, arena, pod, ret_fault) < 0) {
		return fault_wrap(ret_fault, "spec");
	}
	if (pod_status_decode(status, arena, pod, ret_fault) < 0) {
		return fault_wrap(ret_fault, "status");
	}
	pod->forged = pod_has_gate(pod, NAME_GATE) && is_forged(pod);
	pod_bound(arena, pod);
	if (!admission) {
		pod_door_decode(root, arena, pod);
	}
	return 0;
}

int pod_decode_value(const json_t *root, bool admission, struct arena *arena, struct pod *ret_pod,
	struct fault *ret_fault)
{
	struct pod pod = {.ns = "", .name = "", .uid = "", .resource_version = ""};
	if (read_parts(root, admission, arena, &pod, ret_fault) < 0) {
		return fault_wrap(ret_fault, "pod %.63s/%.63s", pod.ns, pod.name);
	}
	*ret_pod = pod;
	return 0;
}

int pod_decode(const char *json, size_t n, struct arena *arena, struct pod *ret_pod,
	struct fault *ret_fault)
{
	CLEANUP(decode_release) json_t *root = NULL;
	if (decode_parse(json, n, DECODE_MEND, &root, ret_fault) < 0) {
		return fault_wrap(ret_fault, "pod");
	}
	if (pod_decode_value(root, false, arena, ret_pod, ret_fault) < 0) {
		return -1;
	}
	if (json_is_true(json_object_get(root, SLICE_CUT))) {
		ret_pod->cut = ret_pod->too_complex = true;
	}
	return 0;
}
