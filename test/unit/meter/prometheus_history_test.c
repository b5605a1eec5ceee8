/* The past is read in windows that fit into an answer. */
#include "prometheus_bed.h"

#include "meter/prometheus_history.h"

#define FROM_MS 1699920000000 /* a midnight */
#define HOUR_MS 3600000
#define DAY_MS	(24 * (int64_t)HOUR_MS)
#define STEP_MS 300000

struct heard {
	size_t compute, memory, ends;
	int64_t first_at, last_at;
	enum fault_kind fault;
	struct history_end end;
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
		h->first_at = h->first_at == 0 ? points[i].at_ms : h->first_at;
		h->last_at = points[i].at_ms;
	}
	if (h->cancel_in != NULL) {
		prometheus_history_cancel(h->cancel_in, h->id);
	}
}

static void on_end(void *data, const struct history_end *end)
{
	struct heard *h = data;
	h->ends++;
	h->end = *end;
	h->fault = end->fault != NULL ? end->fault->kind : FAULT_NONE;
}

static const struct history_events events = {on_points, on_end};

static struct history_ask asking(int64_t ms)
{
	return (struct history_ask){.ns = "a",
		.pods = "web-[a-z0-9]+\\.x",
		.from_ms = FROM_MS,
		.to_ms = FROM_MS + ms,
		.compute_step_ms = STEP_MS,
		.memory_step_ms = HOUR_MS};
}

static void ask(struct bed *b, struct heard *h, int64_t ms)
{
	struct history_ask q = asking(ms);
	struct fault f = {0};
	h->id = prometheus_history(b->p, &q, &events, h, &f);
	cr_assert_neq(h->id, 0, "%s", f.message);
}

/* The value of a key of what was asked last. */
static int64_t asked(struct bed *b, const char *key)
{
	char query[8192], with[16];
	snprintf(with, sizeof with, "&%s=", key);
	bed_decoded(fake_last(b->wire), query, sizeof query);
	const char *at = strstr(query, with);
	cr_assert_not_null(at, "%s", query);
	int64_t value = 0;
	struct view rest = view_of(at + strlen(with)), part;
	cr_assert(view_next(&rest, '&', &part) && parse_i64(part, 0, INT64_MAX, &value));
	return value;
}

/* So many points, from the first step that was asked for on. */
static void answer_points(struct bed *b, int count)
{
	CLEANUP(str_finish) struct str text = STR_INIT(65536);
	int64_t at = asked(b, "start"), step = asked(b, "step");
	str_append_text(&text,
		"{\"status\":\"success\",\"data\":{\"resultType\":\"matrix\",\"result\":["
		"{\"metric\":{\"namespace\":\"a\",\"pod\":\"web-1\"},\"values\":[");
	for (int i = 0; i < count; i++) {
		str_append_format(
			&text, "%s[%lld,\"5\"]", i > 0 ? "," : "", (long long)(at + i * step));
	}
	str_append_text(&text, "]}]}}");
	cr_assert(fake_last(b->wire)->open, "nobody asked");
	fake_answer(fake_last(b->wire), 200, str_text(&text));
	bed_pass(b, 100);
}

Test(prometheus_history, a_day_of_compute_then_of_memory)
{
	struct bed b;
	struct heard h = {0};
	char query[4096];
	bed_init_with(&b, false, "job=\"x\"");
	ask(&b, &h, DAY_MS + 2 * HOUR_MS + 1);
	bed_pass(&b, 100);
	bed_decoded(fake_last(b.wire), query, sizeof query);
	cr_expect_str_eq(fake_last(b.wire)->path, "/api/v1/query_range");
	/* A value at a time is of the step that ends there. */
	cr_expect_str_eq(query,
		"timeout=10s&start=1699920300&end=1700006400&step=300&query="
		"max by(namespace,pod,container,exported_namespace,exported_pod,exported_container,"
		"pod_uid,UUID,uuid,gpu_uuid,source,attribution)"
		"(avg_over_time(DCGM_FI_DEV_GPU_UTIL{job=\"x\",GPU_I_ID=\"\",namespace=\"a\",pod=~"
		"\"web-[a-z0-9]+\\\\.x\"}[300s])) or "
		"max by(namespace,pod,container,exported_namespace,exported_pod,exported_container,"
		"pod_uid,UUID,uuid,gpu_uuid,source,attribution)"
		"(avg_over_time(DCGM_FI_DEV_GPU_UTIL{job=\"x\",GPU_I_ID=\"\",exported_namespace="
		"\"a\","
		"exported_pod=~\"web-[a-z0-9]+\\\\.x\"}[300s]))");
	answer_points(&b, 288);
	cr_expect_eq(h.compute, 288);
	cr_expect_eq(h.last_at - h.first_at, DAY_MS - STEP_MS);
	bed_decoded(fake_last(b.wire), query, sizeof query);
	cr_expect(strstr(query, "start=1699923600&end=1700006400&step=3600&") != NULL &&
			  strstr(query, "(max_over_time(DCGM_FI_DEV_FB_USED{") != NULL,
		"%s", query);
	answer_points(&b, 24);
	cr_expect(h.memory == 24 && h.ends == 0);
	cr_expect(asked(&b, "start") == 1700006700 && asked(&b, "end") == 1700013600);
	/* A gap is told as nothing. */
	answer_points(&b, 0);
	answer_points(&b, 2);
	cr_expect(h.ends == 1 && h.fault == FAULT_NONE && h.memory == 26 && h.compute == 288);
	cr_expect_eq(h.end.told_ms, FROM_MS + DAY_MS + 2 * HOUR_MS);
	cr_expect(h.end.points == 314 && h.end.odd == 0 && !h.end.partial);
	bed_pass(&b, 60000);
	cr_expect_eq(b.wire->count, 4);
	bed_finish(&b);
}

/* Nobody is named, so nothing that somebody scraped wrote is believed. */
Test(prometheus_history, nobody_tells_of_another_unless_he_is_named)
{
	struct bed b;
	struct heard h = {0};
	char query[4096];
	bed_init(&b, false);
	ask(&b, &h, HOUR_MS);
	bed_pass(&b, 100);
	bed_decoded(fake_last(b.wire), query, sizeof query);
	cr_expect(strstr(query, "exported_namespace=") == NULL, "%s", query);
	fake_answer(fake_last(b.wire), 200,
		MATRIX("{\"metric\":{\"namespace\":\"a\",\"pod\":\"web-1\",\"exported_pod\":\"o\","
		       "\"exported_namespace\":\"b\"},\"values\":[[1699920300,\"99\"]]},"
		       "{\"metric\":{\"namespace\":\"a\",\"pod\":\"web-1\"},"
		       "\"values\":[[1699920300,\"NaN\"],[1699920600,\"5\"]]}"));
	bed_pass(&b, 100);
	answer_points(&b, 1);
	cr_expect(h.compute == 1 && h.memory == 1 && h.end.odd == 2 && h.end.points == 2);
	bed_finish(&b);
}

Test(prometheus_history, what_may_not_be_all_is_said)
{
	struct bed b;
	struct heard h = {0};
	bed_init(&b, false);
	ask(&b, &h, HOUR_MS);
	bed_pass(&b, 100);
	fake_answer(fake_last(b.wire), 200,
		"{\"status\":\"success\",\"warnings\":[\"a store is away\"],\"data\":{"
		"\"resultType\":\"matrix\",\"result\":[]}}");
	bed_pass(&b, 100);
	answer_points(&b, 1);
	cr_expect(h.ends == 1 && h.end.partial);
	bed_finish(&b);
}

Test(prometheus_history, a_window_gets_smaller_where_it_must)
{
	struct bed b;
	struct heard h = {0};
	struct wire_answer large = {.body = ""};
	fault_set(&large.fault, FAULT_LIMIT, "too large");
	bed_init(&b, false);
	ask(&b, &h, 3 * DAY_MS);
	bed_pass(&b, 100);
	for (int i = 0; i < 2; i++) {
		fake_finish(fake_last(b.wire), &large);
		bed_pass(&b, 100);
	}
	cr_expect_eq(asked(&b, "end") - asked(&b, "start"), 89 * 300);
	/* The rest of the day is asked for, and the next figure in larger ones again. */
	for (int i = 0; i < 4; i++) {
		cr_expect_eq(asked(&b, "step"), 300);
		answer_points(&b, 1);
	}
	cr_expect(h.compute == 4 && asked(&b, "step") == 3600 &&
		  asked(&b, "start") == FROM_MS / 1000 + 3600);
	answer_points(&b, 24);
	cr_expect_eq(asked(&b, "start"), (FROM_MS + DAY_MS) / 1000 + 300);
	for (int i = 0; i < 9; i++) {
		cr_assert_eq(h.ends, 0);
		fake_finish(fake_last(b.wire), &large);
		bed_pass(&b, 100);
	}
	cr_expect(h.ends == 1 && h.fault == FAULT_LIMIT, "one point is the least");
	cr_expect_eq(h.end.told_ms, FROM_MS + DAY_MS, "from where to go on");
	bed_finish(&b);
}

Test(prometheus_history, it_gives_up_in_the_end)
{
	struct bed b;
	struct heard h = {0};
	bed_init(&b, false);
	ask(&b, &h, DAY_MS);
	for (int i = 0; i < 8 && h.ends == 0; i++) {
		bed_pass(&b, 250000);
		fake_fail(fake_last(b.wire), false);
	}
	cr_expect(h.ends == 1 && h.fault == FAULT_TRANSIENT && h.end.told_ms == FROM_MS);
	cr_expect_eq(b.wire->count, 8);
	bed_finish(&b);
}

Test(prometheus_history, what_has_not_ended_is_not_told)
{
	struct bed b;
	struct heard h = {0};
	struct fault f = {0};
	bed_init(&b, false);
	struct history_ask q = asking(0);
	q.from_ms = b.clock.wall - DAY_MS;
	q.to_ms = b.clock.wall + DAY_MS;
	cr_assert_neq(prometheus_history(b.p, &q, &events, &h, &f), 0, "%s", f.message);
	bed_pass(&b, 100);
	cr_expect_eq(asked(&b, "end"), b.clock.wall / HOUR_MS * 3600);
	q.from_ms = b.clock.wall / HOUR_MS * HOUR_MS;
	cr_expect_eq(prometheus_history(b.p, &q, &events, &h, &f), 0);
	cr_expect(strstr(f.message, "no step has ended") != NULL);
	bed_finish(&b);
}

Test(prometheus_history, now_and_the_past_take_turns)
{
	struct bed b;
	struct heard h = {0};
	int now = 0, past = 0;
	bed_init(&b, false);
	bed_want(&b, 1);
	ask(&b, &h, 20 * DAY_MS);
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
	ask(&b, &h, DAY_MS);
	bed_pass(&b, 100);
	prometheus_history_cancel(b.p, h.id);
	cr_expect(fake_last(b.wire)->cancelled);
	h = (struct heard){.cancel_in = b.p};
	ask(&b, &h, DAY_MS);
	bed_pass(&b, 100);
	answer_points(&b, 600);
	cr_expect(h.compute == 256 && h.ends == 0, "%zu", h.compute);
	bed_pass(&b, 1000);
	cr_expect_eq(b.wire->count, 2);
	bed_finish(&b);
}

Test(prometheus_history, what_cannot_be_meant_is_not_asked)
{
	char longer[HISTORY_PODS_MAX + 2];
	memset(longer, 'x', sizeof longer - 1);
	longer[sizeof longer - 1] = '\0';
	struct history_ask rows[12];
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		rows[i] = asking(DAY_MS);
	}
	rows[0].ns = "";
	rows[1].pods = "";
	rows[2].pods = "a\nb";
	rows[3].pods = longer;
	rows[4].compute_step_ms = 59000;
	rows[5].compute_step_ms = 300500;
	rows[6].memory_step_ms = 450000;
	rows[7].memory_step_ms = 7 * HOUR_MS;
	rows[8].memory_step_ms = 2 * DAY_MS;
	rows[9].to_ms = rows[9].from_ms;
	rows[10].from_ms = -1;
	rows[11].from_ms -= HISTORY_DAYS_MAX * DAY_MS;
	struct bed b;
	bed_init(&b, false);
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct fault f = {0};
		cr_expect_eq(prometheus_history(b.p, &rows[i], &events, NULL, &f), 0, "row %zu", i);
		cr_expect_eq(f.kind, FAULT_INVALID, "row %zu", i);
	}
	bed_pass(&b, 1000);
	cr_expect_eq(b.wire->count, 0);
	bed_finish(&b);
}

Test(prometheus_history, not_more_than_its_limit_wait)
{
	struct bed b;
	struct heard h = {0};
	struct fault f = {0};
	bed_init(&b, false);
	for (int i = 0; i < PROMETHEUS_HISTORY_MAX; i++) {
		ask(&b, &h, DAY_MS);
	}
	struct history_ask q = asking(DAY_MS);
	cr_expect_eq(prometheus_history(b.p, &q, &events, &h, &f), 0);
	cr_expect_eq(f.kind, FAULT_LIMIT);
	bed_finish(&b);
}
