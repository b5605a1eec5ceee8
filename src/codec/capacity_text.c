/* The identity of a GPU and the ledger of grants: the two texts on a capacity pod. */
#include "codec/capacity_text.h"

#include "json/build.h"
#include "model/names.h"
#include "parts.h"

#define MEMORY_MAX    ((int64_t)1 << 30) /* MiB: a petabyte */
#define GRANT_UID_MAX 64
#define NAME_MAX_SIZE 253

/* --- identity --- */

struct identity_text {
	const char *uuid;
	const char *model;
	const char *driver;
	int64_t mem_mib;
	int32_t minor;
};

static const struct decode_field identity_fields[] = {
	{"uuid", DECODE_TEXT, true, offsetof(struct identity_text, uuid), NULL},
	{"memory", DECODE_I64, true, offsetof(struct identity_text, mem_mib), NULL},
	{"model", DECODE_TEXT, true, offsetof(struct identity_text, model), NULL},
	{"driver", DECODE_TEXT, false, offsetof(struct identity_text, driver), NULL},
	{"minor", DECODE_I32, true, offsetof(struct identity_text, minor), NULL},
};

static int copy_bounded(
	const char *name, const char *text, char *to, size_t room, struct fault *ret_fault)
{
	size_t n = strlen(text);
	if (n >= room) {
		return fault_set(
			ret_fault, FAULT_INVALID, "%s: more than %zu bytes", name, room - 1);
	}
	memcpy(to, text, n + 1);
	return 0;
}

/* It becomes the value of environment variables and of annotations. */
static bool uuid_is_plain(const char *uuid)
{
	static const char allowed[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-/.";
	return *uuid != '\0' && uuid[strspn(uuid, allowed)] == '\0';
}

static int read_identity(const json_t *root, struct gpu_identity *id, struct fault *ret_fault)
{
	CLEANUP(arena_finish) struct arena arena = {0};
	struct identity_text t = {.driver = ""};
	if (decode_fields(root, identity_fields, COUNT_OF(identity_fields), &arena, &t, ret_fault) <
		0) {
		return -1;
	}
	if (!uuid_is_plain(t.uuid)) {
		return fault_set(ret_fault, FAULT_INVALID, "uuid: not a device's name");
	}
	if (t.mem_mib < 1 || t.mem_mib > MEMORY_MAX || t.minor < 0) {
		return fault_set(ret_fault, FAULT_INVALID, "memory or minor: out of range");
	}
	if (copy_bounded("uuid", t.uuid, id->uuid, sizeof id->uuid, ret_fault) < 0 ||
		copy_bounded("model", t.model, id->model, sizeof id->model, ret_fault) < 0 ||
		copy_bounded("driver", t.driver, id->driver, sizeof id->driver, ret_fault) < 0) {
		return -1;
	}
	id->mem_mib = t.mem_mib;
	id->minor = t.minor;
	return 0;
}

int identity_decode(const char *text, struct gpu_identity *ret_identity, struct fault *ret_fault)
{
	CLEANUP(decode_release) json_t *root = NULL;
	struct gpu_identity id = {0};
	if (parts_read_text(text, IDENTITY_TEXT_MAX, &root, ret_fault) < 0 ||
		read_identity(root, &id, ret_fault) < 0) {
		return fault_wrap(ret_fault, "identity");
	}
	*ret_identity = id;
	return 0;
}

bool identity_write(struct str *out, const struct gpu_identity *identity)
{
	struct build b = build_into(out);
	build_begin_object(&b);
	build_i64_at(&b, "v", PARTS_TEXT_VERSION);
	build_text_at(&b, "uuid", identity->uuid);
	build_i64_at(&b, "memory", identity->mem_mib);
	build_text_at(&b, "model", identity->model);
	build_i64_at(&b, "minor", identity->minor);
	build_text_at(&b, "driver", identity->driver);
	build_end(&b);
	return build_ok(&b);
}

/* --- ledger --- */

static const struct decode_field grant_fields[] = {
	{"uid", DECODE_TEXT, true, offsetof(struct grant, uid), NULL},
	{"ns", DECODE_TEXT, true, offsetof(struct grant, ns), NULL},
	{"name", DECODE_TEXT, true, offsetof(struct grant, name), NULL},
	{"milli", DECODE_I64, true, offsetof(struct grant, milli), NULL},
	{"mib", DECODE_I64, true, offsetof(struct grant, mem_mib), NULL},
};

static int check_grant(const struct grant *g, struct fault *ret_fault)
{
	if (g->milli < 1 || g->milli > MODEL_GPU_MILLI) {
		return fault_set(ret_fault, FAULT_INVALID, "milli: %lld is out of range",
			(long long)g->milli);
	}
	if (g->mem_mib < 1 || g->mem_mib > MEMORY_MAX) {
		return fault_set(ret_fault, FAULT_INVALID, "mib: %lld is out of range",
			(long long)g->mem_mib);
	}
	if (*g->uid == '\0' || strlen(g->uid) > GRANT_UID_MAX || *g->name == '\0' ||
		strlen(g->name) > NAME_MAX_SIZE || strlen(g->ns) > NAME_MAX_SIZE) {
		return fault_set(ret_fault, FAULT_INVALID, "uid, ns or name: empty or too long");
	}
	return 0;
}

static int read_grant(
	const json_t *object, struct arena *arena, struct ledger *ledger, struct fault *ret_fault)
{
	struct grant *g = &ledger->items[ledger->count];
	if (decode_fields(object, grant_fields, COUNT_OF(grant_fields), arena, g, ret_fault) < 0 ||
		check_grant(g, ret_fault) < 0) {
		return -1;
	}
	for (uint32_t i = 0; i < ledger->count; i++) {
		if (strcmp(ledger->items[i].uid, g->uid) == 0) {
			return fault_set(
				ret_fault, FAULT_INVALID, "uid: %s is there twice", g->uid);
		}
	}
	ledger->count++;
	return 0;
}

static int read_ledger(
	const json_t *root, struct arena *arena, struct ledger *ledger, struct fault *ret_fault)
{
	const json_t *grants = NULL;
	if (decode_array(root, "grants", &grants, ret_fault) < 0) {
		return -1;
	}
	if (grants == NULL) {
		return fault_set(ret_fault, FAULT_INVALID, "grants: missing");
	}
	size_t count = json_array_size(grants);
	if (count > MODEL_GRANTS_MAX) {
		return fault_set(ret_fault, FAULT_INVALID, "grants: %zu of at most %d", count,
			MODEL_GRANTS_MAX);
	}
	ledger->items = count > 0 ? ARENA_ARRAY(arena, struct grant, count) : NULL;
	for (size_t i = 0; i < count; i++) {
		if (read_grant(json_array_get(grants, i), arena, ledger, ret_fault) < 0) {
			return fault_wrap(ret_fault, "grants[%zu]", i);
		}
	}
	return 0;
}

int ledger_decode(
	const char *text, struct arena *arena, struct ledger *ret_ledger, struct fault *ret_fault)
{
	CLEANUP(decode_release) json_t *root = NULL;
	struct ledger ledger = {0};
	if (!text_empty(text) && (parts_read_text(text, LEDGER_TEXT_MAX, &root, ret_fault) < 0 ||
					 read_ledger(root, arena, &ledger, ret_fault) < 0)) {
		return fault_wrap(ret_fault, "ledger");
	}
	*ret_ledger = ledger;
	return 0;
}

bool ledger_write(struct str *out, const struct ledger *ledger, const char *by)
{
	struct build b = build_into(out);
	build_begin_object(&b);
	build_i64_at(&b, "v", PARTS_TEXT_VERSION);
	if (by != NULL) {
		build_text_at(&b, "by", by);
	}
	build_array_at(&b, "grants");
	for (uint32_t i = 0; i < ledger->count; i++) {
		const struct grant *g = &ledger->items[i];
		build_begin_object(&b);
		build_text_at(&b, "uid", g->uid);
		build_text_at(&b, "ns", g->ns);
		build_text_at(&b, "name", g->name);
		build_i64_at(&b, "milli", g->milli);
		build_i64_at(&b, "mib", g->mem_mib);
		build_end(&b);
	}
	build_end(&b);
	build_end(&b);
	return build_ok(&b);
}
