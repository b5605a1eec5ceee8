/* How much memory a workload can have, in a cluster with GPUs of several sizes. */
#include <criterion/criterion.h>

#include "model/names.h"
#include "supply/devices.h"

struct site {
	struct world *world; /* owned */
	struct devices d;
	struct pod pod;
	struct arena arena;
};

static void finish(struct site *s)
{
	devices_finish(&s->d);
	arena_finish(&s->arena);
	world_destroy(s->world);
}

static uint32_t node(struct site *s, const char *name, const char *memory, const char *pool)
{
	struct pair labels[] = {{"nvidia.com/gpu.memory", memory}, {"pool", pool}};
	struct node n = {.name = name,
		.uid = name,
		.resource_version = "1",
		.labels = {labels, COUNT_OF(labels)},
		.gpus = 8,
		.ready = true};
	struct change c = {.kind = KIND_NODE, .node = &n};
	world_apply(s->world, &c);
	return world_node_find(s->world, name);
}

static void init(struct site *s)
{
	*s = (struct site){.world = world_create(), .pod = {.name = "who"}};
	devices_init(&s->d);
	(void)node(s, "node", "81920", "");
}

static void settle(struct site *s)
{
	VEC_CLEAR(&s->d.found);
	for (uint32_t i = 0; i < world_node_slots(s->world); i++) {
		devices_see(&s->d, s->world, i);
	}
}

static int64_t asked(struct site *s)
{
	return devices_for(&s->d, s->world, &s->pod);
}

Test(devices, who_is_kept_to_a_pool_has_its_gpus)
{
	struct site s;
	struct pair pool = {"pool", "small"};
	init(&s);
	uint32_t small = node(&s, "a", "40960", "small");
	settle(&s);
	devices_hold(&s.d, small, 40442);
	devices_settle(&s.d, s.world);
	cr_expect_eq(devices_at(&s.d, small), 40442, "what it told, not the label");
	cr_expect_eq(devices_largest(&s.d), 81920);
	cr_expect_eq(asked(&s), 81920 - 81920 / 32, "of a label what can be had at the least");
	s.pod.node_selector = (struct pairs){&pool, 1};
	cr_expect_eq(asked(&s), 40442);
	uint64_t looks = s.d.looks;
	cr_expect_eq(asked(&s), 40442);
	cr_expect_eq(s.d.looks, looks, "looked for once a round");
	pool.value = "none";
	cr_expect_eq(asked(&s), 81920 - 81920 / 32, "nowhere: what anybody has");
	finish(&s);
}

Test(devices, a_taint_keeps_who_does_not_tolerate_it)
{
	struct site s;
	struct taint taint = {"large", "yes", "NoSchedule"};
	struct pair label = {"nvidia.com/gpu.memory", "143771"};
	struct toleration tolerates = {"large", "Exists", NULL, NULL};
	struct node large = {.name = "large",
		.uid = "large",
		.resource_version = "1",
		.labels = {&label, 1},
		.taints = &taint,
		.taint_count = 1,
		.gpus = 8,
		.ready = true};
	struct change c = {.kind = KIND_NODE, .node = &large};
	init(&s);
	world_apply(s.world, &c);
	settle(&s);
	devices_settle(&s.d, s.world);
	cr_expect_lt(asked(&s), 81920);
	s.pod.tolerations = &tolerates;
	s.pod.toleration_count = 1;
	cr_expect_gt(asked(&s), 81920);
	finish(&s);
}

/* Without discovery of features the agents tell it; without those nobody does. */
Test(devices, an_agent_tells_where_no_label_does)
{
	struct site s;
	struct device_state of[] = {
		{.uuid = "GPU-1", .total_mib = 16384}, {.uuid = "GPU-2", .total_mib = 24576}};
	struct node_state state = {
		.node = "bare", .boot = "1", .sequence = 1, .devices = of, .device_count = 2};
	struct change c = {.kind = KIND_STATE, .state = &state};
	init(&s);
	uint32_t bare = node(&s, "bare", "", NULL);
	settle(&s);
	devices_settle(&s.d, s.world);
	cr_expect_eq(devices_at(&s.d, bare), 0);
	cr_expect_eq(devices_at(&s.d, WORLD_NONE), 0);
	world_apply(s.world, &c);
	settle(&s);
	devices_settle(&s.d, s.world);
	cr_expect_eq(devices_at(&s.d, bare), 24576);
	finish(&s);
}

static struct pod placed(const char *node, struct node_term *terms, uint32_t count)
{
	static struct pair label = {LABEL_TENANT, "true"};
	return (struct pod){
		.node = node, .labels = {&label, 1}, .node_terms = terms, .node_term_count = count};
}

Test(devices, a_tenant_may_go_where_it_could_before_it_was_placed)
{
	struct site s;
	const char *here[] = {"node"}, *pool[] = {"small"};
	struct term pin = {"metadata.name", TERM_IN, here, 1}, label = {"pool", TERM_IN, pool, 1};
	struct node_term terms[] = {{{NULL, 0}, {&pin, 1}}, {{&label, 1}, {&pin, 1}}};
	struct pod anew;
	init(&s);
	struct pod tenant = placed("node", terms, 1);
	devices_unpin(&tenant, &s.arena, &anew);
	cr_expect_eq(anew.node_term_count, 0, "it asked for nothing");
	tenant = placed("node", terms + 1, 1);
	devices_unpin(&tenant, &s.arena, &anew);
	cr_assert_eq(anew.node_term_count, 1);
	cr_expect_eq(anew.node_terms[0].labels.count, 1);
	cr_expect_eq(anew.node_terms[0].fields.count, 0);
	cr_expect_eq(terms[1].fields.count, 1, "the pod itself is as it was");
	tenant.owner.kind = "DaemonSet";
	devices_unpin(&tenant, &s.arena, &anew);
	cr_expect_eq(anew.node_terms[0].fields.count, 1, "its owner pins it");
	finish(&s);
}
