/* The splitter: the same objects whatever the pieces, limits that skip and go on, and no byte
 * changed. */
#include "json/slice.h"

#include <criterion/criterion.h>
#include <stdio.h>

#include "base/alloc.h"

struct seen {
	struct str text; /* one line an object: TYPE json */
	size_t objects;
	size_t oversize;
	size_t stop_after;
};

static bool on_object(void *data, struct view type, const char *json, size_t n)
{
	struct seen *seen = data;
	cr_assert_eq(json[n], '\0');
	str_append(&seen->text, type.p, type.n);
	str_append_char(&seen->text, ' ');
	if (n < 4096) {
		str_append(&seen->text, json, n);
	} else {
		str_append_format(&seen->text, "%zu bytes", n);
	}
	str_append_char(&seen->text, '\n');
	seen->objects++;
	return seen->stop_after == 0 || seen->objects < seen->stop_after;
}

static void on_oversize(void *data)
{
	struct seen *seen = data;
	str_append_text(&seen->text, "oversize\n");
	seen->oversize++;
}

static const struct slice_events events = {on_object, on_oversize};

static const struct slice_keep notes_keep[] = {SLICE_KEEP_PREFIX("a/"), SLICE_END};
static const struct slice_keep meta_keep[] = {
	SLICE_KEEP("name"),
	SLICE_KEEP("labels"),
	SLICE_KEEP_IN("annotations", notes_keep),
	SLICE_END,
};
static const struct slice_keep container_keep[] = {SLICE_KEEP("name"), SLICE_END};
static const struct slice_keep pairs_keep[] = {
	SLICE_KEEP("own"), SLICE_KEEP_PREFIX("a/"), SLICE_KEEP_PREFIX(""), SLICE_END};
static const struct slice_keep spec_keep[] = {
	SLICE_KEEP_MOST("text", 16),
	SLICE_KEEP_SOME("list", container_keep, 24),
	SLICE_KEEP_SOME("pairs", pairs_keep, 32),
	SLICE_KEEP_MARKED("place", 1),
	SLICE_KEEP("nodeName"),
	SLICE_KEEP_IN("containers", container_keep),
	SLICE_END,
};
static const struct slice_keep keep[] = {
	SLICE_KEEP_IN("metadata", meta_keep),
	SLICE_KEEP_IN("spec", spec_keep),
	SLICE_END,
};

struct run {
	struct seen seen;
	int push, end;
	struct fault fault;
	struct slice_list list;
	int version;
};

static struct run run_pieces(enum slice_form form, const char *text, size_t n, size_t piece)
{
	struct run r = {.seen = {.text = STR_INIT(1 << 20)}, .version = -1};
	struct slice s;
	slice_init(&s, form, keep, &events, &r.seen);
	for (size_t i = 0; i < n && r.push == 0; i += piece) {
		/* A copy of exactly this size, so that a read beyond it is seen. */
		size_t part = n - i < piece ? n - i : piece;
		char *copy = xmemdup(text + i, part);
		r.push = slice_push(&s, copy, part, &r.fault);
		free(copy);
	}
	if (r.push == 0) {
		r.end = slice_end(&s, &r.fault);
	}
	if (form == SLICE_LIST && r.push == 0 && r.end == 0) {
		r.version = slice_list_version(&s, &r.list, &r.fault);
	}
	slice_finish(&s);
	return r;
}

static struct run run_cut(enum slice_form form, const char *text, size_t n, size_t cut)
{
	struct run r = {.seen = {.text = STR_INIT(1 << 20)}, .version = -1};
	struct slice s;
	slice_init(&s, form, keep, &events, &r.seen);
	r.push = slice_push(&s, text, cut, &r.fault);
	if (r.push == 0) {
		r.push = slice_push(&s, text + cut, n - cut, &r.fault);
	}
	if (r.push == 0) {
		r.end = slice_end(&s, &r.fault);
	}
	slice_finish(&s);
	return r;
}

/* Whole, byte by byte, and cut in two at every place. */
static void expect(enum slice_form form, const char *text, const char *wanted)
{
	size_t n = strlen(text);
	for (size_t piece = n; piece > 0; piece = piece > 3 ? 3 : piece - 1) {
		struct run r = run_pieces(form, text, n, piece);
		cr_assert_eq(r.push, 0, "%s", r.fault.message);
		cr_assert_eq(r.end, 0, "%s", r.fault.message);
		cr_assert_str_eq(str_text(&r.seen.text), wanted);
		str_finish(&r.seen.text);
	}
	for (size_t cut = 0; cut <= n; cut++) {
		struct run r = run_cut(form, text, n, cut);
		cr_assert_eq(r.push, 0, "%s", r.fault.message);
		cr_assert_eq(r.end, 0, "%s", r.fault.message);
		cr_assert_str_eq(str_text(&r.seen.text), wanted, "cut at %zu", cut);
		str_finish(&r.seen.text);
	}
}

Test(slice, list)
{
	const char *text =
		"{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":"
		"\"42\","
		"\"continue\":\"ab\\/c\",\"x\":[1,{\"y\":\"}\"}]},\n \"items\": [ {\"metadata\": { "
		"\"name\" :\"p1\","
		"\"managedFields\":[{\"f:x\":{\"}\":\"]\"}}],\"labels\":{\"app\":\"a \\\"q\\\" "
		"}\", \"\xc3\xa9\":\"\\u00e9\"},"
		"\"annotations\":{\"b/x\":\"no\",\"a/1\":\"yes\",\"a/2\":\"{\\\"k\\\":[1]}\"}},"
		"\"spec\":{\"containers\":[{\"name\":\"c1\",\"env\":[{\"name\":\"X\",\"value\":\"}}"
		"\"}]},"
		"{\"image\":\"i\",\"name\":\"c2\"}],\"volumes\":[],\"nodeName\":\"n\"},\"status\":{"
		"\"a\":1}},"
		"{\"metadata\":{\"name\":\"p2\"},\"spec\":{}} ]}\r\n ";
	expect(SLICE_LIST, text,
		" {\"metadata\":{\"name\":\"p1\",\"labels\":{\"app\":\"a \\\"q\\\" }\", "
		"\"\xc3\xa9\":\"\\u00e9\"},"
		"\"annotations\":{\"a/1\":\"yes\",\"a/2\":\"{\\\"k\\\":[1]}\"}},"
		"\"spec\":{\"containers\":[{\"name\":\"c1\"},{\"name\":\"c2\"}],\"nodeName\":\"n\"}"
		"}\n"
		" {\"metadata\":{\"name\":\"p2\"},\"spec\":{}}\n");
	struct run r = run_pieces(SLICE_LIST, text, strlen(text), 7);
	cr_assert_eq(r.version, 0, "%s", r.fault.message);
	cr_assert_str_eq(r.list.version, "42");
	cr_assert_str_eq(r.list.more, "ab/c");
	str_finish(&r.seen.text);
}

Test(slice, list_with_metadata_behind_and_no_items)
{
	const char *text = "{\"items\":null,\"metadata\":{\"resourceVersion\":\"7\"}}";
	expect(SLICE_LIST, text, "");
	expect(SLICE_LIST, "{\"items\":[],\"metadata\":{}}", "");
	struct run r = run_pieces(SLICE_LIST, text, strlen(text), 1);
	cr_assert_eq(r.version, 0);
	cr_assert_str_eq(r.list.version, "7");
	cr_assert_str_eq(r.list.more, "");
	const char *none = "{\"items\":[],\"metadata\":{}}";
	r = run_pieces(SLICE_LIST, none, strlen(none), 1);
	cr_assert_eq(r.version, -1);
	cr_assert_eq(r.fault.kind, FAULT_INVALID);
}

Test(slice, watch)
{
	expect(SLICE_WATCH,
		"{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"p\"},\"status\":{}}}\n"
		"\r\n  "
		"{\"object\":{\"spec\":{\"nodeName\":null}},\"x\":[{}],\"type\":\"MODIFIED\"}\r\n"
		"{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"code\":410}}",
		"ADDED {\"metadata\":{\"name\":\"p\"}}\nMODIFIED {\"spec\":{\"nodeName\":null}}\n"
		"ERROR {\"kind\":\"Status\",\"code\":410}\n");
}

Test(slice, values_of_unexpected_types_pass_through_for_the_decoder_to_name)
{
	expect(SLICE_LIST,
		"{\"items\":[5,\"x\",{\"metadata\":[[{\"name\":1}],{\"name\":2,\"z\":3}],\"spec\":"
		"true}]}",
		" 5\n \"x\"\n {\"metadata\":[[{\"name\":1}],{\"name\":2}],\"spec\":true}\n");
}

Test(slice, keys_that_repeat_or_are_escaped)
{
	expect(SLICE_LIST,
		"{\"items\":[{\"spec\":{\"nodeName\":\"a\",\"nodeName\":\"b\",\"node\\u004eame\":"
		"\"c\"}}]}",
		" {\"spec\":{\"nodeName\":\"a\",\"nodeName\":\"b\"}}\n");
}

static void expect_broken(enum slice_form form, const char *text)
{
	for (size_t piece = 1; piece <= strlen(text); piece++) {
		struct run r = run_pieces(form, text, strlen(text), piece);
		cr_assert_eq(r.push, -1, "accepted: %s", text);
		cr_assert_eq(r.fault.kind, FAULT_INVALID);
		str_finish(&r.seen.text);
	}
}

Test(slice, malformed)
{
	static const char *const texts[] = {
		"[",
		"x",
		"{]",
		"{\"items\":[}",
		"{\"items\":[{},]}",
		"{\"items\":[{}{}]}",
		"{\"items\":[{\"spec\":{\"a\":[}}]}",
		"{\"items\":[{\"spec\":{,}}]}",
		"{\"items\" []}",
		"{\"a\":1,}",
		"{a:1}",
		"{\"items\":[]}x",
		"{\"items\":[]}{}",
		"{\"items\":[{\"spec\":{\"nodeName\"}}]}",
		"{\"metadata\":{]}",
		"{\"a\":\"b\"\"c\"}",
		"{\"a\":}",
		"{\"items\":[{\"a\":{\"b\":]}}]}",
		"<html>",
		"{\"a\":+1}",
	};
	for (size_t i = 0; i < COUNT_OF(texts); i++) {
		expect_broken(SLICE_LIST, texts[i]);
	}
	expect_broken(SLICE_WATCH, "[{}]");
	expect_broken(SLICE_WATCH, "{\"type\":\"ADDED\"}\n");
	expect_broken(SLICE_WATCH, "{\"type\":\"ADDED\",\"object\":{}},");
}

Test(slice, cut_off_is_transient)
{
	const char *text = "{\"metadata\":{\"resourceVersion\":\"1\"},\"items\":[{\"spec\":{"
			   "\"nodeName\":\"n\"}}]}";
	for (size_t n = 0; n < strlen(text); n++) {
		struct run r = run_pieces(SLICE_LIST, text, n, n > 0 ? n : 1);
		cr_assert_eq(r.push, 0);
		cr_assert_eq(r.end, -1, "%zu bytes passed for a list", n);
		cr_assert_eq(r.fault.kind, FAULT_TRANSIENT);
		str_finish(&r.seen.text);
	}
	const char *event = "{\"type\":\"ADDED\",\"object\":{\"spec\":{}}}";
	for (size_t n = 0; n <= strlen(event); n++) {
		struct run r = run_pieces(SLICE_WATCH, event, n, n > 0 ? n : 1);
		cr_assert_eq(r.end, n == 0 || n == strlen(event) ? 0 : -1);
		str_finish(&r.seen.text);
	}
}

static void append_repeated(struct str *s, const char *text, size_t times)
{
	for (size_t i = 0; i < times; i++) {
		str_append_text(s, text);
	}
}

Test(slice, an_object_over_a_limit_is_skipped_and_the_next_is_not)
{
	struct str text = STR_INIT(32 << 20);
	/* over the projected limit; over the raw limit though nothing of it is kept; too deep, kept
	 * and not kept */
	str_append_text(&text, "{\"items\":[{\"metadata\":{\"labels\":{\"a\":\"");
	append_repeated(&text, "0123456789abcdef", SLICE_OBJECT_MAX / 16);
	str_append_text(&text, "\"}}},{\"status\":\"");
	append_repeated(&text, "0123456789abcdef", SLICE_RAW_MAX / 16);
	str_append_text(&text, "\"},{\"metadata\":{\"labels\":");
	append_repeated(&text, "[", 100);
	append_repeated(&text, "]", 100);
	str_append_text(&text, "}},{\"status\":");
	append_repeated(&text, "[{\"a\":", 40);
	str_append_text(&text, "1");
	append_repeated(&text, "}]", 40);
	str_append_text(&text, "},{\"status\":\"");
	append_repeated(&text, "0123456789abcdef", 200000);
	str_append_text(&text, "\",\"spec\":{\"nodeName\":\"fits\"}}]}");
	static const size_t pieces[] = {1 << 24, 16384, 4095};
	for (size_t i = 0; i < COUNT_OF(pieces); i++) {
		struct run r = run_pieces(SLICE_LIST, text.p, text.len, pieces[i]);
		cr_assert_eq(r.push, 0, "%s", r.fault.message);
		cr_assert_eq(r.end, 0);
		cr_assert_str_eq(str_text(&r.seen.text), "oversize\noversize\noversize\noversize\n "
							 "{\"spec\":{\"nodeName\":\"fits\"}}\n");
		str_finish(&r.seen.text);
	}
	str_finish(&text);
}

Test(slice, a_watch_line_over_the_limit_is_skipped)
{
	struct str text = STR_INIT(32 << 20);
	str_append_text(&text, "{\"type\":\"ADDED\",\"object\":{\"status\":\"");
	append_repeated(&text, "0123456789abcdef", SLICE_RAW_MAX / 16);
	str_append_text(&text, "\"}}\n{\"type\":\"ADDED\",\"object\":{\"spec\":{}}}\n");
	struct run r = run_pieces(SLICE_WATCH, text.p, text.len, 10000);
	cr_assert_str_eq(str_text(&r.seen.text), "oversize\nADDED {\"spec\":{}}\n");
	str_finish(&r.seen.text);
	str_finish(&text);
}

Test(slice, memory_of_a_large_object_is_given_back)
{
	struct seen seen = {.text = STR_INIT(1 << 20)};
	struct slice s;
	struct str text = STR_INIT(8 << 20);
	str_append_text(&text, "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"");
	append_repeated(&text, "0123456789abcdef", 100000);
	str_append_text(&text, "\"}}}\n");
	slice_init(&s, SLICE_WATCH, keep, &events, &seen);
	cr_assert_eq(slice_push(&s, text.p, text.len, NULL), 0);
	cr_assert_eq(seen.objects, 1);
	cr_assert_leq(s.out.cap, 65536);
	slice_finish(&s);
	str_finish(&text);
	str_finish(&seen.text);
}

Test(slice, a_consumer_may_stop)
{
	struct seen seen = {.text = STR_INIT(1 << 20), .stop_after = 1};
	const char *text = "{\"items\":[{\"spec\":{}},{\"spec\":{}}]}garbage";
	struct slice s;
	slice_init(&s, SLICE_LIST, keep, &events, &seen);
	cr_assert_eq(slice_push(&s, text, strlen(text), NULL), 0);
	cr_assert_eq(slice_push(&s, "]]]", 3, NULL), 0);
	cr_assert_eq(seen.objects, 1);
	slice_reset(&s);
	seen.stop_after = 0;
	cr_assert_eq(slice_push(&s, text, strlen(text) - 7, NULL), 0);
	cr_assert_eq(slice_end(&s, NULL), 0);
	cr_assert_eq(seen.objects, 3);
	slice_finish(&s);
	str_finish(&seen.text);
}

Test(slice, without_a_projection_everything_is_kept)
{
	struct seen seen = {.text = STR_INIT(1 << 20)};
	struct slice s;
	const char *text = "{\"items\":[ {\"a\" : [1, 2.5e3 ,null] , \"b\":\"\\\\\"} ]}";
	slice_init(&s, SLICE_LIST, NULL, &events, &seen);
	for (size_t i = 0; text[i] != '\0'; i++) {
		cr_assert_eq(slice_push(&s, text + i, 1, NULL), 0);
	}
	cr_assert_str_eq(seen.text.p, " {\"a\" : [1, 2.5e3 ,null] , \"b\":\"\\\\\"}\n");
	slice_finish(&s);
	str_finish(&seen.text);
}

/* --- what is too long --- */

static void expect_spec(const char *spec, const char *wanted)
{
	CLEANUP(str_finish) struct str text = STR_INIT(4096);
	CLEANUP(str_finish) struct str all = STR_INIT(4096);
	str_append_format(&text, "{\"type\":\"ADDED\",\"object\":{\"spec\":%s}}", spec);
	str_append_format(&all, "ADDED {\"spec\":%s}\n", wanted);
	expect(SLICE_WATCH, str_text(&text), str_text(&all));
}

Test(slice, a_value_that_is_too_long_is_left_out_and_that_is_said)
{
	expect_spec("{\"text\":\"12345678901234\",\"nodeName\":\"n\"}",
		"{\"text\":\"12345678901234\",\"nodeName\":\"n\"}");
	expect_spec("{\"text\":\"123456789012345\",\"nodeName\":\"n\"}",
		"{\"nodeName\":\"n\"},\"cut\":true");
	expect_spec("{\"nodeName\":\"n\",\"text\":[1,{\"a\":[2,3]},4,5,6]}",
		"{\"nodeName\":\"n\"},\"cut\":true");
	expect_spec("{\"text\":\"123456789012345\"}", "{},\"cut\":true");
}

Test(slice, a_list_that_is_too_long_ends_early_and_that_is_said)
{
	expect_spec("{\"list\":[{\"name\":\"1\"},{\"name\":\"2\"}],\"nodeName\":\"n\"}",
		"{\"list\":[{\"name\":\"1\"},{\"name\":\"2\"}],\"nodeName\":\"n\"}");
	expect_spec("{\"list\":[{\"name\":\"1\"},{\"name\":\"2\"},{\"name\":\"3\"},7],\"nodeName\":"
		    "\"n\"}",
		"{\"list\":[{\"name\":\"1\"},{\"name\":\"2\"}],\"nodeName\":\"n\"},\"cut\":true");
}

/* What a table names stays, what begins with what it names has the whole room, all else half of it.
 */
Test(slice, a_map_that_is_too_long_keeps_what_is_named)
{
	expect_spec(
		"{\"pairs\":{\"1\":\"1234567\",\"2\":\"123\",\"3\":\"x\",\"a/\":\"y\",\"4\":\"x\","
		"\"own\":\"z\",\"a/2\":\"x\"}}",
		"{\"pairs\":{\"1\":\"1234567\",\"2\":\"123\",\"a/\":\"y\",\"own\":\"z\"}},"
		"\"cut\":true");
}

/* A cut object says nothing of the next one. */
Test(slice, each_object_is_cut_for_itself)
{
	expect(SLICE_LIST,
		"{\"metadata\":{\"resourceVersion\":\"1\"},\"items\":[{\"spec\":{\"text\":"
		"\"123456789012345\"}},{\"spec\":{\"place\":\"here\"}}]}",
		" {\"spec\":{},\"cut\":true}\n {\"spec\":{\"place\":\"here\"}}\n");
}
