/* What is known of use: how old, by whom, and never zero for want of knowing. */
#include "meter/latest.h"

#include "../kube/fake_wire.h"

#define FRESH_MS 60000

struct bed {
	struct fake_clock clock;
	struct latest *l;
};

static void bed_init(struct bed *b)
{
	*b = (struct bed){.clock = fake_clock_make()};
	struct latest_config config = {.clock = &b->clock.clock,
		.fresh_ms = {FRESH_MS, FRESH_MS, 2 * FRESH_MS},
		.gauges_fresh_ms = FRESH_MS};
	b->l = latest_create(&config);
	latest_want_begin(b->l);
	cr_assert(latest_want(b->l, "a", "p", "u1", "n1"));
	cr_assert(latest_want(b->l, "a", "q", "u2", "n2"));
	latest_want_end(b->l);
}

static enum latest_verdict take(struct bed *b, enum metered_source source, const char *container,
	int64_t compute, int64_t age)
{
	struct metered m = {.ns = "a",
		.pod = "p",
		.container = container,
		.uuid = "GPU-1",
		.source = source,
		.compute = compute,
		.mem_bytes = compute == METERED_ABSENT ? 5 : METERED_ABSENT,
		.at_ms = b->clock.wall - age};
	return latest_take(b->l, &m, source == METERED_PROMETHEUS ? NULL : "n1");
}

static struct latest_pod look(struct bed *b)
{
	struct latest_pod p;
	cr_assert(latest_find(b->l, "a", "p", &p));
	return p;
}

Test(latest, unknown_then_fresh_then_stale)
{
	struct bed b;
	bed_init(&b);
	struct latest_pod p = look(&b);
	cr_expect(p.state == LATEST_UNKNOWN && p.figure_count == 0);
	cr_expect_eq(p.source, METERED_SOURCES);
	cr_expect_eq(take(&b, METERED_AGENT, "c", 30000, 1000), LATEST_TAKEN);
	p = look(&b);
	cr_assert(p.state == LATEST_FRESH && p.figure_count == 1);
	cr_expect(p.figures[0].compute == 30000 && p.figures[0].mem_bytes == METERED_ABSENT);
	cr_expect_eq(p.figures[0].age_ms, 1000);
	fake_pass(&b.clock, FRESH_MS - 1000);
	cr_expect_eq(look(&b).state, LATEST_FRESH);
	fake_pass(&b.clock, 1);
	p = look(&b);
	cr_expect_eq(p.state, LATEST_STALE);
	cr_assert_eq(p.figure_count, 1);
	cr_expect_eq(p.figures[0].compute, 30000, "what was known last, and no zero");
	struct latest_totals t;
	latest_sum(b.l, &t);
	cr_expect(t.pods[LATEST_STALE] == 1 && t.pods[LATEST_UNKNOWN] == 1 && t.compute == 0);
	latest_destroy(b.l);
}

Test(latest, each_source_is_fresh_for_its_own_time)
{
	struct bed b;
	bed_init(&b);
	cr_expect_eq(take(&b, METERED_PROMETHEUS, "c", 30000, 0), LATEST_TAKEN);
	fake_pass(&b.clock, 2 * FRESH_MS);
	cr_expect_eq(look(&b).state, LATEST_FRESH);
	fake_pass(&b.clock, 1);
	cr_expect_eq(look(&b).state, LATEST_STALE);
	latest_destroy(b.l);
}

Test(latest, one_source_a_pod_and_the_best)
{
	struct bed b;
	bed_init(&b);
	cr_expect_eq(take(&b, METERED_PROMETHEUS, "c", 10, 0), LATEST_TAKEN);
	cr_expect_eq(take(&b, METERED_PROMETHEUS, "d", 11, 0), LATEST_TAKEN);
	cr_expect_eq(look(&b).figure_count, 2);
	cr_expect_eq(take(&b, METERED_AGENT, "c", 20, 0), LATEST_TAKEN);
	struct latest_pod p = look(&b);
	cr_expect(p.source == METERED_AGENT && p.figure_count == 1, "nothing is left of the other");
	cr_expect_eq(take(&b, METERED_EXPORTER, "c", 30, 0), LATEST_OUTRANKED);
	cr_expect_eq(take(&b, METERED_PROMETHEUS, "e", 30, 0), LATEST_OUTRANKED);
	cr_expect_eq(look(&b).figures[0].compute, 20);
	fake_pass(&b.clock, FRESH_MS + 1);
	cr_expect_eq(take(&b, METERED_EXPORTER, "c", 40, 0), LATEST_TAKEN, "who is silent yields");
	p = look(&b);
	cr_expect(
		p.source == METERED_EXPORTER && p.figure_count == 1 && p.figures[0].compute == 40);
	latest_destroy(b.l);
}

Test(latest, whose_word_and_of_which_pod)
{
	struct bed b;
	bed_init(&b);
	struct metered m = {.ns = "a", .pod = "p", .container = "", .uuid = "", .compute = 5};
	m.mem_bytes = METERED_ABSENT;
	m.at_ms = b.clock.wall;
	cr_expect_eq(latest_take(b.l, &m, "n2"), LATEST_ELSEWHERE);
	m.uid = "u9";
	cr_expect_eq(latest_take(b.l, &m, "n1"), LATEST_FORMER);
	m.uid = "u1";
	cr_expect_eq(latest_take(b.l, &m, "n1"), LATEST_TAKEN);
	m.at_ms -= 1000;
	cr_expect_eq(latest_take(b.l, &m, "n1"), LATEST_FORMER, "older than what is known");
	m.pod = "stranger";
	cr_expect_eq(latest_take(b.l, &m, "n1"), LATEST_NOT_WANTED);
	cr_expect_eq(look(&b).figure_count, 1);
	latest_destroy(b.l);
}

Test(latest, a_pod_that_was_made_again_is_another_one)
{
	struct bed b;
	bed_init(&b);
	take(&b, METERED_AGENT, "c", 5, 0);
	latest_want_begin(b.l);
	latest_want(b.l, "a", "p", "u1", "n3");
	latest_want_end(b.l);
	cr_expect_eq(look(&b).state, LATEST_FRESH);
	cr_expect_str_eq(look(&b).node, "n3");
	cr_expect(latest_wants_node(b.l, "n3") && !latest_wants_node(b.l, "n1"));
	cr_expect(latest_wants(b.l, "a", "q"), "it may have been missed");
	latest_want_begin(b.l);
	latest_want(b.l, "a", "p", "u5", NULL);
	latest_want_end(b.l);
	cr_expect_eq(look(&b).state, LATEST_UNKNOWN);
	cr_expect_not(latest_wants_node(b.l, "n3"));
	cr_expect_not(latest_wants(b.l, "a", "q"), "missed twice");
	cr_expect_not(latest_wants_node(b.l, "n2"));
	latest_destroy(b.l);
}

Test(latest, a_container_that_ended_leaves)
{
	struct bed b;
	bed_init(&b);
	take(&b, METERED_AGENT, "init", 5, 0);
	take(&b, METERED_AGENT, "c", 6, 0);
	cr_expect_eq(look(&b).figure_count, 2);
	fake_pass(&b.clock, FRESH_MS + 1);
	take(&b, METERED_AGENT, "c", 7, 0);
	struct latest_pod p = look(&b);
	cr_expect(p.figure_count == 1 && p.figures[0].compute == 7, "a fresh pod's fresh ones");
	fake_pass(&b.clock, LATEST_KEEP_MS);
	take(&b, METERED_AGENT, "c", 8, 0);
	fake_pass(&b.clock, FRESH_MS + 1);
	p = look(&b);
	cr_expect(p.state == LATEST_STALE && p.figure_count == 1);
	latest_destroy(b.l);
}

Test(latest, figures_and_pods_have_a_limit)
{
	struct bed b;
	char name[16];
	bed_init(&b);
	for (int i = 0; i < LATEST_FIGURES_MAX; i++) {
		snprintf(name, sizeof name, "c%d", i);
		cr_expect_eq(take(&b, METERED_AGENT, name, i, 0), LATEST_TAKEN);
	}
	cr_expect_eq(take(&b, METERED_AGENT, "more", 1, 0), LATEST_FULL);
	cr_expect_eq(look(&b).figure_count, LATEST_FIGURES_MAX);
	latest_want_begin(b.l);
	for (int i = 0; i < LATEST_PODS_MAX - 2; i++) {
		snprintf(name, sizeof name, "x%d", i);
		cr_assert(latest_want(b.l, "b", name, "u", "n1"));
	}
	cr_expect_not(latest_want(b.l, "b", "more", "u", "n1"));
	cr_expect(latest_want(b.l, "a", "p", "u1", "n1"), "who is known stays");
	latest_want_end(b.l);
	cr_expect_eq(latest_count(b.l), LATEST_PODS_MAX);
	latest_destroy(b.l);
	latest_destroy(NULL);
}

Test(latest, gauges_of_an_application)
{
	struct bed b;
	bed_init(&b);
	struct app_gauges g = app_gauges_none();
	g.engine = APP_VLLM;
	g.waiting = 3;
	g.at_ms = b.clock.wall;
	cr_expect_eq(look(&b).gauges_state, LATEST_UNKNOWN);
	cr_expect_eq(latest_take_gauges(b.l, "a", "p", &g), LATEST_TAKEN);
	cr_expect_eq(latest_take_gauges(b.l, "a", "z", &g), LATEST_NOT_WANTED);
	take(&b, METERED_AGENT, "c", 5, 0);
	struct latest_pod p = look(&b);
	cr_expect(p.gauges_state == LATEST_FRESH && p.gauges.waiting == 3);
	cr_expect_eq(p.gauges.kv_used, METERED_ABSENT);
	g.at_ms -= 5000;
	cr_expect_eq(latest_take_gauges(b.l, "a", "p", &g), LATEST_FORMER);
	fake_pass(&b.clock, FRESH_MS + 1);
	cr_expect_eq(look(&b).gauges_state, LATEST_STALE);
	latest_destroy(b.l);
}
