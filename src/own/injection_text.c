/* What was tried to give a container its GPU, and what it saw. */
#include "own/injection_text.h"

#include "json/decode.h"
#include "codec/parts.h"

#define PART_MAX 253

/* --- claims --- */

static int read_form(const struct reading *r, const json_t *value, void *to)
{
	if (!json_is_string(value)) {
		return decode_mismatch(value, "string", r->fault);
	}
	if (!inject_form_parse(view_of(json_string_value(value)), to)) {
		return fault_set(
			r->fault, FAULT_INVALID, "%.40s is none", json_string_value(value));
	}
	return 0;
}

static void write_form(struct build *b, const struct field *f, const void *from)
{
	(void)f;
	build_text(b, inject_form_name(*(const enum inject_form *)from));
}

static const struct field_kind field_form = {.read = read_form, .write = write_form};

static int read_part(const struct reading *r, const json_t *value, void *to)
{
	if (field_text.read(r, value, to) < 0) {
		return -1;
	}
	size_t n = json_string_length(value);
	return n <= PART_MAX && (n > 0 || r->field->min == 0)
		       ? 0
		       : fault_set(r->fault, FAULT_INVALID, "empty or too long");
}

static void write_part(struct build *b, const struct field *f, const void *from)
{
	field_text.write(b, f, from);
}

/* A text of PART_MAX bytes at most, and of `min` at least. */
static const struct field_kind field_part = {.read = read_part, .write = write_part};

static const struct field class_fields[] = {
	FIELD("class", part, AT(inject_class, class), .required = true),
	FIELD("form", form, AT(inject_class, form), .required = true),
};
/* All of other classes that are proven there, in one step. */
static const struct shape class_shape = {
	SHAPE(inject_class, class_fields), .defaults = &(const struct inject_class){.class = ""}};

static const struct field claim_fields[] = {
	FIELD("form", form, AT(inject_claim, form), .required = true),
	FIELD("node", part, AT(inject_claim, node), .required = true, .min = 1),
	FIELD("uuid", part, AT(inject_claim, uuid), .required = true, .min = 1),
	FIELD("driver", part, AT(inject_claim, driver)),
	FIELD("boot", part, AT(inject_claim, boot)),
	FIELD("runtime", part, AT(inject_claim, runtime)),
	FIELD("class", part, AT(inject_claim, class)),
	FIELD("classes", list, AT(inject_claim, others), COUNT_AT(inject_claim, other_count),
		.inside = &class_shape, .max = INJECT_CLASSES_MAX),
};
static const struct shape claim_shape = {SHAPE(inject_claim, claim_fields),
	.defaults =
		&(const struct inject_claim){.driver = "", .boot = "", .runtime = "", .class = ""},
	.called = "injection", .limit = INJECTION_TEXT_MAX};

int inject_claim_decode(const char *text, struct arena *arena, struct inject_claim *ret_claim,
	struct fault *ret_fault)
{
	return parts_read_text(text, &claim_shape, arena, ret_claim, ret_fault);
}

bool inject_claim_write(struct str *out, const struct inject_claim *c)
{
	return parts_write_text(out, &claim_shape, c, NULL);
}

/* --- sights --- */

static int check_sight(const struct reading *r, void *noun)
{
	const struct inject_sight *s = noun;
	return s->devices >= 0 && s->devices <= INJECT_DEVICES_MAX
		       ? 0
		       : fault_set(r->fault, FAULT_INVALID, "devices or uuid: out of range");
}

static const struct field sight_fields[] = {
	FIELD("devices", i64, AT(inject_sight, devices), .required = true, .always = true),
	FIELD("uuid", part, AT(inject_sight, uuid)),
};
static const struct shape sight_shape = {SHAPE(inject_sight, sight_fields),
	.defaults = &(const struct inject_sight){.uuid = ""}, .called = "sight",
	.limit = INJECTION_TEXT_MAX, .finish = check_sight};

int inject_sight_decode(const char *text, struct arena *arena, struct inject_sight *ret_sight,
	struct fault *ret_fault)
{
	return parts_read_text(text, &sight_shape, arena, ret_sight, ret_fault);
}

bool inject_sight_write(struct str *out, const struct inject_sight *s)
{
	return parts_write_text(out, &sight_shape, s, NULL);
}
