/* Who is replaced for another share, and who gets it where he is. */
#include "played.h"

#include "rollouts/roll_record.h"
#include "tracking/workload_table.h"

/* Two tenants of 30 % and 7 GiB, made from whole pods. */
static void converted(struct played *p)
{
	played_init(p, "Deployment", 2);
	p->bed->resize_status.state = SHARE_HELD;
	played_automate(p);
	played_run(p, 40);
	cr_assert_eq(p->bed->evictions, 2);
	cr_assert_eq(played_whole(p), 0);
	p->bed->evictions = 0;
}

static void show_all(struct played *p)
{
	for (size_t i = 0; i < PLAYED_PODS; i++) {
		if (p->pods[i].there) {
			played_show(p, &p->pods[i]);
		}
	}
}

static void grow(struct played *p)
{
	show_all(p);
	p->percent = 40;
	played_run(p, 60);
}

Test(asks, in_mode_none_it_gets_it_where_it_is)
{
	struct played p;
	converted(&p);
	grow(&p);
	cr_expect_eq(p.bed->evictions, 0);
	cr_expect_eq(p.bed->request.milli, 550);
	bed_free(p.bed);
}

Test(asks, a_limit_of_mps_needs_another_pod)
{
	struct played p;
	converted(&p);
	p.mps = true;
	grow(&p);
	cr_expect_geq(p.bed->evictions, 2);
	cr_expect_eq(p.most_away, 1);
	for (size_t i = 0; i < PLAYED_PODS; i++) {
		cr_expect(!p.pods[i].there || p.pods[i].milli == 550);
	}
	bed_free(p.bed);
}

Test(asks, what_a_framework_was_told_needs_another_pod)
{
	struct played p;
	converted(&p);
	p.told_memory = true;
	grow(&p);
	cr_expect_eq(p.bed->evictions, 2);
	bed_free(p.bed);
}

Test(asks, who_has_no_room_moves)
{
	struct played p;
	converted(&p);
	p.bed->resize_status.state = SHARE_NO_ROOM;
	grow(&p);
	cr_expect_geq(p.bed->evictions, 2);
	bed_free(p.bed);
}

Test(asks, what_a_person_asked_for_stays)
{
	struct played p;
	converted(&p);
	p.mps = p.unadvised = true;
	bed_restart(p.bed);
	grow(&p);
	cr_expect_eq(p.bed->evictions, 0);
	bed_free(p.bed);
}

/* Training is not shrunk while it runs. */
Test(asks, a_running_one_keeps_what_it_has_where_the_policy_says_so)
{
	struct played p;
	played_init(&p, "Deployment", 2);
	p.bed->sizing.keeps_running = true;
	played_automate(&p);
	played_run(&p, 40);
	cr_expect_eq(p.bed->evictions, 0);
	bed_free(p.bed);
}

/* Nor as a client of MPS, whose limits are those that it was made with. */
Test(asks, a_running_one_with_more_than_it_needs_goes_only_where_the_policy_lets_it)
{
	for (int keeps = 0; keeps < 2; keeps++) {
		struct played p;
		converted(&p);
		p.mps = true;
		for (size_t i = 0; i < PLAYED_PODS; i++) {
			p.pods[i].milli = 600;
			p.pods[i].mib = 14336;
		}
		show_all(&p);
		p.bed->sizing.keeps_running = keeps == 1;
		bed_policy(p.bed);
		played_run(&p, 60);
		cr_expect_eq(p.bed->evictions, keeps == 1 ? 0 : 2);
		bed_free(p.bed);
	}
}

/* Its ReplicaSets are two: a person rolls something out. */
Test(asks, u15_a_rollout_of_its_own_comes_first)
{
	struct played p;
	played_init(&p, "Deployment", 2);
	struct sized_workload *x = sized_find(&p.bed->sizer->tracking, "team", "deployment-web");
	cr_assert_not_null(x);
	x->members->set = 42;
	played_automate(&p);
	played_run(&p, 10);
	cr_expect_eq(p.bed->evictions, 0);
	cr_expect_str_eq(
		bed_reason(p.bed, "deployment-web", RECOMMENDATION_UPDATE_BLOCKED), "OwnerRollout");
	bed_free(p.bed);
}

/* One pod of each of two ReplicaSets, or ReplicationControllers, of one owner. */
static void show_of(struct bed *b, const char *name, const char *set, bool config)
{
	char owner[32];
	struct pair labels[] = {{"deploymentconfig", "web"}, {"pod-template-hash", set}};
	struct container main = {.name = "main", .gpus = 1};
	snprintf(owner, sizeof owner, "web-%s", set);
	struct pod p = {.ns = "team",
		.name = name,
		.uid = name,
		.resource_version = "1",
		.node = "node",
		.phase = POD_RUNNING,
		.ready = true,
		.created_ms = BED_START,
		.labels = {config ? labels : labels + 1, 1},
		.gpu_container = "main",
		.owner = {config ? "v1" : "apps/v1",
			config ? "ReplicationController" : "ReplicaSet", owner, owner},
		.containers = &main,
		.container_count = 1,
		.gpus = 1};
	struct change c = {.kind = KIND_POD, .pod = &p};
	bed_world(b, &c);
}

static void two_sets(bool config, const char *second, const char *object)
{
	struct bed *b = bed_new();
	b->mode = MODE_AUTOMATE;
	b->rollout = (struct rollout)ROLLOUT_DEFAULT;
	b->rollout.evicts = true;
	b->rollout.min_pod_age_s = 0;
	bed_policy(b);
	show_of(b, "w-1", "1", config);
	show_of(b, "w-2", second, config);
	bed_turn(b);
	for (int i = 0; i < 140 && b->evictions == 0; i++) {
		(void)bed_use(b, "w-1", 20, 6144);
		(void)bed_use(b, "w-2", 20, 6144);
		struct roll_gate gate = {true, BED_START - HOUR_MS, b->now.policy_ms, true};
		sizer_gate(b->sizer, &gate);
		bed_pass(b, 30000 - BED_ROUND);
		bed_turn(b);
	}
	bool other = !text_equals(second, "1");
	cr_expect_eq(b->evictions, other ? 0 : 1, "%s", object);
	if (other) {
		cr_expect_str_eq(
			bed_reason(b, object, RECOMMENDATION_UPDATE_BLOCKED), "OwnerRollout");
	}
	bed_free(b);
}

Test(asks, u15_pods_of_two_sets_are_a_rollout)
{
	two_sets(false, "2", "deployment-web");
	two_sets(true, "2", "deploymentconfig-web");
	two_sets(false, "1", "deployment-web");
	two_sets(true, "1", "deploymentconfig-web");
}

/* It is afternoon there, and the healing's hold is over long before the night. */
static struct rollout_window night = {0x7f, 3 * 60, 4 * 60, "Europe/Berlin"};

static void shut(struct played *p)
{
	bed_zone(p->bed);
	p->bed->rollout.windows = &night;
	p->bed->rollout.window_count = 1;
	bed_policy(p->bed);
}

static void run_out_of_memory(struct played *p)
{
	for (size_t i = 0; i < PLAYED_PODS; i++) {
		if (p->pods[i].there && !p->pods[i].whole) {
			p->pods[i].oom_ms = p->bed->now.policy_ms;
			played_show(p, &p->pods[i]);
			return;
		}
	}
	cr_assert_fail("there is no tenant");
}

/* U17: what healing gave is taken back by the steps down, which make nobody wait less. */
Test(asks, u17_who_is_to_have_less_waits_for_a_window)
{
	struct played p;
	converted(&p);
	p.mps = true;
	show_all(&p);
	p.bed->sizing.heal_memory.hold_s = 1800;
	shut(&p);
	played_run(&p, 5);
	run_out_of_memory(&p);
	played_run(&p, 20);
	int64_t healed = bed_told(p.bed, "deployment-web")->containers[0].target.mib;
	cr_assert_gt(healed, 7168);
	cr_assert_geq(p.bed->evictions, 2);
	p.bed->evictions = 0;
	p.bed->rollout.cooldown_s = 0;
	bed_policy(p.bed);
	/* to be seen while it is healed yet, less than before */
	for (int i = 0; i < 400; i++) {
		played_pass(&p, true);
	}
	int64_t after = bed_told(p.bed, "deployment-web")->containers[0].target.mib;
	cr_expect_lt(after, healed);
	cr_expect_eq(p.bed->evictions, 0);
	bed_free(p.bed);
}

/* U17: one tenant heals, and its whole siblings wait for their window. */
Test(asks, u17_a_whole_sibling_waits_for_a_window)
{
	struct played p;
	played_init(&p, "Deployment", 3);
	p.mps = true;
	played_automate(&p);
	while (p.bed->evictions == 0) {
		played_pass(&p, true);
	}
	shut(&p);
	played_run(&p, 20);
	cr_assert_eq(p.bed->evictions, 1);
	run_out_of_memory(&p);
	played_run(&p, 20);
	cr_expect_eq(p.bed->evictions, 2, "the one in need");
	cr_expect_eq(played_whole(&p), 2);
	cr_expect_str_eq(
		bed_reason(p.bed, "deployment-web", RECOMMENDATION_UPDATE_BLOCKED), "Window");
	bed_free(p.bed);
}

/* Whoever comes next reads it there. */
Test(asks, nobody_goes_before_the_target_is_told)
{
	struct played p;
	converted(&p);
	p.mps = true;
	show_all(&p);
	p.bed->fails = true;
	p.percent = 40;
	played_run(&p, 30);
	cr_expect_eq(p.bed->evictions, 0);
	p.bed->fails = false;
	played_run(&p, 30);
	cr_expect_geq(p.bed->evictions, 2);
	bed_free(p.bed);
}

static void large_node(struct played *p, bool ready)
{
	struct pair label = {"nvidia.com/gpu.memory", "81920"};
	struct node n = {.name = "node",
		.uid = "node",
		.resource_version = "2",
		.labels = {&label, 1},
		.gpus = 8,
		.pod_slots = 100,
		.ready = ready};
	struct change c = {.kind = KIND_NODE, .node = &n};
	bed_world(p->bed, &c);
}

/* The share is larger than the GPU that the old pod gives back, and there is no other one now. */
Test(asks, nobody_goes_for_a_share_that_his_own_gpu_cannot_hold)
{
	struct played p;
	played_init(&p, "Deployment", 2);
	p.bed->memory = "4096";
	bed_node(p.bed, p.pods[0].node);
	bed_node(p.bed, p.pods[1].node);
	large_node(&p, false);
	played_automate(&p);
	played_run(&p, 10);
	cr_assert_eq(bed_told(p.bed, "deployment-web")->containers[0].target.mib, 7168);
	cr_expect_eq(p.bed->evictions, 0);
	cr_expect_str_eq(bed_reason(p.bed, "deployment-web", RECOMMENDATION_UPDATE_BLOCKED),
		"NoSurgeCapacity");
	large_node(&p, true);
	played_run(&p, 10);
	cr_expect_geq(p.bed->evictions, 1);
	bed_free(p.bed);
}

/* C7: admission leaves every pod of such a namespace whole, so nobody goes for that. */
Test(asks, nobody_goes_whom_a_limit_range_keeps_whole)
{
	struct played p;
	struct limit_range range = {.ns = "team", .name = "bounds"};
	struct change c = {.kind = KIND_LIMIT_RANGE, .limit_range = &range};
	played_init(&p, "Deployment", 2);
	range.limits_gpus = true;
	bed_world(p.bed, &c);
	played_automate(&p);
	played_run(&p, 10);
	cr_expect_eq(p.bed->evictions, 0);
	cr_expect_str_eq(
		bed_reason(p.bed, "deployment-web", RECOMMENDATION_UPDATE_BLOCKED), "Unsupported");
	const char *text = bed_told(p.bed, "deployment-web")
				   ->conditions[RECOMMENDATION_UPDATE_BLOCKED]
				   .message;
	cr_expect(strstr(text, "LimitRange") != NULL, "%s", text);
	range.limits_gpus = false;
	bed_world(p.bed, &c);
	played_run(&p, 10);
	cr_expect_geq(p.bed->evictions, 1);
	bed_free(p.bed);
}

/* Its template names another scheduler, which is seen when its owner is read, before the first one
 * goes; once that is mended it goes on. */
Test(asks, nobody_goes_whom_its_template_keeps_whole)
{
	struct played p;
	struct container main = {.name = "main", .gpus = 1};
	struct pod next = {.ns = "",
		.name = "",
		.uid = "",
		.resource_version = "",
		.scheduler = "other",
		.containers = &main,
		.container_count = 1};
	played_init(&p, "Deployment", 2);
	p.bed->standing.next = &next;
	p.bed->standing.course = STANDING_STEADY;
	p.bed->standing.wanted = 2;
	played_automate(&p);
	played_run(&p, 10);
	cr_expect_eq(p.bed->evictions, 0);
	cr_expect_str_eq(
		bed_reason(p.bed, "deployment-web", RECOMMENDATION_UPDATE_BLOCKED), "Unsupported");
	const char *text = bed_told(p.bed, "deployment-web")
				   ->conditions[RECOMMENDATION_UPDATE_BLOCKED]
				   .message;
	cr_expect(strstr(text, "SchedulerName") != NULL || strstr(text, "scheduler") != NULL, "%s",
		text);
	next.scheduler = NULL;
	played_run(&p, 10);
	cr_expect_geq(p.bed->evictions, 1);
	bed_free(p.bed);
}
