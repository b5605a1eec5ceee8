/* The numbers of a policy as bytes: each field comes back, and what no field can hold is refused.
 */
#include <criterion/criterion.h>

#include "base/alloc.h"
#include "model/policy.h"
#include "record/tables.h"

#define SAME(field) cr_expect_eq(got.field, s.field, #field)

/* Filled with ones, so that a field that is left out shows as zero. */
Test(pack_sizing, every_field_comes_back)
{
	CLEANUP(str_finish) struct str bytes = STR_INIT(4096);
	CLEANUP(arena_finish) struct arena arena = {0};
	struct sizing s;
	memset(&s, 1, sizeof s);
	s.preallocated = PREALLOCATED_SHRINK;
	record_pack(&bytes, &sizing_table, &s);
	struct unpack u = {.p = bytes.p, .n = bytes.len, .arena = &arena};
	struct sizing got = {0};
	cr_assert(record_unpack(&u, &sizing_table, &got));
	cr_expect_eq(u.n, 0);
	SAME(percentile);
	SAME(headroom_percent);
	SAME(min_percent);
	SAME(max_percent);
	SAME(step_percent);
	SAME(whole_from_p50_percent);
	SAME(active_above_percent);
	SAME(mem_headroom_percent);
	SAME(min_mem_mib);
	SAME(max_mem_mib);
	SAME(step_mem_mib);
	SAME(preallocated);
	SAME(window_s);
	SAME(required_s);
	SAME(half_life_s);
	SAME(required_runs);
	SAME(required_run_s);
	SAME(min_change_percent);
	SAME(scale_down_delay_s);
	SAME(shrink_idle_s);
	SAME(keeps_running);
	SAME(heal_memory.enabled);
	SAME(heal_memory.step_percent);
	SAME(heal_memory.min_step);
	SAME(heal_memory.hold_s);
	SAME(heal_compute.enabled);
	SAME(heal_compute.step_percent);
	SAME(heal_compute.min_step);
	SAME(heal_compute.hold_s);
	SAME(open);
	cr_expect_eq(sizeof s, 192, "another field: pack it, and name it here");
}

Test(pack_sizing, what_no_field_holds_is_refused)
{
	CLEANUP(arena_finish) struct arena arena = {0};
	static const int64_t bad[] = {3, -1, INT32_MAX};
	for (size_t i = 0; i < COUNT_OF(bad); i++) {
		CLEANUP(str_finish) struct str bytes = STR_INIT(4096);
		struct sizing s = SIZING_DEFAULT;
		s.preallocated = (enum preallocated)bad[i];
		record_pack(&bytes, &sizing_table, &s);
		struct unpack u = {.p = bytes.p, .n = bytes.len, .arena = &arena};
		struct sizing got = {0};
		cr_expect_not(record_unpack(&u, &sizing_table, &got), "%lld", (long long)bad[i]);
	}
}
