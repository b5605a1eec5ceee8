/* The identity of a GPU and the ledger of grants: the two texts on a capacity pod. */
#include "own/capacity_text.h"

#include "model/names.h"
#include "codec/parts.h"

#define MEMORY_MAX    ((int64_t)1 << 30) /* MiB: a petabyte */
#define GRANT_UID_MAX 64
#define NAME_MAX_SIZE 253

/* --- identity --- */

/* A text in a char array of the struct that says how long it is. */
static int read_array(const struct reading *r, const json_t *value, void *to)
{
	size_t n = json_string_length(value);
	if (!json_is_string(value)) {
		return decode_mismatch(value, "string", r->fault);
	}
	if (n > (size_t)r->field->max) {
		return fault_set(
			r->fault, FAULT_INVALID, "more than %lld bytes", (long long)r->field->max);
	}
	memcpy(to, json_string_value(value), n + 1);
	return 0;
}

static void write_array(struct build *b, const struct field *f, const void *from)
{
	(void)f;
	build_text(b, from);
}

static const struct field_kind field_array = {.read = read_array, .write = write_array};

/* It becomes the value of environment variables and of annotations. */
static bool uuid_is_plain(const char *uuid)
{
	static const char allowed[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-/.";
	return *uuid != '\0' && uuid[strspn(uuid, allowed)] == '\0';
}

static int check_identity(const struct reading *r, void *noun)
{
	const struct gpu_identity *id = noun;
	if (!uuid_is_plain(id->uuid)) {
		return fault_set(r->fault, FAULT_INVALID, "uuid: not a device's name");
	}
	if (id->mem_mib < 1 || id->mem_mib > MEMORY_MAX || id->minor < 0) {
		return fault_set(r->fault, FAULT_INVALID, "memory or minor: out of range");
	}
	return 0;
}

#define ARRAY(member)                                                                              \
	AT(gpu_identity, member), .max = sizeof(((struct gpu_identity *)0)->member) - 1

static const struct field identity_fields[] = {
	FIELD("uuid", array, ARRAY(uuid), .required = true),
	FIELD("memory", i64, AT(gpu_identity, mem_mib), .required = true, .always = true),
	FIELD("model", array, ARRAY(model), .required = true),
	FIELD("minor", i32, AT(gpu_identity, minor), .required = true, .always = true),
	FIELD("driver", array, ARRAY(driver)),
};
static const struct shape identity_shape = {SHAPE(gpu_identity, identity_fields),
	.called = "identity", .limit = IDENTITY_TEXT_MAX, .finish = check_identity};

int identity_decode(const char *text, struct gpu_identity *ret_identity, struct fault *ret_fault)
{
	CLEANUP(arena_finish) struct arena arena = {0};
	return parts_read_text(text, &identity_shape, &arena, ret_identity, ret_fault);
}

bool identity_write(struct str *out, const struct gpu_identity *identity)
{
	return parts_write_text(out, &identity_shape, identity, NULL);
}

/* --- ledger --- */

static int check_grant(const struct reading *r, void *noun)
{
	const struct grant *g = noun;
	if (g->milli < 1 || g->milli > MODEL_GPU_MILLI) {
		return fault_set(r->fault, FAULT_INVALID, "milli: %lld is out of range",
			(long long)g->milli);
	}
	if (g->mem_mib < 1 || g->mem_mib > MEMORY_MAX) {
		return fault_set(r->fault, FAULT_INVALID, "mib: %lld is out of range",
			(long long)g->mem_mib);
	}
	if (*g->uid == '\0' || strlen(g->uid) > GRANT_UID_MAX || *g->name == '\0' ||
		strlen(g->name) > NAME_MAX_SIZE || strlen(g->ns) > NAME_MAX_SIZE) {
		return fault_set(r->fault, FAULT_INVALID, "uid, ns or name: empty or too long");
	}
	return 0;
}

static const struct field grant_fields[] = {
	FIELD("uid", text, AT(grant, uid), .required = true, .always = true),
	FIELD("ns", text, AT(grant, ns), .required = true, .always = true),
	FIELD("name", text, AT(grant, name), .required = true, .always = true),
	FIELD("milli", i64, AT(grant, milli), .required = true, .always = true),
	FIELD("mib", i64, AT(grant, mem_mib), .required = true, .always = true),
};
static const struct shape grant_shape = {SHAPE(grant, grant_fields), .finish = check_grant};

static int refuse_doubles(const struct reading *r, void *noun)
{
	const struct ledger *ledger = noun;
	if (ledger->count > MODEL_GRANTS_MAX) {
		return fault_set(r->fault, FAULT_INVALID, "grants: %u of at most %d", ledger->count,
			MODEL_GRANTS_MAX);
	}
	for (uint32_t i = 0; i < ledger->count; i++) {
		for (uint32_t k = 0; k < i; k++) {
			if (strcmp(ledger->items[k].uid, ledger->items[i].uid) == 0) {
				return fault_set(r->fault, FAULT_INVALID,
					"grants[%u]: uid: %s is there twice", i,
					ledger->items[i].uid);
			}
		}
	}
	return 0;
}

static const struct field ledger_fields[] = {
	FIELD("grants", list, AT(ledger, items), COUNT_AT(ledger, count), .required = true,
		.always = true, .inside = &grant_shape),
};
static const struct shape ledger_shape = {SHAPE(ledger, ledger_fields), .called = "ledger",
	.limit = LEDGER_TEXT_MAX, .finish = refuse_doubles};

int ledger_decode(
	const char *text, struct arena *arena, struct ledger *ret_ledger, struct fault *ret_fault)
{
	if (text_empty(text)) {
		*ret_ledger = (struct ledger){0};
		return 0;
	}
	return parts_read_text(text, &ledger_shape, arena, ret_ledger, ret_fault);
}

bool ledger_write(struct str *out, const struct ledger *ledger, const char *by)
{
	return parts_write_text(out, &ledger_shape, ledger, by);
}
