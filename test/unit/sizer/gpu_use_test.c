/* GPUs that pods have, round by round. */
#include "bed.h"

Test(gpu_use, what_pods_use_is_added_up_once_a_round)
{
	struct bed *b = bed_new();
	bed_tenant(b, "web", "a", 300, 8192);
	bed_tenant(b, "other", "b", 300, 8192);
	bed_turn(b);
	bed_turn(b);
	cr_assert(bed_use(b, "a", 20, 100));
	cr_assert(bed_use(b, "b", 30, 100));
	bed_turn(b);
	struct gpus *g = &b->sizer->supply.gpus;
	uint32_t at = gpus_at(g, "GPU-1");
	cr_expect_eq(gpus_busy(g, at), METERED_FULL / 2);
	bed_turn(b);
	cr_expect_eq(gpus_busy(g, at), METERED_FULL / 2);
	bed_pod_gone(b, "b");
	bed_turn(b);
	cr_expect_eq(gpus_busy(g, at), METERED_FULL / 5);
	bed_free(b);
}

Test(gpu_use, one_that_nobody_has_any_more_is_forgotten)
{
	struct bed *b = bed_new();
	struct gpus *g = &b->sizer->supply.gpus;
	char uuid[32];
	bed_capacity(b, "cap", "GPU-0");
	bed_tenant(b, "web", "a", 300, 8192);
	bed_turn(b);
	bed_turn(b);
	uint32_t held = gpus_at(g, "GPU-0"), used = gpus_at(g, "GPU-1");
	for (int i = 2; i < 200; i++) {
		snprintf(uuid, sizeof uuid, "GPU-%d", i);
		cr_expect_lt(gpus_at(g, uuid), 16);
		bed_turn(b);
	}
	cr_expect_lt(g->list.count, 16);
	cr_expect_eq(gpus_at(g, "GPU-0"), held);
	cr_expect_eq(gpus_at(g, "GPU-1"), used);
	bed_free(b);
}
