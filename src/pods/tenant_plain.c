/* A tenant becomes the pod that a person wrote. Runs on every pod that arrives: a second pass in
 * one admission round and a template copied from a live tenant are the same thing to it.
 *
 * What a person changed since it was copied wins: only what is exactly as we wrote it is taken
 * away, and nothing that was written over is put back where something else stands now. */
#include "tenant_plain.h"

#include <string.h>

#include "base/str.h"
#include "json/decode.h"
#include "model/framework.h"
#include "model/names.h"
#include "tenant.h"
#include "tenant_mounts.h"

static const char *const guarded[] = {
	NOTE_GPU_UUID,
	NOTE_VISIBLE_DEVICES,
	NOTE_COMPUTE_MILLI,
	NOTE_MEMORY_MIB,
	NOTE_MPS_THREADS,
	NOTE_MPS_MEMORY,
	NOTE_FRAMEWORK_MEMORY,
	NOTE_CAPACITY_POD,
	NOTE_TERM,
	NOTE_GRANTS,
};
static const char *const marks[] = {
	NOTE_ORIGINAL,
	NOTE_CONTAINER,
	NOTE_SHARE,
	NOTE_MEMORY,
	NOTE_POLICY_APPLIED,
	NOTE_RECOMMENDATION,
	NOTE_ISOLATION,
	NOTE_FRAMEWORK,
};

/* --- env --- */

static bool names_contain(const json_t *names, const char *name)
{
	for (size_t i = 0; i < json_array_size(names); i++) {
		if (text_equals(json_string_value(json_array_get(names, i)), name)) {
			return true;
		}
	}
	return false;
}

static bool is_ours(
	const struct env_edit *rows, uint32_t count, const json_t *added, const json_t *entry)
{
	const char *name = entry_name(entry);
	const struct env_edit *row = env_edit_find(rows, count, name);
	if (row == NULL || row->rule == ENV_RULE_DROP || !env_entry_is(entry, row)) {
		return false;
	}
	return row->rule != ENV_RULE_DEFAULT || names_contain(added, name);
}

/* Puts [[position, entry], …] back, positions ascending: a merge, for both lists are as long as
 * whoever sent the pod likes. */
static bool put_back(json_t *env, const json_t *had)
{
	json_t *names = entry_names(env);
	json_t *out = json_array();
	size_t taken = 0;
	bool sane = true;
	for (size_t i = 0; sane && i < json_array_size(had); i++) {
		const json_t *cell = json_array_get(had, i);
		json_t *entry = json_array_get(cell, 1);
		json_int_t position = json_integer_value(json_array_get(cell, 0));
		sane = json_is_object(entry) && entry_name(entry) != NULL && position >= 0;
		if (!sane || json_object_get(names, entry_name(entry)) != NULL) {
			continue;
		}
		while (taken < json_array_size(env) &&
			(json_int_t)json_array_size(out) < position) {
			json_array_append(out, json_array_get(env, taken++));
		}
		json_array_append(out, entry);
	}
	while (taken < json_array_size(env)) {
		json_array_append(out, json_array_get(env, taken++));
	}
	json_array_clear(env);
	json_array_extend(env, out);
	json_decref(out);
	json_decref(names);
	return sane;
}

/* What we wrote goes, in one pass. True if there was any. */
static bool take_away(json_t *env, const struct env_edit *rows, uint32_t count, const json_t *added)
{
	json_t *out = json_array();
	for (size_t i = 0; i < json_array_size(env); i++) {
		json_t *entry = json_array_get(env, i);
		if (!is_ours(rows, count, added, entry)) {
			json_array_append(out, entry);
		}
	}
	bool touched = json_array_size(out) < json_array_size(env);
	if (touched) {
		json_array_clear(env);
		json_array_extend(env, out);
	}
	json_decref(out);
	return touched;
}

static bool restore_env(json_t *container, const struct env_edit *rows, uint32_t count,
	const json_t *had, const json_t *added)
{
	json_t *env = own_member(container, "env", JSON_ARRAY);
	/* `added` names rows, so it is never longer than the table. */
	if ((had != NULL && !json_is_array(had)) || json_array_size(added) > count) {
		return false;
	}
	if (env == NULL && json_array_size(had) > 0) {
		env = own_member_or_new(container, "env", JSON_ARRAY);
	}
	bool touched = env != NULL && take_away(env, rows, count, added);
	bool sane = env == NULL || put_back(env, had);
	if (touched) {
		prune_member(container, "env");
	}
	return sane;
}

/* --- containers --- */

static bool restore_gpus(json_t *container, const json_t *gpu)
{
	if (!json_is_object(gpu) || json_object_size(gpu) == 0) {
		return false;
	}
	json_t *resources = own_member_or_new(container, "resources", JSON_OBJECT);
	const char *list;
	json_t *value;
	json_object_foreach((json_t *)gpu, list, value)
	{
		if ((strcmp(list, "limits") != 0 && strcmp(list, "requests") != 0) ||
			(!json_is_string(value) && !json_is_integer(value))) {
			return false;
		}
		json_t *mine = own_member_or_new(resources, list, JSON_OBJECT);
		if (json_object_get(mine, NAME_GPU_RESOURCE) == NULL) {
			json_object_set(mine, NAME_GPU_RESOURCE, value);
		}
	}
	return true;
}

static json_int_t version_of(const json_t *original)
{
	return json_integer_value(json_object_get(original, "v"));
}

static bool is_of_mps(const json_t *original)
{
	return version_of(original) == 2;
}

/* What it was told, as an element of its own or at the end of a script. True if it was there. */
static bool cut_argument(json_t *list, const char *argument)
{
	size_t n = strlen(argument);
	for (size_t i = json_array_size(list); i > 0; i--) {
		const char *text = text_or(json_string_value(json_array_get(list, i - 1)), "");
		size_t length = strlen(text);
		if (length < n || strcmp(text + length - n, argument) != 0) {
			continue;
		}
		if (length == n) {
			json_array_remove(list, i - 1);
			return true;
		}
		if (text[length - n - 1] == ' ') {
			json_array_set_new(list, i - 1, json_stringn(text, length - n - 1));
			return true;
		}
	}
	return false;
}

static void remove_argument(json_t *container, const struct framework *f)
{
	static const char *const lists[] = {"args", "command"};
	bool cut = f->argument == NULL;
	for (size_t i = 0; i < COUNT_OF(lists) && !cut; i++) {
		json_t *list = own_member(container, lists[i], JSON_ARRAY);
		cut = cut_argument(list, f->argument);
		if (cut) {
			prune_member(container, lists[i]);
		}
	}
}

/* NULL: none that anybody was ever told of. */
static const struct framework *framework_of(const json_t *original)
{
	const char *name = json_string_value(json_object_get(original, "framework"));
	const struct framework *f = framework_find(name);
	return f != NULL && f->env != NULL ? f : NULL;
}

static bool restore_tenant(json_t *container, const json_t *original)
{
	bool mps = is_of_mps(original);
	const struct env_edit *rows = mps ? mps_env : tenant_env;
	uint32_t count = mps ? MPS_ENV_COUNT : TENANT_ENV_COUNT;
	if (version_of(original) == 3) {
		const struct framework *f = framework_of(original);
		remove_argument(container, f);
		rows = f->env;
		count = f->env_count;
	}
	return restore_env(container, rows, count, json_object_get(original, "env"),
		       json_object_get(original, "added")) &&
	       (!mps || mounts_restore(container, original)) &&
	       restore_gpus(container, json_object_get(original, "gpu"));
}

static bool restore_container(json_t *container, bool is_tenant, const json_t *original)
{
	if (is_tenant) {
		return restore_tenant(container, original);
	}
	const char *name = entry_name(container);
	json_t *others = json_object_get(original, "others");
	bool sane = restore_env(container, others_env, OTHERS_ENV_COUNT,
		name != NULL ? json_object_get(others, name) : NULL, NULL);
	/* Once: nobody has checked yet that names are unique, and every further container of the
	 * same name would multiply what is put back. */
	if (name != NULL) {
		json_object_del(others, name);
	}
	return sane;
}

/* False: an `original` of some other pod. */
static bool restore_containers(json_t *spec, const json_t *original)
{
	static const char *const lists[] = {"initContainers", "containers"};
	const char *tenant = json_string_value(json_object_get(original, "container"));
	bool found = false;
	for (size_t i = 0; i < COUNT_OF(lists); i++) {
		json_t *list = own_member(spec, lists[i], JSON_ARRAY);
		for (size_t j = 0; j < json_array_size(list); j++) {
			json_t *container = own_element(list, j);
			bool it = i == 1 && !found && tenant != NULL &&
				  text_equals(entry_name(container), tenant);
			if (container == NULL || !restore_container(container, it, original)) {
				return false;
			}
			found = found || it;
		}
	}
	return found;
}

/* --- scheduling --- */

static void remove_gate(json_t *spec)
{
	json_t *gates = own_member(spec, "schedulingGates", JSON_ARRAY);
	for (size_t i = json_array_size(gates); i > 0; i--) {
		if (text_equals(entry_name(json_array_get(gates, i - 1)), NAME_GATE)) {
			json_array_remove(gates, i - 1);
			if (json_array_size(gates) == 0) {
				json_object_del(spec, "schedulingGates");
				return;
			}
		}
	}
}

static void remove_toleration(json_t *spec)
{
	json_t *list = own_member(spec, "tolerations", JSON_ARRAY);
	for (size_t i = json_array_size(list); i > 0; i--) {
		const json_t *t = json_array_get(list, i - 1);
		if (tolerates_gpus(t) && json_object_size(t) == 3) {
			json_array_remove(list, i - 1);
			prune_member(spec, "tolerations");
			return;
		}
	}
}

/* The pin that came with the grant; a term or a level that held nothing else goes with it. */
static bool unpin_term(json_t *term)
{
	json_t *fields = own_member(term, "matchFields", JSON_ARRAY);
	for (size_t i = json_array_size(fields); i > 0; i--) {
		if (pins_a_node(json_array_get(fields, i - 1))) {
			json_array_remove(fields, i - 1);
		}
	}
	prune_member(term, "matchFields");
	return json_object_size(term) == 0;
}

static void unpin_from_nodes(json_t *spec)
{
	static const char required_key[] = "requiredDuringSchedulingIgnoredDuringExecution";
	json_t *affinity = own_member(spec, "affinity", JSON_OBJECT);
	json_t *node = own_member(affinity, "nodeAffinity", JSON_OBJECT);
	json_t *required = own_member(node, required_key, JSON_OBJECT);
	json_t *terms = own_member(required, "nodeSelectorTerms", JSON_ARRAY);
	size_t had = json_array_size(terms);
	for (size_t i = had; i > 0; i--) {
		json_t *term = own_element(terms, i - 1);
		if (term != NULL && unpin_term(term)) {
			json_array_remove(terms, i - 1);
		}
	}
	if (had > 0 && json_array_size(terms) == 0) {
		json_object_del(node, required_key);
		prune_member(affinity, "nodeAffinity");
		prune_member(spec, "affinity");
	}
}

static bool restore_spec(json_t *spec, const json_t *original)
{
	if (spec == NULL || !restore_containers(spec, original)) {
		return false;
	}
	if (is_of_mps(original)) {
		volumes_restore(spec, original);
	}
	remove_gate(spec);
	if (json_is_true(json_object_get(original, "toleration"))) {
		remove_toleration(spec);
	}
	const char *class = json_string_value(json_object_get(original, "runtimeClass"));
	if (class != NULL &&
		text_equals(class, json_string_value(json_object_get(spec, "runtimeClassName")))) {
		json_object_del(spec, "runtimeClassName");
	}
	if (!json_is_true(json_object_get(original, "pin"))) {
		unpin_from_nodes(spec);
	}
	return true;
}

/* --- metadata --- */

static size_t remove_keys(json_t *object, const char *const *keys, size_t count)
{
	size_t removed = 0;
	for (size_t i = 0; i < count; i++) {
		removed += json_object_del(object, keys[i]) == 0 ? 1 : 0;
	}
	return removed;
}

static size_t remove_devices(json_t *notes)
{
	size_t removed = 0;
	const char *key;
	json_t *value;
	void *next;
	json_object_foreach_safe(notes, next, key, value)
	{
		if (strncmp(key, NAME_CDI_PREFIX, strlen(NAME_CDI_PREFIX)) == 0) {
			removed += json_object_del(notes, key) == 0 ? 1 : 0;
		}
	}
	return removed;
}

/* Guarded keys go in any case. A tenant label that nothing stands behind would only mislead; one
 * beside our gate stays, so that the pod is told that it is not ours. */
static void strip_meta(json_t *pod, bool restored)
{
	const json_t *gates = decode_find(pod, "spec.schedulingGates");
	json_t *meta = own_member(pod, "metadata", JSON_OBJECT);
	json_t *notes = own_member(meta, "annotations", JSON_OBJECT);
	json_t *labels = own_member(meta, "labels", JSON_OBJECT);
	bool is_tenant = restored || json_object_get(labels, LABEL_TENANT) != NULL;
	bool stray =
		json_object_get(notes, NOTE_ORIGINAL) == NULL && !entries_have(gates, NAME_GATE);
	size_t gone = remove_keys(notes, guarded, COUNT_OF(guarded));
	gone += is_tenant && notes != NULL ? remove_devices(notes) : 0;
	gone += restored ? remove_keys(notes, marks, COUNT_OF(marks)) : 0;
	if (gone > 0) {
		prune_member(meta, "annotations");
	}
	bool touched = json_object_del(labels, LABEL_IN_USE) == 0;
	touched |= (restored || stray) && json_object_del(labels, LABEL_TENANT) == 0;
	if (touched) {
		prune_member(meta, "labels");
	}
}

static json_t *parse_original(const char *text, size_t n)
{
	json_t *original = NULL;
	if (n > TENANT_ORIGINAL_MAX || decode_parse(text, n, DECODE_UNIQUE, &original, NULL) < 0) {
		return NULL;
	}
	bool known = version_of(original) != 3 || framework_of(original) != NULL;
	if (version_of(original) < 1 || version_of(original) > 3 || !known) {
		json_decref(original);
		return NULL;
	}
	return original;
}

static json_t *read_original(const json_t *object, bool *ret_present)
{
	const json_t *notes = json_object_get(json_object_get(object, "metadata"), "annotations");
	const json_t *note = json_object_get(notes, NOTE_ORIGINAL);
	*ret_present = note != NULL;
	return json_is_string(note)
		       ? parse_original(json_string_value(note), json_string_length(note))
		       : NULL;
}

bool tenant_original_reads(const char *text)
{
	CLEANUP(decode_release) json_t *original = parse_original(text, strlen(text));
	return original != NULL;
}

json_t *tenant_plain(json_t *object, struct tenant_marks *ret_marks)
{
	bool present = false;
	json_t *original = read_original(object, &present);
	json_t *pod = json_copy(object);
	bool restored = false;
	if (original != NULL) {
		restored = restore_spec(own_member(pod, "spec", JSON_OBJECT), original);
		json_decref(original);
		if (!restored) {
			json_decref(pod);
			pod = json_copy(object);
		}
	}
	strip_meta(pod, restored);
	*ret_marks = (struct tenant_marks){restored, present && !restored};
	return pod;
}
