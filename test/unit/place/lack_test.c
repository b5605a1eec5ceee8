/* What the GPUs lack, one cause a GPU, on the nodes that suit the pod only. */
#include <criterion/criterion.h>

#include "place/place.h"

static struct node nouns[2] = {{.name = "n0"}, {.name = "n1", .unschedulable = true}};
static struct pod pod = {.ns = "d", .name = "p", .cpu_milli = 100};

static struct place_gpu *add_gpu(struct snapshot *s, uint32_t node, int64_t milli, int64_t mib)
{
	struct place_gpu g = {.node = node,
		.capacity_pod = "c",
		.usable_mib = 80000,
		.free_milli = milli,
		.free_mib = mib,
		.max_tenants = 16};
	VEC_PUSH(&s->gpus, g);
	return &s->gpus.items[s->gpus.count - 1];
}

static void add_nodes(struct snapshot *s)
{
	for (uint32_t i = 0; i < 2; i++) {
		struct place_node n = {.noun = &nouns[i],
			.free_cpu_milli = 1000,
			.free_slots = 10,
			.no_grants = nouns[i].unschedulable};
		VEC_PUSH(&s->nodes, n);
	}
}

Test(lack, c23_every_gpu_counts_once_by_what_is_in_the_way)
{
	struct snapshot s = {0};
	add_nodes(&s);
	for (int i = 0; i < 3; i++) {
		add_gpu(&s, 0, 700, 30000);
	}
	add_gpu(&s, 0, 500, 40000);
	add_gpu(&s, 0, 500, 60000);
	add_gpu(&s, 0, 1000, 80000)->tenants = 16;
	add_gpu(&s, 0, 1000, 80000)->company = 7;
	struct place_gpu *ill = add_gpu(&s, 0, 1000, 80000);
	ill->fenced = ill->unhealthy = true;
	add_gpu(&s, 0, 1000, 80000)->fenced = true;
	add_gpu(&s, 0, 1000, 80000)->kept_by = 1;
	/* What is kept and lacks something all the same is counted by that. */
	add_gpu(&s, 0, 100, 80000)->kept_by = 1;
	/* It fits, and is not counted. */
	add_gpu(&s, 0, 1000, 80000);
	/* Nothing of a node that does not suit it. */
	add_gpu(&s, 1, 700, 30000);
	add_gpu(&s, 1, 100, 80000);
	add_gpu(&s, 0, 700, 30000);
	struct place_request r = {
		.pod = &pod, .milli = 600, .mem_mib = 48000, .max_tenants = 16, .company = 5};
	struct lack_tally t;
	place_count_lacks(&s, &r, &t);
	static const uint32_t expected[LACK_COUNT] = {4, 3, 1, 1, 1, 1, 1};
	for (int i = 0; i < LACK_COUNT; i++) {
		cr_expect_eq(t.by[i], expected[i], "%d: %u", i, t.by[i]);
	}
	/* Who asks for memory alone is told of memory where both are short. */
	r.milli = 0;
	place_count_lacks(&s, &r, &t);
	cr_expect_eq(t.by[LACK_MEMORY], 5);
	cr_expect_eq(t.by[LACK_COMPUTE], 2);
	snapshot_finish(&s);
}
