/* What the engine asks of a node before anything is promised there, and what it says of it. */
#include "odd_bed.h"

/* A tenant that waits for half a GPU and takes something else of its node. */
struct want {
	const char *name;
	int64_t cpu_milli, mem_bytes;
	struct extra extra;
};

static void tell_want(struct bed *b, const struct want *w)
{
	struct pair label[] = {{LABEL_TENANT, "true"}};
	struct pair notes[] = {{NOTE_ORIGINAL, "{}"}, {NOTE_SHARE, "0.9"}};
	const char *gate[] = {NAME_GATE};
	struct pod p = {.ns = "default",
		.name = w->name,
		.uid = w->name,
		.cpu_milli = w->cpu_milli,
		.mem_bytes = w->mem_bytes,
		.extra = w->extra,
		.labels = {label, 1},
		.notes = {notes, 2},
		.gates = gate,
		.gate_count = 1};
	tell_pod(b, &p);
}

/* A pod without a GPU on n0. */
static void tell_other(struct bed *b, const char *name, struct extra extra)
{
	struct pod p = {.ns = "default",
		.name = name,
		.uid = name,
		.node = "n0",
		.phase = POD_RUNNING,
		.extra = extra};
	tell_pod(b, &p);
}

static void tell_two_open(struct bed *b)
{
	tell_capacity(b, &(struct cap){"cap-a", "ca", "GPU-A", false, {0}});
	tell_capacity(b, &(struct cap){"cap-b", "cb", "GPU-B", false, {0}});
}

static const char *said(struct bed *b, enum reason reason)
{
	b->now += 11000;
	const struct action *a = step(b, ACTION_CONDITION);
	cr_assert_not_null(a, "no condition");
	cr_expect_eq(a->reason, reason, "%s", reason_name(a->reason));
	return a->message;
}

/* C21: between the two writes a tenant stands in the ledger and carries the gate. Its CPU is gone
 * all the same. */
Test(fit, c21_what_is_granted_counts_before_the_gate_goes)
{
	struct bed b = bed_make();
	tell_node(&b, "n0", 2, 110);
	tell_two_open(&b);
	tell_want(&b, &(struct want){.name = "first", .cpu_milli = 40000});
	const struct action *a = step(&b, ACTION_GRANT);
	cr_assert_not_null(a);
	cr_assert_str_eq(a->name, "cap-a");
	tell_want(&b, &(struct want){.name = "second", .cpu_milli = 40000});
	b.now += 20;
	cr_expect_null(step(&b, ACTION_GRANT), "64 CPUs do not hold both");
	cr_expect_eq(engine_report(b.e)->by_reason[REASON_NODE_UNFIT], 1);
	tell_want(&b, &(struct want){.name = "third", .cpu_milli = 20000});
	a = step(&b, ACTION_GRANT);
	cr_assert_not_null(a);
	cr_expect_str_eq(a->ledger.items[0].name, "third");
	bed_finish(&b);
}

/* One that is placed and that the scheduler has not bound yet. */
static void tell_unbound(struct bed *b, const struct want *w)
{
	struct pair label[] = {{LABEL_TENANT, "true"}};
	struct pair notes[] = {{NOTE_CAPACITY_POD, "cap-a"}, {NOTE_COMPUTE_MILLI, "900"},
		{NOTE_GPU_UUID, "GPU-A"}, {NOTE_MEMORY_MIB, "72000"}};
	struct pod p = {.ns = "default",
		.name = w->name,
		.uid = w->name,
		.cpu_milli = w->cpu_milli,
		.mem_bytes = w->mem_bytes,
		.labels = {label, 1},
		.notes = {notes, 4}};
	tell_pod(b, &p);
}

/* C21: so is what it takes of its node before it is bound. */
Test(fit, c21_what_is_placed_counts_before_it_is_bound)
{
	static const struct {
		int64_t cpu_milli, mem_bytes, slots;
	} each[] = {{40000, 0, 110}, {0, (int64_t)600 << 30, 110}, {0, 0, 3}};
	for (size_t i = 0; i < COUNT_OF(each); i++) {
		struct grant first[] = {{"first", "default", "first", 900, 72000}};
		struct bed b = bed_make();
		tell_node(&b, "n0", 2, each[i].slots);
		tell_capacity(&b, &(struct cap){"cap-a", "ca", "GPU-A", false, {first, 1}});
		tell_capacity(&b, &(struct cap){"cap-b", "cb", "GPU-B", false, {0}});
		struct want w = {"first", each[i].cpu_milli, each[i].mem_bytes, {{0}, {0}}};
		tell_unbound(&b, &w);
		w.name = "second";
		tell_want(&b, &w);
		cr_expect_null(step(&b, ACTION_GRANT), "%zu", i);
		cr_expect_eq(engine_report(b.e)->by_reason[REASON_NODE_UNFIT], 1, "%zu", i);
		tell_gone(&b, "default", "first");
		cr_expect_not_null(step(&b, ACTION_GRANT), "%zu", i);
		bed_finish(&b);
	}
}

static void tell_node_with(struct bed *b, const char *resource, int64_t amount)
{
	struct amount others[] = {{resource, amount}};
	struct node n = {.name = "n0",
		.ready = true,
		.cpu_milli = 64000,
		.mem_bytes = (int64_t)1 << 40,
		.pod_slots = 110,
		.gpus = 2,
		.others = {others, 1}};
	struct change set = {.type = CHANGE_SET, .kind = KIND_NODE, .node = &n};
	engine_observe(b->e, &set);
}

Test(fit, an_extended_resource_that_another_pod_holds)
{
	struct amount one[] = {{"example.com/fpga", 1}};
	struct extra fpga = {.amounts = {one, 1}};
	struct bed b = bed_make();
	tell_node_with(&b, "example.com/fpga", 1);
	tell_two_open(&b);
	tell_other(&b, "plain", fpga);
	tell_want(&b, &(struct want){.name = "w", .extra = fpga});
	cr_expect_null(step(&b, ACTION_GRANT));
	cr_expect_null(step(&b, ACTION_CREATE_CAPACITY));
	const char *text = said(&b, REASON_NODE_UNFIT);
	cr_expect_not_null(strstr(text, "1 node lacks example.com/fpga"), "%s", text);
	tell_gone(&b, "default", "plain");
	cr_expect_not_null(step(&b, ACTION_GRANT));
	/* Two at once for the one that is there: one gets it. */
	tell_want(&b, &(struct want){.name = "x", .extra = fpga});
	cr_expect_null(step(&b, ACTION_GRANT));
	bed_finish(&b);
}

Test(fit, a_host_port_that_a_tenant_on_its_way_has)
{
	struct host_port port[] = {{8080, "TCP", ""}};
	struct extra takes = {.ports = {port, 1}};
	struct pair label[] = {{LABEL_TENANT, "true"}};
	struct pair notes[] = {{NOTE_CAPACITY_POD, "cap-a"}, {NOTE_COMPUTE_MILLI, "700"},
		{NOTE_GPU_UUID, "GPU-A"}, {NOTE_MEMORY_MIB, "50000"}};
	struct pod placed = {.ns = "default",
		.name = "placed",
		.uid = "placed",
		.labels = {label, 1},
		.notes = {notes, 4},
		.extra = takes};
	struct bed b = bed_make();
	tell_node(&b, "n0", 2, 110);
	tell_two_open(&b);
	tell_pod(&b, &placed);
	tell_want(&b, &(struct want){.name = "w", .extra = takes});
	const struct action *grant = step(&b, ACTION_GRANT);
	cr_assert_not_null(grant, "the ledger gets who is placed");
	cr_assert_eq(grant->ledger.count, 1);
	cr_expect_str_eq(grant->ledger.items[0].uid, "placed");
	const char *text = said(&b, REASON_NODE_UNFIT);
	cr_expect_not_null(strstr(text, "1 node has the host port taken"), "%s", text);
	placed.phase = POD_SUCCEEDED;
	tell_pod(&b, &placed);
	cr_expect_not_null(step(&b, ACTION_GRANT));
	bed_finish(&b);
}

Test(fit, c27_a_node_with_pods_of_kai_gets_nothing)
{
	static const struct pod rows[] = {
		{.ns = "kai-resource-reservation", .name = "r"},
		{.ns = "team", .name = "r", .scheduler = "kai-scheduler"},
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct bed b = bed_make();
		struct pod kai = rows[i];
		kai.uid = "r";
		kai.node = "n0";
		kai.gpus = 1;
		kai.phase = POD_RUNNING;
		tell_node(&b, "n0", 8, 110);
		tell_pod(&b, &kai);
		tell_capacity(&b, &(struct cap){"cap-a", "ca", "GPU-A", false, {0}});
		tell_want(&b, &(struct want){.name = "w"});
		cr_expect_null(step(&b, ACTION_GRANT));
		cr_expect_null(step(&b, ACTION_CREATE_CAPACITY));
		const char *text = said(&b, REASON_OTHER_SHARING);
		cr_expect_not_null(strstr(text, "1 node serves its GPUs to KAI"), "%s", text);
		tell_gone(&b, kai.ns, "r");
		cr_expect_not_null(step(&b, ACTION_GRANT));
		bed_finish(&b);
	}
}

/* A node whose GPUs nobody offers to us is no candidate, and is named all the same. */
Test(fit, c27_says_where_the_gpus_are_that_nobody_offers)
{
	struct bed b = bed_make();
	struct node n = {.name = "hami", .ready = true, .pod_slots = 10, .serves_hami = true};
	struct change set = {.type = CHANGE_SET, .kind = KIND_NODE, .node = &n};
	engine_observe(b.e, &set);
	tell_want(&b, &(struct want){.name = "w"});
	cr_expect_null(step(&b, ACTION_CREATE_CAPACITY));
	const char *text = said(&b, REASON_NO_GPU_NODE);
	cr_expect_not_null(strstr(text, ": 1 node serves its GPUs to HAMi"), "%s", text);
	bed_finish(&b);
}

/* What is not judged does not keep a pod waiting, and the event says so. */
Test(fit, what_is_left_to_the_scheduler_is_said)
{
	static const struct {
		bool affinity, spread;
		const char *said;
	} rows[] = {{false, false, "of node n0"},
		{true, false, "; left to the scheduler: its pod affinity"},
		{false, true, "; left to the scheduler: its topology spread"},
		{true, true, "; left to the scheduler: its pod affinity and topology spread"}};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct pair label[] = {{LABEL_TENANT, "true"}};
		struct pair notes[] = {{NOTE_ORIGINAL, "{}"}, {NOTE_SHARE, "0.5"},
			{NOTE_CAPACITY_POD, "cap-a"}, {NOTE_COMPUTE_MILLI, "500"},
			{NOTE_GPU_UUID, "GPU-A"}, {NOTE_MEMORY_MIB, "40000"}};
		const char *gate[] = {NAME_GATE};
		struct pod p = {.ns = "default",
			.name = "w",
			.uid = "w",
			.labels = {label, 1},
			.notes = {notes, 2},
			.gates = gate,
			.gate_count = 1,
			.has_pod_affinity = rows[i].affinity,
			.has_spread = rows[i].spread};
		struct bed b = bed_make();
		tell_node(&b, "n0", 1, 110);
		tell_capacity(&b, &(struct cap){"cap-a", "ca", "GPU-A", false, {0}});
		tell_pod(&b, &p);
		cr_assert_not_null(step(&b, ACTION_GRANT));
		p.gate_count = 0;
		p.notes.count = 6;
		tell_pod(&b, &p);
		const struct action *a = step(&b, ACTION_EVENT);
		cr_assert_not_null(a);
		size_t n = strlen(a->message), tail = strlen(rows[i].said);
		cr_expect(n >= tail && strcmp(a->message + n - tail, rows[i].said) == 0, "%s",
			a->message);
		bed_finish(&b);
	}
}

static void tell_claim(struct bed *b, enum claim_state state, const char *zone)
{
	struct term in_zone = {"zone", TERM_IN, &zone, 1};
	struct node_term term = {.labels = {&in_zone, 1}};
	struct volume_claim c = {.ns = "default",
		.name = "data",
		.state = state,
		.terms = &term,
		.term_count = zone != NULL ? 1 : 0};
	struct change set = {.type = CHANGE_SET, .kind = KIND_CLAIM, .claim = &c};
	engine_observe(b->e, &set);
}

static void tell_with_claim(struct bed *b)
{
	struct pair label[] = {{LABEL_TENANT, "true"}};
	struct pair notes[] = {{NOTE_ORIGINAL, "{}"}, {NOTE_SHARE, "0.5"}};
	const char *gate[] = {NAME_GATE};
	const char *claims[] = {"data"};
	struct pod p = {.ns = "default",
		.name = "w",
		.uid = "w",
		.labels = {label, 1},
		.notes = {notes, 2},
		.gates = gate,
		.gate_count = 1,
		.claims = claims,
		.claim_count = 1};
	tell_pod(b, &p);
}

static void tell_zone_node(struct bed *b, const char *name, const char *zone)
{
	struct pair labels[] = {{"zone", zone}};
	struct node n = {.name = name,
		.labels = {labels, 1},
		.ready = true,
		.cpu_milli = 64000,
		.mem_bytes = (int64_t)1 << 40,
		.pod_slots = 110,
		.gpus = 1};
	struct change set = {.type = CHANGE_SET, .kind = KIND_NODE, .node = &n};
	engine_observe(b->e, &set);
}

/* A volume that is bound decides the node; nothing is opened before it is known. */
Test(fit, a_gpu_is_opened_where_the_volume_is)
{
	struct bed b = bed_make();
	tell_zone_node(&b, "n0", "a");
	tell_zone_node(&b, "n1", "b");
	tell_with_claim(&b);
	cr_expect_null(step(&b, ACTION_CREATE_CAPACITY));
	cr_expect_eq(engine_report(b.e)->by_reason[REASON_READING_VOLUMES], 1);
	tell_claim(&b, CLAIM_BOUND, "b");
	const struct action *a = step(&b, ACTION_CREATE_CAPACITY);
	cr_assert_not_null(a);
	cr_expect_str_eq(a->node, "n1");
	bed_finish(&b);
}

Test(fit, a_volume_elsewhere_or_not_ready_is_said)
{
	static const struct {
		enum claim_state state;
		const char *zone;
		enum reason reason;
		const char *said;
	} rows[] = {
		{CLAIM_BOUND, "c", REASON_NODE_UNFIT,
			"1 node cannot have the volume of claim data"},
		{CLAIM_UNBOUND, NULL, REASON_VOLUME_NOT_READY,
			"claim data is not bound to a volume"},
		{CLAIM_MISSING, NULL, REASON_VOLUME_NOT_READY, "claim data does not exist"},
		{CLAIM_LEAVING, NULL, REASON_VOLUME_NOT_READY, "claim data is being deleted"},
		{CLAIM_LOST, NULL, REASON_VOLUME_NOT_READY, "claim data has lost its volume"},
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct bed b = bed_make();
		tell_zone_node(&b, "n0", "a");
		tell_with_claim(&b);
		tell_claim(&b, rows[i].state, rows[i].zone);
		cr_expect_null(step(&b, ACTION_CREATE_CAPACITY), "row %zu", i);
		const char *text = said(&b, rows[i].reason);
		cr_expect_not_null(strstr(text, rows[i].said), "row %zu: %s", i, text);
		/* What waits for its first consumer, or cannot be judged, is the scheduler's. */
		tell_claim(&b, i % 2 == 0 ? CLAIM_WAITS : CLAIM_UNJUDGED, NULL);
		cr_expect_not_null(step(&b, ACTION_CREATE_CAPACITY), "row %zu", i);
		bed_finish(&b);
	}
}

/* An open GPU that the pod does not select says nothing about the node that it does. */
Test(fit, c27_is_told_although_there_are_open_gpus_elsewhere)
{
	struct pair wants[] = {{"zone", "b"}}, label[] = {{LABEL_TENANT, "true"}};
	struct pair notes[] = {{NOTE_ORIGINAL, "{}"}, {NOTE_SHARE, "0.5"}};
	const char *gate[] = {NAME_GATE};
	struct pod p = {.ns = "default",
		.name = "w",
		.uid = "w",
		.labels = {label, 1},
		.notes = {notes, 2},
		.gates = gate,
		.gate_count = 1,
		.node_selector = {wants, 1}};
	struct node n = {.name = "n1",
		.labels = {wants, 1},
		.ready = true,
		.pod_slots = 10,
		.gpus = 1,
		.shares_already = true};
	struct amount slices = {"nvidia.com/mig-1g.10gb", 7};
	struct node parted = {
		.name = "n2", .labels = {wants, 1}, .ready = true, .others = {&slices, 1}};
	struct node plain = {.name = "n3", .labels = {wants, 1}, .ready = true};
	struct pod kai = {.ns = "team", .name = "k", .uid = "k", .node = "n3"};
	kai.scheduler = "kai-scheduler";
	struct change set = {.type = CHANGE_SET, .kind = KIND_NODE, .node = &n};
	struct bed b = bed_make();
	tell_node(&b, "n0", 1, 110);
	tell_capacity(&b, &(struct cap){"cap-a", "ca", "GPU-A", false, {0}});
	engine_observe(b.e, &set);
	set.node = &parted;
	engine_observe(b.e, &set);
	set.node = &plain;
	engine_observe(b.e, &set);
	tell_pod(&b, &kai);
	tell_pod(&b, &p);
	cr_expect_null(step(&b, ACTION_GRANT));
	const char *text = said(&b, REASON_OTHER_SHARING);
	const char *both =
		": 1 node gives out its GPUs as MIG partitions, 1 shares its GPUs already";
	cr_expect_not_null(strstr(text, both), "%s", text);
	cr_expect_null(strstr(text, "KAI"), "a node without GPUs: %s", text);
	bed_finish(&b);
}

struct replica {
	const char *name, *ns;
	bool apart;	  /* from app=web of its namespace */
	const char *node; /* NULL: it waits */
};

static void tell_replica(struct bed *b, const struct replica *r)
{
	struct pair labels[] = {{LABEL_TENANT, "true"}, {"app", "web"}};
	struct pair notes[] = {{NOTE_ORIGINAL, "{}"}, {NOTE_SHARE, "0.25"}};
	const char *gate[] = {NAME_GATE};
	struct neighbour_term alone = {.pods = {.present = true, .match_labels = {labels + 1, 1}}};
	struct pod p = {.ns = r->ns,
		.name = r->name,
		.uid = r->name,
		.node = r->node,
		.phase = r->node != NULL ? POD_RUNNING : POD_PENDING,
		.labels = {labels, 2},
		.notes = {notes, 2},
		.gates = gate,
		.gate_count = r->node != NULL ? 0 : 1,
		.neighbours = &alone,
		.neighbour_count = r->apart ? 1 : 0};
	pairs_sort(&p.labels);
	tell_pod(b, &p);
}

/* Two replicas that want no other of theirs beside them: the open GPU has room for both. */
Test(fit, replicas_that_keep_apart_go_to_two_nodes)
{
	struct bed b = bed_make();
	tell_node(&b, "n0", 2, 110);
	tell_node(&b, "n1", 2, 110);
	tell_capacity(&b, &(struct cap){"cap-a", "ca", "GPU-A", false, {0}});
	tell_replica(&b, &(struct replica){"r0", "default", true, NULL});
	tell_replica(&b, &(struct replica){"r1", "default", true, NULL});
	const struct action *a = step(&b, ACTION_GRANT);
	cr_assert_not_null(a);
	cr_expect_eq(a->ledger.count, 1);
	a = NULL;
	vec_for_each (const struct action, x, &b.plan.actions) {
		a = x->type == ACTION_CREATE_CAPACITY ? x : a;
	}
	cr_assert_not_null(a, "the other one opens another GPU");
	cr_expect_str_eq(a->node, "n1");
	bed_finish(&b);
}

Test(fit, anti_affinity_of_those_who_run_counts_too)
{
	static const struct {
		struct replica runs, waits;
		bool apart;
	} rows[] = {
		{{"r0", "default", false, "n0"}, {"r1", "default", true, NULL}, true},
		{{"r0", "default", true, "n0"}, {"r1", "default", false, NULL}, true},
		{{"r0", "default", false, "n0"}, {"r1", "default", false, NULL}, false},
		{{"r0", "team", true, "n0"}, {"r1", "default", true, NULL}, false},
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct bed b = bed_make();
		tell_node(&b, "n0", 1, 110);
		tell_capacity(&b, &(struct cap){"cap-a", "ca", "GPU-A", false, {0}});
		tell_replica(&b, &rows[i].runs);
		tell_replica(&b, &rows[i].waits);
		cr_expect_eq(step(&b, ACTION_GRANT) == NULL, rows[i].apart, "row %zu", i);
		if (rows[i].apart) {
			const char *text = said(&b, REASON_NODE_UNFIT);
			cr_expect_not_null(
				strstr(text, "1 node has a pod that anti-affinity keeps apart"),
				"row %zu: %s", i, text);
			tell_gone(&b, "default", "r0");
			cr_expect_not_null(step(&b, ACTION_GRANT), "row %zu", i);
		}
		bed_finish(&b);
	}
}

Test(fit, c27_a_node_that_publishes_through_dra_gets_nothing)
{
	struct gpu_slice slice = {"s", "n0"};
	struct change set = {.type = CHANGE_SET, .kind = KIND_SLICE, .slice = &slice};
	struct change gone = {.type = CHANGE_GONE, .kind = KIND_SLICE, .name = "s"};
	struct bed b = bed_make();
	tell_node(&b, "n0", 2, 110);
	engine_observe(b.e, &set);
	tell_want(&b, &(struct want){.name = "w"});
	cr_expect_null(step(&b, ACTION_CREATE_CAPACITY));
	const char *text = said(&b, REASON_OTHER_SHARING);
	cr_expect_not_null(strstr(text, "1 node publishes its GPUs through DRA"), "%s", text);
	/* Where that is all, the node offers no nvidia.com/gpu at all. */
	tell_node(&b, "n0", 0, 110);
	b.now += 60000;
	text = said(&b, REASON_NO_GPU_NODE);
	cr_expect_not_null(strstr(text, "1 node publishes its GPUs through DRA"), "%s", text);
	tell_node(&b, "n0", 2, 110);
	engine_observe(b.e, &gone);
	cr_expect_not_null(step(&b, ACTION_CREATE_CAPACITY));
	bed_finish(&b);
}

static void tell_class(struct bed *b, const struct runtime_class *class)
{
	struct change c = {.type = CHANGE_RUNTIME, .runtime = class};
	engine_observe(b->e, &c);
}

Test(fit, c5_says_that_the_class_of_capacity_pods_goes_elsewhere)
{
	struct bed b = bed_make();
	struct pair wanted[] = {{"gpus", "shared"}};
	tell_class(&b, &(struct runtime_class){.selector = {wanted, 1}});
	tell_node(&b, "n0", 1, 110);
	tell_want(&b, &(struct want){.name = "w"});
	cr_expect_null(step(&b, ACTION_CREATE_CAPACITY));
	const char *text = said(&b, REASON_RUNTIME_CLASS);
	cr_expect_not_null(strstr(text, "1 node is not for the RuntimeClass"), "%s", text);
	tell_class(&b, NULL);
	cr_expect_not_null(step(&b, ACTION_CREATE_CAPACITY));
	bed_finish(&b);
}

Test(fit, c5_a_class_costs_its_capacity_pods_cpu)
{
	for (int64_t cpu = 890; cpu <= 891; cpu++) {
		struct bed b = bed_make();
		tell_class(&b, &(struct runtime_class){.cpu_milli = cpu});
		tell_node(&b, "n0", 1, 110);
		tell_want(&b, &(struct want){.name = "w", .cpu_milli = 64000 - 900});
		cr_expect_eq(step(&b, ACTION_CREATE_CAPACITY) != NULL, cpu == 890);
		bed_finish(&b);
	}
}
