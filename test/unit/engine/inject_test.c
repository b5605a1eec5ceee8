/* C26: no tenant goes to a node before it is proven how a container there gets its GPU. */
#include "inject_bed.h"

Test(inject, c26_nobody_is_granted_before_a_probe_has_seen_the_gpu)
{
	struct bed b = bed_open();
	tell_waiting_as(&b, "w", "0.25", "nvidia");
	cr_expect_eq(play(&b, &right), INJECT_ENV);
	const struct action *g = step(&b, ACTION_GRANT);
	cr_assert_not_null(g, "now it is proven");
	cr_assert_not_null(g->claim);
	cr_expect_eq(g->claim->form, INJECT_ENV);
	cr_expect_str_eq(g->claim->uuid, "GPU-A");
	cr_expect_str_eq(g->claim->node, "n0");
	cr_expect_str_eq(g->claim->driver, "570");
	cr_expect_str_eq(g->claim->boot, "b-1");
	cr_expect_str_eq(g->claim->runtime, "containerd://2.0");
	cr_expect_str_eq(g->claim->class, "nvidia");
	cr_expect_eq(g->ledger.count, 1);
	bed_finish(&b);
}

Test(inject, c26_the_proof_is_written_although_nobody_waits)
{
	struct bed b = bed_open();
	(void)play(&b, &right);
	const struct action *g = step(&b, ACTION_GRANT);
	cr_assert_not_null(g);
	cr_expect(g->claim != NULL && g->ledger.count == 0);
	bed_finish(&b);
}

/* The watch may lag for a minute; each answer is no reason to write the same once more. */
Test(inject, a_proof_that_was_written_is_not_written_again_before_it_is_shown)
{
	struct bed b = bed_open();
	(void)play(&b, &right);
	const struct action *g = step(&b, ACTION_GRANT);
	cr_assert_not_null(g);
	struct pod answer = {.uid = g->uid, .phase = POD_RUNNING, .resource_version = "1000000"};
	struct outcome done = {.pod = &answer};
	engine_settle(b.e, (struct engine_now){b.now, b.now}, g->id, &done);
	for (int i = 0; i < 50; i++) {
		b.now += 200;
		cr_assert_null(step(&b, ACTION_GRANT), "step %d", i);
	}
	bed_finish(&b);
}

Test(inject, c26_a_probe_stays_until_its_proof_is_written)
{
	struct bed b = bed_open();
	struct asked p = asked_for(&b);
	tell_probe(&b, &p, &(struct fate){.phase = POD_SUCCEEDED, .sight = &right});
	const struct action *g = step(&b, ACTION_GRANT);
	cr_assert_not_null(g);
	cr_expect_eq(companions_deleted(&b), 0, "nobody has its word in writing");
	uint64_t id = g->id;
	settle(&b, id, FAULT_CONFLICT);
	b.now += 6000;
	g = step(&b, ACTION_GRANT);
	cr_assert_not_null(g, "once more");
	cr_assert_not_null(g->claim);
	struct holding written = cap;
	struct inject_claim its = proven;
	its.form = INJECT_ENV;
	written.claim = &its;
	settle(&b, g->id, FAULT_NONE);
	tell_holding(&b, &written);
	(void)step(&b, ACTION_GRANT);
	cr_expect_eq(companions_deleted(&b), 1);
	(void)step(&b, ACTION_GRANT);
	cr_expect_eq(companions_deleted(&b), 0, "not again at once");
	b.now += 6000;
	(void)step(&b, ACTION_GRANT);
	cr_expect_eq(companions_deleted(&b), 1, "it is there still");
	finish_asked(&p);
	bed_finish(&b);
}

Test(inject, c26_the_next_form_is_tried_where_one_does_not_work)
{
	static const struct {
		struct fate fate;
		int64_t after_ms;
	} rows[] = {
		{{.phase = POD_SUCCEEDED, .sight = &nothing}, 0},
		{{.phase = POD_SUCCEEDED, .sight = &another}, 0},
		{{.phase = POD_SUCCEEDED, .sight = &many}, 0},
		{{.phase = POD_SUCCEEDED}, 0},
		{{.phase = POD_FAILED, .trouble = "Error"}, 0},
		{{.phase = POD_PENDING, .trouble = "CreateContainerError"}, 0},
		{{.phase = POD_PENDING, .trouble = "RunContainerError"}, 0},
		{{.phase = POD_PENDING}, 30000},
		{{.phase = POD_PENDING, .trouble = "ImagePullBackOff"}, 30000},
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct bed b = bed_open();
		struct asked p = asked_for(&b);
		tell_probe(&b, &p, &rows[i].fate);
		if (rows[i].after_ms > 0) {
			(void)step(&b, ACTION_GRANT);
			cr_expect_null(find_probe(&b), "row %zu", i);
			cr_expect_leq(engine_next_deadline(b.e), b.now + rows[i].after_ms);
			b.now += rows[i].after_ms;
		}
		struct asked next = asked_for(&b);
		cr_expect_eq(p.claim->form, INJECT_ENV);
		cr_expect_eq(next.claim->form, INJECT_CDI, "row %zu", i);
		finish_asked(&p);
		finish_asked(&next);
		bed_finish(&b);
	}
}

Test(inject, c26_tenants_are_told_in_the_form_that_is_proven)
{
	struct bed b = bed_open();
	struct grant entry = {"w", "default", "w", 250, 20000};
	struct holding written = cap;
	written.claim = &proven;
	written.ledger = (struct ledger){&entry, 1};
	tell_waiting_as(&b, "w", "0.25", "nvidia");
	tell_holding(&b, &written);
	const struct action *a = step(&b, ACTION_PLACE);
	cr_assert_not_null(a);
	cr_expect_eq(a->form, INJECT_CDI);
	cr_expect_null(find_probe(&b), "nothing is to be found out");
	bed_finish(&b);
}

/* Whatever the proof was about is another now. */
Test(inject, c26_a_proof_is_of_one_boot_runtime_driver_and_class)
{
	const char *const what[] = {"node", "driver", "boot", "runtime", "class"};
	for (size_t i = 0; i < COUNT_OF(what); i++) {
		struct bed b = bed_open();
		struct inject_claim old = proven;
		const char **parts[] = {
			&old.node, &old.driver, &old.boot, &old.runtime, &old.class};
		*parts[i] = "another";
		struct grant entry = {"w", "default", "w", 250, 20000};
		struct holding written = cap;
		written.claim = &old;
		written.ledger = (struct ledger){&entry, 1};
		tell_waiting_as(&b, "w", "0.25", "nvidia");
		tell_holding(&b, &written);
		cr_expect_null(step(&b, ACTION_PLACE), "%s", what[i]);
		cr_expect_not_null(find_probe(&b), "%s", what[i]);
		bed_finish(&b);
	}
}

Test(inject, c26_the_proof_of_one_gpu_holds_for_the_others_of_its_node)
{
	struct bed b = bed_open();
	struct holding written = cap, second = cap;
	written.claim = &proven;
	second.name = "cap-2";
	second.uuid = "GPU-B";
	tell_holding(&b, &written);
	tell_holding(&b, &second);
	tell_waiting_as(&b, "w", "0.75", "nvidia");
	tell_waiting_as(&b, "x", "0.75", "nvidia");
	int carried = 0, grants = 0;
	(void)step(&b, ACTION_GRANT);
	vec_for_each (const struct action, a, &b.plan.actions) {
		grants += a->type == ACTION_GRANT ? 1 : 0;
		carried += a->type == ACTION_GRANT && a->claim != NULL ? 1 : 0;
		cr_expect(a->claim == NULL || strcmp(a->name, "cap-2") == 0);
	}
	cr_expect_eq(grants, 2);
	cr_expect_eq(carried, 1, "to the one that has none");
	cr_expect_null(find_probe(&b));
	bed_finish(&b);
}

Test(inject, c26_what_works_elsewhere_is_tried_first)
{
	struct bed b = bed_open();
	struct holding written = cap, there = cap;
	struct inject_claim of_there = proven;
	written.claim = &proven;
	tell_holding(&b, &written);
	tell_gpu_node(&b, "n1", &first_boot);
	there.name = "cap-1";
	there.node = "n1";
	there.uuid = "GPU-C";
	(void)of_there;
	tell_holding(&b, &there);
	struct asked p = asked_for(&b);
	cr_expect_eq(p.claim->form, INJECT_CDI);
	cr_expect_str_eq(p.claim->node, "n1");
	finish_asked(&p);
	bed_finish(&b);
}

Test(inject, c26_a_node_where_no_form_works_is_given_back_and_rests)
{
	struct bed b = bed_open();
	tell_waiting_as(&b, "w", "0.25", "nvidia");
	cr_expect_eq(play(&b, &nothing), INJECT_ENV);
	cr_expect_eq(play(&b, &another), INJECT_CDI);
	cr_expect_eq(play(&b, &nothing), INJECT_NRI);
	cr_expect_null(step(&b, ACTION_GRANT));
	const struct action *event = event_of(&b);
	cr_assert_not_null(event);
	cr_expect(event->warning && strcmp(event->name, "cap") == 0);
	cr_expect_not_null(strstr(event->message, "env sees none, cdi sees others, nri sees none"),
		"%s", event->message);
	cr_expect_eq(companions_deleted(&b), 3, "all probes go");
	cr_expect_null(step(&b, ACTION_GRANT));
	cr_expect_null(event_of(&b), "once");
	bool given_back = false;
	vec_for_each (const struct action, a, &b.plan.actions) {
		given_back |= a->type == ACTION_DELETE_CAPACITY && strcmp(a->name, "cap") == 0;
	}
	cr_expect(given_back);
	tell_gone(&b, NAME_NAMESPACE, "cap");
	cr_expect_null(step(&b, ACTION_CREATE_CAPACITY), "not at once on the same node");
	cr_expect_eq(engine_report(b.e)->by_reason[REASON_NO_INJECTION], 1);
	b.now += 20000;
	const struct action *said = step(&b, ACTION_CONDITION);
	cr_assert_not_null(said);
	cr_expect_eq(said->reason, REASON_NO_INJECTION);
	cr_expect_not_null(strstr(said->message, "on n0"), "%s", said->message);
	cr_expect_not_null(strstr(said->message, "cdi sees others"), "%s", said->message);
	cr_expect_not_null(strstr(said->message, "next try in"), "%s", said->message);
	tell_gpu_node(&b, "n0", &(struct boot){"b-1", "containerd://2.1"});
	cr_expect_not_null(step(&b, ACTION_CREATE_CAPACITY), "another runtime is tried at once");
	bed_finish(&b);
}

Test(inject, c26_an_entry_whose_node_turns_out_to_be_of_no_use_is_looked_for_elsewhere)
{
	struct bed b = bed_open();
	struct grant entry = {"w", "default", "w", 250, 20000};
	struct holding written = cap;
	written.ledger = (struct ledger){&entry, 1};
	tell_waiting_as(&b, "w", "0.25", "nvidia");
	tell_holding(&b, &written);
	for (int i = 0; i < INJECT_FORMS; i++) {
		(void)play(&b, &nothing);
	}
	(void)step(&b, ACTION_GRANT);
	tell_gpu_node(&b, "n1", &first_boot);
	const struct action *a = step(&b, ACTION_CREATE_CAPACITY);
	cr_assert_not_null(a);
	cr_expect_str_eq(a->node, "n1");
	bed_finish(&b);
}

Test(inject, a_creation_that_is_refused_is_told_and_tried_again)
{
	struct bed b = bed_open();
	tell_waiting_as(&b, "w", "0.25", "nvidia");
	struct asked p = asked_for(&b);
	settle(&b, p.id, FAULT_DENIED);
	(void)step(&b, ACTION_GRANT);
	cr_expect_null(find_probe(&b), "not at once");
	cr_expect_eq(engine_report(b.e)->by_reason[REASON_API_REFUSED], 1);
	b.now += 1000;
	struct asked again = asked_for(&b);
	cr_expect_str_eq(again.name, p.name);
	finish_asked(&p);
	finish_asked(&again);
	bed_finish(&b);
}

Test(inject, a_policy_that_refuses_probes_is_told_as_such)
{
	struct bed b = bed_open();
	tell_waiting_as(&b, "w", "0.25", "nvidia");
	struct asked p = asked_for(&b);
	struct outcome o = {.fault = {.kind = FAULT_INVALID,
				    .message = "422 Invalid: pods \"p\" is forbidden: "
					       "ValidatingAdmissionPolicy 'images' with binding "
					       "'b' denied request: no"}};
	engine_settle(b.e, (struct engine_now){b.now, b.now}, p.id, &o);
	(void)step(&b, ACTION_GRANT);
	cr_expect_eq(engine_report(b.e)->by_reason[REASON_POLICY_REFUSED], 1);
	finish_asked(&p);
	bed_finish(&b);
}

Test(inject, one_that_was_sent_and_is_not_seen_is_asked_for_again)
{
	struct bed b = bed_open();
	struct asked p = asked_for(&b);
	struct outcome lost = {.fault = {.kind = FAULT_TRANSIENT, .unknown_outcome = true}};
	engine_settle(b.e, (struct engine_now){b.now, b.now}, p.id, &lost);
	b.now += 9000;
	(void)step(&b, ACTION_GRANT);
	cr_expect_null(find_probe(&b));
	b.now += 1000;
	(void)step(&b, ACTION_GRANT);
	cr_expect_not_null(find_probe(&b));
	finish_asked(&p);
	bed_finish(&b);
}

/* A leader that begins finds the probe, and believes only what it claims of the node as it is. */
Test(inject, c26_a_new_leader_goes_on_where_the_old_one_was)
{
	struct bed b = bed_open();
	struct asked p = asked_for(&b);
	struct bed after = bed_open();
	tell_probe(&after, &p, &(struct fate){.phase = POD_SUCCEEDED, .sight = &right});
	const struct action *g = step(&after, ACTION_GRANT);
	cr_expect(g != NULL && g->claim != NULL);
	cr_expect_null(find_probe(&after));
	bed_finish(&after);
	after = bed_open();
	tell_gpu_node(&after, "n0", &(struct boot){"b-2", "containerd://2.0"});
	tell_probe(&after, &p, &(struct fate){.phase = POD_SUCCEEDED, .sight = &right});
	cr_expect_null(step(&after, ACTION_GRANT), "of another boot");
	cr_expect_null(find_probe(&after), "its name is taken");
	cr_expect_eq(companions_deleted(&after), 1);
	tell_gone(&after, NAME_NAMESPACE, p.name);
	(void)step(&after, ACTION_GRANT);
	cr_expect_not_null(find_probe(&after));
	bed_finish(&after);
	finish_asked(&p);
	bed_finish(&b);
}

/* Of another capacity pod, on its way out, or of a GPU that it does not hold. */
Test(inject, c26_a_probe_is_believed_for_its_own_capacity_pod_alone)
{
	for (int i = 0; i < 3; i++) {
		struct bed b = bed_open();
		struct asked p = asked_for(&b);
		struct inject_claim other = *p.claim;
		struct inject_sight sight = right;
		if (i == 0) {
			snprintf(p.owner, sizeof p.owner, "cap-of-old");
		} else if (i == 1) {
			other.uuid = "GPU-B";
			sight.uuid = "GPU-B";
			p.claim = &other;
		}
		tell_probe(&b, &p,
			&(struct fate){.phase = POD_SUCCEEDED, .sight = &sight, .leaves = i == 2});
		cr_expect_null(step(&b, ACTION_GRANT), "%d", i);
		cr_expect_eq(companions_deleted(&b), i == 2 ? 0 : 1, "%d", i);
		finish_asked(&p);
		bed_finish(&b);
	}
}

Test(inject, orphaned_probes_are_swept)
{
	struct bed b = bed_open();
	struct asked p = asked_for(&b);
	tell_probe(&b, &p, &(struct fate){.phase = POD_PENDING});
	tell_gone(&b, NAME_NAMESPACE, "cap");
	(void)step(&b, ACTION_GRANT);
	cr_expect_eq(companions_deleted(&b), 1, "its capacity pod is gone");
	finish_asked(&p);
	bed_finish(&b);
}

Test(inject, c26_the_word_of_an_admin_needs_no_proof)
{
	struct bed b = bed_make_of(&(struct engine_config){.injection = "nri"});
	struct grant entry = {"w", "default", "w", 250, 20000};
	struct holding written = cap;
	written.ledger = (struct ledger){&entry, 1};
	tell_gpu_node(&b, "n0", &first_boot);
	tell_holding(&b, &written);
	tell_waiting_as(&b, "w", "0.25", "nvidia");
	const struct action *a = step(&b, ACTION_PLACE);
	cr_assert_not_null(a);
	cr_expect_eq(a->form, INJECT_NRI);
	cr_expect_null(find_probe(&b));
	bed_finish(&b);
}
