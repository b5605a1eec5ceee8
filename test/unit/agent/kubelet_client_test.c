/* Asking the kubelet: what it says reaches the pods, and what it does not say harms nobody. */
#include "kubelet_client.h"

#include "../formats/proto_lines.h"
#include "../io/h2_stub.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "formats/pod_resources.h"
#include "folder.h"

#define PATIENCE_MS 10000

struct bed {
	struct folder dir;
	struct loop *loop;
	struct metric_registry *metrics;
	struct node_pods *pods;
	struct kubelet *kubelet;
	struct h2_stub stub;
	struct loop_timer poll;
	char path[128];
	const char *awaited; /* a line of the metrics */
	int64_t until_ms;
};

static void begin_of(struct bed *b, int64_t again_ms)
{
	struct fault f = {0};
	*b = (struct bed){.dir = folder_make(), .loop = loop_create()};
	(void)snprintf(b->path, sizeof b->path, "%s/kubelet.sock", b->dir.path);
	b->metrics = metric_registry_create();
	b->pods = node_pods_create();
	h2_open(&b->stub, b->loop, b->path);
	b->kubelet = kubelet_create(&(struct kubelet_config){.loop = b->loop,
					    .pods = b->pods,
					    .metrics = b->metrics,
					    .socket = b->path,
					    .resources = "nvidia.com/gpu",
					    .interval_ms = 20,
					    .timeout_ms = 300,
					    .again_ms = again_ms},
		&f);
	cr_assert_not_null(b->kubelet, "%s", f.message);
}

static void begin(struct bed *b)
{
	begin_of(b, 0);
}

static void end(struct bed *b)
{
	kubelet_destroy(b->kubelet);
	kubelet_destroy(NULL);
	h2_close(&b->stub);
	node_pods_destroy(b->pods);
	metric_registry_destroy(b->metrics);
	loop_destroy(b->loop);
	folder_finish(&b->dir);
}

static bool shows(struct bed *b, const char *line)
{
	CLEANUP(str_finish) struct str text = STR_INIT(65536);
	kubelet_gauges(b->kubelet);
	metric_write(b->metrics, &text);
	return strstr(str_text(&text), line) != NULL;
}

static void on_poll(void *data)
{
	struct bed *b = data;
	cr_assert_lt(loop_now_ms(), b->until_ms, "never: %s", b->awaited);
	if (shows(b, b->awaited)) {
		loop_stop(b->loop);
	}
}

static void await(struct bed *b, const char *line)
{
	b->awaited = line;
	b->until_ms = loop_now_ms() + PATIENCE_MS;
	loop_timer_init(&b->poll, b->loop, on_poll, b);
	loop_timer_repeat_ms(&b->poll, 5);
	loop_run(b->loop);
	loop_timer_stop(&b->poll);
}

static void know(struct bed *b, struct node_pod pod)
{
	pod.ns = "team";
	pod.phase = POD_RUNNING;
	cr_assert(node_pods_set(b->pods, &pod));
}

/* What it answers from now on. */
static void says(struct bed *b, const char *name, const char *ids)
{
	struct str list = STR_INIT(65536), frame = STR_INIT(65536);
	put_pod(&list, name, ids);
	put_frame(&frame, &list);
	h2_grpc(&b->stub, str_text(&frame), frame.len, "grpc-status: 0");
	str_finish(&list);
	str_finish(&frame);
}

static const struct node_pod *pod(struct bed *b, const char *uid)
{
	return node_pods_find(b->pods, uid);
}

Test(kubelet, what_it_says_reaches_the_pod)
{
	struct bed b;
	begin(&b);
	know(&b, (struct node_pod){.uid = "u1", .name = "a", .gpus = 1});
	says(&b, "a", "GPU-3::1 MIG-7 2");
	cr_assert(shows(&b, "aliquot_agent_kubelet_up 0\n"));
	await(&b, "aliquot_agent_kubelet_up 1\n");
	cr_assert_eq(pod(&b, "u1")->told_count, 1);
	cr_assert_str_eq(pod(&b, "u1")->told[0].uuid, "GPU-3");
	cr_assert_str_eq(pod(&b, "u1")->told[0].container, "main");
	cr_assert(shows(&b, "aliquot_agent_kubelet_mig_devices 1\n"));
	cr_assert(shows(&b, "aliquot_agent_kubelet_odd_devices 1\n"));
	await(&b, "aliquot_agent_kubelet_asks_total{result=\"told\"} 3\n");
	end(&b);
}

Test(kubelet, one_that_hangs_takes_nothing_back)
{
	struct bed b;
	begin(&b);
	know(&b, (struct node_pod){.uid = "u1", .name = "a", .gpus = 1});
	says(&b, "a", "GPU-3");
	await(&b, "aliquot_agent_kubelet_up 1\n");
	b.stub.mute = true;
	await(&b, "aliquot_agent_kubelet_up 0\n");
	cr_assert(shows(&b, "result=\"failed\""));
	cr_assert_eq(pod(&b, "u1")->told_count, 1);
	b.stub.mute = false;
	await(&b, "aliquot_agent_kubelet_up 1\n");
	end(&b);
}

Test(kubelet, one_that_is_away_and_comes_back)
{
	struct bed b;
	begin(&b);
	says(&b, "a", "GPU-3");
	know(&b, (struct node_pod){.uid = "u1", .name = "a", .gpus = 1});
	h2_close(&b.stub);
	cr_assert_eq(unlink(b.path), 0);
	await(&b, "aliquot_agent_kubelet_asks_total{result=\"failed\"} 2\n");
	cr_assert_eq(pod(&b, "u1")->told_count, 0);
	h2_open(&b.stub, b.loop, b.path);
	says(&b, "a", "GPU-3");
	await(&b, "aliquot_agent_kubelet_up 1\n");
	cr_assert_eq(pod(&b, "u1")->told_count, 1);
	end(&b);
}

static int times_said(FILE *log, const char *what)
{
	char text[65536];
	ssize_t n = pread(fileno(log), text, sizeof text - 1, 0);
	int times = 0;
	cr_assert_geq(n, 0);
	text[n] = '\0';
	for (const char *at = strstr(text, what); at != NULL; at = strstr(at + 1, what)) {
		times++;
	}
	return times;
}

/* A socket where nobody listens breaks off now in this way and now in that. */
Test(kubelet, one_that_stays_away_is_said_once_whatever_the_words)
{
	struct bed b;
	FILE *log = tmpfile();
	cr_assert_not_null(log);
	log_setup(LOG_INFO, fileno(log));
	begin(&b);
	h2_close(&b.stub);
	cr_assert_eq(unlink(b.path), 0);
	await(&b, "aliquot_agent_kubelet_asks_total{result=\"failed\"} 2\n");
	h2_open(&b.stub, b.loop, b.path);
	b.stub.mute = true;
	await(&b, "aliquot_agent_kubelet_asks_total{result=\"failed\"} 4\n");
	cr_assert_eq(times_said(log, "the kubelet does not tell"), 1);
	h2_grpc(&b.stub, "\0\0\0\0\x07garbage", 12, "grpc-status: 0");
	b.stub.mute = false;
	await(&b, "aliquot_agent_kubelet_asks_total{result=\"unreadable\"} 2\n");
	cr_assert_eq(times_said(log, "the kubelet does not tell"), 2, "of another kind");
	end(&b);
	(void)fclose(log);
}

Test(kubelet, another_cause_is_said_after_a_while)
{
	struct bed b;
	FILE *log = tmpfile();
	cr_assert_not_null(log);
	log_setup(LOG_INFO, fileno(log));
	begin_of(&b, 1);
	h2_close(&b.stub);
	cr_assert_eq(unlink(b.path), 0);
	await(&b, "aliquot_agent_kubelet_asks_total{result=\"failed\"} 4\n");
	int before = times_said(log, "the kubelet does not tell");
	cr_assert_lt(before, 4, "the same is nothing new");
	h2_open(&b.stub, b.loop, b.path);
	b.stub.mute = true;
	await(&b, "aliquot_agent_kubelet_asks_total{result=\"failed\"} 6\n");
	cr_assert_gt(times_said(log, "the kubelet does not tell"), before, "of other words");
	end(&b);
	(void)fclose(log);
}

Test(kubelet, what_cannot_be_read_says_nothing)
{
	struct bed b;
	begin(&b);
	know(&b, (struct node_pod){.uid = "u1", .name = "a", .gpus = 1});
	h2_grpc(&b.stub, "\0\0\0\0\x07garbage", 12, "grpc-status: 0");
	await(&b, "aliquot_agent_kubelet_asks_total{result=\"unreadable\"} 2\n");
	static char large[POD_RESOURCES_BYTES_MAX + 1000];
	h2_grpc(&b.stub, large, sizeof large, "grpc-status: 0");
	await(&b, "aliquot_agent_kubelet_asks_total{result=\"too_large\"} 2\n");
	/* An answer without its end, which would read well. */
	h2_grpc(&b.stub, "\0\0\0\0\0", 5, "other: 1");
	await(&b, "aliquot_agent_kubelet_asks_total{result=\"refused\"} 1\n");
	cr_assert(shows(&b, "aliquot_agent_kubelet_up 0\n"));
	cr_assert_eq(pod(&b, "u1")->told_count, 0);
	end(&b);
}

Test(kubelet, a_capacity_pod_that_holds_another_device_is_said)
{
	struct bed b;
	const char *uuid = "GPU-1";
	struct node_pod capacity = {.uid = "c1",
		.name = "hold",
		.capacity = true,
		.gpus = 1,
		.uuids = &uuid,
		.uuid_count = 1};
	begin(&b);
	know(&b, capacity);
	says(&b, "hold", "GPU-1");
	await(&b, "aliquot_agent_kubelet_up 1\n");
	cr_assert(shows(&b, "aliquot_agent_capacity_elsewhere 0\n"));
	says(&b, "hold", "GPU-2");
	await(&b, "aliquot_agent_capacity_elsewhere 1\n");
	says(&b, "hold", "GPU-1");
	await(&b, "aliquot_agent_capacity_elsewhere 0\n");
	end(&b);
}
