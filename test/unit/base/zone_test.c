/* Local time from shifts. */
#include <criterion/criterion.h>

#include "base/cleanup.h"
#include "base/zone.h"

#define HOUR 3600

/* Berlin in 2026: summer from 29 March 01:00 UTC to 25 October 01:00 UTC. */
static const struct zone berlin = {.from_s = 1767225600,
	.until_s = 1798761600,
	.offset_s = HOUR,
	.shift_count = 2,
	.shifts = {{1774746000, 2 * HOUR}, {1792890000, HOUR}}};

Test(zone, an_offset_holds_from_its_shift_on)
{
	int32_t offset;
	cr_assert(zone_offset(&berlin, 1774745999, &offset));
	cr_expect_eq(offset, HOUR);
	cr_assert(zone_offset(&berlin, 1774746000, &offset));
	cr_expect_eq(offset, 2 * HOUR);
	cr_assert(zone_offset(&berlin, 1792890000, &offset));
	cr_expect_eq(offset, HOUR);
	cr_expect_not(zone_offset(&berlin, 1767225599, &offset));
	cr_expect_not(zone_offset(&berlin, 1798761600, &offset));
}

Test(zone, a_time_that_comes_twice_is_the_first_and_one_that_is_skipped_is_later)
{
	static const struct {
		int64_t local_s, at_s;
	} rows[] = {
		{1774746000 + HOUR - 1, 1774745999},	    /* 01:59:59 */
		{1774746000 + HOUR, 1774746000},	    /* 02:00 is 03:00 */
		{1774746000 + 2 * HOUR - 1, 1774749599},    /* 02:59:59 is 03:59:59 */
		{1774746000 + 2 * HOUR, 1774746000},	    /* 03:00 */
		{1792890000 + HOUR, 1792890000 - HOUR},	    /* 02:00, the first */
		{1792890000 + 2 * HOUR, 1792890000 + HOUR}, /* 03:00 */
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		int64_t at = 0;
		cr_assert(zone_moment(&berlin, rows[i].local_s, &at));
		cr_expect_eq(at, rows[i].at_s, "row %zu: %ld", i, (long)at);
	}
}

Test(zone, a_name_stays_in_the_folder)
{
	static const char *const good[] = {"UTC", "Europe/Berlin", "America/Argentina/Ushuaia",
		"Etc/GMT+12", "America/Port-au-Prince", "GB-Eire"};
	static const char *const bad[] = {"", "/etc/passwd", "../passwd", "Europe/../../x",
		"Europe//Berlin", "Europe/", "a.b", "Europe/Ber lin",
		"Aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"};
	for (size_t i = 0; i < COUNT_OF(good); i++) {
		cr_expect(zone_name_is_safe(good[i]), "%s", good[i]);
	}
	for (size_t i = 0; i < COUNT_OF(bad); i++) {
		cr_expect_not(zone_name_is_safe(bad[i]), "%s", bad[i]);
	}
	cr_expect_not(zone_name_is_safe(NULL));
}
