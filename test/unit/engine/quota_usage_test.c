/* C7: shares and whole GPUs of a namespace together stay within its ResourceQuotas. */
#include "../often.h"
#include "cluster.h"

static void set_quota(struct cluster *c, const char *name, int64_t hard, const char *class)
{
	struct term scope = {"PriorityClass", TERM_IN, &class, 1};
	struct quota q = {"default", name, true, hard, {&scope, class != NULL ? 1 : 0}};
	struct change set = {.type = CHANGE_SET, .kind = KIND_QUOTA, .quota = &q};
	engine_observe(c->e, &set);
}

static void whole_pod(struct cluster *c, const char *name, int64_t gpus, const char *class)
{
	struct pod p = {.ns = "default",
		.name = name,
		.uid = name,
		.gpus = gpus,
		.priority_class = class,
		.phase = POD_PENDING};
	struct change set = {.type = CHANGE_SET, .kind = KIND_POD, .pod = &p};
	engine_observe(c->e, &set);
}

static void whole_gone(struct cluster *c, const char *name)
{
	struct change gone = {
		.type = CHANGE_GONE, .kind = KIND_POD, .ns = "default", .name = name, .uid = name};
	engine_observe(c->e, &gone);
}

static uint32_t waiting(struct cluster *c, enum reason reason)
{
	return engine_report(c->e)->by_reason[reason];
}

/* What was told to tenants that are there. */
static int64_t told(struct cluster *c)
{
	int64_t milli = 0;
	for (int i = 0; i < PODS_MAX; i++) {
		const struct obj *o = &c->pods[i];
		milli += o->exists && !o->capacity && !o->gated ? o->milli : 0;
	}
	return milli;
}

/* Given on a node where nothing is given any more, and not told: a leader that sees the node open
 * again tells it. */
Test(quota, c7_what_may_be_told_again_is_nobody_elses)
{
	struct cluster *c = cluster_new(2, 1, 1);
	set_quota(c, "gpus", 1500, NULL);
	arrive(c, "x", 500);
	run_for(c, 2000);
	arrive(c, "a", 600);
	while (c->grants < 2) {
		turn(c);
	}
	cr_assert_eq(c->places, 1);
	const char *other = strcmp(find(c, "x")->node, "n0") == 0 ? "n1" : "n0";
	tell_node(c, other, true);
	arrive(c, "b", 450);
	run_for(c, 15000);
	cr_assert(find(c, "b")->gated, "there is room beside x, and 1.10 GPU of 1.50 are promised");
	cr_assert_eq(waiting(c, REASON_QUOTA), 1);
	tell_node(c, other, false);
	run_for(c, 15000);
	cr_assert_eq(told(c), 1100);
	cluster_free(c);
}

Test(quota, c7_tenants_of_one_step_share_one_quota)
{
	struct cluster *c = cluster_new(2, 4, 1);
	set_quota(c, "gpus", 1000, NULL);
	arrive(c, "a", 400);
	arrive(c, "b", 400);
	arrive(c, "c", 400);
	run_for(c, 15000);
	cr_assert_eq(placed(c), 2);
	cr_assert_eq(waiting(c, REASON_QUOTA), 1);
	cr_assert_str_eq(c->said,
		"needs 0.40 GPU, more than a ResourceQuota of the namespace has left: gpus allows "
		"1 GPU, 0.80 GPU of it taken");
	/* One that fits what is left passes it by. */
	arrive(c, "d", 200);
	run_for(c, 2000);
	cr_assert_eq(placed(c), 3);
	cr_assert_eq(told(c), 1000);
	leave(c, find(c, "a"));
	run_for(c, 5000);
	cr_assert_eq(placed(c), 3);
	cr_assert_not(find(c, "c")->gated);
	cluster_free(c);
}

/* No GPU is opened for whom the quota stops. */
Test(quota, c7_whole_gpus_count_and_nothing_is_opened_in_vain)
{
	struct cluster *c = cluster_new(1, 4, 1);
	set_quota(c, "gpus", 2000, NULL);
	whole_pod(c, "w", 2, NULL);
	arrive(c, "a", 100);
	run_for(c, 12000);
	cr_assert_eq(c->creates, 0);
	cr_assert_eq(waiting(c, REASON_QUOTA), 1);
	cr_assert(strstr(c->said, "gpus allows 2 GPU, 2 GPU of it taken") != NULL, "%s", c->said);
	whole_gone(c, "w");
	run_for(c, 3000);
	cr_assert_eq(placed(c), 1);
	cluster_free(c);
}

Test(quota, c7_zero_lowered_and_lifted)
{
	struct cluster *c = cluster_new(1, 4, 1);
	arrive(c, "a", 700);
	run_for(c, 3000);
	cr_assert_eq(placed(c), 1);
	/* What is given stays. */
	set_quota(c, "gpus", 500, NULL);
	arrive(c, "b", 100);
	run_for(c, 12000);
	cr_assert_eq(placed(c), 1);
	cr_assert_eq(waiting(c, REASON_QUOTA), 1);
	set_quota(c, "gpus", 0, NULL);
	run_for(c, 1000);
	cr_assert_eq(waiting(c, REASON_QUOTA), 1);
	struct change gone = {
		.type = CHANGE_GONE, .kind = KIND_QUOTA, .ns = "default", .name = "gpus"};
	engine_observe(c->e, &gone);
	run_for(c, 3000);
	cr_assert_eq(placed(c), 2);
	cluster_free(c);
}

Test(quota, c7_a_scope_that_does_not_cover_binds_nobody)
{
	struct cluster *c = cluster_new(1, 4, 1);
	set_quota(c, "high", 0, "high");
	set_quota(c, "all", 2000, NULL);
	whole_pod(c, "w", 1, "high");
	arrive(c, "a", 600);
	arrive(c, "b", 600);
	run_for(c, 12000);
	cr_assert_eq(placed(c), 1);
	cr_assert(strstr(c->said, "all allows 2 GPU, 1.60 GPU of it taken") != NULL, "%s", c->said);
	cluster_free(c);
}

/* Deleted by force, so that its containers may run: its share is held, and so is its quota. */
Test(quota, c22_a_held_share_still_counts)
{
	struct cluster *c = cluster_new(1, 4, 1);
	set_quota(c, "gpus", 1000, NULL);
	arrive(c, "a", 600);
	run_for(c, 3000);
	cr_assert_eq(placed(c), 1);
	struct obj *a = find(c, "a");
	a->exists = false;
	a->rv = ++c->rv;
	publish(c, a);
	arrive(c, "b", 600);
	run_for(c, 280000);
	cr_assert_eq(placed(c), 0);
	cr_assert_eq(waiting(c, REASON_QUOTA), 1);
	run_for(c, 40000);
	cr_assert_eq(placed(c), 1);
	cluster_free(c);
}

/* What memory comes to is known on a GPU only: half of one is half of the quota of one. */
Test(quota, c7_memory_is_charged_as_what_it_comes_to)
{
	struct cluster *c = cluster_new(1, 1, 1);
	set_quota(c, "gpus", 400, NULL);
	struct pair label = {LABEL_TENANT, "true"};
	struct pair notes[] = {{NOTE_MEMORY, "39Gi"}, {NOTE_ORIGINAL, "{}"}};
	const char *gates[] = {NAME_GATE};
	struct pod p = {.ns = "default",
		.name = "m",
		.uid = "m",
		.resource_version = "1",
		.labels = {&label, 1},
		.notes = {notes, 2},
		.gates = gates,
		.gate_count = 1};
	pairs_sort(&p.notes);
	struct change set = {.type = CHANGE_SET, .kind = KIND_POD, .pod = &p};
	arrive(c, "opens", 100);
	run_for(c, 3000);
	engine_observe(c->e, &set);
	int grants = c->grants;
	run_for(c, 3000);
	cr_assert_eq(c->grants, grants);
	cr_assert_eq(waiting(c, REASON_QUOTA), 1);
	set_quota(c, "gpus", 700, NULL);
	run_for(c, 500);
	cr_assert_gt(c->grants, grants);
	cluster_free(c);
}

/* Late watches, lost answers, failed writes, other leaders: what tenants were told stays within. */
Test(quota, c7_holds_whatever_is_late_or_lost)
{
	for (uint64_t seed = 1; seed <= OFTEN(60); seed++) {
		struct cluster *c = cluster_new(2, 4, seed);
		c->delay_ms = (int)rng_below(&c->rng, 2000);
		c->lose_percent = (int)rng_below(&c->rng, 30);
		c->fail_percent = (int)rng_below(&c->rng, 30);
		set_quota(c, "gpus", 2000, NULL);
		set_quota(c, "wide", 3000, NULL);
		for (int i = 0; i < 12; i++) {
			char name[16];
			snprintf(name, sizeof name, "t%d", i);
			arrive(c, name, 100 + (int64_t)rng_below(&c->rng, 8) * 50);
			for (int k = 0; k < 30; k++, c->now += 50) {
				turn(c);
				cr_assert_leq(told(c), 2000, "seed %d", (int)seed);
			}
		}
		for (int k = 0; k < 1500; k++, c->now += 50) {
			turn(c);
			cr_assert_leq(told(c), 2000, "seed %d", (int)seed);
		}
		/* Nothing that fits is left out. */
		int64_t least = 1000;
		for (int i = 0; i < PODS_MAX; i++) {
			const struct obj *o = &c->pods[i];
			bool waits = o->exists && !o->capacity && o->gated;
			least = waits && o->ask_milli < least ? o->ask_milli : least;
		}
		cr_assert(least == 1000 || told(c) + least > 2000, "seed %d: %d told", (int)seed,
			(int)told(c));
		cluster_free(c);
	}
}
