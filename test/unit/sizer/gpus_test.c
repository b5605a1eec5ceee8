/* GPUs that pods have. */
#include "bed.h"

Test(gpus, one_name_is_one_gpu_and_of_several_the_first_counts)
{
	struct bed *b = bed_new();
	uint32_t one = gpus_at(&b->sizer->gpus, "GPU-1"), two = gpus_at(&b->sizer->gpus, "GPU-2");
	cr_expect_neq(one, two);
	cr_expect_eq(gpus_at(&b->sizer->gpus, "GPU-1,GPU-2"), one);
	cr_expect_eq(gpus_at(&b->sizer->gpus, "GPU-2,GPU-1"), two);
	cr_expect_eq(gpus_at(&b->sizer->gpus, ""), UINT32_MAX);
	cr_expect_eq(gpus_at(&b->sizer->gpus, NULL), UINT32_MAX);
	bed_free(b);
}

Test(gpus, what_pods_use_is_added_up_once_a_round)
{
	struct bed *b = bed_new();
	bed_tenant(b, "web", "a", 300, 8192);
	bed_tenant(b, "other", "b", 300, 8192);
	bed_turn(b);
	bed_turn(b);
	cr_assert(bed_use(b, "a", 20, 100));
	cr_assert(bed_use(b, "b", 30, 100));
	bed_turn(b);
	struct gpus *g = &b->sizer->gpus;
	uint32_t at = gpus_at(g, "GPU-1");
	cr_expect_eq(gpus_busy(g, at), METERED_FULL / 2);
	bed_turn(b);
	cr_expect_eq(gpus_busy(g, at), METERED_FULL / 2);
	bed_pod_gone(b, "b");
	bed_turn(b);
	cr_expect_eq(gpus_busy(g, at), METERED_FULL / 5);
	bed_free(b);
}

Test(gpus, who_wants_more_and_the_least_of_those_that_lack_some)
{
	struct gpus g = {0};
	gpus_init(&g);
	uint32_t at = gpus_at(&g, "GPU-1");
	gpus_press(&g, at);
	gpus_crowd(&g, at, 300);
	gpus_crowd(&g, at, 200);
	gpus_crowd(&g, at, 400);
	cr_expect_not(gpus_pressed(&g, at), "this round is not over");
	cr_expect_eq(gpus_least(&g, at), 0);
	gpus_settle(&g);
	cr_expect(gpus_pressed(&g, at));
	cr_expect_eq(gpus_least(&g, at), 200);
	gpus_settle(&g);
	cr_expect_not(gpus_pressed(&g, at));
	cr_expect_eq(gpus_least(&g, at), 0);
	gpus_press(&g, UINT32_MAX);
	gpus_crowd(&g, UINT32_MAX, 100);
	cr_expect_not(gpus_pressed(&g, UINT32_MAX));
	cr_expect_eq(gpus_least(&g, UINT32_MAX), 0);
	gpus_finish(&g);
}

Test(gpus, one_that_nobody_has_any_more_is_forgotten)
{
	struct bed *b = bed_new();
	struct gpus *g = &b->sizer->gpus;
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
