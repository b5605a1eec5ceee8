/* Could any node give that pod a share? As admission asks, of kinds of nodes. */
#include "demand/node_pools.h"

#include <criterion/criterion.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/str.h"
#include "model/names.h"
#include "world/world.h"

struct bed {
	struct world *w;
	struct pools *p;
	struct unfit_tally why;
};

static struct bed bed_make(void)
{
	return (struct bed){.w = world_create(), .p = pools_create()};
}

static void bed_finish(struct bed *b)
{
	pools_destroy(b->p);
	world_destroy(b->w);
}

static void tell(struct bed *b, struct node n)
{
	struct change c = {.type = CHANGE_SET, .kind = KIND_NODE, .node = &n};
	world_apply(b->w, &c);
}

/* A node of one GPU, in a pool and with a host name. */
static struct node node_in(const char *name, const char *pool, struct pair *room)
{
	room[0] = (struct pair){"kubernetes.io/hostname", name};
	room[1] = (struct pair){"pool", pool};
	return (struct node){
		.name = name, .ready = true, .pod_slots = 10, .gpus = 1, .labels = {room, 2}};
}

static bool refuses(struct bed *b, const char *key, const char *value)
{
	struct pair wants[] = {{key, value}};
	struct pod pod = {.ns = "team", .node_selector = {wants, key != NULL ? 1 : 0}};
	return pools_refuse(b->p, b->w, &pod, NULL, &b->why);
}

Test(pools, nodes_that_others_give_out)
{
	static const struct {
		bool shares, hami, kai, mig, cordoned;
		enum unfit cause;
	} rows[] = {
		{.shares = true, .cause = UNFIT_SHARED},
		{.hami = true, .cause = UNFIT_HAMI},
		{.kai = true, .cause = UNFIT_KAI},
		{.mig = true, .cause = UNFIT_MIG},
		{.cordoned = true, .cause = UNFIT_NONE},
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct bed b = bed_make();
		struct pair room[2], other[2];
		struct node bad = node_in("bad", "a", room);
		bad.shares_already = rows[i].shares;
		bad.serves_hami = rows[i].hami;
		bad.serves_kai = rows[i].kai;
		bad.is_mig = rows[i].mig;
		bad.unschedulable = rows[i].cordoned;
		cr_expect_not(refuses(&b, "pool", "a"), "row %zu: no node at all", i);
		tell(&b, bad);
		bool refused = rows[i].cause != UNFIT_NONE;
		cr_expect_eq(refuses(&b, "pool", "a"), refused, "row %zu", i);
		cr_expect_eq(b.why.nodes, refused ? 1 : 0, "row %zu", i);
		cr_expect(!refused || b.why.by[rows[i].cause].nodes == 1, "row %zu", i);
		cr_expect_eq(refuses(&b, "kubernetes.io/hostname", "bad"), refused, "row %zu", i);
		cr_expect_eq(refuses(&b, NULL, NULL), refused, "row %zu", i);
		cr_expect_not(refuses(&b, "pool", "b"), "row %zu: one may come", i);
		tell(&b, node_in("good", "b", other));
		cr_expect_eq(refuses(&b, "pool", "a"), refused, "row %zu", i);
		cr_expect_not(refuses(&b, NULL, NULL), "row %zu: it may go to the other", i);
		bed_finish(&b);
	}
}

Test(pools, what_is_told_of_a_node_later)
{
	struct bed b = bed_make();
	struct pair room[2];
	struct gpu_slice slice = {.name = "s", .node = "n"};
	struct change set = {.type = CHANGE_SET, .kind = KIND_SLICE, .slice = &slice};
	struct change gone = {.type = CHANGE_GONE, .kind = KIND_SLICE, .name = "s"};
	tell(&b, node_in("n", "a", room));
	cr_expect_not(refuses(&b, "pool", "a"));
	world_apply(b.w, &set);
	cr_expect(refuses(&b, "pool", "a"));
	cr_expect_eq(b.why.by[UNFIT_DRA].nodes, 1);
	world_apply(b.w, &gone);
	cr_expect_not(refuses(&b, "pool", "a"));

	struct pod kai = {.ns = "team", .name = "k", .uid = "k", .gpus = 1, .node = "n"};
	struct change pod = {.type = CHANGE_SET, .kind = KIND_POD, .pod = &kai};
	kai.scheduler = "kai-scheduler";
	world_apply(b.w, &pod);
	cr_expect(refuses(&b, "pool", "a"));
	struct change leaves = {.type = CHANGE_GONE, .kind = KIND_NODE, .name = "n"};
	world_apply(b.w, &leaves);
	cr_expect_not(refuses(&b, "pool", "a"), "there is none left");
	bed_finish(&b);
}

/* Nodes that publish their GPUs through DRA, or as partitions, offer no nvidia.com/gpu at all. */
Test(pools, nodes_without_any_whole_gpu)
{
	struct bed b = bed_make();
	struct pair room[2], other[2];
	struct amount mig = {"nvidia.com/mig-1g.5gb", 7};
	struct node n = node_in("n", "a", room);
	n.gpus = 0;
	tell(&b, n);
	cr_expect_not(refuses(&b, "pool", "a"), "it has nothing to do with GPUs");
	n.others = (struct amounts){&mig, 1};
	tell(&b, n);
	cr_expect(refuses(&b, "pool", "a"));
	tell(&b, node_in("m", "a", other));
	cr_expect_not(refuses(&b, "pool", "a"));
	bed_finish(&b);
}

Test(pools, taints_that_pass_and_those_that_do_not)
{
	static const struct {
		const char *key;
		bool refused; /* it keeps the pod off the node that we could use */
	} rows[] = {
		{"team-a-only", true},
		{NAME_GPU_RESOURCE, false},
		{"node.kubernetes.io/not-ready", false},
		{"karpenter.sh/disrupted", false},
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct bed b = bed_make();
		struct pair room[2], other[2];
		struct taint t = {rows[i].key, "", "NoSchedule"};
		struct node ours = node_in("ours", "a", room);
		struct node theirs = node_in("theirs", "a", other);
		theirs.shares_already = true;
		ours.taints = &t;
		ours.taint_count = 1;
		tell(&b, theirs);
		tell(&b, ours);
		cr_expect_eq(refuses(&b, "pool", "a"), rows[i].refused, "row %zu", i);
		bed_finish(&b);
	}
}

Test(pools, the_class_of_capacity_pods)
{
	struct bed b = bed_make();
	struct pair room[2], wanted[] = {{"nvidia.com/gpu.present", "true"}};
	struct pairs class = {wanted, 1};
	struct pod pod = {.ns = "team"};
	tell(&b, node_in("n", "a", room));
	cr_expect(pools_refuse(b.p, b.w, &pod, &class, &b.why));
	cr_expect_eq(b.why.by[UNFIT_RUNTIME].nodes, 1);
	class.count = 0;
	cr_expect_not(pools_refuse(b.p, b.w, &pod, &class, &b.why));
	bed_finish(&b);
}

/* Five thousand nodes of one kind are one, and nobody makes a review look at more than it may: who
 * writes more rules than that gets no answer, and is treated as if nothing were known. */
Test(pools, the_work_is_bounded)
{
	enum { NODES = 5000, VALUES = 200 };
	struct bed b = bed_make();
	static const char *values[VALUES];
	struct term own = {"kubernetes.io/hostname", TERM_IN, values, VALUES};
	struct node_term term = {.labels = {&own, 1}};
	struct pod pod = {.ns = "team", .node_terms = &term, .node_term_count = 1};
	for (int i = 0; i < NODES; i++) {
		char name[16];
		struct pair room[2];
		snprintf(name, sizeof name, "n%d", i);
		struct node n = node_in(name, "a", room);
		n.shares_already = true;
		tell(&b, n);
	}
	for (int i = 0; i < VALUES; i++) {
		values[i] = "n1";
	}
	cr_expect(refuses(&b, "pool", "a"));
	cr_expect_eq(b.why.nodes, NODES);
	cr_expect_not(pools_refuse(b.p, b.w, &pod, NULL, &b.why), "that many are not looked at");
	own.value_count = 1;
	own.key = "pool";
	values[0] = "a";
	cr_expect(pools_refuse(b.p, b.w, &pod, NULL, &b.why));
	bed_finish(&b);
}
