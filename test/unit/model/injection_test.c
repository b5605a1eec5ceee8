/* The forms in which a container is told its GPU, what is proven, and the rules of an admin. */
#include "model/injection.h"

#include <criterion/criterion.h>

static void form_is(enum inject_form form, const char *uuids, const char *value, const char *note)
{
	CLEANUP(str_finish) struct str v = STR_INIT(1024);
	CLEANUP(str_finish) struct str n = STR_INIT(1024);
	inject_write_value(&v, form, uuids);
	cr_expect_str_eq(str_text(&v), value);
	cr_expect_eq(inject_write_note(&n, form, uuids), note != NULL);
	cr_expect_str_eq(str_text(&n), text_or(note, ""));
}

Test(injection, c26_the_three_forms)
{
	form_is(INJECT_ENV, "GPU-a", "GPU-a", NULL);
	form_is(INJECT_ENV, "GPU-a,GPU-b", "GPU-a,GPU-b", NULL);
	form_is(INJECT_CDI, "GPU-a", "runtime.nvidia.com/gpu=GPU-a", NULL);
	form_is(INJECT_CDI, "GPU-a,GPU-b",
		"runtime.nvidia.com/gpu=GPU-a,runtime.nvidia.com/gpu=GPU-b", NULL);
	form_is(INJECT_NRI, "GPU-a,GPU-b", "void",
		"k8s.device-plugin.nvidia.com/gpu=GPU-a,k8s.device-plugin.nvidia.com/gpu=GPU-b");
}

Test(injection, forms_by_name)
{
	for (int i = 0; i < INJECT_FORMS; i++) {
		enum inject_form form = INJECT_FORMS;
		cr_expect(inject_form_parse(view_of(inject_form_name((enum inject_form)i)), &form));
		cr_expect_eq(form, i);
	}
	enum inject_form untouched = INJECT_CDI;
	cr_expect_not(inject_form_parse(VIEW("ENV"), &untouched));
	cr_expect_eq(untouched, INJECT_CDI);
}

Test(injection, which_rules_may_need_an_annotation)
{
	static const struct {
		const char *text;
		bool may;
	} rows[] = {{"env", false}, {"cdi", false}, {"nri", true}, {"probe", true}, {"", true},
		{"a=b:cdi", true}, {"a=b:cdi,env", false}, {"a=b:nri,env", true},
		{"env,a=b:nri", false}};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		CLEANUP(arena_finish) struct arena arena = {.block_bytes = 1024};
		struct inject_rules rules;
		cr_assert_eq(inject_rules_parse(rows[i].text, &arena, &rules, NULL), 0);
		cr_expect_eq(inject_rules_may_note(&rules), rows[i].may, "%s", rows[i].text);
	}
}

static const struct inject_claim claim = {.form = INJECT_CDI,
	.node = "n",
	.uuid = "GPU-a",
	.driver = "570",
	.boot = "b",
	.runtime = "containerd://2.0",
	.class = "nvidia"};

Test(injection, only_exactly_the_one_gpu_proves_anything)
{
	static const struct {
		struct inject_sight sight;
		bool proves;
	} rows[] = {
		{{1, "GPU-a"}, true},
		{{1, "GPU-b"}, false},
		{{0, ""}, false},
		{{2, ""}, false},
		{{2, "GPU-a"}, false},
		{{1, ""}, false},
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		cr_expect_eq(inject_is_proven(&claim, &rows[i].sight), rows[i].proves, "%zu", i);
	}
	struct inject_claim nobody = claim;
	nobody.uuid = "";
	cr_expect_not(inject_is_proven(&nobody, &(struct inject_sight){1, ""}));
}

Test(injection, claims_differ_in_each_of_their_parts)
{
	const char *struct_parts[] = {"node", "uuid", "driver", "boot", "runtime", "class"};
	for (size_t i = 0; i < COUNT_OF(struct_parts); i++) {
		struct inject_claim other = claim;
		const char **parts[] = {&other.node, &other.uuid, &other.driver, &other.boot,
			&other.runtime, &other.class};
		*parts[i] = "another";
		cr_expect_not(inject_claim_equals(&claim, &other), "%s", struct_parts[i]);
	}
	struct inject_claim other = claim;
	cr_expect(inject_claim_equals(&claim, &other));
	other.form = INJECT_ENV;
	cr_expect_not(inject_claim_equals(&claim, &other));
}

static int way(const char *rules, const char *key, const char *value)
{
	CLEANUP(arena_finish) struct arena arena = {0};
	struct inject_rules parsed;
	struct fault f = {0};
	struct pair label[] = {{key, value}};
	struct pairs labels = {label, 1};
	cr_assert_eq(inject_rules_parse(rules, &arena, &parsed, &f), 0, "%s", f.message);
	return inject_rules_way(&parsed, &labels);
}

Test(injection, c26_the_admin_may_say_it_by_label)
{
	cr_expect_eq(way("", "pool", "a"), INJECT_BY_PROBE);
	cr_expect_eq(way(NULL, "pool", "a"), INJECT_BY_PROBE);
	cr_expect_eq(way("env", "pool", "a"), INJECT_ENV);
	cr_expect_eq(way("probe", "pool", "a"), INJECT_BY_PROBE);
	const char *rules = "example.com/pool=a:cdi, example.com/pool=b:nri,env";
	cr_expect_eq(way(rules, "example.com/pool", "a"), INJECT_CDI);
	cr_expect_eq(way(rules, "example.com/pool", "b"), INJECT_NRI);
	cr_expect_eq(way(rules, "example.com/pool", "c"), INJECT_ENV);
	cr_expect_eq(way(rules, "pool", "a"), INJECT_ENV);
	cr_expect_eq(way("pool=a:cdi", "pool", "b"), INJECT_BY_PROBE, "whom no rule names");
	cr_expect_eq(way("pool=:cdi", "pool", ""), INJECT_CDI);
}

Test(injection, rules_that_mean_nothing)
{
	static const char *const bad[] = {"auto", "ENV", ",", "env,", "pool:env", "pool=a:", ":env",
		"=a:env", "pool=a:env:cdi", "pool=a", "env cdi"};
	for (size_t i = 0; i < COUNT_OF(bad); i++) {
		CLEANUP(arena_finish) struct arena arena = {0};
		struct inject_rules rules = {.count = 77};
		struct fault f = {0};
		cr_expect_eq(inject_rules_parse(bad[i], &arena, &rules, &f), -1, "%s", bad[i]);
		cr_expect_eq(f.kind, FAULT_INVALID);
		cr_expect_not_null(strstr(f.message, "write probe"), "%s", f.message);
		cr_expect_eq(rules.count, 77, "untouched on failure");
	}
	CLEANUP(arena_finish) struct arena arena = {0};
	CLEANUP(str_finish) struct str many = STR_INIT(4096);
	struct inject_rules rules;
	struct fault f = {0};
	for (int i = 0; i <= INJECT_RULES_MAX; i++) {
		str_append_text(&many, i > 0 ? ",env" : "env");
	}
	cr_expect_eq(inject_rules_parse(str_text(&many), &arena, &rules, &f), -1);
	cr_expect_not_null(strstr(f.message, "more than 32"));
}
