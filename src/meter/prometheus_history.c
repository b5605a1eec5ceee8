/* The past of some pods, one day after another: first of compute, then of memory, in windows that
 * fit into an answer. */
#include "meter/prometheus_history.h"

#include "base/alloc.h"
#include "dcgm.h"
#include "prometheus_query.h"

#define WINDOW_POINTS 360 /* each series has at most so many in one answer */
#define TOLD_AT_ONCE  256
#define DAY_S	      86400

/* What stays of a series: whose it is. Exporters add much else, and themselves, so that a pod's
 * series would be another one after each of their restarts. */
#define KEPT_LABELS                                                                                \
	"namespace,pod,container,exported_namespace,exported_pod,exported_container,pod_uid,UUID," \
	"uuid,gpu_uuid,source,attribution"

struct history {
	uint64_t id;
	char *ns, *pods; /* owned */
	int64_t to_s;
	int64_t step_s[2]; /* of compute, of memory */
	int64_t day_s;	   /* it is asked for the day that begins after this */
	int64_t at_s;	   /* the end of the last window of it */
	int64_t points;	   /* of a window */
	bool memory;	   /* compute of this day was told */
	uint32_t failures;
	bool telling, cancelled;
	struct history_end end;
	struct history_events events;
	void *data; /* borrowed */
};

/* So often in a row, with the pauses of the reader in between. */
#define FAILURES_MAX 8

static int64_t step_of(const struct history *h)
{
	return h->step_s[h->memory ? 1 : 0];
}

static int64_t day_end(const struct history *h)
{
	return time_min(h->day_s + DAY_S, h->to_s);
}

static int64_t window_end(const struct history *h)
{
	return time_min(h->at_s + h->points * step_of(h), day_end(h));
}

static void append_figure(
	const struct prometheus *p, struct str *query, const struct history *h, const char *prefix)
{
	str_append_format(query, "max by(" KEPT_LABELS ")(%s_over_time(%s{",
		h->memory ? "max" : "avg", h->memory ? DCGM_MEMORY : DCGM_COMPUTE);
	prometheus_append_matcher(p, query, "", ",");
	str_append_format(query, "GPU_I_ID=\"\",%snamespace=\"", prefix);
	prometheus_append_quoted(query, h->ns);
	str_append_format(query, "\",%spod=~\"", prefix);
	prometheus_append_quoted(query, h->pods);
	str_append_format(query, "\"}[%llds]))", (long long)step_of(h));
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
	/* A value at a time is of the step that ends there. */
	str_append_format(&form, "timeout=10s&start=%lld&end=%lld&step=%lld&query=",
		(long long)(h->at_s + step_of(h)), (long long)window_end(h), (long long)step_of(h));
	str_append_escaped(&form, str_text(&query));
	prometheus_send(p, "/api/v1/query_range", &form);
}

/* --- its answer --- */

static void pass_on(struct history *h, const struct metered *points, size_t count)
{
	if (count > 0 && !h->cancelled) {
		h->end.points += count;
		h->events.on_points(h->data, points, count);
	}
}

static void tell_series(struct prometheus *p, struct history *h, const struct promql_series *s)
{
	/* Who is told may have had enough. */
	struct metered points[TOLD_AT_ONCE];
	size_t count = 0;
	for (uint32_t i = 0; i < s->point_count && !h->cancelled; i++) {
		struct metered m = {.source = METERED_PROMETHEUS,
			.at_ms = prometheus_policy_ms(p, s->points[i].time_ms)};
		if (dcgm_read(h->memory ? DCGM_MEMORY : DCGM_COMPUTE, &s->series,
			    s->points[i].value, p->config.matcher != NULL, &m) != DCGM_TAKEN) {
			h->end.odd++;
			continue;
		}
		points[count++] = m;
		if (count == TOLD_AT_ONCE) {
			pass_on(h, points, count);
			count = 0;
		}
	}
	pass_on(h, points, count);
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

static void finish_history(struct prometheus *p, struct history *h, const struct fault *f)
{
	take_out(p, h);
	h->end.fault = f;
	h->end.told_ms = h->day_s * 1000;
	h->events.on_end(h->data, &h->end);
	history_free(h);
}

/* True: there is a window left. */
static bool history_next_window(struct history *h)
{
	h->at_s = window_end(h);
	if (h->at_s < day_end(h)) {
		return true;
	}
	h->day_s = h->memory ? day_end(h) : h->day_s;
	h->memory = !h->memory;
	h->at_s = h->day_s;
	/* What was too much on one day need not be on another. */
	h->points = h->points * 2 < WINDOW_POINTS ? h->points * 2 : WINDOW_POINTS;
	return h->day_s < h->to_s;
}

void history_answered(struct prometheus *p, struct history *h, const struct promql_answer *a,
	const struct fault *f)
{
	if (f != NULL) {
		bool too_much = f->kind == FAULT_LIMIT;
		if (too_much && h->points > 1) {
			h->points /= 2;
		} else if (too_much || ++h->failures == FAILURES_MAX || f->kind == FAULT_DENIED) {
			finish_history(p, h, f);
		}
		return;
	}
	h->failures = 0;
	h->end.partial = h->end.partial || a->warning_count > 0;
	h->telling = true;
	for (uint32_t i = 0; i < a->series_count; i++) {
		tell_series(p, h, &a->series[i]);
	}
	h->telling = false;
	if (h->cancelled) {
		take_out(p, h);
		history_free(h);
	} else if (!history_next_window(h)) {
		finish_history(p, h, NULL);
	}
}

/* --- asking --- */

static bool is_printable(const char *text)
{
	for (; *text != '\0'; text++) {
		if (*text < ' ' || *text > '~') {
			return false;
		}
	}
	return true;
}

static int history_check_ask(
	const struct prometheus *p, const struct history_ask *ask, struct fault *f)
{
	int64_t day = (int64_t)DAY_S * 1000, compute = ask->compute_step_ms;
	int64_t memory = ask->memory_step_ms;
	if (p->waiting.count >= PROMETHEUS_HISTORY_MAX) {
		return fault_set(f, FAULT_LIMIT, "%d wait already", PROMETHEUS_HISTORY_MAX);
	}
	if (text_empty(ask->ns) || !is_printable(ask->ns) || strlen(ask->ns) > 63 ||
		text_empty(ask->pods) || !is_printable(ask->pods) ||
		strlen(ask->pods) > HISTORY_PODS_MAX) {
		return fault_set(f, FAULT_INVALID, "no names of pods, or names that cannot be");
	}
	if (compute < HISTORY_STEP_MIN_MS || compute % 1000 != 0 || memory < compute ||
		memory % compute != 0 || memory > day || day % memory != 0) {
		return fault_set(f, FAULT_INVALID, "steps of %lld and %lld ms do not make a day",
			(long long)compute, (long long)memory);
	}
	if (ask->from_ms < 0 || ask->to_ms <= ask->from_ms ||
		(ask->to_ms - ask->from_ms) / day >= HISTORY_DAYS_MAX) {
		return fault_set(f, FAULT_INVALID, "not between 0 and %d days", HISTORY_DAYS_MAX);
	}
	return 0;
}

uint64_t prometheus_history(struct prometheus *p, const struct history_ask *ask,
	const struct history_events *events, void *data, struct fault *ret_fault)
{
	if (history_check_ask(p, ask, ret_fault) < 0) {
		return 0;
	}
	/* Steps lie where they would lie for anybody, so that two askers are told the same. */
	int64_t from = ask->from_ms / ask->memory_step_ms * ask->memory_step_ms;
	/* Of a step that has not ended only a part would be told. */
	int64_t to = time_min(ask->to_ms, clock_wall(p->config.clock)) / ask->memory_step_ms *
		     ask->memory_step_ms;
	if (to <= from) {
		fault_set(ret_fault, FAULT_INVALID, "no step has ended in that time yet");
		return 0;
	}
	struct history *h = xcalloc(1, sizeof *h);
	h->id = ++p->last_id;
	h->ns = xstrdup(ask->ns);
	h->pods = xstrdup(ask->pods);
	h->step_s[0] = ask->compute_step_ms / 1000;
	h->step_s[1] = ask->memory_step_ms / 1000;
	h->day_s = h->at_s = from / 1000;
	h->to_s = to / 1000;
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
