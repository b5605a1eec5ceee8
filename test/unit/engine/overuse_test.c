/* The memory watchdog of mode None: who is told, and who is evicted, and when not. */
#include "overuse_bed.h"

/* `t` uses 12,000 of 10,000 MiB; the GPU has room. */
static const struct measure over = {80000, 30000, 0, {{"t", 12000}, {"n", 9000}}};
/* The same, and it has none. */
static const struct measure tight = {80000, 79900, 0, {{"t", 12000}, {"n", 9000}}};
static const struct measure within = {80000, 20000, 0, {{"t", 10000}, {"n", 9000}}};

static struct bed two(const char *policy)
{
	struct bed b = overuse_bed();
	tell_sharer(&b, &(struct sharer){.name = "t", .policy = policy});
	tell_sharer(&b, &(struct sharer){.name = "n"});
	return b;
}

Test(overuse, is_told_after_two_looks_with_share_use_and_what_follows)
{
	static const struct {
		const char *policy, *follows;
	} rows[] = {{NULL, "memoryOveruse: Report"}, {"reports", "memoryOveruse: Report"},
		{"evicts", "memoryOveruse: Evict"}};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct bed b = two(rows[i].policy);
		look_at(&b, &over, 1);
		cr_expect_null(event_of(&b, "MemoryOveruse"), "one look may be a peak");
		look_at(&b, &over, 1);
		const struct action *a = event_of(&b, "MemoryOveruse");
		cr_assert_not_null(a, "row %zu", i);
		cr_expect_str_eq(a->name, "t");
		cr_expect(strstr(a->message, "12000Mi, 2000Mi more than its share of 10000Mi") &&
				  strstr(a->message, "GPU G0") &&
				  strstr(a->message, rows[i].follows),
			"%s", a->message);
		cr_expect_null(first_of(&b, ACTION_EVICT));
		a = condition_of_type(&b, NAME_OVERUSE);
		cr_assert(a != NULL && a->is_true && a->reason == REASON_MEMORY_OVERUSE);
		cr_expect_eq(engine_report(b.e)->tenants_over, 1);
		cr_expect_eq(engine_report(b.e)->over_mib, 2000);
		look_at(&b, &over, 3);
		cr_expect_null(event_of(&b, "MemoryOveruse"), "once");
		bed_finish(&b);
	}
}

/* An answer took long, and the next one tells of the same look: it is as old as it says at most. */
Test(overuse, two_answers_of_one_look_are_one)
{
	struct bed b = two(NULL);
	struct measure m = over;
	tell_late_measure(&b, &m, 3000);
	later(&b, 0);
	m.age_ms = 1100;
	b.now += 1000;
	tell_measure(&b, &m);
	later(&b, 0);
	cr_expect_null(event_of(&b, "MemoryOveruse"), "the peak may be over");
	look_at(&b, &over, 1);
	cr_expect_not_null(event_of(&b, "MemoryOveruse"));
	bed_finish(&b);
}

/* It was within the share that it had then. */
Test(overuse, what_was_seen_before_it_got_its_share_counts_for_nothing)
{
	struct bed b = two("evicts");
	tell_sharer(&b, &(struct sharer){.name = "t", .mib = "13000", .policy = "evicts"});
	look_at(&b, &tight, 3);
	cr_expect_null(first_of(&b, ACTION_EVICT));
	b.now += 2000;
	tell_sharer(
		&b, &(struct sharer){.name = "t", .policy = "evicts", .resized_ms = WALL + b.now});
	struct measure before = tight;
	before.age_ms = 1;
	tell_measure(&b, &before);
	later(&b, 1000);
	look_at(&b, &tight, 1);
	cr_expect_null(first_of(&b, ACTION_EVICT), "one look of two was before");
	cr_expect_null(event_of(&b, "MemoryOveruse"));
	look_at(&b, &tight, 1);
	cr_expect_not_null(first_of(&b, ACTION_EVICT));
	bed_finish(&b);
}

Test(overuse, is_told_again_only_after_ten_minutes)
{
	struct bed b = two(NULL);
	int told = 0;
	for (int s = 0; s < 1190; s += 2) {
		look_at(&b, s % 60 < 30 ? &over : &within, 1);
		told += event_of(&b, "MemoryOveruse") != NULL;
	}
	cr_expect_eq(told, 2, "%d", told);
	bed_finish(&b);
}

Test(overuse, what_is_tolerated_is_not_told)
{
	static const int64_t used[] = {0, 10000, 10200};
	for (size_t i = 0; i < COUNT_OF(used); i++) {
		struct bed b = two("evicts");
		struct measure m = tight;
		m.uses[0].mib = used[i];
		look_at(&b, &m, 5);
		cr_expect_null(first_of(&b, ACTION_EVICT));
		cr_expect_eq(engine_report(b.e)->tenants_over, 0);
		bed_finish(&b);
	}
}

/* Below half of the tolerance, twice in a row; the condition is written only when it is known. */
Test(overuse, ends_with_hysteresis)
{
	struct bed b = two(NULL);
	look_at(&b, &over, 2);
	tell_sharer(&b, &(struct sharer){.name = "t", .overuse_shown = true});
	struct measure m = within;
	m.uses[0].mib = 10150;
	look_at(&b, &m, 3);
	cr_expect_eq(engine_report(b.e)->tenants_over, 1, "within the tolerance is not the end");
	b.now += 60000;
	look_at(&b, &within, 1);
	cr_expect_eq(engine_report(b.e)->tenants_over, 1);
	look_at(&b, &within, 1);
	cr_expect_eq(engine_report(b.e)->tenants_over, 0);
	const struct action *a = condition_of_type(&b, NAME_OVERUSE);
	cr_assert(a != NULL && !a->is_true && a->reason == REASON_WITHIN_SHARE);
	look_at(&b, &within, 5);
	cr_expect_null(condition_of_type(&b, NAME_OVERUSE), "once a minute at most");
	b.now += 60000;
	look_at(&b, &within, 1);
	cr_expect_not_null(condition_of_type(&b, NAME_OVERUSE), "that write did not come about");
	bed_finish(&b);
}

/* Another leader said so; what is not measured is not within. */
Test(overuse, a_condition_of_before_ends_only_on_a_fresh_word)
{
	struct bed b = overuse_bed();
	tell_sharer(&b, &(struct sharer){.name = "t", .overuse_shown = true});
	for (int i = 0; i < 30; i++) {
		later(&b, 1000);
		cr_assert_null(condition_of_type(&b, NAME_OVERUSE));
	}
	look_at(&b, &(struct measure){80000, 100, 0, {{"t", -1}}}, 1);
	cr_expect_null(condition_of_type(&b, NAME_OVERUSE));
	look_at(&b, &within, 1);
	cr_expect_not_null(condition_of_type(&b, NAME_OVERUSE));
	bed_finish(&b);
}

Test(overuse, what_nobody_knows_is_no_overuse)
{
	static const struct measure rows[] = {
		{80000, 79900, 0, {{"t", -1}}},
		{80000, 79900, STATE_FRESH_MS + 1, {{"t", 12000}}},
		{0, 0, 0, {{"t", 12000}}}, /* an agent that does not tell memory */
		{80000, 79900, 0, {{"x", 12000}}},
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct bed b = two("evicts");
		look_at(&b, &rows[i], 5);
		cr_expect_null(first_of(&b, ACTION_EVICT), "row %zu", i);
		cr_expect_eq(engine_report(b.e)->tenants_over, 0, "row %zu", i);
		bed_finish(&b);
	}
}

/* --- eviction --- */

Test(overuse, evict_needs_the_policy_and_a_short_gpu)
{
	static const struct {
		const char *policy;
		const struct measure *measure;
		bool goes;
	} rows[] = {{"evicts", &tight, true}, {"evicts", &over, false}, {"reports", &tight, false},
		{NULL, &tight, false}, {"walls", &tight, false}};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct bed b = two(rows[i].policy);
		look_at(&b, rows[i].measure, 2);
		const struct action *a = first_of(&b, ACTION_EVICT);
		cr_assert_eq(a != NULL, rows[i].goes, "row %zu", i);
		if (a != NULL) {
			cr_expect_str_eq(a->uid, "t");
			cr_expect_eq(a->reason, REASON_MEMORY_OVERUSE);
			cr_expect(strstr(a->message, "12000Mi, 2000Mi more") != NULL &&
					  strstr(a->message, "only 100Mi") != NULL,
				"%s", a->message);
			const struct action *first = &b.plan.actions.items[0];
			cr_expect(first->type == ACTION_EVENT && first < a, "I5: first the reason");
		}
		bed_finish(&b);
	}
}

/* Two that are over by different amounts, both to go. */
static struct bed three(void)
{
	struct bed b = overuse_bed();
	tell_sharer(&b, &(struct sharer){.name = "t", .policy = "evicts", .owner = "r1"});
	tell_sharer(&b, &(struct sharer){.name = "u", .policy = "evicts", .owner = "r2"});
	tell_sharer(&b, &(struct sharer){.name = "n"});
	return b;
}

static const struct measure both = {80000, 79900, 0, {{"t", 12000}, {"u", 15000}, {"n", 9000}}};

Test(overuse, one_at_a_time_and_memory_is_measured_before_the_next)
{
	struct bed b = three();
	look_at(&b, &both, 2);
	const struct action *a = first_of(&b, ACTION_EVICT);
	cr_assert_not_null(a);
	cr_expect_str_eq(a->uid, "u", "the one that is most over");
	cr_expect_eq(count_of(&b, ACTION_EVICT), 1);
	settle(&b, a->id, 0, "");
	for (int i = 0; i < 5; i++) {
		look_at(&b, &both, 1);
		cr_assert_null(first_of(&b, ACTION_EVICT), "it is on its way");
	}
	tell_gone(&b, "default", "u");
	struct measure stale = both;
	stale.age_ms = 2000;
	look_at(&b, &stale, 1);
	cr_expect_null(first_of(&b, ACTION_EVICT), "that was seen before it left");
	static const struct measure relieved = {80000, 60000, 0, {{"t", 12000}, {"n", 9000}}};
	look_at(&b, &relieved, 2);
	cr_expect_null(first_of(&b, ACTION_EVICT), "and now there is room");
	look_at(&b, &tight, 1);
	a = first_of(&b, ACTION_EVICT);
	cr_assert_not_null(a, "until there is none again");
	cr_expect_str_eq(a->uid, "t");
	bed_finish(&b);
}

/* Taken away by force, it may run on: what it holds is still in the figures. */
Test(overuse, nobody_goes_while_one_that_is_gone_runs_on)
{
	struct bed b = three();
	look_at(&b, &both, 2);
	cr_assert_not_null(first_of(&b, ACTION_EVICT));
	settle(&b, first_of(&b, ACTION_EVICT)->id, 0, "");
	tell_gone(&b, "default", "u");
	for (int i = 0; i < 10; i++) {
		look_at(&b, &both, 1);
		cr_assert_null(first_of(&b, ACTION_EVICT));
	}
	look_at(&b, &tight, 1);
	cr_expect_not_null(first_of(&b, ACTION_EVICT));
	bed_finish(&b);
}

Test(overuse, nobody_goes_while_somebody_leaves_or_has_just_come)
{
	struct bed b = three();
	look_at(&b, &over, 3);
	tell_sharer(&b, &(struct sharer){.name = "n", .deleting = true});
	look_at(&b, &both, 3);
	cr_expect_null(first_of(&b, ACTION_EVICT), "a neighbour gives its memory back just now");
	tell_sharer(&b, &(struct sharer){.name = "n"});
	later(&b, 1000);
	cr_expect_not_null(first_of(&b, ACTION_EVICT));
	bed_finish(&b);
	b = three();
	look_at(&b, &over, 3);
	b.now += 2000;
	tell_measure(&b, &both);
	tell_sharer(&b, &(struct sharer){.name = "m"});
	later(&b, 0);
	cr_expect_null(first_of(&b, ACTION_EVICT), "that was measured without the newcomer");
	bed_finish(&b);
}

Test(overuse, a_budget_that_refuses_is_told_and_the_next_is_asked)
{
	struct bed b = three();
	look_at(&b, &both, 2);
	uint64_t id = first_of(&b, ACTION_EVICT)->id;
	settle(&b, id, 429, "Cannot evict pod as it would violate the pod's disruption budget.");
	look_at(&b, &both, 1);
	const struct action *told = event_of(&b, "EvictionRefused");
	cr_assert(told != NULL && strcmp(told->name, "u") == 0);
	cr_expect_not_null(strstr(told->message, "disruption budget"), "%s", told->message);
	cr_assert_not_null(first_of(&b, ACTION_EVICT));
	cr_expect_str_eq(first_of(&b, ACTION_EVICT)->uid, "t");
	bed_finish(&b);
}

Test(overuse, nobody_is_evicted_on_figures_that_have_become_old)
{
	struct bed b = two("evicts");
	look_at(&b, &over, 3);
	b.now += 2000;
	struct measure old = tight;
	old.age_ms = STATE_FRESH_MS + 1;
	tell_measure(&b, &old);
	for (int i = 0; i < 20; i++) {
		later(&b, 1000);
		cr_assert_null(first_of(&b, ACTION_EVICT));
	}
	bed_finish(&b);
}

Test(overuse, c3_nobody_is_evicted_while_the_webhook_is_not_reached)
{
	struct bed b = two("evicts");
	tell_reach(&b, false);
	cr_expect_null(step(&b, ACTION_EVICT));
	engine_observe(b.e, &(struct change){.type = CHANGE_REACH, .unsure = true});
	look_at(&b, &tight, 5);
	cr_expect_null(first_of(&b, ACTION_EVICT));
	tell_reach(&b, true);
	later(&b, 1000);
	cr_expect_not_null(first_of(&b, ACTION_EVICT));
	bed_finish(&b);
}

/* Of what is unknown nothing follows, unless who is over has all that is missing. */
Test(overuse, nobody_goes_for_what_a_neighbour_may_use)
{
	static const struct {
		int64_t used, over;
		bool goes;
	} rows[] = {{79900, 11000, false}, {79900, 12000, true}, {80000, 11590, false},
		{80000, 11600, true}};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct bed b = two("evicts");
		struct measure m = {80000, rows[i].used, 0, {{"t", rows[i].over}, {"n", -1}}};
		look_at(&b, &m, 2);
		cr_expect_eq(first_of(&b, ACTION_EVICT) != NULL, rows[i].goes, "row %zu", i);
		m.uses[1].mib = 9000;
		look_at(&b, &m, 1);
		cr_expect(rows[i].goes || first_of(&b, ACTION_EVICT) != NULL,
			"row %zu: now it is known", i);
		bed_finish(&b);
	}
}

/* Its leaving makes room on both, and nobody knows yet how much. */
Test(overuse, who_leaves_two_gpus_goes_alone)
{
	struct bed b = overuse_bed();
	tell_node(&b, "n0", 2, 110);
	tell_capacity(&b, &(struct cap){"c1", "c1-uid", "G1", false, {0}});
	tell_sharer(&b, &(struct sharer){.name = "t", .policy = "evicts", .both = true});
	tell_sharer(&b, &(struct sharer){.name = "u", .policy = "evicts", .holder = "c1"});
	struct device_state devices[] = {{.uuid = "G0", .total_mib = 80000, .used_mib = 79900},
		{.uuid = "G1", .total_mib = 80000, .used_mib = 79900}};
	const char *pods[] = {"t", "u"};
	struct pod_use uses[] = {
		{"t", "G0", 12000, 1}, {"t", "G1", 11000, 1}, {"u", "G1", 15000, 1}};
	size_t sent = 0;
	for (int look = 0; look < 2; look++) {
		b.now += 2000;
		struct node_state s = {.node = "n0",
			.boot = "b",
			.sequence = b.now,
			.seen_ms = b.now,
			.devices = devices,
			.device_count = 2,
			.pods = pods,
			.pod_count = 2,
			.uses = uses,
			.use_count = 3};
		struct change c = {.type = CHANGE_SET, .kind = KIND_STATE, .state = &s};
		engine_observe(b.e, &c);
		later(&b, 0);
		vec_for_each (const struct action, a, &b.plan.actions) {
			sent += a->type == ACTION_EVICT;
		}
	}
	cr_expect_eq(sent, 1);
	bed_finish(&b);
}
