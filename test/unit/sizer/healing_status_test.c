/* How healing is told. */
#include "bed.h"
#include "healing_status.h"

#define WEB "deployment-web"

static struct bed *healed_in(enum policy_mode mode)
{
	struct bed *b = bed_new();
	b->mode = mode;
	bed_policy(b);
	bed_pod(b, "web", "whole", 1);
	bed_turn(b);
	bed_run(b, "whole", 20, 7100, 35);
	bed_pod_gone(b, "whole");
	bed_tenant(b, "web", "t", 300, 8192);
	bed_turn(b);
	b->oom_ms = b->now.policy_ms;
	bed_tenant(b, "web", "t", 300, 8192);
	bed_turn(b); /* it is seen, */
	bed_turn(b); /* its neighbours are looked at, */
	bed_turn(b); /* and it is healed */
	return b;
}

static struct bed *healed(void)
{
	return healed_in(MODE_AUTOMATE);
}

Test(heals_say, sentences_name_the_container_the_figures_and_until_when)
{
	struct bed *b = healed();
	const struct recommendation *r = bed_told(b, WEB);
	const struct recommended_condition *c = &r->conditions[RECOMMENDATION_HEALING];
	cr_expect_not_null(strstr(c->message, "main: it has more than is recommended, until 2026-"),
		"%s", c->message);
	c = &r->conditions[RECOMMENDATION_SCALE_DOWN_BLOCKED];
	cr_expect_str_eq(c->reason, "Healing");
	cr_expect_not_null(
		strstr(c->message, "main: nothing shrinks before 2026-"), "%s", c->message);
	cr_expect_eq(r->conditions[RECOMMENDATION_PAUSED].status, CONDITION_ABSENT);
	cr_expect_eq(r->conditions[RECOMMENDATION_CONTENTION].status, CONDITION_ABSENT);
	cr_expect_eq(r->conditions[RECOMMENDATION_LEAK_SUSPECTED].status, CONDITION_ABSENT);
	bed_free(b);
}

Test(heals_say, an_event_says_what_it_had_and_what_it_gets)
{
	struct bed *b = healed();
	cr_expect_not_null(strstr(b->reasons, "HealingStarted "), "%s", b->reasons);
	cr_expect_not_null(
		strstr(b->started,
			"main: it ran out of GPU memory, of which it had 8Gi: the "
			"target is 30% and 9984Mi now, and nothing shrinks before 2026-"),
		"%s", b->started);
	bed_free(b);
}

/* A policy that was set back to Recommend leaves tenants as they are. */
Test(heals_say, what_is_only_recommended_is_told_as_no_more)
{
	struct bed *b = healed_in(MODE_RECOMMEND);
	cr_expect_not_null(strstr(b->reasons, "HealingStarted "), "%s", b->reasons);
	cr_expect_not_null(
		strstr(b->started, "of which it had 8Gi: 30% and 9984Mi is recommended now, and "
				   "nothing less before 2026-"),
		"%s", b->started);
	cr_expect_not_null(
		strstr(b->started, "; its policy applies nothing, and what it has stays"), "%s",
		b->started);
	cr_expect_null(strstr(b->started, "the target is"), "%s", b->started);
	bed_free(b);
}

Test(heals_say, it_is_written_once)
{
	struct bed *b = healed();
	int writes = b->statuses;
	bed_tenant(b, "web", "t", 300, 9984);
	b->reasons[0] = '\0';
	for (int i = 0; i < 5; i++) {
		bed_turn(b);
	}
	cr_expect_leq(b->statuses - writes, 2, "%d", b->statuses - writes);
	cr_expect_null(strstr(b->reasons, "HealingStarted"));
	bed_free(b);
}
