/* One reading a target at a time: asked, gathered piece by piece, taken when it is whole. */
#include "meter/scrape.h"

#include "base/log.h"
#include "base/rand.h"
#include "formats/exposition.h"
#include "count.h"
#include "dcgm.h"
#include "gather.h"
#include "gauges.h"
#include "targets.h"

#define ACCEPT	     "text/plain;version=0.0.4"
#define AGAIN_CAP_MS 240000
#define AHEAD_MAX_MS 60000 /* a time that is later than this is nobody's */

struct scrape {
	struct scrape_config config;
	struct wire *wire; /* borrowed; NULL: nobody can be asked */
	struct rng rng;
	struct targets targets;
	uint32_t in_flight;
	size_t first; /* whose turn it is */
	int64_t deadline;
};

struct reading {
	struct scrape *s;	  /* borrowed */
	struct target *target;	  /* borrowed */
	struct exposition *text;  /* owned */
	struct gather gather;	  /* of agents and exporters */
	struct app_gauges gauges; /* of applications */
	uint64_t call;
	int64_t asked_at, asked_policy_ms;
	uint32_t odd, known, left_out;
	struct fault fault; /* of the text */
};

/* --- what it says --- */

/* A time of its own counts, if it has one. */
static bool sample_time(const struct reading *r, const struct exposition_sample *s, int64_t *ret_ms)
{
	const struct clock *clock = r->s->config.clock;
	int64_t age = s->has_time ? clock_wall(clock) - s->time_ms : 0;
	*ret_ms = s->has_time ? clock_policy(clock) - age : r->asked_policy_ms;
	return age > -AHEAD_MAX_MS;
}

static int take_pod_sample(struct reading *r, const struct exposition_sample *s, struct fault *f)
{
	struct metered m = {0};
	enum dcgm_verdict verdict = dcgm_read(s->series.name, &s->series, s->value, false, &m);
	if (verdict == DCGM_OTHER) {
		return 0;
	}
	r->known++;
	if (verdict == DCGM_ODD || !sample_time(r, s, &m.at_ms)) {
		r->odd++;
		return 0;
	}
	if (!latest_wants(r->s->config.latest, m.ns, m.pod)) {
		return 0;
	}
	m.source = r->target->kind == TARGET_AGENT ? METERED_AGENT : METERED_EXPORTER;
	return gather_take(&r->gather, &m)
		       ? 0
		       : fault_set(f, FAULT_LIMIT, "more than %d containers", GATHER_MAX);
}

static int on_exposition_sample(void *data, const struct exposition_sample *s, struct fault *f)
{
	struct reading *r = data;
	if (r->target->kind != TARGET_APP) {
		return take_pod_sample(r, s, f);
	}
	enum gauges_verdict verdict = gauges_take(&r->gauges, s->series.name, &s->series, s->value);
	r->known += verdict != GAUGES_OTHER;
	r->odd += verdict == GAUGES_ODD;
	return 0;
}

/* --- its end --- */

static void reading_free(struct reading *r)
{
	r->target->reading = NULL;
	r->s->in_flight--;
	r->s->deadline = 0;
	exposition_destroy(r->text);
	gather_finish(&r->gather);
	free(r);
}

static void on_target_dropped(void *data, struct target *t)
{
	struct scrape *s = data;
	if (t->reading != NULL) {
		wire_cancel(s->wire, t->reading->call);
		reading_free(t->reading);
	}
}

static int64_t every_ms(const struct scrape *s, const struct target *t)
{
	return t->kind == TARGET_APP ? s->config.apps_every_ms : s->config.every_ms;
}

static void scrape_failed(struct reading *r, const char *verdict, const struct fault *f)
{
	struct scrape *s = r->s;
	struct target *t = r->target;
	const char *kind = target_kind_name(t->kind);
	count_read(s->config.metrics, kind, verdict);
	if (!t->failing) {
		log_warn("use cannot be read", LOG_S("source", kind), LOG_S("ns", t->row.ns),
			LOG_S("pod", t->row.name), LOG_S("verdict", verdict), LOG_F(f));
	}
	t->failing = true;
	t->backoff.first_ms = 2 * every_ms(s, t);
	t->backoff.cap_ms = AGAIN_CAP_MS;
	t->next_at = clock_mono(s->config.clock) + backoff_next(&t->backoff, &s->rng);
}

static void publish_reading(struct reading *r)
{
	struct scrape *s = r->s;
	const char *kind = target_kind_name(r->target->kind);
	uint32_t counts[LATEST_VERDICTS] = {0};
	for (size_t i = 0; i < r->gather.count; i++) {
		counts[latest_take(s->config.latest, &r->gather.items[i].m, r->target->node)]++;
	}
	if (r->gauges.engine != APP_NONE) {
		r->gauges.at_ms = r->asked_policy_ms;
		counts[latest_take_gauges(
			s->config.latest, r->target->row.ns, r->target->row.name, &r->gauges)]++;
	}
	for (int v = 0; v < LATEST_VERDICTS; v++) {
		count_figures(s->config.metrics, kind, latest_verdict_name((enum latest_verdict)v),
			counts[v]);
	}
	count_figures(s->config.metrics, kind, "odd", r->odd);
}

/* All of it was read. */
static void scrape_succeeded(struct reading *r)
{
	struct scrape *s = r->s;
	struct target *t = r->target;
	int64_t every = every_ms(s, t);
	publish_reading(r);
	count_read(s->config.metrics, target_kind_name(t->kind), r->known > 0 ? "ok" : "nothing");
	if (t->failing) {
		log_info("use is read again", LOG_S("source", target_kind_name(t->kind)),
			LOG_S("ns", t->row.ns), LOG_S("pod", t->row.name));
	}
	t->failing = false;
	t->backoff.attempt = 0;
	/* The jitter keeps them apart. */
	t->next_at = r->asked_at + every - (int64_t)rng_below(&s->rng, (uint64_t)every / 10 + 1);
}

static void reading_finish(struct reading *r, const struct wire_answer *a)
{
	struct fault f = a->fault;
	if (r->fault.kind != FAULT_NONE) {
		scrape_failed(r, count_verdict(&r->fault), &r->fault);
	} else if (f.kind != FAULT_NONE) {
		scrape_failed(r, count_verdict(&f), &f);
	} else if (a->status != 200) {
		fault_set(&f, FAULT_TRANSIENT, "status %d", a->status);
		scrape_failed(r, "status", &f);
	} else if (exposition_end(r->text, &f) < 0) {
		scrape_failed(r, count_verdict(&f), &f);
	} else {
		scrape_succeeded(r);
	}
}

static bool on_scrape_data(void *data, int status, const char *p, size_t n)
{
	struct reading *r = data;
	(void)status;
	return exposition_feed(r->text, p, n, &r->fault) == 0;
}

static void on_scrape_done(void *data, const struct wire_answer *answer)
{
	struct reading *r = data;
	reading_finish(r, answer);
	reading_free(r);
}

static const struct wire_events events = {.on_data = on_scrape_data, .on_done = on_scrape_done};

static void scrape_target(struct scrape *s, struct target *t, int64_t now)
{
	struct wire_request request = {.method = WIRE_GET,
		.path = text_or(t->path, "/metrics"),
		.to = t->to,
		.accept = ACCEPT,
		.timeout_ms = SCRAPE_TIMEOUT_MS,
		.stream = true};
	struct reading *r = xcalloc(1, sizeof *r);
	r->s = s;
	r->target = t;
	r->asked_at = now;
	r->asked_policy_ms = clock_policy(s->config.clock);
	r->gauges = app_gauges_none();
	gather_init(&r->gather);
	r->text = exposition_create(on_exposition_sample, r);
	if (t->kind == TARGET_APP) {
		exposition_limit(r->text,
			(struct exposition_limits){SCRAPE_APP_BYTES_MAX, SCRAPE_APP_SAMPLES_MAX});
	}
	t->reading = r;
	s->in_flight++;
	r->call = wire_send(s->wire, &request, &events, r);
}

/* --- turns --- */

/* An answer that drips is no better than none. */
static void end_late(struct scrape *s, struct target *t, int64_t now)
{
	struct fault f = {0};
	if (now < t->reading->asked_at + SCRAPE_TIMEOUT_MS) {
		s->deadline = time_min(s->deadline, t->reading->asked_at + SCRAPE_TIMEOUT_MS);
		return;
	}
	fault_set(&f, FAULT_TRANSIENT, "no end after %d s", SCRAPE_TIMEOUT_MS / 1000);
	scrape_failed(t->reading, "unreachable", &f);
	on_target_dropped(s, t);
}

/* It begins after the one that was asked last, so that everybody has a turn. */
static void scrape_due_targets(struct scrape *s, int64_t now)
{
	size_t count = s->targets.all.rows.count, last = s->first;
	uint32_t slow = 0;
	for (size_t i = 0; i < count; i++) {
		const struct target *t = target_at(&s->targets, i);
		slow += t->reading != NULL && t->failing;
	}
	for (size_t k = 0; k < count; k++) {
		size_t i = (s->first + k) % count;
		struct target *t = target_at(&s->targets, i);
		bool wanted = t->kind == TARGET_APP
				      ? latest_wants(s->config.latest, t->row.ns, t->row.name)
				      : latest_wants_node(s->config.latest, t->node);
		/* Those that did not answer last time get half of the places. */
		bool has_slot = s->in_flight < SCRAPE_IN_FLIGHT_MAX &&
				(!t->failing || slow < SCRAPE_IN_FLIGHT_MAX / 2);
		if (t->reading != NULL) {
			end_late(s, t, now);
		} else if (!wanted) {
			t->next_at = t->next_at > now ? now : t->next_at;
		} else if (now < t->next_at) {
			s->deadline = time_min(s->deadline, t->next_at);
		} else if (has_slot) {
			slow += t->failing ? 1 : 0;
			last = i + 1;
			scrape_target(s, t, now);
		}
	}
	s->first = last;
}

static void drop_all(struct scrape *s)
{
	for (size_t i = 0; i < s->targets.all.rows.count && s->in_flight > 0; i++) {
		on_target_dropped(s, target_at(&s->targets, i));
	}
}

void scrape_step(struct scrape *s, int64_t now, bool reads)
{
	if (!reads) {
		drop_all(s);
	}
	if (reads && s->wire != NULL && now >= s->deadline) {
		s->deadline = now + s->config.every_ms / 10;
		scrape_due_targets(s, now);
	}
}

int64_t scrape_deadline(const struct scrape *s, bool reads)
{
	return reads && s->wire != NULL ? s->deadline : TIME_NEVER;
}

void scrape_observe(struct scrape *s, const struct change *c)
{
	if (targets_observe(&s->targets, c)) {
		s->deadline = 0;
	}
}

void scrape_use(struct scrape *s, struct wire *wire)
{
	if (s->wire == wire) {
		return;
	}
	drop_all(s);
	s->wire = wire;
	s->deadline = 0;
}

bool scrape_crowded(const struct scrape *s)
{
	return s->targets.crowded;
}

/* --- which pods are exporters --- */

int scrape_exporter_parse(
	const char *text, struct arena *arena, struct scrape_exporter *ret, struct fault *ret_fault)
{
	struct view rest = view_of(text), ns, key, value;
	struct scrape_exporter e = {0};
	if (!view_next(&rest, '/', &ns) || !view_next(&rest, '=', &key) ||
		!view_next(&rest, ':', &value) || ns.n == 0 || key.n == 0 || value.n == 0 ||
		(rest.n > 0 && !parse_i64(rest, 1, 65535, &e.port))) {
		return fault_set(ret_fault, FAULT_INVALID,
			"\"%.120s\": write NAMESPACE/LABEL=VALUE or NAMESPACE/LABEL=VALUE:PORT",
			text);
	}
	e.ns = arena_strndup(arena, ns.p, ns.n);
	e.key = arena_strndup(arena, key.p, key.n);
	e.value = arena_strndup(arena, value.p, value.n);
	*ret = e;
	return 0;
}

/* --- its life --- */

struct scrape *scrape_create(const struct scrape_config *config)
{
	struct scrape *s = xcalloc(1, sizeof *s);
	s->config = *config;
	rng_seed(&s->rng, config->seed);
	targets_init(&s->targets, config);
	s->targets.drop = on_target_dropped;
	s->targets.data = s;
	return s;
}

void scrape_destroy(struct scrape *s)
{
	if (s == NULL) {
		return;
	}
	targets_finish(&s->targets);
	free(s);
}
