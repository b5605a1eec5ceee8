/* Shares of tenants that run are changed where they are; nothing restarts and nothing is oversold.
 */
#include "cluster.h"

static void want(struct cluster *c, const char *name, int64_t milli, int64_t mib)
{
	struct change share = {
		.type = CHANGE_SHARE, .uid = find(c, name)->uid, .milli = milli, .mem_mib = mib};
	engine_observe(c->e, &share);
}

static enum share_state state_of(struct cluster *c, const char *name)
{
	return engine_share_state(c->e, find(c, name)->uid);
}

static const struct grant_copy *entry_of(struct cluster *c, const char *name)
{
	const struct obj *t = find(c, name);
	const struct obj *h = find(c, t->holder);
	for (uint32_t i = 0; h != NULL && i < h->grant_count; i++) {
		if (strcmp(h->grants[i].uid, t->uid) == 0) {
			return &h->grants[i];
		}
	}
	return NULL;
}

static void expect_both(struct cluster *c, const char *name, int64_t milli, int64_t mib)
{
	cr_assert_not_null(entry_of(c, name));
	cr_expect_eq(find(c, name)->milli, milli);
	cr_expect_eq(find(c, name)->mib, mib);
	cr_expect_eq(entry_of(c, name)->milli, milli);
	cr_expect_eq(entry_of(c, name)->mib, mib);
	cr_expect_eq(state_of(c, name), SHARE_HELD);
}

static struct cluster *with_one(int64_t milli)
{
	struct cluster *c = cluster_new(1, 1, 1);
	arrive(c, "a", milli);
	run_for(c, 5000);
	cr_assert_eq(placed(c), 1);
	return c;
}

Test(resize, growing_takes_two_writes)
{
	struct cluster *c = with_one(300);
	int grants = c->grants;
	want(c, "a", 500, 40000);
	run_for(c, 2000);
	expect_both(c, "a", 500, 40000);
	cr_expect_eq(c->grants - grants, 1);
	cr_expect_eq(c->resizes, 1);
	cluster_free(c);
}

Test(resize, shrinking_takes_two_writes_and_frees)
{
	struct cluster *c = with_one(800);
	int grants = c->grants;
	arrive(c, "b", 500);
	run_for(c, 3000);
	cr_assert(find(c, "b")->gated);
	want(c, "a", 200, 16000);
	run_for(c, 5000);
	expect_both(c, "a", 200, 16000);
	cr_expect_not(find(c, "b")->gated, "what was freed is anybody's");
	cr_expect_eq(c->resizes, 1);
	cr_expect_leq(c->grants - grants, 2);
	cluster_free(c);
}

Test(resize, one_can_grow_while_the_other_shrinks)
{
	struct cluster *c = with_one(300);
	want(c, "a", 600, 10000);
	run_for(c, 3000);
	expect_both(c, "a", 600, 10000);
	want(c, "a", 100, 50000);
	run_for(c, 3000);
	expect_both(c, "a", 100, 50000);
	cluster_free(c);
}

Test(resize, what_does_not_fit_is_said_and_done_when_it_does)
{
	struct cluster *c = with_one(300);
	arrive(c, "b", 600);
	run_for(c, 5000);
	want(c, "a", 500, 24000);
	run_for(c, 3000);
	cr_expect_eq(state_of(c, "a"), SHARE_NO_ROOM);
	cr_expect_eq(find(c, "a")->milli, 300);
	leave(c, find(c, "b"));
	run_for(c, 5000);
	expect_both(c, "a", 500, 24000);
	cluster_free(c);
}

Test(resize, who_runs_grows_before_somebody_new_comes)
{
	struct cluster *c = with_one(300);
	arrive(c, "b", 600);
	want(c, "a", 500, 24000);
	run_for(c, 5000);
	expect_both(c, "a", 500, 24000);
	cr_expect(find(c, "b")->gated);
	cluster_free(c);
}

Test(resize, c7_a_quota_bounds_what_it_grows_to)
{
	struct cluster *c = with_one(300);
	struct quota q = {"default", "gpus", true, 400, {0}};
	struct change set = {.type = CHANGE_SET, .kind = KIND_QUOTA, .quota = &q};
	engine_observe(c->e, &set);
	want(c, "a", 500, 24000);
	run_for(c, 3000);
	cr_expect_eq(state_of(c, "a"), SHARE_QUOTA);
	want(c, "a", 400, 24000);
	run_for(c, 3000);
	expect_both(c, "a", 400, 24000);
	cluster_free(c);
}

Test(resize, clients_of_mps_are_left_as_they_are)
{
	struct cluster *c = cluster_new(1, 1, 1);
	arrive(c, "a", 300);
	find(c, "a")->mps = true;
	publish(c, find(c, "a"));
	run_for(c, 5000);
	cr_assert_not(find(c, "a")->gated);
	want(c, "a", 500, 24000);
	run_for(c, 3000);
	cr_expect_eq(state_of(c, "a"), SHARE_FIXED);
	cr_expect_eq(c->resizes, 0);
	cluster_free(c);
}

Test(resize, several_gpus_change_together)
{
	struct cluster *c = cluster_new(1, 2, 1);
	arrive(c, "a", 300);
	find(c, "a")->count = 2;
	publish(c, find(c, "a"));
	run_for(c, 8000);
	cr_assert_not(find(c, "a")->gated);
	want(c, "a", 500, 40000);
	run_for(c, 3000);
	cr_expect_eq(find(c, "a")->milli, 500);
	cr_expect_eq(state_of(c, "a"), SHARE_HELD);
	cr_expect_eq(c->resizes, 1);
	for (int i = 0; i < PODS_MAX; i++) {
		if (c->pods[i].exists && c->pods[i].capacity) {
			cr_expect_eq(c->pods[i].grants[0].milli, 500);
		}
	}
	cluster_free(c);
}

/* A leader that fell between the two writes: the one after it is told the same, or nothing. */
Test(resize, what_was_interrupted_is_finished)
{
	for (int told_again = 0; told_again < 2; told_again++) {
		struct cluster *c = with_one(300);
		want(c, "a", 500, 40000);
		int grants = c->grants;
		while (c->grants == grants) {
			turn(c);
			c->now += 50;
		}
		cr_assert_eq(c->resizes, 0);
		start_engine(c);
		if (told_again) {
			want(c, "a", 300, 24000);
		}
		run_for(c, told_again ? 3000 : 620000);
		int64_t milli = told_again ? 300 : 500;
		cr_expect_eq(find(c, "a")->milli, milli);
		cr_expect_eq(entry_of(c, "a")->milli, milli);
		cluster_free(c);
	}
}

/* Between the patch and the ledger that shrinks: it was not this process that sent it. */
Test(resize, a_ledger_shrinks_only_after_a_patch_of_ones_own)
{
	struct cluster *c = with_one(500);
	want(c, "a", 200, 16000);
	while (c->resizes == 0) {
		turn(c);
		c->now += 50;
	}
	cr_assert_eq(entry_of(c, "a")->milli, 500);
	start_engine(c);
	want(c, "a", 200, 16000);
	run_for(c, 3000);
	cr_expect_eq(c->resizes, 2);
	expect_both(c, "a", 200, 16000);
	cluster_free(c);
}

Test(resize, refusals_and_lost_answers_end_well)
{
	struct cluster *c = with_one(300);
	arrive(c, "b", 100);
	run_for(c, 5000);
	c->delay_ms = 300;
	c->lose_percent = 30;
	c->fail_percent = 30;
	for (int i = 0; i < 60; i++) {
		want(c, i % 2 ? "a" : "b", 50 + 100 * (int64_t)rng_below(&c->rng, 5),
			1000 * (1 + (int64_t)rng_below(&c->rng, 30)));
		run_for(c, 3000);
	}
	c->lose_percent = c->fail_percent = 0;
	want(c, "a", 400, 30000);
	want(c, "b", 100, 10000);
	run_for(c, 120000);
	expect_both(c, "a", 400, 30000);
	expect_both(c, "b", 100, 10000);
	cluster_free(c);
}

Test(resize, who_left_is_forgotten)
{
	struct cluster *c = with_one(300);
	const char *uid = "u2";
	want(c, "a", 500, 40000);
	cr_assert_str_eq(find(c, "a")->uid, "u1");
	struct change share = {.type = CHANGE_SHARE, .uid = uid, .milli = 100, .mem_mib = 1000};
	engine_observe(c->e, &share);
	leave(c, find(c, "a"));
	run_for(c, 70000);
	cr_expect_eq(engine_share_state(c->e, "u1"), SHARE_UNASKED);
	cluster_free(c);
}
