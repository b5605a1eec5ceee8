/* What the API server lets a writer change about a pod, as far as it matters here: gates only go,
 * node affinity is only narrowed and only while gated, a node is only given once, by binding. */
#include "rules.h"

#include <string.h>

#include "json/decode.h"
#include "model/names.h"

#define TERMS                                                                                      \
	"affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"

static bool gates_have(const json_t *gates, const char *name)
{
	size_t i;
	json_t *gate;
	json_array_foreach((json_t *)(uintptr_t)gates, i, gate)
	{
		if (text_equals(json_string_value(json_object_get(gate, "name")), name)) {
			return true;
		}
	}
	return false;
}

static bool gate_was_added(const json_t *before, const json_t *after)
{
	size_t i;
	json_t *gate;
	json_array_foreach((json_t *)(uintptr_t)after, i, gate)
	{
		const char *name = json_string_value(json_object_get(gate, "name"));
		if (!gates_have(before, text_or(name, ""))) {
			return true;
		}
	}
	return false;
}

static bool arrays_equal(const json_t *a, const json_t *b)
{
	bool none_a = a == NULL || json_array_size(a) == 0;
	bool none_b = b == NULL || json_array_size(b) == 0;
	return (none_a && none_b) ||
	       json_equal((json_t *)(uintptr_t)a, (json_t *)(uintptr_t)b) == 1;
}

static bool keeps_all(const json_t *before, const json_t *after)
{
	size_t i, j;
	json_t *had, *has;
	json_array_foreach((json_t *)(uintptr_t)before, i, had)
	{
		bool kept = false;
		json_array_foreach((json_t *)(uintptr_t)after, j, has)
		{
			kept = kept || json_equal(had, has) == 1;
		}
		if (!kept) {
			return false;
		}
	}
	return true;
}

/* Each old term is still there, with at least its old requirements. */
static bool narrowed(const json_t *before, const json_t *after)
{
	if (before == NULL || json_array_size(before) == 0) {
		return true;
	}
	if (json_array_size(before) != json_array_size(after)) {
		return false;
	}
	for (size_t i = 0; i < json_array_size(before); i++) {
		const json_t *b = json_array_get(before, i);
		const json_t *a = json_array_get(after, i);
		if (!keeps_all(json_object_get(b, "matchExpressions"),
			    json_object_get(a, "matchExpressions")) ||
			!keeps_all(json_object_get(b, "matchFields"),
				json_object_get(a, "matchFields"))) {
			return false;
		}
	}
	return true;
}

static const char *pod_note(const json_t *pod, const char *key)
{
	const json_t *notes = json_object_get(json_object_get(pod, "metadata"), "annotations");
	return json_string_value(json_object_get(notes, key));
}

/* A placement, or another share. */
static bool is_of_a_term(const json_t *before, const json_t *after)
{
	return !text_equals(pod_note(after, NOTE_TERM), pod_note(before, NOTE_TERM)) ||
	       !text_equals(pod_note(after, NOTE_RESIZED), pod_note(before, NOTE_RESIZED));
}

static bool is_tenant(const json_t *pod)
{
	const json_t *labels = json_object_get(json_object_get(pod, "metadata"), "labels");
	return text_equals(json_string_value(json_object_get(labels, LABEL_TENANT)), "true");
}

/* The policy of manifests/fence.yaml. What the API server knows of the Lease is never old here. */
bool rules_fence(const json_t *lease, const json_t *before, const json_t *after)
{
	const char *term = pod_note(after, NOTE_TERM);
	int64_t number = -1;
	if (lease == NULL || term == NULL || !is_of_a_term(before, after) ||
		!(is_tenant(before) || is_tenant(after))) {
		return true;
	}
	const json_t *spec = json_object_get(lease, "spec");
	int64_t now = json_integer_value(json_object_get(spec, "leaseTransitions"));
	return parse_i64(view_of(term), 0, INT64_MAX, &number) && number >= now;
}

const char *rules_check_pod(const json_t *before, const json_t *after)
{
	const json_t *had = json_object_get(before, "spec");
	const json_t *has = json_object_get(after, "spec");
	const json_t *gates = json_object_get(had, "schedulingGates");
	if (gate_was_added(gates, json_object_get(has, "schedulingGates"))) {
		return "spec.schedulingGates: only deletion is allowed";
	}
	const char *old_node = json_string_value(json_object_get(had, "nodeName"));
	const char *new_node = json_string_value(json_object_get(has, "nodeName"));
	if (!text_equals(old_node, new_node)) {
		return "spec.nodeName: pod updates may not change it";
	}
	const json_t *old_terms = decode_find(had, TERMS);
	const json_t *new_terms = decode_find(has, TERMS);
	if (json_array_size(gates) == 0 && !arrays_equal(old_terms, new_terms)) {
		return "spec.affinity: pod updates may not change it";
	}
	if (!narrowed(old_terms, new_terms)) {
		return "spec.affinity: only additions are allowed while gated";
	}
	if (!arrays_equal(json_object_get(had, "containers"), json_object_get(has, "containers"))) {
		return "spec.containers: pod updates may not change them";
	}
	return NULL;
}
