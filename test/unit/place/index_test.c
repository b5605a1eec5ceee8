/* With an index and without: the same verdict, each of its fields, whatever the picture and
 * whatever was taken out of it before. */
#include <criterion/criterion.h>
#include <stdio.h>

#include "base/rand.h"
#include "place/place.h"
#include "walk.h"

#define NODES_MAX 40
#define GPUS_MAX  256
#define PICTURES  1500
#define REQUESTS  40

struct scene {
	struct rng rng;
	struct snapshot s;
	struct node nouns[NODES_MAX];
	char names[NODES_MAX][16];
	struct pair labels[NODES_MAX][1];
	char gpu_names[GPUS_MAX][16];
	struct pod pod;
	struct pair wants[1];
	struct amount asks[1];
	struct volume_claim claim;
	const struct volume_claim *claims[1];
};

static const char *const pools[] = {"a", "b", "c", "rare"};
static struct taint taints[] = {{"example.com/kept", "x", "NoSchedule"}};
static struct toleration tolerates[] = {{"example.com/kept", "Exists", NULL, NULL}};

static int64_t below(struct scene *c, uint64_t bound)
{
	return (int64_t)rng_below(&c->rng, bound);
}

static bool one_in(struct scene *c, uint64_t n)
{
	return rng_below(&c->rng, n) == 0;
}

/* In some pictures everything is tight, in others nothing, so that each cause decides somewhere. */
static void add_node(struct scene *c, uint32_t i, bool tight)
{
	/* Names in another order than the picture's. */
	snprintf(c->names[i], sizeof c->names[i], "n%02u", (i * 17 + 5) % 41);
	c->labels[i][0] = (struct pair){"pool", pools[one_in(c, 12) ? 3 : rng_below(&c->rng, 3)]};
	c->nouns[i] = (struct node){.name = c->names[i],
		.labels = {c->labels[i], 1},
		.taints = taints,
		.taint_count = one_in(c, 5) ? 1 : 0,
		.ready = !one_in(c, 20),
		.unschedulable = one_in(c, 20),
		.serves_hami = one_in(c, 25)};
	struct amount fpga = {"example.com/fpga", below(c, 3)};
	struct place_node n = {.noun = &c->nouns[i],
		.free_cpu_milli = below(c, tight ? 300 : 4000),
		.free_mem_bytes = below(c, tight ? 3000 : 100000) + (64 << 20),
		.free_slots = below(c, tight ? 4 : 40),
		.free_gpus = below(c, 4) - 1,
		.gpu_mem_mib = one_in(c, 3) ? 0 : 40000 * (1 + below(c, 2)),
		.no_grants = !c->nouns[i].ready || c->nouns[i].unschedulable,
		.no_opening = one_in(c, 6),
		.serves_kai = one_in(c, 25),
		.kept_apart = one_in(c, 8) ? 7 : 0,
		.others_at = (uint32_t)c->s.others.count,
		.others_count = 1};
	VEC_PUSH(&c->s.others, fpga);
	VEC_PUSH(&c->s.nodes, n);
}

static const uint64_t companies[] = {
	PLACE_NOBODY, PLACE_NOBODY, PLACE_NOBODY_MPS, 1, 1, 2, 77, PLACE_MIXED};

static void add_gpu(struct scene *c, bool full)
{
	uint32_t i = (uint32_t)c->s.gpus.count;
	if (i == GPUS_MAX) {
		return;
	}
	snprintf(c->gpu_names[i], sizeof c->gpu_names[i], "g%03u", (i * 101 + 7) % 257);
	/* Few different numbers, so that ties are many. */
	struct place_gpu g = {.node = (uint32_t)rng_below(&c->rng, c->s.nodes.count),
		.state = one_in(c, 3) ? (enum gpu_state)rng_below(&c->rng, 3) : GPU_OPEN,
		.capacity_pod = c->gpu_names[i],
		.usable_mib = one_in(c, 5) ? 0 : 40000 * (1 + below(c, 2)),
		.free_milli = 100 * (below(c, full ? 4 : 12) - 1),
		.tenants = (uint32_t)below(c, 6),
		.max_tenants = one_in(c, 3) ? (uint32_t)below(c, 6) : MODEL_GRANTS_MAX,
		.company = companies[rng_below(&c->rng, COUNT_OF(companies))],
		.fenced = one_in(c, 15)};
	g.free_mib = g.usable_mib > 0 ? 4000 * (below(c, 12) - 1) : -1000 * below(c, 3);
	VEC_PUSH(&c->s.gpus, g);
}

static void make_picture(struct scene *c, uint64_t seed)
{
	*c = (struct scene){.s = {0}};
	rng_seed(&c->rng, seed);
	bool tight = one_in(c, 2), full = one_in(c, 3);
	uint32_t nodes = 1 + (uint32_t)below(c, NODES_MAX - 1);
	for (uint32_t i = 0; i < nodes; i++) {
		add_node(c, i, tight);
	}
	for (int64_t left = below(c, 120); left > 0; left--) {
		add_gpu(c, full);
	}
}

static struct place_request make_request(struct scene *c)
{
	c->wants[0] = (struct pair){"pool", pools[rng_below(&c->rng, 4)]};
	c->asks[0] = (struct amount){"example.com/fpga", 1};
	c->claim = (struct volume_claim){.name = "data"};
	c->claims[0] = &c->claim;
	c->pod = (struct pod){.ns = "d",
		.name = "p",
		.cpu_milli = one_in(c, 4) ? 0 : 50 * below(c, 10),
		.mem_bytes = one_in(c, 4) ? 0 : 500 * below(c, 10),
		.node_selector = {c->wants, one_in(c, 2) ? 1 : 0},
		.tolerations = tolerates,
		.toleration_count = one_in(c, 2) ? 1 : 0,
		.too_complex = one_in(c, 40),
		.extra = {.amounts = {c->asks, one_in(c, 6) ? 1 : 0}}};
	struct place_request r = {.pod = &c->pod,
		.apart = one_in(c, 4) ? 7 : 0,
		.claims = c->claims,
		.claim_count = one_in(c, 5) ? 1 : 0,
		.max_tenants = one_in(c, 3) ? (uint32_t)below(c, 8) : 16,
		.company = one_in(c, 2)	  ? 1
			   : one_in(c, 2) ? 77
					  : 1000 + rng_below(&c->rng, 3),
		.mps = one_in(c, 4),
		.spread = one_in(c, 3)};
	bool by_memory = one_in(c, 3);
	r.milli = by_memory ? 0 : 50 * (1 + below(c, 20));
	r.quota_left_milli = one_in(c, 4) ? 50 * (1 + below(c, 20)) : 0;
	r.max_milli = one_in(c, 4) ? 50 * (1 + below(c, 20)) : 0;
	r.max_mib = one_in(c, 4) ? 2000 * (1 + below(c, 20)) : 0;
	r.mem_mib = by_memory || one_in(c, 3) ? 1000 * (1 + below(c, 45)) : 0;
	return r;
}

static void must_agree(const struct place_verdict *a, const struct place_verdict *b,
	const char *what, uint64_t seed)
{
	cr_assert_eq(a->gpu, b->gpu, "%s, picture %llu: GPU %u, %u", what, (unsigned long long)seed,
		a->gpu, b->gpu);
	cr_assert_eq(a->node, b->node, "%s, picture %llu: node %u, %u", what,
		(unsigned long long)seed, a->node, b->node);
	cr_assert_eq(a->reason, b->reason, "%s, picture %llu: reason %d, %d", what,
		(unsigned long long)seed, (int)a->reason, (int)b->reason);
	cr_assert_eq(a->nearest, b->nearest, "%s, picture %llu: nearest %d, %d", what,
		(unsigned long long)seed, (int)a->nearest, (int)b->nearest);
	cr_assert_eq(a->milli, b->milli);
	cr_assert_eq(a->mem_mib, b->mem_mib);
	cr_assert_eq(a->best_node, b->best_node, "%s, picture %llu: %s, %s", what,
		(unsigned long long)seed, a->best_node, b->best_node);
	cr_assert_eq(a->best_gpu, b->best_gpu);
	cr_assert_eq(a->best_milli, b->best_milli);
	cr_assert_eq(a->best_mib, b->best_mib);
}

/* What the engine does with a verdict, and what it does to GPUs by hand. */
static void go_on(struct scene *c, const struct place_request *r, struct place_verdict fit,
	struct place_verdict open)
{
	if (fit.gpu == PLACE_NOWHERE && open.node != PLACE_NOWHERE && c->s.gpus.count < GPUS_MAX) {
		place_reserve_capacity(&c->s.nodes.items[open.node], r->mps);
		add_gpu(c, false);
		fit = open;
		fit.gpu = (uint32_t)c->s.gpus.count - 1;
		struct place_gpu *g = &c->s.gpus.items[fit.gpu];
		g->node = open.node;
		g->state = GPU_OPENING;
		snapshot_gpu_moved(&c->s, fit.gpu);
	}
	if (fit.gpu != PLACE_NOWHERE) {
		place_reserve(&c->s, r, &fit);
	}
	if (one_in(c, 8) && c->s.gpus.count > 0) {
		place_keep_gpu(&c->s, (uint32_t)rng_below(&c->rng, c->s.gpus.count), 1);
	}
	if (one_in(c, 8)) {
		place_keep_node(&c->s, (uint32_t)rng_below(&c->rng, c->s.nodes.count), 1);
	}
	if (one_in(c, 6) && c->s.gpus.count > 0) {
		uint32_t at = (uint32_t)rng_below(&c->rng, c->s.gpus.count);
		c->s.gpus.items[at].free_milli += 100 * (below(c, 5) - 2);
		c->s.gpus.items[at].tenants += one_in(c, 2) ? 1 : 0;
		snapshot_gpu_moved(&c->s, at);
	}
}

static uint32_t seen[REASON_COUNT];

static void play(uint64_t seed)
{
	static struct scene scene;
	struct scene *c = &scene;
	make_picture(c, seed);
	snapshot_index(&c->s);
	for (int i = 0; i < REQUESTS; i++) {
		struct place_request r = make_request(c);
		struct place_verdict walked = walk_best_fit(&c->s, &r);
		struct place_verdict found = place_best_fit(&c->s, &r);
		must_agree(&walked, &found, "best fit", seed);
		seen[found.reason]++;
		struct place_verdict walked_open = walk_open(&c->s, &r);
		struct place_verdict open = place_open(&c->s, &r);
		must_agree(&walked_open, &open, "open", seed);
		seen[open.reason]++;
		go_on(c, &r, found, open);
	}
	snapshot_finish(&c->s);
}

Test(index, gives_the_verdicts_of_the_plain_walk)
{
	for (uint64_t seed = 1; seed <= PICTURES; seed++) {
		play(seed);
	}
	/* Each answer was asked for, or the comparison says less than it seems. */
	const enum reason all[] = {REASON_NONE, REASON_NO_GPU_NODE, REASON_SHORT_COMPUTE,
		REASON_SHORT_MEMORY, REASON_MAX_TENANTS, REASON_NODE_UNFIT, REASON_CAPACITY_FAILED,
		REASON_OTHER_SHARING, REASON_EXCLUSIVE};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		cr_expect_geq(seen[all[i]], 50, "%s was seen %u times", reason_name(all[i]),
			seen[all[i]]);
	}
}

static struct node many_noun = {.name = "many"};

/* So many GPUs with enough compute and too little memory, and one that fits. */
static uint32_t looks_among(uint32_t short_ones)
{
	struct snapshot s = {0};
	struct pod pod = {.ns = "d", .name = "p"};
	struct place_node n = {.noun = &many_noun, .free_slots = 100};
	VEC_PUSH(&s.nodes, n);
	for (uint32_t i = 0; i <= short_ones; i++) {
		struct place_gpu g = {.capacity_pod = i < short_ones ? "g" : "the one",
			.usable_mib = 80000,
			.free_milli = i < short_ones ? 500 + i % 100 : 900,
			.free_mib = i < short_ones ? i % 1000 : 70000,
			.max_tenants = 16};
		VEC_PUSH(&s.gpus, g);
	}
	snapshot_index(&s);
	struct place_request r = {.pod = &pod, .milli = 100, .mem_mib = 8000, .max_tenants = 16};
	struct place_verdict v = place_best_fit(&s, &r);
	cr_assert_eq(v.gpu, short_ones);
	snapshot_finish(&s);
	return v.looked_at;
}

Test(index, does_not_look_at_what_cannot_fit)
{
	cr_assert_leq(looks_among(20), 40);
	cr_assert_leq(looks_among(20000), 120);
}
