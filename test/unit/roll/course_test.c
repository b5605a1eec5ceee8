/* What becomes of a replacement. */
#include <criterion/criterion.h>

#include "base/str.h"
#include "roll/course.h"
#include "roll/rollout_explain.h"
#include "roll/rollout_plan.h"
#include "played.h"

struct bench {
	struct played p;
	struct roll_fleet fleet;
};

/* One of two has been evicted, and another one made. */
static void set_up(struct bench *b)
{
	played_init(&b->p, 2, START);
	b->fleet = (struct roll_fleet){0};
	b->fleet.managed = 1000;
	cr_assert_eq(played_step(&b->p, &b->fleet, START).does, ROLL_EVICT);
}

static void tear_down(struct bench *b)
{
	roll_finish(&b->p.roll);
	roll_fleet_finish(&b->fleet);
}

static struct roll_verdict at(struct bench *b, int64_t now)
{
	struct roll_verdict v;
	b->p.ask.now_ms = b->p.ask.measured_ms = b->p.ask.gate.webhook_ms = now;
	roll_plan(&b->p.roll, &b->fleet, &b->p.ask, &v);
	return v;
}

Test(course, the_next_one_waits_until_this_one_has_done_well_for_a_while)
{
	struct bench b;
	set_up(&b);
	b.p.pods[0].ready_ms = START + MINUTE;
	struct roll_verdict v = at(&b, START + 6 * MINUTE - 1);
	cr_expect_eq(v.why, ROLL_UNDER_WAY);
	cr_expect_eq(v.next_ms, START + 6 * MINUTE);
	cr_expect_eq(at(&b, START + 6 * MINUTE).why, ROLL_UNDER_WAY, "not measured yet");
	b.p.pods[0].sample_ms = START + 5 * MINUTE;
	cr_expect_eq(at(&b, START + 6 * MINUTE).does, ROLL_EVICT);
	cr_expect_eq(b.fleet.flights.count, 0);
	tear_down(&b);
}

Test(course, min_ready_seconds_of_its_owner_count)
{
	struct bench b;
	set_up(&b);
	b.p.ask.min_ready_ms = 10 * MINUTE;
	b.p.pods[0].ready_ms = START + MINUTE;
	b.p.pods[0].sample_ms = START + 2 * MINUTE;
	cr_expect_eq(at(&b, START + 11 * MINUTE - 1).why, ROLL_UNDER_WAY);
	cr_expect_eq(at(&b, START + 11 * MINUTE).does, ROLL_EVICT);
	tear_down(&b);
}

Test(course, U12_two_that_come_back_whole_stop_it)
{
	struct bench b;
	set_up(&b);
	b.p.pods[0].sized = b.p.pods[0].up_to_date = false;
	b.p.pods[0].ready_ms = START + MINUTE;
	b.p.webhook = false;
	b.p.rollout.min_pod_age_s = 0;
	cr_expect_eq(played_step(&b.p, &b.fleet, START + 2 * MINUTE).does, ROLL_EVICT);
	struct roll_verdict v = at(&b, START + 3 * MINUTE);
	cr_expect_eq(v.does, ROLL_BLOCKED);
	cr_expect_eq(v.why, ROLL_WITHOUT_EFFECT);
	cr_expect_str_eq(roll_why_name(v.why), "NoEffect");
	cr_expect_eq(at(&b, START + 30 * DAY).why, ROLL_WITHOUT_EFFECT, "no time heals it");
	roll_resume(&b.p.roll);
	b.p.pods[0].ready_ms = b.p.pods[1].ready_ms = START;
	cr_expect_eq(at(&b, START + 30 * DAY).does, ROLL_EVICT);
	tear_down(&b);
}

Test(course, two_failures_roll_back_and_pause)
{
	struct bench b;
	set_up(&b);
	int64_t now = START + ROLL_READY_MS;
	cr_expect_eq(at(&b, now - 1).why, ROLL_UNDER_WAY);
	cr_expect_eq(at(&b, now).why, ROLL_UNDER_WAY);
	cr_expect_eq(b.p.roll.failures, 1);
	now += ROLL_READY_MS;
	cr_expect_eq(at(&b, now - 1).why, ROLL_UNDER_WAY);
	struct roll_verdict v = at(&b, now);
	cr_expect_eq(v.does, ROLL_ROLLBACK);
	v = at(&b, now);
	cr_expect_eq(v.does, ROLL_BLOCKED, "told once");
	cr_expect_eq(v.why, ROLL_PAUSED);
	cr_expect_eq(v.next_ms, now + 72 * HOUR);
	cr_expect_eq(at(&b, now + 72 * HOUR - 1).why, ROLL_PAUSED);
	b.p.pods[0].ready_ms = now;
	cr_expect_eq(at(&b, now + 72 * HOUR).does, ROLL_EVICT);
	tear_down(&b);
}

/* It went for no other share: there is none to go back to, and nobody else is stopped. */
Test(course, H9_a_move_that_fails_is_a_refusal)
{
	struct bench b;
	played_init(&b.p, 2, START);
	b.fleet = (struct roll_fleet){0};
	b.fleet.managed = 1000;
	b.p.ask.cause = ROLL_MOVES;
	cr_assert_eq(played_step(&b.p, &b.fleet, START).does, ROLL_EVICT);
	b.p.ask.cause = ROLL_SAVES;
	int64_t now = START + ROLL_READY_MS;
	cr_expect_eq(at(&b, now - 1).why, ROLL_UNDER_WAY);
	struct roll_verdict v = at(&b, now);
	cr_expect_eq(v.does, ROLL_BLOCKED);
	cr_expect_eq(v.why, ROLL_REFUSED);
	cr_expect_str_eq(v.blocker, "the pod that moved is not Ready");
	cr_expect_eq(v.next_ms, now + ROLL_SURGE_CAP);
	cr_expect_eq(b.p.roll.failures, 0);
	cr_expect_eq(b.p.roll.paused, ROLL_UP_TO_DATE);
	cr_expect_eq(b.fleet.flights.count, 0);
	b.p.pods[0].ready_ms = now;
	now += ROLL_SURGE_CAP;
	cr_expect_eq(at(&b, now).does, ROLL_EVICT);
	cr_assert_eq(played_step(&b.p, &b.fleet, now).does, ROLL_EVICT);
	cr_expect_not(b.p.roll.moves, "the next one is none");
	tear_down(&b);
}

Test(course, one_that_restarts_again_and_again_is_a_failure)
{
	struct bench b;
	set_up(&b);
	b.p.pods[0].restarts = 2;
	cr_expect_eq(at(&b, START + 12 * MINUTE).why, ROLL_UNDER_WAY);
	cr_expect_eq(b.p.roll.failures, 1);
	b.p.pods[0].restarts = 3;
	cr_expect_eq(at(&b, START + 18 * MINUTE).why, ROLL_UNDER_WAY);
	cr_expect_eq(b.p.roll.failures, 1, "each counts once");
	b.p.pods[0].restarts = 4;
	cr_expect_eq(at(&b, START + 24 * MINUTE).does, ROLL_ROLLBACK);
	cr_expect_eq(at(&b, START + 24 * MINUTE).why, ROLL_PAUSED);
	cr_expect_eq(b.fleet.flights.count, 0);
	tear_down(&b);
}

Test(course, one_that_restarted_and_is_not_ready_has_as_long_again)
{
	struct bench b;
	set_up(&b);
	b.p.pods[0].restarts = 2;
	struct roll_verdict v = at(&b, START + 12 * MINUTE);
	cr_expect_eq(v.next_ms, START + 12 * MINUTE + ROLL_READY_MS);
	b.p.pods[0].restarts = 3;
	cr_expect_eq(at(&b, v.next_ms - 1).why, ROLL_UNDER_WAY);
	cr_expect_eq(at(&b, v.next_ms).does, ROLL_ROLLBACK);
	tear_down(&b);
}

Test(course, one_that_restarted_and_then_does_well_is_no_failure)
{
	struct bench b;
	set_up(&b);
	b.p.pods[0].restarts = 2;
	(void)at(&b, START + 2 * MINUTE);
	cr_expect_eq(b.p.roll.failures, 1);
	b.p.pods[0].ready_ms = START + 3 * MINUTE;
	b.p.pods[0].sample_ms = START + 4 * MINUTE;
	cr_expect_eq(at(&b, START + 8 * MINUTE).does, ROLL_EVICT, "the next one goes");
	cr_expect_eq(b.p.roll.failures, 0);
	tear_down(&b);
}

/* Whoever needs more than it came with is not helped by being watched. */
Test(course, one_that_restarts_makes_way_for_one_that_has_more)
{
	struct bench b;
	set_up(&b);
	b.p.ask.cause = ROLL_HEALS;
	b.p.pods[0].up_to_date = false;
	b.p.pods[0].restarts = 1;
	cr_expect_eq(at(&b, START + 2 * MINUTE).why, ROLL_UNDER_WAY);
	b.p.pods[0].restarts = 2;
	cr_expect_eq(at(&b, START + 4 * MINUTE).does, ROLL_EVICT);
	cr_expect_eq(b.p.roll.failures, 1, "the next one has one chance");
	tear_down(&b);
}

/* What comes instead of it begins anew. */
Test(course, restarts_are_those_of_one_pod)
{
	struct bench b;
	set_up(&b);
	b.p.pods[0].restarts = 3;
	(void)at(&b, START + 12 * MINUTE);
	b.p.pods[0].created_ms = START + 13 * MINUTE;
	b.p.pods[0].restarts = 1;
	(void)at(&b, START + 14 * MINUTE);
	cr_expect_eq(b.p.roll.failures, 1);
	b.p.pods[0].restarts = 2;
	cr_expect_eq(at(&b, START + 16 * MINUTE).does, ROLL_ROLLBACK);
	tear_down(&b);
}

Test(course, a_workload_that_shrank_misses_nobody)
{
	struct bench b;
	set_up(&b);
	b.p.ask.pods = &b.p.pods[1];
	b.p.ask.pod_count = 1;
	b.p.ask.replicas = 1;
	(void)at(&b, START + ROLL_READY_MS);
	cr_expect_eq(b.p.roll.failures, 0);
	cr_expect_eq(b.fleet.flights.count, 0);
	tear_down(&b);
}

Test(course, a_refusal_costs_nothing_of_the_budget)
{
	struct bench b;
	set_up(&b);
	b.p.pods[0].ready_ms = START;
	b.fleet.managed = 0; /* one in ten minutes, and it is spent */
	cr_expect_gt(roll_fleet_due(&b.fleet, START), START);
	roll_settle(&b.p.roll, &b.fleet, &(struct roll_ending){ROLL_END_REFUSED, "no", 0, false},
		START);
	cr_expect_eq(roll_fleet_due(&b.fleet, START), START);
	struct roll_verdict v = at(&b, START + 29999);
	cr_expect_eq(v.why, ROLL_REFUSED);
	cr_expect_str_eq(v.blocker, "no");
	cr_expect_eq(at(&b, START + 30000).does, ROLL_EVICT);
	/* Whoever refuses may say anything, of which the beginning is kept. */
	char words[2 * ROLL_BLOCKER_MAX];
	memset(words, 'w', sizeof words - 1);
	words[sizeof words - 1] = '\0';
	roll_settle(&b.p.roll, &b.fleet,
		&(struct roll_ending){.end = ROLL_END_REFUSED, .by = words}, START);
	cr_expect_eq(strlen(b.p.roll.blocker), ROLL_BLOCKER_MAX - 1);
	roll_settle(&b.p.roll, &b.fleet, &(struct roll_ending){.end = ROLL_END_REFUSED, .by = ""},
		START);
	cr_expect_null(b.p.roll.blocker);
	tear_down(&b);
}

/* Each time a GPU was held for ten minutes for nothing. */
Test(course, a_surge_that_came_to_nothing_is_tried_ever_less_often)
{
	struct bench b;
	set_up(&b);
	int64_t now = START, last = 0;
	for (int i = 0; i < 20; i++) {
		roll_settle(&b.p.roll, &b.fleet,
			&(struct roll_ending){ROLL_END_REFUSED, "too long", 0, true}, now);
		int64_t wait = b.p.roll.retry_ms - now;
		cr_expect(
			i == 0 ? wait == ROLL_RETRY_MS : wait == last * 2 || wait == ROLL_SURGE_CAP,
			"%ld after %ld", (long)wait, (long)last);
		last = wait;
		now = b.p.roll.retry_ms;
	}
	cr_expect_eq(last, ROLL_SURGE_CAP);
	now = b.p.roll.refused_ms;
	b.p.pods[0].ready_ms = START;
	struct roll_verdict v = at(&b, now + ROLL_RETRY_CAP);
	cr_expect_eq(v.why, ROLL_REFUSED);
	cr_expect_eq(v.next_ms, now + ROLL_SURGE_CAP);
	b.p.ask.cause = ROLL_HEALS;
	cr_expect_eq(at(&b, now + ROLL_RETRY_CAP - 1).why, ROLL_REFUSED);
	cr_expect_eq(at(&b, now + ROLL_RETRY_CAP).does, ROLL_EVICT, "who is in need");
	b.p.ask.cause = ROLL_SAVES;
	b.p.ask.revision++;
	b.p.rollout.cooldown_s = 0;
	cr_expect_eq(at(&b, now + ROLL_RETRY_CAP).does, ROLL_EVICT, "another share");
	tear_down(&b);
}

/* A budget that said no all day is no surge that came to nothing. */
Test(course, refusals_of_others_make_no_surge_rare)
{
	struct bench b;
	set_up(&b);
	for (int i = 0; i < 12; i++) {
		roll_settle(&b.p.roll, &b.fleet,
			&(struct roll_ending){ROLL_END_BUDGET, "web-pdb", 0, false}, START);
	}
	cr_expect_eq(b.p.roll.retry_ms, START + ROLL_RETRY_CAP);
	roll_settle(&b.p.roll, &b.fleet,
		&(struct roll_ending){ROLL_END_REFUSED, "too long", 0, true}, START);
	cr_expect_eq(b.p.roll.retry_ms, START + ROLL_RETRY_MS);
	tear_down(&b);
}

Test(course, a_server_that_asks_for_more_time_gets_it_within_the_cap)
{
	struct bench b;
	set_up(&b);
	roll_settle(&b.p.roll, &b.fleet, &(struct roll_ending){ROLL_END_BUDGET, NULL, 90000, false},
		START);
	cr_expect_eq(b.p.roll.retry_ms, START + 90000);
	roll_settle(&b.p.roll, &b.fleet,
		&(struct roll_ending){ROLL_END_BUDGET, NULL, INT64_MAX / 2, false}, START);
	cr_expect_eq(b.p.roll.retry_ms, START + ROLL_RETRY_CAP);
	tear_down(&b);
}

Test(course, C25_a_lost_race_stops_it)
{
	struct bench b;
	set_up(&b);
	roll_settle(
		&b.p.roll, &b.fleet, &(struct roll_ending){ROLL_END_LOST, NULL, 0, false}, START);
	cr_expect_eq(at(&b, START + 30 * DAY).why, ROLL_SURGE_LOST);
	cr_expect_str_eq(roll_why_name(ROLL_SURGE_LOST), "SurgeLostRace");
	tear_down(&b);
}

Test(course, a_surge_is_watched_as_an_eviction_once_the_old_pod_goes)
{
	struct bench b;
	played_init(&b.p, 2, START);
	b.fleet = (struct roll_fleet){0};
	b.p.ask.surge_unfit = NULL;
	b.p.ask.room = ROLL_ROOM_OPEN;
	struct roll_verdict v = at(&b, START);
	cr_assert_eq(v.does, ROLL_SURGE);
	roll_begin(&b.p.roll, &b.fleet, &b.p.ask, &v);
	cr_expect_eq(at(&b, START + DAY).why, ROLL_UNDER_WAY);
	roll_settle(&b.p.roll, &b.fleet, &(struct roll_ending){ROLL_END_DONE, NULL, 0, false},
		START + MINUTE);
	played_make(&b.p, v.pod, START + 1000, true);
	b.p.pods[v.pod].ready_ms = START + MINUTE;
	b.p.pods[v.pod].sample_ms = START + 2 * MINUTE;
	cr_expect_eq(at(&b, START + 6 * MINUTE - 1).why, ROLL_UNDER_WAY);
	(void)at(&b, START + 6 * MINUTE);
	cr_expect_eq(b.fleet.flights.count, 0);
	roll_finish(&b.p.roll);
	roll_fleet_finish(&b.fleet);
}

/* It restarts, and is counted; then somebody is in need, and it makes way for one with more. */
Test(course, one_that_failed_and_makes_way_later_did_not_do_well)
{
	struct bench b;
	set_up(&b);
	b.p.pods[0].restarts = ROLL_RESTARTS;
	(void)at(&b, START + 2 * MINUTE);
	cr_assert_eq(b.p.roll.failures, 1);
	cr_assert_eq(b.p.roll.doing, ROLL_EVICT);
	b.p.ask.cause = ROLL_HEALS;
	b.p.pods[0].up_to_date = false;
	(void)at(&b, START + 4 * MINUTE);
	cr_expect_eq(b.p.roll.failures, 1);
	cr_expect_eq(b.p.roll.doing, ROLL_NOTHING);
	cr_expect_not(b.p.roll.succeeded);
	tear_down(&b);
}

Test(course, one_that_is_ready_and_measured_did_well)
{
	struct bench b;
	set_up(&b);
	b.p.pods[0].ready_ms = START + MINUTE;
	b.p.pods[0].sample_ms = START + 5 * MINUTE;
	cr_expect_eq(at(&b, START + 6 * MINUTE).does, ROLL_EVICT);
	cr_expect(b.p.roll.succeeded);
	tear_down(&b);
}

Test(course, what_stopped_it_is_read_back)
{
	struct recommendation told = {.last_update = {UPDATE_SUCCEEDED, START, NULL}};
	struct roll r = {.doing = ROLL_NOTHING};
	int64_t until;
	roll_restore(&r, &told);
	cr_expect_eq(r.begun_ms, START);
	cr_expect_not(roll_is_paused(&r, START, &until));
	told.conditions[RECOMMENDATION_PAUSED] =
		(struct recommended_condition){CONDITION_TRUE, "NoEffect", NULL, START};
	roll_restore(&r, &told);
	cr_expect_eq(r.paused, ROLL_WITHOUT_EFFECT);
	told.conditions[RECOMMENDATION_PAUSED].reason = "Rollback";
	roll_restore(&r, &told);
	cr_expect_eq(r.paused, ROLL_PAUSED);
	cr_expect_eq(r.paused_ms, START);
}

/* A condition that stays true keeps its time when its reason changes. */
Test(course, what_was_given_back_counts_from_then_though_the_pause_is_older)
{
	struct recommendation told = {
		.last_update = {UPDATE_ROLLED_BACK, START + 60 * MINUTE, NULL, 1}};
	struct roll r = {.doing = ROLL_NOTHING};
	int64_t until;
	told.conditions[RECOMMENDATION_PAUSED] =
		(struct recommended_condition){CONDITION_TRUE, "GivenBack", NULL, START};
	roll_restore(&r, &told);
	cr_expect(roll_is_paused(&r, START + 61 * MINUTE, &until));
	cr_expect_eq(until, START + 60 * MINUTE + ROLL_BACK_MS);
}
