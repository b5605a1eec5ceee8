/* C22: when the share of a tenant whose object is gone is free. On one GPU `t` has 0.7, and `w`
 * waits for a half. */
#include "engine/journal.h"
#include "odd_bed.h"

static const struct cap cap = {"cap", "c1", "GPU-A", false, {0}};

struct end {
	int64_t grace_s; /* of its deletion; -1: it was not being deleted */
	enum pod_phase phase;
	const char *node; /* NULL: never bound */
};

static void tell_tenant(struct bed *b, const struct end *end)
{
	struct pair label[] = {{LABEL_TENANT, "true"}};
	struct pair notes[] = {{NOTE_CAPACITY_POD, "cap"}, {NOTE_COMPUTE_MILLI, "700"},
		{NOTE_GPU_UUID, "GPU-A"}, {NOTE_MEMORY_MIB, "50000"}};
	struct pod p = {.ns = "default",
		.name = "t",
		.uid = "t",
		.node = end->node,
		.phase = end->phase,
		.deleting_ms = end->grace_s >= 0 ? 5000 : 0,
		.grace_s = end->grace_s > 0 ? end->grace_s : 0,
		.labels = {label, 1},
		.notes = {notes, 4}};
	tell_pod(b, &p);
}

static void tell_ready(struct bed *b, bool ready)
{
	struct node n = {.name = "n0",
		.ready = ready,
		.cpu_milli = 64000,
		.mem_bytes = (int64_t)1 << 40,
		.pod_slots = 110,
		.gpus = 1};
	struct change set = {.type = CHANGE_SET, .kind = KIND_NODE, .node = &n};
	engine_observe(b->e, &set);
}

static struct bed bed_with_tenant(bool in_ledger)
{
	struct bed b = bed_make();
	struct grant t[] = {{"t", "default", "t", 700, 50000}};
	struct cap holder = cap;
	holder.ledger = (struct ledger){t, in_ledger ? 1 : 0};
	tell_ready(&b, true);
	tell_capacity(&b, &holder);
	tell_tenant(&b, &(struct end){-1, POD_RUNNING, "n0"});
	tell_waiting(&b, "w", "0.5");
	const struct action *mends = step(&b, ACTION_GRANT);
	cr_assert_eq(mends == NULL, in_ledger, "it is entered where it is missing");
	if (mends != NULL) {
		/* That fails, and is not tried again soon. */
		struct outcome o = {.fault = {.kind = FAULT_CONFLICT}};
		engine_settle(b.e, (struct engine_now){b.now, b.now}, mends->id, &o);
		b.now += 6000;
		cr_assert_null(step(&b, ACTION_GRANT));
	}
	return b;
}

/* How many seconds until `w` gets its half. */
static int waits(struct bed *b)
{
	int s = 0;
	while (s < 1000 && step(b, ACTION_GRANT) == NULL) {
		b->now += 1000;
		s++;
	}
	return s;
}

static const struct action *given_up(struct bed *b)
{
	vec_for_each (const struct action, a, &b->plan.actions) {
		if (a->type == ACTION_EVENT && text_equals(a->event_reason, "ShareGivenUp")) {
			return a;
		}
	}
	return NULL;
}

Test(departed, c22_with_a_grace_and_its_node_ready_the_share_is_free_at_once)
{
	struct bed b = bed_with_tenant(true);
	tell_tenant(&b, &(struct end){30, POD_RUNNING, "n0"});
	cr_assert_null(step(&b, ACTION_GRANT), "not when its deletion begins");
	/* The kubelet's last write takes the grace away. */
	tell_tenant(&b, &(struct end){0, POD_RUNNING, "n0"});
	tell_gone(&b, "default", "t");
	cr_expect_eq(waits(&b), 0);
	bed_finish(&b);
}

/* Somebody's pods that cannot be read hide who is missing, not who was seen to go. */
Test(departed, c22_who_was_seen_to_go_is_no_unread_pod)
{
	struct bed b = bed_with_tenant(true);
	for (int i = 0; i < 100; i++) {
		char name[16];
		snprintf(name, sizeof name, "m-%d", i);
		engine_observe(b.e, &(struct change){.type = CHANGE_KEEP,
					    .kind = KIND_POD,
					    .ns = "default",
					    .name = name});
	}
	tell_tenant(&b, &(struct end){30, POD_RUNNING, "n0"});
	tell_gone(&b, "default", "t");
	cr_expect_eq(waits(&b), 0);
	bed_finish(&b);
}

Test(departed, c22_over_before_it_was_gone_the_share_is_free_at_once)
{
	struct bed b = bed_with_tenant(true);
	tell_tenant(&b, &(struct end){-1, POD_SUCCEEDED, "n0"});
	tell_gone(&b, "default", "t");
	cr_expect_eq(waits(&b), 0);
	bed_finish(&b);
}

/* The grant that strikes it out did not land: how it went is still known. */
Test(departed, c22_a_share_that_is_free_is_free_after_a_conflict_too)
{
	struct bed b = bed_with_tenant(true);
	tell_tenant(&b, &(struct end){-1, POD_SUCCEEDED, "n0"});
	tell_gone(&b, "default", "t");
	for (int i = 0; i < 3; i++) {
		const struct action *grant = step(&b, ACTION_GRANT);
		cr_assert_not_null(grant, "try %d", i);
		cr_assert_eq(grant->ledger.count, 1, "it is struck out");
		uint64_t id = grant->id;
		tell_waiting(&b, i == 0 ? "x" : i == 1 ? "y" : "z", "0.9");
		cr_assert_null(step(&b, ACTION_GRANT), "that is on its way");
		struct outcome o = {.fault = {.kind = FAULT_CONFLICT}};
		engine_settle(b.e, (struct engine_now){b.now, b.now}, id, &o);
		struct grant t[] = {{"t", "default", "t", 700, 50000}};
		struct cap holder = cap;
		holder.ledger = (struct ledger){t, 1};
		tell_capacity(&b, &holder);
		b.now += 10000;
	}
	bed_finish(&b);
}

Test(departed, c22_by_force_the_share_is_held_for_five_minutes_and_then_told)
{
	struct bed b = bed_with_tenant(true);
	tell_gone(&b, "default", "t");
	cr_expect_eq(waits(&b), 300);
	const struct action *told = given_up(&b);
	cr_assert_not_null(told);
	cr_expect_str_eq(told->name, "cap");
	cr_expect_not_null(strstr(told->message, "default/t "), "%s", told->message);
	cr_expect_null(step(&b, ACTION_GRANT));
	cr_expect_null(given_up(&b), "once");
	bed_finish(&b);
}

Test(departed, c22_where_its_node_was_not_ready_a_grace_says_nothing)
{
	struct bed b = bed_with_tenant(true);
	tell_tenant(&b, &(struct end){30, POD_RUNNING, "n0"});
	tell_ready(&b, false);
	tell_gone(&b, "default", "t");
	tell_ready(&b, true);
	cr_expect_eq(waits(&b), 300);
	bed_finish(&b);
}

Test(departed, c22_one_that_never_got_a_node_has_nothing_that_runs)
{
	struct bed b = bed_with_tenant(true);
	tell_gone(&b, "default", "t");
	tell_tenant(&b, &(struct end){-1, POD_PENDING, NULL});
	tell_gone(&b, "default", "t");
	cr_expect_eq(waits(&b), 0);
	bed_finish(&b);
}

/* An orphan stands in no ledger: the UUID holds its share. */
Test(departed, c22_by_force_and_in_no_ledger_the_share_is_held_all_the_same)
{
	struct bed b = bed_with_tenant(false);
	tell_gone(&b, "default", "t");
	cr_expect_eq(waits(&b), 300);
	cr_expect_eq(world_departed_count(engine_world(b.e)), 0, "and then forgotten");
	bed_finish(&b);
}

/* Somebody of another namespace, beside whom there is room. */
static void tell_neighbour(struct bed *b)
{
	struct grant x[] = {{"x", "elsewhere", "x", 100, 1000}};
	struct pair label[] = {{LABEL_TENANT, "true"}};
	struct pair notes[] = {{NOTE_CAPACITY_POD, "other"}, {NOTE_COMPUTE_MILLI, "100"},
		{NOTE_GPU_UUID, "GPU-B"}, {NOTE_MEMORY_MIB, "1000"}};
	struct pod p = {.ns = "elsewhere",
		.name = "x",
		.uid = "x",
		.node = "n0",
		.phase = POD_RUNNING,
		.labels = {label, 1},
		.notes = {notes, 4}};
	tell_capacity(b, &(struct cap){"other", "c2", "GPU-B", false, {x, 1}});
	tell_pod(b, &p);
}

/* Nor does its namespace get that part of its quota back, whichever GPU has room. */
Test(departed, c7_in_no_ledger_it_counts_in_its_quota_all_the_same)
{
	struct bed b = bed_make();
	struct quota q = {"default", "gpus", true, 1000, {NULL, 0}};
	struct change set = {.type = CHANGE_SET, .kind = KIND_QUOTA, .quota = &q};
	tell_node(&b, "n0", 2, 110);
	tell_neighbour(&b);
	tell_tenant(&b, &(struct end){-1, POD_RUNNING, "n0"});
	engine_observe(b.e, &set);
	tell_waiting(&b, "w", "0.5");
	cr_assert_null(step(&b, ACTION_GRANT), "its quota is used");
	tell_gone(&b, "default", "t");
	cr_expect_eq(waits(&b), 300);
	bed_finish(&b);
}

static void relist(struct bed *b, bool with_tenant)
{
	struct grant t[] = {{"t", "default", "t", 700, 50000}};
	struct cap holder = cap;
	holder.ledger = (struct ledger){t, 1};
	struct change begin = {.type = CHANGE_RELIST_BEGIN, .kind = KIND_POD};
	struct change end = {.type = CHANGE_RELIST_END, .kind = KIND_POD};
	engine_observe(b->e, &begin);
	tell_capacity(b, &holder);
	tell_waiting(b, "w", "0.5");
	if (with_tenant) {
		tell_tenant(b, &(struct end){30, POD_RUNNING, "n0"});
	}
	engine_observe(b->e, &end);
}

Test(departed, c22_a_list_that_comes_without_it_is_a_deletion_of_which_the_last_word_counts)
{
	struct bed b = bed_with_tenant(true);
	relist(&b, true);
	cr_assert_null(step(&b, ACTION_GRANT));
	relist(&b, false);
	cr_expect_eq(waits(&b), 0, "its deletion had begun with a grace");
	bed_finish(&b);
	b = bed_with_tenant(true);
	relist(&b, false);
	cr_expect_eq(waits(&b), 300, "nobody saw how it went");
	bed_finish(&b);
}

/* Nobody who is here now has ever seen its pod: nothing follows from that. */
Test(departed, an_entry_whose_tenant_was_never_seen_is_held_like_one_that_went_by_force)
{
	struct bed b = bed_make();
	struct grant t[] = {{"t", "default", "t", 700, 50000}};
	struct cap holder = cap;
	holder.ledger = (struct ledger){t, 1};
	tell_ready(&b, true);
	tell_capacity(&b, &holder);
	tell_waiting(&b, "w", "0.5");
	cr_expect_eq(waits(&b), 300);
	cr_expect_not_null(given_up(&b));
	bed_finish(&b);
}

/* A picture tells capacity pods before their tenants: who is not told of yet is not gone. */
Test(departed, while_a_picture_is_told_nobody_is_gone)
{
	struct bed b = bed_make();
	struct grant t[] = {{"t", "default", "t", 700, 50000}};
	struct cap holder = cap;
	holder.ledger = (struct ledger){t, 1};
	tell_ready(&b, true);
	struct change begin = {.type = CHANGE_RELIST_BEGIN, .kind = KIND_POD};
	engine_observe(b.e, &begin);
	tell_capacity(&b, &holder);
	tell_waiting(&b, "w", "0.5");
	cr_expect_eq(waits(&b), 1000, "however long it takes");
	bed_finish(&b);
}

Test(departed, c12_a_gpu_that_may_be_used_still_is_not_given_back)
{
	struct bed b = bed_with_tenant(false);
	tell_gone(&b, "default", "w");
	tell_gone(&b, "default", "t");
	for (int i = 0; i < 299; i++, b.now += 1000) {
		cr_assert_null(step(&b, ACTION_DELETE_CAPACITY), "second %d", i);
	}
	b.now += 62000;
	cr_assert_null(step(&b, ACTION_DELETE_CAPACITY));
	b.now += 60000;
	cr_expect_not_null(step(&b, ACTION_DELETE_CAPACITY));
	bed_finish(&b);
}

/* A replay that begins after the departures knows of them. */
Test(departed, survives_in_the_journal)
{
	struct bed b = bed_with_tenant(false);
	struct journal_config config = {.version = "test"};
	struct journal *j = journal_create(&config);
	tell_gone(&b, "default", "t");
	cr_assert_null(step(&b, ACTION_GRANT));
	engine_record(b.e, j);
	cr_expect_eq(waits(&b), 300);
	CLEANUP(str_finish) struct str bytes = STR_INIT(1u << 20);
	journal_dump(j, &bytes);
	struct journal_summary sum;
	struct fault f = {0};
	struct view view = {str_text(&bytes), bytes.len};
	cr_assert_eq(journal_replay(view, "test", &sum, &f), 0, "%s", f.message);
	cr_expect_gt(sum.steps, 100);
	cr_expect_not(sum.diverged, "%s", sum.divergence);
	engine_record(b.e, NULL);
	journal_destroy(j);
	bed_finish(&b);
}
