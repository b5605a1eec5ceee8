/* Placements whose fate is open while their capacity pod goes: what may land yet counts on the GPU,
 * whoever holds it, until it cannot land any more. */
#include "engine/journal.h"
#include "odd_bed.h"

static const struct cap first = {"cap-0", "c1", "GPU-A", false, {0}};
static const struct cap second = {"cap-1", "c2", "GPU-A", false, {0}};

static void settle(struct bed *b, uint64_t id, enum fault_kind kind, bool unknown)
{
	struct outcome o = {.fault = {.kind = kind, .unknown_outcome = unknown}};
	engine_settle(b->e, (struct engine_now){b->now, b->now}, id, &o);
}

/* `w` has its entry and is placed; the answer is `kind`. */
static void place(struct bed *b, enum fault_kind kind, bool unknown)
{
	const struct action *a = step(b, ACTION_PLACE);
	cr_assert_not_null(a);
	cr_assert_str_eq(a->name, "w");
	settle(b, a->id, kind, unknown);
}

static struct bed bed_with_entry(const char *share, int64_t milli)
{
	struct bed b = bed_make();
	struct grant w[] = {{"w", "default", "w", milli, 80 * milli}};
	struct cap cap = first;
	cap.ledger = (struct ledger){w, 1};
	tell_node(&b, "n0", 1, 110);
	tell_capacity(&b, &cap);
	tell_waiting(&b, "w", share);
	return b;
}

/* Somebody deletes the capacity pod by hand, and another one gets its GPU. */
static void change_hands(struct bed *b)
{
	tell_gone(b, NAME_NAMESPACE, first.name);
	tell_capacity(b, &second);
}

/* Who gets something on the second capacity pod in this step: their names, in order. */
static const char *granted(struct bed *b)
{
	static char names[64];
	const struct action *a = step(b, ACTION_GRANT);
	names[0] = '\0';
	for (uint32_t i = 0; a != NULL && i < a->ledger.count; i++) {
		strncat(names, a->ledger.items[i].name, sizeof names - strlen(names) - 1);
	}
	return names;
}

/* It needs nothing of a node but its GPU. */
static void tell_undemanding(struct bed *b, const char *name, const char *share)
{
	struct pair label[] = {{LABEL_TENANT, "true"}};
	struct pair notes[] = {{NOTE_ORIGINAL, "{}"}, {NOTE_SHARE, share}};
	const char *gate[] = {NAME_GATE};
	struct pod p = {.ns = "default",
		.name = name,
		.uid = name,
		.labels = {label, 1},
		.notes = {notes, 2},
		.gates = gate,
		.gate_count = 1};
	tell_pod(b, &p);
}

Test(landing, a_share_that_may_land_counts_on_whoever_holds_the_gpu)
{
	struct bed b = bed_with_entry("0.5", 500);
	place(&b, FAULT_TRANSIENT, true);
	change_hands(&b);
	tell_waiting(&b, "v", "0.7");
	cr_expect_str_eq(granted(&b), "", "w may run there with a half by now");
	/* Another version: the placement meets a conflict if it still comes. */
	tell_waiting(&b, "w", "0.5");
	cr_expect_str_eq(granted(&b), "v");
	bed_finish(&b);
}

Test(landing, one_without_an_answer_counts_like_one_that_was_lost)
{
	struct bed b = bed_with_entry("0.5", 500);
	cr_assert_not_null(step(&b, ACTION_PLACE));
	change_hands(&b);
	tell_waiting(&b, "v", "0.7");
	cr_expect_str_eq(granted(&b), "");
	tell_waiting(&b, "v2", "0.5");
	cr_expect_str_eq(granted(&b), "v2", "beside it there is room");
	bed_finish(&b);
}

Test(landing, one_that_was_refused_cannot_land)
{
	struct bed b = bed_with_entry("0.5", 500);
	place(&b, FAULT_DENIED, false);
	change_hands(&b);
	tell_waiting(&b, "v", "0.7");
	cr_expect_str_eq(granted(&b), "v");
	bed_finish(&b);
}

Test(landing, a_refusal_says_nothing_about_an_earlier_attempt)
{
	struct bed b = bed_with_entry("0.5", 500);
	place(&b, FAULT_TRANSIENT, true);
	b.now += 6000;
	place(&b, FAULT_DENIED, false);
	change_hands(&b);
	tell_waiting(&b, "v", "0.7");
	cr_expect_str_eq(granted(&b), "");
	bed_finish(&b);
}

Test(landing, a_success_counts_until_the_watch_shows_it)
{
	struct bed b = bed_with_entry("0.5", 500);
	place(&b, FAULT_NONE, false);
	change_hands(&b);
	tell_waiting(&b, "v", "0.7");
	cr_expect_str_eq(granted(&b), "");
	tell_gone(&b, "default", "w");
	cr_expect_str_eq(granted(&b), "v", "told to nobody");
	bed_finish(&b);
}

Test(landing, what_may_land_does_not_stand_in_the_way_of_its_own_tenant)
{
	struct bed b = bed_with_entry("0.9", 900);
	place(&b, FAULT_TRANSIENT, true);
	change_hands(&b);
	cr_expect_str_eq(granted(&b), "", "the answer may be on its way");
	b.now += 6000;
	cr_expect_str_eq(granted(&b), "w");
	tell_waiting(&b, "v", "0.2");
	cr_expect_str_eq(granted(&b), "", "once, not twice, and not never");
	bed_finish(&b);
}

/* Somebody else has taken the CPU that it needs. */
Test(landing, one_whose_tenant_finds_no_place_counts_all_the_same)
{
	struct bed b = bed_with_entry("0.5", 500);
	struct node n = {.name = "n0",
		.ready = true,
		.cpu_milli = 5,
		.mem_bytes = (int64_t)1 << 40,
		.pod_slots = 110,
		.gpus = 1};
	struct change set = {.type = CHANGE_SET, .kind = KIND_NODE, .node = &n};
	place(&b, FAULT_TRANSIENT, true);
	change_hands(&b);
	engine_observe(b.e, &set);
	tell_undemanding(&b, "x", "0.7");
	b.now += 6000;
	cr_expect_str_eq(granted(&b), "", "w was looked at before x, and may run there by now");
	tell_undemanding(&b, "y", "0.5");
	cr_expect_str_eq(granted(&b), "y");
	bed_finish(&b);
}

/* Another leader's, sent for a capacity pod that is gone: it shows when its share was promised. */
Test(landing, one_of_another_leader_comes_before_what_was_promised)
{
	struct bed b = bed_make();
	struct grant promised[] = {
		{"w", "default", "w", 200, 16000}, {"v", "default", "v", 200, 16000}};
	struct cap cap = second;
	cap.ledger = (struct ledger){promised, 2};
	tell_node(&b, "n0", 1, 110);
	tell_capacity(&b, &cap);
	tell_waiting(&b, "w", "0.2");
	tell_waiting(&b, "v", "0.2");
	tell_running(&b, "r", first.name, first.uuid);
	const struct action *a = step(&b, ACTION_PLACE);
	cr_assert_not_null(a);
	cr_expect_str_eq(a->name, "w", "who was promised last gives way");
	int placed = 0;
	vec_for_each (const struct action, one, &b.plan.actions) {
		placed += one->type == ACTION_PLACE;
	}
	cr_expect_eq(placed, 1);
	bed_finish(&b);
}

Test(landing, who_was_promised_twice_takes_the_other_promise)
{
	for (int i = 0; i < 2; i++) {
		struct bed b = bed_make();
		struct grant promised[] = {{"w", "default", "w", 400, 32000}};
		struct cap held = second,
			   other = {.name = i == 0 ? "cap-2" : "a", .uid = "c3", .uuid = "GPU-B"};
		held.ledger = other.ledger = (struct ledger){promised, 1};
		tell_node(&b, "n0", 2, 110);
		tell_capacity(&b, &held);
		tell_capacity(&b, &other);
		tell_waiting(&b, "w", "0.4");
		tell_running(&b, "r", first.name, first.uuid);
		const struct action *a = step(&b, ACTION_PLACE);
		cr_assert_not_null(a, "%d", i);
		cr_expect_str_eq(a->uuid, "GPU-B");
		vec_for_each (const struct action, one, &b.plan.actions) {
			cr_expect(one->type != ACTION_GRANT || one->ledger.count < 2 ||
				  strcmp(one->name, other.name) != 0);
		}
		bed_finish(&b);
	}
}

/* The same process leads again: what it sent before is still on its way. */
Test(landing, a_new_term_does_not_forget_what_may_land)
{
	struct bed b = bed_with_entry("0.5", 500);
	struct change lead = {.type = CHANGE_LEADER};
	place(&b, FAULT_TRANSIENT, true);
	change_hands(&b);
	engine_observe(b.e, &lead);
	lead.leads = true;
	engine_observe(b.e, &lead);
	tell_waiting(&b, "a", "0.7");
	cr_expect_str_eq(granted(&b), "w", "w is first judged anew, a does not fit beside it");
	bed_finish(&b);
}

/* It lands after all, from the first capacity pod, when its tenant has an entry with the second. */
Test(landing, an_entry_stays_where_its_tenant_came_to_run_by_another_name)
{
	struct bed b = bed_make();
	struct grant w[] = {{"w", "default", "w", 700, 50000}};
	struct cap cap = second;
	cap.ledger = (struct ledger){w, 1};
	tell_node(&b, "n0", 1, 110);
	tell_capacity(&b, &cap);
	tell_running(&b, "w", first.name, first.uuid);
	tell_waiting(&b, "v", "0.2");
	cr_expect_str_eq(granted(&b), "wv");
	bed_finish(&b);
}

/* Nobody gives the GPU back on which somebody may run by now. */
Test(landing, a_gpu_on_which_somebody_may_land_is_not_idle)
{
	struct bed b = bed_with_entry("0.5", 500);
	const struct action *a = step(&b, ACTION_PLACE);
	cr_assert_not_null(a);
	change_hands(&b);
	for (int i = 0; i < 100; i++, b.now += 1000) {
		cr_assert_null(step(&b, ACTION_DELETE_CAPACITY), "second %d", i);
	}
	tell_gone(&b, "default", "w");
	cr_expect_null(step(&b, ACTION_DELETE_CAPACITY));
	b.now += 60000;
	cr_expect_not_null(step(&b, ACTION_DELETE_CAPACITY));
	bed_finish(&b);
}

/* Its condition says already why it waits. */
static void tell_explained(struct bed *b, const char *name)
{
	struct pair label[] = {{LABEL_TENANT, "true"}};
	struct pair notes[] = {{NOTE_ORIGINAL, "{}"}, {NOTE_SHARE, "0.5"}};
	const char *gate[] = {NAME_GATE};
	struct pod p = {.ns = "default",
		.name = name,
		.uid = name,
		.labels = {label, 1},
		.notes = {notes, 2},
		.gates = gate,
		.gate_count = 1,
		.placed = {.type = NAME_PLACED, .reason = reason_name(REASON_NODE_UNFIT)}};
	tell_pod(b, &p);
}

static void cordon(struct bed *b)
{
	struct node n = {.name = "n0", .ready = true, .unschedulable = true, .gpus = 1};
	struct change set = {.type = CHANGE_SET, .kind = KIND_NODE, .node = &n};
	engine_observe(b->e, &set);
}

/* A write to the tenant is the end of what may land on it: where it goes nowhere, nobody else would
 * ever get that share. */
Test(landing, is_ended_by_saying_again_why_the_tenant_waits)
{
	struct bed b = bed_with_entry("0.5", 500);
	tell_explained(&b, "w");
	place(&b, FAULT_TRANSIENT, true);
	change_hands(&b);
	cordon(&b);
	b.now += 11000;
	cr_expect_not_null(step(&b, ACTION_CONDITION), "it says so already, and is told again");
	cr_expect_eq(engine_report(b.e)->by_reason[REASON_NODE_UNFIT], 1);
	tell_explained(&b, "w");
	b.now += 120000;
	cr_expect_null(step(&b, ACTION_CONDITION), "nothing can land any more");
	bed_finish(&b);
}

/* The journal keeps what may land: a replay that begins after the placement decides alike. */
Test(landing, survives_in_the_journal)
{
	struct bed b = bed_with_entry("0.5", 500);
	struct journal_config config = {.version = "test"};
	struct journal *j = journal_create(&config);
	place(&b, FAULT_TRANSIENT, true);
	engine_record(b.e, j);
	change_hands(&b);
	tell_waiting(&b, "v", "0.7");
	cr_expect_str_eq(granted(&b), "");
	CLEANUP(str_finish) struct str bytes = STR_INIT(1u << 20);
	journal_dump(j, &bytes);
	struct journal_summary sum;
	struct fault f = {0};
	struct view view = {str_text(&bytes), bytes.len};
	cr_assert_eq(journal_replay(view, "test", &sum, &f), 0, "%s", f.message);
	cr_expect_eq(sum.steps, 1);
	cr_expect_not(sum.diverged, "%s", sum.divergence);
	engine_record(b.e, NULL);
	journal_destroy(j);
	bed_finish(&b);
}

/* --- the ghost: a capacity pod that is gone and whose last write is not answered --- */

static struct bed bed_with_ghost(void)
{
	struct bed b = bed_make();
	struct grant t[] = {{"t", "default", "t", 700, 50000}};
	struct cap cap = first;
	cap.ledger = (struct ledger){t, 1};
	tell_node(&b, "n0", 1, 110);
	tell_capacity(&b, &cap);
	tell_running(&b, "t", first.name, first.uuid);
	tell_waiting(&b, "w", "0.1");
	cr_assert_not_null(step(&b, ACTION_GRANT), "which is never answered");
	change_hands(&b);
	return b;
}

Test(landing, one_that_is_gone_does_not_draw_tenants_from_who_holds_their_gpu)
{
	struct bed b = bed_with_ghost();
	tell_gone(&b, "default", "w");
	for (int i = 0; i < 100; i++, b.now += 1000) {
		cr_assert_null(step(&b, ACTION_DELETE_CAPACITY), "t runs on it, second %d", i);
	}
	bed_finish(&b);
}

Test(landing, the_ledger_of_one_that_is_gone_counts_nobody)
{
	struct bed b = bed_with_ghost();
	tell_waiting(&b, "v", "0.5");
	cr_expect_str_eq(granted(&b), "tw", "t has 0.7: there is room for w and none for v");
	bed_finish(&b);
}
