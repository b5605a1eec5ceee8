/* What the agent answers: metrics and health for everybody, the node's state for the controller. */
#include "pages.h"

#include "cgroups.h"
#include "own/state.h"
#include "node/metrics_text.h"
#include "tell.h"

/* So many intervals after the last look what it saw is not shown any more. */
#define STALE_INTERVALS 3

const struct gpu_sample *agent_sample(const struct agent *a, int64_t now_ms)
{
	const struct gpu_sample *s = a->look.sample;
	bool stale = s != NULL && now_ms - s->taken_ms > STALE_INTERVALS * a->options.interval_ms;
	return stale ? NULL : s;
}

/* --- health ----------------------------------------------------------------------------------- */

static void page_healthz(void *data, const struct server_request *r, struct server_reply *reply)
{
	(void)data;
	(void)r;
	str_append_text(&reply->body, "ok\n");
}

static void reply_not_ready(struct server_reply *reply, const char *reason, const char *why)
{
	reply->status = 503;
	str_append_format(&reply->body, "%s: %s\n", reason, why);
}

static void page_readyz(void *data, const struct server_request *r, struct server_reply *reply)
{
	struct agent *a = data;
	(void)r;
	if (a->stopping) {
		reply_not_ready(reply, "Stopping", "it was asked to");
	}
	if (a->look.why.kind != FAULT_NONE) {
		reply_not_ready(reply, "NoDriver", a->look.why.message);
	} else if (agent_sample(a, clock_mono(a->clock)) == NULL) {
		reply_not_ready(
			reply, "NoDriver", "the devices were not looked at yet, or too long ago");
	}
	if (a->look.sample != NULL && a->look.places.host_pid_missing) {
		reply_not_ready(reply, "HostPIDRequired",
			"none of the processes that the driver names can be found; set hostPID: "
			"true");
	}
	if (!watch_pods_synced(a->watch)) {
		reply_not_ready(
			reply, "NoPods", "the API server has not told the pods of this node yet");
	}
	if ((a->own_key != NULL || !text_empty(a->options.tls_dir)) && a->state == NULL) {
		reply_not_ready(reply, "NoCertificate",
			"the controller cannot ask: /v1/state is not served");
		str_append_format(
			&reply->body, "%s\n", a->own_key != NULL ? own_key_why(a->own_key) : "");
	}
	if (reply->status == 200) {
		str_append_text(&reply->body, "ok\n");
	}
}

/* --- metrics ---------------------------------------------------------------------------------- */

static void update_gauges(struct agent *a, bool seen)
{
	metric_gauge(a->metrics, "aliquot_agent_driver_up", "1 while the driver answers.",
		seen && a->look.why.kind == FAULT_NONE ? 1 : 0);
	metric_gauge(a->metrics, "aliquot_agent_pods",
		"Pods of this node that the API server has told.", node_pods_count(a->pods));
	metric_gauge(a->metrics, "aliquot_agent_pods_synced", "1 once all of them were told.",
		watch_pods_synced(a->watch) ? 1 : 0);
	metric_gauge(a->metrics, "aliquot_agent_pods_stale",
		"1 while the API server is not heard: pods are those that were known last.",
		watch_pods_stale(a->watch) ? 1 : 0);
	metric_gauge(a->metrics, "aliquot_agent_compute_modes_left",
		"GPUs that a killed MPS daemon left in a mode for one process at a time.",
		left_count(&a->left));
	metric_gauge(a->metrics, "aliquot_agent_state_served",
		"1 once there is a certificate for /v1/state.", a->state != NULL ? 1 : 0);
}

static void page_metrics(void *data, const struct server_request *r, struct server_reply *reply)
{
	struct agent *a = data;
	CLEANUP(arena_finish) struct arena arena = {0};
	const struct gpu_sample *sample = agent_sample(a, clock_mono(a->clock));
	struct exposition_options options = {.node = a->options.node,
		.small_hostname = a->options.small_hostname,
		.pod_uid = a->options.pod_uid_label};
	(void)r;
	reply->content_type = "text/plain; version=0.0.4; charset=utf-8";
	if (sample != NULL) {
		struct usage usage;
		usage_make(sample, &a->look.places, a->pods, &arena, &usage);
		(void)exposition_write(&reply->body, sample, &usage, &options);
	}
	update_gauges(a, sample != NULL);
	if (a->steer != NULL) {
		steer_gauges(a->steer);
	}
	if (a->kubelet != NULL) {
		kubelet_gauges(a->kubelet);
	}
	steer_gauge_unsteered(a->steer, a->pods, a->metrics);
	metric_write(a->metrics, &reply->body);
}

/* --- the state -------------------------------------------------------------------------------- */

static int make_state(
	struct agent *a, struct arena *arena, struct node_state *ret_state, struct fault *ret_fault)
{
	struct cgroup_pods present;
	struct usage usage;
	if (a->look.sample == NULL) {
		return fault_set(ret_fault, FAULT_TRANSIENT,
			"the devices were not looked at yet: %s", a->look.why.message);
	}
	if (cgroups_scan(a->options.cgroup_root, arena, &present, ret_fault) < 0) {
		return -1;
	}
	usage_make(a->look.sample, &a->look.places, a->pods, arena, &usage);
	struct tell t = {.sample = a->look.sample,
		.usage = &usage,
		.pods = a->pods,
		.present = &present,
		.mps = a->steer != NULL ? steer_fleet(a->steer) : NULL,
		.left = &a->left,
		.own_uid = a->options.pod_uid,
		.now_ms = clock_mono(a->clock)};
	return tell_state(&t, arena, ret_state, ret_fault);
}

static void page_state(void *data, const struct server_request *r, struct server_reply *reply)
{
	struct agent *a = data;
	CLEANUP(arena_finish) struct arena arena = {0};
	struct node_state s;
	struct fault f = {0};
	(void)r;
	gpu_worker_refresh(a->worker);
	if (make_state(a, &arena, &s, &f) == 0) {
		s.node = a->options.node;
		s.boot = a->boot;
		s.sequence = ++a->sequence;
		reply->content_type = "application/json";
		reply->status = state_write(&reply->body, &s, clock_wall(a->clock)) ? 200 : 500;
	} else {
		log_debug("cannot tell the state", LOG_F(&f));
		reply->status = 503;
		str_append_format(&reply->body, "%s\n", f.message);
	}
	metric_count(a->metrics, "aliquot_agent_state_answers_total",
		"Answers of /v1/state; unknown: it could not see everything.",
		reply->status == 200 ? "answer=\"state\"" : "answer=\"unknown\"", 1);
}

/* --- the doors -------------------------------------------------------------------------------- */

int pages_open(struct agent *a, struct fault *ret_fault)
{
	struct server_config config = {.name = "pages",
		.listen = a->options.listen,
		.metrics = a->metrics,
		.body_limit = 4096,
		.reply_limit = METRICS_BYTES_MAX + ((size_t)1 << 20),
		.connections_max = 64};
	a->pages = server_create(a->loop, &config, ret_fault);
	if (a->pages == NULL) {
		return -1;
	}
	server_route(a->pages, "GET", "/metrics", page_metrics, a);
	server_route_probe(a->pages, "GET", "/health", page_healthz, a);
	server_route_probe(a->pages, "GET", "/readyz", page_readyz, a);
	log_info("serving metrics", LOG_I("port", server_port(a->pages)));
	return 0;
}

void pages_show(struct agent *a, const struct tls_identity *identity)
{
	struct server_config config = {.name = "state",
		.listen = a->options.state_listen,
		.tls = identity,
		.metrics = a->metrics,
		.body_limit = 4096,
		.reply_limit = STATE_BYTES_MAX,
		.connections_max = 16};
	struct fault f;
	if (a->state != NULL) {
		if (server_set_tls(a->state, identity, &f) < 0) {
			log_error("the new certificate cannot be served", LOG_F(&f));
		} else {
			log_info("showing the new certificate");
		}
		return;
	}
	a->state = server_create(a->loop, &config, &f);
	if (a->state == NULL) {
		log_error("cannot listen", LOG_S("address", a->options.state_listen), LOG_F(&f));
		a->failed = true;
		loop_stop(a->loop);
		return;
	}
	server_route(a->state, "GET", NAME_AGENT_PATH, page_state, a);
	log_info("serving the state", LOG_I("port", server_port(a->state)));
}
