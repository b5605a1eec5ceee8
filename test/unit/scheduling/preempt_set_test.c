/* The cheapest set on one GPU, against all sets there are. */
#include "scheduling/preempt_set.h"

#include <criterion/criterion.h>

#include "base/rand.h"

#define MOST 9

struct field {
	struct snapshot snap;
	struct node noun;
	struct pod pod;
	struct world_gpu gpus[MOST];
	struct world_pod *pods[MOST];
	struct contest c;
	struct place_request r;
};

static void field_init(struct field *f, struct rng *rng)
{
	*f = (struct field){.noun = {.name = "n", .ready = true}};
	f->pod = (struct pod){.ns = "d", .name = "w", .cpu_milli = 100};
	f->r = (struct place_request){.pod = &f->pod,
		.milli = 100 + 100 * (int64_t)rng_below(rng, 9),
		.mem_mib = 1000 * (int64_t)rng_below(rng, 9),
		.max_tenants = 16};
	f->c = (struct contest){.snap = &f->snap,
		.request = &f->r,
		.count = 1 + (uint32_t)rng_below(rng, MOST),
		.gpu = {.usable_mib = 9000,
			.free_milli = 1000,
			.free_mib = 9000,
			.max_tenants = 64},
		.node = {.noun = &f->noun, .free_cpu_milli = 1000, .free_slots = 50}};
	static struct world_takes each = {.cpu_milli = 100};
	for (uint32_t i = 0; i < f->c.count; i++) {
		f->gpus[i] = (struct world_gpu){.priority = (int32_t)rng_below(rng, 3),
			.milli = 100 * (int64_t)rng_below(rng, 4),
			.mem_mib = 500 * (int64_t)rng_below(rng, 8)};
		f->pods[i] = xcalloc(1, sizeof(struct world_pod) + 8);
		f->pods[i]->gpu = &f->gpus[i];
		f->pods[i]->takes = &each;
		f->c.victims[i] = f->pods[i];
		f->c.gpu.free_milli -= f->gpus[i].milli;
		f->c.gpu.free_mib -= f->gpus[i].mem_mib;
		f->c.gpu.tenants++;
		f->c.node.free_cpu_milli -= 100;
		f->c.node.free_slots--;
	}
}

static void field_finish(struct field *f)
{
	for (uint32_t i = 0; i < f->c.count; i++) {
		free(f->pods[i]);
	}
}

static bool fits(const struct field *f, uint64_t mask)
{
	struct place_gpu g = f->c.gpu;
	struct place_node n = f->c.node;
	struct place_verdict v;
	for (uint32_t i = 0; i < f->c.count; i++) {
		if ((mask >> i & 1) != 0) {
			contest_give_back(&g, &n, f->pods[i]);
		}
	}
	return place_would_fit(&f->snap, &f->r, &g, &n, &v);
}

static struct victims sum_of(const struct field *f, uint64_t mask)
{
	struct victims v = {.mask = mask, .top_priority = INT32_MIN};
	for (uint32_t i = 0; i < f->c.count; i++) {
		if ((mask >> i & 1) != 0) {
			int32_t priority = f->gpus[i].priority;
			v.count++;
			v.milli += f->gpus[i].milli;
			v.top_priority = priority > v.top_priority ? priority : v.top_priority;
		}
	}
	return v;
}

static uint32_t fewest(const struct field *f)
{
	uint32_t best = UINT32_MAX;
	for (uint64_t mask = 0; mask < (uint64_t)1 << f->c.count; mask++) {
		struct victims v = sum_of(f, mask);
		best = fits(f, mask) && v.count < best ? v.count : best;
	}
	return best;
}

Test(preempt_set, c17_nobody_can_be_spared_and_few_are_the_fewest)
{
	struct rng rng;
	struct field f;
	struct victims v;
	rng_seed(&rng, 17);
	int solved = 0, large = 0;
	for (int round = 0; round < 3000; round++) {
		field_init(&f, &rng);
		uint32_t best = fewest(&f);
		bool found = contest_solve(&f.c, &v);
		cr_assert_eq(found, best != UINT32_MAX);
		for (uint32_t i = 0; found && i < f.c.count; i++) {
			bool needed =
				(v.mask >> i & 1) == 0 || !fits(&f, v.mask & ~((uint64_t)1 << i));
			cr_assert(needed, "round %d: one too many", round);
		}
		cr_assert(!found || fits(&f, v.mask));
		cr_assert(!found || best > 2 || v.count == best, "round %d", round);
		for (uint64_t mask = 1; found && best <= 2 && mask < (uint64_t)1 << f.c.count;
			mask++) {
			struct victims other = sum_of(&f, mask);
			cr_assert(other.count != best || !fits(&f, mask) ||
					  !victims_are_cheaper(&other, &v),
				"round %d: a cheaper set", round);
		}
		solved += found;
		large += found && best > 2;
		field_finish(&f);
	}
	cr_assert_gt(solved, 1000);
	cr_assert_gt(large, 20);
}
