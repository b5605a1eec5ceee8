/* The reflector against every way in which an API server answers, or does not. */
#include "reflector_bed.h"

Test(reflector, watch_list_is_asked_for_and_ends_at_the_bookmark)
{
	struct fixture f;
	set_up(&f, NULL);
	struct fake_call *c = fake_last(f.wire);
	cr_expect(c->stream);
	cr_expect_str_eq(c->bearer, "secret");
	fake_expect_path(c, "/api/v1/pods?");
	fake_expect_path(c, "labelSelector=a%3Db%2Cc");
	fake_expect_path(c, "watch=true");
	fake_expect_path(c, "sendInitialEvents=true");
	fake_expect_path(c, "resourceVersionMatch=NotOlderThan");
	fake_expect_path(c, "allowWatchBookmarks=true");
	fake_expect_no_path(c, "resourceVersion=");
	const char *timeout = strstr(c->path, "timeoutSeconds=");
	cr_assert_not_null(timeout);
	int64_t seconds = 0;
	struct view v = {timeout + 15, strcspn(timeout + 15, "&")};
	cr_assert(parse_i64(v, 300, 600, &seconds));
	cr_expect_eq(c->timeout_ms, seconds * 1000 + 30000);

	fake_drip(c, EVENT("ADDED", "a", "3"));
	/* A bookmark that does not end the initial events moves nothing. */
	fake_drip(c, BOOKMARK("4"));
	cr_expect_not(reflector_synced(f.r));
	fake_drip(c, EVENT("ADDED", "b", "7") INITIAL_END("10") EVENT("MODIFIED", "a", "11"));
	cr_expect(reflector_synced(f.r));
	fake_drip(c, EVENT("DELETED", "b", "12") BOOKMARK("20"));
	expect_heard(&f, "begin a b end a gone:n/b/u-b ");
	step(&f, 200000);
	tear_down(&f);
}

Test(reflector, resumes_from_the_last_version_without_a_new_picture)
{
	struct fixture f;
	sync_up(&f);
	fake_data(fake_last(f.wire), EVENT("MODIFIED", "a", "11") BOOKMARK("15"));
	fake_pass(&f.clock, 300000);
	fake_close(fake_last(f.wire));
	step(&f, 0);
	struct fake_call *c = fake_last(f.wire);
	cr_assert(c->open);
	fake_expect_path(c, "resourceVersion=15");
	fake_expect_no_path(c, "sendInitialEvents");
	fake_data(c, EVENT("DELETED", "a", "16"));
	fake_pass(&f.clock, 300000);
	fake_close(c);
	step(&f, 0);
	fake_expect_path(fake_last(f.wire), "resourceVersion=16");
	expect_heard(&f, "a gone:n/a/u-a ");
	tear_down(&f);
}

static void fall_back_on(int status)
{
	struct fixture f;
	set_up(&f, NULL);
	fake_answer(fake_last(f.wire), status,
		STATUS("422", "Invalid", "sendInitialEvents is forbidden"));
	step(&f, 0);
	struct fake_call *c = fake_last(f.wire);
	cr_assert(c->open, "no list after %d", status);
	fake_expect_no_path(c, "watch=true");
	fake_expect_no_path(c, "resourceVersion");
	fake_expect_path(c, "limit=500");
	cr_expect(c->zipped);
	fake_drip(c, LIST_OF("42", OBJECT("a", "3") "," OBJECT("b", "4")));
	cr_expect_not(reflector_synced(f.r));
	fake_close(c);
	step(&f, 0);
	step(&f, 0);
	cr_expect(reflector_synced(f.r));
	expect_heard(&f, "begin a b end ");
	c = fake_last(f.wire);
	fake_expect_path(c, "watch=true");
	fake_expect_path(c, "resourceVersion=42");
	fake_expect_no_path(c, "sendInitialEvents");
	fake_expect_no_path(c, "limit");
	cr_expect_not(c->zipped, "a watch says what it has at once");
	/* And it remembers: the next picture is a list at once, never older than what was seen. */
	fake_data(c, ERROR_EVENT("410", "Expired"));
	step(&f, 0);
	c = fake_last(f.wire);
	fake_expect_no_path(c, "watch=true");
	fake_expect_path(c, "resourceVersion=42");
	fake_expect_path(c, "resourceVersionMatch=NotOlderThan");
	tear_down(&f);
}

Test(reflector, falls_back_to_list_where_watch_list_is_refused)
{
	fall_back_on(400);
	fall_back_on(422);
	fall_back_on(501);
}

Test(reflector, a_server_that_never_ends_the_initial_events_gets_lists)
{
	struct fixture f;
	set_up(&f, NULL);
	/* It ignores the parameter and sends a plain watch that is silent. */
	for (int i = 0; i < 3; i++) {
		fake_expect_path(fake_last(f.wire), "sendInitialEvents");
		fake_data(fake_last(f.wire), EVENT("ADDED", "a", "3"));
		step(&f, 60000);
		cr_expect(fake_last(f.wire)->cancelled || i == 2);
		step(&f, 30000);
	}
	fake_expect_no_path(fake_last(f.wire), "watch=true");
	cr_expect_not(reflector_synced(f.r));
	expect_heard(&f, "begin a begin a begin a ");
	tear_down(&f);
}

Test(reflector, a_refused_connection_does_not_make_it_fall_back)
{
	struct fixture f;
	set_up(&f, NULL);
	for (int i = 0; i < 8; i++) {
		fake_fail(fake_last(f.wire), false);
		step(&f, 0);
		step(&f, 30000);
	}
	fake_expect_path(fake_last(f.wire), "sendInitialEvents");
	expect_heard(&f, "");
	tear_down(&f);
}

Test(reflector, a_picture_that_breaks_midway_begins_again_and_sweeps_nothing)
{
	struct fixture f;
	set_up(&f, NULL);
	fake_data(fake_last(f.wire), EVENT("ADDED", "a", "3"));
	fake_fail(fake_last(f.wire), false);
	step(&f, 0);
	expect_heard(&f, "begin a ");
	cr_expect_gt(step_to_deadline(&f), 0, "a failure waits before it tries again");
	struct fake_call *c = fake_last(f.wire);
	cr_assert(c->open);
	fake_expect_no_path(c, "resourceVersion=3");
	fake_data(c, EVENT("ADDED", "b", "4") INITIAL_END("9"));
	expect_heard(&f, "begin b end ");
	tear_down(&f);
}

Test(reflector, a_list_without_its_closing_brace_is_none)
{
	struct fixture f;
	set_up(&f, &(struct reflector_options){.no_watch_list = true});
	fake_data(fake_last(f.wire),
		"{\"metadata\":{\"resourceVersion\":\"5\"},\"items\":[" OBJECT("a", "1"));
	fake_close(fake_last(f.wire));
	step(&f, 0);
	cr_expect_not(reflector_synced(f.r));
	expect_heard(&f, "begin a ");
	step_to_deadline(&f);
	fake_expect_no_path(fake_last(f.wire), "watch=true");
	tear_down(&f);
}

Test(reflector, expired_history_takes_a_new_picture_not_older_than_the_last)
{
	struct fixture f;
	sync_up(&f);
	cr_expect_not(fake_data(fake_last(f.wire), ERROR_EVENT("410", "Expired")));
	step(&f, 0);
	struct fake_call *c = fake_last(f.wire);
	cr_assert(c->open, "an expired history is asked for again at once");
	fake_expect_path(c, "sendInitialEvents=true");
	fake_expect_path(c, "resourceVersion=10");
	/* Not even that version is there any more: the server's own newest. */
	fake_answer(c, 410, STATUS("410", "Expired", "too old"));
	step(&f, 0);
	cr_expect_gt(step_to_deadline(&f), 0);
	c = fake_last(f.wire);
	fake_expect_path(c, "sendInitialEvents=true");
	fake_expect_no_path(c, "resourceVersion=");
	fake_data(c, EVENT("ADDED", "b", "30") INITIAL_END("31"));
	expect_heard(&f, "begin b end ");
	cr_expect_eq(counted(&f, "Expired"), 1);
	tear_down(&f);
}

Test(reflector, a_410_answer_to_a_resume_takes_a_new_picture)
{
	struct fixture f;
	sync_up(&f);
	fake_close(fake_last(f.wire));
	step(&f, 2000);
	fake_answer(fake_last(f.wire), 410, STATUS("410", "Gone", "too old"));
	step(&f, 0);
	fake_expect_path(fake_last(f.wire), "sendInitialEvents=true");
	expect_heard(&f, "");
	tear_down(&f);
}

Test(reflector, a_version_from_the_future_is_given_up)
{
	struct fixture f;
	sync_up(&f);
	fake_data(fake_last(f.wire), ERROR_EVENT("410", "Expired"));
	step(&f, 0);
	fake_answer(fake_last(f.wire), 504,
		STATUS("504", "Timeout", "Too large resource version: 10, current: 4"));
	step(&f, 0);
	step_to_deadline(&f);
	fake_expect_no_path(fake_last(f.wire), "resourceVersion=");
	fake_expect_path(fake_last(f.wire), "sendInitialEvents=true");
	tear_down(&f);
}

Test(reflector, too_many_requests_wait_as_long_as_asked)
{
	struct fixture f;
	sync_up(&f);
	fake_answer_later(
		fake_last(f.wire), 429, 17000, STATUS("429", "TooManyRequests", "slow down"));
	step(&f, 0);
	size_t asked = f.wire->count;
	step(&f, 16999);
	cr_expect_eq(f.wire->count, asked);
	step(&f, 1);
	cr_expect_eq(f.wire->count, asked + 1);
	fake_expect_path(fake_last(f.wire), "resourceVersion=10");
	expect_heard(&f, "stale ");
	tear_down(&f);
}

Test(reflector, errors_back_off_to_a_cap_and_start_over_after_health)
{
	struct fixture f;
	sync_up(&f);
	int64_t longest = 0, wait = 0;
	for (int i = 0; i < 12; i++) {
		fake_answer(fake_last(f.wire), 500, "oops");
		step(&f, 0);
		int64_t failed_at = f.clock.mono;
		while (!fake_last(f.wire)->open) {
			step_to_deadline(&f);
		}
		wait = f.clock.mono - failed_at;
		longest = wait > longest ? wait : longest;
		cr_expect_geq(wait, 400);
		cr_expect_leq(wait, 10000);
	}
	cr_expect_geq(longest, 5000);
	cr_expect_geq(wait, 5000, "the delay stays at its cap while it fails");
	fake_data(fake_last(f.wire), BOOKMARK("44"));
	step(&f, 121000);
	fake_answer(fake_last(f.wire), 500, "oops");
	step(&f, 0);
	wait = step_to_deadline(&f);
	cr_expect_leq(wait, 800, "two healthy minutes forgive, waited %lld", (long long)wait);
	fake_expect_path(fake_last(f.wire), "resourceVersion=44");
	tear_down(&f);
}

Test(reflector, silence_is_noticed)
{
	struct fixture f;
	sync_up(&f);
	struct fake_call *c = fake_last(f.wire);
	/* Bookmarks alone keep it alive. */
	for (int i = 0; i < 10; i++) {
		step(&f, 60000);
		fake_data(c, BOOKMARK("50"));
	}
	step(&f, 149999);
	cr_expect(c->open);
	step(&f, 1);
	cr_expect(c->cancelled);
	expect_heard(&f, "stale ");
	step_to_deadline(&f);
	c = fake_last(f.wire);
	fake_expect_path(c, "resourceVersion=50");
	fake_data(c, BOOKMARK("51"));
	step(&f, 0);
	expect_heard(&f, "fresh ");
	tear_down(&f);
}

Test(reflector, half_a_line_at_the_end_is_forgotten_and_asked_for_again)
{
	struct fixture f;
	sync_up(&f);
	fake_data(fake_last(f.wire),
		EVENT("MODIFIED", "a", "11") "{\"type\":\"MODIFIED\",\"object\":{\"kind\"");
	fake_pass(&f.clock, 5000);
	fake_close(fake_last(f.wire));
	step(&f, 0);
	expect_heard(&f, "a ");
	cr_expect_eq(counted(&f, "HalfLine"), 1);
	struct fake_call *c = fake_last(f.wire);
	cr_assert(c->open);
	fake_expect_path(c, "resourceVersion=11");
	/* The half line must not stick to the new stream. */
	fake_data(c, EVENT("MODIFIED", "b", "12"));
	expect_heard(&f, "b ");
	tear_down(&f);
}

Test(reflector, bytes_that_are_not_json_end_the_stream)
{
	struct fixture f;
	sync_up(&f);
	cr_expect_not(fake_data(fake_last(f.wire), "<html>"));
	step(&f, 0);
	step_to_deadline(&f);
	fake_expect_path(fake_last(f.wire), "resourceVersion=10");
	cr_expect_eq(counted(&f, "invalid"), 1);
	tear_down(&f);
}

Test(reflector, very_short_watches_back_off)
{
	struct fixture f;
	sync_up(&f);
	fake_pass(&f.clock, 300000);
	fake_close(fake_last(f.wire));
	step(&f, 0);
	for (int i = 0; i < 3; i++) {
		struct fake_call *c = fake_last(f.wire);
		cr_assert(c->open);
		fake_close(c);
		step(&f, 0);
		cr_expect_not(
			fake_last(f.wire)->open, "an empty watch of no length asked again at once");
		cr_expect_gt(step_to_deadline(&f), 0);
	}
	tear_down(&f);
}

Test(reflector, error_events_without_progress_end_in_a_new_picture)
{
	struct fixture f;
	sync_up(&f);
	for (int i = 0; i < 3; i++) {
		fake_expect_no_path(fake_last(f.wire), i == 0 ? "nothing" : "sendInitialEvents");
		fake_data(fake_last(f.wire), ERROR_EVENT("500", "InternalError"));
		step(&f, 0);
		while (!fake_last(f.wire)->open) {
			step_to_deadline(&f);
		}
	}
	fake_expect_path(fake_last(f.wire), "sendInitialEvents");
	tear_down(&f);
}

/* A watch that stood breaks; the time of that. */
static int64_t lose_watch(struct fixture *f)
{
	sync_up(f);
	step(f, 60000);
	fake_fail(fake_last(f->wire), false);
	step(f, 0);
	return f->clock.mono;
}

static void fail_again(struct fixture *f)
{
	if (fake_last(f->wire)->open) {
		fake_fail(fake_last(f->wire), false);
	}
	step_to_deadline(f);
}

static void await_attempt(struct fixture *f)
{
	while (!fake_last(f->wire)->open) {
		step_to_deadline(f);
	}
}

Test(reflector, stale_comes_after_ten_seconds_and_goes_when_the_watch_stands)
{
	struct fixture f;
	int64_t since = lose_watch(&f);
	while (str_text(&f.heard)[0] == '\0') {
		fail_again(&f);
		cr_assert_lt(f.clock.mono - since, 120000);
	}
	expect_heard(&f, "stale ");
	cr_expect(reflector_is_stale(f.r));
	cr_expect_geq(f.clock.mono - since, 10000);
	cr_expect_leq(f.clock.mono - since, 10100, "%lld", (long long)(f.clock.mono - since));
	/* A quiet kind says nothing for a minute: a watch that was not refused for six seconds
	 * stands. */
	await_attempt(&f);
	since = f.clock.mono;
	while (reflector_is_stale(f.r)) {
		step_to_deadline(&f);
	}
	cr_expect_eq(f.clock.mono - since, 6000);
	expect_heard(&f, "fresh ");
	tear_down(&f);
}

Test(reflector, a_watch_that_was_accepted_stands_though_it_says_nothing)
{
	struct fixture f;
	int64_t since = lose_watch(&f);
	while (f.clock.mono - since < 4000) {
		fail_again(&f);
	}
	await_attempt(&f);
	cr_assert(f.clock.mono - since > 4000 && f.clock.mono - since < 9000);
	fake_accept(fake_last(f.wire));
	while (f.clock.mono - since < 20000) {
		step_to_deadline(&f);
	}
	expect_heard(&f, "");
	tear_down(&f);
}

Test(reflector, who_waits_for_a_server_that_was_away_tries_soon_when_it_accepts_others)
{
	struct fixture f;
	sync_up(&f);
	step(&f, 60000);
	for (int i = 0; i < 6; i++) {
		fake_fail(fake_last(f.wire), false);
		step(&f, 0);
		while (i < 5 && !fake_last(f.wire)->open) {
			step_to_deadline(&f);
		}
	}
	int64_t before = f.clock.mono;
	reflector_server_accepts(f.r, before - 1, before);
	cr_assert_geq(reflector_deadline(f.r) - before, 600, "an answer from before is no news");
	step(&f, 10);
	reflector_server_accepts(f.r, f.clock.mono, f.clock.mono);
	step(&f, 500);
	cr_expect(fake_last(f.wire)->open);
	tear_down(&f);
}

Test(reflector, who_was_accepted_and_failed_keeps_its_delay_whoever_else_is_accepted)
{
	struct fixture f;
	sync_up(&f);
	step(&f, 60000);
	fake_fail(fake_last(f.wire), false);
	step(&f, 0);
	await_attempt(&f);
	fake_accept(fake_last(f.wire));
	fake_close(fake_last(f.wire));
	step(&f, 0);
	int64_t deadline = reflector_deadline(f.r);
	cr_assert_gt(deadline, f.clock.mono + 600);
	step(&f, 10);
	reflector_server_accepts(f.r, f.clock.mono, f.clock.mono);
	cr_expect_eq(reflector_deadline(f.r), deadline);
	tear_down(&f);
}

/* A relist whose objects come in for LASTS_MS, one a second, and then no more. When it was stale.
 */
static int64_t stale_after(int64_t lasts_ms)
{
	struct fixture f;
	sync_up(&f);
	int64_t since = f.clock.mono;
	reflector_relist(f.r);
	step(&f, 0);
	while (!reflector_is_stale(f.r)) {
		if (f.clock.mono - since < lasts_ms) {
			fake_data(fake_last(f.wire), EVENT("ADDED", "a", "60"));
		}
		int64_t soon = f.clock.mono + 1000;
		step(&f, time_min(reflector_deadline(f.r), soon) - f.clock.mono);
		cr_assert_lt(f.clock.mono - since, 120000);
	}
	int64_t took = f.clock.mono - since;
	fake_data(fake_last(f.wire), INITIAL_END("61"));
	step(&f, 0);
	cr_expect_not(reflector_is_stale(f.r), "the picture is complete");
	tear_down(&f);
	return took;
}

Test(reflector, a_picture_that_comes_in_may_take_a_minute)
{
	cr_expect_eq(stale_after(120000), 60000);
	cr_expect_eq(stale_after(0), 10000, "nothing comes");
	cr_expect_eq(stale_after(3500), 13000, "it stopped coming");
}

Test(reflector, a_quiet_watch_that_stands_is_not_stale)
{
	struct fixture f;
	sync_up(&f);
	for (int i = 0; i < 3; i++) {
		int64_t until = f.clock.mono + 140000;
		while (f.clock.mono < until) {
			int64_t deadline = reflector_deadline(f.r);
			cr_assert_gt(deadline, f.clock.mono, "the deadline does not move");
			step(&f, time_min(deadline, until) - f.clock.mono);
		}
		fake_data(fake_last(f.wire), BOOKMARK("90"));
		fake_close(fake_last(f.wire));
		step(&f, 0);
	}
	expect_heard(&f, "");
	tear_down(&f);
}

Test(reflector, a_relist_can_be_forced)
{
	struct fixture f;
	sync_up(&f);
	reflector_relist(f.r);
	step(&f, 0);
	cr_expect_eq(fake_open_count(f.wire), 1);
	fake_expect_path(fake_last(f.wire), "sendInitialEvents");
	fake_data(fake_last(f.wire), EVENT("ADDED", "a", "60") INITIAL_END("61"));
	expect_heard(&f, "begin a end ");
	tear_down(&f);
}
