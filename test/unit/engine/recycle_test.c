/* C21: what was placed and cannot be bound. */
#include "evict_bed.h"

static struct bed one_gpu_of(const struct engine_config *cfg)
{
	struct bed b = bed_make_of(cfg);
	tell_node(&b, "n0", 1, 110);
	tell_reach(&b, true);
	struct grant t0[] = {{"t0", "default", "t0", 700, 1000}};
	tell_capacity(&b, &(struct cap){"c0", "c0-uid", "G0", false, {t0, 1}});
	return b;
}

static struct bed one_gpu(void)
{
	return one_gpu_of(&(struct engine_config){0});
}

static void tell_stuck(struct bed *b, const char *kind)
{
	tell_tenant(b, &(struct tenant){.name = "t0",
			       .owner_kind = kind,
			       .owner = kind != NULL ? "owner" : NULL,
			       .milli = "700",
			       .unschedulable = true});
}

Test(recycle, c21_after_thirty_seconds_its_owner_makes_another_one)
{
	struct bed b = one_gpu();
	tell_stuck(&b, "ReplicaSet");
	cr_expect_null(step(&b, ACTION_EVICT));
	b.now += 29000;
	cr_expect_null(step(&b, ACTION_EVICT));
	b.now += 1000;
	const struct action *a = step(&b, ACTION_EVICT);
	cr_assert_not_null(a);
	cr_expect_eq(a->reason, REASON_RECYCLED);
	cr_expect_str_eq(a->resource_version, "2", "a binding that came in between prevents it");
	cr_expect_not_null(event_of(&b, "Recycled"));
	bed_finish(&b);
}

Test(recycle, c21_after_as_long_as_is_configured)
{
	struct bed b = one_gpu_of(&(struct engine_config){.stuck_ms = 2000});
	tell_stuck(&b, "ReplicaSet");
	step(&b, ACTION_EVICT);
	b.now += 1900;
	cr_expect_null(step(&b, ACTION_EVICT));
	b.now += 200;
	cr_expect_not_null(step(&b, ACTION_EVICT));
	bed_finish(&b);
}

Test(recycle, c21_only_where_a_deleted_pod_is_no_failure)
{
	static const struct {
		const char *kind;
		bool recycled;
	} cases[] = {{"ReplicaSet", true}, {"StatefulSet", true}, {"DaemonSet", true},
		{"Job", false}, {"Workflow", false}, {NULL, false}};
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct bed b = one_gpu();
		tell_stuck(&b, cases[i].kind);
		step(&b, ACTION_EVICT);
		b.now += 31000;
		bool evicted = step(&b, ACTION_EVICT) != NULL;
		cr_expect_eq(evicted, cases[i].recycled, "%s", text_or(cases[i].kind, "bare"));
		const struct action *said = step(&b, ACTION_CONDITION);
		cr_expect(evicted || count_of(&b, ACTION_CONDITION) == 0, "once a minute");
		(void)said;
		bed_finish(&b);
	}
}

Test(recycle, c21_a_bare_pod_waits_with_its_reason)
{
	struct bed b = one_gpu();
	tell_stuck(&b, NULL);
	step(&b, ACTION_CONDITION);
	b.now += 31000;
	const struct action *a = step(&b, ACTION_CONDITION);
	cr_assert_not_null(a);
	cr_expect(a->is_true, "it has what Placed speaks of");
	cr_expect_eq(a->reason, REASON_PINNED_UNSCHEDULABLE);
	cr_expect(strstr(a->message, "n0") != NULL && strstr(a->message, "31 s") != NULL, "%s",
		a->message);
	b.now += 61000;
	cr_expect_not_null(step(&b, ACTION_CONDITION), "nothing shows it: said again");
	bed_finish(&b);
}

Test(recycle, c21_one_that_is_bound_after_all_is_left_alone)
{
	struct bed b = one_gpu();
	tell_stuck(&b, "ReplicaSet");
	step(&b, ACTION_EVICT);
	b.now += 20000;
	tell_tenant(&b, &(struct tenant){.name = "t0", .milli = "700", .node = "n0"});
	step(&b, ACTION_EVICT);
	b.now += 5000;
	tell_stuck(&b, "ReplicaSet");
	cr_expect_null(step(&b, ACTION_EVICT));
	b.now += 20000;
	cr_expect_null(step(&b, ACTION_EVICT), "thirty seconds in a row");
	bed_finish(&b);
}

/* The share stays held until the pod is gone. */
Test(recycle, c21_its_share_is_nobodys_before_it_is_gone)
{
	struct bed b = one_gpu();
	tell_stuck(&b, "ReplicaSet");
	tell_waiting(&b, "w", "0.5");
	step(&b, ACTION_EVICT);
	b.now += 31000;
	settle(&b, step(&b, ACTION_EVICT)->id, 0, "");
	b.now += 1000;
	cr_expect_null(step(&b, ACTION_GRANT));
	tell_gone(&b, "default", "t0");
	b.now += 1000;
	cr_expect_not_null(step(&b, ACTION_GRANT));
	bed_finish(&b);
}

/* The next pod of that owner, stuck as the one before. */
static void succeed(struct bed *b)
{
	settle(b, step(b, ACTION_EVICT)->id, 0, "");
	tell_tenant(b, &(struct tenant){.name = "t0",
			       .owner_kind = "ReplicaSet",
			       .owner = "owner",
			       .milli = "700",
			       .unschedulable = true,
			       .deleting = true});
	tell_gone(b, "default", "t0");
	b->now += 1000;
	step(b, ACTION_EVICT);
	tell_stuck(b, "ReplicaSet");
	step(b, ACTION_EVICT);
}

Test(recycle, c21_successors_that_nothing_helps_are_given_ever_longer)
{
	struct bed b = one_gpu();
	tell_stuck(&b, "ReplicaSet");
	step(&b, ACTION_EVICT);
	b.now += 30000;
	for (int64_t rest = 60000; rest <= 240000; rest *= 2) {
		succeed(&b);
		b.now += rest - 1000;
		cr_expect_null(step(&b, ACTION_EVICT), "after %lld ms", (long long)rest);
		b.now += 1000;
	}
	cr_expect_not_null(step(&b, ACTION_EVICT));
	bed_finish(&b);
}

Test(recycle, c21_siblings_are_no_successors)
{
	static const char *const names[] = {"t0", "t1", "t2"};
	struct bed b = one_gpu();
	for (int i = 0; i < 3; i++) {
		tell_tenant(&b, &(struct tenant){.name = names[i],
					.owner_kind = "ReplicaSet",
					.owner = "owner",
					.milli = "200",
					.unschedulable = true});
	}
	step(&b, ACTION_EVICT);
	b.now += 30000;
	step(&b, ACTION_EVICT);
	cr_expect_eq(count_of(&b, ACTION_EVICT), 3);
	bed_finish(&b);
}
