/* What a node tells counts for its own GPUs. A capacity pod or an agent of n1, which somebody has
 * got hold of, tells of GPU-A, which is n0's: nothing may happen to it there. */
#include "odd_bed.h"

static const struct cap own = {"cap-0", "c0", "GPU-A", false, {0}};
static const struct cap forged = {"cap-1", "c1", "GPU-A", false, {0}};

/* n1 has told it first. */
static struct bed bed_forged(void)
{
	struct bed b = bed_make();
	tell_node(&b, "n0", 1, 110);
	tell_node(&b, "n1", 1, 110);
	tell_capacity_at(&b, &forged, false, "n1");
	(void)step(&b, ACTION_EVENT);
	return b;
}

static void tell_capacity_with(struct bed *b, const struct cap *cap, const char *uid)
{
	struct grant g[] = {{uid, "default", uid, 700, 50000}};
	struct cap with = *cap;
	with.ledger = (struct ledger){g, 1};
	tell_capacity(b, &with);
}

static int events(const struct bed *b, const char *reason, const char *name)
{
	int n = 0;
	vec_for_each (const struct action, a, &b->plan.actions) {
		n += a->type == ACTION_EVENT && text_equals(a->event_reason, reason) &&
				     (name == NULL || text_equals(a->name, name))
			     ? 1
			     : 0;
	}
	return n;
}

/* Does somebody who waits get a share of it? */
static bool grants_on(struct bed *b, const char *capacity_pod)
{
	(void)step(b, ACTION_GRANT);
	bool on = false;
	vec_for_each (const struct action, a, &b->plan.actions) {
		bool here = a->type == ACTION_GRANT && text_equals(a->name, capacity_pod);
		for (uint32_t i = 0; here && i < a->ledger.count; i++) {
			on = on || strcmp(a->ledger.items[i].uid, "t") != 0;
		}
	}
	return on;
}

Test(foreign, a_forged_message_fences_no_gpu_of_another_node)
{
	struct bed b = bed_forged();
	tell_capacity(&b, &own);
	(void)step(&b, ACTION_EVENT);
	cr_expect_eq(events(&b, "GpuDoubled", NULL), 2, "both are told of");
	cr_expect_eq(engine_report(b.e)->gpus_doubled, 1);
	/* Two that fit on no GPU together: each node takes one. */
	tell_waiting(&b, "v", "0.8");
	tell_waiting(&b, "w", "0.8");
	cr_expect(grants_on(&b, "cap-0"), "the GPU of n0 is used as before");
	bed_finish(&b);
}

Test(foreign, two_of_one_node_that_tell_one_gpu_get_nobody)
{
	struct bed b = bed_make();
	tell_node(&b, "n0", 2, 110);
	tell_capacity(&b, &own);
	tell_capacity(&b, &forged);
	tell_waiting(&b, "w", "0.25");
	cr_expect_null(step(&b, ACTION_GRANT));
	cr_expect_eq(events(&b, "GpuDoubled", NULL), 2);
	bed_finish(&b);
}

/* What runs on n0 must count there: else its GPU would be given out twice. */
Test(foreign, a_tenant_counts_on_its_own_node)
{
	struct bed b = bed_forged();
	tell_capacity(&b, &own);
	tell_running(&b, "t", "cap-0", "GPU-A"); /* 0.7, and no ledger says so */
	tell_waiting(&b, "w", "0.6");
	cr_expect_not(grants_on(&b, "cap-0"));
	bed_finish(&b);
}

Test(foreign, a_gpu_that_lost_its_capacity_pod_is_not_held_by_another_nodes_word)
{
	struct bed b = bed_forged();
	tell_capacity_with(&b, &own, "t");
	tell_running(&b, "t", "cap-0", "GPU-A");
	(void)step(&b, ACTION_EVENT);
	tell_gone(&b, NAME_NAMESPACE, "cap-0");
	const struct action *a = step(&b, ACTION_CREATE_CAPACITY);
	cr_assert_not_null(a, "it is searched for");
	cr_expect_str_eq(a->node, "n0");
	cr_expect_eq(events(&b, "GpuOrphaned", "t"), 1);
	cr_expect_eq(engine_report(b.e)->gpus_orphaned, 1);
	bed_finish(&b);
}

/* The capacity pod of n1 that goes is no hope for n0's. */
Test(foreign, nor_by_one_that_is_leaving_there)
{
	struct bed b = bed_make();
	tell_node(&b, "n0", 1, 110);
	tell_node(&b, "n1", 1, 110);
	tell_capacity_with(&b, &own, "t");
	tell_running(&b, "t", "cap-0", "GPU-A");
	struct gpu_identity id = {.uuid = "GPU-A", .mem_mib = USABLE};
	struct pair label[] = {{LABEL_CAPACITY, "true"}};
	struct pod leaving = {.ns = NAME_NAMESPACE,
		.name = "cap-1",
		.uid = "c1",
		.node = "n1",
		.gpus = 1,
		.phase = POD_RUNNING,
		.labels = {label, 1},
		.identity = &id,
		.holds = true,
		.deleting_ms = 1000,
		.grace_s = 3600};
	tell_pod(&b, &leaving);
	(void)step(&b, ACTION_EVENT);
	tell_gone(&b, NAME_NAMESPACE, "cap-0");
	cr_expect_not_null(step(&b, ACTION_CREATE_CAPACITY));
	bed_finish(&b);
}

static void tell_state(struct bed *b, const char *node, const char *why)
{
	struct device_state device = {.uuid = "GPU-A", .why = why};
	struct node_state s = {.node = node,
		.boot = node,
		.sequence = b->now,
		.seen_ms = b->now,
		.devices = &device,
		.device_count = 1};
	struct change c = {.type = CHANGE_SET, .kind = KIND_STATE, .state = &s};
	engine_observe(b->e, &c);
}

Test(foreign, an_agent_calls_no_gpu_of_another_node_ill)
{
	struct bed b = bed_make();
	tell_node(&b, "n0", 1, 110);
	tell_node(&b, "n1", 1, 110);
	tell_capacity_with(&b, &own, "t");
	tell_running(&b, "t", "cap-0", "GPU-A");
	tell_state(&b, "n1", "XID 79");
	(void)step(&b, ACTION_EVENT);
	cr_expect_eq(events(&b, "GpuUnhealthy", NULL), 0, "nobody of n0 hears of it");
	tell_waiting(&b, "w", "0.25");
	cr_expect(grants_on(&b, "cap-0"));
	bed_finish(&b);
}

Test(foreign, nor_does_it_call_one_well)
{
	struct bed b = bed_make();
	tell_node(&b, "n0", 1, 110);
	tell_node(&b, "n1", 1, 110);
	tell_capacity_with(&b, &own, "t");
	tell_running(&b, "t", "cap-0", "GPU-A");
	tell_state(&b, "n0", "XID 79");
	(void)step(&b, ACTION_EVENT);
	cr_expect_eq(events(&b, "GpuUnhealthy", "t"), 1);
	tell_waiting(&b, "w", "0.25");
	for (int s = 0; s < 60; s++) {
		b.now += 1000;
		tell_state(&b, "n1", s % 2 == 0 ? "XID 79" : NULL);
		cr_assert_not(grants_on(&b, "cap-0"));
	}
	bed_finish(&b);
}
