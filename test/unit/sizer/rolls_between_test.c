/* Who stays, or goes, between two rounds, after a rollback, and beside others who replace pods. */
#include "played.h"

#include "tracking/workload_table.h"
#include "rollouts/surges.h"

#include "sizer/workload_pods.h"

#define WEB "deployment-web"

static const char *blocked(struct played *p)
{
	return bed_reason(p->bed, WEB, RECOMMENDATION_UPDATE_BLOCKED);
}

/* Between two rounds, when somebody is in need. */
static void look_again(struct played *p)
{
	sized_find(&p->bed->sizer->tracking, "team", WEB)->heal.alerted = true;
	p->bed->sizer->healing.alarms.any = true;
	bed_step(p->bed);
}

static struct played_pod *any_pod(struct played *p)
{
	for (size_t i = 0; i < PLAYED_PODS; i++) {
		if (p->pods[i].there) {
			return &p->pods[i];
		}
	}
	cr_assert_fail("there is none");
	return NULL;
}

static void show_all(struct played *p)
{
	for (size_t i = 0; i < PLAYED_PODS; i++) {
		if (p->pods[i].there) {
			played_show(p, &p->pods[i]);
		}
	}
}

/* Tenants under MPS. */
static void converted(struct played *p, int replicas)
{
	played_init(p, "Deployment", replicas);
	p->mps = true;
	played_automate(p);
	played_run(p, 40);
	cr_assert_eq(p->bed->evictions, replicas);
	cr_assert_eq(played_whole(p), 0);
	p->bed->evictions = 0;
}

/* Its share is not the one it should have, and nothing else keeps it. */
Test(rolls_between, u4_the_last_replica_stays_though_it_became_ready_just_now)
{
	struct played p;
	converted(&p, 1);
	p.bed->rollout.evicts = false;
	bed_policy(p.bed);
	p.percent = 40;
	played_run(&p, 40);
	cr_assert_eq(p.bed->evictions, 0);
	cr_assert_str_eq(blocked(&p), "LastReadyReplica");
	p.reached = false;
	struct played_pod *it = any_pod(&p);
	it->ready = false;
	it->created_ms = p.bed->now.policy_ms;
	played_show(&p, it);
	played_pass(&p, true);
	it->ready = true;
	played_show(&p, it);
	struct roll_gate gate = {true, p.leads_since_ms, p.bed->now.policy_ms, true};
	sizer_gate(p.bed->sizer, &gate);
	for (int i = 0; i < 4; i++) {
		look_again(&p);
	}
	cr_expect_eq(p.bed->evictions, 0);
	played_run(&p, 2);
	cr_expect_eq(p.bed->evictions, 0);
	bed_free(p.bed);
}

/* A pod that turned and turned back between two rounds has not been Ready all the time. */
Test(rolls_between, readiness_is_noted_whenever_a_pod_is_seen)
{
	struct played p;
	converted(&p, 1);
	struct played_pod *it = any_pod(&p);
	struct sized_pod *member = sized_find(&p.bed->sizer->tracking, "team", WEB)->members;
	cr_assert_neq(member->ready_ms, 0);
	it->ready = false;
	played_show(&p, it);
	const struct world_pod *wp = world_pod_by_uid(p.bed->world, it->name);
	sizer_see(p.bed->sizer, wp, p.bed->now.policy_ms);
	cr_expect_eq(member->ready_ms, 0);
	it->ready = true;
	played_show(&p, it);
	wp = world_pod_by_uid(p.bed->world, it->name);
	sizer_see(p.bed->sizer, wp, p.bed->now.policy_ms + 1000);
	cr_expect_eq(member->ready_ms, p.bed->now.policy_ms + 1000);
	bed_free(p.bed);
}

static int conflicts;

static void evict_as_judged(struct bed *b, const struct action *a, struct outcome *o)
{
	cr_expect_str_eq(text_or(a->resource_version, "none"), "1");
	if (conflicts++ > 0) {
		b->evict = played_evict;
		played_evict(b, a, o);
		return;
	}
	b->evictions--;
	o->fault.kind = FAULT_CONFLICT;
	o->fault.status = 409;
}

/* It is evicted as it was judged; where it is another one by now it is judged anew. */
Test(rolls_between, who_is_not_ready_goes_only_as_he_was)
{
	struct played p;
	converted(&p, 2);
	struct played_pod *it = any_pod(&p);
	p.sick = true;
	it->ready = false;
	show_all(&p);
	conflicts = 0;
	p.bed->evict = evict_as_judged;
	p.percent = 40;
	for (int i = 0; i < 200 && conflicts == 0; i++) {
		played_pass(&p, true);
	}
	cr_assert_eq(conflicts, 1);
	cr_expect(it->there);
	played_run(&p, 2);
	cr_expect_eq(conflicts, 2);
	cr_expect_eq(p.bed->evictions, 1);
	cr_expect_not(it->there && it->milli == 300);
	bed_free(p.bed);
}

/* What healing added is what did not do. */
Test(rolls_between, what_is_rolled_back_while_it_heals_stays_so)
{
	struct played p;
	converted(&p, 2);
	cr_assert_eq(bed_told(p.bed, WEB)->containers[0].target.mib, 7168);
	p.sick = true;
	struct played_pod *it = any_pod(&p);
	it->oom_ms = p.bed->now.policy_ms;
	played_show(&p, it);
	played_run(&p, 10);
	cr_assert_gt(bed_told(p.bed, WEB)->containers[0].target.mib, 7168);
	cr_assert_eq(p.bed->evictions, 1);
	for (int i = 0; i < 200 && bed_told(p.bed, WEB)->last_update.result != UPDATE_ROLLED_BACK;
		i++) {
		played_pass(&p, true);
	}
	cr_assert_eq(bed_told(p.bed, WEB)->last_update.result, UPDATE_ROLLED_BACK);
	played_run(&p, 5);
	cr_expect_eq(bed_told(p.bed, WEB)->containers[0].target.mib, 7168);
	cr_expect_eq(bed_told(p.bed, WEB)->healing.kind, HEALING_NONE);
	cr_expect(strstr(p.bed->reasons, "HealingEnded") != NULL, "%s", p.bed->reasons);
	played_run(&p, 60);
	cr_expect_eq(bed_told(p.bed, WEB)->containers[0].target.mib, 7168);
	bed_free(p.bed);
}

/* It failed before somebody was in need, and makes way for one that has more. */
Test(rolls_between, what_failed_and_makes_way_is_told_as_failed)
{
	struct played p;
	converted(&p, 2);
	p.sick = true;
	p.percent = 40;
	for (int i = 0; i < 200 && p.bed->evictions == 0; i++) {
		played_pass(&p, true);
	}
	cr_assert_eq(p.bed->evictions, 1);
	struct played_pod *it = any_pod(&p);
	for (size_t i = 0; i < PLAYED_PODS; i++) {
		it = p.pods[i].there && !p.pods[i].ready ? &p.pods[i] : it;
	}
	cr_assert_not(it->ready);
	/* one restart, and it was counted */
	struct rollout_record *m = sized_find(&p.bed->sizer->tracking, "team", WEB)->roll;
	cr_assert_eq(m->roll.doing, ROLL_EVICT);
	m->roll.restarts = m->roll.failures = 1;
	m->result = UPDATE_FAILED;
	it->oom_ms = p.bed->now.policy_ms;
	played_show(&p, it);
	p.bed->reasons[0] = '\0';
	for (int i = 0; i < 40 && p.bed->evictions == 1; i++) {
		played_pass(&p, true);
		cr_expect_neq(bed_told(p.bed, WEB)->last_update.result, UPDATE_SUCCEEDED);
	}
	cr_expect_eq(p.bed->evictions, 2);
	cr_expect_null(strstr(p.bed->reasons, "PodReplaced "), "%s", p.bed->reasons);
	bed_free(p.bed);
}

/* Somebody deleted its GPURecommendation, with which the replacement was forgotten; the surge goes
 * on. */
Test(rolls_between, nobody_goes_while_a_surge_goes_on)
{
	struct played p;
	played_init(&p, "Deployment", 2);
	static struct surge surge;
	struct sized_workload *x = sized_find(&p.bed->sizer->tracking, "team", WEB);
	x->surge = &surge;
	played_automate(&p);
	played_run(&p, 10);
	cr_expect_eq(p.bed->evictions, 0);
	x->surge = NULL;
	played_run(&p, 2);
	cr_expect_eq(p.bed->evictions, 1);
	bed_free(p.bed);
}

/* What was read of an owner is not too old by the time that it is asked for. */
Test(rolls_between, rounds_may_be_longer_than_a_reading_holds)
{
	struct played p;
	played_init(&p, "Deployment", 2);
	p.bed->sizer->tracking.config.round_ms = 90000;
	played_automate(&p);
	played_run(&p, 10);
	cr_expect_geq(p.bed->evictions, 1);
	bed_free(p.bed);
}

Test(rolls_between, a_pod_goes_as_soon_as_its_owner_is_read)
{
	struct played p;
	played_init(&p, "Deployment", 2);
	played_automate(&p);
	int before = p.bed->readings;
	for (int i = 0; i < 20 && p.bed->readings == before; i++) {
		played_pass(&p, true);
	}
	cr_assert_eq(p.bed->evictions, 0);
	cr_expect_eq(sizer_deadline(p.bed->sizer), 0);
	bed_step(p.bed);
	cr_expect_eq(p.bed->evictions, 1);
	cr_expect_gt(sizer_deadline(p.bed->sizer), p.bed->now.mono_ms);
	bed_free(p.bed);
}

static bool busy;

static bool evicts(void *data, const char *uid)
{
	(void)data;
	return busy && uid[0] != '\0';
}

/* One that is never Ready has been replaced, and should make way. */
static void rolled_back(struct played *p)
{
	played_init(p, "Deployment", 2);
	p->sick = true;
	played_automate(p);
	for (int i = 0; i < 200 && p->bed->evictions == 0; i++) {
		played_pass(p, true);
	}
	busy = true;
	p->bed->sizer->tracking.config.engine.evicts = evicts;
	for (int i = 0; i < 200 && bed_told(p->bed, WEB)->last_update.result != UPDATE_ROLLED_BACK;
		i++) {
		played_pass(p, true);
	}
	played_run(p, 5);
	cr_assert_eq(bed_told(p->bed, WEB)->last_update.result, UPDATE_ROLLED_BACK);
}

Test(rolls_between, nobody_makes_way_while_the_engine_takes_one_of_them)
{
	struct played p;
	rolled_back(&p);
	cr_expect_eq(p.bed->evictions, 1);
	busy = false;
	played_run(&p, 2);
	cr_expect_eq(p.bed->evictions, 2);
	cr_expect_eq(p.bed->sizer->rollouts.fleet.flights.count, 0);
	bed_free(p.bed);
}

/* A pod that restarts all the time is soon another one than was judged. */
Test(rolls_between, who_did_not_make_way_is_not_counted)
{
	struct played p;
	rolled_back(&p);
	conflicts = -2;
	p.bed->evict = evict_as_judged;
	busy = false;
	played_run(&p, 60);
	cr_expect_eq(conflicts, 2, "three that changed meanwhile");
	cr_expect_eq(p.bed->evictions, 2);
	bed_free(p.bed);
}

Test(rolls_between, u11_nobody_makes_way_without_a_webhook)
{
	struct played p;
	rolled_back(&p);
	p.seen_ms = p.bed->now.policy_ms - 60000;
	busy = false;
	played_run(&p, 5);
	cr_expect_eq(p.bed->evictions, 1);
	p.seen_ms = 0;
	played_run(&p, 2);
	cr_expect_eq(p.bed->evictions, 2);
	bed_free(p.bed);
}

Test(rolls_between, u15_nobody_makes_way_while_its_owner_moves)
{
	struct played p;
	rolled_back(&p);
	p.bed->standing.course = STANDING_MOVES;
	busy = false;
	played_run(&p, 5);
	cr_expect_eq(p.bed->evictions, 1);
	bed_free(p.bed);
}

/* What kept them is over, and nothing but the owner tells so. */
Test(rolls_between, the_owner_is_read_again_until_somebody_makes_way)
{
	struct played p;
	rolled_back(&p);
	p.bed->standing.course = STANDING_MOVES;
	busy = false;
	played_run(&p, 5);
	int readings = p.bed->readings;
	played_run(&p, 60);
	cr_expect_leq(p.bed->readings, readings + 31, "every two minutes");
	cr_assert_eq(p.bed->evictions, 1);
	p.bed->standing.course = STANDING_STEADY;
	played_run(&p, 4);
	cr_expect_eq(p.bed->evictions, 2);
	bed_free(p.bed);
}

Test(rolls_between, an_owner_that_could_not_be_read_is_read_again_until_somebody_makes_way)
{
	struct played p;
	rolled_back(&p);
	p.bed->owner_fails = FAULT_TRANSIENT;
	p.bed->owner_status = 500;
	busy = false;
	played_run(&p, 5);
	cr_assert_eq(p.bed->evictions, 1);
	p.bed->owner_fails = FAULT_NONE;
	played_run(&p, 4);
	cr_expect_eq(p.bed->evictions, 2);
	bed_free(p.bed);
}

Test(rolls_between, who_is_excluded_after_a_rollback_is_left_alone)
{
	struct played p;
	rolled_back(&p);
	p.excluded = true;
	show_all(&p);
	busy = false;
	played_run(&p, 10);
	cr_expect_eq(p.bed->evictions, 1);
	cr_expect_str_eq(bed_reason(p.bed, WEB, RECOMMENDATION_PAUSED), "absent");
	bed_free(p.bed);
}

Test(rolls_between, nobody_goes_while_the_engine_takes_one_of_them)
{
	struct played p;
	played_init(&p, "Deployment", 2);
	busy = true;
	p.bed->sizer->tracking.config.engine.evicts = evicts;
	played_automate(&p);
	played_run(&p, 10);
	cr_expect_eq(p.bed->evictions, 0);
	busy = false;
	played_run(&p, 2);
	cr_expect_eq(p.bed->evictions, 1);
	bed_free(p.bed);
}
