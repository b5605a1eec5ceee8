/* What is kept of an object is a copy, and bounded. */
#include <criterion/criterion.h>
#include <string.h>

#include "around/around.h"
#include "base/str.h"

Test(item, a_copy_outlives_what_it_was_made_of)
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

Test(item, a_budget_keeps_its_whole_selector)
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

Test(item, what_is_too_large_is_not_kept)
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
