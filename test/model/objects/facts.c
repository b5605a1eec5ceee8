/* Objects as the modelled API server has them. */
#include "facts_status.h"

#include <string.h>

#include "base/clock.h"
#include "base/str.h"
#include "model/names.h"

#define DIGITS_MOST 15

const json_t *facts_at(const json_t *value, const char *first, const char *second)
{
	const json_t *found = json_object_get(value, first);
	return second != NULL ? json_object_get(found, second) : found;
}

const char *facts_word(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

/* --- amounts --- */

static bool is_decimal(char c)
{
	return c >= '0' && c <= '9';
}

bool facts_amount(struct view text, int64_t *ret_thousandths)
{
	static const struct {
		const char *unit;
		int64_t thousandths;
	} rows[] = {{"m", 1}, {"", 1000}, {"k", 1000000}, {"M", 1000000000}, {"Ki", 1024000},
		{"Mi", 1048576000}, {"Gi", 1073741824000}};
	int64_t number = 0, below = 1;
	size_t at = 0, digits = 0;
	bool fraction = false;
	for (; at < text.n && digits <= DIGITS_MOST; at++) {
		if (text.p[at] == '.' && !fraction) {
			fraction = true;
			continue;
		}
		if (!is_decimal(text.p[at])) {
			break;
		}
		number = number * 10 + (text.p[at] - '0');
		below *= fraction ? 10 : 1;
		digits++;
	}
	for (size_t i = 0; i < COUNT_OF(rows) && digits > 0 && digits <= DIGITS_MOST; i++) {
		if (view_equals((struct view){text.p + at, text.n - at}, rows[i].unit)) {
			__extension__ __int128 all = (__int128)number * rows[i].thousandths;
			*ret_thousandths = (int64_t)((all + below - 1) / below);
			return true;
		}
	}
	return false;
}

/* What is absent leaves what was there; false: it is no amount. */
static bool take_amount(const json_t *list, const char *key, int64_t *amount)
{
	const json_t *value = json_object_get(list, key);
	if (value == NULL) {
		return true;
	}
	if (json_is_integer(value)) {
		*amount = json_integer_value(value) * 1000;
		return *amount >= 0;
	}
	return facts_amount(view_of(text_or(json_string_value(value), "")), amount);
}

static int64_t whole_units(int64_t thousandths)
{
	return (thousandths + 999) / 1000;
}

bool facts_need(const struct pod *p, int64_t usable_mib, struct need *ret_need)
{
	struct need n = {0};
	const char *share = pairs_get(&p->notes, NOTE_SHARE);
	const char *memory = pairs_get(&p->notes, NOTE_MEMORY);
	int64_t bytes = 0;
	if ((share != NULL && !facts_amount(view_of(share), &n.milli)) ||
		(memory != NULL && !facts_amount(view_of(memory), &bytes)) || usable_mib <= 0) {
		return false;
	}
	n.mem_mib = bytes / 1000 / (1 << 20);
	if (share == NULL) {
		bool more = n.mem_mib > usable_mib;
		n.milli = more ? MODEL_GPU_MILLI + 1 : n.mem_mib * MODEL_GPU_MILLI / usable_mib;
		n.milli = n.milli < 1 ? 1 : n.milli;
	}
	if (memory == NULL) {
		n.mem_mib = usable_mib * n.milli / MODEL_GPU_MILLI;
		n.mem_mib = n.mem_mib < MODEL_CONTEXT_MIB ? MODEL_CONTEXT_MIB : n.mem_mib;
	}
	*ret_need = n;
	return true;
}

/* --- lists --- */

static struct pairs facts_pairs(const json_t *object, struct arena *arena)
{
	struct pairs all = {NULL, 0};
	size_t count = json_object_size(object);
	const char *key;
	json_t *value;
	all.items = count > 0 ? ARENA_ARRAY(arena, struct pair, count) : NULL;
	json_object_foreach((json_t *)(uintptr_t)object, key, value)
	{
		if (json_is_string(value)) {
			all.items[all.count++] = (struct pair){key, json_string_value(value)};
		}
	}
	pairs_sort(&all);
	return all;
}

static bool facts_term(const json_t *from, const char *key, struct arena *arena, struct term *ret)
{
	static const char *const words[] = {"In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"};
	const json_t *values = json_object_get(from, "values");
	size_t i = 0, count = json_array_size(values);
	while (i < COUNT_OF(words) && !text_equals(facts_word(from, "operator"), words[i])) {
		i++;
	}
	*ret = (struct term){
		.key = text_or(facts_word(from, key), ""), .operator=(enum term_operator) i};
	ret->values = count > 0 ? ARENA_ARRAY(arena, const char *, count) : NULL;
	for (; ret->value_count < count; ret->value_count++) {
		const json_t *value = json_array_get(values, ret->value_count);
		ret->values[ret->value_count] = text_or(json_string_value(value), "");
	}
	return i < COUNT_OF(words);
}

static bool read_terms(const json_t *list, struct arena *arena, struct terms *ret)
{
	size_t count = json_array_size(list);
	*ret = (struct terms){count > 0 ? ARENA_ARRAY(arena, struct term, count) : NULL, 0};
	for (; ret->count < count; ret->count++) {
		if (!facts_term(json_array_get(list, ret->count), "key", arena,
			    &ret->items[ret->count])) {
			return false;
		}
	}
	return true;
}

static bool facts_node_terms(const json_t *spec, struct arena *arena, struct pod *pod)
{
	const json_t *affinity = facts_at(spec, "affinity", "nodeAffinity");
	const json_t *terms = facts_at(
		affinity, "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms");
	size_t count = json_array_size(terms);
	pod->node_terms = count > 0 ? ARENA_ARRAY(arena, struct node_term, count) : NULL;
	for (size_t i = 0; i < count; i++) {
		const json_t *term = json_array_get(terms, i);
		struct node_term *t = &pod->node_terms[pod->node_term_count++];
		if (!read_terms(json_object_get(term, "matchExpressions"), arena, &t->labels) ||
			!read_terms(json_object_get(term, "matchFields"), arena, &t->fields)) {
			return false;
		}
	}
	return true;
}

/* --- pods --- */

static int64_t facts_time(const json_t *object, const char *key)
{
	int64_t at = 0;
	const char *text = facts_word(object, key);
	return text != NULL && time_parse(text, &at) ? at : 0;
}

/* Its controller; or, of a pod that stands beside another, the one ReplicaSet that it names. */
static void facts_owner(const json_t *meta, struct pod *pod)
{
	const json_t *owners = json_object_get(meta, "ownerReferences"), *found = NULL;
	for (size_t i = 0; i < json_array_size(owners) && found == NULL; i++) {
		const json_t *o = json_array_get(owners, i);
		found = json_is_true(json_object_get(o, "controller")) ? o : NULL;
	}
	const json_t *first = json_array_get(owners, 0);
	if (found == NULL && json_array_size(owners) == 1 &&
		pairs_get(&pod->labels, LABEL_SURGE) != NULL &&
		text_equals(facts_word(first, "kind"), "ReplicaSet")) {
		pod->beside = true;
		found = first;
	}
	if (found != NULL) {
		pod->owner =
			(struct owner){facts_word(found, "apiVersion"), facts_word(found, "kind"),
				facts_word(found, "name"), facts_word(found, "uid")};
	}
}

static void facts_meta(const json_t *meta, struct arena *arena, struct pod *pod)
{
	pod->ns = text_or(facts_word(meta, "namespace"), "");
	pod->name = text_or(facts_word(meta, "name"), "");
	pod->uid = text_or(facts_word(meta, "uid"), "");
	pod->resource_version = text_or(facts_word(meta, "resourceVersion"), "");
	pod->created_ms = facts_time(meta, "creationTimestamp");
	pod->deleting_ms = facts_time(meta, "deletionTimestamp");
	pod->grace_s = json_integer_value(json_object_get(meta, "deletionGracePeriodSeconds"));
	pod->labels = facts_pairs(json_object_get(meta, "labels"), arena);
	pod->notes = facts_pairs(json_object_get(meta, "annotations"), arena);
	pod->surged = pairs_get(&pod->notes, NOTE_SURGED_BY) != NULL;
	facts_owner(meta, pod);
}

/* Containers run together, init containers one by one before them. */
static bool read_resource(const json_t *spec, const char *name, int64_t *ret_thousandths)
{
	static const char *const lists[] = {"containers", "initContainers"};
	int64_t together = 0, most = 0;
	for (size_t k = 0; k < COUNT_OF(lists); k++) {
		const json_t *list = json_object_get(spec, lists[k]);
		for (size_t i = 0; i < json_array_size(list); i++) {
			const json_t *has = json_object_get(json_array_get(list, i), "resources");
			int64_t one = 0;
			if (!take_amount(json_object_get(has, "limits"), name, &one) ||
				!take_amount(json_object_get(has, "requests"), name, &one)) {
				return false;
			}
			together += k == 0 ? one : 0;
			most = k == 1 && one > most ? one : most;
		}
	}
	*ret_thousandths = together > most ? together : most;
	return true;
}

static bool read_needs(const json_t *spec, struct pod *pod)
{
	int64_t cpu = 0, memory = 0, gpus = 0;
	bool read = read_resource(spec, "cpu", &cpu) && read_resource(spec, "memory", &memory) &&
		    read_resource(spec, NAME_GPU_RESOURCE, &gpus);
	pod->cpu_milli = cpu;
	pod->mem_bytes = whole_units(memory);
	pod->gpus = whole_units(gpus);
	pod->best_effort = cpu == 0 && memory == 0;
	return read;
}

static bool facts_spec(const json_t *spec, struct arena *arena, struct pod *pod)
{
	const json_t *gates = json_object_get(spec, "schedulingGates");
	size_t count = json_array_size(gates);
	int64_t linger = json_integer_value(json_object_get(spec, "terminationGracePeriodSeconds"));
	pod->node = facts_word(spec, "nodeName");
	pod->scheduler = facts_word(spec, "schedulerName");
	pod->runtime_class = facts_word(spec, "runtimeClassName");
	pod->priority_class = facts_word(spec, "priorityClassName");
	pod->priority = (int32_t)json_integer_value(json_object_get(spec, "priority"));
	pod->has_deadline = json_object_get(spec, "activeDeadlineSeconds") != NULL;
	pod->lingers = linger >= CAPACITY_LINGER_S;
	pod->node_selector = facts_pairs(json_object_get(spec, "nodeSelector"), arena);
	pod->gates = count > 0 ? ARENA_ARRAY(arena, const char *, count) : NULL;
	for (; pod->gate_count < count; pod->gate_count++) {
		const json_t *gate = json_array_get(gates, pod->gate_count);
		pod->gates[pod->gate_count] = text_or(facts_word(gate, "name"), "");
	}
	return read_needs(spec, pod) && facts_node_terms(spec, arena, pod);
}

bool facts_pod(const json_t *value, struct arena *arena, struct pod *ret_pod)
{
	*ret_pod = (struct pod){0};
	facts_meta(json_object_get(value, "metadata"), arena, ret_pod);
	facts_status(json_object_get(value, "status"), arena, ret_pod);
	facts_texts(arena, ret_pod);
	return facts_spec(json_object_get(value, "spec"), arena, ret_pod);
}

/* --- nodes and quotas --- */

bool facts_node(const json_t *value, struct arena *arena, struct node *ret_node)
{
	const json_t *meta = json_object_get(value, "metadata");
	const json_t *conditions = facts_at(value, "status", "conditions");
	const json_t *offers = facts_at(value, "status", "allocatable");
	int64_t cpu = 0, memory = 0, slots = 0, gpus = 0;
	struct node n = {.name = text_or(facts_word(meta, "name"), ""),
		.uid = text_or(facts_word(meta, "uid"), ""),
		.resource_version = text_or(facts_word(meta, "resourceVersion"), "")};
	n.labels = facts_pairs(json_object_get(meta, "labels"), arena);
	n.unschedulable = json_is_true(facts_at(value, "spec", "unschedulable"));
	n.taint_count = (uint32_t)json_array_size(facts_at(value, "spec", "taints"));
	for (size_t i = 0; i < json_array_size(conditions); i++) {
		const json_t *c = json_array_get(conditions, i);
		n.ready = n.ready || (text_equals(facts_word(c, "type"), "Ready") &&
					     text_equals(facts_word(c, "status"), "True"));
	}
	bool read = take_amount(offers, "cpu", &cpu) && take_amount(offers, "memory", &memory) &&
		    take_amount(offers, "pods", &slots) &&
		    take_amount(offers, NAME_GPU_RESOURCE, &gpus);
	n.cpu_milli = cpu;
	n.mem_bytes = whole_units(memory);
	n.pod_slots = whole_units(slots);
	n.gpus = whole_units(gpus);
	*ret_node = n;
	return read;
}

bool facts_quota(const json_t *value, struct arena *arena, struct quota *ret_quota)
{
	const json_t *meta = json_object_get(value, "metadata");
	const json_t *hard = facts_at(value, "spec", "hard");
	const json_t *scopes = facts_at(value, "spec", "scopes");
	size_t count = json_array_size(scopes);
	struct quota q = {.ns = text_or(facts_word(meta, "namespace"), ""),
		.name = text_or(facts_word(meta, "name"), "")};
	q.bounds_gpus = json_object_get(hard, "requests." NAME_GPU_RESOURCE) != NULL;
	q.scopes.items = count > 0 ? ARENA_ARRAY(arena, struct term, count) : NULL;
	for (; q.scopes.count < count; q.scopes.count++) {
		const char *scope = json_string_value(json_array_get(scopes, q.scopes.count));
		q.scopes.items[q.scopes.count] =
			(struct term){.key = text_or(scope, ""), .operator= TERM_EXISTS };
	}
	bool read = take_amount(hard, "requests." NAME_GPU_RESOURCE, &q.hard_milli);
	*ret_quota = q;
	return read;
}

int64_t facts_note_number(const struct pod *p, const char *key)
{
	int64_t value = 0;
	const char *text = pairs_get(&p->notes, key);
	return text != NULL && parse_i64(view_of(text), 0, INT64_MAX / 4, &value) ? value : 0;
}
