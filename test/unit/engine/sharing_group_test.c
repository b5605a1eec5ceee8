/* Exclusivity, spreading, maxTenants and modes of isolation, by the policies of those who meet. */
#include "cluster.h"

static void set_policy(struct cluster *c, const char *name, struct policy p)
{
	p.name = name;
	p.uid = p.resource_version = "1";
	p.generation = 1;
	p.sizing.max_percent = 100;
	p.max_tenants = p.max_tenants > 0 ? p.max_tenants : 16;
	struct change set = {.type = CHANGE_SET, .kind = KIND_POLICY, .policy = &p};
	engine_observe(c->e, &set);
}

static void set_policies(struct cluster *c)
{
	set_policy(c, "alone", (struct policy){.exclusivity = EXCLUSIVITY_DEDICATED});
	set_policy(c, "same", (struct policy){.exclusivity = EXCLUSIVITY_SAME});
	set_policy(c, "mps", (struct policy){.isolation = ISOLATION_MPS});
	set_policy(c, "two", (struct policy){.max_tenants = 2});
	set_policy(c, "spread", (struct policy){.packing = PACKING_SPREAD});
}

static void arrive_under(struct cluster *c, const char *name, const char *policy, const char *owner)
{
	arrive(c, name, 100);
	struct obj *o = find(c, name);
	snprintf(o->policy, sizeof o->policy, "%s", policy);
	snprintf(o->owner, sizeof o->owner, "%s", owner);
	o->mps = strcmp(policy, "mps") == 0; /* as the webhook does */
	publish(c, o);
	run_for(c, 2000);
}

static const char *where(struct cluster *c, const char *name)
{
	return find(c, name)->uuid;
}

static bool waits(struct cluster *c, const char *name)
{
	run_for(c, 12000);
	return find(c, name)->gated;
}

static void restart(struct cluster *c)
{
	start_engine(c);
	set_policies(c);
}

Test(company, dedicated_is_alone_also_after_a_restart)
{
	struct cluster *c = cluster_new(1, 1, 1);
	set_policies(c);
	arrive_under(c, "d", "alone", "");
	cr_assert_not(find(c, "d")->gated);
	cr_assert_str_eq(find(c, "d")->applied, "alone@1");
	restart(c);
	arrive_under(c, "any", "", "");
	arrive_under(c, "e", "alone", "");
	cr_assert(waits(c, "any") && waits(c, "e"));
	cr_assert(strstr(c->said, "needs 0.10 GPU with exclusivity ") != NULL, "%s", c->said);
	cr_assert(
		strstr(c->said, "have tenants with exclusivity Dedicated, the first on n0") != NULL,
		"%s", c->said);
	cr_assert_eq(engine_report(c->e)->by_reason[REASON_EXCLUSIVE], 2);
	leave(c, find(c, "d"));
	run_for(c, 5000);
	cr_assert_not(find(c, "any")->gated, "the older one");
	cr_assert(find(c, "e")->gated);
	cluster_free(c);
}

/* Its capacity pods have a node, and do not run yet. */
static void bind_slowly(struct cluster *c)
{
	for (int i = 0; i < PODS_MAX; i++) {
		struct obj *o = &c->pods[i];
		if (o->exists && o->capacity && o->unbound) {
			o->unbound = false;
			o->rv = ++c->rv;
			publish(c, o);
		}
	}
}

/* Nobody is in the books of a GPU that is being opened, and one who was decided on keeps others off
 * it. */
Test(company, whoever_a_gpu_is_opened_for_is_named_by_its_rule)
{
	struct cluster *c = cluster_new(1, 1, 1);
	set_policies(c);
	c->refuses = 1;
	arrive_under(c, "d", "alone", "");
	bind_slowly(c);
	arrive_under(c, "any", "", "");
	for (int i = 0; i < 40 && strstr(c->said, "have tenants") == NULL; i++) {
		run_for(c, 1000);
	}
	cr_assert(strstr(c->said, "with exclusivity AnyWorkload, the GPUs with room have tenants "
				  "with exclusivity Dedicated, the first on n0") != NULL,
		"%s", c->said);
	cluster_free(c);
}

Test(company, pods_of_one_workload_meet_and_no_others)
{
	struct cluster *c = cluster_new(1, 2, 1);
	set_policies(c);
	arrive_under(c, "a", "same", "web-a");
	restart(c);
	/* Another ReplicaSet of the same Deployment. */
	arrive_under(c, "b", "same", "web-b");
	cr_assert_str_eq(where(c, "b"), where(c, "a"));
	arrive_under(c, "x", "same", "other-a");
	cr_assert(strcmp(where(c, "x"), where(c, "a")) != 0);
	restart(c);
	arrive_under(c, "y", "same", "third-a");
	cr_assert(waits(c, "y"));
	cr_assert(strstr(c->said, "SameWorkload and another workload") != NULL, "%s", c->said);
	arrive_under(c, "any", "", "web-a");
	cr_assert(waits(c, "any"), "AnyWorkload does not agree with SameWorkload");
	cluster_free(c);
}

Test(company, a_namesake_in_another_namespace_is_another_workload)
{
	struct cluster *c = cluster_new(1, 2, 1);
	set_policies(c);
	arrive_under(c, "a", "same", "web-a");
	struct obj *o = add(c, "x");
	o->gated = o->elsewhere = true;
	o->ask_milli = 100;
	snprintf(o->policy, sizeof o->policy, "same");
	snprintf(o->owner, sizeof o->owner, "web-a");
	publish(c, o);
	run_for(c, 5000);
	cr_assert_not(o->gated);
	cr_expect(strcmp(where(c, "x"), where(c, "a")) != 0);
	restart(c);
	arrive_under(c, "b", "same", "web-b");
	cr_expect_str_eq(where(c, "b"), where(c, "a"));
	cluster_free(c);
}

Test(company, modes_of_isolation_are_never_mixed)
{
	struct cluster *c = cluster_new(1, 1, 1);
	set_policies(c);
	arrive_under(c, "m", "mps", "");
	restart(c);
	arrive_under(c, "n", "mps", "");
	cr_assert_not(find(c, "n")->gated);
	arrive_under(c, "none", "", "");
	cr_assert(waits(c, "none"));
	cr_assert(strstr(c->said, "with isolation None, the GPUs with room have tenants with "
				  "isolation MPS") != NULL,
		"%s", c->said);
	cluster_free(c);
}

Test(company, a_mode_is_fixed_at_creation)
{
	struct cluster *c = cluster_new(1, 2, 1);
	set_policies(c);
	arrive_under(c, "m", "mps", "");
	/* What the policy says by now is of no moment to those who are there or wait. */
	set_policy(c, "mps", (struct policy){.isolation = ISOLATION_NONE});
	arrive_under(c, "none", "", "");
	cr_assert_not(find(c, "none")->gated);
	cr_assert(strcmp(where(c, "m"), where(c, "none")) != 0);
	arrive_under(c, "n", "mps", "");
	cr_assert_not(find(c, "n")->gated);
	cr_assert_str_eq(where(c, "m"), where(c, "n"));
	cr_assert(find(c, find(c, "m")->holder)->mps);
	cr_assert_not(find(c, find(c, "none")->holder)->mps);
	cluster_free(c);
}

Test(company, an_empty_gpu_of_the_other_mode_is_of_no_use)
{
	struct cluster *c = cluster_new(1, 2, 1);
	set_policies(c);
	arrive_under(c, "a", "", "");
	leave(c, find(c, "a"));
	run_for(c, 1000);
	restart(c);
	arrive_under(c, "m", "mps", "");
	cr_assert_not(find(c, "m")->gated);
	cr_assert_eq(c->creates, 2, "the one that is idle stays as it is");
	cr_assert(find(c, find(c, "m")->holder)->mps);
	cluster_free(c);
}

Test(company, an_idle_gpu_of_the_other_mode_goes_at_once_for_who_waits)
{
	struct cluster *c = cluster_new(1, 1, 1);
	set_policies(c);
	arrive_under(c, "a", "", "");
	leave(c, find(c, "a"));
	run_for(c, 1000);
	arrive_under(c, "m", "mps", "");
	run_for(c, 5000);
	cr_assert_not(find(c, "m")->gated, "long before the grace of the idle one is over");
	cr_assert_eq(c->deletes, 1);
	cr_assert(find(c, find(c, "m")->holder)->mps);
	/* And one that somebody uses stays. */
	arrive_under(c, "b", "", "");
	cr_assert(waits(c, "b"));
	cr_assert_eq(c->deletes, 1);
	leave(c, find(c, "m"));
	run_for(c, 5000);
	cr_assert_not(find(c, "b")->gated);
	cluster_free(c);
}

Test(company, the_smallest_number_of_tenants_holds_for_all_who_meet)
{
	struct cluster *c = cluster_new(1, 1, 1);
	set_policies(c);
	arrive_under(c, "a", "two", "");
	arrive_under(c, "b", "", "");
	restart(c);
	arrive_under(c, "c", "", "");
	cr_assert(waits(c, "c"));
	cr_assert(strstr(c->said, "have their 2 tenants") != NULL, "%s", c->said);
	leave(c, find(c, "a"));
	run_for(c, 5000);
	cr_assert_not(find(c, "c")->gated, "whose policy it was has left");
	cluster_free(c);
}

Test(company, who_spreads_opens_and_then_evens_out)
{
	struct cluster *c = cluster_new(1, 2, 1);
	set_policies(c);
	const char *const names[] = {"a", "b", "c", "d"};
	for (size_t i = 0; i < COUNT_OF(names); i++) {
		arrive_under(c, names[i], "spread", "");
		cr_assert_not(find(c, names[i])->gated);
	}
	cr_assert_eq(c->creates, 2);
	cr_assert(strcmp(where(c, "a"), where(c, "b")) != 0);
	cr_assert(strcmp(where(c, "c"), where(c, "d")) != 0);
	arrive_under(c, "e", "", "");
	cr_assert_not(find(c, "e")->gated);
	cluster_free(c);
}

/* A policy that is made stricter while its tenants share drives nobody away; nobody else comes. */
Test(company, tenants_that_came_to_disagree_stay_and_nobody_joins)
{
	struct cluster *c = cluster_new(1, 1, 1);
	set_policies(c);
	arrive_under(c, "a", "two", "");
	arrive_under(c, "b", "", "");
	set_policy(c, "two", (struct policy){.exclusivity = EXCLUSIVITY_SAME});
	arrive_under(c, "c", "", "");
	cr_assert(waits(c, "c"));
	cr_assert(strstr(c->said, "rules that do not agree") != NULL, "%s", c->said);
	cr_assert_eq(placed(c), 2);
	cluster_free(c);
}
