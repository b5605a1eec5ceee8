/* Writes that did not go through: what the engine makes of each, one step at a time. */
#include "odd_bed.h"

/* What was refused says nothing about the node: no right to create, a full queue, not leading. */
Test(write, a_creation_that_is_refused_rests_and_says_why)
{
	struct bed b = bed_make();
	tell_node(&b, "n0", 2, 110);
	tell_waiting(&b, "w", "0.5");
	tell_waiting(&b, "v", "0.5");
	const struct action *a = step(&b, ACTION_CREATE_CAPACITY);
	cr_assert_not_null(a);
	refuse(&b, a);
	cr_expect_null(step(&b, ACTION_CREATE_CAPACITY), "not at once");
	cr_expect_eq(engine_report(b.e)->by_reason[REASON_API_REFUSED], 2);
	cr_expect_eq(engine_report(b.e)->by_reason[REASON_CAPACITY_FAILED], 0);
	b.now += 1000;
	a = step(&b, ACTION_CREATE_CAPACITY);
	cr_assert_not_null(a, "after a second, not after the ten of a node that failed");
	/* Refused again and again: less and less often, and told. */
	int asked = 0, told = 0;
	for (int i = 0; i < 600; i++, b.now += 100) {
		if (a != NULL) {
			asked++;
			refuse(&b, a);
		}
		a = step(&b, ACTION_CREATE_CAPACITY);
		vec_for_each (const struct action, c, &b.plan.actions) {
			bool ours = c->type == ACTION_CONDITION && c->reason == REASON_API_REFUSED;
			told += ours && strstr(c->message, "no right to") != NULL;
		}
	}
	cr_expect(asked >= 4 && asked <= 10, "%d", asked);
	cr_expect_gt(told, 0);
	bed_finish(&b);
}

static void conflict(struct bed *b, uint64_t id)
{
	struct outcome o = {.fault = {.kind = FAULT_CONFLICT}};
	engine_settle(b->e, (struct engine_now){b->now, b->now}, id, &o);
}

/* One waits, and its GPU is being written. */
static const struct action *grant_under_way(struct bed *b, const struct cap *cap)
{
	tell_node(b, "n0", 1, 110);
	tell_capacity(b, cap);
	tell_waiting(b, "w", "0.5");
	const struct action *a = step(b, ACTION_GRANT);
	cr_assert_not_null(a);
	return a;
}

/* The watch has shown what was in the way before the answer came: nothing else will come. */
Test(write, a_conflict_that_the_watch_has_shown_already_is_not_waited_out)
{
	struct bed b = bed_make();
	struct cap cap = {"cap", "c1", "GPU-A", false, {0}};
	const struct action *a = grant_under_way(&b, &cap);
	uint64_t id = a->id;
	tell_capacity(&b, &cap);
	cr_assert_null(step(&b, ACTION_GRANT), "it is under way");
	conflict(&b, id);
	cr_expect_not_null(step(&b, ACTION_GRANT), "from the version that is here");
	bed_finish(&b);
}

Test(write, a_conflict_that_the_watch_has_not_shown_is_waited_out)
{
	struct bed b = bed_make();
	struct cap cap = {"cap", "c1", "GPU-A", false, {0}};
	const struct action *a = grant_under_way(&b, &cap);
	conflict(&b, a->id);
	cr_expect_null(step(&b, ACTION_GRANT));
	tell_capacity(&b, &cap);
	cr_expect_not_null(step(&b, ACTION_GRANT));
	bed_finish(&b);
}

Test(write, a_placement_is_not_held_back_by_a_version_that_has_passed)
{
	struct bed b = bed_make();
	struct grant t[] = {{"w", "default", "w", 500, 40000}};
	tell_node(&b, "n0", 1, 110);
	tell_capacity(&b, &(struct cap){"cap", "c1", "GPU-A", false, {t, 1}});
	tell_waiting(&b, "w", "0.5");
	const struct action *a = step(&b, ACTION_PLACE);
	cr_assert_not_null(a);
	uint64_t id = a->id;
	tell_waiting(&b, "w", "0.5");
	cr_assert_null(step(&b, ACTION_PLACE), "it is under way");
	conflict(&b, id);
	cr_expect_not_null(step(&b, ACTION_PLACE));
	bed_finish(&b);
}

/* A creation that was long under way makes the pod anew before our deletion of the old one is
 * answered: the answer is about the old one. */
Test(write, a_deletion_that_is_answered_late_says_nothing_about_the_next_pod_of_that_name)
{
	struct bed b = bed_make();
	struct outcome done = {.fault = {.kind = FAULT_NONE}};
	tell_node(&b, "n0", 1, 110);
	tell_capacity(&b, &(struct cap){"cap", "c1", "GPU-A", false, {0}});
	step(&b, ACTION_DELETE_CAPACITY);
	b.now += 60000;
	const struct action *a = step(&b, ACTION_DELETE_CAPACITY);
	cr_assert_not_null(a);
	uint64_t id = a->id;
	tell_gone(&b, NAME_NAMESPACE, "cap");
	tell_capacity(&b, &(struct cap){"cap", "c2", "GPU-A", false, {0}});
	cr_assert_null(step(&b, ACTION_DELETE_CAPACITY));
	engine_settle(b.e, (struct engine_now){b.now, b.now}, id, &done);
	b.now += 60000;
	a = step(&b, ACTION_DELETE_CAPACITY);
	cr_assert_not_null(a);
	cr_expect_str_eq(a->uid, "c2");
	bed_finish(&b);
}

static void refuse_by_policy(struct bed *b, uint64_t id)
{
	struct outcome o = {.fault = {.kind = FAULT_DENIED, .status = 403}};
	snprintf(o.fault.message, sizeof o.fault.message,
		"403 Forbidden: admission webhook \"images.example\" denied the request: no");
	engine_settle(b->e, (struct engine_now){b->now, b->now}, id, &o);
}

static void tell_spreading(struct bed *b, const char *name, const char *share)
{
	struct policy policy = {.name = "spread",
		.uid = "1",
		.resource_version = "1",
		.generation = 1,
		.packing = PACKING_SPREAD,
		.sizing.max_percent = 100,
		.max_tenants = 16};
	struct change set = {.type = CHANGE_SET, .kind = KIND_POLICY, .policy = &policy};
	engine_observe(b->e, &set);
	struct pair label[] = {{LABEL_TENANT, "true"}};
	struct pair notes[] = {{NOTE_ORIGINAL, "{}"}, {NOTE_POLICY, "spread"}, {NOTE_SHARE, share}};
	const char *gate[] = {NAME_GATE};
	struct pod p = {.ns = "default",
		.name = name,
		.uid = name,
		.cpu_milli = 10,
		.mem_bytes = 100,
		.labels = {label, 1},
		.notes = {notes, 3},
		.gates = gate,
		.gate_count = 1};
	tell_pod(b, &p);
}

static int told_of_policy(const struct bed *b)
{
	int n = 0;
	vec_for_each (const struct action, c, &b->plan.actions) {
		n += c->type == ACTION_CONDITION && c->reason == REASON_POLICY_REFUSED &&
		     strstr(c->message, "the admission policy images.example refuses") != NULL;
	}
	return n;
}

Test(write, a_policy_that_refuses_capacity_pods_is_named_and_asked_ever_more_seldom)
{
	struct bed b = bed_make();
	tell_node(&b, "n0", 2, 110);
	tell_waiting(&b, "w", "0.5");
	int asked = 0, told = 0;
	for (int i = 0; i < 600; i++, b.now += 100) {
		const struct action *a = step(&b, ACTION_CREATE_CAPACITY);
		told += told_of_policy(&b);
		if (a != NULL) {
			asked++;
			refuse_by_policy(&b, a->id);
			(void)step(&b, ACTION_CREATE_CAPACITY);
			cr_expect_eq(engine_report(b.e)->by_reason[REASON_POLICY_REFUSED], 1);
		}
	}
	cr_expect(asked >= 4 && asked <= 10, "%d", asked);
	cr_expect_eq(told, 1);
	bed_finish(&b);
}

/* Whoever spreads takes an empty GPU before one with company, and would wait for this one. */
Test(write, who_spreads_does_not_wait_for_a_gpu_that_a_policy_keeps_shut)
{
	struct bed b = bed_make();
	struct grant t[] = {{"t", "default", "t", 300, 1000}};
	tell_node(&b, "n0", 2, 110);
	tell_running(&b, "t", "cap", "GPU-A");
	tell_capacity(&b, &(struct cap){"cap", "c1", "GPU-A", false, {t, 1}});
	tell_spreading(&b, "w", "0.25");
	const struct action *a = step(&b, ACTION_CREATE_CAPACITY);
	cr_assert_not_null(a);
	uint64_t id = a->id;
	cr_expect_null(step(&b, ACTION_GRANT), "it is waited for");
	refuse_by_policy(&b, id);
	cr_expect_not_null(step(&b, ACTION_GRANT));
	bed_finish(&b);
}

static const struct action *told_in_vain(const struct bed *b)
{
	vec_for_each (const struct action, a, &b->plan.actions) {
		if (a->type == ACTION_EVENT && text_equals(a->event_reason, "WaitsInVain")) {
			return a;
		}
	}
	return NULL;
}

/* Nothing of ours would bring a bare pod back: it is told, once, what a person may do. */
Test(write, c35_a_bare_pod_that_waits_in_vain_is_told_once)
{
	struct bed b = bed_make();
	tell_node(&b, "n0", 2, 110);
	tell_waiting(&b, "w", "0.5");
	int told = 0;
	for (int i = 0; i < 1200; i++, b.now += 1000) {
		const struct action *a = step(&b, ACTION_CREATE_CAPACITY);
		const struct action *event = told_in_vain(&b);
		if (event != NULL) {
			cr_expect_geq(b.now, 300000);
			cr_expect_str_eq(event->name, "w");
			cr_expect(strstr(event->message, "PolicyRefused") != NULL &&
					  strstr(event->message, "create it again") != NULL,
				"%s", event->message);
			told++;
		}
		if (a != NULL) {
			refuse_by_policy(&b, a->id);
		}
	}
	cr_expect_eq(told, 1);
	bed_finish(&b);
}
