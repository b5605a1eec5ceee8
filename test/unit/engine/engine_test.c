/* The engine against a small cluster in memory: cases, and random faults. */
#include "../often.h"
#include "cluster.h"

Test(engine, kai_1_one_pod_on_an_empty_node_takes_two_writes)
{
	struct cluster *c = cluster_new(1, 1, 1);
	arrive(c, "a", 250);
	run_for(c, 2000);
	cr_assert_eq(placed(c), 1);
	cr_assert_eq(c->creates, 1);
	cr_assert_eq(c->grants, 1);
	cr_assert_eq(c->places, 1);
	cr_assert_eq(find(c, "a")->mib, 20000);
	cluster_free(c);
}

Test(engine, kai_2_two_halves_share_one_gpu)
{
	struct cluster *c = cluster_new(1, 2, 1);
	arrive(c, "a", 500);
	arrive(c, "b", 500);
	run_for(c, 2000);
	cr_assert_eq(placed(c), 2);
	cr_assert_eq(c->creates, 1);
	cr_assert_eq(c->grants, 1, "both in one write");
	cr_assert_str_eq(find(c, "a")->uuid, find(c, "b")->uuid);
	cluster_free(c);
}

Test(engine, kai_3_what_does_not_fit_waits_with_its_reason)
{
	struct cluster *c = cluster_new(1, 1, 1);
	arrive(c, "a", 500);
	arrive(c, "b", 600);
	run_for(c, 20000);
	cr_assert_eq(placed(c), 1);
	cr_assert_eq(engine_report(c->e)->by_reason[REASON_SHORT_COMPUTE], 1);
	cr_assert_eq(c->creates, 1);
	cr_assert_geq(c->conditions, 1, "told after ten seconds");
	cr_assert_leq(c->conditions, 2);
	cluster_free(c);
}

Test(engine, c23_what_a_condition_said_is_corrected_at_once)
{
	struct cluster *c = cluster_new(1, 1, 1);
	arrive(c, "a", 500);
	arrive(c, "b", 600);
	run_for(c, 12000);
	cr_assert(find(c, "b")->told);
	cr_assert_eq(find(c, "b")->told_reason, REASON_SHORT_COMPUTE);
	cr_assert_eq(c->conditions, 1);
	leave(c, find(c, "a"));
	for (int i = 0; i < 400 && find(c, "b")->gated; i++) {
		run_for(c, 50);
	}
	cr_assert_not(find(c, "b")->gated);
	run_for(c, 200);
	cr_assert(find(c, "b")->told_true, "it runs and still says that it waits");
	run_for(c, 120000);
	cr_assert_eq(c->conditions, 2, "once");
	cluster_free(c);
}

Test(engine, kai_4_sixteen_halves_on_eight_gpus_at_once)
{
	struct cluster *c = cluster_new(1, 8, 1);
	char name[16];
	for (int i = 0; i < 16; i++) {
		snprintf(name, sizeof name, "t%d", i);
		arrive(c, name, 500);
	}
	run_for(c, 3000);
	cr_assert_eq(placed(c), 16);
	cr_assert_eq(c->creates, 8);
	cr_assert_eq(c->places, 16, "no retry loop");
	cluster_free(c);
}

Test(engine, a_share_that_is_left_is_given_again_and_an_idle_gpu_goes)
{
	struct cluster *c = cluster_new(1, 1, 1);
	arrive(c, "a", 700);
	run_for(c, 2000);
	arrive(c, "b", 700);
	run_for(c, 2000);
	cr_assert_eq(placed(c), 1);
	leave(c, find(c, "a"));
	run_for(c, 15000);
	cr_assert_eq(placed(c), 1);
	cr_assert_not(find(c, "b")->gated);
	leave(c, find(c, "b"));
	run_for(c, 90000);
	cr_assert_eq(c->deletes, 1, "after its grace");
	cr_assert_eq(c->creates, 1);
	cluster_free(c);
}

static void tell_policy(struct cluster *c, const char *name, int32_t grace_s)
{
	struct policy p = {.name = name,
		.generation = 1,
		.mode = MODE_AUTOMATE,
		.sizing.min_percent = 1,
		.sizing.max_percent = 100,
		.sizing.step_percent = 5,
		.max_tenants = 16,
		.idle_grace_s = grace_s};
	struct change set = {.type = CHANGE_SET, .kind = KIND_POLICY, .policy = &p};
	engine_observe(c->e, &set);
}

static void arrive_with(struct cluster *c, const char *name, const char *policy)
{
	struct obj *o = add(c, name);
	o->gated = true;
	o->ask_milli = 300;
	snprintf(o->policy, sizeof o->policy, "%s", policy);
	publish(c, o);
}

static struct cluster *cluster_with_policies(void)
{
	struct cluster *c = cluster_new(1, 1, 1);
	tell_policy(c, "long", 300);
	tell_policy(c, "short", 10);
	tell_policy(c, "none", 0);
	return c;
}

/* Everybody goes; the capacity pod must leave so long after. */
static void expect_grace(struct cluster *c, int64_t grace_ms)
{
	for (int i = 0; i < PODS_MAX; i++) {
		if (c->pods[i].exists && !c->pods[i].capacity) {
			leave(c, &c->pods[i]);
		}
	}
	run_for(c, grace_ms - 1000);
	cr_expect(grace_ms < 1000 || c->deletes == 0, "too early");
	/* An entry without its pod may count for ten seconds. */
	run_for(c, 13000);
	cr_expect_eq(c->deletes, 1, "too late");
	cluster_free(c);
}

Test(engine, c12_an_idle_gpu_stays_as_long_as_the_policy_of_its_last_tenant_says)
{
	static const struct {
		const char *policy;
		int64_t ms;
	} rows[] = {{"long", 300000}, {"short", 10000}, {"none", 0}, {"", 60000}};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct cluster *c = cluster_with_policies();
		arrive_with(c, "a", rows[i].policy);
		run_for(c, 2000);
		cr_assert_eq(placed(c), 1);
		expect_grace(c, rows[i].ms);
	}
}

Test(engine, c12_of_several_tenants_the_longest_grace_counts)
{
	struct cluster *c = cluster_with_policies();
	arrive_with(c, "a", "long");
	arrive_with(c, "b", "short");
	run_for(c, 2000);
	arrive_with(c, "d", "none");
	run_for(c, 2000);
	cr_assert_eq(placed(c), 3);
	expect_grace(c, 300000);
	/* Without a GPUPolicy the configuration's counts. */
	c = cluster_with_policies();
	arrive_with(c, "a", "short");
	arrive_with(c, "b", "");
	run_for(c, 2000);
	expect_grace(c, 60000);
}

Test(engine, c12_who_left_before_the_last_grant_no_longer_counts)
{
	struct cluster *c = cluster_with_policies();
	arrive_with(c, "a", "long");
	run_for(c, 2000);
	leave(c, find(c, "a"));
	run_for(c, 15000);
	arrive_with(c, "b", "short");
	run_for(c, 2000);
	cr_assert_eq(placed(c), 1);
	expect_grace(c, 10000);
}

Test(engine, c12_a_new_leader_knows_the_grace_of_those_that_run)
{
	struct cluster *c = cluster_with_policies();
	arrive_with(c, "a", "long");
	run_for(c, 2000);
	start_engine(c);
	tell_policy(c, "long", 300);
	run_for(c, 2000);
	expect_grace(c, 300000);
}

Test(engine, decides_nothing_while_it_does_not_lead)
{
	struct cluster *c = cluster_new(1, 1, 1);
	struct change follow = {.type = CHANGE_LEADER, .leads = false};
	engine_observe(c->e, &follow);
	arrive(c, "a", 500);
	run_for(c, 2000);
	cr_assert_eq(c->creates, 0);
	cluster_free(c);
}

Test(engine, c8_the_policy_of_now_bounds_what_the_webhook_wrote)
{
	struct cluster *c = cluster_new(1, 2, 1);
	struct policy p = {.name = "small",
		.generation = 1,
		.priority = 100,
		.has_selector = true,
		.pods = {.present = true},
		.mode = MODE_AUTOMATE,
		.sizing.min_percent = 1,
		.sizing.max_percent = 30,
		.sizing.step_percent = 5,
		.max_tenants = 2};
	struct change set = {.type = CHANGE_SET, .kind = KIND_POLICY, .policy = &p};
	engine_observe(c->e, &set);
	arrive(c, "a", 900);
	arrive(c, "b", 900);
	arrive(c, "d", 900);
	run_for(c, 3000);
	cr_assert_eq(placed(c), 3);
	cr_assert_eq(find(c, "a")->milli, 300);
	cr_assert_str_eq(find(c, "a")->uuid, find(c, "b")->uuid);
	cr_assert_str_neq(find(c, "a")->uuid, find(c, "d")->uuid, "two tenants a GPU at most");
	cluster_free(c);
}

Test(engine, c8_who_asks_for_compute_does_not_get_more_memory_than_allowed)
{
	struct cluster *c = cluster_new(1, 1, 1);
	struct policy p = {.name = "lean",
		.generation = 1,
		.has_selector = true,
		.pods = {.present = true},
		.mode = MODE_AUTOMATE,
		.sizing.min_percent = 1,
		.sizing.max_percent = 100,
		.sizing.max_mem_mib = 8000,
		.max_tenants = 16};
	struct change set = {.type = CHANGE_SET, .kind = KIND_POLICY, .policy = &p};
	engine_observe(c->e, &set);
	arrive(c, "a", 500);
	run_for(c, 3000);
	cr_assert_eq(find(c, "a")->milli, 500);
	cr_assert_eq(find(c, "a")->mib, 8000);
	cluster_free(c);
}

static int capacity_pods(struct cluster *c)
{
	int n = 0;
	for (int i = 0; i < PODS_MAX; i++) {
		n += c->pods[i].exists && c->pods[i].capacity;
	}
	return n;
}

Test(engine, c12_some_idle_ones_stay_warm)
{
	struct cluster *c = cluster_new(1, 3, 1);
	struct engine_config cfg = {.warm_gpus = 2, .idle_grace_ms = 5000, .check_every = 1};
	engine_destroy(c->e);
	c->e = engine_create(&cfg, 1);
	tell_cluster(c);
	arrive(c, "a", 900);
	arrive(c, "b", 900);
	arrive(c, "d", 900);
	run_for(c, 3000);
	cr_assert_eq(capacity_pods(c), 3);
	for (const char *const *n = (const char *const[]){"a", "b", "d", NULL}; *n != NULL; n++) {
		leave(c, find(c, *n));
	}
	run_for(c, 120000);
	cr_assert_eq(capacity_pods(c), 2, "no more than that");
	arrive(c, "f", 900);
	run_for(c, 1000);
	cr_assert_eq(placed(c), 1);
	cr_assert_eq(c->creates, 3, "one of them took it");
	/* What is of no use to anybody goes. */
	tell_node(c, "n0", true);
	run_for(c, 10000);
	cr_assert_eq(capacity_pods(c), 1);
	cluster_free(c);
}

Test(engine, the_context_of_the_configuration_is_the_smallest_share)
{
	struct cluster *c = cluster_new(1, 1, 1);
	struct engine_config cfg = {.context_mib = 2048, .check_every = 1};
	engine_destroy(c->e);
	c->e = engine_create(&cfg, 1);
	tell_cluster(c);
	arrive(c, "a", 10);
	run_for(c, 3000);
	cr_assert_eq(find(c, "a")->mib, 2048);
	cluster_free(c);
}

Test(engine, a_capacity_pod_deleted_by_hand_never_leads_to_two_shares_in_one_place)
{
	struct cluster *c = cluster_new(1, 1, 1);
	c->by_hand = true;
	arrive(c, "a", 700);
	run_for(c, 2000);
	leave(c, find(c, find(c, "a")->holder));
	arrive(c, "b", 700);
	arrive(c, "d", 200);
	run_for(c, 60000);
	cr_assert(find(c, "b")->gated, "0.7 is still taken by a tenant that runs");
	leave(c, find(c, "a"));
	run_for(c, 60000);
	cr_assert_not(find(c, "b")->gated);
	cluster_free(c);
}

/* Late watches, lost answers, refused writes, and a leader that starts anew without any memory. */
Test(engine, random_faults_never_oversell_and_always_converge)
{
	for (uint64_t seed = 1; seed <= OFTEN(60); seed++) {
		struct cluster *c = cluster_new(2, 3, seed);
		c->delay_ms = (int)rng_below(&c->rng, 2000);
		c->lose_percent = (int)rng_below(&c->rng, 30);
		c->fail_percent = (int)rng_below(&c->rng, 30);
		char name[16];
		int next = 0;
		for (int round = 0; round < 40; round++) {
			uint64_t what = rng_below(&c->rng, 10);
			if (what < 6 && next < 40) {
				snprintf(name, sizeof name, "t%d", next++);
				arrive(c, name, 50 * (1 + (int64_t)rng_below(&c->rng, 18)));
			} else if (what < 9) {
				struct obj *o = &c->pods[rng_below(&c->rng, PODS_MAX)];
				if (o->exists && !o->capacity) {
					leave(c, o);
				}
			} else {
				start_engine(c);
			}
			run_for(c, 50 * (int64_t)rng_below(&c->rng, 40));
		}
		/* The faults end; whoever fits now is placed. */
		c->lose_percent = c->fail_percent = c->delay_ms = 0;
		for (int i = 0; i < PODS_MAX; i++) {
			if (c->pods[i].exists && !c->pods[i].capacity && i % 2 == 0) {
				leave(c, &c->pods[i]);
			}
		}
		run_for(c, 400000);
		for (int i = 0; i < PODS_MAX; i++) {
			const struct obj *o = &c->pods[i];
			if (o->exists && o->gated) {
				const struct engine_report *r = engine_report(c->e);
				cr_assert(r->by_reason[REASON_SHORT_COMPUTE] +
							  r->by_reason[REASON_SHORT_MEMORY] >
						  0,
					"seed %d: %s waits without need", (int)seed, o->name);
			}
		}
		cluster_free(c);
	}
}

/* C19, I7: we wait for the gate of somebody else, and say whose. */
Test(engine, names_the_gate_that_it_waits_for)
{
	struct cluster *c = cluster_new(1, 1, 1);
	struct obj *o = add(c, "a");
	o->gated = o->other_gate = true;
	o->ask_milli = 250;
	publish(c, o);
	run_for(c, 12000);
	cr_assert_eq(c->places, 0);
	cr_assert_str_eq(c->said, "waits for another scheduling gate, example.com/quota");
	cluster_free(c);
}
