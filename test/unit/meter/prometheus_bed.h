/* A Prometheus that answers what a test says, and the reader before it. */
#ifndef TEST_PROMETHEUS_BED_H
#define TEST_PROMETHEUS_BED_H

#include "../kube/fake_wire.h"
#include "meter/prometheus.h"

#define EVERY_MS 15000

struct bed {
	struct fake_clock clock;
	struct fake_wire *wire;
	struct metric_registry *metrics;
	struct latest *latest;
	struct prometheus *p;
};

static inline void bed_init_with(struct bed *b, bool gauges, const char *matcher)
{
	*b = (struct bed){.clock = fake_clock_make(),
		.wire = fake_wire_create(),
		.metrics = metric_registry_create()};
	struct latest_config latest = {.clock = &b->clock.clock,
		.fresh_ms = {60000, 60000, 150000},
		.gauges_fresh_ms = 150000};
	b->latest = latest_create(&latest);
	struct prometheus_config config = {.clock = &b->clock.clock,
		.metrics = b->metrics,
		.latest = b->latest,
		.seed = 1,
		.every_ms = EVERY_MS,
		.window_ms = 150000,
		.gauges = gauges,
		.matcher = matcher};
	b->p = prometheus_create(&config);
	prometheus_use(b->p, &b->wire->wire);
}

static inline void bed_init(struct bed *b, bool gauges)
{
	bed_init_with(b, gauges, NULL);
}

static inline void bed_finish(struct bed *b)
{
	prometheus_destroy(b->p);
	latest_destroy(b->latest);
	fake_wire_destroy(b->wire);
	metric_registry_destroy(b->metrics);
}

static inline void bed_want(struct bed *b, uint32_t count)
{
	char name[16];
	latest_want_begin(b->latest);
	for (uint32_t i = 0; i < count; i++) {
		snprintf(name, sizeof name, "p.%u", i);
		cr_assert(latest_want(b->latest, "a", name, "u", "n1"));
	}
	latest_want_end(b->latest);
}

static inline void bed_pass(struct bed *b, int64_t ms)
{
	for (int64_t end = b->clock.mono + ms; b->clock.mono < end;) {
		fake_pass(&b->clock, 100);
		prometheus_step(b->p, b->clock.mono, true);
	}
}

static inline int64_t bed_counted(struct bed *b, const char *verdict)
{
	char labels[96];
	snprintf(labels, sizeof labels, "source=\"prometheus\",verdict=\"%s\"", verdict);
	return metric_value(
		metric_get(b->metrics, METRIC_COUNTER, "aliquot_usage_reads_total", "", labels));
}

#define MATRIX(result)                                                                             \
	"{\"status\":\"success\",\"data\":{\"resultType\":\"matrix\",\"result\":[" result "]}}"

/* What was asked for, as it reads. */
static inline void bed_decoded(const struct fake_call *c, char *out, size_t room)
{
	size_t n = 0;
	for (const char *p = c->body; *p != '\0' && n + 1 < room; p++) {
		unsigned byte = (unsigned char)*p;
		if (*p == '%') {
			cr_assert_eq(sscanf(p + 1, "%2x", &byte), 1);
			p += 2;
		}
		out[n++] = (char)byte;
	}
	out[n] = '\0';
}

#endif
