/* A pass of the watchdog in slices: what it finds is what one in one piece finds, whatever happens
 * between two of them. */
#include "guardian/overuse_pass.h"
#include "overuse_bed.h"

#include "engine/journal.h"
#include "state.h"

#define NODES	 6
#define A_NODE	 12
#define SLICES	 1000
#define ONE_UNIT 4 /* of a budget: a quarter of it is the watchdog's */

static const char *name_of(int node, int at, char out[16])
{
	snprintf(out, 16, "t%d-%d", node, at);
	return out;
}

static void tell_user(struct bed *b, int node, const char *name)
{
	char on[16], uuid[16];
	snprintf(on, sizeof on, "n%d", node);
	snprintf(uuid, sizeof uuid, "G%d", node);
	struct pair label[] = {{LABEL_TENANT, "true"}};
	struct pair notes[] = {{NOTE_COMPUTE_MILLI, "100"}, {NOTE_GPU_UUID, uuid},
		{NOTE_MEMORY_MIB, "10000"}, {NOTE_POLICY, "evicts"}};
	struct pod p = {.ns = "default",
		.name = name,
		.uid = name,
		.node = on,
		.phase = POD_RUNNING,
		.labels = {label, 1},
		.notes = {notes, COUNT_OF(notes)}};
	tell_pod(b, &p);
}

/* The first of each node uses too much, on a GPU that is short. */
static void tell_figures(struct bed *b, int node)
{
	char on[16], uuid[16], names[A_NODE][16];
	const char *pods[A_NODE];
	struct pod_use uses[A_NODE];
	snprintf(on, sizeof on, "n%d", node);
	snprintf(uuid, sizeof uuid, "G%d", node);
	struct device_state device = {.uuid = uuid, .total_mib = 80000, .used_mib = 79900};
	for (int i = 0; i < A_NODE; i++) {
		pods[i] = name_of(node, i, names[i]);
		uses[i] = (struct pod_use){pods[i], uuid, i == 0 ? 15000 : 5000, 1};
	}
	struct node_state s = {.node = on,
		.boot = "b",
		.sequence = b->now,
		.seen_ms = b->now,
		.seen_by_ms = b->now,
		.devices = &device,
		.device_count = 1,
		.pods = pods,
		.pod_count = A_NODE,
		.uses = uses,
		.use_count = A_NODE};
	struct change c = {.type = CHANGE_SET, .kind = KIND_STATE, .state = &s};
	engine_observe(b->e, &c);
}

static void look(struct bed *b)
{
	b->now += 2000;
	for (int i = 0; i < NODES; i++) {
		tell_figures(b, i);
	}
}

static void take_step(struct bed *b, uint32_t budget)
{
	engine_step(b->e, (struct engine_now){b->now, WALL + b->now}, budget, &b->plan);
}

static struct bed field(void)
{
	struct bed b = bed_make();
	char name[16];
	tell_reach(&b, true);
	tell_overuse_policy(&b, "evicts", OVERUSE_EVICT, ISOLATION_NONE);
	for (int i = 0; i < NODES; i++) {
		char on[16];
		snprintf(on, sizeof on, "n%d", i);
		tell_node(&b, on, 1, 110);
		for (int k = 0; k < A_NODE; k++) {
			tell_user(&b, i, name_of(i, k, name));
		}
	}
	return b;
}

struct told_so_far {
	int events, conditions, evictions, slices;
	uint32_t whom; /* a bit for each node whose first tenant was told */
};

static void gather(const struct bed *b, struct told_so_far *t)
{
	vec_for_each (const struct action, a, &b->plan.actions) {
		if (a->type == ACTION_EVENT && a->reason == REASON_MEMORY_OVERUSE &&
			strstr(a->message, "more than its share")) {
			cr_expect(
				a->name[0] == 't' && strcmp(a->name + 2, "-0") == 0, "%s", a->name);
			t->whom |= 1u << (a->name[1] - '0');
			t->events++;
		}
		t->conditions += a->type == ACTION_CONDITION;
		t->evictions += a->type == ACTION_EVICT;
	}
}

/* To the end of the pass, a unit of the budget at a time. */
static struct told_so_far in_slices(struct bed *b)
{
	struct told_so_far t = {0};
	do {
		take_step(b, ONE_UNIT);
		gather(b, &t);
		t.slices++;
	} while (overuse_running(&b->e->overuses) && t.slices < SLICES);
	cr_assert(t.slices < SLICES);
	return t;
}

Test(overuse_pass, in_slices_it_finds_what_it_finds_in_one_piece)
{
	struct bed whole = field(), cut = field();
	struct told_so_far all = {0}, t = {0};
	look(&whole);
	look(&cut);
	take_step(&whole, 100000);
	cr_expect_not(
		overuse_running(&whole.e->overuses), "a small cluster is looked at in one piece");
	(void)in_slices(&cut);
	look(&whole);
	look(&cut);
	take_step(&whole, 100000);
	gather(&whole, &all);
	t = in_slices(&cut);
	cr_expect_gt(t.slices, 2 * NODES, "%d", t.slices);
	cr_expect_eq(all.whom, (1u << NODES) - 1);
	cr_expect_eq(t.whom, all.whom);
	cr_expect_eq(t.events, all.events, "%d and %d", t.events, all.events);
	cr_expect_eq(t.conditions, all.conditions, "%d and %d", t.conditions, all.conditions);
	cr_expect_eq(all.evictions, NODES);
	cr_expect_eq(t.evictions, all.evictions, "%d", t.evictions);
	cr_expect_eq(engine_report(whole.e)->tenants_over, NODES);
	cr_expect_eq(engine_report(cut.e)->tenants_over, NODES);
	cr_expect_eq(engine_report(cut.e)->over_mib, NODES * 5000);
	bed_finish(&whole);
	bed_finish(&cut);
}

Test(overuse_pass, figures_are_those_of_the_last_complete_pass)
{
	struct bed b = field();
	struct told_so_far t = {0};
	look(&b);
	(void)in_slices(&b);
	look(&b);
	for (int i = 0; i < SLICES && t.whom != (1u << NODES) - 1; i++) {
		take_step(&b, ONE_UNIT);
		gather(&b, &t);
		cr_assert(overuse_running(&b.e->overuses) && engine_next_deadline(b.e) <= b.now,
			"the next slice is due at once");
		cr_assert_eq(engine_report(b.e)->tenants_over, 0);
	}
	(void)in_slices(&b);
	cr_expect_eq(engine_report(b.e)->tenants_over, NODES);
	struct change lead = {.type = CHANGE_LEADER};
	engine_observe(b.e, &lead);
	lead.leads = true;
	engine_observe(b.e, &lead);
	take_step(&b, ONE_UNIT);
	cr_expect_eq(engine_report(b.e)->tenants_over, 0, "in a new term nothing was found yet");
	bed_finish(&b);
}

/* One of the last node leaves when the first was told, and another takes its place in the world. */
Test(overuse_pass, who_leaves_between_two_slices_is_not_told_nor_is_who_takes_its_slot)
{
	struct bed b = field();
	struct told_so_far t = {0};
	char last[16];
	look(&b);
	(void)in_slices(&b);
	look(&b);
	for (int i = 0; i < SLICES && t.events == 0; i++) {
		take_step(&b, ONE_UNIT);
		gather(&b, &t);
	}
	cr_assert(t.whom == 1 && overuse_running(&b.e->overuses));
	tell_gone(&b, "default", name_of(NODES - 1, 0, last));
	tell_user(&b, NODES - 1, "t9-1");
	struct told_so_far rest = in_slices(&b);
	cr_expect_eq(t.whom | rest.whom, (1u << (NODES - 1)) - 1);
	cr_expect_eq(engine_report(b.e)->tenants_over, NODES - 1);
	look(&b);
	(void)in_slices(&b);
	cr_expect_eq(engine_report(b.e)->tenants_over, NODES - 1);
	cr_expect_eq(b.e->overuses.items.count, NODES - 1, "it is forgotten");
	cr_expect_eq(b.e->overuses.crowds.count, NODES - 1, "so is its GPU");
	bed_finish(&b);
}

/* What the former term has seen is nothing to the next one. */
Test(overuse_pass, a_pass_ends_with_the_term)
{
	struct bed b = field();
	look(&b);
	(void)in_slices(&b);
	look(&b);
	take_step(&b, ONE_UNIT);
	cr_assert(overuse_running(&b.e->overuses));
	struct change lost = {.type = CHANGE_LEADER, .leads = false};
	engine_observe(b.e, &lost);
	take_step(&b, ONE_UNIT);
	tell_lead(b.e);
	cr_expect_not(overuse_running(&b.e->overuses));
	struct told_so_far t = in_slices(&b);
	cr_expect_eq(t.events, 0, "one look is no look");
	look(&b);
	t = in_slices(&b);
	cr_expect_eq(t.whom, (1u << NODES) - 1);
	bed_finish(&b);
}

#define VERSION	 "slices"
#define SEGMENTS 2000

struct tape {
	struct str bytes;
	size_t starts[SEGMENTS];
	size_t segments;
};

static void tape_begin(void *data, uint32_t number)
{
	struct tape *t = data;
	cr_assert(t->segments < SEGMENTS && number == t->segments + 1);
	t->starts[t->segments++] = t->bytes.len;
}

static void tape_write(void *data, const void *p, size_t n)
{
	struct tape *t = data;
	cr_assert(str_append(&t->bytes, p, n));
}

static void replay_from(const struct tape *t, size_t segment)
{
	struct view rest = {str_text(&t->bytes), t->bytes.len};
	struct journal_summary sum;
	struct fault f = {0};
	rest.p += t->starts[segment];
	rest.n -= t->starts[segment];
	cr_assert_eq(
		journal_replay(rest, VERSION, &sum, &f), 0, "segment %zu: %s", segment, f.message);
	cr_assert_not(sum.diverged, "segment %zu: %s", segment, sum.divergence);
	cr_assert_eq(sum.segments, t->segments - segment);
}

/* A segment begins after every slice or two: each of them is a place to begin. */
Test(overuse_pass, the_journal_goes_on_in_the_middle_of_a_pass)
{
	static struct tape tape;
	struct bed b = field();
	struct journal_sink sink = {&tape, tape_begin, tape_write};
	struct journal_config config = {.version = VERSION, .sink = &sink, .segment_bytes = 1};
	tape.bytes = (struct str)STR_INIT(64u << 20);
	struct journal *j = journal_create(&config);
	engine_record(b.e, j);
	char name[16];
	for (int i = 0; i < 4; i++) {
		look(&b);
		(void)in_slices(&b);
		take_step(&b, ONE_UNIT);
		tell_gone(&b, "default", name_of(i, 0, name));
	}
	journal_flush(j);
	cr_expect_gt(tape.segments, 60, "%zu", tape.segments);
	for (size_t i = 0; i < tape.segments; i++) {
		replay_from(&tape, i);
	}
	engine_record(b.e, NULL);
	journal_destroy(j);
	str_finish(&tape.bytes);
	bed_finish(&b);
}
