/* Its words, the times of its conditions, and when it need not be written again. */
#include <criterion/criterion.h>
#include <string.h>

#include "base/str.h"
#include "model/recommendation.h"

Test(recommendation, words)
{
	enum recommendation_condition type = RECOMMENDATION_READY;
	for (int i = 0; i < RECOMMENDATION_CONDITIONS; i++) {
		const char *name = recommendation_condition_name((enum recommendation_condition)i);
		cr_assert(recommendation_condition_parse(name, &type));
		cr_assert_eq((int)type, i);
	}
	cr_assert_not(recommendation_condition_parse("Unheard", &type));
	cr_assert_str_eq(capped_by_name(CAPPED_BY_DEVICE), "Device");
	cr_assert_str_eq(healing_kind_name(HEALING_ROLLBACK), "Rollback");
	cr_assert_null(healing_kind_name(HEALING_NONE));
	cr_assert_str_eq(update_result_name(UPDATE_ROLLED_BACK), "RolledBack");
	cr_assert_null(update_result_name(UPDATE_NONE));
}

/* Every byte of its numbers counts: what differs is seen. */
Test(recommendation, a_difference_anywhere_is_one)
{
	struct recommended_container c = {.name = "app", .target = {300, 7168}};
	struct recommendation a = {.containers = &c, .container_count = 1, .revision = 17};
	struct recommended_container other = c;
	struct recommendation b = a;
	b.containers = &other;
	cr_assert(recommendation_equals(&a, &b));
	other.target.mib++;
	cr_assert_not(recommendation_equals(&a, &b));
	other = c;
	other.usage.last_sample_ms = 1;
	cr_assert_not(recommendation_equals(&a, &b));
	other = c;
	b.conditions[RECOMMENDATION_PAUSED].status = CONDITION_TRUE;
	cr_assert_not(recommendation_equals(&a, &b));
	b = a;
	b.healing.step = 1;
	cr_assert_not(recommendation_equals(&a, &b));
	b = a;
	b.policy.source = "Selector";
	cr_assert_not(recommendation_equals(&a, &b));
	b = a;
	b.uid = "another";
	cr_assert(recommendation_equals(&a, &b));
}
