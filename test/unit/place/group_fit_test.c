/* Several GPUs of one node. */
#include <criterion/criterion.h>

#include "place/place.h"

static struct node nouns[3] = {{.name = "n0"}, {.name = "n1"}, {.name = "n2"}};
static struct pod pod = {.ns = "d", .name = "p", .cpu_milli = 100, .mem_bytes = 1000};
static struct place_request request = {.pod = &pod, .milli = 500, .max_tenants = 16};

static void add_node(struct snapshot *s, uint32_t i, int64_t free_gpus)
{
	struct place_node n = {.noun = &nouns[i],
		.free_cpu_milli = 1000,
		.free_mem_bytes = 1 << 30,
		.free_slots = 10,
		.free_gpus = free_gpus,
		.gpu_mem_mib = 80000};
	VEC_PUSH(&s->nodes, n);
}

static void add_gpu(struct snapshot *s, uint32_t node, const char *name, int64_t milli, int64_t mib)
{
	struct place_gpu g = {.node = node,
		.capacity_pod = name,
		.usable_mib = 80000,
		.free_milli = milli,
		.free_mib = mib,
		.max_tenants = 16};
	VEC_PUSH(&s->gpus, g);
}

static struct place_group seek(const struct snapshot *s, uint32_t count)
{
	struct place_party p = {.request = &request, .count = count, .node = PLACE_NOWHERE};
	return place_group(s, &p);
}

Test(group, takes_the_node_where_the_least_is_opened)
{
	struct snapshot s = {0};
	add_node(&s, 0, 4);
	add_node(&s, 1, 1);
	add_gpu(&s, 1, "a", 600, 60000);
	add_gpu(&s, 0, "b", 400, 60000);
	struct place_group g = seek(&s, 2);
	cr_assert_eq(g.node, 1);
	cr_assert_eq(g.count, 1, "one is there, one is opened");
	cr_assert_eq(g.gpus[0], 0);
	cr_assert_eq(g.mem_mib, 40000);
	g = seek(&s, 4);
	cr_assert_eq(g.node, 0);
	cr_assert_eq(g.count, 0);
	g = seek(&s, 5);
	cr_assert_eq(g.node, PLACE_NOWHERE);
	cr_assert_eq(g.reason, REASON_SHORT_GPUS);
	cr_assert_str_eq(g.best_node, "n0");
	cr_assert_eq(g.best_count, 4);
	snapshot_finish(&s);
}

Test(group, never_spans_nodes_and_takes_the_tightest)
{
	struct snapshot s = {0};
	add_node(&s, 0, 0);
	add_node(&s, 1, 0);
	add_gpu(&s, 0, "a", 1000, 80000);
	add_gpu(&s, 1, "b", 1000, 80000);
	cr_assert_eq(seek(&s, 2).node, PLACE_NOWHERE);
	add_gpu(&s, 1, "c", 500, 40000);
	add_gpu(&s, 1, "d", 600, 50000);
	struct place_group g = seek(&s, 2);
	cr_assert_eq(g.node, 1);
	cr_assert_eq(g.gpus[0], 2);
	cr_assert_eq(g.gpus[1], 3);
	s.nodes.items[1].free_cpu_milli = 50;
	g = seek(&s, 2);
	cr_assert_eq(g.reason, REASON_SHORT_GPUS, "what is told is of a node that it may use");
	cr_assert_str_eq(g.best_node, "n0");
	snapshot_finish(&s);
}

/* So much memory is a quarter of one and a half of the other; each of them alone has room for it.
 */
Test(group, of_two_sizes_both_have_room_for_the_larger_share)
{
	struct place_request memory = {.pod = &pod, .mem_mib = 20000, .max_tenants = 16};
	struct place_party p = {.request = &memory, .count = 2, .node = PLACE_NOWHERE};
	struct snapshot s = {0};
	add_node(&s, 0, 0);
	add_gpu(&s, 0, "large", 300, 80000);
	add_gpu(&s, 0, "small", 600, 40000);
	s.gpus.items[1].usable_mib = 40000;
	cr_expect_eq(place_group(&s, &p).node, PLACE_NOWHERE);
	s.gpus.items[0].free_milli = 500;
	struct place_group g = place_group(&s, &p);
	cr_expect_eq(g.node, 0);
	cr_expect_eq(g.count, 2);
	cr_expect_eq(g.milli, 500);
	cr_expect_eq(g.mem_mib, 20000);
	snapshot_finish(&s);
}

/* What is fixed already has its place in the sums of the node. */
Test(group, completes_where_it_has_some)
{
	struct snapshot s = {0};
	add_node(&s, 0, 0);
	add_node(&s, 1, 4);
	add_gpu(&s, 0, "had", 1000, 80000);
	add_gpu(&s, 0, "b", 500, 40000);
	s.nodes.items[0].free_cpu_milli = 0;
	struct place_party p = {
		.request = &request, .count = 1, .node = 0, .has = {0}, .has_count = 1};
	struct place_group g = place_group(&s, &p);
	cr_assert_eq(g.count, 1);
	cr_assert_eq(g.gpus[0], 1);
	s.gpus.items[1].free_milli = 100;
	cr_assert_eq(place_group(&s, &p).node, PLACE_NOWHERE, "no other node will do");
	snapshot_finish(&s);
}

Test(group, c17_what_is_kept_is_not_taken)
{
	struct snapshot s = {0};
	add_node(&s, 0, 1);
	add_gpu(&s, 0, "a", 1000, 80000);
	add_gpu(&s, 0, "b", 1000, 80000);
	cr_assert_eq(seek(&s, 3).node, 0);
	place_keep_gpu(&s, 0, 1);
	struct place_group g = seek(&s, 3);
	cr_assert_eq(g.node, PLACE_NOWHERE);
	cr_assert_eq(g.reason, REASON_SHORT_GPUS);
	cr_assert_eq(g.best_count, 2);
	g = seek(&s, 2);
	cr_assert_eq(g.count, 1);
	cr_assert_eq(g.gpus[0], 1);
	place_keep_node(&s, 0, 1);
	cr_assert_eq(seek(&s, 2).node, PLACE_NOWHERE);
	snapshot_finish(&s);
}

Test(group, a_capacity_pod_too_many_is_no_room)
{
	struct snapshot s = {0};
	add_node(&s, 0, -1);
	add_gpu(&s, 0, "a", 600, 60000);
	add_gpu(&s, 0, "b", 1000, 80000);
	struct place_group g = seek(&s, 3);
	cr_assert_eq(g.reason, REASON_SHORT_GPUS);
	cr_assert_eq(g.best_count, 1, "it has one GPU, whatever was asked for there");
	snapshot_finish(&s);
}

Test(group, full_gpus_are_gpus_all_the_same)
{
	struct snapshot s = {0};
	add_node(&s, 0, 0);
	add_gpu(&s, 0, "a", 100, 80000);
	struct place_group g = seek(&s, 2);
	cr_assert_eq(g.reason, REASON_SHORT_GPUS);
	cr_assert_str_eq(g.best_node, "n0");
	cr_assert_eq(g.best_count, 0);
	snapshot_finish(&s);
}
