/* What was tried to give a container its GPU, and what it saw. */
#include "codec/injection_text.h"

#include "json/build.h"
#include "parts.h"

#define PART_MAX 253

/* All of other classes that are proven there, in one step. */
struct class_list {
	struct inject_class *items;
	uint32_t count;
};

static int read_class(
	const json_t *object, struct arena *arena, struct inject_class *c, struct fault *ret_fault)
{
	static const struct decode_field fields[] = {
		{"class", DECODE_TEXT, true, 0, NULL},
		{"form", DECODE_TEXT, true, sizeof(char *), NULL},
	};
	const char *texts[2] = {NULL, NULL};
	if (decode_fields(object, fields, COUNT_OF(fields), arena, texts, ret_fault) < 0) {
		return -1;
	}
	if (strlen(texts[0]) > PART_MAX || !inject_form_parse(view_of(texts[1]), &c->form)) {
		return fault_set(ret_fault, FAULT_INVALID, "a class that is too long, or no form");
	}
	c->class = texts[0];
	return 0;
}

static int read_classes(
	const json_t *value, struct arena *arena, void *field, struct fault *ret_fault)
{
	struct class_list *list = field;
	size_t count = json_array_size(value);
	if (!json_is_array(value)) {
		return decode_mismatch(value, "array", ret_fault);
	}
	if (count > INJECT_CLASSES_MAX) {
		return fault_set(ret_fault, FAULT_INVALID, "more than %d", INJECT_CLASSES_MAX);
	}
	list->items = ARENA_ARRAY(arena, struct inject_class, count);
	for (; list->count < count; list->count++) {
		if (read_class(json_array_get(value, list->count), arena, &list->items[list->count],
			    ret_fault) < 0) {
			return -1;
		}
	}
	return 0;
}

struct claim_text {
	const char *form;
	struct inject_claim claim;
	struct class_list classes;
};

#define CLAIM(field) offsetof(struct claim_text, claim.field)
static const struct decode_field claim_fields[] = {
	{"form", DECODE_TEXT, true, offsetof(struct claim_text, form), NULL},
	{"node", DECODE_TEXT, true, CLAIM(node), NULL},
	{"uuid", DECODE_TEXT, true, CLAIM(uuid), NULL},
	{"driver", DECODE_TEXT, false, CLAIM(driver), NULL},
	{"boot", DECODE_TEXT, false, CLAIM(boot), NULL},
	{"runtime", DECODE_TEXT, false, CLAIM(runtime), NULL},
	{"class", DECODE_TEXT, false, CLAIM(class), NULL},
	{"classes", DECODE_CUSTOM, false, offsetof(struct claim_text, classes), read_classes},
};

static int read_claim(const json_t *root, struct arena *arena, struct inject_claim *claim,
	struct fault *ret_fault)
{
	struct claim_text t = {.claim = {.driver = "", .boot = "", .runtime = "", .class = ""}};
	if (decode_fields(root, claim_fields, COUNT_OF(claim_fields), arena, &t, ret_fault) < 0) {
		return -1;
	}
	if (!inject_form_parse(view_of(t.form), &t.claim.form)) {
		return fault_set(ret_fault, FAULT_INVALID, "form: %.40s is none", t.form);
	}
	const char *const texts[] = {t.claim.node, t.claim.uuid, t.claim.driver, t.claim.boot,
		t.claim.runtime, t.claim.class};
	for (size_t i = 0; i < COUNT_OF(texts); i++) {
		if (strlen(texts[i]) > PART_MAX || (i < 2 && *texts[i] == '\0')) {
			return fault_set(ret_fault, FAULT_INVALID, "%s: empty or too long",
				claim_fields[i + 1].path);
		}
	}
	t.claim.others = t.classes.items;
	t.claim.other_count = t.classes.count;
	*claim = t.claim;
	return 0;
}

int inject_claim_decode(const char *text, struct arena *arena, struct inject_claim *ret_claim,
	struct fault *ret_fault)
{
	CLEANUP(decode_release) json_t *root = NULL;
	struct inject_claim claim;
	if (parts_read_text(text, INJECTION_TEXT_MAX, &root, ret_fault) < 0 ||
		read_claim(root, arena, &claim, ret_fault) < 0) {
		return fault_wrap(ret_fault, "injection");
	}
	*ret_claim = claim;
	return 0;
}

static void write_classes(struct build *b, const struct inject_claim *c)
{
	if (c->other_count == 0) {
		return;
	}
	build_array_at(b, "classes");
	for (uint32_t i = 0; i < c->other_count; i++) {
		build_begin_object(b);
		build_text_at(b, "class", c->others[i].class);
		build_text_at(b, "form", inject_form_name(c->others[i].form));
		build_end(b);
	}
	build_end(b);
}

bool inject_claim_write(struct str *out, const struct inject_claim *c)
{
	struct build b = build_into(out);
	build_begin_object(&b);
	build_i64_at(&b, "v", PARTS_TEXT_VERSION);
	build_text_at(&b, "form", inject_form_name(c->form));
	build_text_at(&b, "node", c->node);
	build_text_at(&b, "uuid", c->uuid);
	build_text_at(&b, "driver", c->driver);
	build_text_at(&b, "boot", c->boot);
	build_text_at(&b, "runtime", c->runtime);
	build_text_at(&b, "class", c->class);
	write_classes(&b, c);
	build_end(&b);
	return build_ok(&b) && !out->overflow;
}

static const struct decode_field sight_fields[] = {
	{"devices", DECODE_I64, true, offsetof(struct inject_sight, devices), NULL},
	{"uuid", DECODE_TEXT, false, offsetof(struct inject_sight, uuid), NULL},
};

int inject_sight_decode(const char *text, struct arena *arena, struct inject_sight *ret_sight,
	struct fault *ret_fault)
{
	CLEANUP(decode_release) json_t *root = NULL;
	struct inject_sight s = {.uuid = ""};
	if (parts_read_text(text, INJECTION_TEXT_MAX, &root, ret_fault) < 0 ||
		decode_fields(root, sight_fields, COUNT_OF(sight_fields), arena, &s, ret_fault) <
			0) {
		return fault_wrap(ret_fault, "sight");
	}
	if (s.devices < 0 || s.devices > INJECT_DEVICES_MAX || strlen(s.uuid) > PART_MAX) {
		return fault_set(ret_fault, FAULT_INVALID, "sight: devices or uuid: out of range");
	}
	*ret_sight = s;
	return 0;
}

bool inject_sight_write(struct str *out, const struct inject_sight *s)
{
	struct build b = build_into(out);
	build_begin_object(&b);
	build_i64_at(&b, "v", PARTS_TEXT_VERSION);
	build_i64_at(&b, "devices", s->devices);
	build_text_at(&b, "uuid", s->uuid);
	build_end(&b);
	return build_ok(&b) && !out->overflow;
}
