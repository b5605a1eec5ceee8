/* The readers, the world that says whose use is wanted, and the clients. */
#include "usages.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/number.h"
#include "base/rand.h"
#include "base/str.h"
#include "io/http.h"
#include "json/build.h"
#include "kube/file.h"
#include "meter/latest.h"
#include "meter/matcher.h"
#include "meter/prometheus.h"
#include "meter/scrape.h"
#include "model/names.h"

/* Pods looked at in one turn, some tenths of a millisecond. */
#define WALK_PODS      500
#define WALK_EVERY_MS  5000
#define FILES_EVERY_MS 60000
#define CONNECT_MS     2000
/* Many a Prometheus scrapes once a minute. */
#define WINDOW_MS      150000
#define APPS_EVERY_MS  60000
#define FILE_BYTES_MAX ((size_t)256 * 1024)
#define AGENT_NAME     NAME_FIELD_MANAGER "/" ALIQUOT_VERSION

struct usages {
	struct usages_config config;
	struct arena arena;		     /* of the exporter's names */
	struct latest *latest;		     /* owned */
	struct scrape *scrape;		     /* owned */
	struct http_client *pods;	     /* owned */
	struct prometheus *prometheus;	     /* owned; NULL: none is read */
	struct http_client *prometheus_http; /* owned */
	char *authorities;		     /* owned; NULL: the system's */
	int64_t files_at;
	/* the walk over the world */
	int64_t walk_at;
	bool walking;
	bool crowding, crowded; /* in this walk, in the last one: more than are kept */
	enum world_class class;
	size_t at; /* in its list */
};

/* --- whose use is wanted --- */

/* The use of the pod is wanted, if it runs. False: there are too many. */
static bool want_usage(struct usages *u, const struct world_pod *p)
{
	if (p->node == WORLD_NONE || p->phase != POD_RUNNING) {
		return true;
	}
	const char *node = world_node_at(u->config.world, p->node)->name;
	return latest_want(u->latest, p->ns, world_pod_name(p), world_pod_uid(p), node);
}

/* Tenants first, then pods of whole GPUs. */
static void walk_pods(struct usages *u, int64_t now)
{
	for (int budget = WALK_PODS; budget > 0; budget--) {
		if (u->at < world_class_count(u->config.world, u->class)) {
			const struct world_pod *p =
				world_class_at(u->config.world, u->class, u->at++);
			u->crowding = !want_usage(u, p) || u->crowding;
		} else if (u->class == WORLD_TENANT) {
			u->class = WORLD_WHOLE;
			u->at = 0;
		} else {
			latest_want_end(u->latest);
			u->walking = false;
			u->crowded = u->crowding;
			u->walk_at = now + WALK_EVERY_MS;
			return;
		}
	}
}

/* --- the files of the Prometheus --- */

static int read_text_file(const char *path, char **ret_text, struct fault *f)
{
	*ret_text = NULL;
	return text_empty(path) ? 0 : file_read(path, FILE_BYTES_MAX, ret_text, f);
}

static int read_bearer_token(struct usages *u, struct fault *f)
{
	CLEANUP(cleanup_free) char *token = NULL;
	if (read_text_file(u->config.options->usage_prometheus_token, &token, f) < 0) {
		return fault_wrap(f, "usage-prometheus-token");
	}
	size_t n = token != NULL ? strlen(token) : 0;
	while (n > 0 && strchr(" \t\r\n", token[n - 1]) != NULL) {
		token[--n] = '\0';
	}
	prometheus_token(u->prometheus, token);
	if (token != NULL) {
		explicit_bzero(token, strlen(token));
	}
	return 0;
}

static int read_authorities(struct usages *u, struct fault *f)
{
	CLEANUP(cleanup_free) char *text = NULL;
	if (read_text_file(u->config.options->usage_prometheus_ca, &text, f) < 0) {
		return fault_wrap(f, "usage-prometheus-ca");
	}
	if (u->prometheus_http != NULL && text_equals(text, u->authorities)) {
		return 0;
	}
	const struct http_client_config config = {.base_url = u->config.options->usage_prometheus,
		.ca_pem = text,
		.user_agent = AGENT_NAME,
		.connect_timeout_ms = CONNECT_MS,
		.connections = 2};
	if (u->prometheus_http == NULL) {
		u->prometheus_http = http_client_create(u->config.loop, &config, f);
	} else if (http_client_retarget(u->prometheus_http, &config, f) < 0) {
		return fault_wrap(f, "usage-prometheus-ca");
	}
	if (u->prometheus_http == NULL) {
		return fault_wrap(f, "usage-prometheus");
	}
	free(u->authorities);
	u->authorities = TAKE(text);
	return 0;
}

/* --- turns --- */

void usages_observe(struct usages *u, const struct change *c)
{
	scrape_observe(u->scrape, c);
}

static void usages_step(void *self, const struct turn *turn)
{
	struct usages *u = self;
	if (!turn->leads) {
		scrape_step(u->scrape, turn->now, false);
		return;
	}
	if (!u->walking && turn->now >= u->walk_at) {
		latest_want_begin(u->latest);
		u->walking = true;
		u->crowding = false;
		u->class = WORLD_TENANT;
		u->at = 0;
	}
	if (u->walking) {
		walk_pods(u, turn->now);
	}
	scrape_step(u->scrape, turn->now, true);
	if (u->prometheus != NULL) {
		struct fault f = {0};
		bool due = turn->now >= u->files_at;
		u->files_at = due ? turn->now + FILES_EVERY_MS : u->files_at;
		/* Files that cannot be read now leave what was read before. */
		if (due && (read_authorities(u, &f) < 0 || read_bearer_token(u, &f) < 0)) {
			log_error("the files of the Prometheus cannot be read", LOG_F(&f));
		}
		prometheus_step(u->prometheus, turn->now, true);
	}
}

static int64_t usages_deadline(const void *self, const struct turn *turn)
{
	const struct usages *u = self;
	if (!turn->leads) {
		return TIME_NEVER;
	}
	int64_t at = u->walking ? 0 : u->walk_at;
	at = time_min(at, scrape_deadline(u->scrape, true));
	return u->prometheus != NULL ? time_min(at, prometheus_deadline(u->prometheus, true)) : at;
}

bool usages_crowded(const struct usages *u)
{
	return u->crowded || scrape_crowded(u->scrape);
}

struct prometheus *usages_prometheus(const struct usages *u)
{
	return u->prometheus;
}

const struct latest *usages_latest(const struct usages *u)
{
	return u->latest;
}

/* --- GET /debug/usage: what is not known is null --- */

static void known_at(struct build *b, const char *key, int64_t value)
{
	build_key(b, key);
	if (value == METERED_ABSENT) {
		build_null(b);
	} else {
		build_i64(b, value);
	}
}

static void write_pod_usage(struct build *b, const struct latest_pod *p)
{
	build_begin_object(b);
	build_text_at(b, "ns", p->ns);
	build_text_at(b, "name", p->name);
	build_text_at(b, "node", p->node);
	build_text_at(b, "state", latest_state_name(p->state));
	build_text_at(
		b, "source", p->state != LATEST_UNKNOWN ? metered_source_name(p->source) : NULL);
	build_array_at(b, "figures");
	for (uint32_t i = 0; i < p->figure_count; i++) {
		const struct metered_figure *f = &p->figures[i];
		build_begin_object(b);
		build_text_at(b, "container", f->container);
		build_text_at(b, "uuid", f->uuid);
		known_at(b, "milli_percent", f->compute);
		known_at(b, "mem_bytes", f->mem_bytes);
		build_bool_at(b, "estimated", f->estimated);
		build_text_at(b, "basis", f->basis);
		build_i64_at(b, "at_ms", f->at_ms);
		build_i64_at(b, "age_ms", f->age_ms);
		build_end(b);
	}
	build_end(b);
	if (p->gauges_state != LATEST_UNKNOWN) {
		build_object_at(b, "application");
		build_text_at(b, "state", latest_state_name(p->gauges_state));
		build_text_at(b, "engine", app_engine_name(p->gauges.engine));
		known_at(b, "kv_used_millionths", p->gauges.kv_used);
		known_at(b, "waiting", p->gauges.waiting);
		known_at(b, "running", p->gauges.running);
		known_at(b, "preemptions", p->gauges.preemptions);
		known_at(b, "pool_units", p->gauges.pool_units);
		known_at(b, "pool_bytes", p->gauges.pool_bytes);
		build_end(b);
	}
	build_end(b);
}

void usages_write(const struct usages *u, struct str *out)
{
	const struct latest *l = u->latest;
	struct build b = build_into(out);
	build_begin_object(&b);
	build_array_at(&b, "pods");
	for (uint32_t i = 0; i < latest_count(l); i++) {
		struct latest_pod p;
		latest_at(l, i, &p);
		write_pod_usage(&b, &p);
	}
	build_end(&b);
	build_end(&b);
}

/* --- its life --- */

static int make_scrape(struct usages *u, struct fault *f)
{
	const struct options *o = u->config.options;
	int64_t every_ms = o->usage_s * 1000;
	struct http_client_config client = {.base_url = "http://pods.invalid",
		.user_agent = AGENT_NAME,
		.connect_timeout_ms = CONNECT_MS,
		.connections = SCRAPE_IN_FLIGHT_MAX};
	struct scrape_config config = {.clock = u->config.clock,
		.metrics = u->config.metrics,
		.latest = u->latest,
		.seed = rng_system_seed(),
		.every_ms = every_ms,
		.apps_every_ms = larger_of(every_ms, APPS_EVERY_MS),
		.agents = o->usage_agents,
		.agent_ns = o->agent_namespace,
		.apps = text_equals(o->usage_gauges, "pods")};
	if (!text_empty(o->usage_exporter) &&
		scrape_exporter_parse(o->usage_exporter, &u->arena, &config.exporter, f) < 0) {
		return fault_wrap(f, "usage-exporter");
	}
	u->scrape = scrape_create(&config);
	u->pods = http_client_create(u->config.loop, &client, f);
	if (u->pods == NULL) {
		return -1;
	}
	scrape_use(u->scrape, http_client_wire(u->pods));
	return 0;
}

static int check_prometheus(const struct options *o, struct fault *f)
{
	bool none = text_empty(o->usage_prometheus);
	if (none && text_equals(o->usage_gauges, "prometheus")) {
		return fault_set(f, FAULT_INVALID,
			"usage-gauges is \"prometheus\"; write its URL to usage-prometheus");
	}
	if (!text_empty(o->usage_prometheus_token) &&
		strncmp(o->usage_prometheus, "https://", 8) != 0) {
		return fault_set(f, FAULT_INVALID,
			"usage-prometheus-token: a token is sent over https:// only");
	}
	if (text_empty(o->usage_prometheus_matcher)) {
		return 0;
	}
	if (none) {
		return fault_set(f, FAULT_INVALID,
			"usage-prometheus-matcher is there; write the URL to usage-prometheus");
	}
	return prometheus_matcher_check(o->usage_prometheus_matcher, f) < 0
		       ? fault_wrap(f, "usage-prometheus-matcher")
		       : 0;
}

static int make_prometheus(struct usages *u, struct fault *f)
{
	const struct options *o = u->config.options;
	struct prometheus_config config = {.clock = u->config.clock,
		.metrics = u->config.metrics,
		.latest = u->latest,
		.seed = rng_system_seed(),
		.every_ms = o->usage_s * 1000,
		.window_ms = larger_of(WINDOW_MS, 4 * o->usage_s * 1000),
		.gauges = text_equals(o->usage_gauges, "prometheus"),
		.matcher = text_empty(o->usage_prometheus_matcher) ? NULL
								   : o->usage_prometheus_matcher};
	if (check_prometheus(o, f) < 0 || text_empty(o->usage_prometheus)) {
		return f->kind == FAULT_NONE ? 0 : -1;
	}
	u->prometheus = prometheus_create(&config);
	if (read_authorities(u, f) < 0 || read_bearer_token(u, f) < 0) {
		return -1;
	}
	u->files_at = clock_mono(u->config.clock) + FILES_EVERY_MS;
	prometheus_use(u->prometheus, http_client_wire(u->prometheus_http));
	return 0;
}

static void usages_destroy(void *self)
{
	struct usages *u = self;
	prometheus_destroy(u->prometheus);
	scrape_destroy(u->scrape);
	http_client_destroy(u->prometheus_http);
	http_client_destroy(u->pods);
	latest_destroy(u->latest);
	arena_finish(&u->arena);
	free(u->authorities);
	free(u);
}

const struct part usages_part = {usages_step, usages_deadline, usages_destroy};

struct usages *usages_create(const struct usages_config *config, struct fault *ret_fault)
{
	struct usages *u = xcalloc(1, sizeof *u);
	struct fault f = {0};
	int64_t fresh = 4 * config->options->usage_s * 1000;
	struct latest_config latest = {.clock = config->clock,
		.fresh_ms = {fresh, fresh, larger_of(WINDOW_MS, fresh)},
		.gauges_fresh_ms = larger_of(fresh, 4 * (int64_t)APPS_EVERY_MS)};
	u->config = *config;
	u->latest = latest_create(&latest);
	if (make_scrape(u, &f) < 0 || make_prometheus(u, &f) < 0) {
		fault_copy(ret_fault, &f);
		usages_destroy(u);
		return NULL;
	}
	return u;
}
