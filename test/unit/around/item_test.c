/* What is kept of an object is a copy, and bounded. */
#include <criterion/criterion.h>
#include <string.h>

#include "around/around.h"
#include "base/str.h"
#include "item.h"

Test(item, a_copy_outlives_what_it_was_made_of)
{
	char word[] = "queue";
	const char *metrics[SCALER_METRICS_MAX];
	for (size_t i = 0; i < COUNT_OF(metrics); i++) {
		metrics[i] = word;
	}
	struct scaler s = {.name = word,
		.metrics = metrics,
		.metric_count = COUNT_OF(metrics),
		.target = {.ns = word, .name = word}};
	struct change c = {.type = CHANGE_SET, .kind = KIND_SCALER, .scaler = &s};
	struct around_item *i = around_item_create(&c);
	memset(word, 'x', sizeof word - 1);
	cr_expect_str_eq(i->name, "queue");
	cr_expect_str_eq(i->ns, "queue");
	cr_expect_eq(i->scaler.metric_count, SCALER_METRICS_MAX);
	cr_expect_str_eq(i->scaler.metrics[SCALER_METRICS_MAX - 1], "queue");
	cr_expect_str_eq(i->scaler.target.kind, "");
	around_item_destroy(i);
}

Test(item, a_budget_keeps_its_whole_selector)
{
	const char *values[] = {"a", "b"};
	struct pair label = {"app", "web"};
	struct term term = {"tier", TERM_IN, values, 2};
	struct budget b = {
		.ns = "n", .name = "b", .selector = {true, {&label, 1}, {&term, 1}}, .allowed = 2};
	struct change c = {.type = CHANGE_SET, .kind = KIND_BUDGET, .budget = &b};
	struct around_item *i = around_item_create(&c);
	label.key = values[1] = "other";
	const struct selector *kept = &i->budget.selector;
	cr_expect(kept->present);
	cr_expect_str_eq(kept->match_labels.items[0].key, "app");
	cr_expect_str_eq(kept->expressions.items[0].values[1], "b");
	cr_expect_eq(i->budget.allowed, 2);
	around_item_destroy(i);
}

Test(item, what_is_too_large_is_not_kept)
{
	static char text[AROUND_TEXT_MAX];
	memset(text, 'n', sizeof text - 1);
	struct budget b = {.ns = "n", .name = text};
	struct change c = {.type = CHANGE_SET, .kind = KIND_BUDGET, .budget = &b};
	cr_expect_null(around_item_create(&c));
	const char *metrics[SCALER_METRICS_MAX + 1] = {0};
	struct scaler s = {.metrics = metrics, .metric_count = SCALER_METRICS_MAX + 1};
	c = (struct change){.type = CHANGE_SET, .kind = KIND_SCALER, .scaler = &s};
	cr_expect_null(around_item_create(&c));
}
