/* C21: a gate is taken off on a view that includes the grant. */
#include "evict_bed.h"

static struct bed granted(const struct action **ret_grant)
{
	struct bed b = bed_make();
	tell_node(&b, "n0", 1, 110);
	tell_capacity(&b, &(struct cap){"c0", "c0-uid", "G0", false, {0}});
	tell_waiting(&b, "w", "0.5");
	*ret_grant = step(&b, ACTION_GRANT);
	cr_assert_not_null(*ret_grant);
	return b;
}

static void acknowledge(struct bed *b, const struct action *grant)
{
	struct pod answer = {.uid = "c0-uid", .resource_version = "77", .phase = POD_RUNNING};
	struct outcome o = {.pod = &answer};
	engine_settle(b->e, (struct engine_now){b->now, b->now}, grant->id, &o);
}

Test(view, c21_an_acknowledged_grant_is_not_enough)
{
	const struct action *grant;
	struct bed b = granted(&grant);
	acknowledge(&b, grant);
	cr_expect_null(step(&b, ACTION_PLACE), "the watch has not brought it back");
	b.rv = 76;
	struct grant entry = {"w", "default", "w", 500, 40000};
	tell_capacity(&b, &(struct cap){"c0", "c0-uid", "G0", false, {&entry, 1}});
	cr_expect_not_null(step(&b, ACTION_PLACE));
	bed_finish(&b);
}

/* Forgotten, it would be asked for again, and of a quota it would not count. */
Test(view, c7_what_was_acknowledged_counts_for_as_long_as_the_watch_is_late)
{
	const struct action *grant;
	struct bed b = granted(&grant);
	acknowledge(&b, grant);
	b.now += 60000;
	cr_expect_null(step(&b, ACTION_GRANT));
	cr_expect_null(step(&b, ACTION_PLACE));
	/* Numbers that went back would never show it. */
	b.now += 600000;
	cr_expect_not_null(step(&b, ACTION_GRANT));
	bed_finish(&b);
}

Test(view, c21_a_watch_that_is_faster_than_the_answer_is_enough)
{
	const struct action *grant;
	struct bed b = granted(&grant);
	struct grant entry = {"w", "default", "w", 500, 40000};
	uint64_t id = grant->id;
	b.rv = 76;
	tell_capacity(&b, &(struct cap){"c0", "c0-uid", "G0", false, {&entry, 1}});
	cr_expect_null(step(&b, ACTION_PLACE), "nobody has said that it was done");
	acknowledge(&b, &(struct action){.id = id});
	cr_expect_not_null(step(&b, ACTION_PLACE));
	bed_finish(&b);
}

/* Of two streams either may be faster. */
Test(view, c21_an_answer_that_comes_after_the_watch_is_nothing_to_wait_for)
{
	struct bed b = bed_make();
	struct grant entry = {"w", "default", "w", 500, 40000};
	tell_node(&b, "n0", 2, 110);
	tell_capacity(&b, &(struct cap){"c0", "c0-uid", "G0", false, {0}});
	tell_waiting(&b, "w", "0.5");
	const struct action *a = step(&b, ACTION_GRANT);
	cr_assert_not_null(a);
	uint64_t id = a->id;
	tell_capacity(&b, &(struct cap){"c0", "c0-uid", "G0", false, {&entry, 1}});
	step(&b, ACTION_PLACE);
	char rv[16];
	snprintf(rv, sizeof rv, "%d", b.rv);
	struct pod answer = {.uid = "c0-uid", .resource_version = rv, .phase = POD_RUNNING};
	struct outcome o = {.pod = &answer};
	engine_settle(b.e, (struct engine_now){b.now, b.now}, id, &o);
	b.now += 3000;
	cr_expect_not_null(step(&b, ACTION_PLACE));
	bed_finish(&b);
}

Test(view, c21_nobody_is_placed_while_some_grant_is_two_seconds_late)
{
	const struct action *grant;
	struct bed b = granted(&grant);
	acknowledge(&b, grant);
	/* Another one, granted and shown, on a GPU of its own. */
	tell_node(&b, "n0", 2, 110);
	struct grant entry = {"x", "default", "x", 500, 40000};
	b.rv = 100;
	tell_waiting(&b, "x", "0.5");
	b.now += 2500;
	tell_capacity(&b, &(struct cap){"c1", "c1-uid", "G1", false, {&entry, 1}});
	cr_expect_null(step(&b, ACTION_PLACE));
	struct grant first = {"w", "default", "w", 500, 40000};
	tell_capacity(&b, &(struct cap){"c0", "c0-uid", "G0", false, {&first, 1}});
	step(&b, ACTION_PLACE);
	int placed = 0;
	vec_for_each (const struct action, a, &b.plan.actions) {
		placed += a->type == ACTION_PLACE;
	}
	cr_expect_eq(placed, 2);
	bed_finish(&b);
}

/* C20. An answer that shows the pod that was written stands until the watch has shown it; any other
 * says nothing, and the ledger is soon written again from what the watch has shown. */
Test(view, c20_an_answer_that_shows_another_pod_is_nothing_to_go_on_from)
{
	static const struct {
		struct pod answer;
		bool sound;
	} cases[] = {
		{{.uid = "c0-uid", .phase = POD_RUNNING}, true},
		{{.uid = "another", .phase = POD_RUNNING}, false},
		{{.uid = "c0-uid", .phase = POD_FAILED}, false},
		{{.uid = "c0-uid", .phase = POD_PENDING}, false},
		{{.uid = "c0-uid", .phase = POD_RUNNING, .deleting_ms = 1000}, false},
	};
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		const struct action *grant;
		struct bed b = granted(&grant);
		struct pod answer = cases[i].answer;
		answer.resource_version = "77";
		struct outcome o = {.pod = &answer};
		engine_settle(b.e, (struct engine_now){b.now, b.now}, grant->id, &o);
		b.now += 6000;
		cr_expect_eq(step(&b, ACTION_GRANT) == NULL, cases[i].sound, "%zu", i);
		bed_finish(&b);
	}
}

static void tell_state(struct bed *b, const char *upgrade, const char *taint)
{
	struct pair labels[] = {{"nvidia.com/gpu-driver-upgrade-state", upgrade}};
	struct taint taints[] = {{taint, NULL, "NoSchedule"}};
	struct node n = {.name = "n0",
		.ready = true,
		.cpu_milli = 64000,
		.mem_bytes = (int64_t)1 << 40,
		.pod_slots = 110,
		.gpus = 1,
		.labels = {labels, upgrade != NULL ? 1 : 0},
		.taints = taints,
		.taint_count = taint != NULL ? 1 : 0};
	struct change set = {.type = CHANGE_SET, .kind = KIND_NODE, .node = &n};
	engine_observe(b->e, &set);
}

/* C13. The tenant tolerates everything: the taint alone would not keep it away. */
Test(view, c13_a_node_that_is_about_to_be_emptied_gets_no_grant)
{
	static const struct {
		const char *upgrade, *taint;
		bool given;
	} cases[] = {{"drain-required", NULL, false}, {"pod-deletion-required", NULL, false},
		{NULL, "karpenter.sh/disrupted", false},
		{NULL, "ToBeDeletedByClusterAutoscaler", false},
		{NULL, "DeletionCandidateOfClusterAutoscaler", true}, {"upgrade-done", NULL, true},
		{NULL, NULL, true}};
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct pair label[] = {{LABEL_TENANT, "true"}};
		struct pair notes[] = {{NOTE_ORIGINAL, "{}"}, {NOTE_SHARE, "0.5"}};
		const char *gate[] = {NAME_GATE};
		struct toleration any[] = {{NULL, "Exists", NULL, NULL}};
		struct pod p = {.ns = "default",
			.name = "w",
			.uid = "w",
			.cpu_milli = 10,
			.mem_bytes = 100,
			.tolerations = any,
			.toleration_count = 1,
			.labels = {label, 1},
			.notes = {notes, 2},
			.gates = gate,
			.gate_count = 1};
		struct bed b = bed_make();
		tell_state(&b, cases[i].upgrade, cases[i].taint);
		tell_capacity(&b, &(struct cap){"c0", "c0-uid", "G0", false, {0}});
		tell_pod(&b, &p);
		cr_expect_eq(step(&b, ACTION_GRANT) != NULL, cases[i].given, "%zu", i);
		bed_finish(&b);
	}
}

static int count(const struct bed *b, enum action_type type)
{
	int n = 0;
	vec_for_each (const struct action, a, &b->plan.actions) {
		n += a->type == type;
	}
	return n;
}

/* The watch is slower than those who come: a ledger that is written again and again before it was
 * shown once would tell nobody. */
Test(view, those_who_come_later_do_not_keep_one_from_being_told)
{
	const struct action *grant;
	struct bed b = granted(&grant);
	acknowledge(&b, grant);
	tell_waiting(&b, "x", "0.2");
	cr_expect_null(step(&b, ACTION_GRANT), "the watch has not shown the one before it");
	b.rv = 76;
	struct grant entry = {"w", "default", "w", 500, 40000};
	tell_capacity(&b, &(struct cap){"c0", "c0-uid", "G0", false, {&entry, 1}});
	const struct action *place = step(&b, ACTION_PLACE);
	cr_assert_not_null(place);
	cr_expect_str_eq(place->name, "w");
	cr_expect_eq(count(&b, ACTION_GRANT), 1, "and the next one has its turn");
	bed_finish(&b);
}

/* Some grant would be late at any moment. */
Test(view, c21_nobody_is_granted_while_some_grant_is_two_seconds_late)
{
	const struct action *grant;
	struct bed b = granted(&grant);
	tell_node(&b, "n0", 2, 110);
	tell_capacity(&b, &(struct cap){"c1", "c1-uid", "G1", false, {0}});
	acknowledge(&b, grant);
	b.now += 2500;
	tell_waiting(&b, "x", "0.75");
	cr_expect_null(step(&b, ACTION_GRANT), "nobody could tell it");
	struct grant entry = {"w", "default", "w", 500, 40000};
	b.rv = 100;
	tell_capacity(&b, &(struct cap){"c0", "c0-uid", "G0", false, {&entry, 1}});
	cr_expect_not_null(step(&b, ACTION_GRANT));
	cr_expect_eq(count(&b, ACTION_PLACE), 1);
	bed_finish(&b);
}

/* Each word is another version of the tenant, and the watch shows it only after the ledger: its
 * placement would meet a conflict. */
Test(view, c23_whoever_stands_in_a_ledger_is_told_once_that_the_watch_is_late)
{
	const struct action *grant;
	struct bed b = granted(&grant);
	acknowledge(&b, grant);
	for (int i = 0; i < 59; i++, b.now += 1000) {
		cr_expect_null(step(&b, ACTION_CONDITION), "after %d s", i);
	}
	b.now += 2000;
	const struct action *said = step(&b, ACTION_CONDITION);
	cr_assert_not_null(said, "something is wrong");
	cr_expect_eq(said->reason, REASON_GRANTING);
	for (int i = 0; i < 300; i++) {
		b.now += 1000;
		cr_expect_null(step(&b, ACTION_CONDITION), "%d s later", i);
	}
	bed_finish(&b);
}

/* The answer to a word about "w": the pod under a version of its own, as tell_waiting tells it,
 * with that word, and perhaps with one label more. */
static void answer_word(struct bed *b, uint64_t id, const char *version, bool changed)
{
	struct pair labels[] = {{LABEL_TENANT, "true"}, {"z", "later"}};
	struct pair notes[] = {{NOTE_ORIGINAL, "{}"}, {NOTE_SHARE, "0.5"}};
	const char *gate[] = {NAME_GATE};
	struct pod p = {.ns = "default",
		.name = "w",
		.uid = "w",
		.resource_version = version,
		.cpu_milli = 10,
		.mem_bytes = 100,
		.labels = {labels, changed ? 2 : 1},
		.notes = {notes, 2},
		.placed = {.type = NAME_PLACED, .reason = "Granting", .message = "slow"},
		.gates = gate,
		.gate_count = 1};
	pairs_sort(&p.notes);
	struct outcome o = {.pod = &p};
	engine_settle(b->e, (struct engine_now){b->now, b->now}, id, &o);
}

/* The version from which "w" is placed as soon as the watch has shown its ledger, when it was told
 * before that the watch is late. `version` NULL: the answer was lost. */
static void expect_placed_from(
	const char *version, bool changed, const char *expected, bool conflicts)
{
	const struct action *a;
	struct bed b = granted(&a);
	struct grant entry = {"w", "default", "w", 500, 40000};
	acknowledge(&b, a);
	b.now += 61000;
	a = step(&b, ACTION_CONDITION);
	cr_assert(a != NULL && a->reason == REASON_GRANTING);
	if (version != NULL) {
		answer_word(&b, a->id, version, changed);
	}
	b.rv = 76;
	tell_capacity(&b, &(struct cap){"c0", "c0-uid", "G0", false, {&entry, 1}});
	a = step(&b, ACTION_PLACE);
	cr_assert_not_null(a);
	cr_expect_str_eq(a->resource_version, expected);
	if (conflicts) {
		/* Somebody wrote after that: what the answer showed is over. */
		settle(&b, a->id, 409, "conflict");
		b.now += 5000;
		a = step(&b, ACTION_PLACE);
		cr_assert_not_null(a);
		cr_expect_str_eq(a->resource_version, "2");
	}
	bed_finish(&b);
}

/* C19: from a version in which it is known to be what was judged. */
Test(view, c19_whoever_was_told_that_the_watch_is_late_is_placed_from_the_version_of_that_word)
{
	expect_placed_from("90", false, "90", false);
	expect_placed_from("90", false, "90", true);
	expect_placed_from("90", true, "2", false);
	expect_placed_from(NULL, false, "2", false);
	/* An answer that is older than what the watch has shown, and one that cannot be compared.
	 */
	expect_placed_from("1", false, "2", false);
	expect_placed_from("later", false, "2", false);
}

/* Another version that the watch shows is what is judged from then on. */
Test(view, c19_what_an_answer_showed_ends_with_the_version_that_it_was_compared_with)
{
	const struct action *a;
	struct bed b = granted(&a);
	struct grant entry = {"w", "default", "w", 500, 40000};
	acknowledge(&b, a);
	b.now += 61000;
	a = step(&b, ACTION_CONDITION);
	cr_assert_not_null(a);
	answer_word(&b, a->id, "90", false);
	b.rv = 75;
	tell_waiting(&b, "w", "0.5");
	tell_capacity(&b, &(struct cap){"c0", "c0-uid", "G0", false, {&entry, 1}});
	a = step(&b, ACTION_PLACE);
	cr_assert_not_null(a);
	cr_expect_str_eq(a->resource_version, "76");
	bed_finish(&b);
}

static void tell_low(
	struct bed *b, const char *name, const char *milli, const char *holder, const char *uuid)
{
	tell_tenant(b, &(struct tenant){.name = name,
			       .milli = milli,
			       .node = "n0",
			       .priority = -10,
			       .holder = holder,
			       .uuid = uuid});
}

/* The ledger of the GPU that costs least was written for somebody else, and the watch has not shown
 * it: who would go there is known all the same. */
Test(view, c17_a_watch_that_is_late_sends_nobody_to_a_dearer_gpu)
{
	struct bed b = bed_make();
	tell_node(&b, "n0", 2, 110);
	tell_reach(&b, true);
	struct grant a0[] = {{"a", "default", "a", 900, 1000}};
	struct grant c1[] = {{"c", "default", "c", 950, 1000}};
	tell_capacity(&b, &(struct cap){"c0", "c0-uid", "G0", false, {a0, 1}});
	tell_capacity(&b, &(struct cap){"c1", "c1-uid", "G1", false, {c1, 1}});
	tell_low(&b, "a", "900", "c0", "G0");
	tell_low(&b, "c", "950", "c1", "G1");
	tell_waiting(&b, "s", "0.1");
	const struct action *g = step(&b, ACTION_GRANT);
	cr_assert_not_null(g);
	cr_assert_str_eq(g->name, "c0");
	acknowledge(&b, g);
	tell_waiting(&b, "w", "0.5");
	cr_expect_null(step(&b, ACTION_EVICT));
	b.now += 10500;
	const struct action *a = step(&b, ACTION_EVICT);
	cr_assert_not_null(a);
	cr_expect_str_eq(a->uid, "a");
	bed_finish(&b);
}
