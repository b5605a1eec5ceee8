/* Where a pod may go: gates, nodeSelector, node affinity, tolerations.
 *
 * The API server limits none of these lists but by the size of the object, and every one is walked
 * for every node and GPU: a pod with fifty thousand terms would hold up the placing of all others.
 * So they are counted first, and a pod over the limit is marked and keeps none of them. */
#include "model/names.h"
#include "pod_parts.h"

#define TERMS_PATH                                                                                 \
	"affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"

/* Far more than people write: the largest seen are lists of host names, some dozens. The engine
 * takes twice what the webhook takes, because whoever comes after the webhook may add to it. */
#define RULES_AT_ADMISSION 256
#define RULES_MAX	   (2 * RULES_AT_ADMISSION)
#define RULES_BYTES_MAX	   ((size_t)32 << 10)

/* --- how much of it there is --- */

struct rules {
	size_t count, bytes;
};

/* Nobody checks how long the values of an affinity are. */
static void count_texts(const json_t *value, struct rules *rules)
{
	const char *key;
	size_t i;
	json_t *member, *all = (json_t *)(uintptr_t)value;
	if (json_is_string(value)) {
		rules->bytes += json_string_length(value);
	}
	json_array_foreach(all, i, member)
	{
		count_texts(member, rules);
	}
	json_object_foreach(all, key, member)
	{
		rules->bytes += strlen(key);
		count_texts(member, rules);
	}
}

static void count_expressions(const json_t *term, const char *list, struct rules *rules)
{
	const json_t *array = json_object_get(term, list);
	rules->count += json_array_size(array);
	for (size_t i = 0; i < json_array_size(array); i++) {
		rules->count +=
			json_array_size(json_object_get(json_array_get(array, i), "values"));
	}
}

/* Of what has another shape nothing is counted; reading it says what is wrong. */
static struct rules count_rules(const json_t *spec)
{
	const json_t *terms = decode_find(spec, TERMS_PATH);
	const json_t *const lists[] = {terms, json_object_get(spec, "tolerations"),
		json_object_get(spec, "schedulingGates"), json_object_get(spec, "nodeSelector")};
	struct rules rules = {0};
	for (size_t i = 0; i < COUNT_OF(lists); i++) {
		rules.count += json_is_array(lists[i]) ? json_array_size(lists[i])
						       : json_object_size(lists[i]);
		count_texts(lists[i], &rules);
	}
	for (size_t i = 0; i < json_array_size(terms); i++) {
		const json_t *term = json_array_get(terms, i);
		count_expressions(term, "matchExpressions", &rules);
		count_expressions(term, "matchFields", &rules);
	}
	return rules;
}

/* --- reading it --- */

/* Whether our gate is among them matters of every pod: it is kept whatever the number. */
static int keep_our_gate(
	const json_t *spec, struct arena *arena, struct pod *pod, struct fault *ret_fault)
{
	const json_t *gates = NULL;
	if (decode_array(spec, "schedulingGates", &gates, ret_fault) < 0) {
		return -1;
	}
	for (size_t i = 0; i < json_array_size(gates); i++) {
		const char *name = NULL;
		if (decode_text(json_array_get(gates, i), "name", &name, ret_fault) < 0) {
			return fault_wrap(ret_fault, "schedulingGates[%zu]", i);
		}
		if (text_equals(name, NAME_GATE)) {
			pod->gates = ARENA_ARRAY(arena, const char *, 1);
			pod->gates[pod->gate_count++] = NAME_GATE;
			break;
		}
	}
	return 0;
}

static int read_gates(
	const json_t *spec, struct arena *arena, struct pod *pod, struct fault *ret_fault)
{
	const json_t *gates = NULL;
	if (decode_array(spec, "schedulingGates", &gates, ret_fault) < 0) {
		return -1;
	}
	size_t count = gates != NULL ? json_array_size(gates) : 0;
	pod->gates = count > 0 ? ARENA_ARRAY(arena, const char *, count) : NULL;
	for (size_t i = 0; i < count; i++) {
		const char *name = NULL;
		if (decode_text(json_array_get(gates, i), "name", &name, ret_fault) < 0) {
			return fault_wrap(ret_fault, "schedulingGates[%zu]", i);
		}
		pod->gates[pod->gate_count++] = arena_strdup(arena, text_or(name, ""));
	}
	return 0;
}

static const struct decode_field toleration_fields[] = {
	{"key", DECODE_TEXT, false, offsetof(struct toleration, key), NULL},
	{"operator", DECODE_TEXT, false, offsetof(struct toleration, operator), NULL},
	{"value", DECODE_TEXT, false, offsetof(struct toleration, value), NULL},
	{"effect", DECODE_TEXT, false, offsetof(struct toleration, effect), NULL},
};

static int read_tolerations(
	const json_t *spec, struct arena *arena, struct pod *pod, struct fault *ret_fault)
{
	const json_t *array = NULL;
	if (decode_array(spec, "tolerations", &array, ret_fault) < 0) {
		return -1;
	}
	size_t count = array != NULL ? json_array_size(array) : 0;
	pod->tolerations = count > 0 ? ARENA_ARRAY(arena, struct toleration, count) : NULL;
	for (size_t i = 0; i < count; i++) {
		struct toleration *t = &pod->tolerations[pod->toleration_count++];
		t->operator= "Equal";
		if (decode_fields(json_array_get(array, i), toleration_fields,
			    COUNT_OF(toleration_fields), arena, t, ret_fault) < 0) {
			return fault_wrap(ret_fault, "tolerations[%zu]", i);
		}
		/* Empty means the same as absent. */
		t->key = text_empty(t->key) ? NULL : t->key;
		t->effect = text_empty(t->effect) ? NULL : t->effect;
		t->operator= text_empty(t->operator) ? "Equal" : t->operator;
		t->value = text_or(t->value, "");
	}
	return 0;
}

static int read_node_terms(
	const json_t *spec, struct arena *arena, struct pod *pod, struct fault *ret_fault)
{
	const json_t *array = NULL;
	if (decode_array(spec, TERMS_PATH, &array, ret_fault) < 0) {
		return -1;
	}
	if (parts_read_node_terms(
		    array, arena, &pod->node_terms, &pod->node_term_count, ret_fault) < 0) {
		return fault_wrap(ret_fault, "%s", TERMS_PATH);
	}
	return 0;
}

int pod_placing_decode(const json_t *spec, bool admission, struct arena *arena, struct pod *pod,
	struct fault *ret_fault)
{
	const json_t *selector = NULL;
	struct rules rules = count_rules(spec);
	pod->too_complex = rules.count > (admission ? RULES_AT_ADMISSION : RULES_MAX) ||
			   rules.bytes > RULES_BYTES_MAX;
	if (pod->too_complex) {
		pod->cut = true;
		return keep_our_gate(spec, arena, pod, ret_fault);
	}
	if (decode_object(spec, "nodeSelector", &selector, ret_fault) < 0) {
		return -1;
	}
	if (parts_read_pairs(selector, NULL, arena, &pod->node_selector, ret_fault) < 0) {
		return fault_wrap(ret_fault, "nodeSelector");
	}
	if (read_gates(spec, arena, pod, ret_fault) < 0 ||
		read_tolerations(spec, arena, pod, ret_fault) < 0) {
		return -1;
	}
	return read_node_terms(spec, arena, pod, ret_fault);
}
