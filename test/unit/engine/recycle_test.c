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
		{"Workflow", false}, {NULL, false}};
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

/* A Job's pod is stuck for 30 s, and the Job is read: the action. */
static const struct action *ask_job(struct bed *b)
{
	tell_stuck(b, "Job");
	cr_expect_null(step(b, ACTION_READ_JOB));
	b->now += 30000;
	const struct action *a = step(b, ACTION_READ_JOB);
	cr_assert_not_null(a);
	return a;
}

static void job_says(struct bed *b, uint64_t id, bool spares)
{
	struct outcome o = {.spares = spares};
	engine_settle(b->e, (struct engine_now){b->now, b->now}, id, &o);
}

Test(recycle, c21_a_job_is_read_before_its_pod_is_evicted)
{
	struct bed b = one_gpu();
	const struct action *a = ask_job(&b);
	cr_expect_str_eq(a->ns, "default");
	cr_expect_str_eq(a->name, "owner");
	cr_expect_str_eq(a->uid, "owner");
	uint64_t id = a->id;
	b.now += 1000;
	cr_expect_null(step(&b, ACTION_READ_JOB), "once");
	cr_expect_null(step(&b, ACTION_EVICT), "not before it has answered");
	cr_expect_eq(count_of(&b, ACTION_CONDITION), 0);
	job_says(&b, id, true);
	a = step(&b, ACTION_EVICT);
	cr_assert_not_null(a);
	cr_expect_eq(a->reason, REASON_RECYCLED);
	bed_finish(&b);
}

Test(recycle, c21_the_pod_of_a_job_that_would_count_it_waits)
{
	struct bed b = one_gpu();
	job_says(&b, ask_job(&b)->id, false);
	const struct action *a = step(&b, ACTION_CONDITION);
	cr_assert_not_null(a);
	cr_expect_eq(a->reason, REASON_PINNED_UNSCHEDULABLE);
	cr_expect_not_null(strstr(a->message, "the Job owner would count"), "%s", a->message);
	for (int i = 0; i < 100; i++) {
		b.now += 7000;
		cr_expect_null(step(&b, ACTION_EVICT));
		cr_expect_eq(count_of(&b, ACTION_READ_JOB), 0, "it cannot change");
	}
	bed_finish(&b);
}

Test(recycle, c21_a_job_that_cannot_be_read_spares_nothing)
{
	struct bed b = one_gpu();
	settle(&b, ask_job(&b)->id, 403, "no");
	const struct action *a = step(&b, ACTION_CONDITION);
	cr_assert_not_null(a);
	cr_expect_null(strstr(a->message, "Job"), "%s", a->message);
	cr_expect_eq(count_of(&b, ACTION_READ_JOB) + count_of(&b, ACTION_EVICT), 0);
	int64_t next = engine_next_deadline(b.e);
	cr_expect(next > b.now && next <= b.now + 2000, "%lld", (long long)(next - b.now));
	b.now += 2000;
	a = step(&b, ACTION_READ_JOB);
	cr_assert_not_null(a, "asked again");
	job_says(&b, a->id, true);
	cr_expect_not_null(step(&b, ACTION_EVICT));
	bed_finish(&b);
}

Test(recycle, c21_all_pods_of_a_job_ask_once)
{
	static const char *const names[] = {"t0", "t1", "t2"};
	struct bed b = one_gpu();
	for (int i = 0; i < 3; i++) {
		tell_tenant(&b, &(struct tenant){.name = names[i],
					.owner_kind = "Job",
					.owner = "owner",
					.milli = "200",
					.unschedulable = true});
	}
	step(&b, ACTION_EVICT);
	b.now += 30000;
	const struct action *a = step(&b, ACTION_READ_JOB);
	cr_assert_eq(count_of(&b, ACTION_READ_JOB), 1);
	job_says(&b, a->id, true);
	step(&b, ACTION_EVICT);
	cr_expect_eq(count_of(&b, ACTION_EVICT), 3);
	bed_finish(&b);
}

/* Another pod of that Job, an hour later. */
Test(recycle, c21_what_a_job_said_is_forgotten_with_its_pods)
{
	struct bed b = one_gpu();
	job_says(&b, ask_job(&b)->id, false);
	step(&b, ACTION_CONDITION);
	tell_gone(&b, "default", "t0");
	b.now += 1000;
	step(&b, ACTION_CONDITION);
	cr_expect_not_null(ask_job(&b));
	bed_finish(&b);
}

static void tell_successor(struct bed *b, const char *name, const char *owner)
{
	struct pair label[] = {{LABEL_TENANT, "true"}};
	struct pair notes[] = {{NOTE_ORIGINAL, "{}"}, {NOTE_SHARE, "0.1"}};
	const char *gate[] = {NAME_GATE};
	struct pod p = {.ns = "default",
		.name = name,
		.uid = name,
		.labels = {label, 1},
		.notes = {notes, 2},
		.gates = gate,
		.gate_count = 1,
		.owner = {"apps/v1", "ReplicaSet", owner, "owner"}};
	tell_pod(b, &p);
}

/* What it refused for is nothing that was judged, so it would refuse the next one too. */
Test(recycle, c36_the_next_one_is_not_pinned_to_the_node_that_was_refused)
{
	struct bed b = one_gpu();
	tell_stuck(&b, "ReplicaSet");
	step(&b, ACTION_EVICT);
	b.now += 30000;
	const struct action *a = step(&b, ACTION_EVICT);
	cr_assert_not_null(a);
	settle(&b, a->id, 0, "");
	tell_gone(&b, "default", "t0");
	tell_capacity(&b, &(struct cap){"c0", "c0-uid", "G0", false, {0}});
	tell_successor(&b, "t1", "owner");
	cr_expect_null(step(&b, ACTION_GRANT));
	b.now += 11000;
	a = step(&b, ACTION_CONDITION);
	cr_assert_not_null(a);
	cr_expect_not_null(strstr(a->message, "1 node was refused to a pod of this workload"), "%s",
		a->message);
	b.now += 120000;
	a = step(&b, ACTION_GRANT);
	cr_assert_not_null(a, "for a while");
	cr_expect_str_eq(a->ledger.items[0].uid, "t1");
	bed_finish(&b);
}

Test(recycle, c36_nobody_elses_next_one_minds)
{
	struct bed b = one_gpu();
	tell_stuck(&b, "ReplicaSet");
	step(&b, ACTION_EVICT);
	b.now += 30000;
	cr_assert_not_null(step(&b, ACTION_EVICT));
	tell_gone(&b, "default", "t0");
	tell_capacity(&b, &(struct cap){"c0", "c0-uid", "G0", false, {0}});
	tell_successor(&b, "t1", "another");
	cr_expect_not_null(step(&b, ACTION_GRANT));
	bed_finish(&b);
}
