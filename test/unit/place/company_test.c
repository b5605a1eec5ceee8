/* Who may join whom, and who would rather be alone. */
#include <criterion/criterion.h>

#include "place/place.h"

static struct node noun = {.name = "n0"};
static struct pod pod = {.ns = "d", .name = "p", .cpu_milli = 100, .mem_bytes = 1000};

static struct snapshot one_node(int64_t free_gpus)
{
	struct snapshot s = {0};
	struct place_node n = {.noun = &noun,
		.free_cpu_milli = 10000,
		.free_mem_bytes = 1 << 30,
		.free_slots = 100,
		.free_gpus = free_gpus,
		.gpu_mem_mib = 80000};
	VEC_PUSH(&s.nodes, n);
	return s;
}

static void add_gpu(struct snapshot *s, const char *name, int64_t milli, uint64_t company)
{
	struct place_gpu g = {.capacity_pod = name,
		.usable_mib = 80000,
		.free_milli = milli,
		.free_mib = milli * 80,
		.tenants = company == PLACE_NOBODY ? 0 : 1,
		.max_tenants = 16,
		.company = company};
	VEC_PUSH(&s->gpus, g);
}

static struct place_request ask(int64_t milli, uint64_t company, bool spread)
{
	return (struct place_request){.pod = &pod,
		.milli = milli,
		.max_tenants = 16,
		.company = company,
		.spread = spread};
}

Test(company, joins_its_own_or_nobody)
{
	struct snapshot s = one_node(0);
	add_gpu(&s, "theirs", 300, 1);
	add_gpu(&s, "nobody's", 1000, PLACE_NOBODY);
	add_gpu(&s, "ours", 500, 2);
	add_gpu(&s, "nobody may", 400, PLACE_MIXED);
	struct place_request r = ask(300, 2, false);
	struct place_verdict v = place_best_fit(&s, &r);
	cr_assert_eq(v.gpu, 2);
	place_reserve(&s, &r, &v);
	v = place_best_fit(&s, &r);
	cr_assert_eq(v.gpu, 1, "what is left on ours is too little");
	place_reserve(&s, &r, &v);
	cr_assert_eq(s.gpus.items[1].company, 2);
	struct place_request other = ask(300, 3, false);
	v = place_best_fit(&s, &other);
	cr_assert_eq(v.gpu, PLACE_NOWHERE);
	cr_assert_eq(v.reason, REASON_EXCLUSIVE);
	cr_assert_eq(v.best_gpu, 1, "the GPU with the most that is free");
	snapshot_finish(&s);
}

Test(company, an_empty_gpu_takes_its_own_mode_only)
{
	struct snapshot s = one_node(0);
	add_gpu(&s, "none's", 1000, PLACE_NOBODY);
	struct place_request r = ask(300, 2, false);
	r.mps = true;
	for (int indexed = 0; indexed < 2; indexed++) {
		struct place_verdict v = place_best_fit(&s, &r);
		cr_assert_eq(v.gpu, PLACE_NOWHERE);
		cr_assert_eq(v.reason, REASON_EXCLUSIVE);
		snapshot_index(&s);
	}
	add_gpu(&s, "of MPS", 1000, PLACE_NOBODY_MPS);
	snapshot_gpu_moved(&s, 1);
	struct place_request none = ask(1000, 1, false);
	struct place_verdict v = place_best_fit(&s, &none);
	cr_assert_eq(v.gpu, 0);
	v = place_best_fit(&s, &r);
	cr_assert_eq(v.gpu, 1);
	place_reserve(&s, &r, &v);
	cr_assert_eq(s.gpus.items[1].company, 2);
	none.milli = 100;
	place_reserve(&s, &none, &(struct place_verdict){.gpu = 0, .milli = 950, .mem_mib = 1});
	cr_assert_eq(place_best_fit(&s, &none).gpu, PLACE_NOWHERE);
	snapshot_finish(&s);
}

Test(company, who_spreads_takes_what_is_emptiest)
{
	struct snapshot s = one_node(1);
	add_gpu(&s, "tight", 300, 1);
	add_gpu(&s, "roomy", 700, 1);
	struct place_request r = ask(200, 1, true);
	for (int indexed = 0; indexed < 2; indexed++) {
		cr_assert_eq(place_best_fit(&s, &r).gpu, 1);
		snapshot_index(&s);
	}
	/* What is on its way and empty is better than what is open and shared. */
	add_gpu(&s, "opening", 1000, PLACE_NOBODY);
	s.gpus.items[2].state = GPU_OPENING;
	snapshot_gpu_moved(&s, 2);
	struct place_verdict v = place_best_fit(&s, &r);
	cr_assert_eq(v.gpu, 2);
	place_reserve(&s, &r, &v);
	v = place_best_fit(&s, &r);
	cr_assert_eq(v.gpu, 2, "it still has the most");
	place_reserve(&s, &r, &v);
	cr_assert_eq(place_best_fit(&s, &r).gpu, 1);
	r.spread = false;
	cr_assert_eq(place_best_fit(&s, &r).gpu, 0);
	snapshot_finish(&s);
}
