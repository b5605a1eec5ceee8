/* Scalers by what they scale, budgets by the pods that they select. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "around/around.h"
#include "base/str.h"

static const struct workload_key llm = {"team", "apps", "Deployment", "llm"};

static bool set_scaler(struct around *a, enum kind kind, const char *name, const char *metric)
{
	const char *metrics[] = {metric};
	struct scaler s = {.kind = kind_name(kind),
		.name = name,
		.uid = "u",
		.metrics = metrics,
		.metric_count = 1,
		.current = 2,
		.desired = 3,
		.target = llm};
	struct change c = {.type = CHANGE_SET, .kind = kind, .scaler = &s};
	return around_apply(a, &c);
}

static bool set_budget(struct around *a, const char *ns, const char *name, const char *app)
{
	struct pair label = {"app", app};
	struct budget b = {.ns = ns,
		.name = name,
		.selector = {.present = app != NULL, .match_labels = {&label, 1}},
		.allowed = 1};
	if (app != NULL && *app == '\0') {
		b.selector.match_labels.count = 0;
	}
	struct change c = {.type = CHANGE_SET, .kind = KIND_BUDGET, .budget = &b};
	return around_apply(a, &c);
}

static void say(struct around *a, enum kind kind, enum change_type type, const char *name)
{
	struct change c = {.type = type, .kind = kind, .ns = "team", .name = name};
	cr_assert(around_apply(a, &c));
}

static struct roll_budget budget_of(const struct around *a, const char *app, struct arena *arena)
{
	struct pair label = {"app", app};
	struct pairs labels = {&label, 1};
	return around_budget(a, "team", &labels, arena);
}

Test(around, of_each_kind_it_is_told_what_is_known)
{
	struct around *a = around_create();
	struct around_kind k = around_of(a, KIND_SCALER);
	cr_expect(!k.known && k.objects == 0 && k.unkept == 0);
	say(a, KIND_SCALER, CHANGE_RELIST_BEGIN, NULL);
	cr_expect(set_scaler(a, KIND_SCALER, "hpa", "cpu"));
	cr_expect(set_scaler(a, KIND_SCALER, "hpa", "memory"), "the same again");
	cr_expect(set_scaler(a, KIND_SCALED_OBJECT, "keda", "cpu"));
	say(a, KIND_SCALER, CHANGE_RELIST_END, NULL);
	k = around_of(a, KIND_SCALER);
	cr_expect(k.known && k.objects == 1 && k.unkept == 0);
	k = around_of(a, KIND_SCALED_OBJECT);
	cr_expect(!k.known && k.objects == 1);
	say(a, KIND_SCALER, CHANGE_STALE, NULL);
	cr_expect_not(around_of(a, KIND_SCALER).known);
	static char name[AROUND_TEXT_MAX + 2];
	memset(name, 'n', sizeof name - 1);
	cr_expect_not(set_budget(a, "team", name, "llm"));
	k = around_of(a, KIND_BUDGET);
	cr_expect(k.objects == 0 && k.unkept == 1);
	around_destroy(a);
}

Test(around, U14_a_scaler_is_found_by_what_it_scales)
{
	const char *metric = NULL;
	struct workload_key other = llm;
	struct around *a = around_create();
	cr_expect_null(around_scaler(a, &llm));
	cr_expect(set_scaler(a, KIND_SCALER, "hpa", "cpu"));
	other.kind = "StatefulSet";
	cr_expect_null(around_scaler(a, &other));
	cr_expect_str_eq(around_scaler(a, &llm)->name, "hpa");
	cr_expect_eq(around_scaler(a, &llm)->desired, 3);
	cr_expect_null(around_gpu_scaler(a, &llm, &metric));
	cr_expect_null(metric);
	cr_expect(set_scaler(a, KIND_SCALER, "hpa", "DCGM_FI_DEV_GPU_UTIL"));
	cr_expect_str_eq(around_gpu_scaler(a, &llm, &metric)->name, "hpa");
	cr_expect_str_eq(metric, "DCGM_FI_DEV_GPU_UTIL");
	say(a, KIND_SCALER, CHANGE_GONE, "hpa");
	cr_expect_null(around_scaler(a, &llm));
	around_destroy(a);
}

Test(around, U14_a_scaled_object_tells_the_query_and_the_autoscaler_the_numbers)
{
	const char *metric = NULL;
	struct around *a = around_create();
	cr_expect(set_scaler(a, KIND_SCALED_OBJECT, "a-keda", "avg(sm_active)"));
	cr_expect_str_eq(around_scaler(a, &llm)->name, "a-keda");
	cr_expect(set_scaler(a, KIND_SCALER, "keda-hpa", "s0-prometheus"));
	cr_expect_str_eq(around_scaler(a, &llm)->name, "keda-hpa");
	cr_expect_str_eq(around_gpu_scaler(a, &llm, &metric)->name, "a-keda");
	cr_expect_str_eq(metric, "avg(sm_active)");
	around_destroy(a);
}

Test(around, a_budget_selects_pods_of_its_namespace)
{
	CLEANUP(arena_finish) struct arena arena = {0};
	struct around *a = around_create();
	cr_expect(set_budget(a, "team", "web", "web"));
	cr_expect_not(budget_of(a, "web", &arena).known, "not all were listed");
	say(a, KIND_BUDGET, CHANGE_RELIST_BEGIN, NULL);
	cr_expect(set_budget(a, "team", "web", "web"));
	cr_expect(set_budget(a, "other", "theirs", ""));
	cr_expect(set_budget(a, "team", "nobody", NULL), "one without a selector is of no pod");
	say(a, KIND_BUDGET, CHANGE_RELIST_END, NULL);
	struct roll_budget b = budget_of(a, "web", &arena);
	cr_expect(b.known);
	cr_expect_str_eq(b.name, "web");
	cr_expect_eq(b.allowed, 1);
	cr_expect_not(budget_of(a, "llm", &arena).known);
	say(a, KIND_BUDGET, CHANGE_STALE, NULL);
	cr_expect_not(budget_of(a, "web", &arena).known, "nobody knows what it allows by now");
	say(a, KIND_BUDGET, CHANGE_FRESH, NULL);
	cr_expect(budget_of(a, "web", &arena).known);
	around_destroy(a);
}

Test(around, of_a_pod_with_two_budgets_nothing_is_evicted)
{
	CLEANUP(arena_finish) struct arena arena = {0};
	struct around *a = around_create();
	say(a, KIND_BUDGET, CHANGE_RELIST_BEGIN, NULL);
	cr_expect(set_budget(a, "team", "web", "web"));
	cr_expect(set_budget(a, "team", "all", ""));
	say(a, KIND_BUDGET, CHANGE_RELIST_END, NULL);
	struct roll_budget b = budget_of(a, "web", &arena);
	cr_expect(b.known);
	cr_expect_eq(b.allowed, 0);
	cr_expect_str_eq(b.name, "all (or web: the API server evicts no pod that two select)");
	around_destroy(a);
}

Test(around, a_relist_sweeps_what_it_did_not_name)
{
	CLEANUP(arena_finish) struct arena arena = {0};
	struct around_totals totals;
	struct around *a = around_create();
	cr_expect(set_scaler(a, KIND_SCALER, "old", "cpu"));
	cr_expect(set_scaler(a, KIND_SCALER, "kept", "cpu"));
	cr_expect(set_scaler(a, KIND_SCALED_OBJECT, "beside", "cpu"));
	say(a, KIND_SCALER, CHANGE_RELIST_BEGIN, NULL);
	say(a, KIND_SCALER, CHANGE_KEEP, "kept");
	say(a, KIND_SCALER, CHANGE_RELIST_END, NULL);
	cr_expect(around_knows(a, KIND_SCALER));
	cr_expect_str_eq(around_scaler(a, &llm)->name, "kept");
	around_sum(a, &totals);
	cr_expect_eq(totals.scalers, 2);
	say(a, KIND_SCALER, CHANGE_KEEP, "unread");
	cr_expect_not(around_knows(a, KIND_SCALER), "one is there of which nothing is known");
	say(a, KIND_SCALER, CHANGE_RELIST_BEGIN, NULL);
	say(a, KIND_SCALER, CHANGE_RELIST_END, NULL);
	cr_expect(around_knows(a, KIND_SCALER));
	around_sum(a, &totals);
	cr_expect_eq(totals.scalers, 1);
	around_destroy(a);
}

Test(around, there_are_no_more_than_so_many)
{
	struct around_totals totals;
	struct around *a = around_create();
	char name[32];
	for (int i = 0; i < AROUND_BUDGETS_MAX; i++) {
		snprintf(name, sizeof name, "b%d", i);
		cr_assert(set_budget(a, "team", name, "web"));
	}
	cr_expect_not(set_budget(a, "team", "more", "web"));
	cr_expect(set_budget(a, "team", "b0", "llm"), "one that is known may change");
	around_sum(a, &totals);
	cr_expect_eq(totals.budgets, AROUND_BUDGETS_MAX);
	around_destroy(a);
}

/* --- what is kept of an object is a copy, and bounded --- */

Test(around, a_copy_outlives_what_it_was_made_of)
{
	char word[] = "queue";
	const char *metrics[SCALER_METRICS_MAX];
	for (size_t i = 0; i < COUNT_OF(metrics); i++) {
		metrics[i] = word;
	}
	struct around *a = around_create();
	struct scaler s = {.name = word,
		.metrics = metrics,
		.metric_count = COUNT_OF(metrics),
		.target = {word, "", "", word}};
	struct change c = {.type = CHANGE_SET, .kind = KIND_SCALER, .scaler = &s};
	cr_assert(around_apply(a, &c));
	memset(word, 'x', sizeof word - 1);
	const struct workload_key target = {"queue", "", "", "queue"};
	const struct scaler *kept = around_scaler(a, &target);
	cr_assert_not_null(kept);
	cr_expect_str_eq(kept->name, "queue");
	cr_expect_str_eq(kept->target.ns, "queue");
	cr_expect_eq(kept->metric_count, SCALER_METRICS_MAX);
	cr_expect_str_eq(kept->metrics[SCALER_METRICS_MAX - 1], "queue");
	around_destroy(a);
}

Test(around, a_budget_keeps_its_whole_selector)
{
	const char *values[] = {"a", "b"};
	struct pair label = {"app", "web"};
	struct term term = {"tier", TERM_IN, values, 2};
	struct budget b = {
		.ns = "n", .name = "b", .selector = {true, {&label, 1}, {&term, 1}}, .allowed = 2};
	CLEANUP(arena_finish) struct arena arena = {0};
	struct around *a = around_create();
	struct change c = {.type = CHANGE_RELIST_BEGIN, .kind = KIND_BUDGET, .budget = &b};
	cr_assert(around_apply(a, &c));
	c.type = CHANGE_SET;
	cr_assert(around_apply(a, &c));
	c.type = CHANGE_RELIST_END;
	cr_assert(around_apply(a, &c));
	label.key = values[1] = "other";
	struct pair carried[] = {{"app", "web"}, {"tier", "b"}};
	struct pairs labels = {carried, 2};
	struct roll_budget found = around_budget(a, "n", &labels, &arena);
	cr_expect(found.known);
	cr_expect_eq(found.allowed, 2);
	carried[1].value = "c";
	cr_expect_not(around_budget(a, "n", &labels, &arena).known);
	carried[0].value = "db";
	carried[1].value = "b";
	cr_expect_not(around_budget(a, "n", &labels, &arena).known);
	around_destroy(a);
}

Test(around, what_is_too_large_is_not_kept)
{
	static char text[AROUND_TEXT_MAX];
	memset(text, 'n', sizeof text - 1);
	struct around *a = around_create();
	struct budget b = {.ns = "n", .name = text};
	struct change c = {.type = CHANGE_SET, .kind = KIND_BUDGET, .budget = &b};
	cr_expect_not(around_apply(a, &c));
	const char *metrics[SCALER_METRICS_MAX + 1] = {0};
	struct scaler s = {.metrics = metrics, .metric_count = SCALER_METRICS_MAX + 1};
	c = (struct change){.type = CHANGE_SET, .kind = KIND_SCALER, .scaler = &s};
	cr_expect_not(around_apply(a, &c));
	around_destroy(a);
}
