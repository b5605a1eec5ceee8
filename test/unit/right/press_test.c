/* When saturation is pressure. */
#include <criterion/criterion.h>

#include "base/alloc.h"
#include "right/press.h"

#define START  1767225600000
#define MINUTE 60000LL

struct bed {
	struct press press;
	struct press_look look;
	int64_t now;
};

static struct bed bed_of(int64_t percent_of_share)
{
	return (struct bed){.look = {.share = 30000,
				    .compute = 300 * percent_of_share,
				    .throttled = METERED_ABSENT,
				    .waiting = METERED_ABSENT,
				    .device = METERED_ABSENT},
		.now = START};
}

static enum press_verdict after(struct bed *b, int minutes)
{
	for (int i = 0; i < minutes * 4; i++, b->now += MINUTE / 4) {
		b->look.at_ms = b->now;
		press_take(&b->press, &b->look);
	}
	return press_judge(&b->press, b->now);
}

Test(press, H6_saturated_and_throttled_for_ten_minutes)
{
	struct bed b = bed_of(97);
	b.look.throttled = METERED_GAUGE_FULL * 3 / 10;
	cr_expect_eq(after(&b, 7), PRESS_NONE);
	cr_expect_eq(after(&b, 3), PRESS_MORE);
	b = bed_of(97);
	b.look.waiting = 1;
	cr_expect_eq(after(&b, 10), PRESS_MORE, "or requests wait");
}

Test(press, H6_eight_of_ten_are_enough)
{
	struct bed b = bed_of(97);
	b.look.waiting = 3;
	after(&b, 5);
	b.look.compute = 300 * 50;
	after(&b, 2);
	b.look.compute = 300 * 97;
	cr_expect_eq(after(&b, 3), PRESS_MORE);
	b = bed_of(97);
	b.look.waiting = 3;
	after(&b, 5);
	b.look.compute = 300 * 50;
	after(&b, 3);
	b.look.compute = 300 * 97;
	cr_expect_eq(after(&b, 2), PRESS_NONE);
}

Test(press, H7_without_a_sign_it_takes_half_an_hour)
{
	struct bed b = bed_of(97);
	for (int minutes = 1; minutes < 28; minutes++) {
		cr_expect_eq(after(&b, 1), PRESS_NONE, "minute %d", minutes);
	}
	cr_expect_eq(after(&b, 3), PRESS_MORE);
}

Test(press, H7_a_sign_that_says_no_is_believed)
{
	struct bed b = bed_of(97);
	b.look.waiting = 0;
	b.look.throttled = METERED_GAUGE_FULL / 10;
	cr_expect_eq(after(&b, 60), PRESS_NONE);
}

Test(press, H8_what_is_not_saturated_is_not_pressed)
{
	struct bed b = bed_of(60);
	b.look.waiting = 100;
	b.look.throttled = METERED_GAUGE_FULL;
	cr_expect_eq(after(&b, 60), PRESS_NONE);
	b = bed_of(94);
	b.look.waiting = 100;
	cr_expect_eq(after(&b, 60), PRESS_NONE);
	b = bed_of(95);
	b.look.waiting = 100;
	cr_expect_eq(after(&b, 10), PRESS_MORE);
}

Test(press, H9_a_full_device_is_contention)
{
	struct bed b = bed_of(70);
	b.look.device = 99000;
	cr_expect_eq(after(&b, 10), PRESS_CONTENTION);
	b = bed_of(70);
	b.look.device = 97000;
	cr_expect_eq(after(&b, 10), PRESS_NONE);
	b = bed_of(97);
	b.look.device = 99000;
	b.look.waiting = 1;
	cr_expect_eq(after(&b, 10), PRESS_MORE, "its own share is full first");
}

Test(press, a_silence_is_no_saturation)
{
	struct bed b = bed_of(97);
	b.look.waiting = 1;
	cr_expect_eq(after(&b, 10), PRESS_MORE);
	b.now += 3 * MINUTE;
	cr_expect_eq(press_judge(&b.press, b.now), PRESS_NONE);
	b.now += 90 * MINUTE;
	cr_expect_eq(press_judge(&b.press, b.now), PRESS_NONE);
	cr_expect_eq(after(&b, 7), PRESS_NONE, "nothing is left of before");
	cr_expect_eq(after(&b, 2), PRESS_MORE);
	b.look.compute = METERED_ABSENT;
	cr_expect_eq(after(&b, 10), PRESS_NONE);
}

Test(press, one_of_many_replicas_does_not_count_for_all)
{
	static const struct {
		uint32_t pressed, replicas;
		int32_t percentile;
		bool counts;
	} rows[] = {
		{0, 1, 98, false},
		{1, 1, 98, true},
		{1, 3, 98, true},
		{1, 49, 98, true},
		{1, 50, 98, false},
		{2, 50, 98, true},
		{1, 100, 100, true},
		{1, 2, 50, false},
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		cr_expect_eq(press_counts(rows[i].pressed, rows[i].replicas, rows[i].percentile),
			rows[i].counts, "row %zu", i);
	}
}
