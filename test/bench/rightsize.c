/* What rightsizing costs: the shipped reader, sizer and their tables over a cluster in memory, from
 * the text that exporters answer to what is written of each workload.
 *
 *     aliquot-bench-rightsize [WORKLOADS [PODS [MINUTES [REMEMBERED]]]]
 *     aliquot-bench-rightsize checkpoint      what a checkpoint of a full week holds, as hex
 *
 * Each 15 seconds every exporter is read, and every 30 the sizer looks at everything. Time passes
 * as fast as it can. REMEMBERED percent of the workloads had pods replaced and are healed, as their
 * GPURecommendations tell at the start. What the bench itself does (the texts, the API server) is
 * not counted. The bench is rightsize.py. */
#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/rand.h"
#include "base/str.h"
#include "history/history.h"
#include "history/history_pack.h"
#include "meter/scrape.h"
#include "model/checkpoint.h"
#include "model/names.h"
#include "sizer/recommendation_watch.h"
#include "sizer/sizer.h"
#include "sizer/workload_pods.h"
#include "sizer_state.h"

#define START	     1767225600000
#define SCRAPE_MS    15000
#define ROUND_MS     30000
#define TICK_MS	     250
#define PODS_OF_NODE 8
#define BUDGET	     400 /* as the controller's */
#define USED_MIB     6144
#define PENDING_MAX  SCRAPE_IN_FLIGHT_MAX
#define TEXT_MAX     65536

struct bed {
	struct wire wire;   /* first: the port finds us through it */
	struct clock clock; /* second in meaning: `now` is behind it */
	int64_t now;
	int64_t workloads, pods, nodes, remembered;
	struct world *world;
	struct latest *latest;
	struct scrape *scrape;
	struct groups *groups;
	struct sizer *sizer;
	struct plan plan;
	struct rng rng;
	struct pending {
		int64_t node;
		struct wire_events events;
		void *data;
	} pending[PENDING_MAX];
	int pending_count;
	uint64_t calls;
	int64_t creates, statuses, others, all_there_s;
	uint64_t readings;
};

static struct bed bed;

static int64_t now_of(const struct clock *c)
{
	(void)c;
	return bed.now;
}

static double cpu_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* --- the cluster --- */

static void change(struct change *c)
{
	(void)world_apply(bed.world, c);
	if (c->kind == KIND_POD) {
		scrape_observe(bed.scrape, c);
	}
}

static void make_node(int64_t i)
{
	char name[32], exporter[32], address[32];
	struct pair labels[] = {{"nvidia.com/gpu.memory", "81920"}};
	struct pair app = {"app", "dcgm"};
	snprintf(name, sizeof name, "node-%" PRId64, i);
	snprintf(exporter, sizeof exporter, "exporter-%" PRId64, i);
	snprintf(address, sizeof address, "10.%d.%d.%d", (int)(i >> 16), (int)(i >> 8) & 255,
		(int)i & 255);
	struct node n = {.name = name,
		.uid = name,
		.resource_version = "1",
		.labels = {labels, 1},
		.gpus = PODS_OF_NODE,
		.ready = true};
	change(&(struct change){.type = CHANGE_SET, .kind = KIND_NODE, .node = &n});
	struct pod p = {.ns = "ops",
		.name = exporter,
		.uid = exporter,
		.resource_version = "1",
		.labels = {&app, 1},
		.node = name,
		.phase = POD_RUNNING,
		.address = address};
	change(&(struct change){.type = CHANGE_SET, .kind = KIND_POD, .pod = &p});
}

static void pod_name(int64_t i, char name[64])
{
	snprintf(name, 64, "app-%" PRId64 "-1234abcd-%05" PRId64, i % bed.workloads, i);
}

static void make_pod(int64_t i)
{
	char name[64], node[32], owner[64];
	struct pair label = {"pod-template-hash", "1234abcd"};
	struct container main = {.name = "main", .gpus = 1};
	pod_name(i, name);
	snprintf(node, sizeof node, "node-%" PRId64, i / PODS_OF_NODE);
	snprintf(owner, sizeof owner, "app-%" PRId64 "-1234abcd", i % bed.workloads);
	struct pod p = {.ns = "team",
		.name = name,
		.uid = name,
		.resource_version = "1",
		.node = node,
		.phase = POD_RUNNING,
		.created_ms = START,
		.labels = {&label, 1},
		.owner = {"apps/v1", "ReplicaSet", owner, "rs"},
		.containers = &main,
		.container_count = 1,
		.gpus = 1};
	change(&(struct change){.type = CHANGE_SET, .kind = KIND_POD, .pod = &p});
	(void)latest_want(bed.latest, p.ns, p.name, p.uid, p.node);
}

/* --- the exporters --- */

static uint64_t on_send(struct wire *w, const struct wire_request *request,
	const struct wire_events *events, void *data)
{
	int a = 0, b = 0, c = 0;
	(void)w;
	ENSURE(bed.pending_count < PENDING_MAX);
	ENSURE(sscanf(request->to, "10.%d.%d.%d:", &a, &b, &c) == 3);
	bed.pending[bed.pending_count++] = (struct pending){a << 16 | b << 8 | c, *events, data};
	return ++bed.calls;
}

static void on_cancel(struct wire *w, uint64_t id)
{
	(void)w;
	(void)id;
}

static const struct wire_impl wire_impl = {on_send, on_cancel};

static void answer_text(int64_t node, struct str *out)
{
	char name[64];
	for (int64_t k = 0; k < PODS_OF_NODE && node * PODS_OF_NODE + k < bed.pods; k++) {
		pod_name(node * PODS_OF_NODE + k, name);
		int percent = 15 + (int)rng_below(&bed.rng, 10);
		str_append_format(out,
			"DCGM_FI_DEV_GPU_UTIL{gpu=\"%d\",UUID=\"GPU-%d\",device=\"nvidia%d\","
			"modelName="
			"\"NVIDIA H100 80GB "
			"HBM3\",Hostname=\"node-%d\",container=\"main\",namespace="
			"\"team\",pod=\"%s\"} %d\n",
			(int)k, (int)k, (int)k, (int)node, name, percent);
		str_append_format(out,
			"DCGM_FI_DEV_FB_USED{gpu=\"%d\",UUID=\"GPU-%d\",device=\"nvidia%d\","
			"modelName="
			"\"NVIDIA H100 80GB "
			"HBM3\",Hostname=\"node-%d\",container=\"main\",namespace="
			"\"team\",pod=\"%s\"} %d\n",
			(int)k, (int)k, (int)k, (int)node, name,
			USED_MIB - (int)rng_below(&bed.rng, 512));
	}
	ENSURE(!out->overflow);
}

/* The CPU time that reading them all takes. */
static double read_all(void)
{
	static struct str text = STR_INIT(TEXT_MAX);
	const struct wire_answer done = {.status = 200, .body = ""};
	double spent = 0;
	do {
		double began = cpu_ms();
		scrape_step(bed.scrape, bed.now, true);
		spent += cpu_ms() - began;
		int count = bed.pending_count;
		struct pending list[PENDING_MAX];
		memcpy(list, bed.pending, sizeof list);
		bed.pending_count = 0;
		for (int i = 0; i < count; i++) {
			str_reset(&text);
			answer_text(list[i].node, &text);
			began = cpu_ms();
			(void)list[i].events.on_data(list[i].data, 200, str_text(&text), text.len);
			list[i].events.on_done(list[i].data, &done);
			spent += cpu_ms() - began;
			bed.readings++;
		}
		if (count == 0) {
			break;
		}
	} while (true);
	return spent;
}

/* As the controller hands it on. */
static double hand_on(void)
{
	struct latest_pod pod;
	double began = cpu_ms();
	for (uint32_t i = 0; i < latest_count(bed.latest); i++) {
		latest_at(bed.latest, i, &pod);
		const struct world_pod *wp = world_pod_find(bed.world, pod.ns, pod.name);
		ENSURE(wp != NULL);
		sizer_see(bed.sizer, wp, bed.now);

		struct sizer_use use = {.uid = world_pod_uid(wp),
			.source = pod.source,
			.figures = pod.figures,
			.figure_count = pod.figure_count};
		(void)sizer_take(bed.sizer, &use, bed.now);
	}
	return cpu_ms() - began;
}

/* --- the API server --- */

static void echo(const struct action *a, const struct recommendation *from)
{
	char uid[32];
	struct recommendation r = *from;
	snprintf(uid, sizeof uid, "%016" PRIx64, hash_text(a->name));
	r.uid = uid;
	r.generation = 1;
	r.owned = true;
	struct change c = {.type = CHANGE_SET, .kind = KIND_RECOMMENDATION, .recommendation = &r};
	ENSURE(sizer_observe(bed.sizer, &c));
}

static void carry_out(const struct action *a)
{
	struct outcome outcome = {.fault = {.kind = FAULT_NONE}};
	bool creates = a->type == ACTION_CREATE_RECOMMENDATION;
	bool says = a->type == ACTION_RECOMMENDATION_STATUS;
	bed.creates += creates;
	bed.statuses += says;
	bed.others += !creates && !says;
	sizer_settle(bed.sizer, (struct sizer_now){bed.now, bed.now, bed.now}, a->id, &outcome);
	if (creates || says) {
		echo(a, a->recommendation);
	}
}

/* The CPU time of whatever the sizer has to do now. */
static double turn(void)
{
	double spent = 0;
	while (sizer_deadline(bed.sizer) <= bed.now) {
		double began = cpu_ms();
		sizer_step(bed.sizer, (struct sizer_now){bed.now, bed.now, bed.now}, bed.world,
			BUDGET, &bed.plan);
		spent += cpu_ms() - began;
		for (size_t i = 0; i < bed.plan.actions.count; i++) {
			carry_out(&bed.plan.actions.items[i]);
		}
		if (!bed.plan.unfinished) {
			break;
		}
	}
	return spent;
}

/* A pod of it was replaced, and by now it is healed. */
static void tell_past(int64_t i)
{
	char name[64], object[80], uid[32];
	struct recommended_container main = {.name = "main", .target = {300, 7168}};
	snprintf(name, sizeof name, "app-%" PRId64, i);
	snprintf(object, sizeof object, "deployment-%s", name);
	snprintf(uid, sizeof uid, "%016" PRIx64, hash_text(object));
	struct recommendation r = {.name = object,
		.uid = uid,
		.generation = 1,
		.owned = true,
		.revision = 2,
		.target = {"team", "apps", "Deployment", name},
		.policy = {.name = "builtin-InferenceRealTime", .generation = 1},
		.containers = &main,
		.container_count = 1,
		.healing = {HEALING_MEMORY, 1, START - 3600000, START + 82800000},
		.last_update = {UPDATE_SUCCEEDED, START - 7200000, "PodReplaced"}};
	r.conditions[RECOMMENDATION_HISTORY_SUFFICIENT] =
		(struct recommended_condition){CONDITION_TRUE, "Enough", "", START - 7200000};
	struct change c = {.type = CHANGE_SET, .kind = KIND_RECOMMENDATION, .recommendation = &r};
	ENSURE(sizer_observe(bed.sizer, &c));
}

/* --- all of it --- */

static void set_up(void)
{
	bed.wire.impl = &wire_impl;
	bed.clock = (struct clock){.mono_ms = now_of, .wall_ms = now_of};
	bed.now = START;
	bed.nodes = (bed.pods + PODS_OF_NODE - 1) / PODS_OF_NODE;
	rng_seed(&bed.rng, 1);
	bed.world = world_create();
	bed.groups = groups_create();
	struct latest_config latest = {
		.clock = &bed.clock, .fresh_ms = {60000, 60000, 60000}, .gauges_fresh_ms = 60000};
	bed.latest = latest_create(&latest);
	struct scrape_config scrape = {.clock = &bed.clock,
		.latest = bed.latest,
		.seed = 1,
		.every_ms = SCRAPE_MS,
		.apps_every_ms = 60000,
		.exporter = {"ops", "app", "dcgm", 0}};
	bed.scrape = scrape_create(&scrape);
	scrape_use(bed.scrape, &bed.wire);
	latest_want_begin(bed.latest);
	for (int64_t i = 0; i < bed.nodes; i++) {
		make_node(i);
	}
	for (int64_t i = 0; i < bed.pods; i++) {
		make_pod(i);
	}
	latest_want_end(bed.latest);
	(void)read_all();
}

static void make_sizer(void)
{
	struct sizer_config config = {.groups = bed.groups, .round_ms = ROUND_MS};
	bed.sizer = sizer_create(&config);
	(void)sizer_observe(bed.sizer,
		&(struct change){.type = CHANGE_RELIST_BEGIN, .kind = KIND_RECOMMENDATION});
	for (int64_t i = 0; i < bed.remembered; i++) {
		tell_past(i);
	}
	(void)sizer_observe(bed.sizer,
		&(struct change){.type = CHANGE_RELIST_END, .kind = KIND_RECOMMENDATION});
}

static void tear_down(void)
{
	sizer_destroy(bed.sizer);
	scrape_destroy(bed.scrape);
	latest_destroy(bed.latest);
	groups_destroy(bed.groups);
	world_destroy(bed.world);
	plan_finish(&bed.plan);
}

static double most(double a, double b)
{
	return a > b ? a : b;
}

static int64_t number(int argc, char **argv, int at, int64_t otherwise)
{
	int64_t value = otherwise;
	if (argc > at && !parse_i64(view_of(argv[at]), 0, 1000000, &value)) {
		fprintf(stderr, "%s: a number up to 1000000\n", argv[at]);
		exit(2);
	}
	return value;
}

static int print_checkpoint(void)
{
	static const struct sizing sizing = SIZING_DEFAULT;
	static struct str bytes = STR_INIT(CHECKPOINT_BYTES_MAX);
	struct history *h = history_create();
	struct history_feed feed = {0};
	int64_t now = clock_wall(&clock_system), from = now - sizing.window_s * 1000;
	rng_seed(&bed.rng, 1);
	history_fit(h, &sizing, from);
	for (int64_t at = from; at < now; at += 30000) {
		struct history_sample s = {.source = {METERED_EXPORTER, false, NULL},
			.at_ms = at,
			.compute = (int64_t)rng_below(&bed.rng, METERED_FULL / 2),
			.wall = METERED_FULL,
			.mem_bytes = (int64_t)(USED_MIB - rng_below(&bed.rng, 512)) << 20};
		history_take(h, &feed, &s, at);
	}
	ENSURE(history_pack(h, &bytes));
	for (size_t i = 0; i < bytes.len; i++) {
		printf("%02x", (unsigned)(unsigned char)str_text(&bytes)[i]);
	}
	puts("");
	history_destroy(h);
	str_finish(&bytes);
	return 0;
}

/* What malloc gave, mapped pieces too, and the sizer's own pages. */
static size_t in_use(void)
{
	struct mallinfo2 heap = mallinfo2();
	size_t pages = bed.sizer != NULL ? slab_pages(&bed.sizer->tracking.records) : 0;
	return heap.uordblks + heap.hblkhd + pages * SLAB_PAGE_BYTES;
}

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "checkpoint") == 0) {
		return print_checkpoint();
	}
	bed.workloads = number(argc, argv, 1, 5000);
	bed.pods = number(argc, argv, 2, 20000);
	int64_t minutes = number(argc, argv, 3, 60);
	bed.remembered = bed.workloads * number(argc, argv, 4, 10) / 100;
	double reading = 0, handing = 0, looking = 0, window = 0;
	set_up();
	size_t before = in_use();
	make_sizer();
	for (int64_t t = 0; t < minutes * 60000; t += TICK_MS) {
		bed.now += TICK_MS;
		if (bed.now % SCRAPE_MS == 0) {
			double read = read_all(), handed = hand_on();
			reading = most(reading, read);
			handing = most(handing, handed);
		}
		window = (bed.now - START) % ROUND_MS == 0 ? 0 : window;
		window += turn();
		looking = most(looking, window);
		if (bed.all_there_s == 0 && bed.creates + bed.remembered == bed.workloads &&
			bed.statuses >= bed.workloads) {
			bed.all_there_s = (bed.now - START) / 1000;
		}
	}
	struct sizer_totals totals;
	sizer_sum(bed.sizer, &totals);
	size_t bytes = in_use() - before;
	printf("{\"workloads\": %u, \"remembered\": %" PRId64 ", \"pods\": %u, \"rounds\": %" PRIu64
	       ", \"readings\": %" PRIu64
	       ", \"read_ms\": %.2f, \"take_ms\": %.2f, \"look_ms\": %.2f, \"creates\": %" PRId64
	       ", \"statuses\": %" PRId64 ", \"others\": %" PRId64 ", \"all_there_s\": %" PRId64
	       ", \"told_bytes\": %zu, \"workload_bytes\": %zu}\n",
		totals.workloads, bed.remembered, totals.pods, totals.rounds, bed.readings, reading,
		handing, looking, bed.creates, bed.statuses, bed.others, bed.all_there_s,
		totals.bytes / (size_t)bed.workloads, bytes / (size_t)bed.workloads);
	tear_down();
	return totals.workloads == bed.workloads && totals.pods == bed.pods ? 0 : 1;
}
