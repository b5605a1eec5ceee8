/* What is taken of what pods tell of their pools, beside what they use. */
#include "bed.h"
#include "tracking/workload_table.h"

#include "sizer/workload_pods.h"

#define UNITS  29491 /* of 2 MiB, beside 16 GiB */
#define FEWER  12000
#define MEM(n) (16384 + 2 * (n))

/* Of the Deployment web, or as its owner says. */
static void pod(struct bed *b, const char *name, const char *kind, bool ready)
{
	struct container main = {.name = "main", .gpus = 1};
	const char *owner = text_equals(kind, "ReplicaSet") ? "web-1234abcd" : "web";
	struct pair labels[] = {{"pod-template-hash", "1234abcd"}};
	struct pod p = {.ns = "team",
		.name = name,
		.uid = name,
		.resource_version = "1",
		.node = "node",
		.phase = POD_RUNNING,
		.ready = ready,
		.created_ms = b->now.policy_ms,
		.labels = {labels, COUNT_OF(labels)},
		.owner = {"apps/v1", kind, owner, "rs"},
		.containers = &main,
		.container_count = 1,
		.gpus = 1};
	struct change c = {.kind = KIND_POD, .pod = &p};
	bed_world(b, &c);
	bed_turn(b);
}

/* At the time of the figures beside it. */
static struct app_gauges gauges(int64_t units, int64_t bytes)
{
	struct app_gauges g = app_gauges_none();
	g.engine = APP_VLLM;
	g.kv_used = 200000;
	g.pool_units = units;
	g.pool_bytes = bytes;
	return g;
}

static void tell(
	struct bed *b, const char *name, int64_t mib, const struct app_gauges *g, int minutes)
{
	for (int i = 0; i < minutes; i++) {
		struct metered_figure f = {.container = "main",
			.compute = 20000,
			.mem_bytes = mib << 20,
			.at_ms = b->now.policy_ms};
		struct app_gauges now = *g;
		now.at_ms += b->now.policy_ms;
		struct sizer_use use = {.uid = name,
			.source = METERED_AGENT,
			.figures = &f,
			.figure_count = 1,
			.app = &now};
		cr_assert(sizer_take(b->sizer, &use, b->now.policy_ms));
		bed_pass(b, MINUTE_MS - BED_ROUND);
		bed_turn(b);
	}
}

static struct history_pool known(struct bed *b, const char *object)
{
	struct history_pool p;
	struct sized_workload *x = sized_find(&b->sizer->tracking, "team", object);
	cr_assert(x != NULL && x->containers.count == 1);
	history_pool(x->containers.items[0]->history, 99, b->now.policy_ms, &p);
	return p;
}

#define WEB "deployment-web"

Test(pools, its_memory_counts_once_it_is_ready_for_a_while)
{
	struct bed *b = bed_new();
	pod(b, "web-1", "ReplicaSet", false);
	bed_turn(b);
	struct app_gauges g = gauges(UNITS, INT64_C(2) * UNITS << 20);
	tell(b, "web-1", 9000, &g, 10);
	cr_expect(known(b, WEB).told && known(b, WEB).counted && !known(b, WEB).sized);
	pod(b, "web-1", "ReplicaSet", true);
	tell(b, "web-1", 9000, &g, 4);
	cr_expect(!known(b, WEB).sized, "it still loads");
	tell(b, "web-1", MEM(UNITS), &g, 3);
	cr_expect_eq(known(b, WEB).rest_mib, 16384);
	bed_free(b);
}

/* Figures and gauges that are not of the same time. */
Test(pools, what_is_told_apart_is_not_put_together)
{
	struct bed *b = bed_new();
	pod(b, "web-1", "ReplicaSet", true);
	bed_turn(b);
	struct app_gauges g = gauges(UNITS, INT64_C(2) * UNITS << 20);
	g.at_ms -= MINUTE_MS;
	tell(b, "web-1", MEM(UNITS), &g, 20);
	cr_expect(known(b, WEB).counted && !known(b, WEB).sized);
	bed_free(b);
}

Test(pools, of_several_none_is_known)
{
	struct bed *b = bed_new();
	pod(b, "web-1", "ReplicaSet", true);
	bed_turn(b);
	struct app_gauges g = gauges(UNITS, INT64_C(2) * UNITS << 20);
	g.several = true;
	tell(b, "web-1", MEM(UNITS), &g, 20);
	cr_expect(known(b, WEB).told && !known(b, WEB).counted);
	bed_free(b);
}

Test(pools, bytes_alone_are_enough)
{
	struct bed *b = bed_new();
	pod(b, "web-1", "ReplicaSet", true);
	bed_turn(b);
	struct app_gauges g = gauges(METERED_ABSENT, INT64_C(2) * UNITS << 20);
	tell(b, "web-1", MEM(UNITS), &g, 20);
	cr_expect_eq(known(b, WEB).rest_mib, 16384);
	bed_free(b);
}

static bool learns(const char *kind, const char *object, uint32_t print)
{
	struct bed *b = bed_new();
	pod(b, "web-1", kind, true);
	bed_turn(b);
	struct app_gauges g = gauges(UNITS, METERED_ABSENT);
	tell(b, "web-1", MEM(UNITS), &g, 60);
	bed_pod_gone(b, "web-1");
	pod(b, "web-2", kind, true);
	g = gauges(FEWER, METERED_ABSENT);
	g.print = print;
	tell(b, "web-2", MEM(FEWER), &g, 60);
	struct history_pool p = known(b, object);
	cr_expect(!p.sized || p.rest_mib == 16384, "%lld", (long long)p.rest_mib);
	bed_free(b);
	return p.sized;
}

/* Pods of a ReplicaSet have one template; those of a StatefulSet need not. */
Test(pools, what_a_unit_takes_is_learnt_of_one_template)
{
	cr_expect(learns("ReplicaSet", WEB, 0));
	cr_expect(!learns("ReplicaSet", WEB, 1), "it serves another model");
	cr_expect(!learns("StatefulSet", "statefulset-web", 0));
}

/* What is told first is of the time before, and a process that begins anew counts from nothing. */
Test(pools, only_a_rise_is_a_preemption)
{
	static const struct {
		int64_t count;
		bool starved;
	} told[] = {{METERED_ABSENT, false}, {7, false}, {7, false}, {3, false}, {0, false},
		{METERED_ABSENT, false}, {1, true}};
	struct bed *b = bed_new();
	pod(b, "web-1", "ReplicaSet", true);
	bed_turn(b);
	struct app_gauges g = gauges(UNITS, METERED_ABSENT);
	for (size_t i = 0; i < COUNT_OF(told); i++) {
		g.preemptions = told[i].count;
		tell(b, "web-1", MEM(UNITS), &g, 1);
		cr_expect_eq(known(b, WEB).starved, told[i].starved, "%zu", i);
	}
	bed_free(b);
}

/* Its own word is as good as the name of its image. */
Test(pools, who_tells_of_a_pool_takes_its_memory_at_the_start)
{
	struct bed *b = bed_new();
	pod(b, "web-1", "ReplicaSet", true);
	bed_turn(b);
	struct app_gauges g = gauges(UNITS, METERED_ABSENT);
	tell(b, "web-1", 30000, &g, 2);
	struct sized_workload *x = sized_find(&b->sizer->tracking, "team", WEB);
	cr_expect_eq(
		history_kept(x->containers.items[0]->history)->memory_class, MEMORY_PREALLOCATED);
	cr_expect_str_eq(bed_reason(b, WEB, RECOMMENDATION_MEMORY_PREALLOCATED), "PoolUnknown");
	bed_free(b);
}

Test(pools, sglang_is_told_a_part_of_its_share)
{
	struct bed *b = bed_new();
	pod(b, "web-1", "ReplicaSet", true);
	bed_turn(b);
	struct app_gauges g = gauges(UNITS, METERED_ABSENT);
	g.engine = APP_SGLANG;
	tell(b, "web-1", MEM(UNITS), &g, 2);
	struct sized_workload *x = sized_find(&b->sizer->tracking, "team", WEB);
	cr_expect_eq(pools_part(x->containers.items[0]->history, b->now.policy_ms), 85);
	struct history *none = history_create();
	cr_expect_eq(pools_part(none, b->now.policy_ms), 100);
	history_destroy(none);
	bed_free(b);
}
