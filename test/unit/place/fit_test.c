/* Does a node suit a pod: each question of the scheduler by itself, and the order of the answers.
 */
#include <criterion/criterion.h>

#include "model/injection.h"
#include "place/place.h"

/* A node on which an ordinary pod fits, and a request that it suits; a test spoils one thing. */
struct bed {
	struct snapshot s;
	struct node noun;
	struct pod pod;
	struct place_request r;
};

static struct pair node_labels[] = {{"disk", "ssd"}, {"zone", "a"}};

static void bed_init(struct bed *b)
{
	*b = (struct bed){.noun = {.name = "n", .labels = {node_labels, 2}, .ready = true},
		.pod = {.ns = "d", .name = "p", .cpu_milli = 100, .mem_bytes = 1000}};
	b->r = (struct place_request){.pod = &b->pod, .milli = 100, .max_tenants = 16};
	struct place_node n = {.noun = &b->noun,
		.free_cpu_milli = 1000,
		.free_mem_bytes = 1 << 30,
		.free_slots = 10,
		.free_gpus = 1};
	VEC_PUSH(&b->s.nodes, n);
}

static struct place_node *node(struct bed *b)
{
	return &b->s.nodes.items[0];
}

static enum unfit cause(struct bed *b)
{
	return place_unfit(&b->s, &b->r, node(b), NULL);
}

static const char *what(struct bed *b)
{
	const char *thing = "unset";
	(void)place_unfit(&b->s, &b->r, node(b), &thing);
	return thing;
}

static void offer(struct bed *b, const char *name, int64_t left)
{
	struct amount a = {name, left};
	VEC_PUSH(&b->s.others, a);
	node(b)->others_count++;
}

Test(fit, room_is_what_the_pod_asks_for)
{
	static const struct {
		int64_t cpu, mem, slots, asks_cpu, asks_mem;
		enum unfit cause;
	} rows[] = {
		{100, 1000, 1, 100, 1000, UNFIT_NONE},
		{99, 1000, 1, 100, 1000, UNFIT_CPU},
		{100, 999, 1, 100, 1000, UNFIT_MEMORY},
		{100, 1000, 0, 100, 1000, UNFIT_SLOTS},
		{-5, -5, 1, 0, 0, UNFIT_NONE},
		{-5, 1000, 1, 1, 0, UNFIT_CPU},
		{100, 1000, 0, 0, 0, UNFIT_SLOTS},
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct bed b;
		bed_init(&b);
		node(&b)->free_cpu_milli = rows[i].cpu;
		node(&b)->free_mem_bytes = rows[i].mem;
		node(&b)->free_slots = rows[i].slots;
		b.pod.cpu_milli = rows[i].asks_cpu;
		b.pod.mem_bytes = rows[i].asks_mem;
		cr_expect_eq(cause(&b), rows[i].cause, "row %zu: %d", i, cause(&b));
		snapshot_finish(&b.s);
	}
}

Test(fit, other_resources_must_be_there_and_left)
{
	struct bed b;
	struct amount asks[] = {{"ephemeral-storage", 10}, {"example.com/fpga", 2}};
	bed_init(&b);
	b.pod.extra.amounts = (struct amounts){asks, 2};
	cr_assert_eq(cause(&b), UNFIT_RESOURCE);
	cr_assert_str_eq(what(&b), "ephemeral-storage");
	offer(&b, "ephemeral-storage", 25);
	cr_assert_str_eq(what(&b), "example.com/fpga", "the node has none");
	offer(&b, "example.com/fpga", 4);
	cr_assert_eq(cause(&b), UNFIT_NONE);
	place_reserve_pod(&b.s, node(&b), &b.pod);
	cr_assert_eq(cause(&b), UNFIT_NONE, "the second takes what is left");
	place_reserve_pod(&b.s, node(&b), &b.pod);
	cr_assert_eq(cause(&b), UNFIT_RESOURCE);
	asks[0].value = INT64_MAX;
	cr_assert_eq(cause(&b), UNFIT_RESOURCE);
	place_reserve_pod(&b.s, node(&b), &b.pod);
	cr_assert_eq(cause(&b), UNFIT_RESOURCE, "no wrap around");
	asks[0].value = asks[1].value = 0;
	cr_assert_eq(cause(&b), UNFIT_NONE, "nothing is asked for");
	snapshot_finish(&b.s);
}

Test(fit, host_ports_of_those_bound_and_of_those_promised)
{
	struct host_port taken[] = {{80, "TCP", ""}};
	struct host_port asks[] = {{8080, "TCP", "10.0.0.1"}};
	struct bed b;
	bed_init(&b);
	node(&b)->ports = taken;
	node(&b)->port_count = 1;
	b.pod.extra.ports = (struct host_ports){asks, 1};
	cr_assert_eq(cause(&b), UNFIT_NONE);
	asks[0].port = 80;
	cr_assert_eq(cause(&b), UNFIT_PORT);
	asks[0].protocol = "UDP";
	cr_assert_eq(cause(&b), UNFIT_NONE);
	place_reserve_pod(&b.s, node(&b), &b.pod);
	cr_assert_eq(cause(&b), UNFIT_PORT, "promised is taken");
	asks[0].address = "10.0.0.2";
	cr_assert_eq(cause(&b), UNFIT_NONE, "another address of the node");
	place_reserve_pod(&b.s, node(&b), &b.pod);
	asks[0].address = "";
	cr_assert_eq(cause(&b), UNFIT_PORT);
	snapshot_finish(&b.s);
}

/* NodeAffinity with all its operators. */
Test(fit, affinity_terms)
{
	static const char *ssd[] = {"ssd", "nvme"}, *n[] = {"n"}, *other[] = {"m"}, *num[] = {"1"};
	static struct term rows[] = {
		{"disk", TERM_IN, ssd, 2},
		{"disk", TERM_NOT_IN, ssd, 2},
		{"rack", TERM_NOT_IN, ssd, 2},
		{"disk", TERM_EXISTS, NULL, 0},
		{"rack", TERM_EXISTS, NULL, 0},
		{"rack", TERM_DOES_NOT_EXIST, NULL, 0},
		{"disk", TERM_DOES_NOT_EXIST, NULL, 0},
		{"disk", TERM_GT, num, 1},
		{"rack", TERM_LT, num, 1},
	};
	static const bool suits[] = {true, false, true, true, false, true, false, false, false};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct bed b;
		struct node_term t = {.labels = {&rows[i], 1}};
		bed_init(&b);
		b.pod.node_terms = &t;
		b.pod.node_term_count = 1;
		cr_expect_eq(cause(&b), suits[i] ? UNFIT_NONE : UNFIT_SELECTOR, "row %zu", i);
		snapshot_finish(&b.s);
	}
	struct term here = {"metadata.name", TERM_IN, n, 1},
		    there = {"metadata.name", TERM_IN, other, 1};
	struct term odd = {"metadata.uid", TERM_EXISTS, NULL, 0};
	struct node_term either[] = {{.fields = {&there, 1}}, {.fields = {&here, 1}}};
	struct bed b;
	bed_init(&b);
	b.pod.node_terms = either;
	b.pod.node_term_count = 2;
	cr_expect_eq(cause(&b), UNFIT_NONE, "one OR term is enough");
	b.pod.node_term_count = 1;
	cr_expect_eq(cause(&b), UNFIT_SELECTOR);
	either[0] = (struct node_term){0};
	cr_expect_eq(cause(&b), UNFIT_SELECTOR, "an empty term matches nothing");
	either[0].fields = (struct terms){&odd, 1};
	cr_expect_eq(cause(&b), UNFIT_SELECTOR, "only the name is a field");
	either[0] = (struct node_term){{&rows[0], 1}, {&here, 1}};
	cr_expect_eq(cause(&b), UNFIT_NONE, "both halves of a term");
	either[0].fields.items = &there;
	cr_expect_eq(cause(&b), UNFIT_SELECTOR);
	snapshot_finish(&b.s);
}

Test(fit, selectors_and_taints)
{
	struct taint taints[] = {{"soft", "", "PreferNoSchedule"},
		{"nvidia.com/gpu", "present", "NoSchedule"}, {"gone", "", "NoExecute"}};
	struct toleration tolerates[] = {{"nvidia.com/gpu", "Equal", "present", "NoSchedule"},
		{"gone", "Exists", NULL, NULL}};
	struct pair wanted[] = {{"zone", "b"}};
	struct bed b;
	bed_init(&b);
	b.noun.taints = taints;
	b.noun.taint_count = 3;
	b.pod.tolerations = tolerates;
	b.pod.toleration_count = 2;
	cr_expect_eq(cause(&b), UNFIT_NONE);
	b.pod.toleration_count = 1;
	cr_expect_eq(cause(&b), UNFIT_TAINT);
	cr_expect_str_eq(what(&b), "gone");
	b.pod.node_selector = (struct pairs){wanted, 1};
	cr_expect_eq(cause(&b), UNFIT_SELECTOR, "what the pod says itself comes first");
	wanted[0].value = "a";
	b.pod.toleration_count = 2;
	cr_expect_eq(cause(&b), UNFIT_NONE);
	b.pod.too_complex = true;
	cr_expect_eq(cause(&b), UNFIT_SELECTOR, "nobody looks where such a pod may go");
	snapshot_finish(&b.s);
}

Test(fit, volumes_are_where_they_are)
{
	static const char *in_a[] = {"a"}, *in_b[] = {"b"};
	struct term zone = {"zone", TERM_IN, in_b, 1};
	struct node_term there = {.labels = {&zone, 1}};
	struct volume_claim data = {.name = "data", .state = CLAIM_BOUND}, free = {.name = "free"};
	const struct volume_claim *claims[] = {&free, &data};
	struct bed b;
	bed_init(&b);
	b.r.claims = claims;
	b.r.claim_count = 2;
	cr_expect_eq(cause(&b), UNFIT_NONE);
	data.terms = &there;
	data.term_count = 1;
	cr_expect_eq(cause(&b), UNFIT_VOLUME);
	cr_expect_str_eq(what(&b), "data");
	zone.values = in_a;
	cr_expect_eq(cause(&b), UNFIT_NONE);
	snapshot_finish(&b.s);
}

/* VolumeZone: the volume's labels, old and new, against those of nodes that are in some zone. */
Test(fit, zones_of_volumes)
{
#define ZONE	  "topology.kubernetes.io/zone"
#define BETA_ZONE "failure-domain.beta.kubernetes.io/zone"
#define REGION	  "topology.kubernetes.io/region"
	static const struct {
		const char *volume_key, *node_key, *node_value;
		bool suits;
	} rows[] = {
		{ZONE, ZONE, "a", true},
		{ZONE, ZONE, "b", true},
		{ZONE, ZONE, "c", false},
		{ZONE, "other", "c", true},
		{ZONE, REGION, "r", false},
		{BETA_ZONE, ZONE, "a", true},
		{BETA_ZONE, ZONE, "c", false},
		{BETA_ZONE, BETA_ZONE, "a", true},
		{ZONE, BETA_ZONE, "a", false},
	};
	static const char *a_or_b[] = {"a", "b"};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct term zone = {rows[i].volume_key, TERM_IN, a_or_b, 2};
		struct pair label[] = {{rows[i].node_key, rows[i].node_value}};
		struct volume_claim data = {
			.name = "data", .state = CLAIM_BOUND, .zones = {&zone, 1}};
		const struct volume_claim *claims[] = {&data};
		struct bed b;
		bed_init(&b);
		b.noun.labels = (struct pairs){label, 1};
		b.r.claims = claims;
		b.r.claim_count = 1;
		cr_expect_eq(cause(&b), rows[i].suits ? UNFIT_NONE : UNFIT_VOLUME, "row %zu", i);
		snapshot_finish(&b.s);
	}
}

/* C13 and C27. */
Test(fit, closed_nodes_and_those_of_others)
{
	struct bed b;
	bed_init(&b);
	node(&b)->no_grants = true;
	cr_expect_eq(cause(&b), UNFIT_DRAINING);
	b.noun.ready = false;
	cr_expect_eq(cause(&b), UNFIT_NOT_READY);
	b.noun.unschedulable = true;
	cr_expect_eq(cause(&b), UNFIT_CORDONED);
	b.noun.unschedulable = false;
	b.noun.ready = true;
	node(&b)->no_grants = false;
	node(&b)->kept_apart = 7;
	cr_expect_eq(cause(&b), UNFIT_NONE);
	b.r.apart = 7;
	cr_expect_eq(cause(&b), UNFIT_NEIGHBOUR);
	node(&b)->serves_kai = true;
	struct pair elsewhere[] = {{"zone", "b"}};
	b.pod.node_selector = (struct pairs){elsewhere, 1};
	cr_expect_eq(cause(&b), UNFIT_SELECTOR, "what the pod says itself comes first");
	b.pod.node_selector.count = 0;
	cr_expect_eq(cause(&b), UNFIT_KAI);
	b.noun.serves_hami = true;
	cr_expect_eq(cause(&b), UNFIT_HAMI);
	node(&b)->serves_dra = true;
	cr_expect_eq(cause(&b), UNFIT_DRA);
	b.noun.shares_already = true;
	cr_expect_eq(cause(&b), UNFIT_SHARED);
	cr_expect_eq(place_open(&b.s, &b.r).reason, REASON_OTHER_SHARING);
	/* One that is merely full is nearer. */
	struct place_node full = *node(&b);
	struct node other = {.name = "m", .ready = true, .labels = b.noun.labels};
	full.noun = &other;
	full.no_grants = full.serves_dra = full.serves_kai = false;
	full.kept_apart = 0;
	full.free_cpu_milli = 0;
	VEC_PUSH(&b.s.nodes, full);
	cr_expect_eq(place_open(&b.s, &b.r).reason, REASON_NODE_UNFIT);
	snapshot_finish(&b.s);
}

Test(fit, the_survey_counts_each_node_once)
{
	struct bed b;
	struct taint taints[] = {{"x", "", "NoSchedule"}, {"y", "", "NoSchedule"}};
	struct node tainted[] = {{.name = "t0", .taints = taints, .taint_count = 1, .ready = true},
		{.name = "t1", .taints = taints + 1, .taint_count = 1, .ready = true}};
	bed_init(&b);
	struct place_node n = *node(&b);
	for (int i = 0; i < 3; i++) {
		n.free_cpu_milli = 99;
		VEC_PUSH(&b.s.nodes, n);
	}
	for (int i = 0; i < 2; i++) {
		n.noun = &tainted[i];
		VEC_PUSH(&b.s.nodes, n);
	}
	/* Room for the pod or for a capacity pod, not for both. */
	b.s.nodes.items[0].free_slots = 1;
	struct unfit_tally t;
	place_survey(&b.s, &b.r, &t);
	cr_expect_eq(t.nodes, 6);
	cr_expect_eq(t.by[UNFIT_CPU].nodes, 3);
	cr_expect_eq(t.by[UNFIT_SLOTS].nodes, 1);
	cr_expect_eq(t.by[UNFIT_TAINT].nodes, 2);
	cr_expect_str_eq(t.by[UNFIT_TAINT].what, "x");
	cr_expect_eq(t.by[UNFIT_TAINT].whats, 2);
	snapshot_finish(&b.s);
}

Test(fit, c26_a_class_that_sees_no_gpu_rules_nodes_out_for_its_pods_alone)
{
	struct inject_void none = {"", NULL}, boxed = {"boxed", &none};
	struct pod pod = {.runtime_class = "boxed"};
	struct bed b;
	bed_init(&b);
	b.r.pod = &pod;
	cr_expect_eq(cause(&b), UNFIT_NONE);
	node(&b)->voids = &boxed;
	cr_expect_eq(cause(&b), UNFIT_CLASS);
	cr_expect_str_eq(what(&b), "boxed");
	cr_expect_eq(place_open(&b.s, &b.r).reason, REASON_NO_INJECTION);
	pod.runtime_class = "other";
	cr_expect_eq(cause(&b), UNFIT_NONE);
	pod.runtime_class = NULL;
	cr_expect_eq(cause(&b), UNFIT_CLASS);
	cr_expect_str_eq(what(&b), "none");
	b.r.milli = 0;
	cr_expect_eq(cause(&b), UNFIT_NONE, "a whole pod is given its GPU by its kubelet");
	snapshot_finish(&b.s);
}

Test(fit, c5_the_class_of_capacity_pods_rules_nodes_out_for_shares_alone)
{
	struct bed b;
	bed_init(&b);
	struct pair wanted[] = {{"gpus", "shared"}};
	struct runtime_class class = {.selector = {wanted, 1}};
	node(&b)->runtime = &class;
	cr_expect_eq(cause(&b), UNFIT_RUNTIME);
	cr_expect_eq(place_open(&b.s, &b.r).reason, REASON_RUNTIME_CLASS);
	b.r.milli = 0;
	cr_expect_eq(cause(&b), UNFIT_NONE, "a whole pod needs none");
	b.r.mem_mib = 1000;
	cr_expect_eq(cause(&b), UNFIT_RUNTIME);
	class.selector.items = node_labels;
	cr_expect_eq(cause(&b), UNFIT_NONE);
	/* One that is merely full is nearer. */
	class.selector.items = wanted;
	struct pair shared[] = {{"gpus", "shared"}};
	struct node other = {.name = "m", .ready = true, .labels = {shared, 1}};
	struct place_node full = *node(&b);
	full.noun = &other;
	full.free_cpu_milli = 0;
	VEC_PUSH(&b.s.nodes, full);
	cr_expect_eq(place_open(&b.s, &b.r).reason, REASON_NODE_UNFIT);
	snapshot_finish(&b.s);
}

Test(fit, c5_what_a_class_costs_is_counted_for_capacity_pods)
{
	struct bed b;
	bed_init(&b);
	struct runtime_class class = {.cpu_milli = 890, .mem_bytes = 1 << 20};
	node(&b)->runtime = &class;
	cr_expect_eq(place_open(&b.s, &b.r).reason, REASON_NONE, "to the last");
	class.cpu_milli++;
	cr_expect_eq(place_open(&b.s, &b.r).reason, REASON_NODE_UNFIT);
	class.cpu_milli = 0;
	class.mem_bytes = 1 << 30;
	cr_expect_eq(place_open(&b.s, &b.r).reason, REASON_NODE_UNFIT);
	struct place_node n = *node(&b);
	place_reserve_capacity(&n, false);
	place_return_capacity(&n, false);
	cr_expect_eq(n.free_mem_bytes, node(&b)->free_mem_bytes);
	snapshot_finish(&b.s);
}
