/* Which pod goes, and what keeps it. */
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

static void set_up(struct bench *b, uint32_t replicas)
{
	played_init(&b->p, replicas, START);
	b->fleet = (struct roll_fleet){0};
}

static struct roll_verdict ask(struct bench *b)
{
	struct roll_verdict v;
	roll_plan(&b->p.roll, &b->fleet, &b->p.ask, &v);
	return v;
}

static void expect(struct bench *b, enum roll_do does, enum roll_why why)
{
	struct roll_verdict v = ask(b);
	cr_expect_eq(v.does, does, "does %d", (int)v.does);
	cr_expect_eq(v.why, why, "why %s", roll_why_name(v.why));
}

static void strategy(struct bench *b, const char *kind, enum rollout_strategy s)
{
	static struct rollout_kind row;
	row = (struct rollout_kind){kind, s};
	b->p.rollout.kinds = &row;
	b->p.rollout.kind_count = 1;
}

static void owner(struct bench *b, const char *group, const char *kind)
{
	b->p.key.group = group;
	b->p.key.kind = kind;
}

Test(plan, U1_pods_go_one_at_a_time)
{
	struct bench b;
	set_up(&b, 3);
	b.p.rollout.evicts = true;
	b.p.budget = 2;
	b.fleet.managed = 100;
	for (int64_t now = START; now < START + HOUR; now += 1000) {
		played_step(&b.p, &b.fleet, now);
	}
	cr_expect_eq(b.p.evictions, 3);
	cr_expect_eq(b.p.refusals, 0);
	cr_expect_eq(b.p.least_ready, 2);
	expect(&b, ROLL_NOTHING, ROLL_UP_TO_DATE);
	cr_expect_eq(b.fleet.flights.count, 0);
	roll_finish(&b.p.roll);
	roll_fleet_finish(&b.fleet);
}

Test(plan, U2_a_budget_that_refuses_is_named_and_asked_ever_later)
{
	struct bench b;
	set_up(&b, 3);
	b.p.budget = 3;
	int64_t waits[8] = {0};
	int64_t last = 0;
	for (int64_t now = START; now < START + HOUR && b.p.refusals < 8; now += 1000) {
		int32_t before = b.p.refusals;
		struct roll_verdict v = played_step(&b.p, &b.fleet, now);
		if (b.p.refusals > before) {
			waits[before] = now - last;
			last = now;
		} else {
			cr_assert_eq(v.does, ROLL_BLOCKED);
			cr_assert_eq(v.why, ROLL_BUDGET);
			cr_assert_str_eq(v.blocker, "web-pdb");
			cr_assert_gt(v.next_ms, now);
		}
	}
	static const int64_t expected[] = {
		START, 30000, 60000, 120000, 240000, 480000, 600000, 600000};
	for (size_t i = 0; i < COUNT_OF(expected); i++) {
		cr_expect_eq(waits[i], expected[i], "wait %zu: %ld", i, (long)waits[i]);
	}
	cr_expect_eq(b.p.evictions, 0);
	cr_expect_eq(b.p.makes, 3);
	cr_expect_str_eq(roll_why_name(ROLL_BUDGET), "PDB");
	roll_finish(&b.p.roll);
	roll_fleet_finish(&b.fleet);
}

Test(plan, U2_a_budget_that_is_known_is_not_even_asked)
{
	struct bench b;
	set_up(&b, 3);
	b.p.ask.budget = (struct roll_budget){true, "web-pdb", 0};
	expect(&b, ROLL_BLOCKED, ROLL_BUDGET);
	cr_expect_str_eq(ask(&b).blocker, "web-pdb");
	b.p.ask.budget.allowed = 1;
	expect(&b, ROLL_EVICT, ROLL_UP_TO_DATE);
}

/* In a group each owner has replicas of his own: whose only one serves keeps it, and another's
 * goes. */
Test(plan, the_last_ready_one_of_each_owner_of_a_group_stays)
{
	struct bench b;
	set_up(&b, 3);
	b.p.key.kind = "GPUWorkloadGroup";
	b.p.key.group = "aliquot.dev";
	struct rollout_kind kind = {"GPUWorkloadGroup", ROLLOUT_ONGOING};
	b.p.rollout.kinds = &kind;
	b.p.rollout.kind_count = 1;
	for (int i = 0; i < 3; i++) {
		b.p.pods[i].owner = i == 0 ? 1 : 2;
	}
	expect(&b, ROLL_EVICT, ROLL_UP_TO_DATE);
	cr_expect_eq(ask(&b).pod, 1, "the oldest one is alone");
	b.p.pods[2].ready_ms = 0;
	expect(&b, ROLL_EVICT, ROLL_UP_TO_DATE);
	cr_expect_eq(ask(&b).pod, 2, "it serves nobody");
	b.p.pods[2].up_to_date = true;
	expect(&b, ROLL_BLOCKED, ROLL_LAST_READY);
	b.p.rollout.evicts = true;
	expect(&b, ROLL_EVICT, ROLL_UP_TO_DATE);
	b.p.rollout.min_replicas = 3;
	expect(&b, ROLL_BLOCKED, ROLL_MIN_REPLICAS);
}

/* Who loses his work, or comes back for nobody, stays; his neighbours in the group do not. */
Test(plan, who_would_not_come_back_stays)
{
	struct bench b;
	set_up(&b, 3);
	b.p.pods[0].irretrievable = true;
	expect(&b, ROLL_EVICT, ROLL_UP_TO_DATE);
	cr_expect_eq(ask(&b).pod, 1);
	b.p.pods[1].irretrievable = b.p.pods[2].irretrievable = true;
	expect(&b, ROLL_BLOCKED, ROLL_UNSUPPORTED);
	b.p.pods[0].ready_ms = 0;
	cr_expect_not(roll_makes_way(&b.fleet, &b.p.ask, 0));
	b.p.pods[0].irretrievable = false;
	cr_expect(roll_makes_way(&b.fleet, &b.p.ask, 0));
}

/* Whatever the canary says. */
Test(plan, C2_nobody_goes_while_pods_start_whole)
{
	struct bench b;
	set_up(&b, 3);
	b.p.ask.closed = "Backlog";
	for (int cause = ROLL_SAVES; cause <= ROLL_MOVES; cause++) {
		b.p.ask.cause = (enum roll_cause)cause;
		expect(&b, ROLL_BLOCKED, ROLL_CLOSED);
		cr_expect_str_eq(ask(&b).blocker, "Backlog");
	}
	b.p.ask.cause = ROLL_SAVES;
	b.p.ask.closed = NULL;
	expect(&b, ROLL_EVICT, ROLL_UP_TO_DATE);
}

Test(plan, H9_a_move_never_takes_the_last_ready_pod)
{
	struct bench b;
	set_up(&b, 1);
	b.p.rollout.evicts = true;
	b.p.ask.room = ROLL_ROOM_FREE;
	expect(&b, ROLL_EVICT, ROLL_UP_TO_DATE);
	b.p.ask.cause = ROLL_MOVES;
	expect(&b, ROLL_BLOCKED, ROLL_LAST_READY);
	cr_expect_str_eq(ask(&b).blocker, "the policy says Evict");
	set_up(&b, 2);
	b.p.rollout.evicts = true;
	b.p.ask.cause = ROLL_MOVES;
	expect(&b, ROLL_EVICT, ROLL_UP_TO_DATE);
}

Test(plan, U3_with_room_beside_it_the_new_pod_comes_first)
{
	struct bench b;
	set_up(&b, 1);
	b.p.ask.surge_unfit = NULL;
	b.p.ask.room = ROLL_ROOM_FREE;
	expect(&b, ROLL_SURGE, ROLL_UP_TO_DATE);
	b.p.ask.room = ROLL_ROOM_OPEN;
	expect(&b, ROLL_SURGE, ROLL_UP_TO_DATE);
	b.p.ask.room = ROLL_ROOM_NODE;
	expect(&b, ROLL_BLOCKED, ROLL_NO_ROOM);
	b.p.rollout.may_add_nodes = true;
	expect(&b, ROLL_SURGE, ROLL_UP_TO_DATE);
	/* One that is missing would be taken for the one too many (C25). */
	b.p.ask.replicas = 2;
	expect(&b, ROLL_BLOCKED, ROLL_LAST_READY);
}

Test(plan, U4_without_room_the_only_pod_stays)
{
	struct bench b;
	set_up(&b, 1);
	b.p.ask.surge_unfit = NULL;
	expect(&b, ROLL_BLOCKED, ROLL_NO_ROOM);
	cr_expect_str_eq(roll_why_name(ROLL_NO_ROOM), "NoSurgeCapacity");
	/* Nor does it go where nobody could come first. */
	b.p.ask.surge_unfit = "its pods use ports of the node";
	expect(&b, ROLL_BLOCKED, ROLL_LAST_READY);
	cr_expect_str_eq(ask(&b).blocker, "its pods use ports of the node");
	/* But the policy may say so. */
	b.p.rollout.evicts = true;
	expect(&b, ROLL_EVICT, ROLL_UP_TO_DATE);
	b.p.rollout.min_replicas = 2;
	expect(&b, ROLL_BLOCKED, ROLL_MIN_REPLICAS);
}

Test(plan, of_several_one_is_evicted_where_none_can_come_first)
{
	struct bench b;
	set_up(&b, 2);
	b.p.ask.surge_unfit = NULL;
	expect(&b, ROLL_EVICT, ROLL_UP_TO_DATE); /* planner D */
	b.p.pods[0].fits_after = false;
	expect(&b, ROLL_EVICT, ROLL_UP_TO_DATE);
	cr_expect_eq(ask(&b).pod, 1, "its GPU is too small for the new one");
	b.p.pods[1].fits_after = false;
	expect(&b, ROLL_BLOCKED, ROLL_NO_ROOM);
	b.p.pods[0].fits_after = b.p.pods[1].fits_after = true;
	b.p.pods[1].ready_ms = 0;
	b.p.pods[1].up_to_date = true;
	expect(&b, ROLL_BLOCKED, ROLL_LAST_READY);
}

Test(plan, no_more_are_away_than_the_policy_says)
{
	struct bench b;
	set_up(&b, 8);
	b.p.pods[7].up_to_date = true;
	b.p.pods[7].ready_ms = 0;
	expect(&b, ROLL_BLOCKED, ROLL_NOT_READY);
	cr_expect_str_eq(ask(&b).blocker, b.p.pods[7].name, "it is named");
	b.p.rollout.max_unavailable = 24;
	b.p.rollout.max_unavailable_is_percent = true;
	expect(&b, ROLL_BLOCKED, ROLL_NOT_READY); /* 1.92 is 1 */
	b.p.rollout.max_unavailable = 25;
	expect(&b, ROLL_EVICT, ROLL_UP_TO_DATE);
	/* One that serves nobody is not missed. */
	b.p.rollout.max_unavailable = 1;
	b.p.pods[7].up_to_date = false;
	expect(&b, ROLL_EVICT, ROLL_UP_TO_DATE);
	cr_expect_eq(ask(&b).pod, 7);
}

Test(plan, U6_a_stateful_set_is_left_alone_unless_the_policy_says)
{
	struct bench b;
	set_up(&b, 3);
	owner(&b, "apps", "StatefulSet");
	expect(&b, ROLL_NOTHING, ROLL_ON_CREATION);
	strategy(&b, "StatefulSet", ROLLOUT_NEVER);
	expect(&b, ROLL_NOTHING, ROLL_NEVER_SIZED);
	strategy(&b, "StatefulSet", ROLLOUT_ONGOING);
	for (int32_t i = 0; i < 3; i++) {
		b.p.pods[i].ordinal = (i + 1) % 3; /* 1, 2, 0 */
	}
	cr_expect_eq(ask(&b).pod, 1);
	expect(&b, ROLL_EVICT, ROLL_UP_TO_DATE);
}

Test(plan, U7_a_daemon_set_goes_node_by_node)
{
	struct bench b;
	set_up(&b, 3);
	owner(&b, "apps", "DaemonSet");
	strategy(&b, "DaemonSet", ROLLOUT_ONGOING);
	b.fleet.managed = 1000;
	struct roll_verdict v = ask(&b);
	cr_assert_eq(v.does, ROLL_EVICT);
	roll_begin(&b.p.roll, &b.fleet, &b.p.ask, &v);
	roll_settle(
		&b.p.roll, &b.fleet, &(struct roll_ending){ROLL_END_DONE, NULL, 0, false}, START);
	expect(&b, ROLL_WAIT, ROLL_UNDER_WAY);
	/* Another workload keeps off that node as well. */
	struct played other;
	played_init(&other, 3, START);
	memcpy(other.nodes, b.p.nodes, sizeof other.nodes);
	struct roll_verdict w;
	roll_plan(&other.roll, &b.fleet, &other.ask, &w);
	cr_expect_eq(w.does, ROLL_EVICT);
	cr_expect_neq(w.pod, v.pod);
	other.pods[1].up_to_date = other.pods[2].up_to_date = true;
	roll_plan(&other.roll, &b.fleet, &other.ask, &w);
	cr_expect_eq(w.why, ROLL_NODE_BUSY);
	cr_expect_str_eq(w.blocker, other.nodes[v.pod]);
	roll_finish(&b.p.roll);
	roll_fleet_finish(&b.fleet);
}

Test(plan, U8_a_running_job_is_never_evicted)
{
	static const char *const kinds[] = {"Job", "CronJob"};
	for (size_t i = 0; i < COUNT_OF(kinds); i++) {
		struct bench b;
		set_up(&b, 3);
		owner(&b, "batch", kinds[i]);
		b.p.ask.cause = ROLL_HEALS;
		expect(&b, ROLL_NOTHING, ROLL_ON_CREATION);
		strategy(&b, kinds[i], ROLLOUT_ONGOING);
		expect(&b, ROLL_BLOCKED, ROLL_UNSUPPORTED);
	}
}

Test(plan, U9_a_rollout_of_its_owner_comes_first)
{
	struct bench b;
	set_up(&b, 3);
	owner(&b, "argoproj.io", "Rollout");
	expect(&b, ROLL_NOTHING, ROLL_ON_CREATION);
	strategy(&b, "Rollout", ROLLOUT_ONGOING);
	b.p.ask.owner = ROLL_OWNER_BUSY;
	expect(&b, ROLL_BLOCKED, ROLL_OWNER_MOVES);
	b.p.ask.owner = ROLL_OWNER_UNKNOWN;
	expect(&b, ROLL_BLOCKED, ROLL_OWNER_MOVES);
	b.p.ask.owner = ROLL_OWNER_STEADY;
	expect(&b, ROLL_EVICT, ROLL_UP_TO_DATE);
}

Test(plan, U10_who_must_not_be_disrupted_stays)
{
	struct bench b;
	set_up(&b, 2);
	b.p.pods[0].must_stay = true;
	cr_expect_eq(ask(&b).pod, 1);
	b.p.pods[1].must_stay = true;
	expect(&b, ROLL_BLOCKED, ROLL_MUST_STAY);
	cr_expect_str_eq(ask(&b).blocker, "uid-0");
	cr_expect_str_eq(roll_why_name(ROLL_MUST_STAY), "NotEvictable");
	b.p.ask.cause = ROLL_HEALS;
	expect(&b, ROLL_BLOCKED, ROLL_MUST_STAY);
}

Test(plan, U11_nothing_goes_while_the_webhook_is_away)
{
	struct bench b;
	set_up(&b, 2);
	b.p.ask.gate.webhook_ms = START - 60000;
	expect(&b, ROLL_EVICT, ROLL_UP_TO_DATE);
	b.p.ask.gate.webhook_ms = START - 61000;
	expect(&b, ROLL_BLOCKED, ROLL_WEBHOOK);
	b.p.ask.cause = ROLL_HEALS;
	expect(&b, ROLL_BLOCKED, ROLL_WEBHOOK);
	b.p.ask.gate.webhook_ms = START;
	b.p.ask.gate.reached = false;
	expect(&b, ROLL_BLOCKED, ROLL_WEBHOOK);
	b.p.ask.gate.reached = true;
	b.p.ask.gate.leads = false;
	expect(&b, ROLL_WAIT, ROLL_NOT_LEADING); /* U18 */
}

Test(plan, R13_what_is_not_measured_is_not_changed)
{
	struct bench b;
	set_up(&b, 2);
	b.p.ask.measured_ms = START - 5 * MINUTE - 1;
	expect(&b, ROLL_BLOCKED, ROLL_STALE);
	b.p.ask.measured_ms = 0;
	expect(&b, ROLL_BLOCKED, ROLL_STALE);
	b.p.ask.cause = ROLL_HEALS;
	expect(&b, ROLL_EVICT, ROLL_UP_TO_DATE);
}

/* H9: to another GPU, because of its neighbours. */
Test(plan, H9_a_move_waits_for_no_window_and_never_takes_the_last_ready_pod)
{
	struct bench b;
	set_up(&b, 2);
	const struct zone *unknown = NULL;
	struct rollout_window night = {0x1f, 22 * 60, 4 * 60, "UTC"};
	b.p.rollout.windows = &night;
	b.p.rollout.window_count = 1;
	b.p.ask.zones = &unknown;
	expect(&b, ROLL_BLOCKED, ROLL_ZONE);
	b.p.ask.cause = ROLL_MOVES;
	b.p.rollout.min_pod_age_s = 86400;
	b.p.pods[1].up_to_date = true;
	expect(&b, ROLL_EVICT, ROLL_UP_TO_DATE);
	cr_expect_eq(ask(&b).pod, 0);
	b.p.pods[0].fits_after = false;
	expect(&b, ROLL_BLOCKED, ROLL_NO_ROOM);
	b.p.pods[0].fits_after = true;
	b.p.ask.budget = (struct roll_budget){true, "web-pdb", 0};
	expect(&b, ROLL_BLOCKED, ROLL_BUDGET);
	b.p.ask.budget.known = false;
	b.p.pods[1].ready_ms = 0;
	expect(&b, ROLL_BLOCKED, ROLL_LAST_READY);
}

/* U13: 200 workloads of one replica each... of two, so that one may go. */
Test(plan, U13_no_stampede_at_the_start)
{
	enum { WORKLOADS = 200, SPAN = 60 };
	static struct played all[WORKLOADS];
	static int64_t begun[WORKLOADS * 2];
	size_t count = 0;
	struct roll_fleet fleet = {0};
	fleet.managed = 2 * WORKLOADS;
	for (size_t i = 0; i < WORKLOADS; i++) {
		played_init(&all[i], 2, START);
		all[i].ask.gate.synced_ms = START;
		for (size_t k = 0; k < 2; k++) {
			snprintf(all[i].nodes[k], sizeof all[i].nodes[k], "n-%zu-%zu", i, k);
		}
	}
	for (int64_t now = START; now < START + SPAN * MINUTE; now += 5000) {
		for (size_t i = 0; i < WORKLOADS; i++) {
			int32_t before = all[i].evictions;
			played_step(&all[i], &fleet, now);
			if (all[i].evictions > before) {
				begun[count++] = now;
			}
		}
	}
	cr_assert_gt(count, 80);
	cr_expect_geq(begun[0], START + 2 * MINUTE);
	for (size_t i = 20; i < count; i++) {
		cr_assert_gt(begun[i] - begun[i - 20], 10 * MINUTE - 1, "replacement %zu", i);
	}
	for (size_t i = 0; i < WORKLOADS; i++) {
		cr_assert_geq(all[i].least_ready, 1);
	}
	roll_fleet_finish(&fleet);
}

Test(plan, U14_nothing_is_replaced_while_replicas_are_scaled)
{
	struct bench b;
	set_up(&b, 3);
	struct scaler hpa = {
		.kind = "HorizontalPodAutoscaler", .name = "web", .current = 3, .desired = 4};
	b.p.ask.scaler = &hpa;
	expect(&b, ROLL_BLOCKED, ROLL_SCALING);
	cr_expect_str_eq(ask(&b).blocker, "web");
	hpa.current = 4;
	hpa.scaled_ms = START - 10 * MINUTE + 1;
	expect(&b, ROLL_BLOCKED, ROLL_SCALING);
	cr_expect_eq(ask(&b).next_ms, START + 1);
	hpa.scaled_ms = START - 10 * MINUTE;
	b.p.ask.replicas = 3;
	expect(&b, ROLL_EVICT, ROLL_UP_TO_DATE);
}

Test(plan, U17_outside_its_windows_only_healing_acts)
{
	struct bench b;
	set_up(&b, 2);
	static const struct zone utc = {.from_s = 0, .until_s = INT64_MAX};
	const struct zone *zones[] = {&utc};
	struct rollout_window night = {0x1f, 22 * 60, 4 * 60, "UTC"};
	b.p.rollout.windows = &night;
	b.p.rollout.window_count = 1;
	b.p.ask.zones = zones;
	b.p.ask.now_ms = b.p.ask.measured_ms = b.p.ask.gate.webhook_ms = START + 12 * HOUR;
	expect(&b, ROLL_BLOCKED, ROLL_WINDOW);
	cr_expect_eq(ask(&b).next_ms, START + 22 * HOUR);
	b.p.ask.cause = ROLL_HEALS;
	expect(&b, ROLL_EVICT, ROLL_UP_TO_DATE);
	b.p.ask.cause = ROLL_SAVES;
	zones[0] = NULL;
	expect(&b, ROLL_BLOCKED, ROLL_ZONE);
	cr_expect_str_eq(ask(&b).blocker, "UTC");
}

Test(plan, cooldown_and_age_bind_savings_and_not_healing)
{
	struct bench b;
	set_up(&b, 1);
	b.p.rollout.evicts = true;
	b.p.pods[0].created_ms = START - HOUR + 1;
	expect(&b, ROLL_BLOCKED, ROLL_YOUNG);
	cr_expect_eq(ask(&b).next_ms, START + 1);
	b.p.roll.begun_ms = START - 30 * MINUTE + 1;
	expect(&b, ROLL_BLOCKED, ROLL_COOLDOWN);
	b.p.roll.revision = b.p.ask.revision; /* the same change goes on */
	expect(&b, ROLL_BLOCKED, ROLL_YOUNG);
	b.p.roll.revision = 0;
	b.p.ask.cause = ROLL_HEALS;
	expect(&b, ROLL_EVICT, ROLL_UP_TO_DATE);
}

/* It was ahead when that was begun, and is right now. */
Test(plan, times_that_are_to_come_are_waited_for_from_now_on)
{
	struct bench b;
	set_up(&b, 1);
	b.p.rollout.evicts = true;
	b.p.roll.begun_ms = START + 3 * HOUR;
	expect(&b, ROLL_BLOCKED, ROLL_COOLDOWN);
	cr_expect_eq(ask(&b).next_ms, START + 30 * MINUTE);
	b.p.roll.begun_ms = 0;
	b.p.roll.refused_ms = START + 3 * HOUR;
	b.p.roll.retry_ms = b.p.roll.refused_ms + 2 * MINUTE;
	b.p.roll.refused = ROLL_REFUSED;
	expect(&b, ROLL_BLOCKED, ROLL_REFUSED);
	cr_expect_eq(ask(&b).next_ms, START + 2 * MINUTE);
	b.p.roll.retry_ms = 0;
	expect(&b, ROLL_EVICT, ROLL_UP_TO_DATE);
	roll_fleet_finish(&b.fleet);
}

Test(plan, what_is_not_supported_is_said)
{
	struct bench b;
	set_up(&b, 2);
	b.p.ask.gang = true;
	expect(&b, ROLL_BLOCKED, ROLL_UNSUPPORTED);
	b.p.ask.gang = false;
	b.p.ask.bare = true;
	expect(&b, ROLL_BLOCKED, ROLL_UNSUPPORTED);
	b.p.ask.bare = false;
	b.p.ask.unsupported = "it asks for 2 GPUs";
	expect(&b, ROLL_BLOCKED, ROLL_UNSUPPORTED);
	cr_expect_str_eq(ask(&b).blocker, "it asks for 2 GPUs");
}

/* What healing waits for it waits for too. */
Test(plan, who_makes_way_after_a_rollback)
{
	struct bench b;
	set_up(&b, 2);
	struct roll_ask *ask = &b.p.ask;
	struct roll_pod *pods = b.p.pods;
	b.fleet.managed = 40; /* two in ten minutes */
	cr_expect_not(roll_makes_way(&b.fleet, ask, 0), "it serves");
	pods[0].ready_ms = 0;
	cr_expect(roll_makes_way(&b.fleet, ask, 0));
	pods[0].must_stay = true;
	cr_expect_not(roll_makes_way(&b.fleet, ask, 0), "an annotation");
	pods[0].must_stay = false;
	pods[1].leaving = true;
	cr_expect_not(roll_makes_way(&b.fleet, ask, 0), "another one goes");
	pods[1].leaving = false;
	ask->budget = (struct roll_budget){.known = true, .name = "web-pdb"};
	cr_expect_not(roll_makes_way(&b.fleet, ask, 0), "a disruption budget");
	ask->budget = (struct roll_budget){0};
	ask->owner = ROLL_OWNER_BUSY;
	cr_expect_not(roll_makes_way(&b.fleet, ask, 0), "a rollout");
	ask->owner = ROLL_OWNER_STEADY;
	struct scaler moving = {.name = "scaler", .current = 2, .desired = 3};
	ask->scaler = &moving;
	cr_expect_not(roll_makes_way(&b.fleet, ask, 0), "an autoscaler");
	ask->scaler = NULL;
	ask->gate.webhook_ms = ask->now_ms - ROLL_WEBHOOK_MS - 1;
	cr_expect_not(roll_makes_way(&b.fleet, ask, 0), "the webhook");
	ask->gate.webhook_ms = ask->now_ms;
	uint64_t id = roll_fleet_begin(&b.fleet, pods[0].node, ask->now_ms);
	cr_expect_not(roll_makes_way(&b.fleet, ask, 0), "its node");
	roll_fleet_end(&b.fleet, id);
	cr_expect(roll_makes_way(&b.fleet, ask, 0));
	roll_fleet_end(&b.fleet, roll_fleet_begin(&b.fleet, NULL, ask->now_ms));
	cr_expect_not(roll_makes_way(&b.fleet, ask, 0), "the budget of all");
	roll_finish(&b.p.roll);
	roll_fleet_finish(&b.fleet);
}
