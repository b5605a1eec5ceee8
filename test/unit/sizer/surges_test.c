/* Surges through the whole sizer. */
#include "tracking/workload_table.h"
#include "staged.h"

Test(surges, u3_the_new_one_is_ready_and_adopted_before_the_old_one_goes)
{
	struct staged g;
	init(&g);
	pass(&g, 120);
	cr_expect_str_eq(
		g.tasks, "SurgeRead SurgeCreate SurgeRead SurgeCheapen SurgeRead SurgeAdopt ");
	cr_expect(g.adopted && !g.old_there);
	cr_expect_eq(g.played.bed->evictions, 0);
	pass(&g, 600);
	cr_expect_eq(bed_told(g.played.bed, WEB)->last_update.result, UPDATE_SUCCEEDED);
	cr_expect_eq(g.creates, 1);
	finish(&g);
}

Test(surges, c24_without_the_right_it_says_so)
{
	struct staged g;
	init(&g);
	sizer_may_surge(g.played.bed->sizer, SIZER_SURGE_FORBIDDEN);
	pass(&g, 120);
	cr_expect_str_eq(g.tasks, "");
	cr_expect_str_eq(
		bed_reason(g.played.bed, WEB, RECOMMENDATION_UPDATE_BLOCKED), "LastReadyReplica");
	const char *text =
		bed_told(g.played.bed, WEB)->conditions[RECOMMENDATION_UPDATE_BLOCKED].message;
	cr_expect(strstr(text, "overlay surge") != NULL, "%s", text);
	finish(&g);
}

/* Its owner says that no two of its pods run at once. */
Test(surges, none_stands_beside_one_that_is_recreated)
{
	struct staged g;
	init(&g);
	g.played.bed->standing.recreates = true;
	pass(&g, 120);
	cr_expect_str_eq(g.tasks, "");
	cr_expect_eq(g.played.bed->evictions, 0);
	cr_expect_str_eq(
		bed_reason(g.played.bed, WEB, RECOMMENDATION_UPDATE_BLOCKED), "LastReadyReplica");
	const char *text =
		bed_told(g.played.bed, WEB)->conditions[RECOMMENDATION_UPDATE_BLOCKED].message;
	cr_expect(strstr(text, "Recreate") != NULL, "%s", text);
	g.played.bed->standing.recreates = false;
	pass(&g, 300);
	cr_expect(g.adopted);
	finish(&g);
}

Test(surges, c25_what_speaks_against_it_is_told_and_nothing_is_made)
{
	struct staged g;
	init(&g);
	g.seen.live.other_claims = true;
	snprintf(g.seen.blocker, sizeof g.seen.blocker, "ReplicaSet greedy");
	until(&g, "SurgeRead");
	pass(&g, 15);
	cr_expect_str_eq(g.tasks, "SurgeRead ");
	const char *text =
		bed_told(g.played.bed, WEB)->conditions[RECOMMENDATION_UPDATE_BLOCKED].message;
	cr_expect(strstr(text, "ReplicaSet greedy") != NULL, "%s", text);
	finish(&g);
}

Test(surges, what_the_api_server_refuses_is_told)
{
	struct staged g;
	init(&g);
	g.refuses = (struct fault){.kind = FAULT_DENIED, .status = 403};
	snprintf(g.refuses.message, sizeof g.refuses.message, "exceeded quota: gpus");
	until(&g, "SurgeCreate");
	pass(&g, 15);
	cr_expect_eq(g.creates, 1);
	cr_expect_str_eq(bed_reason(g.played.bed, WEB, RECOMMENDATION_UPDATE_BLOCKED), "Refused");
	g.refuses.kind = FAULT_NONE;
	pass(&g, 120);
	cr_expect(g.adopted);
	finish(&g);
}

Test(surges, c25_what_cannot_be_read_is_told_and_nothing_is_made)
{
	struct staged g;
	init(&g);
	g.unread = (struct fault){.kind = FAULT_DENIED, .status = 403};
	snprintf(g.unread.message, sizeof g.unread.message, "jobs cannot be read");
	until(&g, "SurgeRead");
	pass(&g, 20);
	cr_expect_eq(g.creates, 0);
	const char *text =
		bed_told(g.played.bed, WEB)->conditions[RECOMMENDATION_UPDATE_BLOCKED].message;
	cr_expect(text != NULL && strstr(text, "jobs cannot be read") != NULL, "%s", text);
	g.unread.kind = FAULT_NONE;
	pass(&g, 120);
	cr_expect(g.adopted);
	finish(&g);
}

/* By then another pod may not be Ready, and would go instead. */
Test(surges, c25_all_is_read_again_once_the_old_one_is_cheap)
{
	struct staged g;
	init(&g);
	g.unready_once_cheap = true;
	until(&g, "SurgeCheapen");
	pass(&g, 30);
	cr_expect(g.cheap && !g.adopted, "%s", g.tasks);
	g.unready_once_cheap = false;
	g.seen.live.all_ready = true;
	pass(&g, 10);
	cr_expect(g.adopted);
	finish(&g);
}

/* What was read may be of seconds ago, and the watch may know better. */
Test(surges, c25_a_pod_that_the_watch_shows_not_ready_is_waited_for)
{
	struct staged g;
	init(&g);
	until(&g, "SurgeCheapen");
	g.unready_shown = true;
	show(&g, true);
	pass(&g, 30);
	cr_expect(g.cheap && !g.adopted, "%s", g.tasks);
	g.unready_shown = false;
	show(&g, true);
	pass(&g, 10);
	cr_expect(g.adopted);
	finish(&g);
}

/* By then another pod may be the one that goes. */
Test(surges, c25_what_took_long_to_be_read_is_read_again)
{
	struct staged g;
	init(&g);
	until(&g, "SurgeCreate");
	g.slow_ms = SURGE_ASKED_MS + 1;
	pass(&g, 40);
	cr_expect(strstr(g.tasks, "SurgeRead SurgeRead") != NULL, "%s", g.tasks);
	cr_expect(!g.cheap && !g.adopted);
	g.slow_ms = 0;
	pass(&g, 10);
	cr_expect(g.adopted);
	finish(&g);
}

/* Once the new pod is there the deadline goes on whatever cannot be read. */
Test(surges, u16_what_cannot_be_read_for_ten_minutes_ends_it)
{
	struct staged g;
	init(&g);
	until(&g, "SurgeCreate");
	g.unread = (struct fault){.kind = FAULT_TRANSIENT};
	pass(&g, 590);
	cr_expect(g.fresh_there && !g.adopted);
	pass(&g, 80);
	cr_expect(!g.fresh_there, "%s", g.tasks);
	finish(&g);
}

Test(surges, u15_a_rollout_of_its_owner_takes_all_back)
{
	struct staged g;
	init(&g);
	until(&g, "SurgeCreate");
	pass(&g, 5);
	cr_assert(g.fresh_there);
	g.seen.current = false;
	pass(&g, 10);
	cr_expect(!g.fresh_there && !g.cheap && g.old_there);
	cr_expect_str_eq(g.tasks, "SurgeRead SurgeCreate SurgeDrop ");
	finish(&g);
}

/* After each second another process: what it finds it ends, and none is made twice. */
Test(surges, u16_whoever_comes_next_goes_on)
{
	for (int at = 1; at < 40; at++) {
		struct staged g;
		init(&g);
		until(&g, "SurgeRead");
		pass(&g, at);
		bed_restart(g.played.bed);
		sizer_may_surge(g.played.bed->sizer, SIZER_SURGE_ALLOWED);
		int made = g.creates;
		pass(&g, 60);
		cr_expect(g.adopted || !g.fresh_there, "restarted after %d s: %s", at, g.tasks);
		cr_expect(!g.cheap || !g.old_there, "restarted after %d s: %s", at, g.tasks);
		cr_expect(made == 0 || g.creates == made, "restarted after %d s: %s", at, g.tasks);
		finish(&g);
	}
}

/* Also where its ReplicaSet was so quick that the watch shows no more than that the new one is
 * gone. */
Test(surges, c25_a_wrong_victim_stops_it_and_leaves_no_cost)
{
	for (int quick = 0; quick < 2; quick++) {
		struct staged g;
		init(&g);
		g.takes_fresh = quick;
		g.takes_another = true;
		until(&g, "SurgeAdopt");
		cr_expect_neq(g.adopted, g.takes_fresh);
		/* It never deletes the old one: the number is told to be right all the same. */
		g.seen.replicas = 2;
		pass(&g, 60);
		cr_expect(!g.cheap && g.old_there && g.creates == 1, "%s", g.tasks);
		cr_expect_str_eq(bed_reason(g.played.bed, WEB, RECOMMENDATION_UPDATE_BLOCKED),
			"SurgeLostRace");
		finish(&g);
	}
}

/* No ReplicaSet adopts one that ended, nor deletes one that it has not adopted. */
Test(surges, c24_who_ends_between_its_label_and_its_adoption_is_dropped)
{
	struct staged g;
	init(&g);
	g.ends_labelled = true;
	until(&g, "SurgeDrop");
	cr_expect_str_eq(g.tasks,
		"SurgeRead SurgeCreate SurgeRead SurgeCheapen SurgeRead SurgeAdopt SurgeRestore "
		"SurgeDrop ");
	cr_expect(!g.fresh_there && !g.cheap && g.old_there);
	pass(&g, 60);
	cr_expect_null(strstr(g.played.bed->reasons, "SurgeLostRace"), "%s", g.played.bed->reasons);
	finish(&g);
}

Test(surges, c25_who_came_since_the_last_round_is_no_lost_race)
{
	struct staged g;
	init(&g);
	g.late_ms = 8000;
	until(&g, "SurgeCreate");
	g.played.bed->sizer->round_at = INT64_MAX; /* the next one is far away */
	until(&g, "SurgeAdopt");
	pass(&g, 20);
	cr_expect(g.adopted && !g.old_there);
	cr_expect_str_eq(
		g.tasks, "SurgeRead SurgeCreate SurgeRead SurgeCheapen SurgeRead SurgeAdopt ");
	g.played.bed->sizer->round_at = 0;
	pass(&g, 600);
	cr_expect_eq(bed_told(g.played.bed, WEB)->last_update.result, UPDATE_SUCCEEDED);
	finish(&g);
}

/* Planner C: the new pod waits at our gate, and the engine asks for a node for it (C14). */
Test(surges, where_no_gpu_has_room_a_policy_may_have_it_wait_for_a_node)
{
	struct staged g;
	init(&g);
	struct bed *b = g.played.bed;
	struct change c = {.type = CHANGE_GONE, .kind = KIND_NODE, .name = "node", .uid = "node"};
	world_apply(b->world, &c);
	b->gpus = 1; /* which the old pod has */
	bed_node(b, g.played.pods[0].node);
	pass(&g, 120);
	cr_expect_str_eq(g.tasks, "");
	cr_expect_str_eq(bed_reason(b, WEB, RECOMMENDATION_UPDATE_BLOCKED), "NoSurgeCapacity");
	b->rollout.may_add_nodes = true;
	bed_policy(b);
	until(&g, "SurgeAdopt");
	cr_expect_eq(g.creates, 1);
	finish(&g);
}

/* It fits nowhere, say: each try holds on for ten minutes, so they become ever rarer. */
Test(surges, one_that_does_not_get_ready_is_tried_ever_less_often)
{
	struct staged g;
	init(&g);
	g.late = true;
	until(&g, "SurgeCreate");
	struct roll *r = &sized_find(&g.played.bed->sizer->tracking, "team", WEB)->roll->roll;
	r->fruitless = 8;
	pass(&g, 660);
	cr_assert(!g.fresh_there && g.old_there, "%s", g.tasks);
	cr_expect_eq(r->retry_ms - r->refused_ms, ROLL_RETRY_MS << 8);
	cr_expect_eq(g.creates, 1);
	/* What ended for another reason is tried as soon as anything that was refused. */
	r->retry_ms = 0;
	r->refusals = 8;
	g.tasks[0] = '\0';
	until(&g, "SurgeCreate");
	g.seen.current = false;
	pass(&g, 10);
	cr_assert(!g.fresh_there, "%s", g.tasks);
	cr_expect_eq(r->retry_ms - r->refused_ms, ROLL_RETRY_CAP);
	finish(&g);
}

/* It fits nowhere but where room is kept for somebody else: that is told, and no ten minutes long
 * does a pod stand there for nothing. */
Test(surges, one_behind_others_makes_way_says_whom_and_is_tried_ever_less_often)
{
	struct staged g;
	init(&g);
	g.late = g.behind = true;
	for (int tries = 1; tries <= 4; tries++) {
		until(&g, "SurgeCreate");
		struct roll *r =
			&sized_find(&g.played.bed->sizer->tracking, "team", WEB)->roll->roll;
		pass(&g, 100);
		cr_expect(g.fresh_there, "%s", g.tasks);
		pass(&g, 35);
		cr_assert(!g.fresh_there && g.old_there, "%s", g.tasks);
		cr_expect_eq(r->retry_ms - r->refused_ms, ROLL_RETRY_MS << (tries - 1));
		const struct recommended_condition *c =
			&bed_told(g.played.bed, WEB)->conditions[RECOMMENDATION_UPDATE_BLOCKED];
		cr_expect_str_eq(c->reason, "Refused");
		cr_expect_not_null(
			strstr(c->message, "others come before the new pod (WholePodFirst: kept "
					   "for team/whole-13)"),
			"%s", c->message);
		g.tasks[0] = '\0';
	}
	g.late = g.behind = false;
	until(&g, "SurgeAdopt");
	finish(&g);
}

/* As of a node that is shut down: Failed, and nobody deletes it. */
Test(surges, c24_a_new_pod_that_failed_is_deleted)
{
	for (int restarts = 0; restarts < 2; restarts++) {
		struct staged g;
		init(&g);
		until(&g, "SurgeCreate");
		pass(&g, 3);
		g.failed = true;
		if (restarts) {
			show(&g, false);
			bed_restart(g.played.bed);
			sizer_may_surge(g.played.bed->sizer, SIZER_SURGE_ALLOWED);
		}
		pass(&g, 15);
		cr_expect(!g.fresh_there && g.old_there, "%s", g.tasks);
		cr_expect_str_eq(g.tasks, "SurgeRead SurgeCreate SurgeDrop ");
		cr_expect(strstr(g.played.bed->reasons, "SurgeEnded") != NULL);
		g.failed = false;
		if (!restarts) {
			pass(&g, 200);
			cr_expect(g.adopted, "it is tried again: %s", g.tasks);
		}
		finish(&g);
	}
}

Test(surges, c25_a_new_pod_that_failed_leaves_no_cost)
{
	struct staged g;
	init(&g);
	g.fails_cheap = true;
	until(&g, "SurgeCheapen");
	pass(&g, 15);
	cr_expect(!g.fresh_there && !g.cheap && g.old_there);
	cr_expect_str_eq(
		g.tasks, "SurgeRead SurgeCreate SurgeRead SurgeCheapen SurgeRestore SurgeDrop ");
	finish(&g);
}

Test(surges, c24_nothing_goes_on_before_the_right_is_known)
{
	struct staged g;
	init(&g);
	until(&g, "SurgeCreate");
	bed_restart(g.played.bed);
	pass(&g, 60);
	cr_expect_str_eq(g.tasks, "SurgeRead SurgeCreate ");
	sizer_may_surge(g.played.bed->sizer, SIZER_SURGE_ALLOWED);
	pass(&g, 30);
	cr_expect(g.adopted, "%s", g.tasks);
	finish(&g);
}

Test(surges, c24_once_the_right_is_gone_all_is_taken_back)
{
	struct staged g;
	init(&g);
	g.seen.min_ready_ms = 60000;
	until(&g, "SurgeCreate");
	pass(&g, 3);
	sizer_may_surge(g.played.bed->sizer, SIZER_SURGE_FORBIDDEN);
	pass(&g, 120);
	cr_expect_str_eq(g.tasks, "SurgeRead SurgeCreate SurgeDrop ");
	cr_expect(!g.fresh_there && g.old_there);
	finish(&g);
}

/* A create whose fate nobody knew arrives while an eviction is under way: it makes way,
 * and the eviction stays what it is. */
Test(surges, c24_a_late_one_does_not_end_an_eviction)
{
	struct staged g;
	init(&g);
	until(&g, "SurgeCreate");
	struct sized_workload *x = sized_find(&g.played.bed->sizer->tracking, "team", WEB);
	x->roll->roll.doing = ROLL_EVICT;
	pass(&g, 15);
	cr_expect_str_eq(g.tasks, "SurgeRead SurgeCreate SurgeDrop ");
	cr_expect_null(x->surge);
	cr_expect_eq(x->roll->roll.doing, ROLL_EVICT);
	cr_expect_eq(x->roll->roll.refusals, 0);
	finish(&g);
}
