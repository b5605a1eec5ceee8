/* A person's pod becomes a tenant. */
#include "tenant.h"

#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "diff.h"
#include "tenant_mounts.h"
#include "model/names.h"
#include "model/quantity.h"

/* --- parts that both ways use --- */

json_t *own_member(json_t *object, const char *key, json_type type)
{
	json_t *value = json_object_get(object, key);
	if (value == NULL || json_typeof(value) != type) {
		return NULL;
	}
	json_t *copy = json_copy(value);
	json_object_set_new(object, key, copy);
	return copy;
}

json_t *own_member_or_new(json_t *object, const char *key, json_type type)
{
	json_t *mine = own_member(object, key, type);
	if (mine == NULL && object != NULL) {
		mine = type == JSON_ARRAY ? json_array() : json_object();
		json_object_set_new(object, key, mine);
	}
	return mine;
}

json_t *own_element(json_t *array, size_t index)
{
	json_t *value = json_array_get(array, index);
	if (!json_is_object(value)) {
		return NULL;
	}
	json_t *copy = json_copy(value);
	json_array_set_new(array, index, copy);
	return copy;
}

void prune_member(json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);
	if ((json_is_object(value) && json_object_size(value) == 0) ||
		(json_is_array(value) && json_array_size(value) == 0)) {
		json_object_del(object, key);
	}
}

const char *entry_name(const json_t *entry)
{
	return json_string_value(json_object_get(entry, "name"));
}

bool entries_have(const json_t *list, const char *name)
{
	for (size_t i = 0; i < json_array_size(list); i++) {
		if (text_equals(entry_name(json_array_get(list, i)), name)) {
			return true;
		}
	}
	return false;
}

json_t *entry_names(const json_t *list)
{
	json_t *names = json_object();
	for (size_t i = 0; i < json_array_size(list); i++) {
		const char *name = entry_name(json_array_get(list, i));
		if (name != NULL) {
			json_object_set_new(names, name, json_true());
		}
	}
	return names;
}

static void field_path(const char *note, char path[128])
{
	snprintf(path, 128, "metadata.annotations['%s']", note);
}

/* What a row writes, as an element of `env`: a new reference. The apiVersion is what the API server
 * would default: said, so that a second pass sees what it wrote. */
static json_t *env_entry(const struct env_edit *row)
{
	if (row->note == NULL) {
		return json_pack("{s:s, s:s}", "name", row->name, "value", row->value);
	}
	char path[128];
	field_path(row->note, path);
	return json_pack("{s:s, s:{s:{s:s, s:s}}}", "name", row->name, "valueFrom", "fieldRef",
		"apiVersion", "v1", "fieldPath", path);
}

bool env_entry_is(const json_t *entry, const struct env_edit *row)
{
	if (row->note == NULL) {
		const char *value = json_string_value(json_object_get(entry, "value"));
		return text_equals(value, row->value);
	}
	char path[128];
	field_path(row->note, path);
	const json_t *ref = json_object_get(json_object_get(entry, "valueFrom"), "fieldRef");
	return text_equals(json_string_value(json_object_get(ref, "fieldPath")), path);
}

bool pins_a_node(const json_t *expression)
{
	return text_equals(json_string_value(json_object_get(expression, "key")), "metadata.name");
}

bool tolerates_gpus(const json_t *t)
{
	const char *key = json_string_value(json_object_get(t, "key"));
	const char *effect = json_string_value(json_object_get(t, "effect"));
	return text_equals(json_string_value(json_object_get(t, "operator")), "Exists") &&
	       (text_empty(key) || text_equals(key, NAME_GPU_RESOURCE)) &&
	       (text_empty(effect) || text_equals(effect, "NoSchedule"));
}

/* --- one container's environment --- */

struct env_change {
	const struct env_edit *rows;
	uint32_t count;
	json_t *had;   /* owned: [[position, entry], …] */
	json_t *added; /* owned: names of rows of rule DEFAULT that were appended */
};

static void env_change_finish(struct env_change *c)
{
	json_decref(c->had);
	json_decref(c->added);
}

static void keep_entry(struct env_change *c, size_t position, json_t *entry)
{
	json_array_append_new(c->had, json_pack("[I, O]", (json_int_t)position, entry));
}

/* One variable of the person: into `out` as it is, as ours, or not at all. `placed` has a bit a
 * row. */
static void edit_entry(
	struct env_change *c, size_t position, json_t *entry, json_t *out, uint32_t *placed)
{
	const struct env_edit *row = env_edit_find(c->rows, c->count, entry_name(entry));
	if (row == NULL) {
		json_array_append(out, entry);
		return;
	}
	uint32_t bit = 1u << (uint32_t)(row - c->rows);
	switch (row->rule) {
	case ENV_RULE_DEFAULT:
		json_array_append(out, entry);
		break;
	case ENV_RULE_DROP:
		keep_entry(c, position, entry);
		break;
	case ENV_RULE_SET:
	case ENV_RULE_REPLACE:
		keep_entry(c, position, entry);
		if ((*placed & bit) == 0) {
			json_array_append_new(out, env_entry(row));
		}
		break;
	}
	*placed |= bit;
}

static void edit_env(json_t *container, struct env_change *c)
{
	json_t *before = json_object_get(container, "env");
	json_t *out = json_array();
	uint32_t placed = 0;
	for (size_t i = 0; i < json_array_size(before); i++) {
		edit_entry(c, i, json_array_get(before, i), out, &placed);
	}
	for (uint32_t i = 0; i < c->count; i++) {
		const struct env_edit *row = &c->rows[i];
		bool wanted = row->rule == ENV_RULE_SET || row->rule == ENV_RULE_DEFAULT;
		if (!wanted || (placed & (1u << i)) != 0) {
			continue;
		}
		json_array_append_new(out, env_entry(row));
		if (row->rule == ENV_RULE_DEFAULT) {
			json_array_append_new(c->added, json_string(row->name));
		}
	}
	json_object_set_new(container, "env", out);
}

static void set_if_any(json_t *object, const char *key, json_t *list)
{
	if (json_array_size(list) > 0) {
		json_object_set(object, key, list);
	}
}

/* --- containers --- */

static void take_gpus(json_t *container, json_t *original)
{
	static const char *const lists[] = {"limits", "requests"};
	json_t *resources = own_member(container, "resources", JSON_OBJECT);
	json_t *gpu = json_object();
	for (size_t i = 0; i < COUNT_OF(lists); i++) {
		json_t *list = own_member(resources, lists[i], JSON_OBJECT);
		json_t *value = json_object_get(list, NAME_GPU_RESOURCE);
		if (value != NULL) {
			json_object_set(gpu, lists[i], value);
			json_object_del(list, NAME_GPU_RESOURCE);
			prune_member(resources, lists[i]);
		}
	}
	json_object_set_new(original, "gpu", gpu);
}

static void add_argument(json_t *container, const struct mutation *m)
{
	json_t *command = json_object_get(container, "command");
	size_t before = json_array_size(command);
	bool first = m->script < before;
	if (m->argument == NULL) {
		return;
	}
	json_t *list = own_member_or_new(container, first ? "command" : "args", JSON_ARRAY);
	if (m->script == MUTATION_NO_SCRIPT) {
		json_array_append_new(list, json_string(m->argument));
		return;
	}
	size_t at = first ? m->script : m->script - before;
	const char *script = text_or(json_string_value(json_array_get(list, at)), "");
	json_array_set_new(list, at, json_sprintf("%s %s", script, m->argument));
}

static bool convert_tenant(
	json_t *spec, json_t *container, const struct mutation *m, json_t *original)
{
	CLEANUP(env_change_finish)
	struct env_change c = {m->env, m->env_count, json_array(), json_array()};
	take_gpus(container, original);
	edit_env(container, &c);
	add_argument(container, m);
	set_if_any(original, "env", c.had);
	set_if_any(original, "added", c.added);
	return mounts_add(spec, container, m, original);
}

json_t *container_edit_env(json_t *container, const struct env_edit *rows, uint32_t count)
{
	CLEANUP(env_change_finish)
	struct env_change c = {rows, count, json_array(), json_array()};
	edit_env(container, &c);
	return json_incref(c.had);
}

static void convert_other(json_t *container, const struct mutation *m, json_t *others)
{
	const char *name = entry_name(container);
	json_t *had = container_edit_env(container, m->others, m->others_count);
	if (name != NULL) {
		set_if_any(others, name, had);
	}
	json_decref(had);
}

/* True if the container that had the GPUs is among them, and could be changed. */
static bool convert_containers(json_t *spec, const struct mutation *m, json_t *original)
{
	static const char *const lists[] = {"initContainers", "containers"};
	bool found = false, done = false;
	json_t *others = json_object();
	for (size_t i = 0; i < COUNT_OF(lists); i++) {
		json_t *list = own_member(spec, lists[i], JSON_ARRAY);
		for (size_t j = 0; j < json_array_size(list); j++) {
			json_t *container = own_element(list, j);
			if (container == NULL) {
				continue;
			}
			bool it = i == 1 && text_equals(entry_name(container), m->container);
			if (it && !found) {
				done = convert_tenant(spec, container, m, original);
				found = true;
			} else {
				convert_other(container, m, others);
			}
		}
	}
	json_object_set_new(original, "others", others);
	prune_member(original, "others");
	return done;
}

/* --- the rest of the pod --- */

static bool has_pin(const json_t *spec)
{
	const json_t *node = json_object_get(json_object_get(spec, "affinity"), "nodeAffinity");
	const json_t *required =
		json_object_get(node, "requiredDuringSchedulingIgnoredDuringExecution");
	const json_t *terms = json_object_get(required, "nodeSelectorTerms");
	for (size_t i = 0; i < json_array_size(terms); i++) {
		const json_t *fields = json_object_get(json_array_get(terms, i), "matchFields");
		for (size_t j = 0; j < json_array_size(fields); j++) {
			if (pins_a_node(json_array_get(fields, j))) {
				return true;
			}
		}
	}
	return false;
}

static void add_toleration(json_t *spec, json_t *original)
{
	const json_t *list = json_object_get(spec, "tolerations");
	for (size_t i = 0; i < json_array_size(list); i++) {
		if (tolerates_gpus(json_array_get(list, i))) {
			return;
		}
	}
	json_t *mine = own_member_or_new(spec, "tolerations", JSON_ARRAY);
	json_array_append_new(mine, json_pack("{s:s, s:s, s:s}", "key", NAME_GPU_RESOURCE,
					    "operator", "Exists", "effect", "NoSchedule"));
	json_object_set_new(original, "toleration", json_true());
}

static void add_gate(json_t *spec)
{
	json_t *gates = own_member_or_new(spec, "schedulingGates", JSON_ARRAY);
	if (!entries_have(gates, NAME_GATE)) {
		json_array_append_new(gates, json_pack("{s:s}", "name", NAME_GATE));
	}
}

static void convert_spec(json_t *spec, const struct mutation *m, json_t *original)
{
	add_toleration(spec, original);
	add_gate(spec);
	if (m->runtime_class != NULL) {
		json_object_set_new(spec, "runtimeClassName", json_string(m->runtime_class));
		json_object_set_new(original, "runtimeClass", json_string(m->runtime_class));
	}
	if (has_pin(spec)) {
		json_object_set_new(original, "pin", json_true());
	}
}

static bool write_original(json_t *notes, const json_t *original)
{
	CLEANUP(str_finish) struct str text = STR_INIT(TENANT_ORIGINAL_MAX);
	if (!diff_write_value(original, &text)) {
		return false;
	}
	json_object_set_new(notes, NOTE_ORIGINAL, json_stringn(str_text(&text), text.len));
	return true;
}

static void set_note(json_t *notes, const char *key, const char *value)
{
	if (value != NULL) {
		json_object_set_new(notes, key, json_string(value));
	} else {
		json_object_del(notes, key);
	}
}

static void convert_meta(json_t *meta, json_t *notes, const struct mutation *m)
{
	char share[QUANTITY_TEXT_MAX], memory[QUANTITY_TEXT_MAX];
	set_note(notes, NOTE_CONTAINER, m->container);
	set_note(notes, NOTE_SHARE, m->milli > 0 ? share_format(m->milli, share) : NULL);
	set_note(notes, NOTE_MEMORY, m->mem_mib > 0 ? memory_format(m->mem_mib, memory) : NULL);
	set_note(notes, NOTE_POLICY_APPLIED, m->policy_applied);
	/* It stays where the pod goes back: it says no more than its number of GPUs. */
	if (m->count > 1) {
		char count[24];
		snprintf(count, sizeof count, "%lld", (long long)m->count);
		set_note(notes, NOTE_GPU_COUNT, count);
	}
	set_note(notes, NOTE_RECOMMENDATION, m->recommendation);
	set_note(notes, NOTE_ISOLATION, m->isolation);
	set_note(notes, NOTE_FRAMEWORK, m->framework);
	json_t *labels = own_member_or_new(meta, "labels", JSON_OBJECT);
	json_object_set_new(labels, LABEL_TENANT, json_string("true"));
}

/* The API server refuses a pod whose annotations have more than 256 KiB together. The pod must pass
 * as a tenant too, and have room for the keys of its grant: a tenant whose grant the API server
 * refuses would wait for ever and, since that is our fault (C2), stop every conversion. */
static bool notes_fit(const json_t *notes)
{
	size_t sum = 0;
	const char *key;
	json_t *value;
	json_object_foreach((json_t *)(uintptr_t)notes, key, value)
	{
		sum += strlen(key) + json_string_length(value);
	}
	return sum <= TENANT_NOTES_MAX;
}

static json_t *new_original(const struct mutation *m)
{
	int version = m->framework != NULL ? 3 : m->mount_count > 0 ? 2 : 1;
	json_t *original = json_pack("{s:i, s:s}", "v", version, "container", m->container);
	if (m->framework != NULL) {
		json_object_set_new(original, "framework", json_string(m->framework));
	}
	return original;
}

json_t *tenant_convert(json_t *plain, const struct mutation *m)
{
	json_t *pod = json_copy(plain);
	json_t *meta = own_member_or_new(pod, "metadata", JSON_OBJECT);
	json_t *notes = own_member_or_new(meta, "annotations", JSON_OBJECT);
	json_t *spec = own_member(pod, "spec", JSON_OBJECT);
	json_t *original = new_original(m);
	bool done = convert_containers(spec, m, original);
	if (done) {
		convert_spec(spec, m, original);
		done = write_original(notes, original);
		convert_meta(meta, notes, m);
		done = done && notes_fit(notes);
	}
	json_decref(original);
	if (!done) {
		json_decref(pod);
		return NULL;
	}
	return pod;
}
