/* What a decision costs: an engine with a whole cluster in memory, and tenants that wait.
 *
 *     aliquot-bench-place --gpus N --tenants N --waiting N --seed N [--rounds N] [--newcomers N]
 *                         [--full]
 *
 * First come newcomers, one at a time, each to a cluster in which nobody else waits: the time from
 * the watch's word of the pod to the plan that grants or refuses it, by engine_observe and
 * engine_step alone. Then all tenants wait at once: the time of each decision of one step, `decide`
 * with a budget for one, and of what that step does before the first, the picture and the ranks.
 * --full leaves no room anywhere, so that each is refused and its closest miss looked up. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/rand.h"
#include "base/str.h"
#include "engine/engine.h"
#include "model/names.h"
#include "model/quantity.h"
#include "scheduling/decide.h"
#include "snapshot.h"
#include "state.h"

#define GPUS_A_NODE 8
#define USABLE_MIB  81000
#define POOLS	    8
#define FIRST	    3	  /* decisions that are told apart too: they make the index */
#define STEP_BUDGET 4000  /* that of the controller */
#define APART_MS    10000 /* between newcomers: a write that lost its race is forgotten by then */
#define SETTLING    10000 /* steps, at most, until an engine has nothing more to do */

struct options {
	int64_t gpus, tenants, waiting, seed, rounds, newcomers;
	bool full;
};

struct bed {
	struct options o;
	struct engine *e;
	struct plan plan;
	struct rng rng;
	uint64_t uids;
	int64_t now; /* of both clocks, ms */
};

static void set_pod(struct bed *b, const struct pod *p)
{
	struct change c = {.type = CHANGE_SET, .kind = KIND_POD, .pod = p};
	bool taken = engine_observe(b->e, &c);
	ENSURE(taken);
}

static void add_node(struct bed *b, int64_t at)
{
	char name[32], pool[16];
	snprintf(name, sizeof name, "node-%05" PRId64, at);
	snprintf(pool, sizeof pool, "pool-%" PRId64, at % POOLS);
	struct pair labels[] = {{"example.com/pool", pool}, {"kubernetes.io/hostname", name},
		{"nvidia.com/gpu.memory", "81920"}};
	/* On one node of sixteen there is one GPU more than capacity pods. */
	bool spare = !b->o.full && at % 16 == 0;
	struct node n = {.name = name,
		.uid = name,
		.resource_version = "1",
		.labels = {labels, COUNT_OF(labels)},
		.ready = true,
		/* And one of sixteen is short of CPU. */
		.cpu_milli = at % 16 == 1 ? 16000 : 96000,
		.mem_bytes = INT64_C(1) << 40,
		.pod_slots = 250,
		.gpus = GPUS_A_NODE + (spare ? 1 : 0)};
	struct change c = {.type = CHANGE_SET, .kind = KIND_NODE, .node = &n};
	engine_observe(b->e, &c);
}

struct tenant {
	char name[32], uid[32], holder[32], node[32];
	char gpu_uuid[48];
	int64_t milli, mib;
};

/* Placed and running; its share is in the ledger too. */
static void add_tenant(struct bed *b, const struct tenant *t)
{
	char milli[24], mib[24], share[QUANTITY_TEXT_MAX];
	snprintf(milli, sizeof milli, "%" PRId64, t->milli);
	snprintf(mib, sizeof mib, "%" PRId64, t->mib);
	struct pair labels[] = {{LABEL_TENANT, "true"}};
	struct pair notes[] = {{NOTE_CAPACITY_POD, t->holder}, {NOTE_COMPUTE_MILLI, milli},
		{NOTE_GPU_UUID, t->gpu_uuid}, {NOTE_MEMORY_MIB, mib}, {NOTE_ORIGINAL, "{}"},
		{NOTE_SHARE, share_format(t->milli, share)}};
	struct pod p = {.ns = "default",
		.name = t->name,
		.uid = t->uid,
		.resource_version = "7",
		.created_ms = 1000,
		.labels = {labels, 1},
		.notes = {notes, COUNT_OF(notes)},
		.node = t->node,
		.cpu_milli = 500,
		.mem_bytes = 1 << 30,
		.phase = POD_RUNNING};
	pairs_sort(&p.notes);
	set_pod(b, &p);
}

/* One GPU with so many tenants of 5 % to 30 %, or full. */
static void add_gpu(struct bed *b, int64_t at, uint32_t tenants)
{
	struct tenant t[MODEL_GRANTS_MAX];
	struct grant grants[MODEL_GRANTS_MAX];
	struct gpu_identity id = {.mem_mib = USABLE_MIB};
	char holder[32], node[32];
	int64_t left = MODEL_GPU_MILLI;
	snprintf(holder, sizeof holder, "capacity-%06" PRId64, at);
	snprintf(node, sizeof node, "node-%05" PRId64, at / GPUS_A_NODE);
	snprintf(id.uuid, sizeof id.uuid, "GPU-%032" PRIx64, (uint64_t)at * 0x9E3779B97F4A7C15u);
	for (uint32_t i = 0; i < tenants; i++) {
		bool last = b->o.full && i + 1 == tenants;
		int64_t milli = last ? left : 50 * (1 + (int64_t)rng_below(&b->rng, 6));
		milli = milli < left ? milli : left;
		left -= milli;
		t[i] = (struct tenant){
			.milli = milli, .mib = share_memory_of_milli(milli, USABLE_MIB, 0)};
		snprintf(t[i].name, sizeof t[i].name, "tenant-%06" PRIu64, b->uids);
		snprintf(t[i].uid, sizeof t[i].uid, "uid-%08" PRIu64, b->uids++);
		snprintf(t[i].holder, sizeof t[i].holder, "%s", holder);
		snprintf(t[i].node, sizeof t[i].node, "%s", node);
		snprintf(t[i].gpu_uuid, sizeof t[i].gpu_uuid, "%.47s", id.uuid);
		grants[i] = (struct grant){t[i].uid, "default", t[i].name, milli, t[i].mib};
		add_tenant(b, &t[i]);
	}
	struct pair labels[] = {{LABEL_CAPACITY, "true"}};
	struct pod p = {.ns = NAME_NAMESPACE,
		.name = holder,
		.uid = holder,
		.resource_version = "5",
		.created_ms = 1000,
		.labels = {labels, 1},
		.node = node,
		.cpu_milli = CAPACITY_CPU_MILLI,
		.mem_bytes = CAPACITY_MEM_BYTES,
		.gpus = 1,
		.phase = POD_RUNNING,
		.identity = &id,
		.holds = true,
		.ledger = {grants, tenants}};
	set_pod(b, &p);
}

/* Shares of 5 % to 60 %; one in five takes memory and compute apart, one in five its pool only. */
static void add_waiting(struct bed *b, int64_t at)
{
	char name[32], uid[32], pool[16], memory[24], share[QUANTITY_TEXT_MAX];
	const char *gate[] = {NAME_GATE};
	snprintf(name, sizeof name, "waits-%06" PRId64, at);
	snprintf(uid, sizeof uid, "wid-%08" PRId64, at);
	snprintf(pool, sizeof pool, "pool-%" PRIu64, rng_below(&b->rng, POOLS));
	snprintf(memory, sizeof memory, "%" PRIu64 "Mi", 1000 + 1000 * rng_below(&b->rng, 40));
	int64_t milli = 50 * (1 + (int64_t)rng_below(&b->rng, 12));
	struct pair labels[] = {{LABEL_TENANT, "true"}}, wants[] = {{"example.com/pool", pool}};
	struct pair notes[] = {{NOTE_MEMORY, memory}, {NOTE_ORIGINAL, "{}"},
		{NOTE_SHARE, share_format(milli, share)}};
	bool both = at % 5 == 0;
	struct pod p = {.ns = "default",
		.name = name,
		.uid = uid,
		.resource_version = "9",
		.created_ms = 5000 + at,
		.labels = {labels, 1},
		.notes = {both ? notes : notes + 1, both ? 3 : 2},
		.gates = gate,
		.gate_count = 1,
		.node_selector = {wants, at % 5 == 1 ? 1 : 0},
		.cpu_milli = 500,
		.mem_bytes = 1 << 30};
	set_pod(b, &p);
}

static void fill(struct bed *b)
{
	struct engine_config config = {0};
	b->e = engine_create(&config, (uint64_t)b->o.seed);
	rng_seed(&b->rng, (uint64_t)b->o.seed);
	for (enum kind k = 0; k < KIND_REQUIRED; k++) {
		struct change begins = {.type = CHANGE_RELIST_BEGIN, .kind = k};
		engine_observe(b->e, &begins);
	}
	for (int64_t i = 0; i * GPUS_A_NODE < b->o.gpus; i++) {
		add_node(b, i);
	}
	for (int64_t i = 0; i < b->o.gpus; i++) {
		int64_t upto = b->o.tenants * (i + 1) / b->o.gpus;
		add_gpu(b, i, (uint32_t)(upto - b->o.tenants * i / b->o.gpus));
	}
	for (enum kind k = 0; k < KIND_REQUIRED; k++) {
		struct change synced = {.type = CHANGE_RELIST_END, .kind = k};
		engine_observe(b->e, &synced);
	}
	struct change leads = {.type = CHANGE_LEADER, .leads = true};
	engine_observe(b->e, &leads);
}

static int64_t now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Functions of their own, so that callgrind can count what happens in them. */
__attribute__((noinline)) void bench_decision(struct bed *b);
void bench_decision(struct bed *b)
{
	decide(&b->e->scheduling, &b->e->emitter);
}

static struct engine_now bed_now(const struct bed *b)
{
	return (struct engine_now){.mono_ms = b->now, .policy_ms = b->now};
}

__attribute__((noinline)) void bench_newcomer(struct bed *b, int64_t at);
void bench_newcomer(struct bed *b, int64_t at)
{
	add_waiting(b, at);
	engine_step(b->e, bed_now(b), STEP_BUDGET, &b->plan);
}

struct times {
	VEC_FIELDS(int64_t);
};

static int by_size(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
	return x < y ? -1 : x > y ? 1 : 0;
}

static int64_t quantile(struct times *t, uint64_t of_thousand)
{
	if (t->count == 0) {
		return 0;
	}
	qsort(t->items, t->count, sizeof *t->items, by_size);
	return t->items[(t->count - 1) * of_thousand / 1000];
}

struct result {
	struct times newcomers, decisions, firsts, pictures, ranks, each;
	uint64_t chosen, opened;
	uint64_t served;  /* newcomers whose plan writes something for them */
	uint64_t counted; /* decisions that a profiler saw: the warm round's too */
};

/* Every write of the last plan lost its race, so that the cluster stays as it is. */
static void lose_all(struct bed *b)
{
	struct outcome lost = {.fault = {.kind = FAULT_CONFLICT}};
	vec_for_each (const struct action, a, &b->plan.actions) {
		engine_settle(b->e, bed_now(b), a->id, &lost);
	}
}

static void calm(struct bed *b)
{
	size_t steps = 0;
	do {
		engine_step(b->e, bed_now(b), STEP_BUDGET, &b->plan);
		lose_all(b);
		b->now++;
		steps++;
		ENSURE(steps < SETTLING);
	} while (b->plan.actions.count > 0 || engine_next_deadline(b->e) == 0);
}

static bool serves(const struct plan *plan)
{
	vec_for_each (const struct action, a, &plan->actions) {
		if (a->type == ACTION_GRANT || a->type == ACTION_CREATE_CAPACITY) {
			return true;
		}
	}
	return false;
}

static void one_by_one(struct bed *b, struct result *r)
{
	calm(b);
	for (int64_t i = 0; i < b->o.newcomers; i++) {
		char name[32], uid[32];
		snprintf(name, sizeof name, "waits-%06" PRId64, i);
		snprintf(uid, sizeof uid, "wid-%08" PRId64, i);
		b->now += APART_MS;
		calm(b);
		int64_t begin = now_ns();
		bench_newcomer(b, i);
		VEC_PUSH(&r->newcomers, now_ns() - begin);
		r->served += serves(&b->plan) ? 1 : 0;
		lose_all(b);
		struct change gone = {.type = CHANGE_GONE,
			.kind = KIND_POD,
			.ns = "default",
			.name = name,
			.uid = uid};
		engine_observe(b->e, &gone);
	}
	b->now += APART_MS;
	calm(b);
}

/* The steps 2 to 4 of engine_step, so that each can be timed. */
static void round_of(struct bed *b, struct result *r)
{
	struct engine *e = b->e;
	plan_reset(&b->plan);
	e->emitter.plan = &b->plan;
	e->time.step++;
	e->time.now = b->now;
	e->scheduling.budget = 1;
	e->scheduling.resume = 0;
	e->book.flights.decided = 0;
	int64_t begin = now_ns();
	snapshot_build(&e->scheduling, &e->orphans);
	int64_t built = now_ns();
	rank_waiters(&e->ranking, &e->picture, &e->ranked);
	needs_count(&e->wholes, &e->ranked);
	int64_t ranked = now_ns();
	VEC_PUSH(&r->pictures, built - begin);
	VEC_PUSH(&r->ranks, ranked - built);
	int64_t first = 0;
	for (size_t i = 0; i < e->ranked.count; i++) {
		e->scheduling.resume = (uint32_t)i;
		int64_t t = now_ns();
		bench_decision(b);
		int64_t took = now_ns() - t;
		VEC_PUSH(&r->decisions, took);
		first += i < FIRST ? took : 0;
		r->counted++;
		r->chosen += e->scheduling.chosen.count;
	}
	VEC_PUSH(&r->firsts, first);
	VEC_PUSH(&r->each,
		(now_ns() - begin) / (int64_t)(e->ranked.count > 0 ? e->ranked.count : 1));
	r->opened += b->plan.actions.count;
}

static void all_at_once(struct bed *b, struct result *r)
{
	for (int64_t i = 0; i < b->o.waiting; i++) {
		add_waiting(b, i);
	}
	round_of(b, r); /* caches, arenas and nouns are warm after it */
	VEC_CLEAR(&r->decisions);
	VEC_CLEAR(&r->firsts);
	VEC_CLEAR(&r->pictures);
	VEC_CLEAR(&r->ranks);
	VEC_CLEAR(&r->each);
	r->chosen = r->opened = 0;
	for (int64_t i = 0; i < b->o.rounds; i++) {
		round_of(b, r);
	}
}

static void print(const struct bed *b, struct result *r)
{
	printf("{\"gpus\": %" PRId64 ", \"tenants\": %" PRIu64 ", \"decisions\": %zu, "
	       "\"counted\": %" PRIu64 ", \"granted\": %" PRIu64 ", \"opened\": %" PRIu64 ", ",
		b->o.gpus, b->uids, r->decisions.count, r->counted, r->chosen, r->opened);
	printf("\"p50_ns\": %" PRId64 ", \"p90_ns\": %" PRId64 ", \"p99_ns\": %" PRId64
	       ", \"max_ns\": %" PRId64 ", ",
		quantile(&r->decisions, 500), quantile(&r->decisions, 900),
		quantile(&r->decisions, 990), quantile(&r->decisions, 1000));
	printf("\"first_ns\": %" PRId64 ", \"picture_ns\": %" PRId64 ", \"rank_ns\": %" PRId64
	       ", \"each_ns\": %" PRId64 ", ",
		quantile(&r->firsts, 500), quantile(&r->pictures, 500), quantile(&r->ranks, 500),
		quantile(&r->each, 500));
	printf("\"newcomers\": %zu, \"served\": %" PRIu64 ", \"newcomer_p50_ns\": %" PRId64
	       ", \"newcomer_p99_ns\": %" PRId64 ", \"newcomer_max_ns\": %" PRId64 "}\n",
		r->newcomers.count, r->served, quantile(&r->newcomers, 500),
		quantile(&r->newcomers, 990), quantile(&r->newcomers, 1000));
}

static bool parse(int argc, char **argv, struct options *o)
{
	const struct {
		const char *key;
		int64_t *value;
	} rows[] = {{"--gpus", &o->gpus}, {"--tenants", &o->tenants}, {"--waiting", &o->waiting},
		{"--seed", &o->seed}, {"--rounds", &o->rounds}, {"--newcomers", &o->newcomers}};
	for (int i = 1; i < argc; i++) {
		size_t k = 0;
		while (k < COUNT_OF(rows) && strcmp(argv[i], rows[k].key) != 0) {
			k++;
		}
		if (strcmp(argv[i], "--full") == 0) {
			o->full = true;
		} else if (k == COUNT_OF(rows) || i + 1 == argc ||
			   !parse_i64(view_of(argv[++i]), 1, 1000000, rows[k].value)) {
			return false;
		}
	}
	return o->tenants <= o->gpus * MODEL_GRANTS_MAX;
}

int main(int argc, char **argv)
{
	struct bed b = {.now = 1000000,
		.o = {.gpus = 100,
			.tenants = 400,
			.waiting = 200,
			.seed = 1,
			.rounds = 5,
			.newcomers = 200}};
	struct result r = {0};
	if (!parse(argc, argv, &b.o)) {
		fprintf(stderr, "usage: aliquot-bench-place [--gpus N] [--tenants N] "
				"[--waiting N] [--seed N] [--rounds N] [--newcomers N] [--full]\n");
		return 2;
	}
	fill(&b);
	one_by_one(&b, &r);
	all_at_once(&b, &r);
	print(&b, &r);
	engine_destroy(b.e);
	plan_finish(&b.plan);
	VEC_FINISH(&r.newcomers);
	VEC_FINISH(&r.each);
	VEC_FINISH(&r.decisions);
	VEC_FINISH(&r.firsts);
	VEC_FINISH(&r.pictures);
	VEC_FINISH(&r.ranks);
	return 0;
}
