/* Agents are asked every two seconds where somebody wants to know; what cannot be trusted is told
 * to nobody. */
#include "meter/states.h"

#include "../kube/fake_wire.h"
#include "base/str.h"
#include "own/state.h"
#include "model/agent_name.h"
#include "model/names.h"

struct bed {
	struct fake_clock clock;
	struct fake_wire *wire;
	struct metric_registry *metrics;
	struct states *s;
	/* what was told last */
	size_t told, gone;
	bool again;
	int64_t sequence, seen_ms;
	uint32_t devices, pods;
	char node[64];
};

static bool on_tell(void *data, const struct change *c)
{
	struct bed *b = data;
	cr_assert_eq(c->kind, KIND_STATE);
	if (c->type == CHANGE_GONE) {
		b->gone++;
		return true;
	}
	b->told++;
	b->again = c->state->again;
	b->sequence = c->state->sequence;
	b->seen_ms = c->state->seen_ms;
	b->devices = c->state->device_count;
	b->pods = c->state->pod_count;
	snprintf(b->node, sizeof b->node, "%s", c->state->node);
	return true;
}

static void bed_init_in(struct bed *b, const char *agent_ns)
{
	*b = (struct bed){.clock = fake_clock_make(),
		.wire = fake_wire_create(),
		.metrics = metric_registry_create()};
	struct states_config config = {.clock = &b->clock.clock,
		.metrics = b->metrics,
		.seed = 1,
		.agent_ns = agent_ns,
		.tell = on_tell,
		.data = b};
	b->s = states_create(&config);
	states_use(b->s, &b->wire->wire);
}

static void bed_init(struct bed *b)
{
	bed_init_in(b, NULL);
}

static void bed_finish(struct bed *b)
{
	states_destroy(b->s);
	fake_wire_destroy(b->wire);
	metric_registry_destroy(b->metrics);
}

static void agent_in(
	struct bed *b, const char *ns, const char *name, const char *node, const char *address)
{
	struct pair label = {LABEL_AGENT, "true"};
	struct pod p = {.ns = ns,
		.name = name,
		.uid = name,
		.labels = {&label, 1},
		.node = node,
		.phase = POD_RUNNING,
		.address = address,
		.port = 10251};
	states_observe(b->s, &(struct change){.type = CHANGE_SET, .kind = KIND_POD, .pod = &p});
}

static void agent_is(struct bed *b, const char *name, const char *node, const char *address)
{
	agent_in(b, NAME_NAMESPACE, name, node, address);
}

static void want(struct bed *b, const char *node)
{
	states_want_begin(b->s);
	if (node != NULL) {
		states_want(b->s, node);
	}
	states_want_end(b->s);
}

/* Time goes by in steps; somebody wants n1 all the while. */
static void pass(struct bed *b, int64_t ms)
{
	for (int64_t end = b->clock.mono + ms; b->clock.mono < end;) {
		fake_pass(&b->clock, 50);
		want(b, "n1");
		states_step(b->s, b->clock.mono, true);
	}
}

struct told {
	const char *node, *boot;
	int64_t sequence, age_ms;
	const char *uid; /* NULL: no pod */
	const char *why;
};

static void answer(struct bed *b, const struct told *t)
{
	CLEANUP(str_finish) struct str body = STR_INIT(4096);
	struct device_state device = {.uuid = "GPU-A", .why = t->why};
	const char *pods[] = {t->uid};
	struct node_state s = {.node = t->node,
		.boot = t->boot,
		.sequence = t->sequence,
		.seen_ms = -t->age_ms,
		.devices = &device,
		.device_count = 1,
		.pods = pods,
		.pod_count = t->uid != NULL ? 1 : 0};
	cr_assert(state_write(&body, &s, b->clock.wall));
	cr_assert(fake_last(b->wire)->open, "nobody asked");
	fake_answer(fake_last(b->wire), 200, str_text(&body));
}

static int64_t counted(struct bed *b, const char *result)
{
	char labels[64];
	snprintf(labels, sizeof labels, "result=\"%s\"", result);
	return metric_value(
		metric_get(b->metrics, METRIC_COUNTER, "aliquot_agent_reads_total", "", labels));
}

Test(states, a_wanted_node_is_asked_every_two_seconds)
{
	struct bed b;
	bed_init(&b);
	agent_is(&b, "agent-1", "n1", "10.0.0.7");
	states_step(b.s, b.clock.mono, true);
	cr_expect_eq(b.wire->count, 0, "nobody wants to know");
	pass(&b, 300);
	cr_assert_eq(b.wire->count, 1);
	cr_expect_str_eq(fake_last(b.wire)->path, "/v1/state");
	cr_expect_str_eq(fake_last(b.wire)->to, "10.0.0.7:10251");
	cr_expect_null(fake_last(b.wire)->bearer, "no token goes to an agent");
	int64_t asked = b.clock.mono;
	answer(&b, &(struct told){"n1", "b1", 1, 700, "u1", NULL});
	cr_assert_eq(b.told, 1);
	cr_expect_leq(b.seen_ms, asked - 700, "as old as it says, from before it was asked");
	cr_expect(b.devices == 1 && b.pods == 1 && !b.again);
	pass(&b, 1600);
	cr_expect_eq(b.wire->count, 1, "not before its time");
	pass(&b, 500);
	cr_expect_eq(b.wire->count, 2);
	answer(&b, &(struct told){"n1", "b1", 2, 0, "u1", NULL});
	cr_expect(b.told == 2 && b.again && b.sequence == 2, "as before, and told shortly");
	pass(&b, 2100);
	answer(&b, &(struct told){"n1", "b1", 3, 0, NULL, NULL});
	cr_expect(b.told == 3 && !b.again && b.pods == 0);
	cr_expect_eq(counted(&b, "ok"), 3);
	bed_finish(&b);
}

Test(states, who_does_not_lead_does_not_ask)
{
	struct bed b;
	bed_init(&b);
	agent_is(&b, "agent-1", "n1", "10.0.0.7");
	want(&b, "n1");
	fake_pass(&b.clock, 5000);
	states_step(b.s, b.clock.mono, false);
	cr_expect_eq(b.wire->count, 0);
	cr_expect_eq(states_deadline(b.s, false), TIME_NEVER);
	bed_finish(&b);
}

struct bad {
	const char *result;
	int status;
	const char *body;
};

/* Silence, and what is no better: never told, counted, asked again later. */
Test(states, what_cannot_be_read_is_never_told)
{
	static const struct bad rows[] = {
		{"malformed", 200, "{}"},
		{"malformed", 200, ""},
		{"malformed", 200,
			"{\"v\":1,\"node\":\"n1\",\"boot\":\"b\",\"sequence\":1,\"ageMs\":0,"
			"\"time\":\"2026-01-01T00:00:00Z\",\"devices\":[]}"},
		{"status", 503, "{}"},
		{"status", 404, ""},
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct bed b;
		bed_init(&b);
		agent_is(&b, "agent-1", "n1", "10.0.0.7");
		pass(&b, 300);
		fake_answer(fake_last(b.wire), rows[i].status, rows[i].body);
		cr_expect_eq(b.told, 0, "row %zu", i);
		cr_expect_eq(counted(&b, rows[i].result), 1, "row %zu", i);
		pass(&b, 2100);
		cr_expect_eq(b.wire->count, 2, "row %zu: asked again", i);
		fake_fail(fake_last(b.wire), false);
		cr_expect_eq(counted(&b, "unreachable"), 1);
		pass(&b, 1900);
		cr_expect_eq(b.wire->count, 2, "row %zu: the pause grows", i);
		bed_finish(&b);
	}
}

Test(states, an_answer_out_of_its_order_is_never_told)
{
	static const struct told rows[] = {
		{"n2", "b1", 9, 0, NULL, NULL}, /* an address that another node's agent has now */
		{"n1", "b1", 5, 0, NULL, NULL}, /* told before */
		{"n1", "b1", 4, 0, NULL, NULL},
		{"n1", "b0", 9, 0, NULL, NULL}, /* of the agent that was there before */
		{"n1", "b1", 6, 11000, NULL, NULL},
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct bed b;
		bed_init(&b);
		agent_is(&b, "agent-1", "n1", "10.0.0.7");
		pass(&b, 300);
		answer(&b, &(struct told){"n1", "b0", 7, 0, "u1", NULL});
		pass(&b, 2100);
		answer(&b, &(struct told){"n1", "b1", 5, 0, "u1", NULL});
		pass(&b, 2100);
		cr_assert_eq(b.told, 2);
		answer(&b, &rows[i]);
		cr_expect_eq(b.told, 2, "row %zu", i);
		cr_expect_eq(counted(&b, "stale") + counted(&b, "malformed"), 1, "row %zu", i);
		bed_finish(&b);
	}
}

Test(states, nobody_asks_twice_at_once_and_few_at_all)
{
	struct bed b;
	char node[16], name[16];
	bed_init(&b);
	for (int i = 0; i < 50; i++) {
		snprintf(node, sizeof node, "n%d", i);
		snprintf(name, sizeof name, "a%d", i);
		agent_is(&b, name, node, "10.0.0.7");
	}
	for (int k = 0; k < 40; k++) {
		fake_pass(&b.clock, 50);
		states_want_begin(b.s);
		for (int i = 0; i < 50; i++) {
			snprintf(node, sizeof node, "n%d", i);
			states_want(b.s, node);
		}
		states_want_end(b.s);
		states_step(b.s, b.clock.mono, true);
	}
	cr_expect_eq(b.wire->count, STATES_IN_FLIGHT_MAX);
	fake_fail(fake_last(b.wire), false);
	states_step(b.s, b.clock.mono, true);
	cr_expect_eq(b.wire->count, STATES_IN_FLIGHT_MAX + 1);
	bed_finish(&b);
}

/* Of n0 to n<count>. */
static void pass_all(struct bed *b, int count, int64_t ms)
{
	char node[16];
	for (int64_t end = b->clock.mono + ms; b->clock.mono < end;) {
		fake_pass(&b->clock, 50);
		states_want_begin(b->s);
		for (int i = 0; i < count; i++) {
			snprintf(node, sizeof node, "n%d", i);
			states_want(b->s, node);
		}
		states_want_end(b->s);
		states_step(b->s, b->clock.mono, true);
	}
}

Test(states, a_free_place_is_taken_at_once_and_thousands_are_looked_at_in_portions)
{
	enum { COUNT = 3000 };
	struct bed b;
	char node[16], name[16];
	bed_init(&b);
	for (int i = 0; i < COUNT; i++) {
		snprintf(node, sizeof node, "n%d", i);
		snprintf(name, sizeof name, "a%d", i);
		agent_is(&b, name, node, "10.0.0.7");
	}
	pass_all(&b, COUNT, 250);
	cr_assert_eq(b.wire->count, STATES_IN_FLIGHT_MAX);
	/* A place that is free is taken at once, and nobody looks as long as there is none. */
	for (int i = 0; i < 3; i++) {
		cr_expect_gt(states_deadline(b.s, true), b.clock.mono + 1000);
		fake_answer(fake_last(b.wire), 503, "");
		cr_expect_eq(states_deadline(b.s, true), 0);
		states_step(b.s, b.clock.mono, true);
		cr_expect_eq(b.wire->count, (size_t)STATES_IN_FLIGHT_MAX + 1 + (size_t)i);
	}
	/* A newcomer among so many is not looked for in each turn. */
	agent_is(&b, "late", "n3000", "10.0.0.8");
	cr_expect_eq(states_deadline(b.s, true), b.clock.mono + COUNT / 100);
	bed_finish(&b);
}

Test(states, one_pod_is_the_agent_of_one_node)
{
	struct bed b;
	bed_init(&b);
	agent_is(&b, "a0", "n0", "10.0.0.7");
	agent_is(&b, "a1", "n1", "10.0.0.8");
	agent_is(&b, "a2", "n2", "10.0.0.9");
	/* The name is used again, elsewhere. */
	agent_is(&b, "a0", "n2", "10.0.0.10");
	pass_all(&b, 3, 250);
	cr_assert_eq(b.wire->count, 2);
	/* Nobody wants n0, whose record goes; the others are still found by their pods. */
	pass(&b, 50);
	struct change gone = {
		.type = CHANGE_GONE, .kind = KIND_POD, .ns = NAME_NAMESPACE, .name = "a0"};
	states_observe(b.s, &gone);
	gone.name = "a1";
	cr_expect(b.wire->calls[0].open != b.wire->calls[1].open, "n2 has no agent");
	states_observe(b.s, &gone);
	cr_expect_not(b.wire->calls[0].open || b.wire->calls[1].open);
	pass_all(&b, 3, 5000);
	cr_expect_eq(b.wire->count, 2);
	bed_finish(&b);
}

Test(states, what_nobody_wants_any_more_is_taken_back)
{
	struct bed b;
	bed_init(&b);
	agent_is(&b, "agent-1", "n1", "10.0.0.7");
	pass(&b, 300);
	answer(&b, &(struct told){"n1", "b1", 1, 0, "u1", NULL});
	want(&b, NULL);
	cr_expect_eq(b.gone, 1);
	fake_pass(&b.clock, 10000);
	states_step(b.s, b.clock.mono, true);
	cr_expect_eq(b.wire->count, 1);
	pass(&b, 300);
	answer(&b, &(struct told){"n1", "b1", 2, 0, "u1", NULL});
	cr_expect(b.told == 2 && !b.again, "in full again");
	bed_finish(&b);
}

static void relist(struct bed *b, bool with_agent)
{
	states_observe(b->s, &(struct change){.type = CHANGE_RELIST_BEGIN, .kind = KIND_POD});
	if (with_agent) {
		agent_is(b, "agent-1", "n1", "10.0.0.7");
	}
	states_observe(b->s, &(struct change){.type = CHANGE_RELIST_END, .kind = KIND_POD});
}

Test(states, agents_come_and_go)
{
	struct bed b;
	bed_init(&b);
	agent_is(&b, "agent-1", "n1", "10.0.0.7");
	relist(&b, true);
	pass(&b, 300);
	cr_assert_eq(b.wire->count, 1);
	/* Its successor answers elsewhere; what is under way is not waited for. */
	agent_is(&b, "agent-2", "n1", "10.0.0.8");
	cr_expect_not(fake_last(b.wire)->open);
	struct change gone = {
		.type = CHANGE_GONE, .kind = KIND_POD, .ns = NAME_NAMESPACE, .name = "agent-1"};
	states_observe(b.s, &gone);
	pass(&b, 100);
	cr_assert_eq(b.wire->count, 2, "the end of the first says nothing of the second");
	cr_expect_str_eq(fake_last(b.wire)->to, "10.0.0.8:10251");
	relist(&b, false);
	cr_expect_not(fake_last(b.wire)->open);
	pass(&b, 5000);
	cr_expect_eq(b.wire->count, 2, "there is none");
	bed_finish(&b);
}

Test(states, a_pod_elsewhere_is_no_agent)
{
	struct bed b;
	struct pair label = {LABEL_AGENT, "true"};
	struct pod p = {.ns = "default",
		.name = "x",
		.labels = {&label, 1},
		.node = "n1",
		.phase = POD_RUNNING,
		.address = "10.6.6.6",
		.port = 1};
	bed_init(&b);
	states_observe(b.s, &(struct change){.type = CHANGE_SET, .kind = KIND_POD, .pod = &p});
	pass(&b, 3000);
	cr_expect_eq(b.wire->count, 0);
	bed_finish(&b);
}

/* Who is of another namespace neither is one, nor takes one away that has its name. */
Test(states, agents_are_in_the_namespace_that_is_said)
{
	struct bed b;
	bed_init_in(&b, NAME_AGENT_HOME);
	agent_in(&b, NAME_NAMESPACE, "agent-1", "n1", "10.6.6.6");
	pass(&b, 3000);
	cr_expect_eq(b.wire->count, 0);
	agent_in(&b, NAME_AGENT_HOME, "agent-1", "n1", "10.0.0.7");
	pass(&b, 300);
	cr_assert_eq(b.wire->count, 1);
	cr_expect_str_eq(fake_last(b.wire)->to, "10.0.0.7:10251");
	agent_in(&b, NAME_NAMESPACE, "agent-1", "n1", "10.6.6.6");
	struct change gone = {
		.type = CHANGE_GONE, .kind = KIND_POD, .ns = NAME_NAMESPACE, .name = "agent-1"};
	states_observe(b.s, &gone);
	cr_expect(fake_last(b.wire)->open);
	gone.ns = NAME_AGENT_HOME;
	states_observe(b.s, &gone);
	cr_expect_not(fake_last(b.wire)->open);
	bed_finish(&b);
}

static void agent_keyed(struct bed *b, const char *key)
{
	struct pair labels[] = {{LABEL_AGENT, "true"}, {LABEL_AGENT_KEY, key}};
	struct pod p = {.ns = NAME_NAMESPACE,
		.name = "agent-1",
		.uid = "agent-1",
		.labels = {labels, 2},
		.node = "n1",
		.phase = POD_RUNNING,
		.address = "10.0.0.7",
		.port = 10251};
	states_observe(b->s, &(struct change){.type = CHANGE_SET, .kind = KIND_POD, .pod = &p});
}

/* Whoever has the key that many agents have answers for none that has its own. */
Test(states, an_agent_with_a_key_of_its_own_is_asked_by_the_name_of_its_node)
{
	struct bed b;
	char name[AGENT_NAME_MAX];
	bed_init(&b);
	agent_keyed(&b, "own");
	pass(&b, 300);
	cr_expect_str_eq(fake_last(b.wire)->to_name, agent_name("n1", name));
	struct wire_answer foreign = {.body = ""};
	fault_set(&foreign.fault, FAULT_DENIED, "no alternative certificate subject name matches");
	fake_finish(fake_last(b.wire), &foreign);
	cr_expect_eq(counted(&b, "denied"), 1);
	for (int i = 0; i < 5; i++) {
		pass(&b, 8100);
		cr_expect_str_eq(fake_last(b.wire)->to_name, name, "never by the other name");
		fake_fail(fake_last(b.wire), false);
	}
	cr_expect_eq(b.told, 0);
	/* Its pod is replaced by one of the version before. */
	agent_keyed(&b, "shared");
	pass(&b, 300);
	cr_expect_null(fake_last(b.wire)->to_name);
	answer(&b, &(struct told){"n1", "b1", 1, 0, "u1", NULL});
	cr_expect_eq(b.told, 1);
	bed_finish(&b);
}

Test(states, an_agent_of_the_version_before_is_believed_unless_the_option_says_no)
{
	struct bed b;
	bed_init(&b);
	agent_is(&b, "agent-1", "n1", "10.0.0.7");
	pass(&b, 300);
	cr_expect_null(fake_last(b.wire)->to_name);
	bed_finish(&b);
	bed_init(&b);
	states_destroy(b.s);
	struct states_config config = {.clock = &b.clock.clock,
		.metrics = b.metrics,
		.own_keys = true,
		.tell = on_tell,
		.data = &b};
	b.s = states_create(&config);
	states_use(b.s, &b.wire->wire);
	agent_is(&b, "agent-1", "n1", "10.0.0.7");
	pass(&b, 300);
	cr_expect_not_null(fake_last(b.wire)->to_name);
	bed_finish(&b);
}
