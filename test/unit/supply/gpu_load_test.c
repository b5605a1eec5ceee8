/* GPUs that pods have. */
#include <criterion/criterion.h>

#include "supply/gpu_load.h"

Test(gpu_load, one_name_is_one_gpu_and_of_several_the_first_counts)
{
	struct gpus g = {0};
	gpus_init(&g);
	uint32_t one = gpus_at(&g, "GPU-1"), two = gpus_at(&g, "GPU-2");
	cr_expect_neq(one, two);
	cr_expect_eq(gpus_at(&g, "GPU-1,GPU-2"), one);
	cr_expect_eq(gpus_at(&g, "GPU-2,GPU-1"), two);
	cr_expect_eq(gpus_at(&g, ""), UINT32_MAX);
	cr_expect_eq(gpus_at(&g, NULL), UINT32_MAX);
	gpus_finish(&g);
}

Test(gpu_load, who_wants_more_and_the_least_of_those_that_lack_some)
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
