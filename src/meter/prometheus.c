/* Now: all wanted pods, batch after batch, and then a pause. */
#include "base/alloc.h"
#include "base/log.h"
#include "count.h"
#include "dcgm.h"
#include "gauges.h"
#include "meter/prometheus_history.h"
#include "prometheus_parts.h"
#include "prometheus_query.h"

#define SOURCE "prometheus"
/* Their answer is read in less than a millisecond. */
#define BATCH_MAX    16u
#define AGAIN_MS     15000
#define AGAIN_CAP_MS 240000
#define AHEAD_MAX_MS 60000

/* --- a query --- */

/* Where a better source is heard nothing is asked that would not be taken. */
static bool pod_is_asked_for(const struct prometheus *p, uint32_t i, struct latest_pod *ret_pod)
{
	latest_head_at(p->config.latest, i, ret_pod);
	return p->config.gauges || ret_pod->state != LATEST_FRESH ||
	       ret_pod->source == METERED_PROMETHEUS;
}

static void append_label(
	struct str *query, const struct prometheus *p, const char *label, bool names)
{
	struct latest_pod pod;
	const char *before = NULL;
	str_append_format(
		query, ",%s%s=~\"", p->part == PROMETHEUS_EXPORTED ? "exported_" : "", label);
	for (uint32_t i = p->cursor; i < p->end; i++) {
		bool needed = pod_is_asked_for(p, i, &pod);
		const char *text = names ? pod.name : pod.ns;
		/* Pods of a namespace are often neighbours here. */
		if (!needed || text_equals(before, text)) {
			continue;
		}
		str_append_text(query, before != NULL ? "|" : "");
		prometheus_append_exactly(query, text);
		before = text;
	}
	str_append_text(query, "\"");
}

/* Applications are scraped by other jobs than the one that is believed of GPUs. */
static void write_query(const struct prometheus *p, struct str *query)
{
	str_append_text(query, "{__name__=~\"");
	if (p->part == PROMETHEUS_GAUGES) {
		gauges_write_names(query);
		str_append_text(query, "\"");
	} else {
		str_append_text(query, DCGM_COMPUTE "|" DCGM_MEMORY "\"");
		prometheus_append_matcher(p, query, ",", "");
	}
	append_label(query, p, "namespace", false);
	append_label(query, p, "pod", true);
	str_append_format(query, "}[%llds]", (long long)(p->config.window_ms / 1000));
}

static void send_batch(struct prometheus *p)
{
	CLEANUP(str_finish) struct str query = STR_INIT(QUERY_TEXT_MAX);
	CLEANUP(str_finish) struct str form = STR_INIT(QUERY_TEXT_MAX * 3);
	write_query(p, &query);
	str_append_text(&form, "timeout=10s&query=");
	str_append_escaped(&form, str_text(&query));
	p->asking = NULL;
	prometheus_send(p, "/api/v1/query", &form);
}

/* --- its answer --- */

struct app {
	const char *ns, *pod;
	struct app_gauges gauges;
};

struct apps {
	VEC_FIELDS(struct app);
};

/* The last of its samples that is one; false: there is none. */
static bool last_point(const struct prometheus *p, const struct promql_series *s,
	struct figure *ret_value, int64_t *ret_policy_ms)
{
	if (s->point_count == 0) {
		return false;
	}
	const struct promql_point *last = &s->points[s->point_count - 1];
	*ret_value = last->value;
	*ret_policy_ms = prometheus_policy_ms(p, last->time_ms);
	return last->time_ms <= clock_wall(p->config.clock) + AHEAD_MAX_MS;
}

/* Only the names that Prometheus wrote, whoever else the application says that it is. */
static struct app *app_of_series(struct apps *apps, const struct series *s)
{
	const char *ns = series_label(s, "namespace"), *pod = series_label(s, "pod");
	if (ns == NULL || pod == NULL) {
		return NULL;
	}
	for (size_t i = 0; i < apps->count; i++) {
		if (strcmp(apps->items[i].pod, pod) == 0 && strcmp(apps->items[i].ns, ns) == 0) {
			return &apps->items[i];
		}
	}
	struct app app = {ns, pod, app_gauges_none()};
	app.gauges.at_ms = TIME_NEVER;
	VEC_PUSH(apps, app);
	return &apps->items[apps->count - 1];
}

static uint32_t take_gauge(
	struct apps *apps, const struct promql_series *s, struct figure value, int64_t at_ms)
{
	struct app_gauges probe = app_gauges_none();
	if (gauges_take(&probe, s->series.name, &s->series, value) == GAUGES_OTHER) {
		return 0;
	}
	struct app *app = app_of_series(apps, &s->series);
	if (app == NULL ||
		gauges_take(&app->gauges, s->series.name, &s->series, value) == GAUGES_ODD) {
		return 1;
	}
	app->gauges.at_ms = time_min(app->gauges.at_ms, at_ms);
	return 0;
}

/* Returns how many figures were odd. */
static uint32_t take_series(struct prometheus *p, struct apps *apps, const struct promql_series *s)
{
	struct metered m = {.source = METERED_PROMETHEUS};
	struct figure value = {0};
	if (!last_point(p, s, &value, &m.at_ms)) {
		return s->point_count > 0 ? 1 : 0;
	}
	if (p->part == PROMETHEUS_GAUGES) {
		return take_gauge(apps, s, value, m.at_ms);
	}
	enum dcgm_verdict verdict =
		dcgm_read(s->series.name, &s->series, value, p->config.matcher != NULL, &m);
	if (verdict == DCGM_TAKEN && latest_wants(p->config.latest, m.ns, m.pod)) {
		return gather_take(&p->gather, &m) ? 0 : 1;
	}
	return verdict == DCGM_ODD ? 1 : 0;
}

static void publish_round(struct prometheus *p, const struct apps *apps, uint32_t odd)
{
	uint32_t counts[LATEST_VERDICTS] = {0};
	for (size_t i = 0; i < p->gather.count; i++) {
		counts[latest_take(p->config.latest, &p->gather.items[i].m, NULL)]++;
	}
	for (size_t i = 0; i < apps->count; i++) {
		const struct app *a = &apps->items[i];
		if (a->gauges.engine != APP_NONE) {
			counts[latest_take_gauges(p->config.latest, a->ns, a->pod, &a->gauges)]++;
		}
	}
	for (int v = 0; v < LATEST_VERDICTS; v++) {
		count_figures(p->config.metrics, SOURCE,
			latest_verdict_name((enum latest_verdict)v), counts[v]);
	}
	count_figures(p->config.metrics, SOURCE, "odd", odd);
}

/* Where a Prometheus puts its own labels in front, the pod's are called otherwise. False: all was
 * asked of these pods. */
static bool next_part(struct prometheus *p)
{
	if (p->part == PROMETHEUS_PLAIN && p->config.matcher != NULL) {
		p->part = PROMETHEUS_EXPORTED;
		return true;
	}
	if (p->part != PROMETHEUS_GAUGES && p->config.gauges) {
		p->part = PROMETHEUS_GAUGES;
		return true;
	}
	return false;
}

static void take_batch(struct prometheus *p, const struct promql_answer *a)
{
	struct apps apps = {0};
	uint32_t odd = 0;
	gather_reset(&p->gather);
	for (uint32_t i = 0; i < a->series_count; i++) {
		odd += take_series(p, &apps, &a->series[i]);
	}
	publish_round(p, &apps, odd);
	VEC_FINISH(&apps);
	if (next_part(p)) {
		return;
	}
	p->part = PROMETHEUS_PLAIN;
	p->cursor = p->end;
	p->batch = p->batch + 8 < BATCH_MAX ? p->batch + 8 : BATCH_MAX;
}

/* --- every answer --- */

static void query_failed(struct prometheus *p, const char *verdict, const struct fault *f)
{
	count_read(p->config.metrics, SOURCE, verdict);
	if (!p->failing) {
		log_warn("use cannot be read", LOG_S("source", SOURCE), LOG_S("verdict", verdict),
			LOG_F(f));
	}
	p->failing = true;
	p->next_at = clock_mono(p->config.clock) + backoff_next(&p->backoff, &p->rng);
}

/* Smaller batches are answered; one that cannot get smaller is left out this time. */
static void ask_for_less(struct prometheus *p)
{
	p->part = PROMETHEUS_PLAIN;
	if (p->end - p->cursor <= 1) {
		p->cursor = p->end;
	}
	p->batch = (p->end - p->cursor) / 2 > 0 ? (p->end - p->cursor) / 2 : 1;
}

static void query_succeeded(struct prometheus *p, const struct promql_answer *a)
{
	count_read(p->config.metrics, SOURCE, a->series_count > 0 ? "ok" : "nothing");
	if (p->failing) {
		log_info("use is read again", LOG_S("source", SOURCE));
	}
	p->failing = false;
	p->backoff.attempt = 0;
	p->next_at = 0;
}

/* A body that tells of an error says more than its status. */
static int read_query_answer(struct prometheus *p, const struct wire_answer *w,
	struct promql_answer *ret, struct fault *f)
{
	*f = w->fault;
	if (f->kind != FAULT_NONE) {
		return -1;
	}
	if (w->status == 401 || w->status == 403) {
		return fault_set(f, FAULT_DENIED, "status %d", w->status);
	}
	int result = promql_decode(w->body, w->body_size, &p->arena, ret, f);
	if (w->status == 200 || (result < 0 && f->kind == FAULT_LIMIT)) {
		return result;
	}
	struct fault told = *f;
	return fault_set(f, FAULT_TRANSIENT, "status %d: %.200s", w->status, told.message);
}

static void on_query_done(void *data, const struct wire_answer *answer)
{
	struct prometheus *p = data;
	struct promql_answer a = {0};
	struct history *asking = p->asking;
	struct fault f = {0};
	p->call = 0;
	p->asking = NULL;
	bool good = read_query_answer(p, answer, &a, &f) == 0;
	if (good) {
		query_succeeded(p, &a);
	} else if (f.kind == FAULT_LIMIT) {
		count_read(p->config.metrics, SOURCE, count_verdict(&f));
	} else {
		query_failed(p, count_verdict(&f), &f);
	}
	if (asking != NULL) {
		history_answered(p, asking, &a, good ? NULL : &f);
	} else if (good) {
		take_batch(p, &a);
	} else if (f.kind == FAULT_LIMIT) {
		ask_for_less(p);
	} else {
		/* Whatever is the matter with these, the others have their turn. */
		p->part = PROMETHEUS_PLAIN;
		p->cursor = p->end;
	}
	arena_reset(&p->arena);
}

static const struct wire_events events = {.on_done = on_query_done};

void prometheus_send(struct prometheus *p, const char *path, const struct str *form)
{
	struct wire_request request = {.method = WIRE_POST,
		.path = path,
		.content_type = "application/x-www-form-urlencoded",
		.bearer = p->token,
		.body = str_text(form),
		.body_size = form->len,
		.timeout_ms = PROMETHEUS_TIMEOUT_MS,
		.limit_bytes = PROMQL_BYTES_MAX};
	p->call = wire_send(p->wire, &request, &events, p);
}

/* --- turns --- */

static void begin_round(struct prometheus *p, int64_t now)
{
	int64_t every = p->config.every_ms;
	p->round_at = now + every - (int64_t)rng_below(&p->rng, (uint64_t)every / 10 + 1);
	p->in_round = true;
	p->part = PROMETHEUS_PLAIN;
	p->cursor = p->end = 0;
}

/* The pods may have become fewer since. False: the round is over. */
static bool next_batch(struct prometheus *p)
{
	struct latest_pod pod;
	uint32_t count = latest_count(p->config.latest);
	while (p->cursor < count && p->part == PROMETHEUS_PLAIN &&
		!pod_is_asked_for(p, p->cursor, &pod)) {
		p->cursor++;
	}
	if (p->cursor >= count) {
		p->in_round = false;
		return false;
	}
	p->end = count - p->cursor < p->batch ? count : p->cursor + p->batch;
	return true;
}

static bool ask_history(struct prometheus *p)
{
	if (p->waiting.count == 0) {
		return false;
	}
	p->history_next = false;
	p->asking = p->waiting.items[0];
	history_send(p, p->asking);
	return true;
}

static void query_next(struct prometheus *p, int64_t now)
{
	if (p->history_next && ask_history(p)) {
		return;
	}
	if (!p->in_round && now >= p->round_at) {
		begin_round(p, now);
	}
	if (p->in_round && next_batch(p)) {
		p->history_next = true;
		send_batch(p);
		return;
	}
	(void)ask_history(p);
}

void prometheus_step(struct prometheus *p, int64_t now, bool reads)
{
	if (reads && p->wire != NULL && p->call == 0 && now >= p->next_at) {
		query_next(p, now);
	}
}

int64_t prometheus_deadline(const struct prometheus *p, bool reads)
{
	if (!reads || p->wire == NULL || p->call != 0) {
		return TIME_NEVER;
	}
	int64_t at = p->in_round || p->waiting.count > 0 ? 0 : p->round_at;
	return at > p->next_at ? at : p->next_at;
}

/* --- its life --- */

static void query_cancel(struct prometheus *p)
{
	if (p->call != 0) {
		wire_cancel(p->wire, p->call);
		p->call = 0;
		p->asking = NULL;
	}
}

void prometheus_use(struct prometheus *p, struct wire *wire)
{
	if (p->wire != wire) {
		query_cancel(p);
		p->wire = wire;
	}
}

void prometheus_token(struct prometheus *p, const char *token)
{
	text_set(&p->token, token);
}

struct prometheus *prometheus_create(const struct prometheus_config *config)
{
	struct prometheus *p = xcalloc(1, sizeof *p);
	p->config = *config;
	p->batch = BATCH_MAX;
	p->backoff = (struct backoff){.first_ms = AGAIN_MS, .cap_ms = AGAIN_CAP_MS};
	p->arena.block_bytes = 16384;
	rng_seed(&p->rng, config->seed);
	gather_init(&p->gather);
	return p;
}

void prometheus_destroy(struct prometheus *p)
{
	if (p == NULL) {
		return;
	}
	query_cancel(p);
	history_finish_all(p);
	gather_finish(&p->gather);
	arena_finish(&p->arena);
	free(p->token);
	free(p);
}
