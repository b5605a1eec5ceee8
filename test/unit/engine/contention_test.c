/* C29: who runs out of memory through others is told so, and what follows for those. */
#include "overuse_bed.h"

static const struct measure over = {80000, 30000, 0, {{"t", 12000}, {"v", 0}}};
static const struct measure even = {80000, 30000, 0, {{"t", 9000}, {"v", 0}}};

/* `t` may use too much, and `v` is its neighbour, in a namespace of its own or in the same. */
static struct bed pair(const char *policy, const char *ns)
{
	struct bed b = overuse_bed();
	tell_sharer(&b, &(struct sharer){.name = "t", .policy = policy});
	tell_sharer(&b, &(struct sharer){.ns = ns, .name = "v"});
	return b;
}

static void fail(struct bed *b, const char *ns)
{
	tell_sharer(b, &(struct sharer){.ns = ns, .name = "v", .oom_ms = WALL + b->now});
}

Test(contention, c29_the_victim_is_told_and_names_stay_in_their_namespace)
{
	static const struct {
		const char *ns, *says, *not ;
	} rows[] = {{"default", "because t used more than its share", "another tenant"},
		{"other", "because another tenant used more than its share", " t "}};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct bed b = pair(NULL, rows[i].ns);
		look_at(&b, &over, 3);
		fail(&b, rows[i].ns);
		later(&b, 1000);
		const struct action *a = event_of(&b, "Contention");
		cr_assert_not_null(a, "row %zu", i);
		cr_expect(strcmp(a->name, "v") == 0 && strcmp(a->ns, rows[i].ns) == 0);
		cr_expect(strstr(a->message, rows[i].says) && !strstr(a->message, rows[i].not ),
			"%s", a->message);
		a = condition_of_type(&b, NAME_CONTENTION);
		cr_assert(a != NULL && a->is_true && strcmp(a->name, "v") == 0);
		cr_expect_eq(engine_report(b.e)->tenants_contended, 1);
		look_at(&b, &over, 1);
		cr_expect_null(event_of(&b, "Contention"), "once");
		bed_finish(&b);
	}
}

Test(contention, c29_if_nobody_was_over_it_is_its_own)
{
	struct bed b = pair(NULL, NULL);
	look_at(&b, &even, 3);
	fail(&b, NULL);
	for (int i = 0; i < 30; i++) {
		look_at(&b, i < 10 ? &even : &over, 1);
		cr_assert_null(event_of(&b, "Contention"), "not for what came long after, %d", i);
	}
	bed_finish(&b);
}

Test(contention, nobody_is_accused_unheard)
{
	struct bed b = pair(NULL, NULL);
	later(&b, 1000);
	fail(&b, NULL);
	for (int i = 0; i < 30; i++) {
		later(&b, 1000);
		cr_assert_null(event_of(&b, "Contention"));
	}
	bed_finish(&b);
}

/* What stands on the pod since long before this process looked is no news. */
Test(contention, an_old_failure_is_no_news)
{
	struct bed b = overuse_bed();
	tell_sharer(&b, &(struct sharer){.name = "t"});
	b.now += 200000;
	tell_sharer(&b, &(struct sharer){.name = "v", .oom_ms = WALL + b.now - 61000});
	look_at(&b, &over, 5);
	cr_expect_null(event_of(&b, "Contention"));
	bed_finish(&b);
}

Test(contention, the_condition_ends_after_ten_minutes)
{
	struct bed b = pair(NULL, NULL);
	look_at(&b, &over, 3);
	int64_t at = WALL + b.now;
	fail(&b, NULL);
	later(&b, 1000);
	tell_sharer(&b, &(struct sharer){.name = "v", .oom_ms = at, .contention_shown = true});
	b.now += 596000;
	look_at(&b, &even, 1);
	cr_expect_null(condition_of_type(&b, NAME_CONTENTION));
	look_at(&b, &even, 1);
	const struct action *a = condition_of_type(&b, NAME_CONTENTION);
	cr_assert(a != NULL && !a->is_true && a->reason == REASON_NO_CONTENTION);
	bed_finish(&b);
}

/* A leader that comes later takes the condition for what it says. */
Test(contention, another_leader_keeps_the_condition)
{
	struct bed b = overuse_bed();
	b.now += 400000;
	struct sharer v = {.name = "v", .oom_ms = WALL + b.now - 300000, .contention_shown = true};
	tell_sharer(&b, &v);
	look_at(&b, &even, 5);
	cr_expect_null(condition_of_type(&b, NAME_CONTENTION));
	b.now += 300000;
	look_at(&b, &even, 1);
	cr_expect_not_null(condition_of_type(&b, NAME_CONTENTION));
	bed_finish(&b);
}

/* 5,000 MiB are free, which is not short by itself; the share of `v` is 10,000. */
static const struct measure crowded = {80000, 75000, 0, {{"t", 12000}, {"v", 0}}};

Test(contention, a_neighbours_failure_is_a_short_gpu_for_a_minute)
{
	struct bed b = pair("evicts", "other");
	look_at(&b, &crowded, 5);
	cr_expect_null(first_of(&b, ACTION_EVICT), "there is room");
	fail(&b, "other");
	later(&b, 1000);
	const struct action *a = first_of(&b, ACTION_EVICT);
	cr_assert_not_null(a);
	cr_expect_str_eq(a->uid, "t");
	cr_expect_not_null(strstr(a->message, "no memory left"), "%s", a->message);
	cr_expect_null(strstr(a->message, " v"), "%s", a->message);
	bed_finish(&b);
}

/* Anybody can write that it had no memory: its neighbour, which is over, takes nothing from it. */
Test(contention, a_forged_failure_sends_nobody_away)
{
	static const struct measure uses = {80000, 75000, 0, {{"t", 12000}, {"v", 5000}}};
	static const struct measure untold = {0, 0, 0, {{"t", 12000}, {"v", 0}}};
	const struct measure *rows[] = {&over, &uses, &untold};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct bed b = pair("evicts", "other");
		look_at(&b, rows[i], 3);
		for (int k = 0; k < 30; k++) {
			fail(&b, "other");
			look_at(&b, rows[i], 1);
			cr_assert_null(first_of(&b, ACTION_EVICT), "row %zu", i);
		}
		bed_finish(&b);
	}
}

/* Who is over has to leave for nobody who is not there any more. */
Test(contention, a_failure_of_one_that_has_ended_sends_nobody_away)
{
	struct bed b = pair("evicts", "other");
	look_at(&b, &crowded, 5);
	tell_sharer(
		&b, &(struct sharer){
			    .ns = "other", .name = "v", .oom_ms = WALL + b.now, .failed = true});
	look_at(&b, &crowded, 10);
	cr_expect_null(first_of(&b, ACTION_EVICT));
	bed_finish(&b);
}

Test(contention, one_failure_sends_one_away)
{
	static const struct measure both = {
		80000, 75000, 0, {{"t", 12000}, {"u", 15000}, {"v", 0}}};
	static const struct measure rest = {80000, 73000, 0, {{"t", 12000}, {"v", 0}}};
	struct bed b = pair("evicts", NULL);
	tell_sharer(&b, &(struct sharer){.name = "u", .policy = "evicts"});
	look_at(&b, &both, 3);
	fail(&b, NULL);
	later(&b, 1000);
	cr_assert_not_null(first_of(&b, ACTION_EVICT));
	cr_expect_str_eq(first_of(&b, ACTION_EVICT)->uid, "u");
	settle(&b, first_of(&b, ACTION_EVICT)->id, 0, "");
	tell_gone(&b, "default", "u");
	for (int i = 0; i < 10; i++) {
		look_at(&b, &rest, 1);
		cr_assert_null(first_of(&b, ACTION_EVICT));
	}
	bed_finish(&b);
}

Test(contention, a_failure_that_was_its_own_sends_nobody_away)
{
	struct bed b = overuse_bed();
	static const struct measure own = {80000, 30000, 0, {{"v", 12000}, {"t", 9000}}};
	tell_sharer(&b, &(struct sharer){.name = "t"});
	tell_sharer(&b, &(struct sharer){.name = "v", .policy = "evicts"});
	look_at(&b, &own, 3);
	tell_sharer(&b, &(struct sharer){.name = "v", .policy = "evicts", .oom_ms = WALL + b.now});
	look_at(&b, &own, 10);
	cr_expect_null(first_of(&b, ACTION_EVICT));
	cr_expect_null(event_of(&b, "Contention"));
	bed_finish(&b);
}

/* Both are over: who failed had all that it was promised, and is no reason for anybody to go. */
Test(contention, nobody_goes_for_one_that_has_its_share)
{
	static const struct measure both = {80000, 40000, 0, {{"v", 19000}, {"t", 12000}}};
	struct bed b = overuse_bed();
	tell_sharer(&b, &(struct sharer){.name = "v", .policy = "evicts"});
	tell_sharer(&b, &(struct sharer){.name = "t", .policy = "evicts"});
	look_at(&b, &both, 3);
	tell_sharer(&b, &(struct sharer){.name = "v", .policy = "evicts", .oom_ms = WALL + b.now});
	later(&b, 1000);
	cr_expect_null(first_of(&b, ACTION_EVICT));
	cr_expect_not_null(event_of(&b, "Contention"));
	bed_finish(&b);
}
