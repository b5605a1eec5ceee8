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
	return share_state_of(c->e, find(c, name)->uid);
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
	struct share_fate fate;
	engine_share_fate(c->e, find(c, "a")->uid, &fate);
	cr_expect_eq(fate.state, SHARE_NO_ROOM);
	cr_expect_str_eq(fate.blocker, find(c, "a")->uuid);
	cr_expect_eq(find(c, "a")->milli, 300);
	leave(c, find(c, "b"));
	run_for(c, 5000);
	expect_both(c, "a", 500, 24000);
	cluster_free(c);
}

Test(resize, of_two_that_grow_at_once_one_gets_the_last_memory)
{
	struct cluster *c = with_one(300);
	arrive(c, "b", 300);
	run_for(c, 5000);
	cr_assert_eq(placed(c), 2);
	want(c, "a", 300, 50000);
	want(c, "b", 300, 50000);
	run_for(c, 3000);
	cr_expect_leq(entry_of(c, "a")->mib + entry_of(c, "b")->mib, USABLE);
	cr_expect_eq((state_of(c, "a") == SHARE_HELD) + (state_of(c, "b") == SHARE_HELD), 1);
	cluster_free(c);
}

Test(resize, c13_nothing_grows_on_a_node_that_is_cordoned)
{
	struct cluster *c = with_one(300);
	tell_node(c, "n0", true);
	want(c, "a", 500, 24000);
	run_for(c, 5000);
	cr_expect_eq(state_of(c, "a"), SHARE_NO_ROOM);
	cr_expect_eq(entry_of(c, "a")->milli, 300);
	want(c, "a", 200, 16000);
	run_for(c, 5000);
	expect_both(c, "a", 200, 16000);
	want(c, "a", 500, 24000);
	tell_node(c, "n0", false);
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
	struct share_fate fate;
	engine_share_fate(c->e, find(c, "a")->uid, &fate);
	cr_expect_eq(fate.state, SHARE_QUOTA);
	cr_expect_str_eq(fate.blocker, "gpus");
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
	cr_expect_eq(share_state_of(c->e, "u1"), SHARE_UNASKED);
	cluster_free(c);
}

/* Somebody else has written less into the ledger than the tenant was told: what runs counts. */
Test(resize, what_it_was_told_counts_where_a_ledger_says_less)
{
	struct cluster *c = with_one(600);
	struct obj *h = find(c, find(c, "a")->holder);
	h->grants[0].milli = 100;
	h->grants[0].mib = 8000;
	h->rv = ++c->rv;
	observe(c, h);
	arrive(c, "b", 500);
	for (int i = 0; i < 100; i++, c->now += 50) {
		deliver(c);
		engine_step(c->e, (struct engine_now){c->now, c->now}, 100000, &c->plan);
		for (size_t k = 0; k < c->plan.actions.count; k++) {
			struct action a = c->plan.actions.items[k];
			apply(c, &a);
		}
	}
	cr_expect(find(c, "b")->gated, "there are 400 left");
	want(c, "a", 600, 48000);
	run_for(c, 5000);
	expect_both(c, "a", 600, 48000);
	cluster_free(c);
}

/* One GPU of two had room and was written, the other has none, and then nobody wants it any more.
 */
Test(resize, what_one_gpu_has_too_much_is_given_back)
{
	struct cluster *c = cluster_new(1, 2, 1);
	arrive(c, "a", 300);
	find(c, "a")->count = 2;
	publish(c, find(c, "a"));
	run_for(c, 8000);
	cr_assert_not(find(c, "a")->gated);
	for (int i = 0; i < PODS_MAX; i++) {
		struct obj *h = &c->pods[i];
		if (h->exists && h->capacity) {
			h->grants[0].milli = 900;
			h->rv = ++c->rv;
			publish(c, h);
			break;
		}
	}
	start_engine(c);
	run_for(c, 620000);
	arrive(c, "b", 700);
	arrive(c, "d", 700);
	run_for(c, 5000);
	cr_expect_eq(placed(c), 3);
	cr_expect_eq(find(c, "a")->milli, 300);
	cr_expect_eq(state_of(c, "a"), SHARE_UNASKED);
	cluster_free(c);
}

/* Steps; what is sent is done, but for patches of tenants, of which the last is kept. */
static bool hold_patch(struct cluster *c, struct action *ret)
{
	bool any = false;
	engine_step(c->e, (struct engine_now){c->now, c->now}, 100000, &c->plan);
	for (size_t i = 0; i < c->plan.actions.count; i++) {
		struct action a = c->plan.actions.items[i];
		if (a.type == ACTION_RESIZE) {
			*ret = a;
			any = true;
		} else {
			apply(c, &a);
		}
	}
	c->now += 50;
	return any;
}

static void lose_answer(struct cluster *c, uint64_t id)
{
	struct outcome lost = {.fault = {.kind = FAULT_TRANSIENT, .unknown_outcome = true}};
	engine_settle(c->e, (struct engine_now){c->now, c->now}, id, &lost);
}

/* Sends a patch that is held up: its version, and what it says. */
static void send_late(struct cluster *c, int64_t milli, int64_t mib)
{
	struct action late = {0};
	want(c, "a", milli, mib);
	for (int i = 0; !hold_patch(c, &late); i++) {
		cr_assert_lt(i, 1000);
		deliver(c);
	}
	cr_assert_eq(late.milli, milli);
	lose_answer(c, late.id);
}

static void lose_capacity(struct cluster *c)
{
	struct obj *h = find(c, find(c, "a")->holder);
	c->by_hand = true;
	h->exists = false;
	h->rv = ++c->rv;
	publish(c, h);
}

/* The GPU is found again by another capacity pod: its ledger has what the tenant may yet be told.
 */
static void expect_found_with(struct cluster *c, int64_t milli, int64_t mib)
{
	struct action late = {0};
	for (int i = 0; i < 400; i++) {
		deliver(c);
		(void)hold_patch(c, &late);
	}
	int found = 0;
	for (int i = 0; i < PODS_MAX; i++) {
		const struct obj *h = &c->pods[i];
		for (uint32_t k = 0; h->exists && h->capacity && k < h->grant_count; k++) {
			bool its = strcmp(h->grants[k].uid, find(c, "a")->uid) == 0;
			found += its ? 1 : 0;
			cr_expect(!its || (h->grants[k].milli >= milli && h->grants[k].mib >= mib),
				"%lld", (long long)h->grants[k].milli);
		}
	}
	cr_expect_eq(found, 1);
	cr_expect(find(c, "b")->gated, "there is no room for it");
}

Test(resize, c11_a_ledger_that_is_made_anew_has_the_larger_share)
{
	struct cluster *c = with_one(300);
	send_late(c, 700, 24000);
	lose_capacity(c);
	arrive(c, "b", 500);
	expect_found_with(c, 700, 24000);
	cluster_free(c);
}

/* Two were sent from one version, the larger first: either may be done. */
Test(resize, c11_of_all_that_may_be_told_the_largest_counts)
{
	struct cluster *c = with_one(300);
	send_late(c, 700, 24000);
	send_late(c, 100, 8000);
	lose_capacity(c);
	arrive(c, "b", 500);
	expect_found_with(c, 700, 24000);
	cluster_free(c);
}

/* It was done and answered, and the watch is late with it. */
Test(resize, c11_what_was_answered_counts_before_it_is_shown)
{
	struct cluster *c = with_one(300);
	struct action late = {0};
	want(c, "a", 700, 24000);
	for (int i = 0; !hold_patch(c, &late); i++) {
		cr_assert_lt(i, 1000);
		deliver(c);
	}
	char rv[16];
	snprintf(rv, sizeof rv, "%d", ++c->rv);
	struct pod answer = {.uid = find(c, "a")->uid, .resource_version = rv};
	struct outcome done = {.pod = &answer};
	engine_settle(c->e, (struct engine_now){c->now, c->now}, late.id, &done);
	lose_capacity(c);
	arrive(c, "b", 500);
	expect_found_with(c, 700, 24000);
	cluster_free(c);
}

/* The same process leads again: what it sent before may still be done. */
Test(resize, what_was_sent_is_not_forgotten_with_the_lead)
{
	struct cluster *c = with_one(300);
	send_late(c, 700, 24000);
	struct change lead = {.type = CHANGE_LEADER};
	engine_observe(c->e, &lead);
	lead.leads = true;
	engine_observe(c->e, &lead);
	lose_capacity(c);
	arrive(c, "b", 500);
	expect_found_with(c, 700, 24000);
	cluster_free(c);
}
