/* Amounts, shares, labels: what people write and what it means in integers. */
#include <criterion/criterion.h>

#include "base/rand.h"
#include "model/extra.h"
#include "model/gpu.h"
#include "model/labels.h"
#include "model/names.h"
#include "model/pod.h"
#include "model/quantity.h"

static int64_t milli(const char *text)
{
	int64_t v = -999;
	struct fault f;
	return quantity_milli(view_of(text), &v, &f) == 0 ? v : -1;
}

static int64_t units(const char *text)
{
	int64_t v = -999;
	struct fault f;
	return quantity_units(view_of(text), &v, &f) == 0 ? v : -1;
}

Test(quantity, means_what_kubernetes_means)
{
	cr_assert_eq(milli("1"), 1000);
	cr_assert_eq(milli("250m"), 250);
	cr_assert_eq(milli("0.25"), 250);
	cr_assert_eq(milli("1.5"), 1500);
	cr_assert_eq(milli("100n"), 1, "rounded up, as Kubernetes does");
	cr_assert_eq(units("8Gi"), 8589934592);
	cr_assert_eq(units("1500m"), 2);
	cr_assert_eq(units("1e3"), 1000);
	cr_assert_eq(units("12E2"), 1200);
	cr_assert_eq(units("1E"), 1000000000000000000);
	cr_assert_eq(units("0.5Gi"), 536870912);
	cr_assert_eq(units("7Ei"), 8070450532247928832);
}

Test(quantity, whole_numbers_are_told_from_rounded_ones)
{
	const char *const whole[] = {"1", "1000m", "2.0", "1k", "0", "1e0"};
	const char *const not_whole[] = {"500m", "1500m", "0.9995", "1.0000000001", "x", ""};
	for (size_t i = 0; i < COUNT_OF(whole); i++) {
		cr_assert(quantity_is_whole(view_of(whole[i])), "%s", whole[i]);
	}
	for (size_t i = 0; i < COUNT_OF(not_whole); i++) {
		cr_assert_not(quantity_is_whole(view_of(not_whole[i])), "%s", not_whole[i]);
	}
}

Test(quantity, refuses_what_it_cannot_mean)
{
	const char *const bad[] = {"", "NaN", "Inf", "0x1p-1", "0,5", " 0.5", "0.5 ", "1_0e-2", ".",
		"-", "1..2", "1ki", "8GiB", "9223372036854775808", "1e300", "8Ei", "--1", "1e",
		"1e+-3"};
	for (size_t i = 0; i < COUNT_OF(bad); i++) {
		cr_assert_eq(units(bad[i]), -1, "%s", bad[i]);
	}
}

Test(share, kai_case_25_values)
{
	const struct {
		const char *text;
		int64_t milli; /* 0: refused */
	} cases[] = {{"NaN", 0}, {"Inf", 0}, {"1e-300", 0}, {"0x1p-1", 0}, {"0", 0}, {"-1", 0},
		{"1.0", 1000}, {"0,5", 0}, {"500m", 500}, {"2Gi", 0}, {"9223372036854775808", 0},
		{"1000000", 0}, {" 0.5", 0}, {"0.00001", 0}, {"0.0005", 0}, {"1m", 1},
		{"0.999", 999}, {"1.001", 0}, {"+0.5", 500}, {"5e-1", 500}, {"0.250000", 250}};
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		int64_t got = 0;
		struct fault f;
		int r = share_parse(view_of(cases[i].text), &got, &f);
		cr_assert_eq(r == 0 ? got : 0, cases[i].milli, "%s: %lld", cases[i].text,
			(long long)got);
		if (r != 0) {
			cr_assert_eq(f.kind, FAULT_INVALID);
			cr_assert(strlen(f.message) > 10);
		}
	}
}

/* More digits than are kept still count: nothing becomes a share by being cut off. */
Test(share, digits_far_behind_the_point_count)
{
	int64_t got = 0;
	struct view fine = VIEW("0.250000000000000000000000000000000000001");
	struct view zeros = VIEW("0.250000000000000000000000000000000000000");
	cr_assert_eq(share_parse(fine, &got, NULL), -1);
	cr_assert_eq(share_parse(zeros, &got, NULL), 0);
	cr_assert_eq(got, 250);
	cr_assert_eq(quantity_units(VIEW("1.000000000000000000000000000000000001"), &got, NULL), 0);
	cr_assert_eq(got, 2);
}

Test(share, one_canonical_form_that_parses_back)
{
	char text[QUANTITY_TEXT_MAX];
	cr_assert_str_eq(share_format(300, text), "0.30");
	cr_assert_str_eq(share_format(1000, text), "1");
	cr_assert_str_eq(share_format(5, text), "0.005");
	cr_assert_str_eq(share_format(125, text), "0.125");
	for (int64_t m = 1; m <= 1000; m++) {
		int64_t back = 0;
		cr_assert_eq(share_parse(view_of(share_format(m, text)), &back, NULL), 0);
		cr_assert_eq(back, m);
	}
}

Test(memory, parses_floors_and_formats)
{
	int64_t mib = 0;
	char text[QUANTITY_TEXT_MAX];
	cr_assert_eq(memory_parse(VIEW("8Gi"), &mib, NULL), 0);
	cr_assert_eq(mib, 8192);
	cr_assert_eq(memory_parse(VIEW("1G"), &mib, NULL), 0);
	cr_assert_eq(mib, 953);
	cr_assert_eq(memory_parse(VIEW("512Ki"), &mib, NULL), -1);
	cr_assert_eq(memory_parse(VIEW("-1Gi"), &mib, NULL), -1);
	cr_assert_str_eq(memory_format(8192, text), "8Gi");
	cr_assert_str_eq(memory_format(300, text), "300Mi");
}

Test(share, memory_and_compute_follow_each_other)
{
	cr_assert_eq(share_memory_of_milli(250, 81000, 0), 20250);
	cr_assert_eq(share_memory_of_milli(1, 81000, 0), MODEL_CONTEXT_MIB);
	cr_assert_eq(share_memory_of_milli(1, 81000, 256), 256);
	cr_assert_eq(share_memory_of_milli(5, 81000, 256), 405);
	cr_assert_eq(share_milli_of_memory(8192, 81000), 101);
	cr_assert_eq(share_milli_of_memory(1, 81000), 1);
	cr_assert_eq(share_milli_of_memory(81001, 81000), 1001);
	cr_assert_eq(share_milli_of_memory(INT64_MAX, 81000), 1001);
	/* Shares of a thousandth each never add up to more than the GPU has, context floor aside.
	 */
	cr_assert_leq(share_memory_of_milli(333, 81000, 0) * 3, 81000);
}

Test(labels, selectors)
{
	struct pair items[] = {{"app", "vllm"}, {"team", "ml"}, {"tier", "3"}};
	struct pairs labels = {items, 3};
	const char *values[] = {"ml", "ops"};
	const char *two[] = {"2"};
	struct term in = {"team", TERM_IN, values, 2};
	struct term absent = {"gpu", TERM_DOES_NOT_EXIST, NULL, 0};
	struct term not_in = {"gpu", TERM_NOT_IN, values, 2};
	struct term greater = {"tier", TERM_GT, two, 1};
	cr_assert(term_matches(&in, pairs_get(&labels, "team")));
	cr_assert_not(term_matches(&in, pairs_get(&labels, "app")));
	cr_assert(term_matches(&absent, pairs_get(&labels, "gpu")));
	cr_assert(term_matches(&not_in, NULL));
	cr_assert(term_matches(&greater, "3"));
	cr_assert_not(term_matches(&greater, "x"));
	struct selector nothing = {0}, everything = {.present = true};
	cr_assert(selector_matches(&nothing, &labels));
	cr_assert(selector_matches(&everything, &labels));
	struct pair wrong[] = {{"app", "other"}};
	struct selector s = {.present = true, .match_labels = {wrong, 1}};
	cr_assert_not(selector_matches(&s, &labels));
}

Test(pod, tolerations)
{
	struct toleration t[] = {{"nvidia.com/gpu", "Exists", NULL, "NoSchedule"},
		{"dedicated", "Equal", "ml", NULL}};
	struct pod p = {.tolerations = t, .toleration_count = 2};
	cr_assert(pod_tolerates(&p, "nvidia.com/gpu", "x", "NoSchedule"));
	cr_assert_not(pod_tolerates(&p, "nvidia.com/gpu", "x", "NoExecute"));
	cr_assert(pod_tolerates(&p, "dedicated", "ml", "NoExecute"));
	cr_assert_not(pod_tolerates(&p, "dedicated", "ops", "NoExecute"));
	struct toleration numbers[] = {
		{"sla", "Gt", "95", NULL}, {"cost", "Lt", "10", NULL}, {"odd", "Like", "x", NULL}};
	struct pod n = {.tolerations = numbers, .toleration_count = 3};
	cr_expect(pod_tolerates(&n, "sla", "96", "NoSchedule"));
	cr_expect_not(pod_tolerates(&n, "sla", "95", "NoSchedule"));
	cr_expect_not(pod_tolerates(&n, "sla", "high", "NoSchedule"));
	cr_expect(pod_tolerates(&n, "cost", "-1", "NoExecute"));
	cr_expect_not(pod_tolerates(&n, "cost", "10", "NoExecute"));
	cr_expect_not(pod_tolerates(&n, "odd", "x", "NoExecute"));
	struct toleration all[] = {{NULL, "Exists", NULL, NULL}};
	struct pod q = {.tolerations = all, .toleration_count = 1};
	cr_assert(pod_tolerates(&q, "anything", NULL, "NoSchedule"));
}

Test(pod, a_capacity_pod_is_one_only_in_our_namespace)
{
	struct pair items[] = {{LABEL_CAPACITY, "true"}};
	struct pod p = {.ns = "evil", .labels = {items, 1}};
	cr_assert_not(pod_is_capacity(&p));
	p.ns = NAME_NAMESPACE;
	cr_assert(pod_is_capacity(&p));
}

Test(pod, an_agent_is_one_only_where_agents_are)
{
	struct pair items[] = {{LABEL_AGENT, "true"}};
	struct pod p = {.ns = NAME_AGENT_HOME, .labels = {items, 1}};
	cr_expect(pod_is_agent(&p, NAME_AGENT_HOME) && pod_is_agent(&p, NULL));
	cr_expect_not(pod_is_agent(&p, NAME_NAMESPACE));
	p.ns = NAME_NAMESPACE;
	cr_expect(pod_is_agent(&p, NAME_NAMESPACE) && pod_is_agent(&p, NULL));
	p.ns = "evil";
	cr_expect_not(pod_is_agent(&p, NAME_NAMESPACE) || pod_is_agent(&p, NULL));
}

Test(extra, comes_back_from_its_text_and_replicas_have_the_same)
{
	struct amount amounts[] = {{"ephemeral-storage", INT64_MAX}, {"none.example/x", 0},
		{"has blank", 3}, {"example.com/fpga", 2}};
	struct host_port ports[] = {{8080, "TCP", ""}, {53, "UDP", "fd00::1"}, {1, "", ""}};
	struct extra x = {{amounts, 4}, {ports, 3}};
	CLEANUP(str_finish) struct str text = STR_INIT(EXTRA_TEXT_MAX);
	CLEANUP(arena_finish) struct arena arena = {0};
	extra_write(&text, &x);
	cr_assert_str_eq(str_text(&text),
		"9223372036854775807 ephemeral-storage\n2 example.com/fpga\n:8080 TCP\n"
		":53 UDP fd00::1\n",
		"%s", str_text(&text));
	struct extra back = extra_read(str_text(&text), &arena);
	cr_assert_eq(back.amounts.count, 2);
	cr_assert_eq(amounts_get(&back.amounts, "ephemeral-storage"), INT64_MAX);
	cr_assert_eq(amounts_get(&back.amounts, "example.com/fpga"), 2);
	cr_assert_eq(back.ports.count, 2);
	cr_assert_str_eq(back.ports.items[1].address, "fd00::1");
	cr_assert(extra_is_empty(&(struct extra){0}));
	back = extra_read(NULL, &arena);
	cr_assert(extra_is_empty(&back));
}

Test(extra, ports_conflict_where_they_share_an_address)
{
	static const struct {
		struct host_port a, b;
		bool conflict;
	} rows[] = {
		{{80, "TCP", ""}, {80, "TCP", ""}, true},
		{{80, "TCP", ""}, {80, "TCP", "10.0.0.1"}, true},
		{{80, "TCP", "10.0.0.2"}, {80, "TCP", "10.0.0.1"}, false},
		{{80, "TCP", "10.0.0.1"}, {80, "TCP", "10.0.0.1"}, true},
		{{80, "TCP", ""}, {80, "UDP", ""}, false},
		{{80, "TCP", ""}, {81, "TCP", ""}, false},
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		cr_expect_eq(host_port_conflicts(&rows[i].a, &rows[i].b), rows[i].conflict,
			"row %zu", i);
		cr_expect_eq(host_port_conflicts(&rows[i].b, &rows[i].a), rows[i].conflict,
			"row %zu", i);
	}
}

/* As the scheduler's InterPodAffinity, on one node: either may keep the other off. */
Test(pod, anti_affinity_goes_both_ways)
{
	static struct pair web[] = {{"app", "web"}}, db[] = {{"app", "db"}};
	static const char *spaces[] = {"a", "b"};
	static struct neighbour_term of_web = {.pods = {.present = true, .match_labels = {web, 1}}},
				     in_spaces = {.pods = {.present = true},
					     .namespaces = spaces,
					     .namespace_count = 2},
				     anywhere = {.pods = {.present = true}, .all_namespaces = true},
				     of_none = {.all_namespaces = true};
	static const struct {
		struct neighbour_term *term;
		const char *other_ns;
		struct pair *other_labels;
		bool apart;
	} rows[] = {
		{&of_web, "a", web, true},
		{&of_web, "a", db, false},
		{&of_web, "b", web, false},
		{&in_spaces, "b", db, true},
		{&in_spaces, "c", db, false},
		{&anywhere, "c", db, true},
		{&of_none, "a", web, false},
		{NULL, "a", web, false},
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct pod one = {.ns = "a",
			.labels = {web, 1},
			.neighbours = rows[i].term,
			.neighbour_count = rows[i].term != NULL ? 1 : 0};
		struct pod other = {.ns = rows[i].other_ns, .labels = {rows[i].other_labels, 1}};
		cr_expect_eq(pods_keep_apart(&one, &other), rows[i].apart, "row %zu", i);
		cr_expect_eq(pods_keep_apart(&other, &one), rows[i].apart, "row %zu", i);
	}
}
