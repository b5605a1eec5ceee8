/* C3 where a machine tells one UUID of all its GPUs: who waits for a second one must not make the
 * engine open and give back capacity pods without end. */
#include "cluster.h"

#define HOUR_MS 3600000

static struct cluster *cluster_doubled(void)
{
	struct cluster *c = cluster_new(1, 2, 7);
	c->doubled = true;
	return c;
}

/* How often one was opened within so long; nobody gets anything by it. */
static int opened_in(struct cluster *c, int64_t ms)
{
	int before = c->creates;
	run_for(c, ms);
	return c->creates - before;
}

Test(doubled, k12_one_that_fits_runs_and_the_node_rests_longer_and_longer)
{
	struct cluster *c = cluster_doubled();
	arrive(c, "a", 600);
	run_for(c, 10000);
	cr_expect_eq(placed(c), 1);
	arrive(c, "b", 600);
	int first = opened_in(c, HOUR_MS / 6);
	cr_expect(first >= 1 && first <= 4, "%d in the first ten minutes", first);
	run_for(c, HOUR_MS / 3);
	int later = opened_in(c, HOUR_MS / 2);
	cr_expect_leq(later, 9, "%d in half an hour, later on", later);
	cr_expect_eq(placed(c), 1);
	cluster_free(c);
}

Test(doubled, k12_of_two_that_come_together_one_runs)
{
	struct cluster *c = cluster_doubled();
	arrive(c, "a", 600);
	arrive(c, "b", 600);
	run_for(c, HOUR_MS / 6);
	cr_expect_eq(placed(c), 1, "%d run", placed(c));
	int later = opened_in(c, HOUR_MS / 2);
	cr_expect_leq(later, 12, "%d in half an hour, later on", later);
	cluster_free(c);
}

Test(doubled, k12_one_of_several_gpus_does_not_keep_the_node_busy)
{
	struct cluster *c = cluster_doubled();
	arrive(c, "a", 600);
	find(c, "a")->count = 2;
	publish(c, find(c, "a"));
	run_for(c, HOUR_MS / 3);
	int later = opened_in(c, HOUR_MS / 2);
	cr_expect_leq(later, 24, "%d in half an hour, later on", later);
	cr_expect_eq(placed(c), 0);
	cluster_free(c);
}
