/* Whose use is wanted, and which options cannot be meant. */
#include "usages.h"

#include "../kube/fake_wire.h"
#include "pods/pod_decode.h"

#define PODS_A_TURN 500 /* that are looked at */

struct bed {
	struct fake_clock clock;
	struct loop *loop;
	struct metric_registry *metrics;
	struct world *world;
	struct options options;
	struct usages *usages;
	struct fault fault;
};

static void begin(struct bed *b)
{
	struct node n = {.name = "n1", .uid = "n1", .ready = true};
	*b = (struct bed){.clock = fake_clock_make(), .loop = loop_create()};
	b->metrics = metric_registry_create();
	b->world = world_create();
	world_apply(b->world, &(struct change){.type = CHANGE_SET, .kind = KIND_NODE, .node = &n});
	b->options.usage_exporter = b->options.usage_prometheus = "";
	b->options.usage_prometheus_matcher = b->options.usage_prometheus_ca = "";
	b->options.usage_prometheus_token = "";
	b->options.usage_gauges = "off";
	b->options.usage_s = 15;
	b->options.usage_agents = true;
}

static bool make(struct bed *b)
{
	if (b->usages != NULL) {
		usages_part.destroy(b->usages);
	}
	b->fault = (struct fault){0};
	b->usages = usages_create(&(struct usages_config){.loop = b->loop,
					  .clock = &b->clock.clock,
					  .metrics = b->metrics,
					  .world = b->world,
					  .options = &b->options},
		&b->fault);
	return b->usages != NULL;
}

static void end(struct bed *b)
{
	if (b->usages != NULL) {
		usages_part.destroy(b->usages);
	}
	world_destroy(b->world);
	metric_registry_destroy(b->metrics);
	loop_destroy(b->loop);
}

/* With a GPU of its own, or with a share of one. */
static void know(struct bed *b, const char *name, bool tenant, const char *phase)
{
	CLEANUP(arena_finish) struct arena arena = {0};
	CLEANUP(str_finish) struct str json = STR_INIT(4096);
	struct pod pod;
	struct fault f;
	str_append_format(&json,
		"{\"metadata\":{\"name\":\"%s\",\"namespace\":\"a\",\"uid\":\"%s\","
		"\"resourceVersion\":\"1\",\"labels\":{%s}},\"spec\":{\"nodeName\":\"n1\","
		"\"containers\":[{\"name\":\"m\",\"resources\":{\"limits\":{%s}}}]},"
		"\"status\":{\"phase\":\"%s\"}}",
		name, name, tenant ? "\"aliquot.dev/tenant\":\"true\"" : "",
		tenant ? "" : "\"nvidia.com/gpu\":\"1\"", phase);
	cr_assert_eq(pod_decode(str_text(&json), json.len, &arena, &pod, &f), 0, "%s", f.message);
	world_apply(b->world, &(struct change){.type = CHANGE_SET, .kind = KIND_POD, .pod = &pod});
}

static uint32_t wanted(const struct bed *b)
{
	struct latest_totals totals;
	uint32_t sum = 0;
	latest_sum(usages_latest(b->usages), &totals);
	for (int i = 0; i < LATEST_STATES; i++) {
		sum += totals.pods[i];
	}
	return sum;
}

Test(usages, of_running_tenants_and_whole_pods)
{
	struct bed b;
	begin(&b);
	cr_assert(make(&b), "%s", b.fault.message);
	know(&b, "tenant", true, "Running");
	know(&b, "whole", false, "Running");
	know(&b, "waits", true, "Pending");
	know(&b, "over", false, "Succeeded");
	usages_part.step(b.usages, &(struct turn){b.clock.mono, false});
	cr_expect_eq(wanted(&b), 0, "one that does not lead wants nothing");
	cr_expect_eq(usages_part.deadline(b.usages, &(struct turn){.leads = false}), TIME_NEVER);
	usages_part.step(b.usages, &(struct turn){b.clock.mono, true});
	cr_expect_eq(wanted(&b), 2);
	cr_expect_not(usages_crowded(b.usages));
	world_apply(b.world, &(struct change){.type = CHANGE_GONE,
				     .kind = KIND_POD,
				     .ns = "a",
				     .name = "whole",
				     .uid = "whole"});
	cr_expect_gt(usages_part.deadline(b.usages, &(struct turn){.leads = true}), b.clock.mono,
		"no spinning");
	fake_pass(&b.clock, 5000);
	usages_part.step(b.usages, &(struct turn){b.clock.mono, true});
	cr_expect_eq(wanted(&b), 2, "it is given one more round");
	fake_pass(&b.clock, 5000);
	usages_part.step(b.usages, &(struct turn){b.clock.mono, true});
	cr_expect_eq(wanted(&b), 1);
	end(&b);
}

Test(usages, many_are_looked_at_in_turns)
{
	struct bed b;
	char name[16];
	begin(&b);
	cr_assert(make(&b), "%s", b.fault.message);
	for (int i = 0; i < PODS_A_TURN + 100; i++) {
		snprintf(name, sizeof name, "p%d", i);
		know(&b, name, true, "Running");
	}
	usages_part.step(b.usages, &(struct turn){b.clock.mono, true});
	cr_expect_eq(wanted(&b), PODS_A_TURN);
	cr_expect_leq(usages_part.deadline(b.usages, &(struct turn){.leads = true}), b.clock.mono,
		"it goes on at once");
	usages_part.step(b.usages, &(struct turn){b.clock.mono, true});
	cr_expect_eq(wanted(&b), PODS_A_TURN + 100);
	end(&b);
}

static void expect_refused(struct bed *b, enum fault_kind kind, const char *word)
{
	cr_expect_not(make(b), "%s", word);
	cr_expect_eq(b->fault.kind, kind, "%s", b->fault.message);
	cr_expect_not_null(strstr(b->fault.message, word), "%s", b->fault.message);
}

Test(usages, options_that_cannot_be_meant)
{
	struct bed b;
	begin(&b);
	b.options.usage_gauges = "prometheus";
	expect_refused(&b, FAULT_INVALID, "usage-gauges");
	b.options.usage_gauges = "off";
	b.options.usage_prometheus_matcher = "job=\"x\"";
	expect_refused(&b, FAULT_INVALID, "usage-prometheus-matcher");
	b.options.usage_prometheus_matcher = "";
	b.options.usage_exporter = "nonsense";
	expect_refused(&b, FAULT_INVALID, "usage-exporter");
	b.options.usage_exporter = "";
	b.options.usage_prometheus = "http://prometheus:9090";
	cr_expect(make(&b), "%s", b.fault.message);
	b.options.usage_prometheus_token = "/nonexistent/token";
	expect_refused(&b, FAULT_INVALID, "https://");
	b.options.usage_prometheus = "https://prometheus:9090";
	expect_refused(&b, FAULT_NOT_FOUND, "usage-prometheus-token");
	b.options.usage_prometheus_token = "";
	b.options.usage_prometheus_ca = "/nonexistent/ca";
	expect_refused(&b, FAULT_NOT_FOUND, "usage-prometheus-ca");
	b.options.usage_prometheus_ca = "";
	b.options.usage_prometheus = "not a url";
	expect_refused(&b, FAULT_INVALID, "usage-prometheus");
	end(&b);
}
