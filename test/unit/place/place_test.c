/* Best fit: the right GPU, the right reason, the same answer every time. */
#include <criterion/criterion.h>

#include "place/place.h"

static struct node nouns[3] = {{.name = "n0"}, {.name = "n1"}, {.name = "n2"}};
static struct pod pod = {.ns = "d", .name = "p", .cpu_milli = 100, .mem_bytes = 1000};

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

static struct place_request ask(int64_t milli, int64_t mib)
{
	return (struct place_request){
		.pod = &pod, .milli = milli, .mem_mib = mib, .max_tenants = 16};
}

Test(place, takes_the_tightest_gpu_and_breaks_ties_by_name)
{
	struct snapshot s = {0};
	add_node(&s, 0, 0);
	add_node(&s, 1, 0);
	add_gpu(&s, 1, "b", 600, 60000);
	add_gpu(&s, 0, "a", 1000, 80000);
	add_gpu(&s, 0, "c", 600, 60000);
	struct place_request r = ask(500, 0);
	struct place_verdict v = place_best_fit(&s, &r);
	cr_assert_eq(v.gpu, 2, "n0/c and n1/b leave the same; n0 comes first");
	cr_assert_eq(v.mem_mib, 40000);
	place_reserve(&s, &r, &v);
	cr_assert_eq(s.gpus.items[2].free_milli, 100);
	cr_assert_eq(s.nodes.items[0].free_cpu_milli, 900);
	v = place_best_fit(&s, &r);
	cr_assert_eq(v.gpu, 0);
	snapshot_finish(&s);
}

Test(place, c8_what_follows_from_the_other_one_is_bounded_too)
{
	static const struct {
		struct place_request r;
		int64_t milli, mib;
	} rows[] = {
		{{.milli = 500}, 500, 40000},
		{{.milli = 500, .max_mib = 8000}, 500, 8000},
		{{.milli = 5}, 5, 512},
		{{.milli = 5, .context_mib = 1024}, 5, 1024},
		{{.milli = 5, .context_mib = 256}, 5, 400},
		{{.mem_mib = 40000}, 500, 40000},
		{{.mem_mib = 40000, .max_milli = 200}, 200, 40000},
		/* What is written was bounded when it was read; what fits nowhere stays so. */
		{{.milli = 500, .mem_mib = 9000, .max_mib = 8000}, 500, 9000},
		{{.mem_mib = 90000, .max_milli = 200}, 1001, 90000},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		int64_t milli, mib;
		place_share(&rows[i].r, 80000, &milli, &mib);
		cr_expect_eq(milli, rows[i].milli, "row %zu: %lld", i, (long long)milli);
		cr_expect_eq(mib, rows[i].mib, "row %zu: %lld", i, (long long)mib);
	}
}

Test(place, open_gpus_come_before_those_on_their_way)
{
	struct snapshot s = {0};
	add_node(&s, 0, 0);
	add_gpu(&s, 0, "opening", 300, 24000);
	s.gpus.items[0].state = GPU_OPENING;
	add_gpu(&s, 0, "open", 1000, 80000);
	struct place_request r = ask(300, 0);
	cr_assert_eq(place_best_fit(&s, &r).gpu, 1);
	snapshot_finish(&s);
}

Test(place, memory_alone_decides_compute_and_both_must_fit)
{
	struct snapshot s = {0};
	add_node(&s, 0, 0);
	add_gpu(&s, 0, "a", 150, 80000);
	add_gpu(&s, 0, "b", 1000, 10000);
	struct place_request r = ask(0, 16000);
	struct place_verdict v = place_best_fit(&s, &r);
	cr_assert_eq(v.gpu, PLACE_NOWHERE, "200 milli do not fit a, 16000 MiB do not fit b");
	cr_assert_eq(v.reason, REASON_SHORT_MEMORY);
	cr_assert_eq(v.best_milli, 1000);
	cr_assert_str_eq(v.best_node, "n0");
	r = ask(0, 8000);
	v = place_best_fit(&s, &r);
	cr_assert_eq(v.milli, 100);
	cr_assert_eq(v.gpu, 0);
	snapshot_finish(&s);
}

Test(place, the_miss_is_told_of_a_node_that_the_pod_may_use)
{
	struct pair here[] = {{"zone", "here"}};
	struct node near = {.name = "near", .labels = {here, 1}};
	pod.node_selector = (struct pairs){here, 1};
	/* More is free on n0 and n1, before and after, but the pod may not go there. */
	for (uint32_t at = 0; at < 3; at++) {
		struct snapshot s = {0};
		for (uint32_t i = 0; i < 3; i++) {
			add_node(&s, i, i == at ? 0 : 2);
			add_gpu(&s, i, nouns[i].name, i == at ? 500 : 550, 60000);
		}
		s.nodes.items[at].noun = &near;
		struct place_request r = ask(600, 0);
		struct place_verdict v = place_best_fit(&s, &r);
		cr_assert_eq(v.gpu, PLACE_NOWHERE);
		cr_assert_eq(v.reason, REASON_SHORT_COMPUTE, "at %u", at);
		cr_assert_str_eq(v.best_node, "near");
		cr_assert_eq(v.best_milli, 500);
		cr_assert_eq(place_open(&s, &r).reason, REASON_NODE_UNFIT);
		snapshot_finish(&s);
	}
	pod.node_selector.count = 0;
}

Test(place, of_nodes_that_it_may_use_the_one_with_most_left_is_told)
{
	struct snapshot s = {0};
	add_node(&s, 0, 0);
	add_node(&s, 1, 0);
	add_gpu(&s, 0, "a", 100, 60000);
	add_gpu(&s, 1, "b", 300, 60000);
	add_gpu(&s, 0, "c", 200, 60000);
	struct place_request r = ask(600, 0);
	struct place_verdict v = place_best_fit(&s, &r);
	cr_assert_eq(v.best_milli, 300);
	cr_assert_str_eq(v.best_node, "n1");
	snapshot_finish(&s);
}

Test(place, a_node_that_rests_is_nearer_than_one_that_does_not_suit)
{
	for (uint32_t at = 0; at < 3; at++) {
		struct snapshot s = {0};
		for (uint32_t i = 0; i < 3; i++) {
			add_node(&s, i, 2);
			s.nodes.items[i].free_cpu_milli = i == at ? 1000 : 0;
		}
		s.nodes.items[at].no_opening = true;
		struct place_request r = ask(600, 0);
		struct place_verdict v = place_open(&s, &r);
		cr_assert_eq(v.node, PLACE_NOWHERE);
		cr_assert_eq(v.reason, REASON_CAPACITY_FAILED, "at %u", at);
		cr_assert_str_eq(v.best_node, nouns[at].name);
		snapshot_finish(&s);
	}
}

Test(place, tenants_are_bounded_by_the_smaller_policy)
{
	struct snapshot s = {0};
	add_node(&s, 0, 0);
	add_gpu(&s, 0, "a", 1000, 80000);
	struct place_request r = ask(10, 0);
	r.max_tenants = 2;
	for (int i = 0; i < 2; i++) {
		struct place_verdict v = place_best_fit(&s, &r);
		cr_assert_eq(v.gpu, 0);
		place_reserve(&s, &r, &v);
	}
	struct place_request roomy = ask(10, 0);
	cr_assert_eq(place_best_fit(&s, &roomy).reason, REASON_MAX_TENANTS);
	snapshot_finish(&s);
}

Test(place, a_node_without_room_for_the_pod_is_no_place)
{
	struct snapshot s = {0};
	add_node(&s, 0, 2);
	add_gpu(&s, 0, "a", 1000, 80000);
	s.nodes.items[0].free_cpu_milli = 99;
	struct place_request r = ask(100, 0);
	cr_assert_eq(place_best_fit(&s, &r).reason, REASON_NODE_UNFIT);
	cr_assert_eq(place_open(&s, &r).reason, REASON_NODE_UNFIT);
	snapshot_finish(&s);
}

Test(place, opens_where_fewest_gpus_are_free)
{
	struct snapshot s = {0};
	add_node(&s, 0, 8);
	add_node(&s, 1, 1);
	add_node(&s, 2, 0);
	struct place_request r = ask(100, 0);
	cr_assert_eq(place_open(&s, &r).node, 1);
	s.nodes.items[1].no_opening = true;
	cr_assert_eq(place_open(&s, &r).node, 0);
	r = ask(0, 90000);
	cr_assert_eq(place_open(&s, &r).node, PLACE_NOWHERE, "no GPU is that large");
	cr_assert_eq(place_open(&s, &r).reason, REASON_NO_GPU_NODE);
	snapshot_finish(&s);
}

/* Free or not, open or not, cordoned or full: it is the same story, and another one where the pod
 * may go nowhere or the memory of some GPU is not known. */
Test(place, a_share_larger_than_any_gpu_is_told_so_by_whatever_it_meets)
{
	struct pair here[] = {{"zone", "here"}};
	struct node near = {.name = "near", .labels = {here, 1}};
	struct snapshot s = {0};
	struct place_verdict v = {0};
	struct place_request r = ask(0, 90000), both = ask(100, 90000), part = ask(1000, 0);
	cr_expect_not(place_never_fits(&s, &r, &v), "no node at all");
	add_node(&s, 0, 0);
	add_node(&s, 1, 2);
	s.nodes.items[1].gpu_mem_mib = 81559;
	s.nodes.items[1].no_grants = true;
	s.nodes.items[0].free_cpu_milli = 0;
	add_gpu(&s, 0, "a", 1000, 80000);
	cr_assert(place_never_fits(&s, &r, &v));
	cr_expect_eq(v.reason, REASON_LARGER_THAN_ANY_GPU);
	cr_expect_str_eq(v.best_node, "n1");
	cr_expect_eq(v.best_mib, 81559);
	cr_expect(place_never_fits(&s, &both, &v));
	cr_expect_not(place_never_fits(&s, &part, &v));
	add_node(&s, 2, 0);
	s.nodes.items[2].gpu_mem_mib = 0;
	cr_expect_not(place_never_fits(&s, &r, &v), "nobody knows how large those are");
	s.nodes.items[2].gpu_mem_mib = 180000;
	cr_expect_not(place_never_fits(&s, &r, &v), "it waits for that one");
	nouns[2].shares_already = true;
	cr_expect(place_never_fits(&s, &r, &v), "which is never used");
	nouns[2].shares_already = false;
	/* The large one is not for this pod. */
	s.nodes.items[0].noun = &near;
	pod.node_selector = (struct pairs){here, 1};
	cr_assert(place_never_fits(&s, &r, &v));
	cr_expect_str_eq(v.best_node, "near");
	s.nodes.items[0].noun = &nouns[0];
	cr_expect_not(place_never_fits(&s, &r, &v), "no node suits it");
	pod.node_selector.count = 0;
	snapshot_finish(&s);
}

/* C7: what memory comes to is more on a small GPU, and a quota may have room for less only. */
Test(place, gpus_on_which_the_share_is_above_the_quota_are_passed_over)
{
	struct snapshot s = {0};
	add_node(&s, 0, 1);
	add_node(&s, 1, 0);
	add_gpu(&s, 0, "small", 1000, 40000);
	s.gpus.items[0].usable_mib = 40000;
	struct place_request r = ask(0, 20000);
	r.quota_left_milli = 300;
	cr_assert_eq(place_best_fit(&s, &r).reason, REASON_QUOTA);
	cr_assert_eq(place_open(&s, &r).node, 0, "a GPU of 80000 MiB: a quarter of it");
	r.quota_left_milli = 249;
	cr_assert_eq(place_open(&s, &r).reason, REASON_QUOTA);
	add_gpu(&s, 1, "large", 1000, 80000);
	r.quota_left_milli = 250;
	struct place_verdict v = place_best_fit(&s, &r);
	cr_assert_eq(v.gpu, 1);
	cr_assert_eq(v.milli, 250);
	snapshot_finish(&s);
}
