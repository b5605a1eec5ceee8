/* What the watchdog for memory costs: an engine with tenants that agents measure, and one pass over
 * all of them, slice by slice.
 *
 *     aliquot-bench-watchdog --nodes N --tenants N --over N [--passes N]
 *
 * --over is of a thousand tenants. Told are the pass and its longest slice, the median of all
 * passes each; the first passes, in which everybody who is over is told so, apart. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/str.h"
#include "engine/engine.h"
#include "model/names.h"
#include "guardian/overuse_pass.h"
#include "state.h"

#define GPUS_A_NODE 8
#define SHARE_MIB   5000
#define BUDGET	    4000 /* as the controller's */
#define FIRST	    3
#define USES_MAX    2048

struct options {
	int64_t nodes, tenants, over, passes;
};

struct bed {
	struct options o;
	struct engine *e;
	struct plan plan;
	int64_t now;
};

static void uuid_of(int64_t node, int64_t gpu, char out[GPU_UUID_MAX])
{
	snprintf(out, GPU_UUID_MAX, "GPU-%08" PRIx64 "-%04" PRIx64 "-4000-8000-%012" PRIx64,
		(uint64_t)node, (uint64_t)gpu, (uint64_t)(node * GPUS_A_NODE + gpu));
}

static void uid_of(int64_t tenant, char out[64])
{
	snprintf(out, 64, "%08" PRIx64 "-1111-4111-8111-%012" PRIx64, (uint64_t)tenant,
		(uint64_t)tenant);
}

static void tell(struct bed *b, const struct change *c)
{
	bool taken = engine_observe(b->e, c);
	ENSURE(taken);
}

static void add_node(struct bed *b, int64_t at)
{
	char name[32];
	snprintf(name, sizeof name, "node-%05" PRId64, at);
	struct node n = {.name = name,
		.uid = name,
		.resource_version = "1",
		.ready = true,
		.cpu_milli = 96000,
		.mem_bytes = INT64_C(1) << 40,
		.pod_slots = 250,
		.gpus = GPUS_A_NODE};
	tell(b, &(struct change){.type = CHANGE_SET, .kind = KIND_NODE, .node = &n});
}

static void add_tenant(struct bed *b, int64_t at)
{
	char name[32], uid[64], node[32], uuid[GPU_UUID_MAX], mib[24];
	snprintf(name, sizeof name, "tenant-%06" PRId64, at);
	uid_of(at, uid);
	snprintf(node, sizeof node, "node-%05" PRId64, at % b->o.nodes);
	uuid_of(at % b->o.nodes, at / b->o.nodes % GPUS_A_NODE, uuid);
	snprintf(mib, sizeof mib, "%d", SHARE_MIB);
	struct pair labels[] = {{LABEL_TENANT, "true"}};
	struct pair notes[] = {{NOTE_COMPUTE_MILLI, "50"}, {NOTE_GPU_UUID, uuid},
		{NOTE_MEMORY_MIB, mib}, {NOTE_ORIGINAL, "{}"}};
	struct pod p = {.ns = "default",
		.name = name,
		.uid = uid,
		.resource_version = "7",
		.created_ms = 1000,
		.labels = {labels, 1},
		.notes = {notes, COUNT_OF(notes)},
		.node = node,
		.phase = POD_RUNNING};
	pairs_sort(&p.notes);
	tell(b, &(struct change){.type = CHANGE_SET, .kind = KIND_POD, .pod = &p});
}

/* What the agent of the node tells: each of its tenants uses its share, or twice as much. */
static void tell_state(struct bed *b, int64_t node)
{
	static char uids[USES_MAX][64], uuids[GPUS_A_NODE][GPU_UUID_MAX];
	static const char *pods[USES_MAX];
	static struct pod_use uses[USES_MAX];
	struct device_state devices[GPUS_A_NODE];
	char name[32];
	uint32_t count = 0;
	snprintf(name, sizeof name, "node-%05" PRId64, node);
	for (int64_t i = 0; i < GPUS_A_NODE; i++) {
		uuid_of(node, i, uuids[i]);
		devices[i] = (struct device_state){
			.uuid = uuids[i], .total_mib = 81920, .used_mib = 70000};
	}
	for (int64_t at = node; at < b->o.tenants && count < USES_MAX; at += b->o.nodes) {
		bool over = at * 7919 % 1000 < b->o.over;
		uid_of(at, uids[count]);
		pods[count] = uids[count];
		uses[count] = (struct pod_use){uids[count], uuids[at / b->o.nodes % GPUS_A_NODE],
			over ? 2 * SHARE_MIB : SHARE_MIB, 1};
		count++;
	}
	struct node_state s = {.node = name,
		.boot = "b",
		.sequence = b->now,
		.seen_ms = b->now,
		.seen_by_ms = b->now,
		.devices = devices,
		.device_count = GPUS_A_NODE,
		.pods = pods,
		.pod_count = count,
		.uses = uses,
		.use_count = count};
	tell(b, &(struct change){.type = CHANGE_SET, .kind = KIND_STATE, .state = &s});
}

static int64_t now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t); /* others may want the core */
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

struct pass {
	int64_t ns, longest_ns, slices, actions;
};

/* Its own function, so that callgrind can count what happens in it. */
__attribute__((noinline)) void bench_slice(struct bed *b);
void bench_slice(struct bed *b)
{
	overuse_step(
		&b->e->overuses, (struct engine_now){b->now, b->now}, BUDGET / 4, &b->e->emitter);
}

static struct pass pass_of(struct bed *b)
{
	struct pass r = {0};
	b->now += 2000;
	for (int64_t i = 0; i < b->o.nodes; i++) {
		tell_state(b, i);
	}
	b->e->time.now = b->now;
	b->e->emitter.plan = &b->plan;
	overuse_tend(&b->e->overuses);
	while (overuse_running(&b->e->overuses)) {
		plan_reset(&b->plan);
		int64_t begin = now_ns();
		bench_slice(b);
		int64_t took = now_ns() - begin;
		r.ns += took;
		r.longest_ns = took > r.longest_ns ? took : r.longest_ns;
		r.slices++;
		r.actions += (int64_t)b->plan.actions.count;
	}
	return r;
}

static bool parse(int argc, char **argv, struct options *o)
{
	const struct {
		const char *key;
		int64_t *value, most;
	} rows[] = {{"--nodes", &o->nodes, 10000}, {"--tenants", &o->tenants, 1000000},
		{"--over", &o->over, 1000}, {"--passes", &o->passes, 1000}};
	for (int i = 1; i < argc; i++) {
		size_t k = 0;
		while (k < COUNT_OF(rows) && strcmp(argv[i], rows[k].key) != 0) {
			k++;
		}
		if (k == COUNT_OF(rows) || i + 1 == argc ||
			!parse_i64(view_of(argv[++i]), 0, rows[k].most, rows[k].value)) {
			return false;
		}
	}
	return o->nodes > 0 && o->tenants <= o->nodes * USES_MAX;
}

static void fill(struct bed *b)
{
	struct engine_config config = {0};
	b->e = engine_create(&config, 1);
	for (int64_t i = 0; i < b->o.nodes; i++) {
		add_node(b, i);
	}
	for (int64_t i = 0; i < b->o.tenants; i++) {
		add_tenant(b, i);
	}
	tell(b, &(struct change){.type = CHANGE_REACH, .reached = true});
}

static int by_time(const void *a, const void *b)
{
	const struct pass *x = a, *y = b;
	return x->ns < y->ns ? -1 : x->ns > y->ns;
}

int main(int argc, char **argv)
{
	struct bed b = {
		.o = {.nodes = 188, .tenants = 20000, .over = 100, .passes = 21}, .now = 1000};
	if (!parse(argc, argv, &b.o)) {
		fprintf(stderr, "usage: aliquot-bench-watchdog [--nodes N] [--tenants N] "
				"[--over N] [--passes N]\n");
		return 2;
	}
	fill(&b);
	int64_t first_ns = 0, actions = 0, longest_ns = 0;
	for (int i = 0; i < FIRST; i++) {
		struct pass p = pass_of(&b);
		first_ns = p.ns > first_ns ? p.ns : first_ns;
		longest_ns = p.longest_ns > longest_ns ? p.longest_ns : longest_ns;
		actions += p.actions;
	}
	struct pass *all = xcalloc((size_t)b.o.passes + 1, sizeof *all);
	int64_t worst_ns = 0;
	for (int64_t i = 0; i < b.o.passes; i++) {
		all[i] = pass_of(&b);
		worst_ns = all[i].longest_ns > worst_ns ? all[i].longest_ns : worst_ns;
	}
	qsort(all, (size_t)b.o.passes, sizeof *all, by_time);
	const struct pass *median = &all[b.o.passes / 2];
	printf("{\"over\": %" PRId64 ", \"first_ns\": %" PRId64 ", \"first_longest_ns\": %" PRId64
	       ", \"told\": %" PRId64 ", \"pass_ns\": %" PRId64 ", \"slices\": %" PRId64
	       ", \"longest_ns\": %" PRId64 ", \"worst_ns\": %" PRId64 "}\n",
		b.o.over, first_ns, longest_ns, actions, median->ns, median->slices,
		median->longest_ns, worst_ns);
	free(all);
	engine_destroy(b.e);
	plan_finish(&b.plan);
	return 0;
}
