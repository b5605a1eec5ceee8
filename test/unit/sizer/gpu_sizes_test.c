/* How much memory a workload can have, in a cluster with GPUs of several sizes. */
#include "bed.h"

/* 90 % of an A100 of 40 GiB, level, in a cluster that has GPUs of 80: vLLM as it comes. */
static struct bed *mixed(void)
{
	struct bed *b = bed_new();
	b->memory = "40960";
	b->pool = "a100";
	b->at = "small";
	bed_node(b, "small");
	bed_pod(b, "web", "web-1", 1);
	bed_turn(b);
	bed_run(b, "web-1", 20, 36864, 120);
	return b;
}

Test(gpu_sizes, what_takes_most_of_its_own_gpu_is_preallocated)
{
	struct bed *b = mixed();
	const struct recommendation *r = bed_told(b, "deployment-web");
	cr_expect_eq(r->conditions[RECOMMENDATION_MEMORY_PREALLOCATED].status, CONDITION_TRUE);
	cr_expect_eq(r->containers[0].original.mib, 40960, "its own GPU, not the largest");
	cr_expect_eq(r->containers[0].allocated.mib, 40960);
	bed_free(b);
}

/* Or it would be gated for good: no GPU where it may go is as large. */
Test(gpu_sizes, nobody_is_to_have_more_than_where_it_may_go)
{
	struct bed *b = bed_new();
	b->memory = "40960";
	b->pool = "a100";
	b->at = "small";
	bed_node(b, "small");
	bed_pod(b, "web", "web-1", 1);
	bed_turn(b);
	for (int i = 0; i < 60; i++) {
		/* not level: it grows with need */
		bed_run(b, "web-1", 20, i % 2 == 0 ? 20000 : 39000, 1);
	}
	const struct recommended_container *c = &bed_told(b, "deployment-web")->containers[0];
	cr_expect_eq(c->target.mib, 40960 - 40960 / 32);
	cr_expect_eq(c->capped_by, CAPPED_BY_DEVICE);
	cr_expect_gt(c->uncapped.mib, 40960);
	bed_free(b);
}
