/* What has become of a pod, and what the product has written on it: the ledger, the identity of a
 * GPU, the proof of how containers get it. Each is a text of JSON of version 1. */
#include "facts_status.h"

#include <stdio.h>
#include <string.h>

#include "base/str.h"

static const json_t *condition_of(const json_t *status, const char *type)
{
	const json_t *list = json_object_get(status, "conditions"), *found = NULL;
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *c = json_array_get(list, i);
		found = text_equals(facts_word(c, "type"), type) ? c : found;
	}
	return found;
}

static bool condition_is_true(const json_t *condition)
{
	return text_equals(facts_word(condition, "status"), "True");
}

static const json_t *container_status(const json_t *status, const char *list, const char *name)
{
	const json_t *all = json_object_get(status, list);
	for (size_t i = 0; i < json_array_size(all); i++) {
		if (text_equals(facts_word(json_array_get(all, i), "name"), name)) {
			return json_array_get(all, i);
		}
	}
	return NULL;
}

/* NULL: it is no such text. */
static json_t *text_value(const char *text)
{
	json_t *value = text != NULL ? json_loads(text, 0, NULL) : NULL;
	if (json_integer_value(json_object_get(value, "v")) != 1) {
		json_decref(value);
		return NULL;
	}
	return value;
}

static const char *kept_word(const json_t *object, const char *key, struct arena *arena)
{
	return arena_strdup(arena, text_or(facts_word(object, key), ""));
}

static void facts_identity(const json_t *status, struct arena *arena, struct pod *pod)
{
	const json_t *of =
		container_status(status, "initContainerStatuses", CAPACITY_INIT_CONTAINER);
	const json_t *ended = facts_at(of, "state", "terminated");
	const json_t *code = json_object_get(ended, "exitCode");
	bool well = json_is_integer(code) && json_integer_value(code) == 0;
	json_t *value = well ? text_value(facts_word(ended, "message")) : NULL;
	if (facts_word(value, "uuid") != NULL) {
		struct gpu_identity *id = ARENA_NEW(arena, struct gpu_identity);
		snprintf(id->uuid, sizeof id->uuid, "%s", facts_word(value, "uuid"));
		id->mem_mib = json_integer_value(json_object_get(value, "memory"));
		pod->identity = id;
	}
	json_decref(value);
}

void facts_status(const json_t *status, struct arena *arena, struct pod *pod)
{
	static const char *const phases[] = {"Pending", "Running", "Succeeded", "Failed"};
	const char *phase = text_or(facts_word(status, "phase"), "Pending");
	size_t i = 0;
	while (i < COUNT_OF(phases) && strcmp(phases[i], phase) != 0) {
		i++;
	}
	pod->phase = (enum pod_phase)i;
	const json_t *scheduled = condition_of(status, "PodScheduled");
	pod->ready = condition_is_true(condition_of(status, "Ready"));
	pod->unschedulable = text_equals(facts_word(scheduled, "status"), "False") &&
			     text_equals(facts_word(scheduled, "reason"), "Unschedulable");
	const json_t *placed = condition_of(status, NAME_PLACED);
	if (placed != NULL) {
		pod->placed = (struct pod_condition){.type = facts_word(placed, "type"),
			.is_true = condition_is_true(placed),
			.reason = facts_word(placed, "reason"),
			.message = facts_word(placed, "message")};
	}
	const json_t *main = container_status(status, "containerStatuses", CAPACITY_MAIN_CONTAINER);
	pod->holds = json_is_true(json_object_get(main, "ready")) &&
		     facts_at(main, "state", "running") != NULL;
	facts_identity(status, arena, pod);
}

static void facts_ledger(const json_t *grants, struct arena *arena, struct pod *pod)
{
	size_t count = json_array_size(grants);
	struct ledger *l = &pod->ledger;
	l->items = count > 0 ? ARENA_ARRAY(arena, struct grant, count) : NULL;
	for (; l->count < count; l->count++) {
		const json_t *g = json_array_get(grants, l->count);
		struct grant one = {.uid = kept_word(g, "uid", arena),
			.ns = kept_word(g, "ns", arena),
			.name = kept_word(g, "name", arena),
			.milli = json_integer_value(json_object_get(g, "milli")),
			.mem_mib = json_integer_value(json_object_get(g, "mib"))};
		bool sound = one.uid[0] != '\0' && one.name[0] != '\0' && one.milli > 0 &&
			     one.mem_mib > 0;
		pod->ledger_bad = pod->ledger_bad || !sound;
		l->items[l->count] = one;
	}
}

static bool facts_form(const json_t *object, enum inject_form *ret_form)
{
	static const char *const forms[INJECT_FORMS] = {"env", "cdi", "nri"};
	for (int i = 0; i < INJECT_FORMS; i++) {
		if (text_equals(facts_word(object, "form"), forms[i])) {
			*ret_form = (enum inject_form)i;
			return true;
		}
	}
	return false;
}

static void facts_claim(const json_t *value, struct arena *arena, struct pod *pod)
{
	const json_t *others = json_object_get(value, "classes");
	size_t count = json_array_size(others);
	struct inject_claim *claim = ARENA_NEW(arena, struct inject_claim);
	*claim = (struct inject_claim){.node = kept_word(value, "node", arena),
		.uuid = kept_word(value, "uuid", arena),
		.class = kept_word(value, "class", arena)};
	struct inject_class *list =
		count > 0 ? ARENA_ARRAY(arena, struct inject_class, count) : NULL;
	for (size_t i = 0; i < count; i++) {
		const json_t *other = json_array_get(others, i);
		list[i].class = kept_word(other, "class", arena);
		claim->other_count += facts_form(other, &list[i].form);
	}
	claim->others = list;
	if (facts_form(value, &claim->form) && claim->other_count == count) {
		pod->claim = claim;
	}
}

void facts_texts(struct arena *arena, struct pod *pod)
{
	const char *grants = pairs_get(&pod->notes, NOTE_GRANTS);
	const char *claim = pairs_get(&pod->notes, NOTE_INJECTION);
	if (pod_is_capacity(pod) && !text_empty(grants)) {
		json_t *value = text_value(grants);
		const json_t *list = json_object_get(value, "grants");
		pod->ledger_bad = !json_is_array(list);
		facts_ledger(list, arena, pod);
		json_decref(value);
	}
	if (pod_is_capacity(pod) || pod_is_probe(pod)) {
		json_t *value = text_value(claim);
		if (value != NULL) {
			facts_claim(value, arena, pod);
		}
		json_decref(value);
	}
}
