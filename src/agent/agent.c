/* The storyline: watch the node's pods, have the devices looked at, answer, leave in good order. */
#include "agent/agent.h"

#include <malloc.h>
#include <signal.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/rand.h"
#include "base/str.h"
#include "gpu/nvml.h"
#include "model/names.h"
#include "node/attribute.h"
#include "node/attribute_whole.h"
#include "node/metrics_text.h"
#include "pages.h"
#include "parts.h"

#define TURN_LEAST_MS 10
#define DRAIN_MS      3000

/* --- looking ---------------------------------------------------------------------------------- */

/* Start times of processes are counted on the clock that goes on while the machine sleeps. */
static int64_t boot_time_of(int64_t mono_ms)
{
	struct timespec boot, mono;
	if (clock_gettime(CLOCK_BOOTTIME, &boot) != 0 ||
		clock_gettime(CLOCK_MONOTONIC, &mono) != 0) {
		return INT64_MAX;
	}
	return mono_ms + ((int64_t)boot.tv_sec - mono.tv_sec) * 1000 +
	       (boot.tv_nsec - mono.tv_nsec) / 1000000;
}

static void agent_count_look(struct agent *a, const char *labels)
{
	metric_count(a->metrics, "aliquot_agent_looks_total",
		"Looks at all devices, by how they ended.", labels, 1);
}

static void agent_on_sample(void *data, const struct gpu_sample *sample)
{
	struct agent *a = data;
	CLEANUP(arena_finish) struct arena arena = {0};
	struct usage usage;
	if (a->look.why.kind != FAULT_NONE || a->look.sample == NULL) {
		log_info("the driver answers", LOG_I("devices", sample->device_count),
			LOG_S("driver", sample->driver));
	}
	arena_reset(&a->look.arena);
	a->look.sample = sample;
	a->look.why = (struct fault){0};
	procs_look(
		a->procs, sample, boot_time_of(sample->taken_ms), &a->look.arena, &a->look.places);
	usage_make(sample, &a->look.places, a->pods, &arena, &usage);
	usage_remember(&usage, sample, a->pods);
	exposition_count(a->metrics, sample, &usage);
	if (watch_pods_synced(a->watch) && !watch_pods_stale(a->watch)) {
		left_look(&a->left, sample, a->pods);
	}
	agent_count_look(a, "result=\"seen\"");
}

static void on_no_sample(void *data, const struct fault *why)
{
	struct agent *a = data;
	if (!text_equals(a->look.why.message, why->message)) {
		log_warn("the driver does not answer", LOG_F(why));
	}
	fault_copy(&a->look.why, why);
	agent_count_look(a, "result=\"failed\"");
}

/* --- one turn --------------------------------------------------------------------------------- */

static void follow_certificate(struct agent *a, int64_t now)
{
	if (text_empty(a->options.tls_dir)) {
		return;
	}
	struct tls_identity *identity = mounted_look(&a->mounted, now);
	if (identity != NULL) {
		pages_show(a, identity);
		tls_identity_destroy(identity);
	}
}

static void agent_on_turn(void *data)
{
	struct agent *a = data;
	int64_t now = clock_mono(a->clock), at;
	link_step(a->link, now);
	watch_pods_step(a->watch, now);
	gpu_worker_step(a->worker, now);
	follow_certificate(a, now);
	if (a->own_key != NULL) {
		own_key_step(a->own_key, now);
	}
	log_flush(clock_wall(&clock_system));
	at = time_min(link_deadline(a->link), watch_pods_deadline(a->watch));
	at = time_min(at, gpu_worker_deadline(a->worker));
	if (!text_empty(a->options.tls_dir)) {
		at = time_min(at, a->mounted.next_at);
	}
	if (a->own_key != NULL) {
		at = time_min(at, own_key_deadline(a->own_key));
	}
	loop_wake_at(a->loop, at > now + TURN_LEAST_MS ? at : now + TURN_LEAST_MS);
}

/* --- the end ---------------------------------------------------------------------------------- */

static void agent_on_drained(void *data)
{
	struct agent *a = data;
	if (--a->draining == 0) {
		loop_stop(a->loop);
	}
}

/* What was asked is answered. A second signal ends it at once. */
static void agent_on_signal(void *data, int signo)
{
	struct agent *a = data;
	if (signo == SIGHUP) {
		return;
	}
	if (a->stopping) {
		loop_stop(a->loop);
		return;
	}
	log_info("stopping", LOG_I("signal", signo));
	a->stopping = true;
	a->draining = a->state != NULL ? 2 : 1;
	server_drain(a->pages, DRAIN_MS, agent_on_drained, a);
	if (a->state != NULL) {
		server_drain(a->state, DRAIN_MS, agent_on_drained, a);
	}
}

/* --- the beginning ---------------------------------------------------------------------------- */

void agent_options_init(struct agent_options *options)
{
	*options = (struct agent_options){.node = getenv("NODE_NAME"),
		.pod_uid = getenv("POD_UID"),
		.listen = ":9400",
		.state_listen = ":10251",
		.tls_dir = "",
		.nvml_library = NVML_LIBRARY,
		.proc_root = "/proc",
		.cgroup_root = "/sys/fs/cgroup",
		.mps_root = "",
		.kubelet_socket = "",
		.gpu_resources = NAME_GPU_RESOURCE "," NAME_GPU_RESOURCE ".shared",
		.interval_ms = 15000,
		.log_level = LOG_INFO};
}

static void agent_on_identity(void *data, const struct tls_identity *identity)
{
	pages_show(data, identity);
}

static int ask_kubelet(struct agent *a, struct fault *ret_fault)
{
	if (text_empty(a->options.kubelet_socket)) {
		return 0;
	}
	a->kubelet = kubelet_create(&(struct kubelet_config){.loop = a->loop,
					    .pods = a->pods,
					    .metrics = a->metrics,
					    .socket = a->options.kubelet_socket,
					    .resources = a->options.gpu_resources,
					    .interval_ms = a->options.interval_ms},
		ret_fault);
	return a->kubelet != NULL ? 0 : -1;
}

static int agent_init(struct agent *a, struct fault *ret_fault)
{
	struct link_config link = {.clock = a->clock,
		.kubeconfig = a->options.kubeconfig,
		.context = a->options.context,
		.user_agent = NAME_FIELD_MANAGER "-agent"};
	snprintf(a->boot, sizeof a->boot, "%016llx%016llx", (unsigned long long)rng_system_seed(),
		(unsigned long long)rng_system_seed());
	a->loop = link.loop = loop_create();
	a->metrics = link.metrics = metric_registry_create();
	a->mounted.dir = a->options.tls_dir;
	a->look.why.kind = FAULT_TRANSIENT;
	if (pages_open(a, ret_fault) < 0) {
		return -1;
	}
	a->link = link_create(&link, ret_fault);
	if (a->link == NULL) {
		return -1;
	}
	if (a->options.own_key) {
		a->own_key = own_key_create(&(struct own_key_config){.kube = link_kube(a->link),
			.node = a->options.node,
			.on_identity = agent_on_identity,
			.data = a,
			.seed = rng_system_seed()});
	}
	a->pods = node_pods_create();
	a->watch =
		watch_pods_create(link_kube(a->link), a->options.node, a->pods, rng_system_seed());
	a->procs = procs_create(a->options.proc_root);
	a->left.mps_root = a->options.mps_root;
	if (!text_empty(a->options.mps_root)) {
		a->steer = steer_create(&(struct steer_config){.loop = a->loop,
			.pods = a->pods,
			.procs = a->procs,
			.metrics = a->metrics,
			.root = a->options.mps_root});
	}
	if (ask_kubelet(a, ret_fault) < 0) {
		return -1;
	}
	struct gpu_worker_config worker = {.loop = a->loop,
		.clock = a->clock,
		.metrics = a->metrics,
		.library = a->options.nvml_library,
		.interval_ms = a->options.interval_ms,
		.on_sample = agent_on_sample,
		.on_fault = on_no_sample,
		.data = a};
	a->worker = gpu_worker_create(&worker);
	return 0;
}

static void agent_release(struct agent *a)
{
	server_destroy(a->state);
	server_destroy(a->pages);
	mounted_finish(&a->mounted);
	own_key_destroy(a->own_key);
	gpu_worker_destroy(a->worker);
	kubelet_destroy(a->kubelet);
	steer_destroy(a->steer);
	procs_destroy(a->procs);
	watch_pods_destroy(a->watch);
	node_pods_destroy(a->pods);
	link_destroy(a->link);
	arena_finish(&a->look.arena);
	left_finish(&a->left);
	metric_registry_destroy(a->metrics);
	loop_destroy(a->loop);
}

static int run_agent(struct agent *a)
{
	struct fault f = {0};
	if (agent_init(a, &f) < 0) {
		log_error("cannot start", LOG_F(&f));
		return 1;
	}
	loop_on_signal(a->loop, SIGTERM, agent_on_signal, a);
	loop_on_signal(a->loop, SIGINT, agent_on_signal, a);
	loop_on_signal(a->loop, SIGHUP, agent_on_signal, a);
	loop_on_turn(a->loop, agent_on_turn, a);
	log_info("started", LOG_S("node", a->options.node), LOG_S("server", link_server(a->link)),
		LOG_I("interval_ms", a->options.interval_ms));
	loop_run(a->loop);
	loop_off_turn(a->loop, agent_on_turn, a);
	log_info("stopped");
	return a->failed ? 1 : 0;
}

int agent_run(const struct agent_options *options)
{
	struct agent a = {.options = *options, .clock = &clock_system};
	log_setup(options->log_level, STDERR_FILENO);
	/* A page of metrics of a full node is a megabyte: its memory goes back at once, and what is
	 * kept stays as small as it was. */
	(void)mallopt(M_MMAP_THRESHOLD, 64 * 1024);
	(void)mallopt(M_TRIM_THRESHOLD, 128 * 1024);
	int status = run_agent(&a);
	agent_release(&a);
	return status;
}
