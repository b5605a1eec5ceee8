/* What pods cost, and who is idle. */
#include <criterion/criterion.h>

#include "base/alloc.h"
#include "base/rand.h"
#include "bed.h"
#include "right/cost.h"

#define DOLLAR 1000000

Test(cost, K1_four_quarters_pay_the_gpu)
{
	struct cost_tenant quarter = {.allocated = {250, 20 * GIB}};
	struct cost_tenant tenants[4] = {quarter, quarter, quarter, quarter};
	int64_t costs[4];
	cost_split(2 * DOLLAR, 80 * GIB, tenants, 4, costs);
	for (int i = 0; i < 4; i++) {
		cr_expect_eq(costs[i], DOLLAR / 2);
	}
	cost_split(2 * DOLLAR, 80 * GIB, tenants, 3, costs);
	for (int i = 0; i < 3; i++) {
		cr_expect_eq(costs[i], DOLLAR / 2, "nobody pays for the quarter that is idle");
	}
}

Test(cost, C6_who_uses_more_than_it_has_pays_what_it_uses)
{
	struct cost_tenant tenants[2] = {
		{.allocated = {250, 20 * GIB}, .used = {500, 10 * GIB}},
		{.allocated = {100, 40 * GIB}, .used = {50, 30 * GIB}},
	};
	int64_t costs[2];
	cost_split(2 * DOLLAR, 80 * GIB, tenants, 2, costs);
	cr_expect_eq(costs[0], DOLLAR);
	cr_expect_eq(costs[1], DOLLAR, "memory is what it takes most of");
	tenants[0].used.milli = 1000;
	cost_split(3 * DOLLAR, 80 * GIB, tenants, 2, costs);
	cr_expect_eq(costs[0], 2 * DOLLAR);
	cr_expect_eq(costs[1], DOLLAR);
}
Test(cost, C6_memory_over_the_share_is_paid_for)
{
	struct cost_tenant tenants[2] = {
		{.allocated = {250, 20 * GIB}, .used = {100, 40 * GIB}},
		{.allocated = {250, 20 * GIB}, .used = {0, 0}},
	};
	int64_t costs[2];
	cost_split(2 * DOLLAR, 80 * GIB, tenants, 2, costs);
	cr_expect_eq(costs[0], DOLLAR, "half of the memory");
	cr_expect_eq(costs[1], DOLLAR / 2);
}

Test(cost, whatever_the_shares_it_adds_up_to_the_bill)
{
	struct rng rng;
	rng_seed(&rng, 3);
	for (int i = 0; i < 5000; i++) {
		struct cost_tenant tenants[16];
		int64_t costs[16], sum = 0, price = (int64_t)rng_below(&rng, 100 * DOLLAR);
		uint32_t count = (uint32_t)rng_below(&rng, 17);
		for (uint32_t k = 0; k < count; k++) {
			tenants[k] = (struct cost_tenant){
				{(int64_t)rng_below(&rng, 1001), (int64_t)rng_below(&rng, 81920)},
				{(int64_t)rng_below(&rng, 400), (int64_t)rng_below(&rng, 20000)}};
		}
		cost_split(price, 81920, tenants, count, costs);
		for (uint32_t k = 0; k < count; k++) {
			cr_assert_geq(costs[k], 0);
			sum += costs[k];
		}
		cr_assert_leq(sum, price);
	}
}

Test(cost, K3_three_hours_of_nothing_are_idle)
{
	struct bed b;
	bed_init(&b);
	bed_use(&b, 60, 30, 6 * GIB);
	struct history_facts f = bed_judge(&b);
	cr_expect_not(cost_is_idle(&f, b.now));
	bed_use(&b, 179, 0, 6 * GIB);
	f = bed_judge(&b);
	cr_expect_eq(f.quiet_minutes, 179);
	cr_expect_not(cost_is_idle(&f, b.now));
	bed_use(&b, 1, 1, 6 * GIB);
	f = bed_judge(&b);
	cr_expect(cost_is_idle(&f, b.now), "one percent is no work");
	cr_expect_not(cost_is_idle(&f, b.now + 10 * MINUTE), "but now nobody knows");
	bed_use(&b, 1, 2, 6 * GIB);
	f = bed_judge(&b);
	cr_expect_not(cost_is_idle(&f, b.now));
	bed_finish(&b);
}

Test(cost, a_gap_is_not_idle)
{
	struct bed b;
	bed_init(&b);
	bed_use(&b, 60, 0, 6 * GIB);
	b.now += 5 * HOUR;
	bed_use(&b, 60, 0, 6 * GIB);
	struct history_facts f = bed_judge(&b);
	cr_expect_eq(f.quiet_minutes, 120);
	cr_expect_not(cost_is_idle(&f, b.now));
	bed_finish(&b);
}
