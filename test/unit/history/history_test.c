/* What is told of one container, who leads, what is known. */
#include <criterion/criterion.h>

#include "bed.h"

static struct history *h;
static struct history_feed feed;
static struct history_source source;
static int64_t now;

static void set_up(void)
{
	h = history_create();
	feed = (struct history_feed){0};
	source = (struct history_source){METERED_AGENT, false, "sm"};
	now = START;
}

static void tear_down(void)
{
	history_destroy(h);
}

TestSuite(history, .init = set_up, .fini = tear_down);

static struct history_facts judge(void)
{
	return history_judge(h, &real_time, now, true);
}

static bool take(int64_t at, int64_t compute, int64_t mib)
{
	struct history_sample s = {
		source, at, compute, METERED_FULL, mib < 0 ? METERED_ABSENT : mib << 20};
	return history_take(h, &feed, &s, now);
}

Test(history, a_minute_is_the_mean_of_its_samples)
{
	take(now, 10000, 100);
	now += 15000;
	take(now, 30000, 100);
	history_settle(h, &feed, now);
	cr_expect_eq(history_compute(h, 98, now), -1, "it is not over");
	now += MINUTE;
	history_settle(h, &feed, now);
	cr_expect_eq(history_compute(h, 98, now), 21);
	cr_expect_eq(judge().compute_minutes, 1);
	cr_expect_eq(judge().samples, 2);
}

Test(history, a_pod_that_leaves_has_its_minute_counted)
{
	take(now, 10000, 100);
	history_leave(h, &feed);
	history_leave(h, &feed);
	cr_expect_eq(history_compute(h, 98, now), 11);
	cr_expect_eq(judge().compute_minutes, 1);
}

Test(history, what_cannot_be_is_not_taken)
{
	cr_expect(take(now, 10000, 100));
	cr_expect_not(take(now, 90000, 900), "the same again");
	cr_expect_not(take(now - 1000, 90000, 900), "an older one");
	cr_expect_not(take(now + HOUR, 90000, 900), "one to come");
	cr_expect(take(now + 20000, 10000, 100), "but clocks differ");
	feed = (struct history_feed){0};
	cr_expect_not(take(now - 8 * 24 * HOUR, 90000, 900), "one out of the window");
	cr_expect_not(take(0, 90000, 900));
	cr_expect_not(take(now + 25000, METERED_ABSENT, -1), "nothing");
	cr_expect_eq(judge().samples, 2);
	cr_expect_eq(history_peak(h, now), 100);
}

Test(history, compute_and_memory_are_known_each_by_itself)
{
	USE(24 * 60, METERED_ABSENT, 500);
	cr_expect_eq(history_compute(h, 98, now), -1);
	cr_expect_eq(history_peak(h, now), 500);
	cr_expect_eq(judge().mem_minutes, 24 * 60);
	cr_expect_eq(judge().state, HISTORY_LEARNING, "no minute of compute was observed");
	USE(24 * 60, 20000, -1);
	cr_expect_eq(judge().state, HISTORY_SUFFICIENT);
	cr_expect_eq(judge().coverage_percent, 14);
}

Test(history, bytes_are_rounded_up_and_more_than_all_is_all)
{
	struct history_sample s = {source, now, 250000, METERED_FULL, (5 << 20) + 1};
	cr_expect(history_take(h, &feed, &s, now));
	history_leave(h, &feed);
	cr_expect_eq(history_peak(h, now), 6);
	cr_expect_eq(history_compute(h, 98, now), 100);
}

Test(history, observed_minutes_count_and_not_time)
{
	for (int i = 0; i < 5; i++) {
		USE(12 * 60, 20000, 500);
		cr_expect_eq(judge().state, i < 1 ? HISTORY_LEARNING : HISTORY_SUFFICIENT);
		now += 12 * HOUR;
		cr_expect_eq(judge().state, HISTORY_STALE);
	}
	cr_expect_eq(judge().compute_minutes, 60 * 60);
	/* Two days of them leave the window. */
	now += 4 * 24 * HOUR;
	cr_expect_eq(judge().compute_minutes, 36 * 60);
	cr_expect_eq(history_judge(h, &real_time, now, false).state, HISTORY_SUFFICIENT,
		"without pods nothing is stale");
}

Test(history, runs_may_stand_for_hours)
{
	struct sizing batch = real_time;
	batch.required_s = 0;
	batch.required_runs = 2;
	USE(10, 20000, 500);
	cr_expect(history_add_run(h, START, true));
	cr_expect_eq(history_judge(h, &batch, now, false).state, HISTORY_LEARNING);
	cr_expect(history_add_run(h, START, true));
	cr_expect_eq(history_judge(h, &batch, now, false).state, HISTORY_SUFFICIENT);
	batch.required_runs = 3;
	batch.required_s = 600;
	cr_expect_eq(history_judge(h, &batch, now, false).state, HISTORY_SUFFICIENT);
	batch.required_s = 660;
	cr_expect_eq(history_judge(h, &batch, now, false).state, HISTORY_LEARNING);
}

Test(history, a_run_that_nobody_measured_is_none)
{
	struct sizing batch = real_time;
	batch.required_s = 0;
	batch.required_runs = 1;
	batch.required_run_s = 1800;
	cr_expect_not(history_add_run(h, START, true), "nothing was told at all");
	USE(10, 20000, 500);
	cr_expect_not(history_add_run(h, now + MINUTE, true), "nothing since it was made");
	cr_expect_eq(judge().runs, 0);
	cr_expect(history_add_run(h, START, true));
	cr_expect_eq(history_judge(h, &batch, now, false).state, HISTORY_LEARNING,
		"nor was a whole run measured");
	USE(19, 20000, 500);
	cr_expect_eq(history_judge(h, &batch, now, false).state, HISTORY_LEARNING);
	USE(1, 20000, 500);
	cr_expect_eq(history_judge(h, &batch, now, false).state, HISTORY_SUFFICIENT);
}

Test(history, idle_minutes_do_not_count_where_the_policy_says_so)
{
	struct sizing notebook = real_time;
	notebook.active_above_percent = 1;
	notebook.required_s = 4 * 3600;
	history_fit(h, &notebook, now);
	USE(10 * 60, 1000, 500);
	cr_expect_eq(history_compute(h, 95, now), -1);
	cr_expect_eq(history_judge(h, &notebook, now, true).active_ms, 0);
	cr_expect_eq(history_judge(h, &notebook, now, true).state, HISTORY_LEARNING);
	USE(4 * 60, 30000, 500);
	int64_t busy = now;
	USE(60, 0, 500);
	cr_expect_eq(history_compute(h, 50, now), 31);
	struct history_facts f = history_judge(h, &notebook, now, true);
	cr_expect_eq(f.state, HISTORY_SUFFICIENT);
	cr_expect_eq(f.compute_minutes, 240);
	cr_expect_eq(f.active_ms, busy - MINUTE);
}

Test(history, R15_a_container_that_is_gone_is_known_for_its_window)
{
	struct history *server = history_create();
	struct history_feed renamed = {0};
	USE(24 * 60, 20000, 500);
	int64_t gone = now - MINUTE / 4;
	const int64_t of[] = {9 * 24 * 60, 20000, 500};
	use(server, &renamed, source, &now, of);
	cr_expect_eq(history_compute(h, 98, gone + 6 * 24 * HOUR), 21);
	cr_expect_eq(history_compute(h, 98, gone + 9 * 24 * HOUR), -1);
	history_destroy(server);
}

/* --- sources --- */

Test(history, a_worse_source_leads_only_after_a_long_silence)
{
	USE(25 * 60, 20000, 500);
	source = (struct history_source){METERED_PROMETHEUS, true, "device"};
	USE(23 * 60, 60000, 500);
	cr_expect_eq(judge().source.source, METERED_AGENT);
	cr_expect_eq(history_compute(h, 98, now), 21);
	cr_expect_eq(judge().state, HISTORY_LEARNING);
	USE(61, 60000, 500);
	cr_expect_eq(judge().source.source, METERED_PROMETHEUS);
	cr_expect_eq(history_compute(h, 98, now), 61);
	/* The better one takes it back when it knows enough, though the worse one is heard too. */
	struct history_feed other = {0};
	struct history_source agent = {METERED_AGENT, false, "sm"};
	int64_t also = now;
	const int64_t of[] = {7 * 24 * 60, 20000, 500};
	USE(of[0], 60000, 500);
	use(h, &other, agent, &also, of);
	cr_expect_eq(judge().source.source, METERED_AGENT);
	cr_expect_eq(history_compute(h, 98, now), 21);
}

Test(history, the_one_that_is_heard_is_shown_while_nobody_knows_enough)
{
	USE(5, 20000, 500);
	source.source = METERED_EXPORTER;
	USE(5, 60000, 500);
	cr_expect_eq(judge().source.source, METERED_AGENT);
	USE(5, 60000, 500);
	cr_expect_eq(judge().source.source, METERED_EXPORTER);
}

Test(history, a_minute_of_two_sources_is_two)
{
	take(now, 10000, 100);
	now += 15000;
	source.estimated = true;
	take(now, 90000, 100);
	history_leave(h, &feed);
	cr_expect_eq(history_compute(h, 100, now), 11);
	cr_expect_eq(judge().samples, 2);
}

Test(history, too_many_sources_drop_the_most_silent)
{
	char basis[2] = "a";
	source.basis = basis;
	USE(25 * 60, 20000, 500);
	for (int i = 1; i < 40; i++) {
		basis[0] = (char)('a' + i % 26);
		source.estimated = i >= 26;
		USE(1, 90000, 500);
	}
	cr_expect_str_eq(judge().source.basis, "a");
	cr_expect_eq(history_compute(h, 98, now), 21);
	cr_expect_leq(history_bytes(h), (size_t)HISTORY_SOURCES * 1600 + 200);
}

/* --- size, and the rest --- */

Test(history, one_container_takes_little)
{
	USE(60, 20000, 500);
	size_t bytes = history_bytes(h);
	cr_expect_leq(bytes, 1536, "%zu bytes", bytes);
	cr_expect_leq(sizeof(struct history_feed), 24);
}

Test(history, another_policy_keeps_what_is_known)
{
	struct sizing longer = real_time;
	longer.window_s = 2592000;
	USE(24 * 60, 20000, 500);
	history_fit(h, &longer, now);
	cr_expect_eq(history_compute(h, 98, now), 21);
	cr_expect_eq(history_peak(h, now), 500);
	cr_expect_eq(history_judge(h, &longer, now, true).coverage_percent, 3);
	longer.window_s = 3600;
	history_fit(h, &longer, now);
	cr_expect_eq(history_judge(h, &longer, now, true).compute_minutes, 60);
}
