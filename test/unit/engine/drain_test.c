/* C39: a capacity pod that is being ended holds its GPU until its tenants have left. `t0` runs on
 * G0 of node n0. */
#include "evict_bed.h"

enum way { STAYS, EVICTED, DELETED, SHORTLY };

static const struct grant t0[] = {{"t0", "default", "t0", 700, 1000}};
static struct ledger promised = {(struct grant *)t0, 1};

/* c0, as it is now; its label says what it would. */
static void tell_c0(struct bed *b, enum way way, const char *in_use, bool lingers)
{
	struct pair labels[] = {{LABEL_CAPACITY, "true"}, {LABEL_IN_USE, in_use}};
	struct gpu_identity id = {.mem_mib = USABLE, .uuid = "G0"};
	struct pod p = {.ns = NAME_NAMESPACE,
		.name = "c0",
		.uid = "c0-uid",
		.node = "n0",
		.gpus = 1,
		.phase = POD_RUNNING,
		.labels = {labels, 2},
		.identity = &id,
		.holds = true,
		.lingers = lingers,
		.deleting_ms = way == STAYS ? 0 : 5000,
		.grace_s = way == STAYS	    ? 0
			   : way == SHORTLY ? 10
					    : CAPACITY_LINGER_S,
		.disrupted = way == EVICTED,
		.ledger = promised};
	tell_pod(b, &p);
}

static void tell_t0(struct bed *b, bool deleting)
{
	tell_tenant(b, &(struct tenant){.name = "t0",
			       .owner_kind = "ReplicaSet",
			       .owner = "set",
			       .milli = "700",
			       .node = "n0",
			       .deleting = deleting});
}

static struct bed used(void)
{
	struct bed b = bed_make();
	tell_node(&b, "n0", 2, 110);
	tell_reach(&b, true);
	tell_c0(&b, STAYS, IN_USE_MOVABLE, true);
	tell_t0(&b, false);
	cr_assert_null(step(&b, ACTION_EVICT));
	return b;
}

Test(drain, c39_an_evicted_capacity_pod_waits_for_its_tenants_and_then_goes_at_once)
{
	struct bed b = used();
	tell_c0(&b, EVICTED, IN_USE_MOVABLE, true);
	const struct action *a = step(&b, ACTION_EVICT);
	cr_assert_not_null(a);
	cr_expect_str_eq(a->name, "t0");
	cr_expect_not_null(event_of(&b, "NodeLeaves"));
	cr_expect_null(event_of(&b, "GpuOrphaned"), "it is held");
	cr_expect_eq(engine_report(b.e)->gpus_orphaned, 0);
	cr_expect_eq(count_of(&b, ACTION_CREATE_CAPACITY), 0, "and nobody searches for it");
	cr_expect_eq(count_of(&b, ACTION_DELETE_CAPACITY), 0);
	settle(&b, a->id, 0, "");
	tell_t0(&b, true);
	b.now += 5000;
	cr_expect_null(step(&b, ACTION_DELETE_CAPACITY), "it goes, and is not gone");
	tell_gone(&b, "default", "t0");
	a = step(&b, ACTION_DELETE_CAPACITY);
	cr_assert_not_null(a);
	cr_expect_str_eq(a->name, "c0");
	cr_expect_str_eq(a->uid, "c0-uid");
	settle(&b, a->id, 0, "");
	b.now += 20000;
	cr_expect_null(step(&b, ACTION_DELETE_CAPACITY), "once");
	bed_finish(&b);
}

/* How the one went that left first is not forgotten over the other. */
Test(drain, c39_of_two_tenants_each_may_leave_first)
{
	static const struct grant both[] = {
		{"t0", "default", "t0", 700, 1000}, {"t1", "default", "t1", 100, 1000}};
	for (int first = 0; first < 2; first++) {
		const char *const order[] = {both[first].name, both[1 - first].name};
		struct bed b = used();
		promised = (struct ledger){(struct grant *)both, 2};
		for (int i = 0; i < 2; i++) {
			tell_tenant(&b, &(struct tenant){.name = order[i],
						.milli = "100",
						.node = "n0",
						.deleting = true});
		}
		tell_c0(&b, EVICTED, IN_USE_MOVABLE, true);
		step(&b, ACTION_EVICT);
		tell_gone(&b, "default", order[0]);
		for (int i = 0; i < 5; i++, b.now += 1000) {
			tell_c0(&b, EVICTED, IN_USE_MOVABLE, true);
			cr_assert_null(step(&b, ACTION_DELETE_CAPACITY));
		}
		tell_gone(&b, "default", order[1]);
		cr_expect_not_null(step(&b, ACTION_DELETE_CAPACITY), "%s left first", order[0]);
		promised = (struct ledger){(struct grant *)t0, 1};
		bed_finish(&b);
	}
}

Test(drain, c39_it_gets_no_more_tenants_and_who_waits_does_not_keep_it)
{
	struct bed b = used();
	tell_c0(&b, EVICTED, IN_USE_MOVABLE, true);
	tell_waiting(&b, "w", "0.1");
	step(&b, ACTION_EVICT);
	cr_expect_eq(count_of(&b, ACTION_GRANT), 0);
	cr_expect_eq(count_of(&b, ACTION_CREATE_CAPACITY), 1, "on the other GPU");
	bed_finish(&b);
}

Test(drain, c39_whoever_was_promised_a_share_and_not_told_is_not_waited_for)
{
	struct bed b = bed_make();
	tell_node(&b, "n0", 1, 110);
	tell_c0(&b, EVICTED, IN_USE_MOVABLE, true);
	tell_waiting(&b, "t0", "0.7");
	const struct action *a = step(&b, ACTION_DELETE_CAPACITY);
	cr_assert_not_null(a);
	bed_finish(&b);
}

/* The world has seen nothing of who stands there: he may have run, and his processes may still. */
Test(drain, c39_a_share_that_may_be_in_use_still_is_waited_for)
{
	struct bed b = bed_make();
	tell_node(&b, "n0", 1, 110);
	tell_c0(&b, EVICTED, IN_USE_MOVABLE, true);
	cr_expect_null(step(&b, ACTION_DELETE_CAPACITY));
	b.now += 301000;
	cr_expect_not_null(step(&b, ACTION_DELETE_CAPACITY), "C22: five minutes");
	bed_finish(&b);
}

Test(drain, c39_who_runs_there_and_stands_in_no_ledger_is_waited_for)
{
	struct bed b = used();
	tell_c0(&b, EVICTED, IN_USE_MOVABLE, true);
	tell_tenant(&b, &(struct tenant){.name = "t1", .milli = "100", .node = "n0"});
	tell_t0(&b, true);
	step(&b, ACTION_EVICT);
	tell_gone(&b, "default", "t0");
	cr_expect_null(step(&b, ACTION_DELETE_CAPACITY));
	tell_gone(&b, "default", "t1");
	bed_finish(&b);
}

Test(drain, c11_one_that_is_deleted_evicts_nobody_and_is_searched_for_at_its_end)
{
	struct bed b = used();
	tell_c0(&b, DELETED, IN_USE_MOVABLE, true);
	cr_expect_null(step(&b, ACTION_EVICT));
	cr_expect_null(event_of(&b, "GpuOrphaned"));
	b.now += (CAPACITY_LINGER_S - 31) * 1000;
	step(&b, ACTION_EVICT);
	cr_expect_null(event_of(&b, "GpuOrphaned"));
	b.now += 2000;
	cr_expect_null(step(&b, ACTION_EVICT), "its tenants may stay");
	cr_expect_not_null(event_of(&b, "GpuOrphaned"));
	cr_expect_eq(engine_report(b.e)->gpus_orphaned, 1);
	bed_finish(&b);
}

Test(drain, c11_one_with_a_short_grace_waits_for_nobody)
{
	struct bed b = used();
	tell_c0(&b, SHORTLY, IN_USE_MOVABLE, true);
	cr_expect_null(step(&b, ACTION_DELETE_CAPACITY));
	cr_expect_not_null(event_of(&b, "GpuOrphaned"));
	bed_finish(&b);
}

/* --- what its label says --- */

static void tell_keeper(struct bed *b)
{
	struct pair label[] = {{LABEL_TENANT, "true"}};
	struct pair notes[] = {{NOTE_CAPACITY_POD, "c0"}, {NOTE_COMPUTE_MILLI, "700"},
		{NOTE_GPU_UUID, "G0"}, {NOTE_MEMORY_MIB, "1000"}};
	struct pod p = {.ns = "default",
		.name = "t0",
		.uid = "t0",
		.node = "n0",
		.phase = POD_RUNNING,
		.keeps_node = true,
		.labels = {label, 1},
		.notes = {notes, 4}};
	tell_pod(b, &p);
}

Test(drain, c39_the_budget_holds_it_as_long_as_a_tenant_must_not_be_disrupted)
{
	struct bed b = used();
	b.now += 20000;
	cr_expect_null(step(&b, ACTION_GRANT), "it says what is so");
	tell_keeper(&b);
	const struct action *a = step(&b, ACTION_GRANT);
	cr_assert_not_null(a);
	cr_expect_not(a->movable);
	bed_finish(&b);
}

Test(drain, c39_what_a_version_before_wrote_is_put_right)
{
	struct bed b = used();
	tell_c0(&b, STAYS, IN_USE_HELD, true);
	const struct action *a = step(&b, ACTION_GRANT);
	cr_assert_not_null(a);
	cr_expect(a->movable);
	cr_expect_eq(a->ledger.count, 1);
	bed_finish(&b);
}

Test(drain, c30_the_budget_holds_one_of_a_version_before_which_would_not_wait)
{
	struct bed b = used();
	b.now += 20000;
	tell_c0(&b, STAYS, IN_USE_HELD, false);
	cr_expect_null(step(&b, ACTION_GRANT), "it says what is so");
	tell_c0(&b, STAYS, IN_USE_MOVABLE, false);
	const struct action *a = step(&b, ACTION_GRANT);
	cr_assert_not_null(a);
	cr_expect_not(a->movable);
	bed_finish(&b);
}
