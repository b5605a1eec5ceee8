/* Which pods a pod does not want beside it. Only the commonest form is read, required anti-affinity
 * on the host name; whatever else there is, is marked as not judged. */
#include "pod_parts.h"

#define TERMS_PATH "affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution"
#define HOST_NAME  "kubernetes.io/hostname"
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
	const json_t *selector = decode_find(term, "labelSelector");
	return json_is_string(key) && strcmp(json_string_value(key), HOST_NAME) == 0 &&
	       (spaces == NULL || json_object_size(spaces) == 0) &&
	       count_parts(selector) <= PARTS_MAX &&
	       json_array_size(decode_find(term, "namespaces")) <= PARTS_MAX;
}

static int read_term(const json_t *object, struct arena *arena, struct neighbour_term *t,
	struct fault *ret_fault)
{
	const json_t *selector = NULL;
	const json_t *spaces = NULL;
	if (decode_object(object, "labelSelector", &selector, ret_fault) < 0 ||
		decode_array(object, "namespaces", &spaces, ret_fault) < 0 ||
		decode_texts(spaces, arena, &t->namespaces, &t->namespace_count, ret_fault) < 0) {
		return -1;
	}
	t->all_namespaces = decode_find(object, "namespaceSelector") != NULL;
	if (parts_read_selector(selector, arena, &t->pods, ret_fault) < 0) {
		return fault_wrap(ret_fault, "labelSelector");
	}
	return 0;
}

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
		if (any_names_spaces(
			    affinity, "requiredDuringSchedulingIgnoredDuringExecution", NULL) ||
			any_names_spaces(affinity,
				"preferredDuringSchedulingIgnoredDuringExecution",
				"podAffinityTerm")) {
			return true;
		}
	}
	return false;
}

int pod_neighbours_decode(
	const json_t *spec, struct arena *arena, struct pod *pod, struct fault *ret_fault)
{
	const json_t *terms = NULL;
	if (decode_array(spec, TERMS_PATH, &terms, ret_fault) < 0) {
		return -1;
	}
	for (size_t i = 0; i < json_array_size(terms); i++) {
		const json_t *term = json_array_get(terms, i);
		if (pod->neighbour_count == TERMS_MAX || !is_judged(term)) {
			pod->has_pod_affinity = true;
			continue;
		}
		if (pod->neighbours == NULL) {
			pod->neighbours = ARENA_ARRAY(arena, struct neighbour_term, TERMS_MAX);
		}
		struct neighbour_term *t = &pod->neighbours[pod->neighbour_count++];
		if (read_term(term, arena, t, ret_fault) < 0) {
			return fault_wrap(ret_fault, "%s[%zu]", TERMS_PATH, i);
		}
	}
	return 0;
}
