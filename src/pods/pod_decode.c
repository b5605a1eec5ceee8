/* A pod's metadata and the scheduling part of its spec. */
#include "pods/pod_decode.h"

#include "own/capacity_text.h"
#include "own/injection_text.h"
#include "codec/parts.h"
#include "json/decode.h"
#include "model/names.h"
#include "pod_bounds.h"
#include "pod_container.h"
#include "pod_door.h"
#include "pod_neighbour.h"
#include "pod_placing.h"
#include "pod_status.h"
#include "tenant_plain.h"

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

/* --- metadata --- */

static bool is_replica_set(const json_t *owner)
{
	return text_equals(decode_find_text(owner, "kind"), "ReplicaSet") &&
	       text_equals(decode_find_text(owner, "apiVersion"), "apps/v1");
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

static int read_owner(const struct reading *r, const json_t *meta, struct pod *pod)
{
	const json_t *owners = NULL;
	if (decode_array(meta, "ownerReferences", &owners, r->fault) < 0) {
		return -1;
	}
	size_t i = find_owner(owners, pod);
	if (i < json_array_size(owners)) {
		const json_t *owner = json_array_get(owners, i);
		if (fields_read(owner, &parts_owner_shape, r->arena, &pod->owner, r->fault) < 0) {
			return fault_wrap(r->fault, "ownerReferences[%zu]", i);
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

static int read_notes(const struct reading *r, const json_t *meta, struct pod *pod)
{
	static const char *const keys[] = {NAME_PREFIX "*", NAME_CDI_PREFIX "*", NULL};
	const json_t *notes = NULL;
	if (decode_object(meta, "annotations", &notes, r->fault) < 0) {
		return -1;
	}
	if (parts_read_pairs(notes, keys, r->arena, &pod->notes, r->fault) < 0) {
		return fault_wrap(r->fault, "annotations");
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

/* One that cannot be read proves nothing. */
static void read_claim(struct arena *arena, struct pod *pod)
{
	const char *text = pairs_get(&pod->notes, NOTE_INJECTION);
	struct inject_claim *claim = ARENA_NEW(arena, struct inject_claim);
	if (text != NULL && inject_claim_decode(text, arena, claim, NULL) == 0) {
		pod->claim = claim;
	}
}

static int finish_meta(const struct reading *r, void *noun)
{
	struct pod *pod = noun;
	if (read_notes(r, r->object, pod) < 0) {
		return -1;
	}
	if (pod_is_capacity(pod)) {
		/* A ledger that cannot be read is not an empty one: nothing is granted where nobody
		 * knows what is. */
		const char *text = pairs_get(&pod->notes, NOTE_GRANTS);
		pod->ledger_bad = ledger_decode(text, r->arena, &pod->ledger, NULL) < 0;
	}
	if (pod_is_capacity(pod) || pod_is_probe(pod)) {
		read_claim(r->arena, pod);
	}
	if (read_owner(r, r->object, pod) < 0) {
		return -1;
	}
	pod->keeps_node = pod->keeps_node || text_equals(pod->owner.kind, "Job");
	return 0;
}

static const struct field meta_fields[] = {
	FIELD("namespace", text, AT(pod, ns)),
	FIELD("name", text, AT(pod, name)),
	FIELD("generateName", text, AT(pod, generate_name), .unwatched = true),
	FIELD("uid", text, AT(pod, uid)),
	FIELD("resourceVersion", text, AT(pod, resource_version)),
	FIELD("creationTimestamp", time, AT(pod, created_ms)),
	FIELD("deletionTimestamp", time, AT(pod, deleting_ms)),
	FIELD("deletionGracePeriodSeconds", i64, AT(pod, grace_s)),
	/* What we read by its name no other label or annotation takes the room of. */
	FIELD("labels", pairs, AT(pod, labels), .bytes = LABELS_READ,
		.keys = WORDS(LABEL_TENANT, LABEL_CAPACITY, NAME_PREFIX "*", "*")),
	{.path = "annotations",
		.bytes = NOTES_MAX,
		.keys = WORDS(NOTE_POLICY, NOTE_EXCLUDE, NOTE_MODE, NOTE_GPU_FRACTION,
			NOTE_GPU_MEMORY, NOTE_GPU_COUNT, NOTE_SURGED_BY, NOTE_SURGE_HASH,
			NOTE_SURGE_GENERATION, NOTE_ORIGINAL, NOTE_CONTAINER, NOTE_SHARE,
			NOTE_MEMORY, NOTE_POLICY_APPLIED, NOTE_RECOMMENDATION, NOTE_ISOLATION,
			NOTE_FRAMEWORK, NOTE_GPU_UUID, NOTE_VISIBLE_DEVICES, NOTE_COMPUTE_MILLI,
			NOTE_MEMORY_MIB, NOTE_MPS_THREADS, NOTE_MPS_MEMORY, NOTE_FRAMEWORK_MEMORY,
			NOTE_CAPACITY_POD, NOTE_TERM, NOTE_RESIZED, NOTE_GRANTS, NOTE_INJECTION,
			NAME_PREFIX "*", NAME_CDI_PREFIX "*", NOTE_SAFE_TO_EVICT,
			NOTE_DO_NOT_DISRUPT, NOTE_DELETION_COST, MIRROR_NOTE, SOURCE_NOTE,
			"prometheus.io/*")},
	{.path = "ownerReferences", .bytes = LIST_MAX, .inside = &parts_owner_shape},
	FIELD_KEPT("ownerReferences.controller"),
};
static const struct shape meta_shape = {SHAPE(pod, meta_fields), .finish = finish_meta};

/* --- spec --- */

#define REQUIRED  "requiredDuringSchedulingIgnoredDuringExecution"
#define PREFERRED "preferredDuringSchedulingIgnoredDuringExecution"

static const struct field affinity_fields[] = {
	FIELD_KEPT(REQUIRED ".topologyKey"),
	{.path = REQUIRED ".labelSelector", .bytes = SELECTOR_MAX},
	{.path = REQUIRED ".matchLabelKeys", .bytes = SELECTOR_MAX},
	{.path = REQUIRED ".mismatchLabelKeys", .bytes = SELECTOR_MAX},
	{.path = REQUIRED ".namespaces", .bytes = SELECTOR_MAX},
	{.path = REQUIRED ".namespaceSelector", .bytes = SELECTOR_MAX},
	{.path = REQUIRED, .bytes = LIST_MAX, .keys = WORDS_NONE},
	{.path = PREFERRED ".podAffinityTerm.namespaces", .bytes = SELECTOR_MAX},
	{.path = PREFERRED ".podAffinityTerm.namespaceSelector", .bytes = SELECTOR_MAX},
	{.path = PREFERRED, .bytes = LIST_MAX, .keys = WORDS_NONE},
};
static const struct shape affinity_shape = {SHAPE(pod, affinity_fields)};

static const struct field spread_fields[] = {
	FIELD_KEPT("whenUnsatisfiable"),
	FIELD_KEPT("topologyKey"),
	FIELD_KEPT("maxSkew"),
	FIELD_KEPT("minDomains"),
	{.path = "labelSelector", .bytes = SELECTOR_MAX},
	{.path = "matchLabelKeys", .bytes = SELECTOR_MAX},
	FIELD_KEPT("nodeAffinityPolicy"),
	FIELD_KEPT("nodeTaintsPolicy"),
};
static const struct shape spread_shape = {SHAPE(pod, spread_fields)};

static const struct field spec_fields[] = {
	{.path = "containers", .bytes = CONTAINERS_MAX, .inside = &pod_container_shape},
	{.path = "initContainers", .bytes = CONTAINERS_MAX, .inside = &pod_container_shape},
	{.path = "volumes", .bytes = LIST_MAX, .keys = WORDS("name")},
	FIELD_KEPT("volumes.persistentVolumeClaim.claimName"),
	{.path = "volumes.ephemeral", .keys = WORDS_NONE},
	{.path = "affinity.nodeAffinity." REQUIRED, .bytes = RULES_MAX},
	{.path = "affinity.podAffinity", .inside = &affinity_shape},
	{.path = "affinity.podAntiAffinity", .inside = &affinity_shape},
	{.path = "topologySpreadConstraints", .bytes = LIST_MAX, .inside = &spread_shape},
	{.path = "resourceClaims", .bytes = LIST_MAX, .keys = WORDS("name")},
	{.path = "resources.requests", .bytes = LIST_MAX},
	FIELD("activeDeadlineSeconds", there, AT(pod, has_deadline)),
	FIELD_KEPT("hostNetwork"),
	FIELD("nodeName", text, AT(pod, node)),
	{.path = "nodeSelector", .bytes = 2 * RULES_MAX, .keys = WORDS("*")},
	{.path = "overhead", .bytes = LIST_MAX},
	FIELD_KEPT("preemptionPolicy"),
	FIELD("priority", i32, AT(pod, priority)),
	FIELD("priority", there, AT(pod, has_priority)),
	FIELD("priorityClassName", text, AT(pod, priority_class)),
	FIELD("runtimeClassName", text, AT(pod, runtime_class)),
	FIELD("schedulerName", text, AT(pod, scheduler)),
	{.path = "schedulingGates", .bytes = RULES_MAX, .keys = WORDS("name")},
	FIELD_KEPT("schedulingGroup"),
	FIELD_KEPT("workloadRef"),
	FIELD_KEPT("terminationGracePeriodSeconds"),
	{.path = "tolerations", .bytes = RULES_MAX, .inside = &pod_toleration_shape},
};
static const struct shape spec_shape = {SHAPE(pod, spec_fields)};

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

static void read_claims(const json_t *spec, struct arena *arena, struct pod *pod)
{
	const json_t *array = decode_find(spec, "volumes");
	for (size_t i = 0; i < json_array_size(array); i++) {
		const char *claim = claim_of(json_array_get(array, i), pod, arena);
		if (claim == NULL || texts_have(pod->claims, pod->claim_count, claim)) {
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

static int read_spec(const struct reading *r, const json_t *spec, bool admission, struct pod *pod)
{
	const char *preemption = NULL;
	if (fields_read(spec, &spec_shape, r->arena, pod, r->fault) < 0 ||
		decode_text(spec, "preemptionPolicy", &preemption, r->fault) < 0) {
		return -1;
	}
	pod->never_preempts = text_equals(preemption, "Never");
	pod->has_claims = json_array_size(decode_find(spec, "resourceClaims")) > 0;
	read_group(spec, r->arena, pod);
	pod->lingers = pod_is_capacity(pod) &&
		       json_integer_value(decode_find(spec, "terminationGracePeriodSeconds")) >=
			       CAPACITY_LINGER_S;
	if (pod_placing_decode(r, spec, admission, pod) < 0) {
		return -1;
	}
	read_claims(spec, r->arena, pod);
	if (pod_neighbours_decode(r, spec, pod) < 0) {
		return -1;
	}
	pod->crosses_namespaces = pod_crosses_namespaces(spec);
	return pod_containers_decode(r, spec, admission, pod);
}

static int read_watched(const struct reading *r, const json_t *value, void *to)
{
	return read_spec(r, value, false, to);
}

static int read_reviewed(const struct reading *r, const json_t *value, void *to)
{
	return read_spec(r, value, true, to);
}

static const struct field_kind field_watched = {.read = read_watched};
static const struct field_kind field_reviewed = {.read = read_reviewed};

/* --- the pod --- */

static int finish_reviewed(const struct reading *r, void *noun)
{
	struct pod *pod = noun;
	const char *original = pairs_get(&pod->notes, NOTE_ORIGINAL);
	/* A tenant could not be made whole again by one that does not read. */
	pod->forged = pod_has_gate(pod, NAME_GATE) && !text_empty(original) &&
		      !tenant_original_reads(original);
	pod_bound(r->arena, pod);
	return 0;
}

static int finish_watched(const struct reading *r, void *noun)
{
	struct pod *pod = noun;
	(void)finish_reviewed(r, noun);
	pod_door_decode(r->object, r->arena, pod);
	if (json_is_true(json_object_get(r->object, SLICE_CUT))) {
		pod->cut = pod->too_complex = true;
	}
	return 0;
}

static const struct pod no_pod = {.ns = "", .name = "", .uid = "", .resource_version = ""};

static const struct field pod_fields[] = {
	FIELD("metadata", object, .inside = &meta_shape),
	FIELD("spec", watched, .inside = &spec_shape),
	FIELD("status", object, .inside = &pod_status_shape),
};
const struct shape pod_shape = {SHAPE(pod, pod_fields), .defaults = &no_pod,
	SHAPE_NAMES("pod", pod, ns, name), .flags = DECODE_MEND, .finish = finish_watched};

static const struct field reviewed_fields[] = {
	FIELD("metadata", object, .inside = &meta_shape),
	FIELD("spec", reviewed, .inside = &spec_shape),
	FIELD("status", object, .inside = &pod_status_shape),
};
static const struct shape reviewed_shape = {SHAPE(pod, reviewed_fields), .defaults = &no_pod,
	SHAPE_NAMES("pod", pod, ns, name), .finish = finish_reviewed};

int pod_decode(const char *json, size_t n, struct arena *arena, struct pod *ret_pod,
	struct fault *ret_fault)
{
	return fields_decode((struct view){json, n}, &pod_shape, arena, ret_pod, ret_fault);
}

int pod_review(
	const json_t *root, struct arena *arena, struct pod *ret_pod, struct fault *ret_fault)
{
	return fields_fill(root, &reviewed_shape, arena, ret_pod, ret_fault);
}
