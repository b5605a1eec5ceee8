/* How often a status is written, and what becomes of a write that fails. */
#include "bed.h"

#define WEB "deployment-web"

Test(write, g5_figures_alone_once_a_minute)
{
	struct bed *b = bed_new();
	bed_pod(b, "web", "web-1", 1);
	bed_turn(b);
	bed_run(b, "web-1", 20, 6144, 40);
	int before = b->statuses;
	bed_run(b, "web-1", 20, 6144, 10);
	cr_expect_leq(b->statuses - before, 10);
	cr_expect_geq(b->statuses - before, 5);
	before = b->statuses;
	bed_pod_gone(b, "web-1");
	bed_run(b, NULL, 0, 0, 10);
	cr_expect_leq(b->statuses - before, 2, "nothing changes");
	bed_free(b);
}

Test(write, o8_another_policy_is_told_at_once)
{
	struct bed *b = bed_new();
	bed_pod(b, "web", "web-1", 1);
	bed_turn(b);
	bed_run(b, "web-1", 20, 6144, 3);
	b->policy_generation = 3;
	bed_policy(b);
	bed_turn(b);
	cr_expect_eq(bed_told(b, WEB)->policy.generation, 3);
	bed_free(b);
}

static struct bed *with_sixty(void)
{
	struct bed *b = bed_new();
	char name[16];
	for (int i = 0; i < 60; i++) {
		snprintf(name, sizeof name, "w%d", i);
		bed_pod(b, name, name, 1);
	}
	return b;
}

static void pass(struct bed *b, int tenths)
{
	for (int i = 0; i < tenths; i++) {
		bed_pass(b, 100);
		bed_step(b);
	}
}

Test(write, first_ones_forty_a_second)
{
	struct bed *b = with_sixty();
	bed_pass(b, BED_ROUND);
	bed_step(b);
	cr_expect_eq(b->creates, SIZER_FIRST_PER_SECOND);
	struct sizer_totals totals;
	sizer_sum(b->sizer, &totals);
	cr_expect_eq(totals.rounds, 1, "a round waits for no write");
	cr_expect_eq(totals.workloads, 60);
	pass(b, 3);
	cr_expect_geq(b->creates, 50);
	cr_expect_lt(b->creates, 60);
	pass(b, 4);
	cr_expect_eq(b->creates, 60, "between rounds");
	for (int i = 0; i < 3; i++) {
		bed_turn(b);
	}
	cr_expect_eq(b->statuses, 60);
	bed_free(b);
}

Test(write, all_others_ten_a_second)
{
	struct bed *b = with_sixty();
	for (int i = 0; i < 4; i++) {
		bed_turn(b);
	}
	int before = b->statuses;
	b->policy_generation = 3;
	bed_policy(b);
	bed_pass(b, BED_ROUND);
	bed_step(b);
	cr_expect_eq(b->statuses - before, SIZER_PER_SECOND);
	pass(b, 20);
	cr_expect_leq(b->statuses - before, 31);
	cr_expect_geq(b->statuses - before, 25);
	pass(b, 40);
	cr_expect_eq(b->statuses - before, 60);
	bed_free(b);
}

/* Where Aliquot comes to a large cluster. */
Test(write, a_new_target_waits_for_no_first_write)
{
	struct bed *b = bed_new();
	char name[16];
	bed_pod(b, "web", "web-1", 1);
	bed_turn(b);
	bed_turn(b);
	for (int i = 0; i < 60; i++) {
		snprintf(name, sizeof name, "w%d", i);
		bed_pod(b, name, name, 1);
	}
	b->policy_generation = 3;
	bed_policy(b);
	bed_pass(b, BED_ROUND);
	bed_step(b);
	cr_expect_eq(bed_told(b, WEB)->policy.generation, 3);
	cr_expect_eq(b->creates, 1 + SIZER_FIRST_PER_SECOND);
	bed_free(b);
}

Test(write, one_that_fails_waits_longer_each_time)
{
	struct bed *b = bed_new();
	bed_pod(b, "web", "web-1", 1);
	b->fails = true;
	bed_run(b, NULL, 0, 0, 5);
	cr_expect_eq(b->creates, 0);
	b->fails = false;
	bed_run(b, NULL, 0, 0, 2);
	cr_expect_eq(b->creates, 1);
	bed_free(b);
}

/* Somebody deleted it, or wrote into it. */
Test(write, what_is_there_is_brought_to_what_should_be)
{
	struct bed *b = bed_new();
	bed_pod(b, "web", "web-1", 1);
	bed_turn(b);
	bed_run(b, "web-1", 20, 6144, 35);
	bed_remove(b, WEB);
	bed_turn(b);
	bed_turn(b);
	cr_expect_eq(b->creates, 2);
	bed_turn(b);
	cr_expect_eq(bed_told(b, WEB)->containers[0].target.milli, 300);
	struct bed_object *o = bed_object(b, WEB);
	o->r.containers[0].target.milli = 900;
	bed_echo(b, o);
	bed_turn(b);
	cr_expect_eq(bed_told(b, WEB)->containers[0].target.milli, 300);
	bed_free(b);
}

Test(write, its_numbers_are_its_own)
{
	cr_expect(!sizer_owns(1));
	cr_expect(!sizer_owns(UINT64_MAX >> 1));
	cr_expect(sizer_owns((UINT64_C(1) << 63) | 1));
}
