/* How a policy changes pods, as bytes: each field comes back, and no byte leads astray. */
#include <criterion/criterion.h>

#include "base/alloc.h"
#include "model/policy.h"
#include "record/tables.h"

static struct rollout full(void)
{
	static struct rollout_kind kinds[] = {{"Job", ROLLOUT_NEVER}, {"X", ROLLOUT_ONGOING}};
	static struct rollout_window windows[] = {{0x55, 60, 1440, "Europe/Berlin"}};
	return (struct rollout){.kinds = kinds,
		.kind_count = 2,
		.min_replicas = 3,
		.min_pod_age_s = 4,
		.cooldown_s = 5,
		.max_unavailable = 6,
		.max_unavailable_is_percent = true,
		.give_back_min = 7,
		.evicts = true,
		.may_add_nodes = true,
		.windows = windows,
		.window_count = 1};
}

Test(pack_rollout, every_field_comes_back)
{
	CLEANUP(str_finish) struct str bytes = STR_INIT(4096);
	CLEANUP(str_finish) struct str again = STR_INIT(4096);
	CLEANUP(arena_finish) struct arena arena = {0};
	struct rollout r = full();
	record_pack(&bytes, &rollout_table, &r);
	struct unpack u = {.p = bytes.p, .n = bytes.len, .arena = &arena};
	struct rollout got = {0};
	cr_assert(record_unpack(&u, &rollout_table, &got));
	cr_assert_eq(u.n, 0);
	cr_assert_str_eq(got.kinds[0].kind, "Job");
	cr_assert_eq(got.kinds[1].strategy, ROLLOUT_ONGOING);
	cr_assert_eq(got.min_replicas, 3);
	cr_assert_eq(got.min_pod_age_s, 4);
	cr_assert_eq(got.cooldown_s, 5);
	cr_assert_eq(got.max_unavailable, 6);
	cr_assert_eq(got.give_back_min, 7);
	cr_assert(got.max_unavailable_is_percent && got.evicts && got.may_add_nodes);
	cr_assert_eq(got.windows[0].days, 0x55);
	cr_assert_eq(got.windows[0].start_min, 60);
	cr_assert_eq(got.windows[0].end_min, 1440);
	cr_assert_str_eq(got.windows[0].time_zone, "Europe/Berlin");
	record_pack(&again, &rollout_table, &got);
	cr_assert(bytes.len == again.len && memcmp(bytes.p, again.p, again.len) == 0);
}

Test(pack_rollout, bytes_that_are_cut_are_refused)
{
	CLEANUP(str_finish) struct str bytes = STR_INIT(4096);
	struct rollout r = full();
	record_pack(&bytes, &rollout_table, &r);
	for (size_t n = 0; n < bytes.len; n++) {
		CLEANUP(arena_finish) struct arena arena = {0};
		struct unpack u = {.p = bytes.p, .n = n, .arena = &arena};
		struct rollout got = {0};
		cr_assert_not(record_unpack(&u, &rollout_table, &got), "%zu of %zu", n, bytes.len);
	}
}
