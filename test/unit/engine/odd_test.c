/* Odd things that real clusters do, one step at a time: each pod is told to the engine as a watch
 * would, and the plan is read. */
#include <stdlib.h>

#include "odd_bed.h"
#include "state.h"

/* The ledger keeps the entry of the one that left until the next write: that is no reason to look
 * again at once, and again, and again. */
Test(odd, a_tenant_that_left_does_not_keep_the_engine_awake)
{
	struct bed b = bed_make();
	struct grant both[] = {
		{"t", "default", "t", 700, 50000}, {"gone", "default", "g", 100, 800}};
	tell_node(&b, "n0", 1, 110);
	tell_capacity(&b, &(struct cap){"cap", "c1", "GPU-A", false, {both, 2}});
	tell_running(&b, "t", "cap", "GPU-A");
	for (int i = 0; i < 30; i++, b.now += 1000) {
		cr_assert_null(step(&b, ACTION_GRANT));
		cr_expect_gt(engine_next_deadline(b.e), b.now, "second %d", i);
	}
	bed_finish(&b);
}

Test(odd, a_deletion_that_is_refused_does_not_keep_the_engine_awake)
{
	struct bed b = bed_make();
	tell_node(&b, "n0", 1, 110);
	tell_capacity(&b, &(struct cap){"cap", "c1", "GPU-A", false, {0}});
	cr_assert_null(step(&b, ACTION_DELETE_CAPACITY));
	b.now += 60000;
	const struct action *a = step(&b, ACTION_DELETE_CAPACITY);
	cr_assert_not_null(a);
	refuse(&b, a);
	b.now += 10;
	cr_assert_null(step(&b, ACTION_DELETE_CAPACITY));
	cr_expect_gt(engine_next_deadline(b.e), b.now);
	bed_finish(&b);
}

Test(odd, one_that_no_longer_leads_sleeps)
{
	struct bed b = bed_make();
	tell_node(&b, "n0", 1, 110);
	step(&b, ACTION_GRANT);
	struct change follow = {.type = CHANGE_LEADER, .leads = false};
	engine_observe(b.e, &follow);
	step(&b, ACTION_GRANT);
	cr_expect_gt(engine_next_deadline(b.e), b.now);
	bed_finish(&b);
}

/* Deleted by hand, made anew under the same name, and the device plugin gave it the other GPU. The
 * tenant still runs on the first, which another capacity pod holds now. */
Test(odd, a_tenant_counts_on_the_gpu_it_runs_on_not_on_a_name)
{
	struct bed b = bed_make();
	tell_node(&b, "n0", 2, 110);
	tell_capacity(&b, &(struct cap){"cap-0", "c1", "GPU-A", false, {0}});
	tell_running(&b, "t", "cap-0", "GPU-A");
	step(&b, ACTION_GRANT);
	tell_gone(&b, NAME_NAMESPACE, "cap-0");
	tell_capacity(&b, &(struct cap){"cap-0", "c2", "GPU-B", false, {0}});
	tell_capacity(&b, &(struct cap){"cap-1", "c3", "GPU-A", false, {0}});
	tell_waiting(&b, "w", "0.7");
	const struct action *a = step(&b, ACTION_GRANT);
	cr_assert_not_null(a);
	cr_expect_str_eq(a->name, "cap-0", "GPU-A has 300 milli left");
	cr_expect_eq(a->ledger.count, 1, "and t is not on GPU-B");
	bed_finish(&b);
}

/* It told its GPU once; since then its main container finds another device and exits. */
Test(odd, a_capacity_pod_that_stops_holding_is_not_waited_for_for_ever)
{
	struct bed b = bed_make();
	tell_node(&b, "n0", 2, 110);
	tell_capacity(&b, &(struct cap){"cap", "c1", "GPU-A", true, {0}});
	tell_waiting(&b, "w", "0.7");
	cr_assert_null(step(&b, ACTION_DELETE_CAPACITY));
	cr_assert_eq(b.plan.actions.count, 0, "it may come back");
	b.now += 120000;
	cr_expect_not_null(step(&b, ACTION_DELETE_CAPACITY));
	bed_finish(&b);
}

/* With a tenant on it, it stays; but nobody else waits for it. */
Test(odd, a_broken_capacity_pod_with_tenants_attracts_no_others)
{
	struct bed b = bed_make();
	struct grant t[] = {{"t", "default", "t", 700, 50000}};
	tell_node(&b, "n0", 2, 110);
	tell_capacity(&b, &(struct cap){"cap", "c1", "GPU-A", true, {t, 1}});
	tell_running(&b, "t", "cap", "GPU-A");
	tell_waiting(&b, "w", "0.2");
	cr_assert_null(step(&b, ACTION_CREATE_CAPACITY), "it may come back");
	b.now += 120000;
	cr_expect_not_null(step(&b, ACTION_CREATE_CAPACITY));
	vec_for_each (const struct action, a, &b.plan.actions) {
		cr_expect_neq(a->type, ACTION_DELETE_CAPACITY);
	}
	bed_finish(&b);
}

/* Nor when no ledger names them: as long as the pod is there, the device is not free. */
Test(odd, a_broken_capacity_pod_stays_while_anyone_runs_on_its_gpu)
{
	struct bed b = bed_make();
	tell_node(&b, "n0", 2, 110);
	tell_capacity(&b, &(struct cap){"cap", "c1", "GPU-A", true, {0}});
	tell_running(&b, "t", "another", "GPU-A");
	cr_assert_null(step(&b, ACTION_DELETE_CAPACITY));
	b.now += 120000;
	cr_expect_null(step(&b, ACTION_DELETE_CAPACITY));
	bed_finish(&b);
}

/* More wait than one step can look at: the last slice of a round has not seen the first ones. */
Test(odd, a_gpu_that_is_opened_for_the_first_in_a_long_line_is_not_idle)
{
	struct bed b = bed_make();
	tell_node(&b, "n0", 1, 110);
	tell_capacity(&b, &(struct cap){"cap", "c1", NULL, false, {0}});
	tell_waiting(&b, "a", "0.5");
	tell_waiting(&b, "z", "not a share");
	for (int i = 0; i < 200; i++, b.now += 500) {
		cr_assert_null(step_within(&b, 1, ACTION_DELETE_CAPACITY), "after %d", i);
	}
	bed_finish(&b);
}

/* Without our label nobody would count it once it runs; it waits, and says why. */
Test(odd, a_gated_pod_without_the_tenant_label_is_told_not_ours)
{
	struct bed b = bed_make();
	struct pair notes[] = {{NOTE_ORIGINAL, "{}"}, {NOTE_SHARE, "0.2"}};
	const char *gate[] = {NAME_GATE};
	struct pod p = {.ns = "default",
		.name = "copy",
		.uid = "u",
		.notes = {notes, 2},
		.gates = gate,
		.gate_count = 1};
	tell_node(&b, "n0", 1, 110);
	tell_pod(&b, &p);
	cr_assert_null(step(&b, ACTION_CREATE_CAPACITY));
	b.now += 11000;
	const struct action *a = step(&b, ACTION_CONDITION);
	cr_assert_not_null(a);
	cr_expect_eq(a->reason, REASON_NOT_OURS);
	bed_finish(&b);
}

/* One slot: the capacity pod would take it, the tenant would not fit, and a minute later all would
 * begin again. */
Test(odd, no_gpu_is_opened_where_only_the_capacity_pod_has_a_slot)
{
	struct bed b = bed_make();
	tell_node(&b, "n0", 1, 1);
	tell_waiting(&b, "w", "0.5");
	cr_expect_null(step(&b, ACTION_CREATE_CAPACITY));
	cr_expect_eq(engine_report(b.e)->by_reason[REASON_NODE_UNFIT], 1);
	tell_node(&b, "n0", 1, 2);
	cr_expect_not_null(step(&b, ACTION_CREATE_CAPACITY));
	bed_finish(&b);
}

static void tell_labelled_node(struct bed *b, const char *memory)
{
	struct pair label[] = {{"nvidia.com/gpu.memory", memory}};
	struct node n = {.name = "n0",
		.ready = true,
		.cpu_milli = 64000,
		.mem_bytes = (int64_t)1 << 40,
		.pod_slots = 110,
		.gpus = 8,
		.labels = {label, memory != NULL ? 1 : 0}};
	struct change set = {.type = CHANGE_SET, .kind = KIND_NODE, .node = &n};
	engine_observe(b->e, &set);
}

static void tell_large(struct bed *b, const char *memory)
{
	struct pair label[] = {{LABEL_TENANT, "true"}};
	struct pair notes[] = {{NOTE_ORIGINAL, "{}"}, {NOTE_MEMORY, memory}};
	const char *gate[] = {NAME_GATE};
	struct pod p = {.ns = "default",
		.name = "w",
		.uid = "w",
		.labels = {label, 1},
		.notes = {notes, 2},
		.gates = gate,
		.gate_count = 1};
	tell_pod(b, &p);
}

/* kai 24: no label tells how large the GPUs are, or it counts what nobody can use; the first that
 * was opened has, and after it has gone that is still so. */
Test(odd, what_cannot_fit_does_not_open_one_gpu_after_the_other)
{
	static const struct {
		const char *label, *ask;
		bool opens;
	} cases[] = {{NULL, "100Gi", false}, {"81559", "79Gi", false}, {"81559", "78Gi", true},
		{NULL, "78Gi", true}, {"200000", "100Gi", true}};
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct bed b = bed_make();
		tell_labelled_node(&b, cases[i].label);
		tell_capacity(&b, &(struct cap){"cap", "c1", "GPU-A", false, {0}});
		tell_large(&b, "100000Gi");
		cr_expect_null(step(&b, ACTION_CREATE_CAPACITY));
		tell_gone(&b, NAME_NAMESPACE, "cap");
		tell_large(&b, cases[i].ask);
		b.now += 120000;
		const struct action *a = step(&b, ACTION_CREATE_CAPACITY);
		cr_expect_eq(a != NULL, cases[i].opens, "%zu", i);
		bed_finish(&b);
	}
}

/* Autoscaled nodes come and go under new names for months. */
Test(odd, what_is_known_of_a_node_goes_with_it)
{
	struct bed b = bed_make();
	struct change gone = {.type = CHANGE_GONE, .kind = KIND_NODE, .name = "n0"};
	tell_labelled_node(&b, NULL);
	tell_capacity(&b, &(struct cap){"cap", "c1", NULL, false, {0}});
	step(&b, ACTION_GRANT);
	b.now += 120000;
	cr_assert_not_null(step(&b, ACTION_DELETE_CAPACITY), "it never came up");
	cr_expect_eq(b.e->book.memos.count, 1);
	engine_observe(b.e, &gone);
	tell_gone(&b, NAME_NAMESPACE, "cap");
	step(&b, ACTION_GRANT);
	cr_expect_eq(b.e->book.memos.count, 1, "a node of that name would fail as well");
	b.now += 600001;
	step(&b, ACTION_GRANT);
	cr_expect_eq(b.e->book.memos.count, 0);
	bed_finish(&b);
}

static void tell_kind(struct bed *b, enum change_type type)
{
	struct change c = {.type = type, .kind = KIND_POD, .no_sweep = true};
	engine_observe(b->e, &c);
}

/* After a restart the ledger names a tenant that nobody can read: it may well run. */
Test(odd, an_entry_does_not_expire_while_some_pod_is_unread)
{
	struct bed b = bed_make();
	struct grant t[] = {{"t", "default", "t", 700, 50000}};
	struct cap cap = {"cap", "c1", "GPU-A", false, {t, 1}};
	tell_node(&b, "n0", 1, 110);
	tell_kind(&b, CHANGE_KEEP);
	tell_capacity(&b, &cap);
	tell_waiting(&b, "w", "0.5");
	for (int i = 0; i < 60; i++, b.now += 1000) {
		cr_assert_null(step(&b, ACTION_GRANT), "second %d", i);
	}
	/* Everything could be read: it is gone. */
	tell_kind(&b, CHANGE_RELIST_BEGIN);
	tell_kind(&b, CHANGE_RELIST_END);
	cr_expect_null(step(&b, ACTION_GRANT));
	b.now += 300000;
	cr_expect_not_null(step(&b, ACTION_GRANT));
	bed_finish(&b);
}

/* Nor must it keep everybody's shares: what it is called says whose it is. */
Test(odd, an_entry_expires_while_a_pod_of_somebody_else_is_unread)
{
	struct bed b = bed_make();
	struct grant t[] = {{"t", "default", "t", 700, 50000}};
	struct change unread = {
		.type = CHANGE_KEEP, .kind = KIND_POD, .ns = "default", .name = "t"};
	tell_node(&b, "n0", 1, 110);
	tell_capacity(&b, &(struct cap){"cap", "c1", "GPU-A", false, {t, 1}});
	tell_waiting(&b, "w", "0.5");
	engine_observe(b.e, &unread);
	cr_expect_null(step(&b, ACTION_GRANT));
	b.now += 300000;
	cr_expect_null(step(&b, ACTION_GRANT), "it is there, whatever it is");
	tell_gone(&b, "default", "t");
	unread.ns = "mallory";
	engine_observe(b.e, &unread);
	cr_expect_null(step(&b, ACTION_GRANT));
	b.now += 300000;
	cr_expect_not_null(step(&b, ACTION_GRANT));
	bed_finish(&b);
}

/* The scheduler counts it; one person's huge pod must not stop everybody. */
Test(odd, a_gpu_is_opened_while_some_pod_is_unread)
{
	struct bed b = bed_make();
	tell_node(&b, "n0", 1, 110);
	tell_waiting(&b, "w", "0.5");
	tell_kind(&b, CHANGE_KEEP);
	cr_expect_not_null(step(&b, ACTION_CREATE_CAPACITY));
	bed_finish(&b);
}

Test(odd, an_open_gpu_is_given_while_some_pod_is_unread)
{
	struct bed b = bed_make();
	tell_node(&b, "n0", 2, 110);
	tell_capacity(&b, &(struct cap){"cap", "c1", "GPU-A", false, {0}});
	tell_kind(&b, CHANGE_KEEP);
	tell_waiting(&b, "w", "0.5");
	cr_expect_not_null(step(&b, ACTION_GRANT));
	bed_finish(&b);
}

/* No API server hands these out; one that does must not end the process. */
Test(odd, an_absurd_object_is_refused)
{
	enum { MANY = 1 << 20 };
	struct bed b = bed_make();
	char *name = malloc(MANY);
	struct toleration *all = calloc(MANY, sizeof *all);
	cr_assert(name != NULL && all != NULL);
	memset(name, 'a', MANY - 1);
	name[MANY - 1] = '\0';
	struct pod p = {.ns = "default", .name = name, .uid = "u", .gpus = 1};
	struct change set = {.type = CHANGE_SET, .kind = KIND_POD, .pod = &p};
	cr_expect_not(engine_observe(b.e, &set), "its name");
	p.name = "p";
	p.tolerations = all;
	p.toleration_count = MANY;
	cr_expect_not(engine_observe(b.e, &set), "its size");
	cr_expect_null(world_pod_find(engine_world(b.e), "default", "p"));
	p.toleration_count = 1000;
	cr_expect(engine_observe(b.e, &set));
	cr_expect_not_null(world_pod_find(engine_world(b.e), "default", "p"));
	free(all);
	free(name);
	bed_finish(&b);
}

/* C8: what is written on a pod is a request. Whoever put it there, exclude, Disabled and a policy
 * that is not there beat it at the grant too. */
Test(odd, c8_a_tenant_that_may_have_no_share_now_is_told_and_gets_none)
{
	static const struct {
		const char *key, *value;
		enum reason reason;
	} rows[] = {{NOTE_EXCLUDE, "true", REASON_EXCLUDED},
		{NOTE_MODE, "Disabled", REASON_DISABLED},
		{NOTE_POLICY, "gone", REASON_POLICY_NOT_FOUND},
		{NOTE_EXCLUDE, "false", REASON_NONE}};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct bed b = bed_make();
		struct pair label[] = {{LABEL_TENANT, "true"}};
		struct pair notes[] = {
			{NOTE_ORIGINAL, "{}"}, {NOTE_SHARE, "0.5"}, {rows[i].key, rows[i].value}};
		const char *gate[] = {NAME_GATE};
		struct pod p = {.ns = "default",
			.name = "t",
			.uid = "t",
			.labels = {label, 1},
			.notes = {notes, 3},
			.gates = gate,
			.gate_count = 1};
		tell_node(&b, "n0", 1, 110);
		tell_capacity(&b, &(struct cap){"cap", "c1", "GPU-A", false, {0}});
		tell_pod(&b, &p);
		bool granted = step(&b, ACTION_GRANT) != NULL;
		cr_assert_eq(granted, rows[i].reason == REASON_NONE, "row %zu", i);
		b.now += 11000;
		const struct action *a = step(&b, ACTION_CONDITION);
		cr_assert(granted || (a != NULL && a->reason == rows[i].reason), "row %zu", i);
		bed_finish(&b);
	}
}

static void tell_whole(struct bed *b, const char *fraction, const char *shown)
{
	struct pair notes[] = {{NOTE_GPU_FRACTION, fraction}};
	struct pod p = {.ns = "default",
		.name = "whole",
		.uid = "whole",
		.gpus = 1,
		.phase = POD_RUNNING,
		.placed = {.type = shown != NULL ? NAME_PLACED : NULL, .reason = shown},
		.notes = {notes, 1}};
	tell_pod(b, &p);
}

Test(odd, what_cannot_be_read_is_told_until_it_shows_and_taken_back)
{
	struct bed b = bed_make();
	int events = 0, conditions = 0;
	tell_whole(&b, "a half", NULL);
	for (int i = 0; i < 100; i++, b.now += 1000) {
		conditions += step(&b, ACTION_CONDITION) != NULL;
		vec_for_each (const struct action, a, &b.plan.actions) {
			events += a->type == ACTION_EVENT;
		}
	}
	cr_expect_eq(events, 1);
	cr_expect(conditions >= 3 && conditions <= 4, "%d", conditions);
	tell_whole(&b, "a half", "BadValue");
	for (int i = 0; i < 100; i++, b.now += 1000) {
		cr_expect_null(step(&b, ACTION_CONDITION), "it is shown");
	}
	tell_whole(&b, "0.5", "BadValue");
	const struct action *a = step(&b, ACTION_CONDITION);
	cr_assert_not_null(a);
	cr_expect(a->is_true);
	cr_expect_eq(a->reason, REASON_WHOLE);
	bed_finish(&b);
}

/* The ledger named it, so it is remembered although it was never looked at. */
Test(odd, an_event_about_a_placed_pod_names_it)
{
	struct bed b = bed_make();
	struct grant t[] = {{"t", "default", "t", 500, 40000}};
	tell_node(&b, "n0", 1, 110);
	tell_capacity(&b, &(struct cap){"cap", "c1", "GPU-A", false, {t, 1}});
	/* On its way out, so nobody places it any more; another process just did. */
	const char *gate[] = {NAME_GATE};
	struct pod p = {.ns = "default",
		.name = "t",
		.uid = "t",
		.deleting_ms = 1,
		.gates = gate,
		.gate_count = 1};
	tell_pod(&b, &p);
	cr_assert_null(step(&b, ACTION_PLACE));
	tell_running(&b, "t", "cap", "GPU-A");
	const struct action *a = step(&b, ACTION_EVENT);
	cr_assert_not_null(a);
	cr_assert_not_null(a->ns);
	cr_expect_str_eq(a->ns, "default");
	cr_expect_str_eq(a->name, "t");
	bed_finish(&b);
}

/* Its needs count, but nobody looks where it may go, and nobody behind it waits for that. */
Test(odd, a_tenant_with_too_many_rules_is_told_and_not_placed)
{
	struct bed b = bed_make();
	struct pair label[] = {{LABEL_TENANT, "true"}};
	struct pair notes[] = {{NOTE_ORIGINAL, "{}"}, {NOTE_SHARE, "0.5"}};
	const char *gate[] = {NAME_GATE};
	struct pod p = {.ns = "default",
		.name = "big",
		.uid = "big",
		.labels = {label, 1},
		.notes = {notes, 2},
		.gates = gate,
		.gate_count = 1,
		.too_complex = true};
	tell_node(&b, "n0", 1, 110);
	tell_capacity(&b, &(struct cap){"cap", "c1", "GPU-A", false, {0}});
	tell_pod(&b, &p);
	cr_assert_null(step(&b, ACTION_GRANT));
	b.now += 11000;
	const struct action *a = step(&b, ACTION_CONDITION);
	cr_assert_not_null(a);
	cr_assert_eq(a->reason, REASON_TOO_COMPLEX);
	tell_waiting(&b, "small", "0.5");
	a = step(&b, ACTION_GRANT);
	cr_assert_not_null(a);
	cr_assert_eq(a->ledger.count, 1);
	cr_assert_str_eq(a->ledger.items[0].name, "small");
	bed_finish(&b);
}

static const char *said_of(const struct bed *b, const char *name)
{
	vec_for_each (const struct action, a, &b->plan.actions) {
		if (a->type == ACTION_CONDITION && strcmp(a->name, name) == 0) {
			return a->message;
		}
	}
	return NULL;
}

/* The watches broke, or this process was stopped; five minutes later the first step is cut short
 * after the first of the two. */
Test(odd, what_a_step_of_minutes_ago_found_is_told_to_nobody)
{
	struct bed b = bed_make();
	tell_node(&b, "n0", 1, 110);
	tell_capacity(&b, &(struct cap){"cap", "c1", NULL, false, {0}});
	tell_waiting(&b, "a", "0.5");
	tell_waiting(&b, "b", "0.8");
	cr_assert_null(step(&b, ACTION_CONDITION), "it is too early to tell");
	cr_expect_eq(engine_report(b.e)->by_reason[REASON_WAITING_FOR_CAPACITY], 1);
	struct grant all[] = {{"x", "default", "x", 900, 60000}};
	b.now += 300000;
	tell_capacity(&b, &(struct cap){"cap", "c1", "GPU-A", false, {all, 1}});
	tell_running(&b, "x", "cap", "GPU-A");
	step_within(&b, 1, ACTION_CONDITION);
	cr_expect_not_null(said_of(&b, "a"));
	cr_expect_null(said_of(&b, "b"), "nobody looked at it: %s", said_of(&b, "b"));
	cr_expect_leq(engine_next_deadline(b.e), b.now);
	step(&b, ACTION_CONDITION);
	cr_expect_not_null(said_of(&b, "b"));
	bed_finish(&b);
}

/* It waited for room and was told so; now there is room, and a write takes a second or two. */
Test(odd, a_write_that_has_just_begun_is_told_to_nobody_however_long_it_waited)
{
	struct bed b = bed_make();
	struct grant all[] = {{"x", "default", "x", 900, 60000}};
	tell_node(&b, "n0", 1, 110);
	tell_capacity(&b, &(struct cap){"cap", "c1", "GPU-A", false, {all, 1}});
	tell_running(&b, "x", "cap", "GPU-A");
	tell_waiting(&b, "w", "0.8");
	cr_assert_null(step(&b, ACTION_CONDITION));
	b.now += 11000;
	cr_assert_not_null(step(&b, ACTION_CONDITION));
	tell_gone(&b, "default", "x");
	step(&b, ACTION_GRANT);
	b.now += 400000;
	bool told = step(&b, ACTION_CONDITION) != NULL;
	cr_assert_eq(engine_report(b.e)->by_reason[REASON_GRANTING], 1);
	cr_expect_not(told);
	b.now += 9000;
	cr_expect_null(step(&b, ACTION_CONDITION));
	b.now += 1000;
	const struct action *a = step(&b, ACTION_CONDITION);
	cr_assert_not_null(a, "it takes long");
	cr_expect_eq(a->reason, REASON_GRANTING);
	bed_finish(&b);
}
