/* C26 of tenants whose RuntimeClass is not that of the capacity pods. */
#include "inject_bed.h"

static const struct inject_class others[] = {{"own", INJECT_NRI}, {"", INJECT_ENV}};

static struct inject_claim with_others(uint32_t count)
{
	struct inject_claim c = proven;
	c.others = others;
	c.other_count = count;
	return c;
}

static struct bed proven_bed(const struct inject_claim *claim)
{
	struct bed b = bed_open();
	struct holding written = cap;
	written.claim = claim;
	tell_holding(&b, &written);
	return b;
}

static uint32_t waiting_for(const struct bed *b, enum reason reason)
{
	return engine_report(b->e)->by_reason[reason];
}

Test(inject_class, c26_a_class_is_proven_before_a_tenant_of_it_is_granted)
{
	struct bed b = proven_bed(&proven);
	tell_waiting_as(&b, "w", "0.25", "own");
	struct asked p = asked_for(&b);
	cr_expect_str_eq(p.claim->class, "own");
	cr_expect_str_eq(p.claim->uuid, "GPU-A");
	cr_expect_str_eq(find_probe(&b)->runtime_class, "own");
	cr_expect_eq(p.claim->form, INJECT_CDI, "what works under the other class comes first");
	cr_expect_eq(waiting_for(&b, REASON_PROVING), 1);
	settle(&b, p.id, FAULT_NONE);
	tell_probe(&b, &p, &(struct fate){.phase = POD_PENDING});
	cr_expect_null(step(&b, ACTION_GRANT));
	cr_expect_eq(companions_deleted(&b), 0);
	tell_probe(&b, &p, &(struct fate){.phase = POD_SUCCEEDED, .sight = &nothing});
	struct asked next = asked_for(&b);
	cr_expect_eq(next.claim->form, INJECT_ENV);
	settle(&b, next.id, FAULT_NONE);
	tell_probe(&b, &next, &(struct fate){.phase = POD_SUCCEEDED, .sight = &right});
	const struct action *g = step(&b, ACTION_GRANT);
	cr_assert_not_null(g);
	cr_expect_eq(g->ledger.count, 1);
	cr_assert_eq(g->claim->other_count, 1);
	cr_expect_str_eq(g->claim->others[0].class, "own");
	cr_expect_eq(g->claim->others[0].form, INJECT_ENV);
	cr_expect_eq(g->claim->form, INJECT_CDI, "the other one stays");
	finish_asked(&p);
	finish_asked(&next);
	bed_finish(&b);
}

Test(inject_class, c26_a_tenant_is_told_in_the_form_of_its_own_class)
{
	struct {
		const char *class;
		enum inject_form form;
	} rows[] = {{"nvidia", INJECT_CDI}, {"own", INJECT_NRI}, {NULL, INJECT_ENV}};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct inject_claim claim = with_others(2);
		struct grant entry = {"w", "default", "w", 250, 20000};
		struct bed b = bed_open();
		struct holding written = cap;
		written.claim = &claim;
		written.ledger = (struct ledger){&entry, 1};
		tell_holding(&b, &written);
		tell_waiting_as(&b, "w", "0.25", rows[i].class);
		const struct action *a = step(&b, ACTION_PLACE);
		cr_assert_not_null(a, "%zu", i);
		cr_expect_eq(a->form, rows[i].form, "%zu", i);
		cr_expect_null(find_probe(&b), "%zu", i);
		bed_finish(&b);
	}
}

/* An entry is no proof: another leader may have made it, or the node may have been booted since. */
Test(inject_class, c26_an_entry_is_not_told_before_its_class_is_proven)
{
	struct grant entry = {"w", "default", "w", 250, 20000};
	struct bed b = bed_open();
	struct holding written = cap;
	written.claim = &proven;
	written.ledger = (struct ledger){&entry, 1};
	tell_holding(&b, &written);
	tell_waiting_as(&b, "w", "0.25", NULL);
	cr_expect_null(step(&b, ACTION_PLACE));
	const struct action *a = find_probe(&b);
	cr_assert_not_null(a);
	cr_expect_str_eq(a->claim->class, "");
	cr_expect(text_empty(a->runtime_class));
	bed_finish(&b);
}

static void refute_all(struct bed *b)
{
	for (int i = 0; i < INJECT_FORMS; i++) {
		(void)play(b, &nothing);
	}
	cr_expect_null(step(b, ACTION_GRANT));
}

Test(inject_class, c26_where_no_form_works_a_tenant_waits_and_reads_class_and_node)
{
	struct bed b = proven_bed(&proven);
	tell_waiting_as(&b, "w", "0.25", "own");
	refute_all(&b);
	const struct action *event = event_of(&b);
	cr_assert_not_null(event);
	cr_expect_not_null(strstr(event->message, "of RuntimeClass own"), "%s", event->message);
	cr_expect_not_null(
		strstr(event->message, "n0 rests for tenants of that class"), "%s", event->message);
	cr_expect_null(step(&b, ACTION_DELETE_CAPACITY), "others are served");
	cr_expect_null(find_probe(&b));
	cr_expect_eq(waiting_for(&b, REASON_NO_INJECTION), 1);
	b.now += 20000;
	const struct action *said = step(&b, ACTION_CONDITION);
	cr_assert_not_null(said);
	cr_expect_eq(said->reason, REASON_NO_INJECTION);
	cr_expect_not_null(strstr(said->message,
				   "no container of RuntimeClass own gets a GPU by its name on n0"),
		"%s", said->message);
	cr_expect_not_null(strstr(said->message, "env sees none"), "%s", said->message);
	cr_expect_not_null(strstr(said->message, "next try in"), "%s", said->message);
	tell_waiting_as(&b, "x", "0.25", "nvidia");
	const struct action *g = step(&b, ACTION_GRANT);
	cr_assert_not_null(g);
	cr_expect_str_eq(g->ledger.items[0].uid, "x");
	bed_finish(&b);
}

Test(inject_class, c26_a_tenant_goes_elsewhere_where_its_class_sees_nothing)
{
	struct bed b = proven_bed(&proven);
	struct grant entry = {"w", "default", "w", 250, 20000};
	struct holding written = cap;
	written.claim = &proven;
	written.ledger = (struct ledger){&entry, 1};
	tell_holding(&b, &written);
	tell_waiting_as(&b, "w", "0.25", "own");
	refute_all(&b);
	tell_gpu_node(&b, "n1", &first_boot);
	const struct action *a = step(&b, ACTION_CREATE_CAPACITY);
	cr_assert_not_null(a, "even from a GPU that stands in a ledger");
	cr_expect_str_eq(a->node, "n1");
	bed_finish(&b);
}

Test(inject_class, c26_another_runtime_is_tried_at_once)
{
	struct bed b = proven_bed(&proven);
	tell_waiting_as(&b, "w", "0.25", "own");
	refute_all(&b);
	(void)step(&b, ACTION_GRANT);
	tell_gpu_node(&b, "n0", &(struct boot){"b-1", "containerd://2.1"});
	struct asked p = asked_for(&b);
	cr_expect_str_eq(p.claim->class, "nvidia", "the capacity pods' own comes first");
	finish_asked(&p);
	bed_finish(&b);
}

/* The first written is the first to go, if nobody waits for it. */
Test(inject_class, c26_as_many_classes_are_kept_as_have_room)
{
	char names[INJECT_CLASSES_MAX][16];
	struct inject_class list[INJECT_CLASSES_MAX];
	struct inject_claim full = proven;
	for (int i = 0; i < INJECT_CLASSES_MAX; i++) {
		snprintf(names[i], sizeof names[i], "class-%d", i);
		list[i] = (struct inject_class){names[i], INJECT_ENV};
	}
	full.others = list;
	full.other_count = INJECT_CLASSES_MAX;
	struct bed b = bed_open();
	struct grant entry = {"first", "default", "first", 100, 8000};
	struct holding written = cap;
	written.claim = &full;
	written.ledger = (struct ledger){&entry, 1};
	tell_holding(&b, &written);
	tell_waiting_as(&b, "first", "0.1", "class-0");
	cr_expect_not_null(step(&b, ACTION_PLACE));
	tell_waiting_as(&b, "w", "0.25", "own");
	cr_expect_eq(play(&b, &right), INJECT_CDI);
	const struct action *g = step(&b, ACTION_GRANT);
	cr_assert_not_null(g);
	cr_assert_eq(g->claim->other_count, INJECT_CLASSES_MAX);
	cr_expect_str_eq(g->claim->others[0].class, "class-0", "somebody waits for it");
	cr_expect_str_eq(g->claim->others[1].class, "class-2");
	cr_expect_str_eq(g->claim->others[INJECT_CLASSES_MAX - 1].class, "own");
	bed_finish(&b);
}

Test(inject_class, c26_more_classes_at_once_than_are_kept_wait_and_are_told)
{
	struct bed b = proven_bed(&proven);
	for (int i = 0; i <= INJECT_CLASSES_MAX; i++) {
		char name[16], class[16];
		snprintf(name, sizeof name, "w-%d", i);
		snprintf(class, sizeof class, "class-%d", i);
		tell_waiting_as(&b, name, "0.1", class);
	}
	(void)step(&b, ACTION_GRANT);
	size_t probes = 0;
	vec_for_each (const struct action, a, &b.plan.actions) {
		probes += a->type == ACTION_CREATE_CAPACITY && a->claim != NULL ? 1 : 0;
	}
	cr_expect_eq(probes, INJECT_CLASSES_MAX);
	cr_expect_eq(waiting_for(&b, REASON_PROVING), INJECT_CLASSES_MAX + 1);
	b.now += 20000;
	(void)step(&b, ACTION_CONDITION);
	size_t told = 0;
	vec_for_each (const struct action, a, &b.plan.actions) {
		told += a->type == ACTION_CONDITION &&
					strstr(a->message, "as many classes as can be") != NULL
				? 1
				: 0;
	}
	cr_expect_eq(told, 1);
	bed_finish(&b);
}

Test(inject_class, c26_a_new_leader_believes_the_probe_of_a_class)
{
	struct bed b = proven_bed(&proven);
	tell_waiting_as(&b, "w", "0.25", "own");
	struct asked p = asked_for(&b);
	struct bed after = proven_bed(&proven);
	tell_probe(&after, &p, &(struct fate){.phase = POD_SUCCEEDED, .sight = &right});
	const struct action *g = step(&after, ACTION_GRANT);
	cr_assert_not_null(g, "although nobody asks any more");
	cr_expect(g->claim != NULL && g->claim->other_count == 1);
	cr_expect_eq(companions_deleted(&after), 0);
	finish_asked(&p);
	bed_finish(&after);
	bed_finish(&b);
}

Test(inject_class, c26_a_probe_of_a_class_that_nobody_has_any_more_goes)
{
	struct bed b = proven_bed(&proven);
	tell_waiting_as(&b, "w", "0.25", "own");
	struct asked p = asked_for(&b);
	settle(&b, p.id, FAULT_NONE);
	tell_probe(&b, &p, &(struct fate){.phase = POD_PENDING});
	tell_gone(&b, "default", "w");
	(void)step(&b, ACTION_GRANT);
	cr_expect_eq(companions_deleted(&b), 0, "the next step may want it again");
	b.now += 61000;
	(void)step(&b, ACTION_GRANT);
	cr_expect_eq(companions_deleted(&b), 1);
	finish_asked(&p);
	bed_finish(&b);
}

Test(inject_class, by_the_word_of_an_admin_classes_make_no_difference)
{
	struct bed b = bed_make_of(&(struct engine_config){.injection = "nri"});
	tell_gpu_node(&b, "n0", &first_boot);
	tell_holding(&b, &cap);
	tell_waiting_as(&b, "w", "0.25", "own");
	cr_expect_not_null(step(&b, ACTION_GRANT));
	cr_expect_null(find_probe(&b));
	bed_finish(&b);
}

/* Its node ends each: who waits reads so, and why. */
Test(inject_class, c26_a_probe_that_is_ended_again_and_again_is_told)
{
	struct bed b = bed_open();
	tell_waiting_as(&b, "w", "0.25", "nvidia");
	for (int i = 0; i < 3; i++) {
		struct asked p = asked_for(&b);
		settle(&b, p.id, FAULT_NONE);
		tell_probe(&b, &p, &(struct fate){.phase = POD_FAILED, .ended = "Evicted"});
		(void)step(&b, ACTION_GRANT);
		(void)step(&b, ACTION_GRANT);
		cr_expect_eq(
			waiting_for(&b, i == 0 ? REASON_PROVING : REASON_PROBE_ENDED), 1, "%d", i);
		tell_gone(&b, NAME_NAMESPACE, p.name);
		b.now += 31000;
		finish_asked(&p);
	}
	b.now += 30000;
	const struct action *said = step(&b, ACTION_CONDITION);
	cr_assert_not_null(said);
	cr_expect_not_null(
		strstr(said->message, "each probe of a container with a GPU is ended on n0"), "%s",
		said->message);
	cr_expect_not_null(strstr(said->message, "in a row: Evicted"), "%s", said->message);
	bed_finish(&b);
}
