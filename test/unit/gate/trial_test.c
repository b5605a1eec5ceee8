/* A closed door that tries. */
#include "gate/trial.h"

#include <criterion/criterion.h>

static void run(struct trial *t, bool wrong, int64_t sign, int64_t from, int64_t until)
{
	for (int64_t now = from; now < until; now += 1000) {
		trial_step(t, wrong, sign, now);
	}
}

Test(trial, those_that_arrive_let_twice_as_many_through_at_once)
{
	struct trial t = {.first_seats = 0};
	trial_step(&t, true, 5, 1000);
	cr_expect(!trial_is_open(&t, 60999));
	cr_expect(trial_is_open(&t, 61000));
	trial_take(&t, 61000);
	cr_expect(!trial_is_open(&t, 61000));
	trial_step(&t, true, 6, 62000);
	cr_expect(t.closed, "what was wrong still is");
	for (uint32_t i = 0; i < 2; i++) {
		cr_expect(trial_is_open(&t, 62000));
		trial_take(&t, 62000);
	}
	cr_expect(!trial_is_open(&t, 62000));
	for (int64_t i = 0; i < 10; i++) {
		trial_step(&t, true, 7 + i, 63000 + i);
		trial_take(&t, 63000 + i);
	}
	cr_expect_eq(t.seats, TRIAL_SEATS_MOST);
	trial_step(&t, true, 16, 63009 + TRIAL_LASTS_MS);
	cr_expect_eq(t.seats, 1, "nobody arrived: the next one is small again");
}

Test(trial, one_in_vain_makes_the_next_wait_longer)
{
	struct trial t = {.first_seats = 4};
	int64_t now = 1000;
	trial_step(&t, true, 5, now);
	for (int64_t wait = TRIAL_WAIT_MS, i = 0; i < 8; i++) {
		cr_expect(!trial_is_open(&t, now + wait - 1));
		cr_expect(trial_is_open(&t, now + wait));
		trial_take(&t, now + wait);
		now += wait + TRIAL_LASTS_MS;
		trial_step(&t, true, 5, now);
		cr_expect(!trial_is_open(&t, now));
		wait = wait * 2 < TRIAL_WAIT_MOST_MS ? wait * 2 : TRIAL_WAIT_MOST_MS;
	}
	trial_step(&t, false, 6, now);
	cr_expect(!t.closed);
}

Test(trial, it_opens_when_nothing_was_wrong_for_a_minute)
{
	struct trial t = {.first_seats = 0};
	trial_step(&t, true, 5, 1000);
	run(&t, false, 5, 2000, 61000);
	cr_expect(t.closed);
	run(&t, true, 5, 61000, 62000);
	run(&t, false, 5, 62000, 122000);
	cr_expect(t.closed);
	trial_step(&t, false, 5, 122000);
	cr_expect(!t.closed);
}

Test(trial, one_that_closes_again_soon_goes_on_where_it_was)
{
	struct trial t = {.first_seats = 0};
	trial_step(&t, true, 5, 1000);
	trial_take(&t, 61000);
	trial_step(&t, false, 6, 62000);
	cr_expect(!t.closed);
	trial_step(&t, true, 6, 63000);
	cr_expect(t.closed && trial_is_open(&t, 63000), "somebody arrived");
	cr_expect_eq(t.seats, 2);
	trial_step(&t, false, 7, 64000);
	trial_step(&t, true, 7, 64000 + 600000);
	cr_expect(!trial_is_open(&t, 64000 + 600000), "it is long ago");
	cr_expect_eq(t.seats, 1);
}
