/* Label matchers out of a configuration: what PromQL would take, and nothing that means anybody. */

#include <criterion/criterion.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "meter/matcher.h"

Test(matcher, what_is_meant)
{
	static const char *const good[] = {"job=\"dcgm-exporter\"",
		" job = \"a\" , cluster!=\"b\" ,x=~\"c|d\",y!~\"e\"", "job=~\"dcgm.*\\\\d\"",
		"job=\"with \\\" and }\"", "_a1=\"x\"", "job=\"\xc3\xa4\""};
	struct fault f = {0};
	for (size_t i = 0; i < COUNT_OF(good); i++) {
		cr_expect_eq(
			prometheus_matcher_check(good[i], &f), 0, "%s: %s", good[i], f.message);
	}
}

Test(matcher, what_cannot_be_meant)
{
	static const struct {
		const char *text, *says;
	} bad[] = {
		{"", "write NAME="},
		{"dcgm-exporter", "neither ="},
		{"1a=\"x\"", "write NAME="},
		{"job=dcgm", "in \"\""},
		{"job='dcgm'", "in \"\""},
		{"job==\"x\"", "in \"\""},
		{"job!\"x\"", "neither ="},
		{"job=\"x", "without its end"},
		{"job=\"x\\", "without its end"},
		{"job=\"x\\n\"", "an escape is"},
		{"job=\"x\ny\"", "without its end"},
		{"job=\"x\",", "write NAME="},
		{"job=\"x\"}", "a comma"},
		{"job=\"x\"} or {a=\"b\"", "a comma"},
		{"job=\"x\" cluster=\"y\"", "a comma"},
		{"__name__=\"x\"", "pods are asked for by it"},
		{"job=\"x\",exported_pod=\"y\"", "pods are asked for by it"},
		{"job=\"\"", "it names nobody"},
		{"job!=\"x\",a!~\"y\"", "it names nobody"},
		{"a=\"1\",b=\"1\",c=\"1\",d=\"1\",e=\"1\",f=\"1\",g=\"1\",h=\"1\",i=\"1\"",
			"more than 8"},
	};
	for (size_t i = 0; i < COUNT_OF(bad); i++) {
		struct fault f = {0};
		cr_expect(prometheus_matcher_check(bad[i].text, &f) < 0, "%s", bad[i].text);
		cr_expect(strstr(f.message, bad[i].says) != NULL, "%s: %s", bad[i].text, f.message);
		cr_expect_eq(f.kind, FAULT_INVALID);
	}
}

Test(matcher, not_longer_than_its_limit)
{
	CLEANUP(str_finish) struct str text = STR_INIT(4096);
	struct fault f = {0};
	str_append_text(&text, "job=\"");
	while (text.len < 1023) {
		str_append_char(&text, 'x');
	}
	str_append_char(&text, '"');
	cr_expect_eq(prometheus_matcher_check(str_text(&text), &f), 0, "%s", f.message);
	str_append_char(&text, ' ');
	cr_expect(prometheus_matcher_check(str_text(&text), &f) < 0);
}
