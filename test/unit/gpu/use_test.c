/* What a process used between two looks: the arithmetic, and what a driver's oddities do to it. */
#include "use.h"

#include "sampler_bed.h"

#define SECOND_US 1000000ull

/* Rows as seconds, of one device; sm and, a tenth of it, memory. */
struct row {
	unsigned pid;
	uint64_t second;
	unsigned sm;
};

struct shares {
	struct gpu_process p[3]; /* PIDs 1, 2, 3 */
	uint32_t dropped;
};

static struct shares share(const struct row *rows, size_t count, uint64_t after, uint64_t now)
{
	struct nvml_use raw[16];
	struct shares s = {.p = {{.pid = 1}, {.pid = 2}, {.pid = 3}}};
	for (size_t i = 0; i < count; i++) {
		raw[i] = (struct nvml_use){.pid = rows[i].pid,
			.time_us = rows[i].second * SECOND_US,
			.sm = rows[i].sm,
			.memory = rows[i].sm / 10};
	}
	struct use_rows r = {raw, count};
	s.dropped = use_clean(&r, after * SECOND_US, (now + 2) * SECOND_US);
	struct use_span span =
		use_span_of(&r, after * SECOND_US, now * SECOND_US, (now - after) * SECOND_US);
	use_share(&r, &span, s.p, COUNT_OF(s.p));
	return s;
}

#define SHARE(after, now, ...)                                                                     \
	share((const struct row[]){__VA_ARGS__},                                                   \
		sizeof((const struct row[]){__VA_ARGS__}) / sizeof(struct row), after, now)

Test(use, one_row_is_the_mean_since_the_look_before)
{
	struct shares s = SHARE(1000, 1015, {1, 1015, 40}, {3, 1015, 20});
	cr_expect_eq(s.p[0].sm, 40000);
	cr_expect_eq(s.p[0].mem_util, 4000);
	cr_expect_eq(s.p[0].enc, 0);
	cr_expect_eq(s.p[1].sm, 0, "without a row it did nothing");
	cr_expect_eq(s.p[2].sm, 20000);
	cr_expect_eq(s.dropped, 0);
}

/* An H200 with driver 580.159.04 told so of a process that had worked at 80 % for two of the ten
 * seconds that were asked for, and of one that worked at 40 % for the last three (R14). */
Test(use, one_row_is_the_mean_whenever_the_process_worked)
{
	struct shares s = SHARE(1000, 1010, {1, 1007, 16}, {2, 1010, 12});
	cr_expect_eq(s.p[0].sm, 16000);
	cr_expect_eq(s.p[1].sm, 12000);
}

/* The same driver gives each fifth of a second to one process alone. A small one is met rarely, and
 * its row is from when it was: that makes it no smaller (R2). */
Test(use, one_that_is_met_rarely_is_not_made_smaller)
{
	struct shares s = SHARE(1000, 1015, {1, 1004, 5}, {2, 1015, 64});
	cr_expect_eq(s.p[0].sm, 5000);
	cr_expect_eq(s.p[1].sm, 64000);
	/* Also where nobody was met later. */
	s = SHARE(1000, 1015, {1, 1005, 60});
	cr_expect_eq(s.p[0].sm, 60000);
}

Test(use, several_rows_are_weighed_by_their_time)
{
	/* Four samples of a second within fifteen; between them it did nothing. */
	struct shares s =
		SHARE(1000, 1015, {1, 1002, 100}, {1, 1003, 50}, {1, 1014, 100}, {1, 1015, 50});
	cr_expect_eq(s.p[0].sm, 20000);
	/* Faster samples stand for the time since the one before. */
	struct nvml_use raw[] = {{.pid = 1, .time_us = 1000500000, .sm = 100},
		{.pid = 1, .time_us = 1001000000, .sm = 50},
		{.pid = 1, .time_us = 1002000000, .sm = 25}};
	struct use_rows r = {raw, 3};
	struct gpu_process p = {.pid = 1};
	cr_assert_eq(use_clean(&r, 1000000000, 2000000000), 0);
	struct use_span span = use_span_of(&r, 1000000000, 1002000000, 2 * SECOND_US);
	cr_assert(span.sampled);
	use_share(&r, &span, &p, 1);
	cr_expect_eq(p.sm, 50000); /* 100 and 50 for half a second, 25 for one, of two */
}

Test(use, order_of_rows_does_not_matter)
{
	struct shares a = SHARE(10, 14, {2, 14, 10}, {1, 14, 30}, {2, 12, 50}, {1, 13, 70});
	struct shares b = SHARE(10, 14, {1, 13, 70}, {1, 14, 30}, {2, 12, 50}, {2, 14, 10});
	cr_expect_eq(a.p[0].sm, 25000);
	cr_expect_eq(a.p[1].sm, 15000);
	cr_expect_eq(memcmp(&a, &b, sizeof a), 0);
}

Test(use, a_time_that_comes_again_counts_once)
{
	struct shares s =
		SHARE(1000, 1015, {1, 1000, 90}, {1, 990, 90}, {2, 1015, 30}, {2, 1015, 30});
	cr_expect_eq(s.p[0].sm, 0, "not newer than the look before");
	/* Twice the same moment: the second one covers nothing. As samples they are of a second. */
	cr_expect_leq(s.p[1].sm, 30000);
	cr_expect_eq(s.dropped, 0, "to be old is not to be nonsense");
}

Test(use, what_ends_with_the_clock_ahead_is_old)
{
	struct shares s = SHARE(1000, 1015, {1, 4615, 90}, {2, 1016, 30});
	cr_expect_eq(s.p[0].sm, 0);
	cr_expect_eq(s.p[1].sm, 30000);
}

Test(use, never_more_than_all)
{
	struct shares s =
		SHARE(1000, 1015, {1, 1005, 100}, {1, 1010, 100}, {1, 1015, 100}, {2, 1015, 100});
	for (size_t i = 0; i < 3; i++) {
		cr_expect(s.p[i].sm >= 0 && s.p[i].sm <= 100000);
	}
	cr_expect_eq(s.p[1].sm, 6667, "where rows are samples, each is of a second");
}

Test(use, nonsense_is_counted)
{
	struct nvml_use raw[] = {{.pid = 0, .time_us = 5, .sm = 10},
		{.pid = 1, .time_us = 5, .sm = 101}, {.pid = 1, .time_us = 5, .memory = 2147483632},
		{.pid = 1, .time_us = 5, .encoder = 101}, {.pid = 1, .time_us = 5, .decoder = 101},
		{.pid = 1, .time_us = 5, .sm = 100}};
	struct use_rows r = {raw, COUNT_OF(raw)};
	cr_expect_eq(use_clean(&r, 0, 10), 5);
	cr_expect_eq(r.count, 1);
}

/* --- through the library ---------------------------------------------------------------------- */

#define BUSY BED_ONE "process compute 7 10\nprocess compute 8 10\n"

static int32_t sm_of(const struct gpu_sample *s, uint32_t pid)
{
	const struct gpu_process *p = bed_process(&s->devices[0], pid);
	cr_assert_not_null(p);
	return p->sm;
}

Test(use, scenario_8_garbage_rows_are_dropped)
{
	struct bed *b = bed_create("libnvidia-ml.so.1");
	char text[1024] = BUSY "garbage 100\n";
	bed_sample(b, text, sizeof text, 0, "7 50");
	bed_write(b, text);
	const struct gpu_sample *s = bed_look(b);
	cr_assert_eq(s->dropped, 100);
	cr_assert_eq(s->devices[0].process_count, 2);
	cr_assert_eq(sm_of(s, 7), 50000);
	cr_assert_eq(sm_of(s, 8), 0);
	cr_assert_eq(s->errors, 0);
	bed_destroy(b);
}

/* It tells what was so when it answered; of what is later than that nobody can know. */
Test(use, a_driver_that_takes_long_tells_of_its_own_time)
{
	struct bed *b = bed_create("libnvidia-ml.so.1");
	char text[1024] = BUSY;
	bed_sample(b, text, sizeof text, -2400, "7 50");
	bed_sample(b, text, sizeof text, -60000, "8 50");
	bed_write(b, text);
	b->slow_ms = 2500;
	const struct gpu_sample *s = bed_look(b);
	cr_assert_gt(sm_of(s, 7), 0);
	cr_assert_eq(sm_of(s, 8), 0);
	b->slow_ms = 0;
	bed_destroy(b);
}

Test(use, scenario_8_rows_of_processes_that_are_in_no_list_charge_nobody)
{
	struct bed *b = bed_create("libnvidia-ml.so.1");
	char text[1024] = BUSY;
	bed_sample(b, text, sizeof text, 0, "6 50");
	bed_sample(b, text, sizeof text, 0, "7 20");
	bed_sample(b, text, sizeof text, 0, "9 50");
	bed_write(b, text);
	const struct gpu_sample *s = bed_look(b);
	cr_assert_eq(s->devices[0].process_count, 2);
	cr_assert_eq(sm_of(s, 7), 20000);
	cr_assert_eq(sm_of(s, 8), 0);
	bed_destroy(b);
}

Test(use, scenario_9_nobody_ran_is_zero_and_no_error)
{
	struct bed *b = bed_create("libnvidia-ml.so.1");
	bed_write(b, BUSY);
	for (int look = 0; look < 3; look++) {
		const struct gpu_sample *s = bed_next(b);
		cr_assert(s->devices[0].process_use);
		cr_assert_eq(sm_of(s, 7), 0);
		cr_assert_eq(sm_of(s, 8), 0);
		cr_assert_eq(s->errors, 0);
	}
	bed_destroy(b);
}

Test(use, a_call_that_fails_is_unknown_and_not_zero)
{
	struct bed *b = bed_create("libnvidia-ml.so.1");
	bed_write(b, BUSY "return nvmlDeviceGetProcessUtilization 999\n");
	const struct gpu_sample *s = bed_look(b);
	cr_assert(s->devices[0].process_use);
	cr_assert_eq(sm_of(s, 7), -1);
	cr_assert_eq(s->errors, 1);
	bed_destroy(b);
}

Test(use, scenario_10_a_row_is_counted_in_one_interval_only)
{
	struct bed *b = bed_create("libnvidia-ml.so.1");
	bed_write(b, BUSY);
	(void)bed_look(b);
	bed_pass(b, 15000);
	char text[1024] = BUSY;
	bed_sample(b, text, sizeof text, 0, "7 50");
	bed_write(b, text);
	cr_assert_eq(sm_of(bed_look(b), 7), 50000);
	cr_assert_eq(sm_of(bed_next(b), 7), 0, "the same row is still in the driver's buffer");
	cr_assert_eq(sm_of(bed_next(b), 7), 0);
	bed_destroy(b);
}

Test(use, scenario_10_a_late_look_covers_its_whole_interval)
{
	struct bed *b = bed_create("libnvidia-ml.so.1");
	char text[1024] = BUSY;
	bed_sample(b, text, sizeof text, 0, "7 80");
	bed_write(b, text);
	cr_assert_eq(sm_of(bed_look(b), 7), 80000);
	/* 40 s later: the only row is the mean of them all, wherever in them it worked. */
	bed_pass(b, 40000);
	text[0] = '\0';
	(void)snprintf(text, sizeof text, BUSY);
	bed_sample(b, text, sizeof text, 30000, "7 20");
	bed_sample(b, text, sizeof text, 0, "8 10");
	bed_write(b, text);
	const struct gpu_sample *s = bed_look(b);
	cr_assert_eq(sm_of(s, 7), 20000);
	cr_assert_eq(sm_of(s, 8), 10000);
	bed_destroy(b);
}

Test(use, scenario_10_a_clock_that_is_set_back)
{
	struct bed *b = bed_create("libnvidia-ml.so.1");
	char text[1024] = BUSY;
	bed_sample(b, text, sizeof text, 0, "7 90");
	bed_write(b, text);
	cr_assert_eq(sm_of(bed_look(b), 7), 90000);
	/* An hour back. The row of before lies in the future now and is not counted again; the new
	 * ones are seen at once, and not only when the hour has passed. */
	b->wall_ms -= 3600000;
	bed_pass(b, 15000);
	bed_sample(b, text, sizeof text, 0, "8 30");
	bed_write(b, text);
	const struct gpu_sample *s = bed_look(b);
	cr_assert_eq(sm_of(s, 7), 0);
	cr_assert_eq(sm_of(s, 8), 30000);
	bed_pass(b, 15000);
	bed_sample(b, text, sizeof text, 0, "8 60");
	bed_write(b, text);
	s = bed_look(b);
	cr_assert_eq(sm_of(s, 7), 0);
	cr_assert_eq(sm_of(s, 8), 60000);
	bed_destroy(b);
}

Test(use, scenario_10_a_clock_that_is_set_forward)
{
	struct bed *b = bed_create("libnvidia-ml.so.1");
	char text[1024] = BUSY;
	bed_sample(b, text, sizeof text, 0, "7 90");
	bed_write(b, text);
	(void)bed_look(b);
	b->wall_ms += 3600000;
	bed_pass(b, 15000);
	bed_sample(b, text, sizeof text, 10000, "7 30");
	bed_sample(b, text, sizeof text, 0, "8 30");
	bed_write(b, text);
	const struct gpu_sample *s = bed_look(b);
	cr_assert_eq(sm_of(s, 7), 30000, "not thinned out over an hour");
	cr_assert_eq(sm_of(s, 8), 30000);
	bed_destroy(b);
}

Test(use, scenario_7_rows_that_grow)
{
	struct bed *b = bed_create("libnvidia-ml.so.1");
	char text[1024] = BUSY "garbage 2000\ngrow nvmlDeviceGetProcessUtilization 2\n";
	bed_sample(b, text, sizeof text, 0, "8 30");
	bed_write(b, text);
	const struct gpu_sample *s = bed_look(b);
	cr_assert_eq(sm_of(s, 8), 30000);
	cr_assert_eq(s->dropped, 2000);
	cr_assert_geq(s->retries, 1);
	bed_destroy(b);
}

Test(use, looks_in_between_do_not_cut_the_interval_short)
{
	struct bed *b = bed_create("libnvidia-ml.so.1");
	char text[1024] = BUSY "gpm 40 30 20 10 5 0 0\n";
	b->use_every_ms = 14500;
	bed_write(b, text);
	(void)bed_look(b);
	const struct gpu_sample *s = bed_next(b);
	cr_assert_eq(sm_of(s, 7), 0);
	cr_assert_eq(s->devices[0].figures[FIGURE_PROF_SM_ACTIVE], 300);
	bed_pass(b, 2000);
	bed_sample(b, text, sizeof text, 0, "7 90");
	(void)snprintf(text + strlen(text), sizeof text - strlen(text),
		"gpm 80 60 20 10 5 0 0\nprocess compute 9 10\n");
	bed_write(b, text);
	s = bed_look(b);
	cr_assert_eq(sm_of(s, 7), 0, "as it was read last");
	cr_assert_eq(sm_of(s, 9), -1, "it is new: nothing is known of it");
	cr_assert_eq(s->devices[0].figures[FIGURE_PROF_SM_ACTIVE], 300);
	cr_assert(s->devices[0].process_use);
	bed_pass(b, 13000);
	bed_sample(b, text, sizeof text, 0, "8 30");
	bed_write(b, text);
	s = bed_look(b);
	cr_assert_eq(sm_of(s, 7), 90000, "what came between is part of what is asked for now");
	cr_assert_eq(sm_of(s, 8), 30000);
	cr_assert_eq(sm_of(s, 9), 0);
	cr_assert_eq(s->devices[0].figures[FIGURE_PROF_SM_ACTIVE], 600);
	bed_destroy(b);
}
