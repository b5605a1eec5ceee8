/* What is kept for somebody is out of the picture for everybody else, and is named to them. */
#include <criterion/criterion.h>

#include "place/place.h"

static struct node nouns[] = {{.name = "a"}, {.name = "b"}};
static struct pod pod = {.ns = "d", .name = "p"};

/* Node a with an open GPU and one to be opened, node b with nothing. */
static struct snapshot picture(void)
{
	struct snapshot s = {0};
	for (int i = 0; i < 2; i++) {
		nouns[i].ready = true;
		struct place_node n = {.noun = &nouns[i],
			.free_slots = 10,
			.free_cpu_milli = 1000,
			.free_mem_bytes = (int64_t)1 << 30,
			.free_gpus = i == 0 ? 1 : 0};
		VEC_PUSH(&s.nodes, n);
	}
	struct place_gpu g = {.node = 0,
		.capacity_pod = "c",
		.usable_mib = 80000,
		.free_milli = 500,
		.free_mib = 40000,
		.max_tenants = 16};
	VEC_PUSH(&s.gpus, g);
	return s;
}

static struct place_request ask(int64_t milli)
{
	return (struct place_request){.pod = &pod, .milli = milli, .max_tenants = 16};
}

Test(kept, nobody_joins_and_nobody_opens)
{
	struct snapshot s = picture();
	struct place_request r = ask(300);
	cr_assert_eq(place_best_fit(&s, &r).gpu, 0);
	place_keep_gpu(&s, 0, 7);
	cr_assert_eq(place_best_fit(&s, &r).gpu, PLACE_NOWHERE);
	cr_assert_eq(place_open(&s, &r).node, 0);
	place_keep_node(&s, 0, 8);
	cr_assert_eq(place_open(&s, &r).node, PLACE_NOWHERE);
	snapshot_finish(&s);
}

Test(kept, who_keeps_it_is_told_to_whom_it_would_fit)
{
	struct snapshot s = picture();
	struct place_request small = ask(300), large = ask(600);
	cr_assert_null(place_kept_from(&s, &small));
	place_keep_gpu(&s, 0, 7);
	place_keep_gpu(&s, 0, 9);
	place_keep_node(&s, 0, 8);
	place_keep_node(&s, 1, 5);
	const struct place_keep *k = place_kept_from(&s, &small);
	cr_assert_not_null(k);
	cr_assert_eq(k->keeper, 7, "who came first");
	k = place_kept_from(&s, &large);
	cr_assert_not_null(k);
	cr_assert_eq(k->keeper, 8);
	cr_assert_eq(k->gpu, PLACE_NOWHERE);
	s.nodes.items[0].free_cpu_milli = 0;
	pod.cpu_milli = 100;
	cr_assert_null(place_kept_from(&s, &small), "its node would not do");
	pod.cpu_milli = 0;
	snapshot_finish(&s);
}

Test(kept, most_memory_is_not_where_most_compute_is)
{
	struct snapshot s = picture();
	struct place_gpu g = s.gpus.items[0];
	g.capacity_pod = "d";
	g.free_milli = 400;
	g.free_mib = 60000;
	VEC_PUSH(&s.gpus, g);
	g.capacity_pod = "e";
	g.free_milli = 100;
	g.free_mib = 70000;
	VEC_PUSH(&s.gpus, g);
	struct place_request r = ask(300);
	r.mem_mib = 75000;
	cr_assert_eq(place_most_memory(&s, &r), 1, "on e compute is short as well");
	place_keep_gpu(&s, 1, 7);
	cr_assert_eq(place_most_memory(&s, &r), 0);
	r.mem_mib = 100;
	cr_assert_eq(place_most_memory(&s, &r), PLACE_NOWHERE);
	snapshot_finish(&s);
}
