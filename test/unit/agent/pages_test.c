/* What the agent answers to anybody: that it lives, whether it sees what it should, and metrics. */
#include "../kube/fake_wire.h"
#include "io/http.h"
#include "pages.h"
#include "parts.h"

#define PATIENCE_MS 10000
#define INTERVAL_MS 15000
#define POD                                                                                        \
	"{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"uid\":\"u1\",\"namespace\":\"a\","        \
	"\"name\":\"p\",\"resourceVersion\":\"5\"}}}\n"
#define END                                                                                        \
	"{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"resourceVersion\":\"9\","              \
	"\"annotations\":{\"k8s.io/initial-events-end\":\"true\"}}}}\n"

struct bed {
	struct agent agent;
	struct fake_clock clock;
	struct fake_wire *wire;
	struct kube_cred *cred;
	struct kube *kube;
	struct http_client *client;
	struct gpu_reading device;
	struct gpu_sample sample;
	struct loop_timer guard;
	int status;
	struct str body;
};

static void begin(struct bed *b)
{
	struct fault f = {0};
	char url[64];
	*b = (struct bed){.clock = fake_clock_make(), .wire = fake_wire_create()};
	b->body = (struct str)STR_INIT(1 << 20);
	b->cred = kube_cred_create_plain("https://api", NULL, &b->clock.clock);
	b->kube = kube_create(&b->wire->wire, b->cred, &b->clock.clock, NULL);
	struct agent *a = &b->agent;
	agent_options_init(&a->options);
	a->options.node = "n";
	a->options.listen = "127.0.0.1:0";
	a->options.interval_ms = INTERVAL_MS;
	a->clock = &b->clock.clock;
	a->loop = loop_create();
	a->metrics = metric_registry_create();
	a->pods = node_pods_create();
	a->watch = watch_pods_create(b->kube, "n", a->pods, 1);
	watch_pods_step(a->watch, b->clock.mono);
	a->look.why.kind = FAULT_TRANSIENT;
	cr_assert_eq(pages_open(a, &f), 0, "%s", f.message);
	(void)snprintf(url, sizeof url, "http://127.0.0.1:%d", server_port(a->pages));
	b->client = http_client_create(a->loop, &(struct http_client_config){.base_url = url}, &f);
	cr_assert_not_null(b->client, "%s", f.message);
}

static void end(struct bed *b)
{
	http_client_destroy(b->client);
	server_destroy(b->agent.pages);
	watch_pods_destroy(b->agent.watch);
	node_pods_destroy(b->agent.pods);
	metric_registry_destroy(b->agent.metrics);
	loop_destroy(b->agent.loop);
	arena_finish(&b->agent.look.arena);
	kube_destroy(b->kube);
	kube_cred_destroy(b->cred);
	fake_wire_destroy(b->wire);
	str_finish(&b->body);
}

static void on_done(void *data, const struct wire_answer *answer)
{
	struct bed *b = data;
	cr_assert_eq(answer->fault.kind, FAULT_NONE, "%s", answer->fault.message);
	b->status = answer->status;
	str_append(&b->body, answer->body, answer->body_size);
	loop_stop(b->agent.loop);
}

static const char *ask(struct bed *b, const char *path)
{
	static const struct wire_events events = {.on_done = on_done};
	str_reset(&b->body);
	b->status = 0;
	(void)wire_send(http_client_wire(b->client),
		&(struct wire_request){.method = WIRE_GET, .path = path, .timeout_ms = PATIENCE_MS},
		&events, b);
	loop_run(b->agent.loop);
	return str_text(&b->body);
}

static void expect(struct bed *b, const char *path, int status, const char *words)
{
	const char *text = ask(b, path);
	cr_expect_eq(b->status, status, "%s: %d %s", path, b->status, text);
	cr_expect_not_null(strstr(text, words), "%s: %s", path, text);
}

static void expect_none(struct bed *b, const char *path, const char *words)
{
	cr_expect_null(strstr(ask(b, path), words), "%s: %s", path, str_text(&b->body));
}

/* One device, looked at right now. */
static void look(struct bed *b)
{
	b->device = (struct gpu_reading){.answered = true, .processes_told = true};
	(void)snprintf(
		b->device.device.identity.uuid, sizeof b->device.device.identity.uuid, "GPU-1");
	for (int i = 0; i < FIGURE_COUNT; i++) {
		b->device.figures[i] = GPU_UNKNOWN;
	}
	b->device.figures[FIGURE_GPU_TEMP] = 41;
	b->sample = (struct gpu_sample){
		.devices = &b->device, .device_count = 1, .taken_ms = b->clock.mono};
	b->agent.look.sample = &b->sample;
	b->agent.look.why = (struct fault){0};
}

static void know_pods(struct bed *b)
{
	fake_data(fake_last(b->wire), POD END);
	watch_pods_step(b->agent.watch, b->clock.mono);
}

Test(pages, it_lives_whatever_it_sees)
{
	struct bed b;
	begin(&b);
	expect(&b, "/health", 200, "ok\n");
	expect(&b, "/nothing", 404, "");
	end(&b);
}

Test(pages, it_is_ready_once_it_sees_the_driver_and_the_pods)
{
	struct bed b;
	begin(&b);
	fault_set(&b.agent.look.why, FAULT_TRANSIENT, "no library");
	expect(&b, "/readyz", 503, "NoDriver: no library\n");
	expect(&b, "/readyz", 503, "NoPods: ");
	look(&b);
	expect(&b, "/readyz", 503, "NoPods: ");
	expect_none(&b, "/readyz", "NoDriver");
	know_pods(&b);
	expect(&b, "/readyz", 200, "ok\n");
	b.agent.look.places.host_pid_missing = true;
	expect(&b, "/readyz", 503, "HostPIDRequired: ");
	b.agent.look.places.host_pid_missing = false;
	b.agent.options.tls_dir = "/etc/tls";
	expect(&b, "/readyz", 503, "NoCertificate: ");
	b.agent.options.tls_dir = "";
	b.agent.stopping = true;
	expect(&b, "/readyz", 503, "Stopping: ");
	end(&b);
}

Test(pages, a_look_that_is_too_old_is_not_shown)
{
	struct bed b;
	begin(&b);
	know_pods(&b);
	expect_none(&b, "/metrics", "DCGM_FI_DEV_GPU_TEMP{");
	expect(&b, "/metrics", 200, "aliquot_agent_driver_up 0\n");
	look(&b);
	expect(&b, "/metrics", 200, "DCGM_FI_DEV_GPU_TEMP{");
	expect(&b, "/metrics", 200, "aliquot_agent_driver_up 1\n");
	expect(&b, "/metrics", 200, "aliquot_agent_pods 1\n");
	expect(&b, "/metrics", 200, "aliquot_agent_pods_synced 1\n");
	b.clock.mono += 3 * INTERVAL_MS;
	expect(&b, "/metrics", 200, "DCGM_FI_DEV_GPU_TEMP{");
	b.clock.mono += 1;
	expect_none(&b, "/metrics", "DCGM_FI_DEV_GPU_TEMP{");
	expect(&b, "/metrics", 200, "aliquot_agent_driver_up 0\n");
	expect(&b, "/readyz", 503, "NoDriver: ");
	end(&b);
}

Test(pages, what_is_not_asked_has_no_metric)
{
	struct bed b;
	begin(&b);
	expect_none(&b, "/metrics", "aliquot_agent_kubelet");
	expect(&b, "/metrics", 200, "aliquot_agent_mps_unsteered 0\n");
	expect_none(&b, "/metrics", "aliquot_agent_mps_daemons");
	end(&b);
}
