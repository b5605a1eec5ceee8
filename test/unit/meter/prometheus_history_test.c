/* The past is read in windows that fit into an answer. */
#include "prometheus_bed.h"

struct heard {
	size_t compute, memory, ends;
	int64_t last_at;
	enum fault_kind fault;
	struct prometheus *cancel_in; /* NULL: it listens to the end */
	uint64_t id;
};

static void on_points(void *data, const struct metered *points, size_t count)
{
	struct heard *h = data;
	for (size_t i = 0; i < count; i++) {
		cr_expect((points[i].compute == METERED_ABSENT) !=
			  (points[i].mem_bytes == METERED_ABSENT));
		h->compute += points[i].compute != METERED_ABSENT;
		h->memory += points[i].mem_bytes != METERED_ABSENT;
		h->last_at = points[i].at_ms;
	}
	if (h->cancel_in != NULL) {
		prometheus_history_cancel(h->cancel_in, h->id);
	}
}

static void on_end(void *data, const struct fault *f)
{
	struct heard *h = data;
	h->ends++;
	h->fault = f != NULL ? f->kind : FAULT_NONE;
}

static const struct history_events events = {on_points, on_end};

/* So many steps of a minute. */
static void ask(struct bed *b, struct heard *h, int64_t steps)
{
	struct history_ask q = {.ns = "a",
		.pods = "web-[a-z0-9]+\\.x",
		.from_ms = 1700000000000,
		.to_ms = 1700000000000 + steps * 60000,
		.step_ms = 60000};
	h->id = prometheus_history(b->p, &q, &events, h);
	cr_assert_neq(h->id, 0);
}

static void answer_points(struct bed *b, int count)
{
	CLEANUP(str_finish) struct str text = STR_INIT(65536);
	str_append_text(&text,
		"{\"status\":\"success\",\"data\":{\"resultType\":\"matrix\",\"result\":["
		"{\"metric\":{\"namespace\":\"a\",\"pod\":\"web-1\"},\"values\":[");
	for (int i = 0; i < count; i++) {
		str_append_format(&text, "%s[%d,\"5\"]", i > 0 ? "," : "", 1700000000 + i * 60);
	}
	str_append_text(&text, "]}]}}");
	cr_assert(fake_last(b->wire)->open, "nobody asked");
	fake_answer(fake_last(b->wire), 200, str_text(&text));
	bed_pass(b, 100);
}

Test(prometheus_history, windows_of_compute_then_of_memory)
{
	struct bed b;
	struct heard h = {0};
	char query[2048];
	bed_init_with(&b, false, "job=\"x\"");
	ask(&b, &h, 500);
	bed_pass(&b, 100);
	bed_decoded(fake_last(b.wire), query, sizeof query);
	cr_expect_str_eq(fake_last(b.wire)->path, "/api/v1/query_range");
	/* Steps lie on whole minutes. */
	cr_expect_str_eq(query, "timeout=10s&start=1699999980&end=1700021520&step=60&query="
				"avg_over_time(DCGM_FI_DEV_GPU_UTIL{job=\"x\",namespace=\"a\",pod="
				"~\"web-[a-z0-9]+\\\\.x\"}[60s]) or "
				"avg_over_time(DCGM_FI_DEV_GPU_UTIL{job=\"x\",exported_namespace="
				"\"a\",exported_pod=~\"web-[a-z0-9]+\\\\.x\"}[60s])");
	answer_points(&b, 300);
	cr_expect_eq(h.compute, 300);
	bed_decoded(fake_last(b.wire), query, sizeof query);
	cr_expect(strstr(query, "start=1700021580&end=1700029980&") != NULL, "%s", query);
	answer_points(&b, 0);
	bed_decoded(fake_last(b.wire), query, sizeof query);
	cr_expect(strstr(query, "start=1699999980&") != NULL &&
			  strstr(query, "max_over_time(DCGM_FI_DEV_FB_USED{") != NULL,
		"%s", query);
	answer_points(&b, 2);
	cr_expect_eq(h.ends, 0);
	answer_points(&b, 1);
	cr_expect(h.ends == 1 && h.fault == FAULT_NONE && h.memory == 3);
	bed_pass(&b, 60000);
	cr_expect_eq(b.wire->count, 4);
	bed_finish(&b);
}

Test(prometheus_history, a_window_gets_smaller_where_it_must)
{
	struct bed b;
	struct heard h = {0};
	char query[2048];
	struct wire_answer large = {.body = ""};
	fault_set(&large.fault, FAULT_LIMIT, "too large");
	bed_init(&b, false);
	ask(&b, &h, 500);
	bed_pass(&b, 100);
	fake_finish(fake_last(b.wire), &large);
	bed_pass(&b, 100);
	bed_decoded(fake_last(b.wire), query, sizeof query);
	cr_expect(strstr(query, "start=1699999980&end=1700010720&") != NULL, "%s", query);
	for (int i = 0; i < 7; i++) {
		fake_finish(fake_last(b.wire), &large);
		bed_pass(&b, 100);
	}
	cr_expect_eq(h.ends, 0);
	fake_finish(fake_last(b.wire), &large);
	cr_expect(h.ends == 1 && h.fault == FAULT_LIMIT, "one point is the least");
	bed_finish(&b);
}

Test(prometheus_history, it_gives_up_in_the_end)
{
	struct bed b;
	struct heard h = {0};
	bed_init(&b, false);
	ask(&b, &h, 5);
	for (int i = 0; i < 8 && h.ends == 0; i++) {
		bed_pass(&b, 250000);
		fake_fail(fake_last(b.wire), false);
	}
	cr_expect(h.ends == 1 && h.fault == FAULT_TRANSIENT);
	cr_expect_eq(b.wire->count, 8);
	bed_finish(&b);
}

Test(prometheus_history, now_and_the_past_take_turns)
{
	struct bed b;
	struct heard h = {0};
	int now = 0, past = 0;
	bed_init(&b, false);
	bed_want(&b, 1);
	ask(&b, &h, 5000);
	for (int i = 0; i < 6; i++) {
		bed_pass(&b, 100);
		bool is_now = strcmp(fake_last(b.wire)->path, "/api/v1/query") == 0;
		now += is_now;
		past += !is_now;
		fake_answer(fake_last(b.wire), 200, MATRIX(""));
	}
	cr_expect(now == 1 && past == 5, "%d, %d", now, past);
	prometheus_history_cancel(b.p, h.id);
	prometheus_history_cancel(b.p, h.id);
	bed_pass(&b, 1000);
	cr_expect_eq(h.ends, 0, "who called it off is told nothing");
	bed_finish(&b);
}

Test(prometheus_history, called_off_under_way_and_while_it_is_told)
{
	struct bed b;
	struct heard h = {0};
	bed_init(&b, false);
	ask(&b, &h, 5);
	bed_pass(&b, 100);
	prometheus_history_cancel(b.p, h.id);
	cr_expect(fake_last(b.wire)->cancelled);
	h = (struct heard){.cancel_in = b.p};
	ask(&b, &h, 5);
	bed_pass(&b, 100);
	answer_points(&b, 600);
	cr_expect(h.compute == 256 && h.ends == 0, "%zu", h.compute);
	bed_pass(&b, 1000);
	cr_expect_eq(b.wire->count, 2);
	bed_finish(&b);
}

Test(prometheus_history, not_more_than_its_limit_wait)
{
	struct bed b;
	struct heard h = {0};
	bed_init(&b, false);
	for (int i = 0; i < PROMETHEUS_HISTORY_MAX; i++) {
		ask(&b, &h, 5);
	}
	struct history_ask q = {.ns = "a", .pods = "p", .step_ms = 1};
	cr_expect_eq(prometheus_history(b.p, &q, &events, &h), 0);
	bed_finish(&b);
}
