/* What pods cost that are over and still there: they are listed, and of most of them little is kept
 * (docs/design/memory.md). */
#include <criterion/criterion.h>
#include <stdio.h>

#include "model/names.h"
#include "world/world.h"

#define PODS 100000
/* Bytes of one, the map's slot and the page's rest included. */
#define ORDINARY_MAX 130
#define GPU_MAX	     420

/* What is resident: records stand in pages of their own, which malloc does not count. */
static size_t kept(void)
{
	unsigned long size = 0, resident = 0;
	FILE *file = fopen("/proc/self/statm", "re");
	cr_assert_not_null(file);
	cr_assert_eq(fscanf(file, "%lu %lu", &size, &resident), 2);
	fclose(file);
	return (size_t)resident * 4096;
}

static size_t cost_of(int64_t gpus)
{
	struct world *w = world_create();
	size_t before = kept();
	for (int i = 0; i < PODS; i++) {
		char name[64], uid[40], node[32];
		snprintf(name, sizeof name, "etl-daily-%08d-x%04d", 28934000 + i / 4, i % 10000);
		snprintf(uid, sizeof uid, "0b0f1a4e-7c1d-4a30-8a11-%012d", i);
		snprintf(node, sizeof node, "worker-%d", i % 400);
		struct pod pod = {.ns = "analytics",
			.name = name,
			.uid = uid,
			.node = node,
			.resource_version = "123456",
			.phase = i % 3 == 0 ? POD_FAILED : POD_SUCCEEDED,
			.cpu_milli = 500,
			.mem_bytes = 1 << 30,
			.gpus = gpus};
		struct change c = {.type = CHANGE_SET, .kind = KIND_POD, .pod = &pod};
		world_apply(w, &c);
	}
	size_t each = (kept() - before) / PODS;
	cr_assert_eq(world_pod_count(w), (size_t)PODS);
	fprintf(stderr, "a pod that is over, of %d GPUs: %zu bytes\n", (int)gpus, each);
	world_destroy(w);
#ifdef __SANITIZE_ADDRESS__
	/* What surrounds each allocation there is more than what is in it. */
	return 0;
#else
	return each;
#endif
}

Test(ended, an_ordinary_pod_that_is_over_costs_a_record)
{
	cr_expect_leq(cost_of(0), (size_t)ORDINARY_MAX);
}

Test(ended, a_gpu_pod_that_is_over_costs_its_noun)
{
	cr_expect_leq(cost_of(1), (size_t)GPU_MAX);
}
