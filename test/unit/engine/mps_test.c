/* What an agent says of a daemon of MPS, and who is held off by it. */
#include "odd_bed.h"

static void arrives(struct bed *b, const char *name)
{
	struct pair label[] = {{LABEL_TENANT, "true"}};
	struct pair notes[] = {
		{NOTE_ISOLATION, ISOLATION_MPS_TEXT}, {NOTE_ORIGINAL, "{}"}, {NOTE_SHARE, "0.01"}};
	const char *gate[] = {NAME_GATE};
	struct pod p = {.ns = "default",
		.name = name,
		.uid = name,
		.labels = {label, 1},
		.notes = {notes, 3},
		.gates = gate,
		.gate_count = 1};
	tell_pod(b, &p);
}

static void runs(struct bed *b, const char *name)
{
	struct pair label[] = {{LABEL_TENANT, "true"}};
	struct pair notes[] = {{NOTE_CAPACITY_POD, "c0"}, {NOTE_COMPUTE_MILLI, "10"},
		{NOTE_GPU_UUID, "G0"}, {NOTE_ISOLATION, ISOLATION_MPS_TEXT},
		{NOTE_MEMORY_MIB, "512"}};
	struct pod p = {.ns = "default",
		.name = name,
		.uid = name,
		.node = "n0",
		.phase = POD_RUNNING,
		.labels = {label, 1},
		.notes = {notes, 5}};
	tell_pod(b, &p);
}

/* One GPU of mode MPS, and one who waits for a part of it. */
static struct bed one_gpu(void)
{
	struct bed b = bed_make();
	tell_node(&b, "n0", 1, 110);
	tell_capacity_of(&b, &(struct cap){.name = "c0", .uid = "c0-uid", .uuid = "G0"}, true);
	(void)step(&b, ACTION_GRANT);
	return b;
}

static void says(struct bed *b, enum mps_state state, uint32_t contexts, struct pod_use *uses,
	uint32_t use_count)
{
	struct device_state device = {
		.uuid = "G0", .mps = state, .contexts = contexts, .mps_why = "client 7 did it"};
	const char *pods[MODEL_GRANTS_MAX];
	for (uint32_t i = 0; i < use_count; i++) {
		pods[i] = uses[i].uid;
	}
	struct node_state s = {.node = "n0",
		.boot = "b",
		.sequence = b->now,
		.seen_ms = b->now,
		.devices = &device,
		.device_count = 1,
		.pods = pods,
		.pod_count = use_count,
		.uses = uses,
		.use_count = use_count};
	struct change c = {.type = CHANGE_SET, .kind = KIND_STATE, .state = &s};
	engine_observe(b->e, &c);
}

static uint32_t events(const struct bed *b, const char *part)
{
	uint32_t n = 0;
	vec_for_each (const struct action, a, &b->plan.actions) {
		bool it = a->type == ACTION_EVENT && text_equals(a->event_reason, "MpsHeldOff");
		n += it && strstr(a->message, part) != NULL ? 1 : 0;
	}
	return n;
}

static uint32_t held(const struct bed *b)
{
	return engine_report(b->e)->by_reason[REASON_MPS_HELD_OFF];
}

Test(mps, a_fault_holds_new_tenants_off_until_the_agent_says_active)
{
	struct bed b = one_gpu();
	b.now += 1000;
	says(&b, MPS_FAULT, 2, NULL, 0);
	arrives(&b, "t");
	cr_assert_null(step(&b, ACTION_GRANT));
	cr_assert_eq(held(&b), 1);
	cr_assert_eq(events(&b, "client 7 did it"), 1, "the capacity pod is told");
	b.now += 2000;
	says(&b, MPS_FAULT, 1, NULL, 0);
	cr_assert_null(step(&b, ACTION_GRANT));
	cr_assert_eq(events(&b, ""), 0, "once");
	/* Its agent falls silent: nobody has said that it is over. */
	b.now += 30000;
	cr_assert_null(step(&b, ACTION_GRANT));
	cr_assert_eq(held(&b), 1);
	cr_assert(engine_wants_state(b.e, 0), "it is asked on, although nobody runs there");
	says(&b, MPS_ACTIVE, 0, NULL, 0);
	cr_assert_not_null(step(&b, ACTION_GRANT));
	cr_assert_eq(held(&b), 0);
	b.now += 1000;
	says(&b, MPS_FAULT, 1, NULL, 0);
	(void)step(&b, ACTION_GRANT);
	cr_assert_eq(events(&b, "reports a fault"), 1, "another one is told anew");
	bed_finish(&b);
}

Test(mps, a_fault_is_over_when_its_node_was_started_anew)
{
	struct bed b = one_gpu();
	tell_started(&b, "n0", 1, 110, &(struct started){"boot-1", NULL});
	b.now += 1000;
	says(&b, MPS_FAULT, 2, NULL, 0);
	arrives(&b, "t");
	cr_assert_null(step(&b, ACTION_GRANT));
	/* Its agent does not come back, and its daemon is another one. */
	tell_started(&b, "n0", 1, 110, &(struct started){"boot-2", NULL});
	cr_assert_not_null(step(&b, ACTION_GRANT));
	bed_finish(&b);
}

Test(mps, what_waits_is_told_what_holds_it_off)
{
	struct bed b = one_gpu();
	b.now += 1000;
	arrives(&b, "t");
	for (int i = 0; i < 12; i++) {
		b.now += 1000;
		says(&b, MPS_DOWN, 0, NULL, 0);
		const struct action *a = step(&b, ACTION_CONDITION);
		if (a != NULL) {
			cr_assert_eq(a->reason, REASON_MPS_HELD_OFF);
			cr_assert(strstr(a->message,
					  "takes no new client of MPS: its daemon is down") != NULL,
				"%s", a->message);
			bed_finish(&b);
			return;
		}
	}
	cr_assert(false, "it was never told");
}

Test(mps, silence_holds_nobody_off_nor_does_what_was_said_of_an_earlier_capacity_pod)
{
	static const struct {
		enum mps_state state;
		bool old, goes;
	} rows[] = {{MPS_UNSAID, false, true}, {MPS_ACTIVE, false, true},
		{MPS_STARTING, false, false}, {MPS_DOWN, false, false}, {MPS_DOWN, true, true},
		{MPS_STARTING, true, true}, {MPS_FAULT, true, false}};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct bed b = one_gpu();
		b.now += 1000;
		says(&b, rows[i].state, 0, NULL, 0);
		b.now += rows[i].old ? STATE_FRESH_MS + 1 : 0;
		arrives(&b, "t");
		cr_assert_eq(step(&b, ACTION_GRANT) != NULL, rows[i].goes, "row %zu", i);
		bed_finish(&b);
	}
	struct bed b = bed_make();
	tell_node(&b, "n0", 1, 110);
	says(&b, MPS_FAULT, 1, NULL, 0);
	b.now += 1000;
	tell_capacity_of(&b, &(struct cap){.name = "c1", .uid = "c1"}, true);
	(void)step(&b, ACTION_GRANT);
	b.now += 1000;
	tell_capacity_of(&b, &(struct cap){.name = "c1", .uid = "c1", .uuid = "G0"}, true);
	arrives(&b, "t");
	cr_assert_not_null(step(&b, ACTION_GRANT));
	bed_finish(&b);
}

/* Agents answer a new leader while one of its other watches is late, and it decides nothing. */
Test(mps, what_was_said_before_the_first_step_counts)
{
	struct bed b = bed_make();
	tell_node(&b, "n0", 1, 110);
	tell_capacity_of(&b, &(struct cap){.name = "c1", .uid = "c1", .uuid = "G0"}, true);
	says(&b, MPS_FAULT, 1, NULL, 0);
	b.now += 1000;
	arrives(&b, "t");
	cr_assert_null(step(&b, ACTION_GRANT));
	cr_assert_eq(held(&b), 1);
	b.now += 1000;
	says(&b, MPS_ACTIVE, 0, NULL, 0);
	cr_assert_not_null(step(&b, ACTION_GRANT));
	bed_finish(&b);
}

/* Of mode None nobody asks. */
Test(mps, another_mode_is_not_concerned)
{
	struct bed b = bed_make();
	tell_node(&b, "n0", 1, 110);
	tell_capacity(&b, &(struct cap){.name = "c0", .uid = "c0", .uuid = "G0"});
	(void)step(&b, ACTION_GRANT);
	b.now += 1000;
	says(&b, MPS_FAULT, 48, NULL, 0);
	tell_waiting(&b, "t", "0.01");
	cr_assert_not_null(step(&b, ACTION_GRANT));
	bed_finish(&b);
}

/* 48 contexts, by processes: who has none yet will have one. */
Test(mps, contexts_are_counted_in_processes)
{
	static const struct {
		uint32_t contexts; /* 10 of them of tenant a */
		uint32_t granted;  /* of three who wait */
	} rows[] = {{10, 3}, {44, 3}, {45, 2}, {46, 1}, {47, 0}, {48, 0}, {1000, 0}};
	struct grant grants[] = {{"a", "default", "a", 10, 512}, {"b", "default", "b", 10, 512}};
	const struct ledger ledger = {grants, 2};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct bed b = bed_make();
		struct pod_use uses[] = {{"a", "G0", 512, 10}};
		tell_node(&b, "n0", 1, 110);
		runs(&b, "a");
		runs(&b, "b");
		tell_capacity_of(&b, &(struct cap){"c0", "c0", "G0", false, ledger}, true);
		(void)step(&b, ACTION_GRANT);
		b.now += 1000;
		says(&b, MPS_ACTIVE, rows[i].contexts, uses, 1);
		arrives(&b, "x");
		arrives(&b, "y");
		arrives(&b, "z");
		const struct action *a = step(&b, ACTION_GRANT);
		cr_assert_eq(a != NULL ? a->ledger.count - 2 : 0, rows[i].granted, "row %zu", i);
		bed_finish(&b);
	}
}
