/* P: frameworks that take memory ahead of need. */
#include "scene.h"

#define HOUR  60
#define DAY   (24 * HOUR)
#define CLASS "MemoryPreallocated"
#define VLLM  "vllm/vllm-openai:v0.11.0"

static struct scene *flat(const char *image, int mib)
{
	struct scene *s = scene_new(RT);
	scene_pod(s, &(struct scene_pod){.name = "web-1", .image = image});
	scene_use(s, "web-1", 20, mib);
	return s;
}

/* 73.6 of 80 GiB. */
Test(scenario, P1_flat_and_full_without_metrics_keeps_its_memory)
{
	struct scene *s = flat(VLLM, 75366);
	scene_run(s, 2);
	scene_expect_reason(s, WEB, CLASS, "True", "NoAppMetrics");
	scene_run(s, 2 * HOUR);
	scene_expect_reason(s, WEB, CLASS, "True", "NoAppMetrics");
	scene_run(s, DAY);
	scene_expect_target(s, "30", "75520Mi");
	scene_expect_reason(s, WEB, CLASS, "True", "NoAppMetrics");
	scene_free(s);
}

/* A tenant too, in which use would never tell; and what is no such image is none for its name alone
 * until its use says so. */
Test(scenario, P1_the_image_tells_it_at_once)
{
	struct scene *s = scene_new(RT);
	scene_pod(
		s, &(struct scene_pod){.name = "web-1", .image = VLLM, .milli = 300, .mib = 20480});
	scene_use(s, "web-1", 20, 18000);
	scene_run(s, 2);
	scene_expect_reason(s, WEB, CLASS, "True", "NoAppMetrics");
	scene_free(s);
	s = flat("registry/jax:1", 60 * 1024);
	scene_run(s, HOUR / 2);
	cr_expect_null(scene_text(s, WEB, "status.conditions." CLASS));
	scene_free(s);
}

/* JAX takes three quarters at its start. */
Test(scenario, P6_flat_at_three_quarters_is_preallocated)
{
	struct scene *s = flat("registry/jax:1", 60 * 1024);
	scene_run(s, 2 * HOUR);
	scene_expect_reason(s, WEB, CLASS, "True", "NoAppMetrics");
	scene_run(s, DAY);
	scene_expect_target(s, "30", "60Gi");
	scene_free(s);
}

Test(scenario, P6_what_grew_and_stays_is_growing)
{
	struct scene *s = flat("registry/torch:1", 4 * 1024);
	for (int mib = 4 * 1024; mib < 9 * 1024; mib += 64) {
		scene_use(s, "web-1", 20, mib);
		scene_run(s, 1);
	}
	scene_use(s, "web-1", 20, 9 * 1024);
	scene_run(s, DAY);
	cr_expect_null(scene_text(s, WEB, "status.conditions." CLASS));
	scene_expect_target(s, "30", "10752Mi");
	scene_pod_gone(s, "web-1");
	scene_run(s, 1);
	scene_pod(s, &(struct scene_pod){.name = "web-2", .milli = 300, .mib = 10752});
	scene_use(s, "web-2", 20, 9 * 1024);
	scene_run(s, DAY);
	cr_expect_null(scene_text(s, WEB, "status.conditions." CLASS), "the class stays");
	scene_expect_target(s, "30", "10752Mi");
	scene_free(s);
}
