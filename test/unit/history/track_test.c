/* The samples of one source, and what a wall hides. */
#include <criterion/criterion.h>

#include "bed.h"
#include "track.h"

static struct history *h;
static struct track t;

static void set_up(void)
{
	h = history_create();
	track_init(&t, h);
}

static void tear_down(void)
{
	track_finish(&t);
	history_destroy(h);
}

TestSuite(track, .init = set_up, .fini = tear_down);

Test(track, who_is_held_by_a_wall_is_at_the_wall)
{
	static const struct {
		int64_t compute, wall;
		uint32_t level;
	} rows[] = {
		{20000, 100000, 20},
		{94999, 100000, 94},
		{95000, 100000, 99}, /* all of a device is a wall too */
		{28499, 30000, 28},
		{28500, 30000, 29}, /* its end is the wall */
		{30000, 30000, 30},
		{31000, 30000, 31},
		{60000, 30000, 60}, /* this wall holds nobody */
		{0, 30000, 0},
		{100000, 100000, 99},
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		track_finish(&t);
		track_init(&t, h);
		track_add_minute(&t, h, rows[i].compute, rows[i].wall, (int32_t)(START / MINUTE));
		cr_expect_gt(levels_weight(&t.compute, rows[i].level), 0, "row %zu", i);
	}
}

Test(track, a_source_is_told_from_another_by_anything)
{
	static const struct history_source sources[] = {
		{METERED_AGENT, false, NULL},
		{METERED_AGENT, true, NULL},
		{METERED_AGENT, true, "sm"},
		{METERED_EXPORTER, true, "sm"},
	};
	for (size_t i = 0; i < COUNT_OF(sources); i++) {
		struct track *made = track_touch(h, &sources[i]);
		uint16_t serial = made->serial;
		cr_expect_eq(h->count, i + 1);
		cr_expect_eq(track_touch(h, &sources[i])->serial, serial);
		cr_expect_eq(track_find(h, serial)->source, sources[i].source);
	}
	/* The place of one that went is not found by its serial any more. */
	struct history_source fifth = {METERED_PROMETHEUS, false, NULL};
	h->tracks[0].last_ms = 5;
	h->lead = 1;
	h->tracks[1].last_ms = 1;
	h->tracks[2].last_ms = 3;
	h->tracks[3].last_ms = 4;
	uint16_t gone = h->tracks[2].serial;
	track_touch(h, &fifth);
	cr_expect_eq(h->count, HISTORY_SOURCES);
	cr_expect_null(track_find(h, gone));
}

static struct history *told_by(enum metered_source source, int minutes, int64_t from_ms)
{
	static const struct sizing sizing = SIZING_DEFAULT;
	struct history *told = history_create();
	struct history_feed feed = {0};
	history_fit(told, &sizing, from_ms);
	for (int i = 0; i < minutes; i++) {
		struct history_sample s = {.source = {source, false, NULL},
			.at_ms = from_ms + i * INT64_C(60000),
			.compute = 20000,
			.wall = METERED_FULL,
			.mem_bytes = INT64_C(1) << 30};
		cr_assert(history_take(told, &feed, &s, s.at_ms));
	}
	history_leave(told, &feed);
	return told;
}

Test(track, a_past_is_adopted_where_it_knows_more)
{
	static const struct sizing sizing = SIZING_DEFAULT;
	int64_t from = INT64_C(1790000040000), now = from + 600 * INT64_C(60000);
	struct history *told = told_by(METERED_PROMETHEUS, 10, now - 10 * INT64_C(60000));
	cr_expect(history_adopt(told, told_by(METERED_PROMETHEUS, 600, from), now));
	cr_expect_eq(history_judge(told, &sizing, now, true).compute_minutes, 600);
	cr_expect_not(
		history_adopt(told, told_by(METERED_PROMETHEUS, 5, from), now), "it knows less");
	cr_expect(history_adopt(told, told_by(METERED_AGENT, 5, from), now), "another source");
	cr_expect_eq(history_judge(told, &sizing, now, true).compute_minutes, 600);
	struct history *other = told_by(METERED_EXPORTER, 5, from);
	struct sizing longer = sizing;
	longer.window_s *= 2;
	history_fit(other, &longer, now);
	cr_expect_not(history_adopt(told, other, now), "of another window");
	history_destroy(told);
}

/* A checkpoint that is read after it was told more. */
Test(track, what_was_known_before_is_joined_with_what_was_told_since)
{
	static const struct sizing sizing = SIZING_DEFAULT;
	int64_t from = INT64_C(1790000040000), now = from + 700 * INT64_C(60000);
	struct history *told = told_by(METERED_AGENT, 10, now - 10 * INT64_C(60000));
	struct history_feed feed = {.last_ms = 0};
	struct history_sample high = {.source = {METERED_AGENT, false, NULL},
		.at_ms = now,
		.compute = METERED_ABSENT,
		.mem_bytes = INT64_C(3) << 30};
	cr_assert(history_take(told, &feed, &high, now));
	struct history *before = told_by(METERED_AGENT, 600, from);
	history_kept(before)->memory_class = 2;
	history_kept(before)->held = (struct share){300, 2048};
	history_merge(told, before, now);
	struct history_facts facts = history_judge(told, &sizing, now, true);
	cr_expect_eq(facts.compute_minutes, 600);
	cr_expect_eq(facts.mem_minutes, 611);
	cr_expect_eq(facts.samples, 611);
	cr_expect_eq(facts.first_ms, from);
	cr_expect_eq(facts.last_ms, now);
	cr_expect_eq(history_peak(told, now), 3072);
	cr_expect_eq(history_kept(told)->memory_class, 2);
	cr_expect_eq(history_kept(told)->held.milli, 300);
	history_merge(told, told_by(METERED_AGENT, 5, from - 10 * INT64_C(60000)), now);
	facts = history_judge(told, &sizing, now, true);
	cr_expect_eq(facts.compute_minutes, 600, "it knew less");
	cr_expect_eq(facts.mem_minutes, 616);
	history_merge(told, told_by(METERED_EXPORTER, 5, from), now);
	cr_expect_eq(history_judge(told, &sizing, now, true).samples, 621, "another source");
	struct history *fresh = history_create();
	history_merge(fresh, told, now);
	cr_expect_eq(history_judge(fresh, &sizing, now, true).samples, 621);
	cr_expect_eq(history_recent(fresh, 98, now), 21, "the last minutes too");
	told = fresh;
	history_destroy(told);
}
