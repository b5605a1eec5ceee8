/* The journal proves itself: whatever a run did, its journal gives the same plans again, from the
 * first segment and from every later one. What was tampered with: journal_damage_test.c. */
#include "../often.h"
#include "journal_bed.h"

#include <criterion/criterion.h>
#include <stdio.h>

#define SEEDS OFTEN(40)

Test(journal, a_whole_run_replays_from_its_beginning)
{
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct bed *b = bed_new(seed, 0, false);
		bed_run(b, 500);
		struct journal_summary sum = bed_replay(bed_bytes(b));
		cr_assert_not(sum.diverged, "seed %d: %s at record %d", (int)seed, sum.divergence,
			(int)sum.diverged_record);
		cr_assert_not(sum.torn);
		cr_assert_eq(sum.segments, 1);
		cr_assert_eq(sum.actions, b->actions);
		cr_assert_gt(sum.actions, 50, "a run in which nothing is decided shows nothing");
		bed_free(b);
	}
}

/* Small segments: the state is kept and read back at arbitrary points. */
Test(journal, every_segment_is_a_place_to_begin)
{
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct bed *b = bed_new(seed, 900 + 100 * seed, false);
		bed_run(b, 250);
		cr_assert_gt(b->segments, 4);
		uint64_t actions = 0;
		for (size_t i = 0; i < b->segments; i += 1 + b->segments / 24) {
			struct view rest = bed_bytes(b);
			rest.p += b->starts[i];
			rest.n -= b->starts[i];
			struct journal_summary sum = bed_replay(rest);
			cr_assert_not(sum.diverged, "seed %d segment %d of %d: %s, record %d",
				(int)seed, (int)i, (int)b->segments, sum.divergence,
				(int)sum.diverged_record);
			cr_assert_eq(sum.segments, b->segments - i);
			cr_assert_eq(sum.skipped, 0);
			actions = i == 0 ? sum.actions : actions;
		}
		cr_assert_eq(actions, b->actions);
		bed_free(b);
	}
}

/* A segment alone, without those that follow, read from its own state. */
Test(journal, recording_may_begin_late)
{
	struct bed *b = bed_new(5, 0, false);
	bed_run(b, 100);
	engine_record(b->e, NULL);
	bed_run(b, 100);
	engine_record(b->e, b->j);
	bed_run(b, 100);
	cr_assert_eq(b->segments, 2);
	struct view late = bed_bytes(b);
	late.p += b->starts[1];
	late.n -= b->starts[1];
	cr_assert_not(bed_replay(late).diverged);
	/* The gap is seen: what was not recorded changed the state. */
	cr_assert(bed_replay(bed_bytes(b)).diverged);
	bed_free(b);
}

Test(journal, memory_holds_the_last_minutes)
{
	struct bed *b = bed_new(11, 64 * 1024, true);
	CLEANUP(str_finish) struct str bytes = STR_INIT(1u << 20);
	uint64_t before = 0;
	for (int i = 0; i < 20; i++) {
		bed_run(b, 200);
		cr_assert(journal_replayable(b->j));
		str_reset(&bytes);
		journal_dump(b->j, &bytes);
		cr_assert_leq(bytes.len, 128u * 1024);
		struct journal_summary sum = bed_replay((struct view){bytes.p, bytes.len});
		cr_assert_not(sum.diverged, "%s", sum.divergence);
		cr_assert_eq(sum.skipped, 0);
		cr_assert_leq(sum.segments, 2);
		cr_assert_gt(sum.last_mono_ms, (int64_t)before, "it ends with the latest");
		before = (uint64_t)sum.last_mono_ms;
	}
	cr_assert_gt(b->actions, 1000);
	bed_free(b);
}

Test(journal, a_state_that_is_too_large_is_left_out)
{
	struct bed *b = bed_new(11, 4096, true);
	char name[32];
	for (int i = 0; i < 200; i++) {
		snprintf(name, sizeof name, "pod-%d", i);
		struct pod p = {.ns = "default", .name = name, .uid = name, .cpu_milli = 1};
		struct change set = {.type = CHANGE_SET, .kind = KIND_POD, .pod = &p};
		engine_observe(b->e, &set);
	}
	bed_run(b, 100);
	cr_assert_not(journal_replayable(b->j));
	CLEANUP(str_finish) struct str bytes = STR_INIT(1u << 20);
	journal_dump(b->j, &bytes);
	cr_assert_leq(bytes.len, 8192u);
	struct journal_summary sum = bed_replay((struct view){bytes.p, bytes.len});
	cr_assert_eq(sum.steps, 0);
	cr_assert_eq(sum.skipped, sum.segments);
	/* One object that no segment can hold is lost, and the journal goes on. */
	char large[6000];
	memset(large, 'x', sizeof large - 1);
	large[sizeof large - 1] = '\0';
	struct pair label = {"key", large};
	struct pod p = {.ns = "d", .name = "large", .uid = "u", .gpus = 1, .labels = {&label, 1}};
	struct change set = {.type = CHANGE_SET, .kind = KIND_POD, .pod = &p};
	engine_observe(b->e, &set);
	bed_run(b, 20);
	str_reset(&bytes);
	journal_dump(b->j, &bytes);
	cr_assert_leq(bytes.len, 8192u);
	bed_free(b);
}
