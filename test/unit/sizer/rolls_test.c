/* Running pods are replaced, through the whole sizer, on virtual time. */
#include "played.h"

#include "rollouts/roll_record.h"

#define WEB "deployment-web"

static const char *blocked(struct played *p)
{
	return bed_reason(p->bed, WEB, RECOMMENDATION_UPDATE_BLOCKED);
}

static const char *told(struct played *p, const char *object)
{
	return text_or(
		bed_told(p->bed, object)->conditions[RECOMMENDATION_UPDATE_BLOCKED].message, "");
}

Test(rolls, u1_one_at_a_time_and_three_evictions)
{
	struct played p;
	played_init(&p, "Deployment", 3);
	p.min_available = 2;
	played_automate(&p);
	played_run(&p, 60);
	cr_expect_eq(p.bed->evictions, 3);
	cr_expect_eq(played_whole(&p), 0);
	cr_expect_eq(p.most_away, 1);
	const struct recommendation *r = bed_told(p.bed, WEB);
	cr_expect_eq(r->last_update.result, UPDATE_SUCCEEDED);
	cr_expect_str_eq(blocked(&p), "absent");
	cr_expect_eq(r->pods.up_to_date, 3);
	bed_free(p.bed);
}

Test(rolls, u2_a_budget_that_allows_none_is_asked_less_and_less)
{
	struct played p;
	played_init(&p, "Deployment", 3);
	p.min_available = 3;
	played_automate(&p);
	played_run(&p, 60);
	cr_expect_eq(p.bed->evictions, 0);
	cr_expect_eq(played_whole(&p), 3);
	cr_expect_str_eq(blocked(&p), "PDB");
	cr_expect(strstr(told(&p, WEB), "web-pdb") != NULL, "%s", told(&p, WEB));
	/* 0, 30 s, 1, 2, 4, 8 min, then every 10 */
	cr_expect_geq(p.refusals, 8);
	cr_expect_leq(p.refusals, 12);
	bed_free(p.bed);
}

Test(rolls, u4_the_last_replica_stays_where_nothing_can_come_first)
{
	struct played p;
	played_init(&p, "Deployment", 1);
	p.bed->rollout.evicts = false;
	played_automate(&p);
	played_run(&p, 60);
	cr_expect_eq(p.bed->evictions, 0);
	cr_expect_str_eq(blocked(&p), "LastReadyReplica");
	bed_free(p.bed);
}

Test(rolls, u6_a_stateful_set_is_left_alone)
{
	struct played p;
	played_init(&p, "StatefulSet", 3);
	played_automate(&p);
	played_run(&p, 60);
	cr_expect_eq(p.bed->evictions, 0);
	cr_expect_str_eq(
		bed_reason(p.bed, "statefulset-web", RECOMMENDATION_UPDATE_BLOCKED), "absent");
	bed_free(p.bed);
}

static void ongoing(struct played *p, const char *kind)
{
	p->bed->kinds[0] = (struct rollout_kind){kind, ROLLOUT_ONGOING};
	p->bed->kind_count = 1;
}

Test(rolls, u7_a_daemon_set_goes_node_by_node_where_it_is_asked_for)
{
	struct played p;
	played_init(&p, "DaemonSet", 3);
	ongoing(&p, "DaemonSet");
	played_automate(&p);
	played_run(&p, 60);
	cr_expect_eq(p.bed->evictions, 3);
	cr_expect_eq(p.most_away, 1);
	bed_free(p.bed);
}

Test(rolls, u8_a_job_is_never_evicted)
{
	struct played p;
	played_init(&p, "Job", 1);
	ongoing(&p, "Job");
	played_automate(&p);
	played_run(&p, 60);
	cr_expect_eq(p.bed->evictions, 0);
	cr_expect_str_eq(
		bed_reason(p.bed, "job-web", RECOMMENDATION_UPDATE_BLOCKED), "Unsupported");
	bed_free(p.bed);
}

/* While nobody says whether it is at a step of its own, and while it is. */
Test(rolls, u9_a_rollout_is_left_alone_at_its_own_steps)
{
	struct played p;
	played_init(&p, "Rollout", 2);
	ongoing(&p, "Rollout");
	played_automate(&p);
	played_run(&p, 10);
	cr_expect_eq(p.bed->evictions, 0);
	cr_expect_str_eq(
		bed_reason(p.bed, "rollout-web", RECOMMENDATION_UPDATE_BLOCKED), "OwnerRollout");
	p.bed->standing.course = STANDING_MOVES;
	played_run(&p, 10);
	cr_expect_eq(p.bed->evictions, 0);
	p.bed->standing.course = STANDING_STEADY;
	p.bed->standing.wanted = 2;
	played_run(&p, 60);
	cr_expect_eq(p.bed->evictions, 2);
	bed_free(p.bed);
}

Test(rolls, u10_an_annotation_keeps_a_pod)
{
	struct played p;
	played_init(&p, "Deployment", 2);
	for (int i = 0; i < 2; i++) {
		p.pods[i].careless = true;
		played_show(&p, &p.pods[i]);
	}
	played_automate(&p);
	played_run(&p, 30);
	cr_expect_eq(p.bed->evictions, 0);
	cr_expect_str_eq(blocked(&p), "NotEvictable");
	cr_expect(strstr(told(&p, WEB), "web-0") != NULL, "%s", told(&p, WEB));
	p.pods[1].careless = false;
	played_show(&p, &p.pods[1]);
	played_run(&p, 2);
	cr_expect_eq(p.bed->evictions, 1);
	bed_free(p.bed);
}

Test(rolls, u11_no_eviction_without_a_webhook)
{
	struct played p;
	played_init(&p, "Deployment", 2);
	p.seen_ms = p.bed->now.policy_ms;
	bed_pass(p.bed, 61000);
	played_automate(&p);
	played_run(&p, 10);
	cr_expect_eq(p.bed->evictions, 0);
	cr_expect_str_eq(blocked(&p), "WebhookUnhealthy");
	p.seen_ms = 0;
	p.reached = false;
	played_run(&p, 2);
	cr_expect_eq(p.bed->evictions, 0);
	p.reached = true;
	played_run(&p, 2);
	cr_expect_eq(p.bed->evictions, 1);
	bed_free(p.bed);
}

Test(rolls, u12_two_that_came_back_whole_stop_it)
{
	struct played p;
	played_init(&p, "Deployment", 3);
	p.webhook = false;
	played_automate(&p);
	played_run(&p, 300);
	cr_expect_eq(p.bed->evictions, 2);
	cr_expect_str_eq(blocked(&p), "NoEffect");
	cr_expect_str_eq(bed_reason(p.bed, WEB, RECOMMENDATION_PAUSED), "NoEffect");
	cr_expect_eq(bed_told(p.bed, WEB)->last_update.result, UPDATE_FAILED);
	bed_restart(p.bed);
	played_run(&p, 60);
	cr_expect_eq(p.bed->evictions, 2, "it outlasts a restart");
	p.webhook = true;
	played_automate(&p);
	played_run(&p, 60);
	cr_expect_eq(p.bed->evictions, 5, "a person changed the policy");
	cr_expect_eq(played_whole(&p), 0);
	bed_free(p.bed);
}

Test(rolls, u13_nothing_in_the_first_two_minutes_and_few_in_ten)
{
	struct played p;
	played_init(&p, "Deployment", 2);
	char app[16];
	for (int i = 0; i < 30; i++) {
		snprintf(app, sizeof app, "app%d", i);
		(void)played_make(&p, app, true);
	}
	played_run(&p, 35);
	p.leads_since_ms = p.bed->now.policy_ms;
	p.bed->rollout.evicts = true;
	played_automate(&p);
	/* A round is as long as the pace of writes makes it. */
	while (p.bed->evictions == 0) {
		played_pass(&p, true);
	}
	int64_t first = p.bed->now.policy_ms;
	cr_expect_geq(first - p.leads_since_ms, 2 * MINUTE_MS);
	cr_expect_leq(first - p.leads_since_ms, 4 * MINUTE_MS);
	while (p.bed->now.policy_ms < first + 9 * MINUTE_MS) {
		played_pass(&p, true);
		cr_expect_eq(p.bed->evictions, 1, "5 %% of 32 pods");
	}
	cr_expect_str_eq(bed_reason(p.bed, "deployment-app9", RECOMMENDATION_UPDATE_BLOCKED),
		"GlobalBudget");
	bed_free(p.bed);
}

#define ALL_DAYS 0x7f

/* It is 14:33 there and later, on a Monday. */
Test(rolls, u17_a_window_keeps_them)
{
	struct played p;
	struct rollout_window night = {ALL_DAYS, 22 * 60, 4 * 60, "Europe/Berlin"};
	played_init(&p, "Deployment", 2);
	p.bed->rollout.windows = &night;
	p.bed->rollout.window_count = 1;
	played_automate(&p);
	played_run(&p, 10);
	cr_expect_eq(p.bed->evictions, 0);
	cr_expect_str_eq(blocked(&p), "TimeZoneUnknown");
	bed_zone(p.bed);
	played_run(&p, 10);
	cr_expect_eq(p.bed->evictions, 0);
	cr_expect_str_eq(blocked(&p), "Window");
	cr_expect(strstr(told(&p, WEB), "looked at again at 20") != NULL, "%s", told(&p, WEB));
	bed_free(p.bed);
}

/* H1 under MPS, whose limit of memory is a process's for good: another pod has to be, and no window
 * is waited for. */
Test(rolls, u17_healing_waits_for_no_window)
{
	struct played p;
	struct rollout_window night = {ALL_DAYS, 22 * 60, 4 * 60, "Europe/Berlin"};
	played_init(&p, "Deployment", 2);
	p.mps = true;
	played_automate(&p);
	played_run(&p, 40);
	cr_assert_eq(p.bed->evictions, 2);
	bed_zone(p.bed);
	p.bed->rollout.windows = &night;
	p.bed->rollout.window_count = 1;
	bed_policy(p.bed);
	played_run(&p, 5);
	for (size_t i = 0; i < PLAYED_PODS; i++) {
		struct played_pod *it = &p.pods[i];
		if (it->there) {
			it->oom_ms = p.bed->now.policy_ms;
			played_show(&p, it);
			break;
		}
	}
	played_run(&p, 5);
	cr_expect_gt(bed_told(p.bed, WEB)->containers[0].target.mib, 7168);
	cr_expect_eq(p.bed->evictions, 3);
	bed_free(p.bed);
}

Test(rolls, u17_it_opens_in_its_time)
{
	struct played p;
	struct rollout_window night = {ALL_DAYS, 22 * 60, 4 * 60, "Europe/Berlin"};
	played_init(&p, "Deployment", 2);
	bed_zone(p.bed);
	p.bed->rollout.windows = &night;
	p.bed->rollout.window_count = 1;
	played_automate(&p);
	for (int64_t minute = 0; p.bed->evictions == 0 && minute < 2000; minute++) {
		played_run(&p, 1);
	}
	int64_t of_day = (p.bed->now.policy_ms / 60000 + 60) % 1440;
	cr_expect(of_day >= 22 * 60 && of_day <= 22 * 60 + 2, "%lld", (long long)of_day);
	bed_free(p.bed);
}

/* The number that its owner wants is read, and with it how long a pod has to be Ready. */
Test(rolls, its_owner_is_read_before_a_pod_goes)
{
	struct played p;
	played_init(&p, "Deployment", 2);
	p.bed->standing.wanted = 3;
	p.bed->standing.course = STANDING_STEADY;
	played_automate(&p);
	played_run(&p, 20);
	cr_expect_geq(p.bed->readings, 1);
	cr_expect_eq(p.bed->evictions, 0, "one of three is away already");
	cr_expect_str_eq(blocked(&p), "PodsNotReady");
	p.bed->standing.exists = false;
	p.bed->standing.wanted = 0;
	played_run(&p, 5);
	cr_expect_str_eq(blocked(&p), "OwnerRollout", "it is not there any more");
	p.bed->standing.exists = true;
	p.bed->standing.wanted = 2;
	played_run(&p, 5);
	cr_expect_eq(p.bed->evictions, 1);
	bed_free(p.bed);
}

static void refuse_two_budgets(struct bed *b, const struct action *a, struct outcome *o)
{
	(void)a;
	o->fault.kind = FAULT_TRANSIENT;
	o->fault.status = 500;
	o->fault.unknown_outcome = true;
	snprintf(o->fault.message, sizeof o->fault.message,
		"500: This pod has more than one PodDisruptionBudget, which the eviction "
		"subresource does not support.");
	b->evictions--;
	((struct played *)b->cluster)->refusals++;
}

/* Nobody told us of budgets; the API server does, by a 500. */
Test(rolls, two_budgets_that_we_do_not_see_are_told)
{
	struct played p;
	played_init(&p, "Deployment", 2);
	p.bed->evict = refuse_two_budgets;
	played_automate(&p);
	played_run(&p, 15);
	cr_expect_str_eq(blocked(&p), "Refused");
	const char *text = bed_told(p.bed, WEB)->conditions[RECOMMENDATION_UPDATE_BLOCKED].message;
	cr_expect(strstr(text, "more than one PodDisruptionBudget") != NULL, "%s", text);
	cr_expect_geq(p.refusals, 3, "it is asked again, ever later");
	cr_expect_eq(roll_fleet_due(&p.bed->sizer->rollouts.fleet, p.bed->now.policy_ms),
		p.bed->now.policy_ms, "and takes no place in the budget of all");
	bed_free(p.bed);
}

/* A server that does not answer is asked ever later, and nobody goes meanwhile. */
Test(rolls, nobody_goes_whose_owner_cannot_be_read)
{
	struct played p;
	played_init(&p, "Deployment", 2);
	p.bed->owner_fails = FAULT_TRANSIENT;
	p.bed->owner_status = 500;
	played_automate(&p);
	played_run(&p, 60);
	cr_expect_eq(p.bed->evictions, 0);
	cr_expect_str_eq(blocked(&p), "OwnerRollout");
	cr_expect_gt(p.bed->readings, 5);
	cr_expect_lt(p.bed->readings, 30, "%d", p.bed->readings);
	p.bed->owner_fails = FAULT_NONE;
	played_run(&p, 60);
	cr_expect_eq(p.bed->evictions, 2);
	bed_free(p.bed);
}

/* R12. Rights do not come back in minutes: its pods have to do, and what its template said. */
Test(rolls, whose_owner_nobody_may_see_is_judged_by_its_pods)
{
	struct played p;
	struct container main = {.name = "main", .gpus = 1};
	struct pod next = {.ns = "",
		.name = "",
		.uid = "",
		.scheduler = "other",
		.containers = &main,
		.container_count = 1};
	played_init(&p, "Deployment", 2);
	p.bed->standing.next = &next;
	p.bed->standing.course = STANDING_STEADY;
	p.bed->standing.wanted = 2;
	played_automate(&p);
	played_run(&p, 10);
	cr_expect_str_eq(blocked(&p), "Unsupported");
	p.bed->owner_fails = FAULT_DENIED;
	p.bed->owner_status = 403;
	played_run(&p, 60);
	cr_expect_eq(p.bed->evictions, 0);
	cr_expect_str_eq(blocked(&p), "Unsupported", "the template is not forgotten");
	bed_restart(p.bed);
	played_run(&p, 95);
	cr_expect_eq(p.bed->evictions, 2, "who starts now knows no template");
	bed_free(p.bed);
}

Test(rolls, two_that_are_never_ready_are_rolled_back)
{
	struct played p;
	played_init(&p, "Deployment", 2);
	p.sick = true;
	played_automate(&p);
	played_run(&p, 60);
	cr_expect_eq(p.bed->evictions, 2, "the same one, given as long again; then it makes way");
	cr_expect_eq(played_whole(&p), 2, "for one that is whole");
	cr_expect_eq(played_count(&p, "web", true), 2);
	cr_expect_str_eq(bed_reason(p.bed, WEB, RECOMMENDATION_PAUSED), "Paused");
	cr_expect_eq(bed_told(p.bed, WEB)->last_update.result, UPDATE_ROLLED_BACK);
	cr_expect_eq(bed_told(p.bed, WEB)->containers[0].target.milli, MODEL_GPU_MILLI);
	bed_restart(p.bed);
	played_run(&p, 60);
	cr_expect_eq(bed_told(p.bed, WEB)->containers[0].target.milli, MODEL_GPU_MILLI);
	cr_expect_eq(p.bed->evictions, 2);
	bed_free(p.bed);
}

/* What has no share does well; whatever has one ends so many minutes after it began, and begins
 * anew. */
static void crash(struct played *p, int minutes, int times)
{
	for (int i = 0; i < times; i++) {
		played_run(p, minutes);
		for (size_t k = 0; k < PLAYED_PODS; k++) {
			struct played_pod *it = &p->pods[k];
			if (it->there && !it->whole) {
				it->restarts++;
				played_show(p, it);
			}
		}
	}
}

static void expect_undone(int replicas, int minutes, const char *paused)
{
	struct played p;
	played_init(&p, "Deployment", replicas);
	p.sick = true;
	played_automate(&p);
	for (int i = 0; i < 100 && p.bed->evictions == 0; i++) {
		played_pass(&p, true);
	}
	cr_assert_eq(p.bed->evictions, 1);
	crash(&p, minutes, 60 / minutes);
	const struct recommendation *r = bed_told(p.bed, WEB);
	cr_expect_eq(r->last_update.result, UPDATE_ROLLED_BACK, "%d, %d min", replicas, minutes);
	cr_expect_str_eq(bed_reason(p.bed, WEB, RECOMMENDATION_PAUSED), paused);
	cr_expect_eq(r->containers[0].target.milli, MODEL_GPU_MILLI);
	cr_expect_eq(p.bed->evictions, 2, "it makes way");
	cr_expect_eq(played_whole(&p), replicas, "%d, %d min", replicas, minutes);
	cr_expect_eq(played_count(&p, "web", true), replicas);
	bed_free(p.bed);
}

/* With 5 minutes of loading what ends at once restarts every 6: no two restarts within the 10
 * minutes for which healing looks. */
Test(rolls, one_that_crashes_slowly_is_rolled_back)
{
	expect_undone(1, 6, "Paused");
	expect_undone(2, 6, "Paused");
	expect_undone(1, 15, "Paused");
	expect_undone(1, 2, "Rollback"); /* healing was quicker */
}

/* What was under way is not known any more: the pods say that one is missing. */
Test(rolls, a_restart_evicts_nobody_twice)
{
	struct played p;
	played_init(&p, "Deployment", 3);
	played_automate(&p);
	for (int i = 0; i < 20 && p.bed->evictions == 0; i++) {
		played_pass(&p, true);
	}
	cr_assert_eq(p.bed->evictions, 1);
	bed_restart(p.bed);
	p.leads_since_ms = p.bed->now.policy_ms - HOUR_MS;
	p.sick = true;
	for (size_t i = 0; i < PLAYED_PODS; i++) {
		struct played_pod *it = &p.pods[i];
		if (it->there && !it->whole) {
			it->ready = false;
			played_show(&p, it);
		}
	}
	played_run(&p, 10);
	cr_expect_eq(p.bed->evictions, 1);
	p.sick = false;
	played_run(&p, 40);
	cr_expect_eq(p.bed->evictions, 3);
	cr_expect_eq(p.most_away, 1);
	bed_free(p.bed);
}

/* Whoever is deleted in the middle keeps no node from the others. */
Test(rolls, a_workload_that_goes_gives_its_place_back)
{
	struct played p;
	played_init(&p, "Deployment", 2);
	played_automate(&p);
	for (int i = 0; i < 20 && p.bed->evictions == 0; i++) {
		played_pass(&p, true);
	}
	cr_assert_eq(p.bed->sizer->rollouts.fleet.flights.count, 1);
	bed_remove(p.bed, WEB);
	cr_expect_eq(p.bed->sizer->rollouts.fleet.flights.count, 0);
	bed_free(p.bed);
}

/* So does one without a policy, in its time. */
Test(rolls, what_is_under_way_ends_whatever_the_policy)
{
	struct played p;
	played_init(&p, "Deployment", 2);
	played_automate(&p);
	for (int i = 0; i < 20 && p.bed->evictions == 0; i++) {
		played_pass(&p, true);
	}
	cr_assert_eq(p.bed->evictions, 1);
	p.bed->mode = MODE_DISABLED;
	bed_policy(p.bed);
	played_run(&p, 10);
	cr_expect_eq(p.bed->sizer->rollouts.fleet.flights.count, 0);
	cr_expect_eq(p.bed->evictions, 1);
	bed_free(p.bed);
}

/* A tenant's share before is the target again, stays so over a restart, and still heals. */
Test(rolls, what_was_rolled_back_stays_and_heals)
{
	struct played p;
	played_init(&p, "Deployment", 2);
	p.mps = true;
	played_automate(&p);
	played_run(&p, 40);
	cr_assert_eq(p.bed->evictions, 2);
	cr_assert_eq(bed_told(p.bed, WEB)->containers[0].target.milli, 300);
	p.sick = true;
	p.percent = 26;
	p.bed->sizing.scale_down_delay_s = 1000000;
	bed_policy(p.bed);
	for (int i = 0; i < 200 && bed_told(p.bed, WEB)->last_update.result != UPDATE_ROLLED_BACK;
		i++) {
		played_pass(&p, true);
	}
	cr_assert_eq(bed_told(p.bed, WEB)->last_update.result, UPDATE_ROLLED_BACK);
	struct share back = bed_told(p.bed, WEB)->containers[0].target;
	cr_expect_eq(back.milli, 300);
	cr_expect_eq(back.mib, 7168);
	bed_restart(p.bed);
	played_run(&p, 10);
	cr_expect_eq(bed_told(p.bed, WEB)->containers[0].target.milli, 300);
	cr_expect_str_eq(bed_reason(p.bed, WEB, RECOMMENDATION_PAUSED), "Paused");
	for (size_t i = 0; i < PLAYED_PODS; i++) {
		struct played_pod *it = &p.pods[i];
		if (it->there && it->ready) {
			it->oom_ms = p.bed->now.policy_ms;
			played_show(&p, it);
			break;
		}
	}
	played_run(&p, 3);
	cr_expect_gt(bed_told(p.bed, WEB)->containers[0].target.mib, 7168);
	bed_free(p.bed);
}
