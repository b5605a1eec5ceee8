/* Where a pod may go: gates, nodeSelector, node affinity, tolerations.
 *
 * The API server limits none of these lists but by the size of the object, and every one is walked
 * for every node and GPU: a pod with fifty thousand terms would hold up the placing of all others.
 * So they are counted first, and a pod over the limit is marked and keeps none of them. */
#include "pod_placing.h"

#include "model/names.h"
#include "codec/parts.h"
#include "json/decode.h"

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

struct gate {
	const char *name;
};

static const struct field gate_fields[] = {
	FIELD("name", text, AT(gate, name)),
};
static const struct shape gate_shape = {
	SHAPE(gate, gate_fields), .defaults = &(const struct gate){.name = ""}};

/* Whether our gate is among them matters of every pod: it is kept whatever the number. */
static int take_our_gate(const struct reading *r, const void *item, void *noun)
{
	struct pod *pod = noun;
	const struct gate *gate = item;
	if (pod->gate_count == 0 && text_equals(gate->name, NAME_GATE)) {
		pod->gates = ARENA_ARRAY(r->arena, const char *, 1);
		pod->gates[pod->gate_count++] = NAME_GATE;
	}
	return 0;
}

static const struct field complex_fields[] = {
	FIELD("schedulingGates", each, .inside = &gate_shape, .each = take_our_gate),
};
static const struct shape complex_shape = {SHAPE(pod, complex_fields)};

/* Empty means the same as absent. */
static int finish_toleration(const struct reading *r, void *noun)
{
	struct toleration *t = noun;
	(void)r;
	t->key = text_empty(t->key) ? NULL : t->key;
	t->effect = text_empty(t->effect) ? NULL : t->effect;
	t->operator= text_empty(t->operator) ? "Equal" : t->operator;
	t->value = text_or(t->value, "");
	return 0;
}

static const struct field toleration_fields[] = {
	FIELD("key", text, AT(toleration, key)),
	FIELD("operator", text, AT(toleration, operator)),
	FIELD("value", text, AT(toleration, value)),
	FIELD("effect", text, AT(toleration, effect)),
};
const struct shape pod_toleration_shape = {
	SHAPE(toleration, toleration_fields), .finish = finish_toleration};

static const struct field placing_fields[] = {
	FIELD("nodeSelector", pairs, AT(pod, node_selector)),
	FIELD("schedulingGates", list, AT(pod, gates), COUNT_AT(pod, gate_count),
		.inside = &gate_shape),
	FIELD("tolerations", list, AT(pod, tolerations), COUNT_AT(pod, toleration_count),
		.inside = &pod_toleration_shape),
	FIELD(TERMS_PATH, rows, AT(pod, node_terms), COUNT_AT(pod, node_term_count),
		.inside = &parts_node_term_shape),
};
static const struct shape placing_shape = {SHAPE(pod, placing_fields)};

int pod_placing_decode(const struct reading *r, const json_t *spec, bool admission, struct pod *pod)
{
	struct rules rules = count_rules(spec);
	pod->too_complex = rules.count > (admission ? RULES_AT_ADMISSION : RULES_MAX) ||
			   rules.bytes > RULES_BYTES_MAX;
	if (pod->too_complex) {
		pod->cut = true;
		return fields_read(spec, &complex_shape, r->arena, pod, r->fault);
	}
	return fields_read(spec, &placing_shape, r->arena, pod, r->fault);
}
