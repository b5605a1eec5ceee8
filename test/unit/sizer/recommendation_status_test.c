/* What is worth a write, and what a status says. */
#include "bed.h"
#include "recommendation_status.h"

static struct recommended_container container = {.name = "main", .target = {300, 7168}};

static struct recommendation sample(void)
{
	struct recommendation r = {.name = "x",
		.policy = {"p", 1, "Selector"},
		.containers = &container,
		.container_count = 1};
	r.conditions[RECOMMENDATION_HISTORY_SUFFICIENT] =
		(struct recommended_condition){CONDITION_TRUE, "Sufficient", "", 1000};
	return r;
}

Test(say, figures_are_not_urgent)
{
	struct recommendation a = sample(), c = sample();
	c.history.samples = 7;
	c.pods.total = 3;
	cr_expect_eq(say_digest(&a, true), say_digest(&c, true));
	cr_expect_neq(say_digest(&a, false), say_digest(&c, false));
}

Test(say, targets_conditions_and_the_policy_are)
{
	struct recommendation a = sample(), c = sample();
	struct recommended_container other = container;
	other.target.milli = 400;
	c.containers = &other;
	cr_expect_neq(say_digest(&a, true), say_digest(&c, true));
	c = sample();
	c.policy.generation = 2;
	cr_expect_neq(say_digest(&a, true), say_digest(&c, true));
	c = sample();
	c.conditions[RECOMMENDATION_HISTORY_SUFFICIENT].reason = "Stale";
	cr_expect_neq(say_digest(&a, true), say_digest(&c, true));
}

Test(say, a_target_that_is_not_applied_is_a_figure)
{
	struct recommendation a = sample(), c = sample();
	struct recommended_container other = container;
	a.conditions[RECOMMENDATION_HISTORY_SUFFICIENT] =
		(struct recommended_condition){CONDITION_FALSE, "Learning", "", 1000};
	c.conditions[RECOMMENDATION_HISTORY_SUFFICIENT] =
		a.conditions[RECOMMENDATION_HISTORY_SUFFICIENT];
	other.target.milli = 400;
	c.containers = &other;
	cr_expect_eq(say_digest(&a, true), say_digest(&c, true));
	cr_expect_neq(say_digest(&a, false), say_digest(&c, false));
}

Test(say, what_is_rounded_when_written_is_the_same)
{
	struct recommendation a = sample(), c = sample();
	struct recommended_container fine = container, written = container;
	fine.allocated = (struct share){333, 7168};
	fine.allocated_pods = written.allocated_pods = 1;
	written.allocated = (struct share){330, 7168};
	fine.usage.last_sample_ms = 1999;
	written.usage.last_sample_ms = 1000;
	a.containers = &fine;
	c.containers = &written;
	cr_expect_eq(say_digest(&a, false), say_digest(&c, false));
}

Test(say, the_order_of_containers_does_not_matter)
{
	struct recommended_container ab[] = {container, {.name = "b"}};
	struct recommended_container ba[] = {{.name = "b"}, container};
	struct recommendation a = sample(), c = sample();
	a.containers = ab;
	c.containers = ba;
	a.container_count = c.container_count = 2;
	cr_expect_eq(say_digest(&a, false), say_digest(&c, false));
}

Test(say, a_condition_keeps_its_time_while_it_stays)
{
	struct bed *b = bed_new();
	bed_pod(b, "web", "web-1", 1);
	bed_run(b, NULL, 0, 0, 3);
	int64_t since = bed_told(b, "deployment-web")->conditions[RECOMMENDATION_READY].since_ms;
	cr_expect_gt(since, 0);
	bed_run(b, "web-1", 20, 6144, 10);
	cr_expect_eq(
		bed_told(b, "deployment-web")->conditions[RECOMMENDATION_READY].since_ms, since);
	bed_run(b, "web-1", 20, 6144, 25);
	cr_expect_gt(
		bed_told(b, "deployment-web")->conditions[RECOMMENDATION_READY].since_ms, since);
	bed_free(b);
}
