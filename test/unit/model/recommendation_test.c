/* Its words. */
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
