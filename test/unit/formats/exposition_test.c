/* The text format: read in pieces of any size, whole or not at all. */
#include "formats/exposition.h"

#include <criterion/criterion.h>
#include <stdio.h>

struct bed {
	uint32_t count;
	struct str told; /* one line a sample */
	int refuse_after;
	struct fault fault;
};

static int on_sample(void *data, const struct exposition_sample *s, struct fault *f)
{
	struct bed *b = data;
	if (b->refuse_after > 0 && (int)b->count == b->refuse_after) {
		return fault_set(f, FAULT_LIMIT, "no more");
	}
	b->count++;
	str_append_text(&b->told, s->series.name);
	for (uint32_t i = 0; i < s->series.label_count; i++) {
		str_append_format(
			&b->told, " %s=[%s]", s->series.labels[i].name, s->series.labels[i].value);
	}
	str_append_format(&b->told, " %d:%lld", (int)s->value.state, (long long)s->value.micro);
	if (s->has_time) {
		str_append_format(&b->told, " @%lld", (long long)s->time_ms);
	}
	str_append_char(&b->told, ';');
	return 0;
}

/* In pieces of this size. */
static int read_in(struct bed *b, const char *text, size_t n, size_t piece)
{
	struct exposition *e = exposition_create(on_sample, b);
	int result = 0;
	*b = (struct bed){.told.limit = 65536, .refuse_after = b->refuse_after};
	for (size_t at = 0; at < n && result == 0; at += piece) {
		size_t part = n - at < piece ? n - at : piece;
		result = exposition_feed(e, text + at, part, &b->fault);
	}
	result = result == 0 ? exposition_end(e, &b->fault) : result;
	exposition_destroy(e);
	return result;
}

static void expect(const char *text, const char *told)
{
	for (size_t piece = 1; piece < 40; piece += 6) {
		struct bed b = {0};
		cr_assert_eq(
			read_in(&b, text, strlen(text), piece), 0, "%s: %s", text, b.fault.message);
		cr_expect_str_eq(str_text(&b.told), told, "by %zu: %s", piece, str_text(&b.told));
		str_finish(&b.told);
	}
}

static void refuse(const char *text, size_t n, enum fault_kind kind, const char *part)
{
	struct bed b = {0};
	cr_assert_eq(read_in(&b, text, n, 7), -1, "%s", text);
	cr_expect_eq(b.fault.kind, kind, "%s: %s", text, b.fault.message);
	cr_expect(strstr(b.fault.message, part) != NULL, "%s: %s lacks %s", text, b.fault.message,
		part);
	str_finish(&b.told);
}

Test(exposition, what_exporters_write)
{
	expect("# HELP DCGM_FI_DEV_GPU_UTIL GPU utilization (in %).\n"
	       "# TYPE DCGM_FI_DEV_GPU_UTIL gauge\n"
	       "DCGM_FI_DEV_GPU_UTIL{gpu=\"0\",UUID=\"GPU-1\",pod=\"a\"} 37\n\n",
		"DCGM_FI_DEV_GPU_UTIL gpu=[0] UUID=[GPU-1] pod=[a] 1:37000000;");
	expect("a 1\r\nb{} 2\r\n", "a 1:1000000;b 1:2000000;");
	expect(" \t a { x = \"1\" , y = \"2\" , } \t 3 \t 1700000000123 \n",
		"a x=[1] y=[2] 1:3000000 @1700000000123;");
	expect("a{x=\"q\\\"b\\\\n\\nl, } # 1\"}NaN\n", "a x=[q\"b\\n\nl, } # 1] 2:0;");
	expect("vllm:cache:x 0.28\n", "vllm:cache:x 1:280000;");
	expect("a +Inf\nb -5\n", "a 3:0;b 1:-5000000;");
	expect("a 1 # {trace_id=\"1\"} 0.5\nb 2 7 # {}\n# EOF\n", "a 1:1000000;b 1:2000000 @7;");
	expect("", "");
	expect("\n\n#\n#x\n", "");
}

Test(exposition, what_is_refused_with_its_line)
{
	static const char *const rows[] = {"a\n", "a{\n", "a{x=\"1\"\n", "a{x=\"1\"}\n",
		"a{x=1} 1\n", "a{x=\"1} 1\n", "a{x=\"1\" y=\"2\"} 1\n", "a{,} 1\n", "a{=\"1\"} 1\n",
		"a{x=\"1\",x=\"2\"} 1\n", "a{x=\"\\t\"} 1\n", "a{x=\"\\", "a{x:y=\"1\"} 1\n",
		"{x=\"1\"} 1\n", "{\"a\"} 1\n", "1a 1\n", "a-b 1\n", "a 1 2 3\n", "a 1 1.5\n",
		"a 0x1\n", "a 1e\n", "a 1,5\n", "a one\n", "<html>\n", "a\v1\n"};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		char text[128];
		snprintf(text, sizeof text, "fine 1\n# x\n%s\n", rows[i]);
		refuse(text, strlen(text), FAULT_INVALID, "line 3");
	}
	refuse("a 1\nb{x=\"\0\"} 2\n", 15, FAULT_INVALID, "line 2");
	refuse("a 1\nb 2", 7, FAULT_INVALID, "line 2: it has no end");
}

Test(exposition, who_reads_may_end_it)
{
	struct bed b = {.refuse_after = 2};
	cr_assert_eq(read_in(&b, "a 1\nb 2\nc 3\nd 4\n", 16, 3), -1);
	cr_expect_str_eq(b.fault.message, "line 3: no more");
	cr_expect_eq(b.count, 2);
	str_finish(&b.told);
}

static void fill(struct str *s, const char *part, size_t times)
{
	for (size_t i = 0; i < times; i++) {
		str_append_text(s, part);
	}
}

Test(exposition, lines_and_labels_have_a_limit)
{
	struct str text = STR_INIT((size_t)1 << 20);
	str_append_text(&text, "# ");
	fill(&text, "x", EXPOSITION_LINE_MAX - 2);
	str_append_text(&text, "\n");
	expect(str_text(&text), "");
	str_reset(&text);
	fill(&text, "x", EXPOSITION_LINE_MAX + 1);
	refuse(str_text(&text), text.len, FAULT_LIMIT, "line 1: longer");
	str_reset(&text);
	str_append_text(&text, "a{");
	for (int i = 0; i <= EXPOSITION_LABELS_MAX; i++) {
		str_append_format(&text, "l%d=\"\",", i);
	}
	str_append_text(&text, "} 1\n");
	refuse(str_text(&text), text.len, FAULT_LIMIT, "line 1: more labels");
	str_finish(&text);
}

static int count_only(void *data, const struct exposition_sample *s, struct fault *f)
{
	uint32_t *count = data;
	(void)s;
	(void)f;
	(*count)++;
	return 0;
}

Test(exposition, limits_of_its_own_are_smaller_ones)
{
	struct fault f = {0};
	uint32_t count = 0;
	struct exposition *e = exposition_create(count_only, &count);
	exposition_limit(e, (struct exposition_limits){EXPOSITION_BYTES_MAX + 1, 2});
	cr_assert_eq(exposition_feed(e, "a 1\nb 1\n", 8, &f), 0, "%s", f.message);
	cr_expect(exposition_feed(e, "c 1\n", 4, &f) < 0);
	cr_expect(f.kind == FAULT_LIMIT && count == 2 && strstr(f.message, "than 2") != NULL);
	exposition_destroy(e);
	e = exposition_create(count_only, &count);
	exposition_limit(e, (struct exposition_limits){8, 100});
	cr_assert_eq(exposition_feed(e, "a 1\nb 1\n", 8, &f), 0, "%s", f.message);
	cr_expect(exposition_feed(e, "c", 1, &f) < 0);
	cr_expect(f.kind == FAULT_LIMIT && strstr(f.message, "than 8 bytes") != NULL);
	exposition_destroy(e);
}

Test(exposition, samples_and_bytes_have_a_limit)
{
	struct fault f = {0};
	uint32_t count = 0;
	struct exposition *e = exposition_create(count_only, &count);
	for (int i = 0; i < EXPOSITION_SAMPLES_MAX; i++) {
		cr_assert_eq(exposition_feed(e, "a 1\n", 4, &f), 0);
	}
	cr_expect_eq(exposition_feed(e, "a 1\n", 4, &f), -1);
	cr_expect(f.kind == FAULT_LIMIT && count == EXPOSITION_SAMPLES_MAX);
	exposition_destroy(e);
	static char blank[1 << 20];
	memset(blank, '\n', sizeof blank);
	e = exposition_create(count_only, &count);
	for (size_t i = 0; i < EXPOSITION_BYTES_MAX / sizeof blank; i++) {
		cr_assert_eq(exposition_feed(e, blank, sizeof blank, &f), 0);
	}
	cr_expect_eq(exposition_feed(e, "\n", 1, &f), -1);
	cr_expect_eq(f.kind, FAULT_LIMIT);
	exposition_destroy(e);
	exposition_destroy(NULL);
}
