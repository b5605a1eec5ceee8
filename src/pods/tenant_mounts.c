/* Directories of the node in the container of a tenant: the way in and back.
 *
 * What a person mounts at the same path goes, for a path can be mounted once, and comes back with
 * the rest. The volume that it mounts stays in the pod, where nothing may mount it any more. */
#include "tenant_mounts.h"

#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "json/decode.h"
#include "tenant.h"

/* Names that are tried for a volume. */
#define NAMES_MAX 16
#define NAME_ROOM 64

/* A slash at the end makes no other path of it. */
static struct view path_of(const char *text)
{
	struct view path = view_of(text_or(text, ""));
	while (path.n > 1 && path.p[path.n - 1] == '/') {
		path.n--;
	}
	return path;
}

static bool same_path(const char *a, const char *b)
{
	struct view x = path_of(a), y = path_of(b);
	return x.n == y.n && memcmp(x.p, y.p, x.n) == 0;
}

/* --- in --- */

static bool free_name(const json_t *volumes, const char *base, char name[NAME_ROOM])
{
	snprintf(name, NAME_ROOM, "%s", base);
	for (int i = 1; i < NAMES_MAX && entries_have(volumes, name); i++) {
		snprintf(name, NAME_ROOM, "%s-%d", base, i);
	}
	return !entries_have(volumes, name);
}

static const struct mount_edit *row_at(const struct mutation *m, const char *path)
{
	for (uint32_t i = 0; i < m->mount_count; i++) {
		if (same_path(path, m->mounts[i].path)) {
			return &m->mounts[i];
		}
	}
	return NULL;
}

static json_t *clear_paths(json_t *container, const struct mutation *m)
{
	json_t *before = json_object_get(container, "volumeMounts");
	json_t *out = json_array(), *had = json_array();
	for (size_t i = 0; i < json_array_size(before); i++) {
		json_t *entry = json_array_get(before, i);
		if (row_at(m, decode_find_text(entry, "mountPath")) != NULL) {
			json_array_append_new(had, json_pack("[I, O]", (json_int_t)i, entry));
		} else {
			json_array_append(out, entry);
		}
	}
	json_object_set_new(container, "volumeMounts", out);
	return had;
}

static json_t *mount_entry(const struct mount_edit *row, const char *volume)
{
	json_t *entry = json_pack("{s:s, s:s}", "name", volume, "mountPath", row->path);
	if (row->sub_path != NULL) {
		json_object_set_new(entry, "subPathExpr", json_string(row->sub_path));
	}
	return entry;
}

bool mounts_add(json_t *spec, json_t *container, const struct mutation *m, json_t *original)
{
	if (m->mount_count == 0) {
		return true;
	}
	json_t *had = clear_paths(container, m);
	json_t *mounts = json_object_get(container, "volumeMounts");
	json_t *volumes = own_member_or_new(spec, "volumes", JSON_ARRAY);
	json_t *names = json_array();
	/* Of a path that is mounted twice the API server tells better than we do. */
	bool named = json_array_size(had) <= m->mount_count;
	for (uint32_t i = 0; i < m->mount_count && named; i++) {
		char name[NAME_ROOM];
		named = free_name(volumes, m->mounts[i].volume, name);
		json_array_append_new(
			volumes, json_pack("{s:s, s:{s:s, s:s}}", "name", name, "hostPath", "path",
					 m->mounts[i].host, "type", "Directory"));
		json_array_append_new(mounts, mount_entry(&m->mounts[i], name));
		json_array_append_new(names, json_string(name));
	}
	json_object_set_new(original, "volumes", names);
	if (json_array_size(had) > 0) {
		json_object_set(original, "mounts", had);
	}
	json_decref(had);
	return named;
}

/* --- back --- */

/* The name that was given to a row's volume. */
static const char *name_of(const json_t *original, size_t row)
{
	return json_string_value(json_array_get(json_object_get(original, "volumes"), row));
}

static bool mount_is_ours(const json_t *original, const json_t *entry)
{
	for (size_t i = 0; i < MPS_MOUNTS_COUNT; i++) {
		const struct mount_edit *row = &mps_mounts[i];
		const char *name = name_of(original, i);
		if (name != NULL && text_equals(entry_name(entry), name) &&
			text_equals(decode_find_text(entry, "mountPath"), row->path) &&
			text_equals(decode_find_text(entry, "subPathExpr"), row->sub_path)) {
			return true;
		}
	}
	return false;
}

static bool volume_is_ours(const json_t *original, const json_t *entry)
{
	const char *path = decode_find_text(json_object_get(entry, "hostPath"), "path");
	for (size_t i = 0; i < MPS_MOUNTS_COUNT; i++) {
		const char *name = name_of(original, i);
		if (name != NULL && text_equals(entry_name(entry), name) &&
			text_equals(path, mps_mounts[i].host)) {
			return true;
		}
	}
	return false;
}

/* True if there was any. */
static bool take_away(json_t *list, const json_t *original,
	bool (*is_ours)(const json_t *original, const json_t *entry))
{
	bool any = false;
	for (size_t i = json_array_size(list); i > 0; i--) {
		if (is_ours(original, json_array_get(list, i - 1))) {
			json_array_remove(list, i - 1);
			any = true;
		}
	}
	return any;
}

static bool is_mounted(const json_t *mounts, const char *path)
{
	for (size_t i = 0; i < json_array_size(mounts); i++) {
		if (same_path(decode_find_text(json_array_get(mounts, i), "mountPath"), path)) {
			return true;
		}
	}
	return false;
}

/* Where one of the paths is mounted by now, that stays. */
static bool put_back(json_t *mounts, const json_t *had)
{
	for (size_t i = 0; i < json_array_size(had); i++) {
		const json_t *cell = json_array_get(had, i);
		json_t *entry = json_array_get(cell, 1);
		json_int_t position = json_integer_value(json_array_get(cell, 0));
		const char *path = decode_find_text(entry, "mountPath");
		if (path == NULL || entry_name(entry) == NULL || position < 0) {
			return false;
		}
		size_t count = json_array_size(mounts);
		size_t at = (size_t)position < count ? (size_t)position : count;
		if (!is_mounted(mounts, path)) {
			json_array_insert(mounts, at, entry);
		}
	}
	return true;
}

bool mounts_restore(json_t *container, const json_t *original)
{
	const json_t *had = json_object_get(original, "mounts");
	const json_t *names = json_object_get(original, "volumes");
	/* No path is mounted twice, so that no more is put back than there are rows. */
	if ((had != NULL && !json_is_array(had)) || json_array_size(had) > MPS_MOUNTS_COUNT ||
		(names != NULL && !json_is_array(names))) {
		return false;
	}
	json_t *mounts = json_array_size(had) > 0
				 ? own_member_or_new(container, "volumeMounts", JSON_ARRAY)
				 : own_member(container, "volumeMounts", JSON_ARRAY);
	bool touched = take_away(mounts, original, mount_is_ours);
	bool sane = put_back(mounts, had);
	if (touched) {
		prune_member(container, "volumeMounts");
	}
	return sane;
}

void volumes_restore(json_t *spec, const json_t *original)
{
	json_t *volumes = own_member(spec, "volumes", JSON_ARRAY);
	if (take_away(volumes, original, volume_is_ours)) {
		prune_member(spec, "volumes");
	}
}
