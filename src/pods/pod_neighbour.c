/* What a pod requires of other pods near it: required affinity and anti-affinity, and topology
 * spread that must hold. Few and short terms are read; whatever else there is, is marked as not
 * judged. */
#include "pod_neighbour.h"
#include "codec/parts.h"
#include "json/decode.h"

#define REQUIRED  "requiredDuringSchedulingIgnoredDuringExecution"
#define PREFERRED "preferredDuringSchedulingIgnoredDuringExecution"
#define HOST_NAME "kubernetes.io/hostname"
/* Every term is held against every GPU pod: few and short ones only. */
#define TERMS_MAX 8
#define PARTS_MAX 64

static size_t count_parts(const json_t *selector)
{
	const json_t *expressions = json_object_get(selector, "matchExpressions");
	size_t count = json_object_size(json_object_get(selector, "matchLabels"));
	for (size_t i = 0; i < json_array_size(expressions); i++) {
		count += 1 +
			 json_array_size(json_object_get(json_array_get(expressions, i), "values"));
	}
	return count;
}

/* Namespaces by their labels are not known here, but for {}, which is all. */
static bool is_judged(const json_t *term)
{
	const json_t *key = decode_find(term, "topologyKey");
	const json_t *spaces = decode_find(term, "namespaceSelector");
	return json_is_string(key) && json_string_length(key) > 0 &&
	       (spaces == NULL || json_object_size(spaces) == 0) &&
	       count_parts(decode_find(term, "labelSelector")) +
			       json_array_size(decode_find(term, "matchLabelKeys")) +
			       json_array_size(decode_find(term, "mismatchLabelKeys")) <=
		       PARTS_MAX &&
	       json_array_size(decode_find(term, "namespaces")) <= PARTS_MAX;
}

/* The pod's own values of these labels, or any but those. The API server writes some of them into
 * the selector when the pod is stored; twice is as good as once. */
static void add_own_labels(const json_t *keys, enum term_operator operator, const struct pod * pod,
	struct arena *arena, struct selector *selector)
{
	struct terms all = {.count = 0};
	all.items = ARENA_ARRAY(
		arena, struct term, selector->expressions.count + json_array_size(keys));
	for (uint32_t i = 0; i < selector->expressions.count; i++) {
		all.items[all.count++] = selector->expressions.items[i];
	}
	for (size_t i = 0; i < json_array_size(keys); i++) {
		const json_t *key = json_array_get(keys, i);
		const char *value = json_is_string(key)
					    ? pairs_get(&pod->labels, json_string_value(key))
					    : NULL;
		if (value == NULL) {
			continue;
		}
		struct term *t = &all.items[all.count++];
		t->key = arena_strdup(arena, json_string_value(key));
		t->operator= operator;
		t->values = ARENA_ARRAY(arena, const char *, 1);
		t->values[0] = value;
		t->value_count = 1;
	}
	selector->expressions = all;
}

/* What the forms have in common. */
static int read_common(const struct reading *r, const json_t *object, const struct pod *pod,
	struct neighbour_term *t)
{
	const json_t *selector = NULL;
	const char *key = decode_find_text(object, "topologyKey");
	if (decode_object(object, "labelSelector", &selector, r->fault) < 0 ||
		parts_read_selector(selector, r->arena, &t->pods, r->fault) < 0) {
		return fault_wrap(r->fault, "labelSelector");
	}
	t->key = strcmp(key, HOST_NAME) == 0 ? NULL : arena_strdup(r->arena, key);
	const json_t *same = decode_find(object, "matchLabelKeys");
	const json_t *other = decode_find(object, "mismatchLabelKeys");
	if (t->pods.present && (json_array_size(same) > 0 || json_array_size(other) > 0)) {
		add_own_labels(same, TERM_IN, pod, r->arena, &t->pods);
		add_own_labels(other, TERM_NOT_IN, pod, r->arena, &t->pods);
	}
	return 0;
}

static int read_term(const struct reading *r, const json_t *object, const struct pod *pod,
	struct neighbour_term *t)
{
	const json_t *spaces = NULL;
	if (decode_array(object, "namespaces", &spaces, r->fault) < 0 ||
		decode_texts(spaces, r->arena, &t->namespaces, &t->namespace_count, r->fault) < 0) {
		return -1;
	}
	t->all_namespaces = decode_find(object, "namespaceSelector") != NULL;
	return read_common(r, object, pod, t);
}

static struct neighbour_term *add_term(
	struct arena *arena, enum neighbour_kind kind, struct pod *pod)
{
	if (pod->neighbours == NULL) {
		pod->neighbours = ARENA_ARRAY(arena, struct neighbour_term, TERMS_MAX);
	}
	struct neighbour_term *t = &pod->neighbours[pod->neighbour_count++];
	*t = (struct neighbour_term){.kind = kind};
	return t;
}

/* --- topology spread --- */

static const struct field spread_fields[] = {
	FIELD("maxSkew", i32, AT(neighbour_term, max_skew), .required = true),
	FIELD("minDomains", i32, AT(neighbour_term, min_domains)),
};
static const struct shape spread_shape = {SHAPE(neighbour_term, spread_fields)};

/* What cannot be read is judged by nobody here. */
static void read_spread(const json_t *object, struct arena *arena, struct pod *pod)
{
	const char *affinity = decode_find_text(object, "nodeAffinityPolicy");
	const char *taints = decode_find_text(object, "nodeTaintsPolicy");
	struct neighbour_term *t = pod->neighbour_count < TERMS_MAX && is_judged(object)
					   ? add_term(arena, NEIGHBOUR_SPREAD, pod)
					   : NULL;
	if (t == NULL) {
		pod->has_spread = true;
		return;
	}
	const struct reading quiet = {.arena = arena};
	t->any_node = text_equals(affinity, "Ignore");
	t->heeds_taints = text_equals(taints, "Honor");
	if (fields_read(object, &spread_shape, arena, t, NULL) < 0 ||
		read_common(&quiet, object, pod, t) < 0) {
		pod->neighbour_count--;
		pod->has_spread = true;
	}
}

static void read_spreads(const json_t *spec, struct arena *arena, struct pod *pod)
{
	const json_t *array = decode_find(spec, "topologySpreadConstraints");
	for (size_t i = 0; i < json_array_size(array); i++) {
		const json_t *constraint = json_array_get(array, i);
		const char *when = decode_find_text(constraint, "whenUnsatisfiable");
		if (!text_equals(when, "ScheduleAnyway")) {
			read_spread(constraint, arena, pod);
		}
	}
}

/* --- affinity --- */

static bool any_names_spaces(const json_t *affinity, const char *list, const char *inside)
{
	const json_t *terms = decode_find(affinity, list);
	for (size_t i = 0; i < json_array_size(terms); i++) {
		const json_t *term = json_array_get(terms, i);
		term = inside != NULL ? decode_find(term, inside) : term;
		if (json_array_size(decode_find(term, "namespaces")) > 0 ||
			decode_find(term, "namespaceSelector") != NULL) {
			return true;
		}
	}
	return false;
}

bool pod_crosses_namespaces(const json_t *spec)
{
	static const char *const paths[] = {"affinity.podAffinity", "affinity.podAntiAffinity"};
	for (size_t i = 0; i < COUNT_OF(paths); i++) {
		const json_t *affinity = decode_find(spec, paths[i]);
		if (any_names_spaces(affinity, REQUIRED, NULL) ||
			any_names_spaces(affinity, PREFERRED, "podAffinityTerm")) {
			return true;
		}
	}
	return false;
}

static int read_required(
	const struct reading *r, const json_t *spec, enum neighbour_kind kind, struct pod *pod)
{
	const char *path = kind == NEIGHBOUR_APART ? "affinity.podAntiAffinity." REQUIRED
						   : "affinity.podAffinity." REQUIRED;
	const json_t *terms = NULL;
	if (decode_array(spec, path, &terms, r->fault) < 0) {
		return -1;
	}
	for (size_t i = 0; i < json_array_size(terms); i++) {
		const json_t *term = json_array_get(terms, i);
		if (pod->neighbour_count == TERMS_MAX || !is_judged(term)) {
			pod->has_pod_affinity = true;
			continue;
		}
		struct neighbour_term *t = add_term(r->arena, kind, pod);
		if (read_term(r, term, pod, t) < 0) {
			return fault_wrap(r->fault, "%s[%zu]", path, i);
		}
	}
	return 0;
}

int pod_neighbours_decode(const struct reading *r, const json_t *spec, struct pod *pod)
{
	if (read_required(r, spec, NEIGHBOUR_APART, pod) < 0 ||
		read_required(r, spec, NEIGHBOUR_BESIDE, pod) < 0) {
		return -1;
	}
	read_spreads(spec, r->arena, pod);
	return 0;
}
