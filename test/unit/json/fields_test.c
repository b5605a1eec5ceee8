/* Tables of fields: what lands where, what is said about what does not fit, what is written, and
 * what a splitter keeps. */
#include "json/fields.h"

#include "json/decode.h"
#include "json/projection.h"

#include <criterion/criterion.h>

struct part {
	const char *name;
	int32_t number;
};

enum thing_kind { KIND_NONE, KIND_ONE, KIND_TWO };

struct thing {
	const char *text, *note;
	enum thing_kind kind;
	struct part *parts;
	uint32_t part_count;
	bool flag;
	int32_t small;
	int64_t large;
	int64_t time_ms;
	int64_t length;
};

static int read_length(const struct reading *r, const json_t *value, void *to)
{
	if (!json_is_string(value)) {
		return decode_mismatch(value, "word", r->fault);
	}
	*(int64_t *)to = (int64_t)json_string_length(value);
	return 0;
}

static const struct field_kind field_length = {.read = read_length};

static const struct field part_fields[] = {
	FIELD("name", text, AT(part, name), .required = true, .always = true),
	FIELD("deep.number", i32, AT(part, number), .min = 1, .max = 9),
};
static const struct shape part_shape = {
	SHAPE(part, part_fields), .defaults = &(const struct part){.number = 5}};

static bool is_flagged(const void *thing)
{
	return ((const struct thing *)thing)->flag;
}

static const struct field thing_fields[] = {
	FIELD("a.b.text", text, AT(thing, text)),
	FIELD("a.c/d.e/f", note, AT(thing, note)),
	FIELD("a.flag", flag, AT(thing, flag)),
	FIELD("small", i32, AT(thing, small), .always = true),
	FIELD("large", i64, AT(thing, large), .when = is_flagged),
	FIELD("time", time, AT(thing, time_ms)),
	FIELD("word", length, AT(thing, length), .required = true),
	FIELD("kind", word, AT(thing, kind), .words = WORDS("None", "One", "Two")),
	FIELD("parts", list, AT(thing, parts), COUNT_AT(thing, part_count), .inside = &part_shape,
		.max = 2),
	FIELD_KEPT("kept.whole"),
	{.path = "kept.map", .keys = WORDS("a", "b*"), .bytes = 100},
};
static const struct shape thing_shape = {SHAPE(thing, thing_fields),
	.defaults = &(const struct thing){.small = 7}, .called = "thing", .flags = DECODE_UNIQUE};

static int decode(const char *json, struct thing *t, struct arena *arena, struct fault *f)
{
	return fields_decode(view_of(json), &thing_shape, arena, t, f);
}

Test(fields, read)
{
	struct arena arena = {0};
	struct thing t;
	struct fault f = {0};
	decode_setup();
	cr_assert_eq(
		decode("{\"a\":{\"b\":{\"text\":\"x\\ty\"},\"c\":{\"d.e/f\":\"n\"},\"flag\":true},"
		       "\"small\":null,\"kind\":\"Two\","
		       "\"parts\":[{\"name\":\"p\"},{\"name\":\"q\",\"deep\":{\"number\":9}}],"
		       "\"large\":-9223372036854775808,\"time\":\"1970-01-01T00:00:01.5Z\","
		       "\"word\":\"four\",\"other\":[{}]}",
			&t, &arena, &f),
		0, "%s", f.message);
	cr_assert_str_eq(t.text, "x\ty");
	cr_assert_str_eq(t.note, "n");
	cr_assert(t.flag);
	cr_assert_eq(t.kind, KIND_TWO);
	cr_assert_eq(t.part_count, 2);
	cr_assert_eq(t.parts[0].number, 5);
	cr_assert_eq(t.parts[1].number, 9);
	cr_assert_eq(t.small, 7, "null is absent, absent leaves the field alone");
	cr_assert_eq(t.large, INT64_MIN);
	cr_assert_eq(t.time_ms, 1500);
	cr_assert_eq(t.length, 4);
	arena_finish(&arena);
}

/* Behind what the object is called. */
static void refused(const char *json, const char *message)
{
	struct arena arena = {0};
	struct thing t = {0};
	struct fault f = {0};
	cr_assert_eq(decode(json, &t, &arena, &f), -1, "accepted: %s", json);
	cr_assert_eq(f.kind, FAULT_INVALID);
	cr_assert_str_eq(f.message + strlen("thing: "), message);
	arena_finish(&arena);
}

Test(fields, what_does_not_fit_is_named)
{
	refused("{\"a\":{\"b\":{\"text\":5}}}", "a.b.text: string expected, integer found");
	refused("{\"a\":{\"b\":5}}", "a.b: object expected, integer found");
	refused("{\"a\":\"x\"}", "a: object expected, string found");
	refused("{\"a\":{\"flag\":\"true\"}}", "a.flag: boolean expected, string found");
	refused("{\"kind\":\"Three\",\"word\":\"\"}", "kind: \"Three\" is not known here");
	refused("{\"parts\":{},\"word\":\"\"}", "parts: array expected, object found");
	refused("{\"parts\":[{},{},{}],\"word\":\"\"}", "parts: more than 2");
	refused("{\"parts\":[{\"name\":\"p\"},{}],\"word\":\"\"}", "parts[1]: name: missing");
	refused("{\"parts\":[{\"name\":\"p\",\"deep\":{\"number\":0}}],\"word\":\"\"}",
		"parts[0]: deep.number: 0 is not between 1 and 9");
	refused("{\"small\":2147483648}", "small: 2147483648 is out of range");
	refused("{\"large\":1.0}", "large: integer expected, fraction found");
	refused("{\"time\":\"yesterday\"}", "time: RFC 3339 time expected, \"yesterday\" found");
	refused("{\"time\":5}", "time: time expected, integer found");
	refused("{\"word\":[]}", "word: word expected, array found");
	refused("{}", "word: missing");
	refused("[]", "object expected, array found");
}

static void written(const struct thing *t, const char *json)
{
	CLEANUP(str_finish) struct str out = STR_INIT(1024);
	struct build b = build_into(&out);
	build_begin_object(&b);
	fields_write(&b, &thing_shape, "", t);
	build_end(&b);
	cr_assert(build_ok(&b));
	cr_assert_str_eq(str_text(&out), json);
}

/* Objects on the way are there where a member of them is. */
Test(fields, write)
{
	struct part parts[] = {{"p", 3}, {NULL, 0}};
	written(&(struct thing){0}, "{\"small\":0,\"kind\":\"None\"}");
	written(&(struct thing){.text = "x",
			.flag = true,
			.large = 4,
			.time_ms = 1000,
			.parts = parts,
			.part_count = 2},
		"{\"a\":{\"b\":{\"text\":\"x\"},\"flag\":true},\"small\":0,\"large\":4,"
		"\"time\":\"1970-01-01T00:00:01Z\",\"kind\":\"None\",\"parts\":[{\"name\":\"p\","
		"\"deep\":{\"number\":3}},{\"name\":\"\"}]}");
	written(&(struct thing){.large = 4}, "{\"small\":0,\"kind\":\"None\"}");
}

Test(fields, below_a_path)
{
	CLEANUP(str_finish) struct str out = STR_INIT(1024);
	struct build b = build_into(&out);
	build_begin_object(&b);
	fields_write(&b, &thing_shape, "a", &(struct thing){.text = "x", .flag = true, .small = 3});
	build_end(&b);
	cr_assert_str_eq(str_text(&out), "{\"b\":{\"text\":\"x\"},\"flag\":true}");
}

static const struct slice_keep *row_of(const struct slice_keep *rows, const char *key)
{
	while (rows->key != NULL &&
		(rows->key_size != strlen(key) || memcmp(rows->key, key, rows->key_size) != 0)) {
		rows++;
	}
	cr_assert_not_null(rows->key, "no row %s", key);
	return rows;
}

Test(fields, projection)
{
	static const struct field base_fields[] = {{.path = "a.b", .mark = 2}};
	static const struct shape base = {.fields = base_fields, .count = 1};
	const struct slice_keep *rows = fields_projection(&base, &thing_shape);
	const struct slice_keep *a = row_of(rows, "a"), *b = row_of(a->inside, "b");
	cr_assert_eq(b->mark, 2);
	cr_assert_null(b->inside, "a row wants all of it");
	cr_assert_not_null(row_of(row_of(a->inside, "c")->inside, "d.e/f"));
	const struct slice_keep *parts = row_of(rows, "parts");
	cr_assert_not_null(row_of(row_of(parts->inside, "deep")->inside, "number"));
	const struct slice_keep *kept = row_of(rows, "kept"), *map = row_of(kept->inside, "map");
	cr_assert_null(row_of(kept->inside, "whole")->inside);
	cr_assert_eq(map->most, 100);
	cr_assert_not(row_of(map->inside, "a")->prefix);
	cr_assert(row_of(map->inside, "b")->prefix);
	cr_assert_eq(fields_projection(&base, &thing_shape), rows, "made once");
}
