/* How much memory a workload can have, in a cluster with GPUs of several sizes. */
#include "bed.h"

#include "devices.h"

struct site {
	struct bed *bed;
	struct devices d;
	struct pod pod;
	struct arena arena;
};

static void init(struct site *s)
{
	*s = (struct site){.bed = bed_new(), .pod = {.name = "who"}};
	devices_init(&s->d);
}

static void finish(struct site *s)
{
	devices_finish(&s->d);
	arena_finish(&s->arena);
	bed_free(s->bed);
}

static uint32_t node(struct site *s, const char *name, const char *memory, const char *pool)
{
	s->bed->memory = memory;
	s->bed->pool = pool;
	bed_node(s->bed, name);
	return world_node_find(s->bed->world, name);
}

static void settle(struct site *s)
{
	devices_clear(&s->d);
	for (uint32_t i = 0; i < world_node_slots(s->bed->world); i++) {
		devices_see(&s->d, s->bed->world, i);
	}
}

static int64_t asked(struct site *s)
{
	return devices_for(&s->d, s->bed->world, &s->pod);
}

Test(devices, who_is_kept_to_a_pool_has_its_gpus)
{
	struct site s;
	struct pair pool = {"pool", "small"};
	init(&s);
	uint32_t small = node(&s, "a", "40960", "small");
	settle(&s);
	devices_hold(&s.d, small, 40442);
	devices_settle(&s.d, s.bed->world);
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
	bed_world(s.bed, &c);
	settle(&s);
	devices_settle(&s.d, s.bed->world);
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
	devices_settle(&s.d, s.bed->world);
	cr_expect_eq(devices_at(&s.d, bare), 0);
	cr_expect_eq(devices_at(&s.d, WORLD_NONE), 0);
	bed_world(s.bed, &c);
	settle(&s);
	devices_settle(&s.d, s.bed->world);
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

/* --- through the sizer --- */

/* 90 % of an A100 of 40 GiB, level, in a cluster that has GPUs of 80: vLLM as it comes. */
static struct bed *mixed(void)
{
	struct bed *b = bed_new();
	b->memory = "40960";
	b->pool = "a100";
	b->at = "small";
	bed_node(b, "small");
	bed_pod(b, "web", "web-1", 1);
	bed_turn(b);
	bed_run(b, "web-1", 20, 36864, 120);
	return b;
}

Test(devices, what_takes_most_of_its_own_gpu_is_preallocated)
{
	struct bed *b = mixed();
	const struct recommendation *r = bed_told(b, "deployment-web");
	cr_expect_eq(r->conditions[RECOMMENDATION_MEMORY_PREALLOCATED].status, CONDITION_TRUE);
	cr_expect_eq(r->containers[0].original.mib, 40960, "its own GPU, not the largest");
	cr_expect_eq(r->containers[0].allocated.mib, 40960);
	bed_free(b);
}

/* Or it would be gated for good: no GPU where it may go is as large. */
Test(devices, nobody_is_to_have_more_than_where_it_may_go)
{
	struct bed *b = bed_new();
	b->memory = "40960";
	b->pool = "a100";
	b->at = "small";
	bed_node(b, "small");
	bed_pod(b, "web", "web-1", 1);
	bed_turn(b);
	for (int i = 0; i < 60; i++) {
		/* not level: it grows with need */
		bed_run(b, "web-1", 20, i % 2 == 0 ? 20000 : 39000, 1);
	}
	const struct recommended_container *c = &bed_told(b, "deployment-web")->containers[0];
	cr_expect_eq(c->target.mib, 40960 - 40960 / 32);
	cr_expect_eq(c->capped_by, CAPPED_BY_DEVICE);
	cr_expect_gt(c->uncapped.mib, 40960);
	bed_free(b);
}
