/* The past of some pods: one window after another, first of compute, then of memory. */
#include <stdlib.h>

#include "base/alloc.h"
#include "dcgm.h"
#include "prometheus_parts.h"

#define WINDOW_POINTS 360 /* each series has at most so many in one answer */
#define TOLD_AT_ONCE  256

struct history {
	uint64_t id;
	char *ns, *pods; /* owned */
	int64_t from_s, to_s, step_s;
	int64_t at_s;	/* where the next window begins */
	int64_t points; /* of a window */
	bool memory;	/* compute was told */
	uint32_t failures;
	bool telling, cancelled;
	struct history_events events;
	void *data; /* borrowed */
};

/* So often in a row, with the pauses of the reader in between. */
#define FAILURES_MAX 8

static int64_t window_end(const struct history *h)
{
	return time_min(h->at_s + (h->points - 1) * h->step_s, h->to_s);
}

static void append_figure(
	const struct prometheus *p, struct str *query, const struct history *h, const char *prefix)
{
	str_append_format(query, "%s_over_time(%s{", h->memory ? "max" : "avg",
		h->memory ? DCGM_MEMORY : DCGM_COMPUTE);
	prometheus_append_matcher(p, query, "", ",");
	str_append_format(query, "%snamespace=\"", prefix);
	prometheus_append_quoted(query, h->ns);
	str_append_format(query, "\",%spod=~\"", prefix);
	prometheus_append_quoted(query, h->pods);
	str_append_format(query, "\"}[%llds])", (long long)h->step_s);
}

void history_send(struct prometheus *p, struct history *h)
{
	CLEANUP(str_finish) struct str query = STR_INIT(QUERY_TEXT_MAX);
	CLEANUP(str_finish) struct str form = STR_INIT(QUERY_TEXT_MAX * 3);
	append_figure(p, &query, h, "");
	if (p->config.matcher != NULL) {
		str_append_text(&query, " or ");
		append_figure(p, &query, h, "exported_");
	}
	str_append_format(&form,
		"timeout=10s&start=%lld&end=%lld&step=%lld&query=", (long long)h->at_s,
		(long long)window_end(h), (long long)h->step_s);
	prometheus_append_encoded(&form, str_text(&query));
	prometheus_send(p, "/api/v1/query_range", &form);
}

/* --- its answer --- */

static void tell_series(
	struct prometheus *p, const struct history *h, const struct promql_series *s)
{
	/* Who is told may have had enough. */
	struct metered points[TOLD_AT_ONCE];
	size_t count = 0;
	for (uint32_t i = 0; i < s->point_count && !h->cancelled; i++) {
		struct metered m = {.source = METERED_PROMETHEUS,
			.at_ms = prometheus_policy_ms(p, s->points[i].time_ms)};
		if (dcgm_read(h->memory ? DCGM_MEMORY : DCGM_COMPUTE, &s->series,
			    s->points[i].value, p->config.matcher != NULL, &m) != DCGM_TAKEN) {
			continue;
		}
		points[count++] = m;
		if (count == TOLD_AT_ONCE) {
			h->events.on_points(h->data, points, count);
			count = 0;
		}
	}
	if (count > 0 && !h->cancelled) {
		h->events.on_points(h->data, points, count);
	}
}

static void history_free(struct history *h)
{
	free(h->ns);
	free(h->pods);
	free(h);
}

static void take_out(struct prometheus *p, const struct history *h)
{
	for (size_t i = 0; i < p->waiting.count; i++) {
		if (p->waiting.items[i] == h) {
			p->waiting.count--;
			memmove(&p->waiting.items[i], &p->waiting.items[i + 1],
				(p->waiting.count - i) * sizeof *p->waiting.items);
			return;
		}
	}
}

static void end(struct prometheus *p, struct history *h, const struct fault *f)
{
	take_out(p, h);
	h->events.on_end(h->data, f);
	history_free(h);
}

static void took_too_much(struct prometheus *p, struct history *h, const struct fault *f)
{
	if (h->points == 1) {
		end(p, h, f);
		return;
	}
	h->points /= 2;
}

/* True: there is a window left. */
static bool go_on(struct history *h)
{
	h->at_s = window_end(h) + h->step_s;
	if (h->at_s <= h->to_s) {
		return true;
	}
	if (h->memory) {
		return false;
	}
	h->memory = true;
	h->at_s = h->from_s;
	return true;
}

void history_take(struct prometheus *p, struct history *h, const struct promql_answer *a,
	const struct fault *f)
{
	if (f != NULL && f->kind == FAULT_LIMIT) {
		took_too_much(p, h, f);
		return;
	}
	if (f != NULL) {
		h->failures++;
		if (h->failures == FAILURES_MAX || f->kind == FAULT_DENIED) {
			end(p, h, f);
		}
		return;
	}
	h->failures = 0;
	h->telling = true;
	for (uint32_t i = 0; i < a->series_count; i++) {
		tell_series(p, h, &a->series[i]);
	}
	h->telling = false;
	if (h->cancelled) {
		take_out(p, h);
		history_free(h);
	} else if (!go_on(h)) {
		end(p, h, NULL);
	}
}

/* --- asking --- */

uint64_t prometheus_history(struct prometheus *p, const struct history_ask *ask,
	const struct history_events *events, void *data)
{
	if (p->waiting.count >= PROMETHEUS_HISTORY_MAX) {
		return 0;
	}
	struct history *h = xcalloc(1, sizeof *h);
	h->id = ++p->last_id;
	h->ns = xstrdup(ask->ns);
	h->pods = xstrdup(ask->pods);
	h->step_s = ask->step_ms / 1000 > 0 ? ask->step_ms / 1000 : 1;
	/* Steps lie where they would lie for anybody, so that two askers are told the same. */
	h->from_s = ask->from_ms / 1000 / h->step_s * h->step_s;
	h->to_s = ask->to_ms / 1000 / h->step_s * h->step_s;
	h->to_s = h->to_s < h->from_s ? h->from_s : h->to_s;
	h->at_s = h->from_s;
	h->points = WINDOW_POINTS;
	h->events = *events;
	h->data = data;
	VEC_PUSH(&p->waiting, h);
	return h->id;
}

void prometheus_history_cancel(struct prometheus *p, uint64_t id)
{
	for (size_t i = 0; i < p->waiting.count; i++) {
		struct history *h = p->waiting.items[i];
		if (h->id != id) {
			continue;
		}
		if (h->telling) {
			h->cancelled = true;
			return;
		}
		if (p->asking == h) {
			wire_cancel(p->wire, p->call);
			p->call = 0;
			p->asking = NULL;
		}
		take_out(p, h);
		history_free(h);
		return;
	}
}

void history_finish_all(struct prometheus *p)
{
	for (size_t i = 0; i < p->waiting.count; i++) {
		history_free(p->waiting.items[i]);
	}
	VEC_FINISH(&p->waiting);
}
