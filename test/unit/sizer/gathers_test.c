/* What groups take, as each round counts it. */
#include "bed.h"

static void group(struct bed *b, const char *name, const char *pattern)
{
	struct group_rule rule = {
		.owner_group = "apps", .owner_kind = "Deployment", .owner_name_regex = pattern};
	struct workload_group g = {.name = name,
		.rules = &rule,
		.rule_count = 1,
		.key_from = GROUP_KEY_CONSTANT,
		.key_name = "all"};
	struct change c = {.type = CHANGE_SET, .kind = KIND_GROUP, .group = &g};
	cr_assert(groups_apply(b->groups, &c));
}

static struct sizer_gathered gathered(struct bed *b, const char *name)
{
	struct sizer_gathered g;
	cr_assert(sizer_gathers(b->sizer, name, &g));
	return g;
}

Test(gathers, o9_pods_and_workloads_of_a_group_are_counted)
{
	struct bed *b = bed_new();
	struct sizer_gathered g;
	group(b, "nightly", "^night-");
	cr_expect_not(sizer_gathers(b->sizer, "nightly", &g), "no round has ended");
	bed_pod(b, "night-a", "a", 1);
	bed_pod(b, "night-b", "b", 1);
	bed_pod(b, "web", "w", 1);
	bed_turn(b);
	cr_expect_eq(gathered(b, "nightly").pods, 2);
	cr_expect_eq(gathered(b, "nightly").workloads, 1);
	cr_expect_eq(gathered(b, "other").pods, 0);
	bed_pod_gone(b, "a");
	bed_turn(b);
	cr_expect_eq(gathered(b, "nightly").pods, 1);
	bed_pod_gone(b, "b");
	bed_turn(b);
	cr_expect_eq(gathered(b, "nightly").workloads, 0);
	bed_free(b);
}
