/* C11: GPUs whose capacity pod is lost while tenants run on them. `t` runs on GPU-A of a node with
 * two or more GPUs. */
#include "engine/journal.h"
#include "odd_bed.h"

static const struct cap first = {"cap-0", "c1", "GPU-A", false, {0}};

static struct bed bed_with_tenant(int64_t gpus)
{
	struct bed b = bed_make();
	struct grant t[] = {{"t", "default", "t", 700, 50000}};
	struct cap cap = first;
	cap.ledger = (struct ledger){t, 1};
	tell_node(&b, "n0", gpus, 110);
	tell_capacity(&b, &cap);
	tell_running(&b, "t", first.name, first.uuid);
	cr_assert_null(step(&b, ACTION_EVENT));
	return b;
}

static int count(const struct bed *b, enum action_type type)
{
	int n = 0;
	vec_for_each (const struct action, a, &b->plan.actions) {
		n += a->type == type ? 1 : 0;
	}
	return n;
}

static const struct action *event(const struct bed *b, const char *reason)
{
	vec_for_each (const struct action, a, &b->plan.actions) {
		if (a->type == ACTION_EVENT && text_equals(a->event_reason, reason)) {
			return a;
		}
	}
	return NULL;
}

static void settle(struct bed *b, uint64_t id, enum fault_kind kind, const char *uid)
{
	struct pod answer = {.uid = uid, .resource_version = "1000", .phase = POD_RUNNING};
	struct outcome o = {.fault = {.kind = kind}, .pod = uid != NULL ? &answer : NULL};
	engine_settle(b->e, (struct engine_now){b->now, b->now}, id, &o);
}

#define SEARCHERS 4
static struct searchers {
	char names[SEARCHERS][64];
	int count;
} asked;

/* All that the plan asks for are made, and tell nothing yet. */
static void make_all(struct bed *b)
{
	struct {
		uint64_t id;
		char name[64];
	} made[SEARCHERS];
	int n = 0;
	vec_for_each (const struct action, a, &b->plan.actions) {
		if (a->type == ACTION_CREATE_CAPACITY) {
			cr_assert_lt(n, SEARCHERS);
			made[n].id = a->id;
			snprintf(made[n++].name, sizeof made[0].name, "%s", a->name);
		}
	}
	asked.count = n;
	for (int i = 0; i < n; i++) {
		snprintf(asked.names[i], sizeof asked.names[i], "%s", made[i].name);
		settle(b, made[i].id, FAULT_NONE, made[i].name);
		struct cap cap = {asked.names[i], asked.names[i], NULL, false, {0}};
		tell_capacity(b, &cap);
	}
}

static void tell_uuid(struct bed *b, int which, const char *uuid)
{
	struct cap cap = {asked.names[which], asked.names[which], uuid, false, {0}};
	tell_capacity(b, &cap);
}

static void tell_leaving(struct bed *b, const char *name, enum pod_phase phase)
{
	struct pair label[] = {{LABEL_CAPACITY, "true"}};
	struct gpu_identity id = {.mem_mib = USABLE, .uuid = "GPU-A"};
	struct pod p = {.ns = NAME_NAMESPACE,
		.name = name,
		.uid = "c1",
		.node = "n0",
		.gpus = 1,
		.phase = phase,
		.status_reason = phase == POD_FAILED ? "Evicted" : NULL,
		.deleting_ms = phase == POD_RUNNING ? 5000 : 0,
		.labels = {label, 1},
		.identity = &id,
		.holds = phase == POD_RUNNING};
	tell_pod(b, &p);
}

Test(orphan, c11_it_is_told_at_once_and_once_and_every_free_gpu_is_asked_for)
{
	struct bed b = bed_with_tenant(3);
	tell_gone(&b, NAME_NAMESPACE, "cap-0");
	step(&b, ACTION_EVENT);
	const struct action *told = event(&b, "GpuOrphaned");
	cr_assert_not_null(told);
	cr_expect_str_eq(told->name, "t");
	cr_expect_not_null(strstr(told->message, "GPU-A"), "%s", told->message);
	cr_expect_not_null(strstr(told->message, "cap-0 is gone"), "%s", told->message);
	cr_expect_eq(engine_report(b.e)->gpus_orphaned, 1);
	cr_expect_eq(count(&b, ACTION_CREATE_CAPACITY), 3);
	make_all(&b);
	for (int i = 0; i < 50; i++, b.now += 1000) {
		step(&b, ACTION_EVENT);
		cr_expect_null(event(&b, "GpuOrphaned"), "at most once");
		cr_expect_eq(count(&b, ACTION_CREATE_CAPACITY), 0);
	}
	bed_finish(&b);
}

Test(orphan, c11_the_one_that_got_it_stays_and_the_others_go_when_all_have_told)
{
	struct bed b = bed_with_tenant(2);
	tell_gone(&b, NAME_NAMESPACE, "cap-0");
	step(&b, ACTION_EVENT);
	make_all(&b);
	cr_assert_eq(asked.count, 2);
	tell_uuid(&b, 0, "GPU-B");
	cr_expect_null(step(&b, ACTION_DELETE_CAPACITY), "or it would be given out again");
	tell_uuid(&b, 1, "GPU-A");
	const struct action *gone = step(&b, ACTION_DELETE_CAPACITY);
	cr_assert_not_null(gone);
	cr_expect_str_eq(gone->name, asked.names[0]);
	cr_expect_eq(count(&b, ACTION_DELETE_CAPACITY), 1);
	cr_expect_eq(engine_report(b.e)->gpus_orphaned, 0);
	/* Its books are made anew from those who run, without anybody who asks. */
	const struct action *grant = NULL;
	vec_for_each (const struct action, a, &b.plan.actions) {
		grant = a->type == ACTION_GRANT ? a : grant;
	}
	cr_assert_not_null(grant);
	cr_expect_str_eq(grant->name, asked.names[1]);
	cr_assert_eq(grant->ledger.count, 1);
	cr_expect_str_eq(grant->ledger.items[0].uid, "t");
	cr_expect_eq(grant->ledger.items[0].milli, 700);
	cr_expect_eq(count(&b, ACTION_GRANT), 1);
	bed_finish(&b);
}

Test(orphan, c11_nobody_gets_anything_of_it_or_of_the_search)
{
	struct bed b = bed_with_tenant(2);
	tell_gone(&b, NAME_NAMESPACE, "cap-0");
	tell_waiting(&b, "w", "0.2");
	step(&b, ACTION_EVENT);
	cr_expect_eq(count(&b, ACTION_CREATE_CAPACITY), 2, "none for the one that waits");
	make_all(&b);
	tell_uuid(&b, 0, "GPU-B");
	cr_expect_null(step(&b, ACTION_GRANT), "it is only held to keep it from being given out");
	cr_expect_eq(engine_report(b.e)->by_reason[REASON_REACQUIRING], 1);
	tell_uuid(&b, 1, "GPU-A");
	const struct action *grant = step(&b, ACTION_GRANT);
	cr_assert_not_null(grant);
	cr_expect_str_eq(grant->name, asked.names[1]);
	cr_expect_eq(grant->ledger.count, 2, "beside who runs there");
	bed_finish(&b);
}

Test(orphan, c11_where_nothing_is_free_it_is_searched_for_when_something_is)
{
	struct bed b = bed_with_tenant(1);
	struct pod whole = {.ns = "default",
		.name = "whole",
		.uid = "whole",
		.node = "n0",
		.gpus = 1,
		.phase = POD_RUNNING};
	tell_gone(&b, NAME_NAMESPACE, "cap-0");
	tell_pod(&b, &whole);
	cr_expect_null(step(&b, ACTION_CREATE_CAPACITY));
	cr_expect_eq(engine_report(b.e)->gpus_orphaned, 1);
	b.now += 10000;
	tell_gone(&b, "default", "whole");
	cr_expect_not_null(step(&b, ACTION_CREATE_CAPACITY));
	bed_finish(&b);
}

Test(orphan, c11_what_was_asked_for_in_vain_is_asked_for_again_ever_more_slowly)
{
	struct bed b = bed_with_tenant(2);
	int rounds = 0;
	tell_gone(&b, NAME_NAMESPACE, "cap-0");
	/* A whole pod has GPU-A; the other one is free, given, and taken back. */
	struct pod whole = {.ns = "default",
		.name = "whole",
		.uid = "whole",
		.node = "n0",
		.gpus = 1,
		.phase = POD_RUNNING};
	tell_pod(&b, &whole);
	for (int i = 0; i < 600; i++, b.now += 100) {
		if (step(&b, ACTION_CREATE_CAPACITY) == NULL) {
			continue;
		}
		rounds++;
		make_all(&b);
		cr_assert_eq(asked.count, 1);
		tell_uuid(&b, 0, "GPU-B");
		const struct action *gone = step(&b, ACTION_DELETE_CAPACITY);
		cr_assert_not_null(gone, "all have told, and none has it");
		settle(&b, gone->id, FAULT_NONE, NULL);
		tell_gone(&b, NAME_NAMESPACE, asked.names[0]);
	}
	cr_expect_geq(rounds, 4);
	cr_expect_leq(rounds, 8);
	bed_finish(&b);
}

Test(orphan, c11_while_it_is_being_deleted_one_waits_for_its_gpu)
{
	struct bed b = bed_with_tenant(1);
	tell_leaving(&b, "cap-0", POD_RUNNING);
	step(&b, ACTION_EVENT);
	const struct action *told = event(&b, "GpuOrphaned");
	cr_assert_not_null(told);
	cr_expect_not_null(strstr(told->message, "is being deleted"), "%s", told->message);
	cr_expect_eq(count(&b, ACTION_CREATE_CAPACITY), 1);
	make_all(&b);
	b.now += 5000;
	cr_expect_null(step(&b, ACTION_CREATE_CAPACITY));
	tell_gone(&b, NAME_NAMESPACE, "cap-0");
	cr_expect_null(step(&b, ACTION_CREATE_CAPACITY), "one is on its way");
	tell_uuid(&b, 0, "GPU-A");
	cr_expect_not_null(step(&b, ACTION_GRANT));
	cr_expect_eq(count(&b, ACTION_DELETE_CAPACITY), 0);
	bed_finish(&b);
}

Test(orphan, c11_one_that_has_ended_holds_nothing_and_goes)
{
	struct bed b = bed_with_tenant(2);
	tell_leaving(&b, "cap-0", POD_FAILED);
	const struct action *gone = step(&b, ACTION_DELETE_CAPACITY);
	cr_assert_not_null(gone);
	cr_expect_str_eq(gone->name, "cap-0");
	cr_expect_eq(count(&b, ACTION_CREATE_CAPACITY), 2);
	const struct action *told = event(&b, "GpuOrphaned");
	cr_assert_not_null(told);
	cr_expect_not_null(strstr(told->message, "has ended (Evicted)"), "%s", told->message);
	bed_finish(&b);
}

Test(orphan, c11_when_the_last_tenant_leaves_the_search_is_over)
{
	struct bed b = bed_with_tenant(2);
	tell_gone(&b, NAME_NAMESPACE, "cap-0");
	step(&b, ACTION_EVENT);
	make_all(&b);
	tell_gone(&b, "default", "t");
	step(&b, ACTION_EVENT);
	cr_expect_eq(count(&b, ACTION_DELETE_CAPACITY), 2, "also those that have not told yet");
	cr_expect_eq(engine_report(b.e)->gpus_orphaned, 0);
	bed_finish(&b);
}

/* To give it back and ask for it again would only take time. */
Test(orphan, c11_what_is_left_of_a_search_goes_to_who_waits)
{
	struct bed b = bed_with_tenant(2);
	tell_gone(&b, NAME_NAMESPACE, "cap-0");
	step(&b, ACTION_EVENT);
	make_all(&b);
	tell_uuid(&b, 0, "GPU-B");
	tell_waiting(&b, "w", "0.2");
	cr_expect_null(step(&b, ACTION_GRANT));
	tell_gone(&b, "default", "t");
	const struct action *grant = step(&b, ACTION_GRANT);
	cr_assert_not_null(grant);
	cr_expect_str_eq(grant->name, asked.names[0]);
	cr_expect_eq(count(&b, ACTION_DELETE_CAPACITY), 1, "the other");
	bed_finish(&b);
}

Test(orphan, c11_one_whose_books_cannot_be_read_holds_its_gpu)
{
	struct bed b = bed_with_tenant(2);
	struct pair label[] = {{LABEL_CAPACITY, "true"}};
	struct gpu_identity id = {.mem_mib = USABLE, .uuid = "GPU-A"};
	struct pod p = {.ns = NAME_NAMESPACE,
		.name = "cap-0",
		.uid = "c1",
		.node = "n0",
		.gpus = 1,
		.phase = POD_RUNNING,
		.labels = {label, 1},
		.identity = &id,
		.holds = true,
		.ledger_bad = true};
	tell_pod(&b, &p);
	cr_expect_null(step(&b, ACTION_EVENT));
	cr_expect_eq(count(&b, ACTION_CREATE_CAPACITY), 0);
	bed_finish(&b);
}

Test(orphan, c11_nothing_is_asked_of_a_node_that_does_not_answer)
{
	struct bed b = bed_with_tenant(2);
	struct node n = {.name = "n0",
		.cpu_milli = 64000,
		.mem_bytes = (int64_t)1 << 40,
		.pod_slots = 110,
		.gpus = 2};
	struct change set = {.type = CHANGE_SET, .kind = KIND_NODE, .node = &n};
	engine_observe(b.e, &set);
	tell_gone(&b, NAME_NAMESPACE, "cap-0");
	cr_expect_null(step(&b, ACTION_CREATE_CAPACITY));
	cr_expect_not_null(event(&b, "GpuOrphaned"));
	tell_node(&b, "n0", 2, 110);
	cr_expect_not_null(step(&b, ACTION_CREATE_CAPACITY));
	bed_finish(&b);
}

Test(orphan, c11_a_refused_one_of_the_search_is_no_failure_of_the_node)
{
	struct bed b = bed_with_tenant(1);
	tell_gone(&b, NAME_NAMESPACE, "cap-0");
	step(&b, ACTION_EVENT);
	make_all(&b);
	struct pair label[] = {{LABEL_CAPACITY, "true"}};
	struct pod p = {.ns = NAME_NAMESPACE,
		.name = asked.names[0],
		.uid = asked.names[0],
		.node = "n0",
		.gpus = 1,
		.phase = POD_FAILED,
		.status_reason = "UnexpectedAdmissionError",
		.labels = {label, 1}};
	tell_pod(&b, &p);
	const struct action *gone = step(&b, ACTION_DELETE_CAPACITY);
	cr_assert_not_null(gone);
	cr_expect_null(event(&b, "CapacityFailed"));
	settle(&b, gone->id, FAULT_NONE, NULL);
	tell_gone(&b, NAME_NAMESPACE, asked.names[0]);
	int ms = 0;
	while (step(&b, ACTION_CREATE_CAPACITY) == NULL && ms < 10000) {
		ms += 100;
		b.now += 100;
	}
	cr_expect_leq(ms, 2000, "after %d ms", ms);
	bed_finish(&b);
}

Test(orphan, c11_the_search_stands_in_the_journal)
{
	struct bed b = bed_with_tenant(2);
	struct journal_config config = {.version = "test"};
	struct journal *j = journal_create(&config);
	tell_gone(&b, NAME_NAMESPACE, "cap-0");
	step(&b, ACTION_EVENT);
	make_all(&b);
	tell_uuid(&b, 0, "GPU-B");
	step(&b, ACTION_EVENT);
	engine_record(b.e, j);
	b.now += 1000;
	step(&b, ACTION_EVENT);
	tell_uuid(&b, 1, "GPU-C");
	cr_expect_not_null(step(&b, ACTION_DELETE_CAPACITY));
	CLEANUP(str_finish) struct str bytes = STR_INIT(1u << 20);
	journal_dump(j, &bytes);
	struct journal_summary sum;
	struct fault f = {0};
	struct view view = {str_text(&bytes), bytes.len};
	cr_assert_eq(journal_replay(view, "test", &sum, &f), 0, "%s", f.message);
	cr_expect_not(sum.diverged, "%s", sum.divergence);
	engine_record(b.e, NULL);
	journal_destroy(j);
	bed_finish(&b);
}

/* --- the end of it --- */

static void tell_reach(struct bed *b)
{
	engine_observe(b->e, &(struct change){.type = CHANGE_REACH, .reached = true});
}

static void tell_policy(struct bed *b, enum capacity_lost lost)
{
	struct policy p = {.name = "strict",
		.generation = 1,
		.mode = MODE_AUTOMATE,
		.sizing.min_percent = 1,
		.sizing.max_percent = 100,
		.sizing.step_percent = 5,
		.max_tenants = 16,
		.capacity_lost = lost};
	engine_observe(
		b->e, &(struct change){.type = CHANGE_SET, .kind = KIND_POLICY, .policy = &p});
}

static void tell_strict(struct bed *b)
{
	struct pair label[] = {{LABEL_TENANT, "true"}};
	struct pair notes[] = {{NOTE_CAPACITY_POD, first.name}, {NOTE_COMPUTE_MILLI, "700"},
		{NOTE_GPU_UUID, first.uuid}, {NOTE_MEMORY_MIB, "50000"}, {NOTE_POLICY, "strict"}};
	struct pod p = {.ns = "default",
		.name = "t",
		.uid = "t",
		.node = "n0",
		.phase = POD_RUNNING,
		.labels = {label, 1},
		.notes = {notes, 5}};
	tell_pod(b, &p);
}

Test(orphan, c11_its_tenants_are_evicted_after_a_minute_in_vain)
{
	struct bed b = bed_with_tenant(1);
	struct pod whole = {.ns = "default",
		.name = "whole",
		.uid = "whole",
		.node = "n0",
		.gpus = 1,
		.phase = POD_RUNNING};
	tell_reach(&b);
	tell_gone(&b, NAME_NAMESPACE, "cap-0");
	tell_pod(&b, &whole);
	for (int i = 0; i < 60; i++, b.now += 1000) {
		cr_assert_null(step(&b, ACTION_EVICT), "second %d", i);
	}
	const struct action *a = step(&b, ACTION_EVICT);
	cr_assert_not_null(a);
	cr_expect_str_eq(a->name, "t");
	bed_finish(&b);
}

Test(orphan, c11_the_minute_runs_while_the_node_answers)
{
	struct bed b = bed_with_tenant(1);
	struct node n = {.name = "n0", .cpu_milli = 64000, .pod_slots = 110, .gpus = 1};
	tell_reach(&b);
	engine_observe(b.e, &(struct change){.type = CHANGE_SET, .kind = KIND_NODE, .node = &n});
	tell_gone(&b, NAME_NAMESPACE, "cap-0");
	for (int i = 0; i < 100; i++, b.now += 1000) {
		cr_assert_null(step(&b, ACTION_EVICT), "second %d", i);
	}
	bed_finish(&b);
}

Test(orphan, c11_where_the_policy_says_so_at_once_and_without_a_search)
{
	static const enum capacity_lost rows[] = {CAPACITY_LOST_EVICT, CAPACITY_LOST_REACQUIRE};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct bed b = bed_with_tenant(2);
		bool evicts = rows[i] == CAPACITY_LOST_EVICT;
		tell_reach(&b);
		tell_policy(&b, rows[i]);
		tell_strict(&b);
		tell_gone(&b, NAME_NAMESPACE, "cap-0");
		cr_expect_eq(step(&b, ACTION_EVICT) != NULL, evicts);
		cr_expect_eq(count(&b, ACTION_CREATE_CAPACITY), evicts ? 0 : 2);
		bed_finish(&b);
	}
}

Test(orphan, c11_nobody_is_evicted_while_the_gpu_may_be_held)
{
	struct bed b = bed_with_tenant(1);
	tell_reach(&b);
	tell_leaving(&b, "cap-0", POD_RUNNING);
	for (int i = 0; i < 100; i++, b.now += 1000) {
		cr_assert_null(step(&b, ACTION_EVICT), "on its way out it holds it");
	}
	tell_gone(&b, NAME_NAMESPACE, "cap-0");
	engine_observe(b.e, &(struct change){.type = CHANGE_KEEP,
				    .kind = KIND_POD,
				    .ns = "aliquot-system",
				    .name = "unread"});
	for (int i = 0; i < 100; i++, b.now += 1000) {
		cr_assert_null(step(&b, ACTION_EVICT), "that one may hold it");
	}
	tell_gone(&b, "aliquot-system", "unread");
	engine_observe(b.e,
		&(struct change){
			.type = CHANGE_KEEP, .kind = KIND_POD, .ns = "mallory", .name = "unread"});
	cr_expect_not_null(step(&b, ACTION_EVICT), "none of ours is called so");
	bed_finish(&b);
}

/* --- alarms --- */

Test(alarm, k11_one_that_never_tells_is_given_up_with_its_cause)
{
	struct bed b = bed_make();
	struct cap silent = {"cap-0", "c1", NULL, false, {0}};
	tell_node(&b, "n0", 2, 110);
	tell_capacity(&b, &silent);
	tell_waiting(&b, "w", "0.5");
	cr_expect_null(step(&b, ACTION_DELETE_CAPACITY));
	b.now += 119000;
	cr_expect_null(step(&b, ACTION_DELETE_CAPACITY));
	b.now += 1000;
	cr_expect_not_null(step(&b, ACTION_DELETE_CAPACITY));
	const struct action *told = event(&b, "CapacityFailed");
	cr_assert_not_null(told);
	cr_expect_str_eq(told->name, "cap-0");
	cr_expect_not_null(
		strstr(told->message, "has not told its GPU in 120 s"), "%s", told->message);
	cr_expect_not_null(strstr(told->message, "node n0 rests for"), "%s", told->message);
	cr_expect_eq(count(&b, ACTION_CREATE_CAPACITY), 0, "its node rests at once");
	cr_expect_eq(engine_report(b.e)->by_reason[REASON_CAPACITY_FAILED], 1);
	bed_finish(&b);
}

Test(alarm, k12_two_that_tell_one_gpu_get_nobody_until_one_is_gone)
{
	struct bed b = bed_make();
	struct cap one = {"cap-0", "c1", "GPU-A", false, {0}},
		   two = {"cap-1", "c2", "GPU-A", false, {0}};
	tell_node(&b, "n0", 2, 110);
	tell_capacity(&b, &one);
	tell_capacity(&b, &two);
	tell_waiting(&b, "w", "0.5");
	cr_expect_null(step(&b, ACTION_GRANT));
	cr_expect_eq(count(&b, ACTION_EVENT), 2, "one about each");
	const struct action *told = event(&b, "GpuDoubled");
	cr_assert_not_null(told);
	cr_expect_not_null(strstr(told->message, "cap-1"), "%s", told->message);
	cr_expect_eq(engine_report(b.e)->gpus_doubled, 1);
	b.now += 1000;
	cr_expect_null(step(&b, ACTION_EVENT), "once");
	tell_gone(&b, NAME_NAMESPACE, "cap-0");
	cr_expect_not_null(step(&b, ACTION_GRANT));
	cr_expect_eq(engine_report(b.e)->gpus_doubled, 0);
	bed_finish(&b);
}

/* --- C15 --- */

static void tell_keeper(struct bed *b, bool keeps)
{
	struct pair label[] = {{LABEL_TENANT, "true"}};
	struct pair notes[] = {{NOTE_CAPACITY_POD, first.name}, {NOTE_COMPUTE_MILLI, "700"},
		{NOTE_GPU_UUID, first.uuid}, {NOTE_MEMORY_MIB, "50000"}};
	struct pod p = {.ns = "default",
		.name = "t",
		.uid = "t",
		.node = "n0",
		.phase = POD_RUNNING,
		.keeps_node = keeps,
		.labels = {label, 1},
		.notes = {notes, 4}};
	tell_pod(b, &p);
}

/* As the watch shows it once that is written. */
static void tell_kept(struct bed *b)
{
	struct pair label[] = {{LABEL_CAPACITY, "true"}};
	struct gpu_identity id = {.mem_mib = USABLE, .uuid = "GPU-A"};
	struct grant t[] = {{"t", "default", "t", 700, 50000}};
	struct pod p = {.ns = NAME_NAMESPACE,
		.name = first.name,
		.uid = first.uid,
		.node = "n0",
		.gpus = 1,
		.phase = POD_RUNNING,
		.keeps_node = true,
		.labels = {label, 1},
		.identity = &id,
		.holds = true,
		.ledger = {t, 1}};
	b->rv = 1000;
	tell_pod(b, &p);
}

Test(orphan, c15_autoscalers_are_kept_off_as_long_as_a_tenant_needs_it)
{
	struct bed b = bed_with_tenant(1);
	b.now += 1000;
	cr_expect_null(step(&b, ACTION_GRANT), "nothing to say");
	tell_keeper(&b, true);
	const struct action *a = step(&b, ACTION_GRANT);
	cr_assert_not_null(a);
	cr_expect(a->keeps_node);
	cr_expect_eq(a->ledger.count, 1);
	settle(&b, a->id, FAULT_NONE, "c1");
	b.now += 20000;
	cr_expect_null(step(&b, ACTION_GRANT), "that is what was asked for");
	tell_kept(&b);
	cr_expect_null(step(&b, ACTION_GRANT), "and what stands there");
	tell_keeper(&b, false);
	a = step(&b, ACTION_GRANT);
	cr_assert_not_null(a);
	cr_expect_not(a->keeps_node);
	bed_finish(&b);
}
