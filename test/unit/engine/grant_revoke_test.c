/* C13: a share that was given and not told yet, where nothing is given any more. */
#include "cluster.h"

/* Its GPU is open, it stands in the ledger, and has not been told. */
static struct cluster *granted(int nodes, int count)
{
	struct cluster *c = cluster_new(nodes, 2, 1);
	arrive(c, "a", 300);
	find(c, "a")->count = count;
	publish(c, find(c, "a"));
	for (int i = 0; i < 10 && c->grants < (count > 0 ? count : 1); i++) {
		turn(c);
	}
	cr_assert_eq(c->places, 0);
	return c;
}

static int entries(struct cluster *c)
{
	int n = 0;
	for (int i = 0; i < PODS_MAX; i++) {
		const struct obj *o = &c->pods[i];
		n += o->exists && o->capacity ? (int)o->grant_count : 0;
	}
	return n;
}

static void expect_elsewhere(struct cluster *c)
{
	run_for(c, 3000);
	cr_assert_not(find(c, "a")->gated);
	cr_assert_str_eq(find(c, "a")->node, "n1");
	cr_assert_eq(c->places, 1);
	run_for(c, 70000);
	cr_assert_eq(entries(c), find(c, "a")->count > 0 ? 2 : 1, "none is left behind");
	cluster_free(c);
}

Test(grant_revoke, c13_who_was_not_told_goes_elsewhere)
{
	struct cluster *c = granted(2, 0);
	tell_node(c, "n0", true);
	expect_elsewhere(c);
}

Test(grant_revoke, c13_nor_does_a_new_leader_tell)
{
	struct cluster *c = granted(2, 0);
	start_engine(c);
	tell_node(c, "n0", true);
	expect_elsewhere(c);
}

Test(grant_revoke, c13_the_same_of_several_gpus)
{
	struct cluster *c = granted(2, 2);
	tell_node(c, "n0", true);
	expect_elsewhere(c);
}

Test(grant_revoke, c13_without_another_node_it_waits_and_keeps_what_it_has)
{
	struct cluster *c = granted(1, 0);
	tell_node(c, "n0", true);
	run_for(c, 12000);
	cr_assert(find(c, "a")->gated);
	cr_assert_eq(c->places, 0);
	cr_assert_eq(engine_report(c->e)->by_reason[REASON_NODE_UNFIT], 1);
	tell_node(c, "n0", false);
	run_for(c, 3000);
	cr_assert_eq(placed(c), 1);
	cr_assert_eq(c->grants, 1);
	cluster_free(c);
}
