/* Agents, exporters and applications are read in time, believed of what is theirs, and whole or not
 * at all. */
#include "meter/scrape.h"

#include "../kube/fake_wire.h"
#include "model/names.h"

#define EVERY_MS 15000
#define LINE	 "DCGM_FI_DEV_GPU_UTIL{UUID=\"GPU-1\",namespace=\"a\",pod=\"p\",container=\"c\"} "

struct bed {
	struct fake_clock clock;
	struct fake_wire *wire;
	struct metric_registry *metrics;
	struct latest *latest;
	struct scrape *s;
};

static void bed_init_in(struct bed *b, const char *agent_ns)
{
	*b = (struct bed){.clock = fake_clock_make(),
		.wire = fake_wire_create(),
		.metrics = metric_registry_create()};
	struct latest_config latest = {.clock = &b->clock.clock,
		.fresh_ms = {60000, 60000, 60000},
		.gauges_fresh_ms = 60000};
	b->latest = latest_create(&latest);
	struct scrape_config config = {.clock = &b->clock.clock,
		.metrics = b->metrics,
		.latest = b->latest,
		.seed = 1,
		.every_ms = EVERY_MS,
		.apps_every_ms = EVERY_MS,
		.agents = true,
		.apps = true,
		.agent_ns = agent_ns,
		.exporter = {"ops", "app", "dcgm", 0}};
	b->s = scrape_create(&config);
	scrape_use(b->s, &b->wire->wire);
	latest_want_begin(b->latest);
	latest_want(b->latest, "a", "p", "u", "n1");
	latest_want_end(b->latest);
}

static void bed_init(struct bed *b)
{
	bed_init_in(b, NULL);
}

static void bed_finish(struct bed *b)
{
	scrape_destroy(b->s);
	latest_destroy(b->latest);
	fake_wire_destroy(b->wire);
	metric_registry_destroy(b->metrics);
}

static void set(struct bed *b, const struct pod *p)
{
	scrape_observe(b->s, &(struct change){.type = CHANGE_SET, .kind = KIND_POD, .pod = p});
}

static struct pod pod_of(const char *ns, const char *name, struct pair *label)
{
	return (struct pod){.ns = ns,
		.name = name,
		.uid = name,
		.labels = {label, label != NULL ? 1 : 0},
		.node = "n1",
		.phase = POD_RUNNING,
		.address = "10.0.0.7",
		.metrics_port = 9400};
}

static void agent_is(struct bed *b, const char *node)
{
	struct pair label = {LABEL_AGENT, "true"};
	struct pod p = pod_of(NAME_NAMESPACE, "agent", &label);
	p.node = node;
	set(b, &p);
}

static void app_is(struct bed *b, const char *name, int64_t port)
{
	struct pair label = {LABEL_TENANT, "true"};
	struct pod p = pod_of("a", name, &label);
	p.scrape_port = port;
	p.scrape_path = "/own";
	p.address = "10.0.0.9";
	set(b, &p);
}

static void pass(struct bed *b, int64_t ms)
{
	for (int64_t end = b->clock.mono + ms; b->clock.mono < end;) {
		fake_pass(&b->clock, 100);
		scrape_step(b->s, b->clock.mono, true);
	}
}

static int64_t counted(struct bed *b, const char *source, const char *verdict)
{
	char labels[96];
	snprintf(labels, sizeof labels, "source=\"%s\",verdict=\"%s\"", source, verdict);
	return metric_value(
		metric_get(b->metrics, METRIC_COUNTER, "aliquot_usage_reads_total", "", labels));
}

static int64_t figures(struct bed *b, const char *source, const char *verdict)
{
	char labels[96];
	snprintf(labels, sizeof labels, "source=\"%s\",verdict=\"%s\"", source, verdict);
	return metric_value(
		metric_get(b->metrics, METRIC_COUNTER, "aliquot_usage_figures_total", "", labels));
}

static void answer(struct bed *b, const char *text)
{
	struct fake_call *c = fake_last(b->wire);
	cr_assert(c->open, "nobody asked");
	fake_accept(c);
	if (*text == '\0' || fake_data(c, text)) {
		fake_close(c);
	}
}

static struct latest_pod look(struct bed *b)
{
	struct latest_pod p;
	cr_assert(latest_find(b->latest, "a", "p", &p));
	return p;
}

Test(scrape, an_agent_is_read_every_fifteen_seconds)
{
	struct bed b;
	bed_init(&b);
	agent_is(&b, "n1");
	pass(&b, 100);
	cr_assert_eq(b.wire->count, 1);
	struct fake_call *c = fake_last(b.wire);
	cr_expect_str_eq(c->path, "/metrics");
	cr_expect_str_eq(c->to, "10.0.0.7:9400");
	cr_expect(c->stream && c->bearer == NULL, "no token goes there");
	fake_drip(c, "# HELP x\n" LINE "37\nDCGM_FI_DEV_FB_USED{UUID=\"GPU-1\",namespace=\"a\","
		     "pod=\"p\",container=\"c\"} 1024\n");
	cr_expect_eq(look(&b).state, LATEST_UNKNOWN, "not before all of it is there");
	fake_close(c);
	struct latest_pod p = look(&b);
	cr_assert(p.state == LATEST_FRESH && p.figure_count == 1 && p.source == METERED_AGENT);
	cr_expect(p.figures[0].compute == 37000 && p.figures[0].mem_bytes == 1LL << 30);
	cr_expect_eq(counted(&b, "agent", "ok"), 1);
	cr_expect_eq(figures(&b, "agent", "taken"), 1);
	pass(&b, 13000);
	cr_expect_eq(b.wire->count, 1, "not before its time");
	pass(&b, 2500);
	cr_expect_eq(b.wire->count, 2);
	answer(&b, LINE "0\n");
	cr_expect_eq(look(&b).figures[0].compute, 0, "idle");
	bed_finish(&b);
}

Test(scrape, who_does_not_lead_or_is_not_wanted)
{
	struct bed b;
	bed_init(&b);
	agent_is(&b, "n2");
	pass(&b, 5000);
	cr_expect_eq(b.wire->count, 0, "nobody wants to know of that node");
	agent_is(&b, "n1");
	scrape_step(b.s, b.clock.mono, false);
	cr_expect_eq(b.wire->count, 0);
	cr_expect_eq(scrape_deadline(b.s, false), TIME_NEVER);
	pass(&b, 200);
	cr_expect_eq(b.wire->count, 1);
	scrape_step(b.s, b.clock.mono, false);
	cr_expect(fake_last(b.wire)->cancelled, "who leads no more waits for nothing");
	pass(&b, 200);
	cr_expect_eq(b.wire->count, 2);
	bed_finish(&b);
}

static const struct {
	const char *text, *verdict;
} bad_rows[] = {
	{LINE "37\n" LINE "\n", "malformed"},
	{LINE "37\nxx 1", "malformed"}, /* cut off */
	{"<html>\n", "malformed"},
	{"\n\n", "nothing"},
	{"up 1\n", "nothing"},
};

Test(scrape, what_cannot_be_read_is_never_told)
{
	for (size_t i = 0; i < COUNT_OF(bad_rows); i++) {
		struct bed b;
		bed_init(&b);
		agent_is(&b, "n1");
		pass(&b, 100);
		answer(&b, bad_rows[i].text);
		struct latest_pod p = look(&b);
		cr_expect(p.state == LATEST_UNKNOWN && p.figure_count == 0, "row %zu", i);
		cr_expect_eq(counted(&b, "agent", bad_rows[i].verdict), 1, "row %zu", i);
		bed_finish(&b);
	}
}

Test(scrape, an_error_pauses_longer_each_time)
{
	struct bed b;
	bed_init(&b);
	agent_is(&b, "n1");
	pass(&b, 100);
	fake_answer(fake_last(b.wire), 500, "no");
	cr_expect_eq(counted(&b, "agent", "status"), 1);
	pass(&b, 14800);
	cr_expect_eq(b.wire->count, 1);
	pass(&b, 16000);
	cr_assert_eq(b.wire->count, 2);
	fake_fail(fake_last(b.wire), false);
	cr_expect_eq(counted(&b, "agent", "unreachable"), 1);
	pass(&b, 29000);
	cr_expect_eq(b.wire->count, 2, "the pause grows");
	for (int i = 0; i < 320 && b.wire->count == 2; i++) {
		pass(&b, 100);
	}
	cr_assert_eq(b.wire->count, 3);
	answer(&b, LINE "5\n");
	pass(&b, EVERY_MS + 500);
	cr_expect_eq(b.wire->count, 4, "and ends with an answer");
	bed_finish(&b);
}

Test(scrape, an_answer_that_drips_ends)
{
	struct bed b;
	bed_init(&b);
	agent_is(&b, "n1");
	pass(&b, 100);
	struct fake_call *c = fake_last(b.wire);
	for (int i = 0; i < 12; i++) {
		if (c->open) {
			fake_data(c, "#");
		}
		pass(&b, 1000);
	}
	cr_expect(!c->open && c->cancelled);
	cr_expect_eq(counted(&b, "agent", "unreachable"), 1);
	bed_finish(&b);
}

Test(scrape, odd_figures_are_counted_and_left_out)
{
	struct bed b;
	bed_init(&b);
	agent_is(&b, "n1");
	pass(&b, 100);
	answer(&b, LINE "NaN\n");
	cr_expect_eq(look(&b).state, LATEST_UNKNOWN);
	cr_expect_eq(figures(&b, "agent", "odd"), 1);
	cr_expect_eq(counted(&b, "agent", "ok"), 1);
	bed_finish(&b);
}

Test(scrape, a_time_of_its_own_counts)
{
	struct bed b;
	char text[256];
	bed_init(&b);
	agent_is(&b, "n1");
	pass(&b, 100);
	snprintf(text, sizeof text, LINE "5 %lld\n", (long long)(b.clock.wall - 40000));
	answer(&b, text);
	cr_expect(look(&b).figures[0].age_ms == 40000 && look(&b).state == LATEST_FRESH);
	pass(&b, EVERY_MS);
	snprintf(text, sizeof text, LINE "6 %lld\n", (long long)(b.clock.wall + 120000));
	answer(&b, text);
	cr_expect_eq(look(&b).figures[0].compute, 5000, "nobody knows what comes");
	bed_finish(&b);
}

Test(scrape, a_node_speaks_for_its_own_pods)
{
	struct bed b;
	bed_init(&b);
	latest_want_begin(b.latest);
	latest_want(b.latest, "a", "p", "u", "n2");
	latest_want(b.latest, "a", "q", "u", "n1");
	latest_want_end(b.latest);
	agent_is(&b, "n1");
	pass(&b, 100);
	answer(&b, LINE "5\n");
	cr_expect_eq(look(&b).state, LATEST_UNKNOWN);
	cr_expect_eq(figures(&b, "agent", "elsewhere"), 1);
	bed_finish(&b);
}

Test(scrape, an_exporter_by_its_label)
{
	struct bed b;
	struct pair right = {"app", "dcgm"}, wrong = {"app", "other"};
	bed_init(&b);
	struct pod p = pod_of("a", "forged", &right);
	set(&b, &p);
	p = pod_of("ops", "x", &wrong);
	set(&b, &p);
	pass(&b, 1000);
	cr_expect_eq(b.wire->count, 0);
	p = pod_of("ops", "exporter", &right);
	p.metrics_port = 0;
	set(&b, &p);
	pass(&b, 1600);
	cr_assert_eq(b.wire->count, 1);
	cr_expect_str_eq(fake_last(b.wire)->to, "10.0.0.7:9400");
	answer(&b, LINE "5\n");
	cr_expect_eq(look(&b).source, METERED_EXPORTER);
	bed_finish(&b);
}

Test(scrape, an_application_speaks_for_itself)
{
	struct bed b;
	bed_init(&b);
	app_is(&b, "p", 8000);
	app_is(&b, "silent", 0);
	pass(&b, 100);
	cr_assert_eq(b.wire->count, 1);
	cr_expect_str_eq(fake_last(b.wire)->to, "10.0.0.9:8000");
	cr_expect_str_eq(fake_last(b.wire)->path, "/own");
	answer(&b, LINE "5\nvllm:num_requests_waiting{pod=\"q\",namespace=\"z\"} 4\n");
	struct latest_pod p = look(&b);
	cr_expect_eq(p.state, LATEST_UNKNOWN, "of the GPU its word does not count");
	cr_expect(p.gauges_state == LATEST_FRESH && p.gauges.waiting == 4);
	cr_expect_eq(counted(&b, "application", "ok"), 1);
	bed_finish(&b);
}

Test(scrape, on_the_nodes_network_no_application_is_asked)
{
	struct bed b;
	struct pair label = {LABEL_TENANT, "true"};
	bed_init(&b);
	struct pod p = pod_of("a", "p", &label);
	p.scrape_port = 10255;
	p.on_node_network = true;
	set(&b, &p);
	pass(&b, 2000);
	cr_expect_eq(b.wire->count, 0);
	bed_finish(&b);
}

Test(scrape, few_at_once)
{
	struct bed b;
	char name[16];
	bed_init(&b);
	latest_want_begin(b.latest);
	for (int i = 0; i < 50; i++) {
		snprintf(name, sizeof name, "p%d", i);
		latest_want(b.latest, "a", name, "u", "n1");
	}
	latest_want_end(b.latest);
	for (int i = 0; i < 50; i++) {
		snprintf(name, sizeof name, "p%d", i);
		app_is(&b, name, 8000);
	}
	pass(&b, 1000);
	cr_expect_eq(b.wire->count, SCRAPE_IN_FLIGHT_MAX);
	fake_close(fake_last(b.wire));
	pass(&b, 100);
	cr_expect_eq(b.wire->count, SCRAPE_IN_FLIGHT_MAX + 1);
	bed_finish(&b);
}

Test(scrape, applications_have_a_limit)
{
	struct bed b;
	char name[16];
	bed_init(&b);
	for (int i = 0; i < SCRAPE_APPS_MAX; i++) {
		snprintf(name, sizeof name, "p%d", i);
		app_is(&b, name, 8000);
	}
	cr_expect_not(scrape_crowded(b.s));
	app_is(&b, "p7", 8001);
	cr_expect_not(scrape_crowded(b.s), "who is known stays");
	app_is(&b, "more", 8000);
	cr_expect(scrape_crowded(b.s));
	agent_is(&b, "n1");
	pass(&b, 100);
	cr_expect_str_eq(fake_last(b.wire)->path, "/metrics", "an agent has its place");
	bed_finish(&b);
}

static void relist(struct bed *b, bool with_agent)
{
	scrape_observe(b->s, &(struct change){.type = CHANGE_RELIST_BEGIN, .kind = KIND_POD});
	if (with_agent) {
		agent_is(b, "n1");
	}
	scrape_observe(b->s, &(struct change){.type = CHANGE_RELIST_END, .kind = KIND_POD});
}

/* True: all of it was taken. */
static bool says(struct bed *b, const char *line, size_t times)
{
	struct fake_call *c = fake_last(b->wire);
	bool good = true;
	cr_assert(c->open, "nobody asked");
	fake_accept(c);
	for (size_t i = 0; i < times && good; i++) {
		good = fake_data(c, line);
	}
	if (good) {
		fake_close(c);
	}
	return good;
}

/* A tenant writes what its application says. */
Test(scrape, an_application_says_less_than_an_exporter)
{
	static const char line[] = "vllm:num_requests_waiting 1\n";
	char comment[4097] = "# ";
	memset(comment + 2, 'x', sizeof comment - 4);
	comment[4095] = '\n';
	struct {
		const char *line;
		size_t most;
	} rows[] = {{line, SCRAPE_APP_SAMPLES_MAX}, {comment, SCRAPE_APP_BYTES_MAX / 4096}};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct bed b;
		bed_init(&b);
		app_is(&b, "p", 8000);
		pass(&b, 100);
		cr_expect(says(&b, rows[i].line, rows[i].most), "row %zu", i);
		pass(&b, EVERY_MS + 100);
		cr_expect(!says(&b, rows[i].line, rows[i].most + 1), "row %zu", i);
		cr_expect_eq(counted(&b, "application", "too_large"), 1, "row %zu", i);
		cr_expect_eq(look(&b).gauges.waiting,
			i == 0 ? (int64_t)SCRAPE_APP_SAMPLES_MAX : METERED_ABSENT,
			"nothing of what was too much");
		bed_finish(&b);
	}
	struct bed b;
	bed_init(&b);
	agent_is(&b, "n1");
	pass(&b, 100);
	cr_expect(says(&b, LINE "37\n", SCRAPE_APP_SAMPLES_MAX + 1), "a node has many pods");
	bed_finish(&b);
}

Test(scrape, targets_come_and_go)
{
	struct bed b;
	bed_init(&b);
	agent_is(&b, "n1");
	pass(&b, 100);
	relist(&b, true);
	cr_expect(fake_last(b.wire)->open, "it stays");
	relist(&b, false);
	cr_expect(fake_last(b.wire)->cancelled);
	agent_is(&b, "n1");
	pass(&b, 2000);
	cr_assert_eq(b.wire->count, 2);
	struct change gone = {
		.type = CHANGE_GONE, .kind = KIND_POD, .ns = NAME_NAMESPACE, .name = "agent"};
	scrape_observe(b.s, &gone);
	cr_expect(fake_last(b.wire)->cancelled);
	pass(&b, 30000);
	cr_expect_eq(b.wire->count, 2);
	bed_finish(&b);
}

Test(scrape, agents_are_in_the_namespace_that_is_said)
{
	struct bed b;
	struct pair label = {LABEL_AGENT, "true"};
	struct pod p = pod_of(NAME_AGENT_HOME, "agent", &label);
	bed_init_in(&b, NAME_AGENT_HOME);
	agent_is(&b, "n1");
	pass(&b, 2000);
	cr_expect_eq(b.wire->count, 0);
	set(&b, &p);
	pass(&b, 2000);
	cr_expect_eq(b.wire->count, 1);
	bed_finish(&b);
}

Test(scrape, how_exporters_are_named)
{
	CLEANUP(arena_finish) struct arena arena = {0};
	struct scrape_exporter e;
	struct fault f = {0};
	cr_assert_eq(
		scrape_exporter_parse("ops/app.kubernetes.io/name=dcgm:9500", &arena, &e, &f), 0);
	cr_expect_str_eq(e.ns, "ops");
	cr_expect_str_eq(e.key, "app.kubernetes.io/name");
	cr_expect_str_eq(e.value, "dcgm");
	cr_expect_eq(e.port, 9500);
	cr_assert_eq(scrape_exporter_parse("ops/app=dcgm", &arena, &e, &f), 0);
	cr_expect_eq(e.port, 0);
	static const char *const rows[] = {"", "app=dcgm", "ops/app", "ops/=x", "/app=x",
		"ops/app=", "ops/app=x:0", "ops/app=x:y"};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		cr_expect_eq(scrape_exporter_parse(rows[i], &arena, &e, &f), -1, "%s", rows[i]);
	}
}
