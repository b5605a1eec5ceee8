/* When a policy's windows are open. */
#include <criterion/criterion.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/str.h"
#include "roll/window.h"

#define HOUR 3600

/* 2026: summer from 29 March 01:00 UTC to 25 October 01:00 UTC. */
static const struct zone berlin = {.from_s = 1735689600,
	.until_s = 1798761600,
	.offset_s = HOUR,
	.shift_count = 4,
	.shifts = {{1743296400, 2 * HOUR}, {1761440400, HOUR}, {1774746000, 2 * HOUR},
		{1792890000, HOUR}}};

static struct rollout_window nights = {0x1f, 22 * 60, 4 * 60, "Europe/Berlin"};

static int64_t at(const char *text)
{
	int64_t ms = 0;
	cr_assert(time_parse(text, &ms));
	return ms;
}

static struct window_answer judge(const struct zone *zone, const char *now)
{
	const struct zone *zones[] = {zone};
	struct rollout r = {.windows = &nights, .window_count = 1};
	return window_judge(&r, zones, at(now));
}

Test(window, U17_week_nights_in_berlin)
{
	static const struct {
		const char *now;
		bool open;
		const char *next;
	} rows[] = {
		{"2026-01-07T11:00:00Z", false, "2026-01-07T21:00:00Z"}, /* Wednesday, noon */
		{"2026-01-07T20:59:59Z", false, "2026-01-07T21:00:00Z"},
		{"2026-01-07T21:00:00Z", true, NULL},
		{"2026-01-08T02:59:59Z", true, NULL},
		{"2026-01-08T03:00:00Z", false, "2026-01-08T21:00:00Z"},
		{"2026-07-08T20:00:00Z", true, NULL}, /* summer */
		{"2026-07-08T19:59:59Z", false, "2026-07-08T20:00:00Z"},
		{"2026-01-10T02:00:00Z", true, NULL},			 /* it began on Friday */
		{"2026-01-10T22:00:00Z", false, "2026-01-12T21:00:00Z"}, /* Saturday */
		{"2026-01-12T00:30:00Z", false, "2026-01-12T21:00:00Z"}, /* Sunday's night */
		/* The night in which the clock goes forward is a Sunday's, the one after it not. */
		{"2026-03-30T19:59:59Z", false, "2026-03-30T20:00:00Z"},
		{"2026-03-27T21:00:00Z", true, NULL},
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct window_answer a = judge(&berlin, rows[i].now);
		cr_expect_eq(a.open, rows[i].open, "row %zu", i);
		cr_expect_eq(a.next_ms, rows[i].next == NULL ? 0 : at(rows[i].next), "row %zu", i);
		cr_expect_null(a.bad_zone);
	}
}

Test(window, a_zone_that_is_not_known_shuts_its_window_and_says_so)
{
	struct window_answer a = judge(NULL, "2026-01-07T23:00:00Z");
	cr_expect_not(a.open);
	cr_expect_str_eq(a.bad_zone, "Europe/Berlin");
	/* Nor is one that ends before. */
	a = judge(&berlin, "2030-01-07T23:00:00Z");
	cr_expect_not(a.open);
	cr_expect_str_eq(a.bad_zone, "Europe/Berlin");
}

Test(window, one_open_window_is_enough)
{
	static const struct zone utc = {.from_s = 0, .until_s = INT64_MAX};
	struct rollout_window windows[] = {nights, {0x7f, 0, 1440, "UTC"}};
	const struct zone *zones[] = {NULL, &utc};
	struct rollout r = {.windows = windows, .window_count = 2};
	struct window_answer a = window_judge(&r, zones, at("2026-01-10T12:00:00Z"));
	cr_expect(a.open);
	cr_expect_null(a.bad_zone);
	r.window_count = 0;
	cr_expect(window_judge(&r, NULL, 0).open, "none is always");
}

Test(window, the_whole_day_has_no_gap)
{
	static const struct zone utc = {.from_s = 0, .until_s = INT64_MAX};
	struct rollout_window day = {0x7f, 0, 1440, "UTC"};
	const struct zone *zones[] = {&utc};
	struct rollout r = {.windows = &day, .window_count = 1};
	for (int64_t now = at("2026-01-04T00:00:00Z"); now < at("2026-01-12T00:00:00Z");
		now += 59000) {
		cr_assert(window_judge(&r, zones, now).open);
	}
}

/* An end at the start is on the next day. */
Test(window, one_that_ends_when_it_starts_is_open_for_a_day)
{
	static const struct zone utc = {.from_s = 0, .until_s = INT64_MAX};
	struct rollout_window monday = {0x01, 6 * 60, 6 * 60, "UTC"};
	const struct zone *zones[] = {&utc};
	struct rollout r = {.windows = &monday, .window_count = 1};
	cr_expect_not(window_judge(&r, zones, at("2026-01-05T05:59:59Z")).open);
	cr_expect(window_judge(&r, zones, at("2026-01-05T06:00:00Z")).open);
	cr_expect(window_judge(&r, zones, at("2026-01-06T05:59:59Z")).open);
	struct window_answer a = window_judge(&r, zones, at("2026-01-06T06:00:00Z"));
	cr_expect_not(a.open);
	cr_expect_eq(a.next_ms, at("2026-01-12T06:00:00Z"));
}
