/* Prometheus is asked for samples with their times, in batches that get smaller where they must. */
#include "prometheus_bed.h"

static void answer_sample(struct bed *b, const char *labels, int64_t age_ms, const char *value)
{
	char text[1024];
	int64_t at = b->clock.wall - age_ms;
	snprintf(text, sizeof text,
		MATRIX("{\"metric\":{%s},\"values\":[[%lld,\"1\"],[%lld.%03lld,\"%s\"]]}"), labels,
		(long long)(at / 1000 - 20), (long long)(at / 1000), (long long)(at % 1000), value);
	fake_answer(fake_last(b->wire), 200, text);
}

#define OF_P0                                                                                      \
	"\"__name__\":\"DCGM_FI_DEV_GPU_UTIL\",\"namespace\":\"a\",\"pod\":\"p.0\",\"UUID\":"      \
	"\"GPU-1\""

static struct latest_pod look(struct bed *b)
{
	struct latest_pod p;
	cr_assert(latest_find(b->latest, "a", "p.0", &p));
	return p;
}

Test(prometheus, samples_of_wanted_pods)
{
	struct bed b;
	char query[4096];
	bed_init(&b, false);
	bed_pass(&b, 1000);
	cr_expect_eq(b.wire->count, 0, "nobody is wanted");
	bed_want(&b, 2);
	prometheus_token(b.p, "t0ken");
	bed_pass(&b, EVERY_MS);
	cr_assert_eq(b.wire->count, 1);
	struct fake_call *c = fake_last(b.wire);
	bed_decoded(c, query, sizeof query);
	cr_expect_str_eq(query,
		"timeout=10s&query={__name__=~\"DCGM_FI_DEV_GPU_UTIL|DCGM_FI_DEV_FB_USED\","
		"namespace=~\"a\",pod=~\"p[.]0|p[.]1\"}[150s]");
	cr_expect_str_eq(c->path, "/api/v1/query");
	cr_expect_str_eq(c->bearer, "t0ken");
	answer_sample(&b, OF_P0, 30000, "42.5");
	struct latest_pod p = look(&b);
	cr_assert(p.state == LATEST_FRESH && p.figure_count == 1);
	cr_expect(p.source == METERED_PROMETHEUS && p.figures[0].compute == 42500);
	cr_expect_eq(p.figures[0].age_ms, 30000, "when it was scraped, not when it was asked for");
	bed_pass(&b, 12000);
	cr_expect_eq(b.wire->count, 1, "the round is over");
	bed_pass(&b, 4000);
	cr_assert_eq(b.wire->count, 2);
	fake_answer(fake_last(b.wire), 200, MATRIX(""));
	cr_expect(bed_counted(&b, "ok") == 1 && bed_counted(&b, "nothing") == 1);
	bed_finish(&b);
}

#define FORGED                                                                                     \
	"\"__name__\":\"DCGM_FI_DEV_GPU_UTIL\",\"namespace\":\"b\",\"pod\":\"tenant\","            \
	"\"exported_namespace\":\"a\",\"exported_pod\":\"p.0\",\"UUID\":\"GPU-1\""

/* Anybody that is scraped may write what then stands behind "exported_". */
Test(prometheus, nobody_tells_of_another_unless_he_is_named)
{
	struct bed b;
	char query[4096];
	bed_init(&b, false);
	bed_want(&b, 1);
	bed_pass(&b, 100);
	answer_sample(&b, FORGED, 0, "1");
	cr_expect_eq(look(&b).state, LATEST_UNKNOWN);
	bed_finish(&b);

	bed_init_with(&b, false, "job=\"dcgm-exporter\"");
	bed_want(&b, 2);
	bed_pass(&b, 100);
	bed_decoded(fake_last(b.wire), query, sizeof query);
	cr_expect_str_eq(query,
		"timeout=10s&query={__name__=~\"DCGM_FI_DEV_GPU_UTIL|DCGM_FI_DEV_FB_USED\","
		"job=\"dcgm-exporter\",namespace=~\"a\",pod=~\"p[.]0|p[.]1\"}[150s]");
	fake_answer(fake_last(b.wire), 200, MATRIX(""));
	bed_pass(&b, 100);
	cr_assert_eq(b.wire->count, 2);
	bed_decoded(fake_last(b.wire), query, sizeof query);
	cr_expect(strstr(query,
			  ",job=\"dcgm-exporter\",exported_namespace=~\"a\",exported_pod=~\"p[.]"
			  "0|p[.]1\"}") != NULL,
		"%s", query);
	answer_sample(&b, FORGED, 0, "1");
	cr_expect_eq(look(&b).figures[0].compute, 1000, "an exporter's word");
	bed_pass(&b, 12000);
	cr_expect_eq(b.wire->count, 2, "the round is over");
	bed_finish(&b);
}

/* An exporter that stopped: its samples get older until they are stale, and none becomes zero. */
Test(prometheus, silence_is_stale)
{
	struct bed b;
	bed_init(&b, false);
	bed_want(&b, 1);
	bed_pass(&b, 100);
	answer_sample(&b, OF_P0, 0, "42.5");
	for (int i = 0; i < 12; i++) {
		bed_pass(&b, EVERY_MS);
		while (fake_last(b.wire)->open) {
			fake_answer(fake_last(b.wire), 200, MATRIX(""));
			bed_pass(&b, 100);
		}
	}
	struct latest_pod p = look(&b);
	cr_expect_eq(p.state, LATEST_STALE);
	cr_assert_eq(p.figure_count, 1);
	cr_expect_eq(p.figures[0].compute, 42500);
	bed_finish(&b);
}

Test(prometheus, an_exporter_that_was_started_again)
{
	struct bed b;
	char text[1024];
	bed_init(&b, false);
	bed_want(&b, 1);
	bed_pass(&b, 100);
	long long now = b.clock.wall / 1000;
	snprintf(text, sizeof text,
		MATRIX("{\"metric\":{" OF_P0 ",\"instance\":\"old\"},\"values\":[[%lld,\"90\"]]},"
		       "{\"metric\":{" OF_P0 ",\"instance\":\"new\"},\"values\":[[%lld,\"10\"]]}"),
		now - 60, now);
	fake_answer(fake_last(b.wire), 200, text);
	cr_expect_eq(look(&b).figures[0].compute, 10000);
	bed_finish(&b);
}

struct bad {
	int status;
	const char *body, *verdict;
};

Test(prometheus, what_is_no_answer_is_never_told)
{
	static const struct bad rows[] = {
		{200, "{}", "malformed"},
		{200, "", "malformed"},
		{200, MATRIX("{\"metric\":{" OF_P0 "},\"values\":[[1,\"x\"]]}"), "malformed"},
		{503, "down", "unreachable"},
		{500, "{\"status\":\"error\",\"errorType\":\"internal\",\"error\":\"x\"}",
			"unreachable"},
		{401, "", "denied"},
		{403, "", "denied"},
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct bed b;
		bed_init(&b, false);
		bed_want(&b, 1);
		bed_pass(&b, 100);
		fake_answer(fake_last(b.wire), rows[i].status, rows[i].body);
		cr_expect_eq(look(&b).state, LATEST_UNKNOWN, "row %zu", i);
		cr_expect_eq(bed_counted(&b, rows[i].verdict), 1, "row %zu", i);
		bed_pass(&b, 7000);
		cr_expect_eq(b.wire->count, 1, "row %zu: a pause", i);
		bed_pass(&b, 30000);
		cr_expect_eq(b.wire->count, 2, "row %zu: asked again", i);
		bed_finish(&b);
	}
}

Test(prometheus, odd_values_are_nothing)
{
	struct bed b;
	bed_init(&b, false);
	bed_want(&b, 1);
	bed_pass(&b, 100);
	answer_sample(&b, OF_P0, 0, "NaN");
	cr_expect_eq(look(&b).state, LATEST_UNKNOWN);
	bed_finish(&b);
}

static size_t names_in(const struct fake_call *c)
{
	static char query[65536];
	size_t count = 1;
	bed_decoded(c, query, sizeof query);
	for (const char *p = strstr(query, "pod=~\""); *p != '}'; p++) {
		count += *p == '|';
	}
	return count;
}

Test(prometheus, a_batch_gets_smaller_where_it_must)
{
	struct bed b;
	struct wire_answer large = {.body = ""};
	fault_set(&large.fault, FAULT_LIMIT, "too large");
	bed_init(&b, false);
	bed_want(&b, 100);
	bed_pass(&b, 100);
	cr_expect_eq(names_in(fake_last(b.wire)), 16);
	fake_finish(fake_last(b.wire), &large);
	bed_pass(&b, 100);
	cr_expect_eq(names_in(fake_last(b.wire)), 8);
	fake_answer(fake_last(b.wire), 422,
		"{\"status\":\"error\",\"errorType\":\"execution\",\"error\":\"too many "
		"samples\"}");
	bed_pass(&b, 100);
	cr_expect_eq(names_in(fake_last(b.wire)), 4);
	fake_answer(fake_last(b.wire), 200, MATRIX(""));
	bed_pass(&b, 100);
	cr_expect_eq(names_in(fake_last(b.wire)), 12, "and larger again");
	cr_expect_eq(bed_counted(&b, "too_large"), 2);
	bed_finish(&b);
}

Test(prometheus, one_pod_that_is_too_much_is_left_out)
{
	struct bed b;
	struct wire_answer large = {.body = ""};
	fault_set(&large.fault, FAULT_LIMIT, "too large");
	bed_init(&b, false);
	bed_want(&b, 2);
	bed_pass(&b, 100);
	fake_finish(fake_last(b.wire), &large);
	bed_pass(&b, 100);
	fake_finish(fake_last(b.wire), &large);
	bed_pass(&b, 100);
	char query[4096];
	bed_decoded(fake_last(b.wire), query, sizeof query);
	cr_expect(strstr(query, "pod=~\"p[.]1\"") != NULL, "%s", query);
	bed_finish(&b);
}

Test(prometheus, who_is_heard_better_is_not_asked_for)
{
	struct bed b;
	bed_init(&b, false);
	bed_want(&b, 2);
	struct metered m = {.ns = "a",
		.pod = "p.0",
		.container = "",
		.uuid = "",
		.compute = 5,
		.mem_bytes = METERED_ABSENT,
		.at_ms = b.clock.wall};
	cr_assert_eq(latest_take(b.latest, &m, "n1"), LATEST_TAKEN);
	bed_pass(&b, 100);
	char query[4096];
	bed_decoded(fake_last(b.wire), query, sizeof query);
	cr_expect(strstr(query, "pod=~\"p[.]1\"") != NULL, "%s", query);
	bed_finish(&b);
}

Test(prometheus, gauges_of_applications)
{
	struct bed b;
	char query[4096];
	bed_init_with(&b, true, "job=\"dcgm-exporter\"");
	bed_want(&b, 1);
	for (int i = 0; i < 2; i++) {
		bed_pass(&b, 100);
		bed_decoded(fake_last(b.wire), query, sizeof query);
		cr_expect(strstr(query, "vllm:") == NULL, "%s", query);
		fake_answer(fake_last(b.wire), 200, MATRIX(""));
	}
	bed_pass(&b, 100);
	bed_decoded(fake_last(b.wire), query, sizeof query);
	cr_expect(strstr(query, "{__name__=~\"vllm:kv_cache_usage_perc|") != NULL, "%s", query);
	cr_expect(strstr(query, "\",namespace=~\"a\",pod=~\"p[.]0\"}") != NULL &&
			  strstr(query, "job=") == NULL,
		"applications are other jobs: %s", query);
	answer_sample(&b,
		"\"__name__\":\"vllm:num_requests_waiting\",\"namespace\":\"a\",\"pod\":\"p.0\"",
		5000, "7");
	struct latest_pod p = look(&b);
	cr_expect(p.gauges_state == LATEST_FRESH && p.gauges.waiting == 7);
	cr_expect_eq(p.state, LATEST_UNKNOWN);
	bed_finish(&b);
}

/* The names that Prometheus wrote are the truth, whatever an application calls itself. */
Test(prometheus, an_application_tells_of_its_own_pod)
{
	struct bed b;
	bed_init_with(&b, true, "job=\"dcgm-exporter\"");
	bed_want(&b, 2);
	for (int i = 0; i < 2; i++) {
		bed_pass(&b, 100);
		fake_answer(fake_last(b.wire), 200, MATRIX(""));
	}
	bed_pass(&b, 100);
	answer_sample(&b,
		"\"__name__\":\"vllm:num_requests_waiting\",\"namespace\":\"a\",\"pod\":\"p.1\","
		"\"exported_namespace\":\"a\",\"exported_pod\":\"p.0\"",
		5000, "7");
	struct latest_pod p = look(&b);
	cr_expect_eq(p.gauges_state, LATEST_UNKNOWN);
	cr_assert(latest_find(b.latest, "a", "p.1", &p));
	cr_expect_eq(p.gauges.waiting, 7);
	bed_finish(&b);
}

Test(prometheus, who_does_not_lead_does_not_ask)
{
	struct bed b;
	bed_init(&b, false);
	bed_want(&b, 1);
	prometheus_step(b.p, b.clock.mono, false);
	cr_expect_eq(b.wire->count, 0);
	cr_expect_eq(prometheus_deadline(b.p, false), TIME_NEVER);
	bed_pass(&b, 100);
	cr_expect_eq(b.wire->count, 1);
	prometheus_use(b.p, NULL);
	cr_expect(fake_last(b.wire)->cancelled);
	bed_finish(&b);
	prometheus_destroy(NULL);
}
