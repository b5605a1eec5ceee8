/* Amounts by name. */
#include "base/tally.h"

#include <criterion/criterion.h>

Test(tally, what_was_added_is_taken_again)
{
	struct tally t;
	tally_init(&t);
	cr_expect_eq(tally_get(&t, "a"), 0);
	tally_add(&t, "a", 2);
	tally_add(&t, "b", 1);
	tally_add(&t, "a", 3);
	cr_expect_eq(tally_get(&t, "a"), 5);
	cr_expect_eq(tally_get(&t, "b"), 1);
	tally_take(&t, "a", 4);
	cr_expect_eq(tally_get(&t, "a"), 1);
	tally_take(&t, "a", 1);
	cr_expect_eq(tally_get(&t, "a"), 0);
	cr_expect_eq(t.rows.rows.count, 1, "nothing is kept of what has none");
	tally_finish(&t);
}
