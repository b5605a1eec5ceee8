/* Whoever has the share that is wanted costs a step nothing, until something about it changes. */
#include "cluster.h"

#include "engine/engine.h"
#include "state.h"

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

/* Three of one GPU have what is wanted. */
static struct cluster *with_three(void)
{
	struct cluster *c = cluster_new(1, 1, 1);
	for (int i = 0; i < 3; i++) {
		const char *const names[] = {"a", "b", "c"};
		arrive(c, names[i], 200);
		run_for(c, 4000);
		want(c, names[i], 300, 20000);
	}
	run_for(c, 5000);
	cr_assert_eq(state_of(c, "a"), SHARE_HELD);
	cr_assert_eq(placed(c), 3);
	cr_assert_eq(c->e->resizes.items.count, 3);
	return c;
}

Test(resizes, who_has_it_rests)
{
	struct cluster *c = with_three();
	cr_expect_eq(c->e->resizes.awake, 0);
	want(c, "b", 400, 20000);
	cr_expect_eq(c->e->resizes.awake, 1);
	run_for(c, 3000);
	cr_expect_eq(find(c, "b")->milli, 400);
	cr_expect_eq(c->e->resizes.awake, 0);
	cluster_free(c);
}

Test(resizes, who_waits_for_room_does_not)
{
	struct cluster *c = with_three();
	want(c, "b", 600, 20000);
	run_for(c, 3000);
	cr_expect_eq(c->e->resizes.awake, 1);
	cr_expect_eq(state_of(c, "b"), SHARE_NO_ROOM);
	leave(c, find(c, "a"));
	run_for(c, 10000);
	cr_expect_eq(find(c, "b")->milli, 600);
	cr_expect_eq(c->e->resizes.awake, 0);
	cr_expect_eq(c->e->resizes.items.count, 2, "who left is forgotten");
	cluster_free(c);
}

Test(resizes, who_was_told_otherwise_by_somebody_else_wakes)
{
	struct cluster *c = with_three();
	struct obj *o = find(c, "a");
	o->milli = 100;
	o->rv = ++c->rv;
	publish(c, o);
	run_for(c, 5000);
	cr_expect_eq(find(c, "a")->milli, 300, "it is told again what is wanted");
	cr_expect_eq(c->e->resizes.awake, 0);
	cluster_free(c);
}

Test(resizes, whose_ledger_changed_wakes)
{
	struct cluster *c = with_three();
	struct obj *h = find(c, find(c, "a")->holder);
	for (uint32_t i = 0; i < h->grant_count; i++) {
		h->grants[i].milli += strcmp(h->grants[i].uid, find(c, "a")->uid) == 0 ? 100 : 0;
	}
	h->rv = ++c->rv;
	publish(c, h);
	run_for(c, 5000);
	h = find(c, find(c, "a")->holder);
	int64_t sum = 0;
	for (uint32_t i = 0; i < h->grant_count; i++) {
		sum += h->grants[i].milli;
	}
	cr_expect_eq(sum, 900, "it gives back what it was not asked to have");
	cluster_free(c);
}
