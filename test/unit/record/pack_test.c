/* Packing: what goes in comes out, no field is forgotten, and no bytes lead beyond their end. */
#include "record/change.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "record/tables.h"

#define PACKED_MAX (1u << 20)

Test(pack, numbers_and_texts_survive)
{
	static const int64_t numbers[] = {
		0, 1, -1, 63, 64, -64, -65, 127, 128, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN};
	CLEANUP(str_finish) struct str out = STR_INIT(PACKED_MAX);
	CLEANUP(arena_finish) struct arena arena = {0};
	for (size_t i = 0; i < COUNT_OF(numbers); i++) {
		pack_i64(&out, numbers[i]);
		pack_u64(&out, (uint64_t)numbers[i]);
	}
	pack_text(&out, NULL);
	pack_text(&out, "");
	pack_text(&out, "text");
	struct unpack u = {.p = out.p, .n = out.len, .arena = &arena};
	for (size_t i = 0; i < COUNT_OF(numbers); i++) {
		cr_assert_eq(unpack_i64(&u), numbers[i]);
		cr_assert_eq(unpack_u64(&u), (uint64_t)numbers[i]);
	}
	cr_assert_null(unpack_text(&u), "absent");
	cr_assert_str_eq(unpack_text(&u), "", "empty, which is not absent");
	cr_assert_str_eq(unpack_text(&u), "text");
	cr_assert_eq(u.n, 0);
	cr_assert_not(u.bad);
	cr_assert_eq(unpack_u64(&u), 0);
	cr_assert(u.bad);
}

Test(pack, what_cannot_be_is_bad_and_stays_bad)
{
	/* A number of more than ten bytes, a number without an end, a text longer than the rest. */
	static const struct view cases[] = {{"\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", 11},
		{"\x80", 1},
		{"\x05"
		 "abc",
			4},
		{"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10}};
	CLEANUP(arena_finish) struct arena arena = {0};
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct unpack u = {.p = cases[i].p, .n = cases[i].n, .arena = &arena};
		cr_assert_null(unpack_text(&u));
		cr_assert(u.bad, "case %d", (int)i);
	}
}

/* A pod in which everything that is packed has a value of its own. */
struct full {
	struct pair labels[2], notes[2], selector[1];
	const char *gates[2];
	const char *values[2];
	struct term terms[2];
	struct node_term node_terms[1];
	struct toleration tolerations[2];
	struct gpu_identity identity;
	struct grant grants[2];
	struct amount amounts[2];
	struct host_port ports[2];
	const char *claims[2];
	const char *spaces[2];
	struct neighbour_term neighbours[1];
	struct device_state devices[2];
	struct pod_use uses[2];
	struct node_state state;
	struct pod pod;
};

static void state_init(struct full *f)
{
	f->devices[0] = (struct device_state){.uuid = "GPU-A",
		.total_mib = 81559,
		.used_mib = 4000,
		.mps = MPS_FAULT,
		.contexts = 3,
		.mps_why = "a client failed"};
	f->devices[1] = (struct device_state){.uuid = "GPU-B", .why = "XID 79", .cause = ILL_HEARD};
	f->uses[0] = (struct pod_use){"uid", "GPU-A", 3900, 2};
	f->uses[1] = (struct pod_use){"uid", "GPU-B", -1, 1};
	f->state = (struct node_state){.node = "n",
		.boot = "b",
		.sequence = 9,
		.seen_ms = -5,
		.seen_by_ms = 40,
		.devices = f->devices,
		.device_count = 2,
		.pods = f->claims,
		.pod_count = 2,
		.uses = f->uses,
		.use_count = 2};
}

static void full_init(struct full *f)
{
	*f = (struct full){.labels = {{"a", "1"}, {"b", NULL}},
		.notes = {{"c", ""}, {"d", "4"}},
		.selector = {{"zone", "z"}},
		.gates = {"g1", "g2"},
		.values = {"x", "y"},
		.tolerations = {{"k", "Equal", "v", "NoSchedule"}, {NULL, "Exists", NULL, NULL}},
		.identity = {"GPU-1", "H100", "570", 81559, 3},
		.amounts = {{"ephemeral-storage", 1 << 30}, {"example.com/fpga", 2}},
		.ports = {{8080, "TCP", ""}, {53, "UDP", "10.0.0.1"}},
		.claims = {"data", "scratch"},
		.spaces = {"team", "other"},
		.grants = {{"u1", "default", "t1", 250, 20000}, {"u2", "team", "t2", 500, 40000}}};
	f->terms[0] = (struct term){"key", TERM_NOT_IN, f->values, 2};
	f->terms[1] = (struct term){"other", TERM_EXISTS, NULL, 0};
	f->node_terms[0] = (struct node_term){{f->terms, 2}, {f->terms, 1}};
	f->neighbours[0] = (struct neighbour_term){.key = "zone",
		.pods = {true, {f->labels, 2}, {f->terms, 2}},
		.namespaces = f->spaces,
		.namespace_count = 2};
	state_init(f);
	f->pod = (struct pod){.ns = "ns",
		.name = "name",
		.uid = "uid",
		.resource_version = "7",
		.created_ms = 11,
		.deleting_ms = 12,
		.grace_s = 13,
		.labels = {f->labels, 2},
		.notes = {f->notes, 2},
		.owner = {"apps/v1", "ReplicaSet", "rs", "ru"},
		.node = "node-1",
		.scheduler = "default-scheduler",
		.runtime_class = "nvidia",
		.priority_class = "high",
		.priority = -14,
		.gates = f->gates,
		.gate_count = 2,
		.node_selector = {f->selector, 1},
		.node_terms = f->node_terms,
		.node_term_count = 1,
		.tolerations = f->tolerations,
		.toleration_count = 2,
		.cpu_milli = 15,
		.mem_bytes = 16,
		.gpus = 1,
		.extra = {{f->amounts, 2}, {f->ports, 2}},
		.claims = f->claims,
		.claim_count = 2,
		.neighbours = f->neighbours,
		.neighbour_count = 1,
		.phase = POD_RUNNING,
		.status_reason = "Evicted",
		.placed = {"aliquot.dev/Placed", false, "ShortCompute", "too little", 17},
		.identity = &f->identity,
		.ledger = {f->grants, 2},
		.trouble = "ImagePullBackOff",
		.gpu_container = "main",
		.gpu_image = "app:2",
		.restarts = 18};
}

static void packed(const struct pod *pod, struct str *out)
{
	str_reset(out);
	record_pack(out, &pod_table, pod);
	cr_assert_not(out->overflow);
}

/* The bytes of a pod that was packed and unpacked are those it had: nothing is lost on the way
 * back. */
static void expect_round_trip(const struct pod *pod)
{
	CLEANUP(str_finish) struct str once = STR_INIT(PACKED_MAX), twice = STR_INIT(PACKED_MAX);
	CLEANUP(arena_finish) struct arena arena = {0};
	struct pod back = {0};
	packed(pod, &once);
	struct unpack u = {.p = once.p, .n = once.len, .arena = &arena};
	cr_assert(record_unpack(&u, &pod_table, &back));
	cr_assert_eq(u.n, 0, "nothing is left over");
	packed(&back, &twice);
	cr_assert_eq(once.len, twice.len);
	cr_assert_arr_eq(once.p, twice.p, once.len);
}

Test(pack, a_full_pod_comes_back_whole)
{
	CLEANUP(str_finish) struct str bytes = STR_INIT(PACKED_MAX);
	CLEANUP(arena_finish) struct arena arena = {0};
	struct full f;
	struct pod back = {0};
	full_init(&f);
	expect_round_trip(&f.pod);
	expect_round_trip(&(struct pod){0});
	packed(&f.pod, &bytes);
	struct unpack u = {.p = bytes.p, .n = bytes.len, .arena = &arena};
	cr_assert(record_unpack(&u, &pod_table, &back));
	cr_assert_str_eq(back.ns, "ns");
	cr_assert_str_eq(back.owner.kind, "ReplicaSet");
	cr_assert_eq(back.priority, -14);
	cr_assert_eq(back.phase, POD_RUNNING);
	cr_assert_null(back.labels.items[1].value);
	cr_assert_str_eq(pairs_get(&back.notes, "c"), "");
	cr_assert_eq(back.node_terms[0].labels.items[0].operator, TERM_NOT_IN);
	cr_assert_str_eq(back.node_terms[0].labels.items[0].values[1], "y");
	cr_assert_null(back.tolerations[1].key);
	cr_assert_eq(memcmp(back.identity, &f.identity, sizeof f.identity), 0);
	cr_assert_str_eq(back.ledger.items[1].name, "t2");
	cr_assert_eq(back.ledger.items[1].mem_mib, 40000);
	cr_assert_str_eq(back.trouble, "ImagePullBackOff");
	cr_assert_str_eq(back.gpu_container, "main");
	cr_assert_str_eq(back.gpu_image, "app:2");
	cr_assert_eq(back.restarts, 18);
}

static void expect_told_apart(const struct full *f, const char *before, size_t n, const char *what)
{
	CLEANUP(str_finish) struct str now = STR_INIT(PACKED_MAX);
	packed(&f->pod, &now);
	cr_assert(now.len != n || memcmp(now.p, before, n) != 0, "%s is not packed", what);
	expect_round_trip(&f->pod);
}

#define TEXT(field)                                                                                \
	{                                                                                          \
#field, offsetof(struct full, field), 't'                                          \
	}
#define FLAG(field)                                                                                \
	{                                                                                          \
#field, offsetof(struct full, field), 'f'                                          \
	}
#define WIDE(field)                                                                                \
	{                                                                                          \
#field, offsetof(struct full, field), 'w'                                          \
	}
#define HALF(field)                                                                                \
	{                                                                                          \
#field, offsetof(struct full, field), 'h'                                          \
	}

/* Two pods that differ in any one field differ in their bytes: a field that a step of the engine
 * reads and packing forgets would make a replay diverge. */
Test(pack, no_field_is_forgotten)
{
	static const struct {
		const char *name;
		size_t at;
		char type;
	} fields[] = {TEXT(pod.ns), TEXT(pod.name), TEXT(pod.uid), TEXT(pod.resource_version),
		WIDE(pod.created_ms), WIDE(pod.deleting_ms), WIDE(pod.grace_s), TEXT(labels[0].key),
		TEXT(labels[1].value), TEXT(notes[0].value), TEXT(pod.owner.api_version),
		TEXT(pod.owner.kind), TEXT(pod.owner.name), TEXT(pod.owner.uid),
		FLAG(pod.is_static), FLAG(pod.keeps_node), FLAG(pod.lingers), FLAG(pod.forged),
		TEXT(pod.node), TEXT(pod.scheduler), TEXT(pod.runtime_class), TEXT(pod.group_name),
		TEXT(pod.priority_class), FLAG(pod.has_priority), HALF(pod.priority),
		FLAG(pod.never_preempts), TEXT(gates[1]), TEXT(selector[0].key), TEXT(values[1]),
		TEXT(terms[1].key), HALF(terms[0].operator), TEXT(tolerations[1].key),
		TEXT(tolerations[0].operator), TEXT(tolerations[0].value),
		TEXT(tolerations[0].effect), FLAG(pod.has_claims), FLAG(pod.has_group),
		FLAG(pod.has_pod_affinity), FLAG(pod.has_spread), FLAG(pod.has_volumes_claimed),
		WIDE(pod.cpu_milli), WIDE(pod.mem_bytes), WIDE(pod.gpus), TEXT(amounts[1].name),
		WIDE(amounts[0].value), HALF(ports[0].port), TEXT(ports[0].protocol),
		TEXT(ports[1].address), TEXT(claims[1]), TEXT(spaces[1]),
		FLAG(neighbours[0].all_namespaces), FLAG(neighbours[0].pods.present),
		TEXT(neighbours[0].key), HALF(neighbours[0].kind), HALF(neighbours[0].max_skew),
		HALF(neighbours[0].min_domains), FLAG(neighbours[0].any_node),
		FLAG(neighbours[0].heeds_taints), HALF(pod.phase), TEXT(pod.status_reason),
		FLAG(pod.ready), FLAG(pod.unschedulable), TEXT(pod.placed.type),
		FLAG(pod.placed.is_true), TEXT(pod.placed.reason), TEXT(pod.placed.message),
		WIDE(pod.placed.since_ms), WIDE(identity.mem_mib), HALF(identity.minor),
		TEXT(grants[0].uid), TEXT(grants[0].ns), TEXT(grants[1].name),
		WIDE(grants[1].milli), WIDE(grants[0].mem_mib), FLAG(pod.ledger_bad),
		FLAG(pod.holds), TEXT(pod.trouble), TEXT(pod.gpu_container), TEXT(pod.gpu_image),
		HALF(pod.restarts), FLAG(pod.told_overuse), FLAG(pod.told_contention),
		WIDE(pod.gpu_oom_ms), WIDE(pod.failed_ms)};
	CLEANUP(str_finish) struct str before = STR_INIT(PACKED_MAX);
	struct full f;
	full_init(&f);
	packed(&f.pod, &before);
	for (size_t i = 0; i < COUNT_OF(fields); i++) {
		full_init(&f);
		char *at = (char *)&f + fields[i].at;
		switch (fields[i].type) {
		case 't':
			*(const char **)(void *)at = "another";
			break;
		case 'f':
			*(bool *)(void *)at ^= true;
			break;
		case 'w':
			*(int64_t *)(void *)at += 1;
			break;
		default:
			*(int32_t *)(void *)at += 1;
		}
		expect_told_apart(&f, before.p, before.len, fields[i].name);
	}
}

Test(pack, no_list_is_forgotten)
{
	CLEANUP(str_finish) struct str before = STR_INIT(PACKED_MAX);
	struct full f;
	full_init(&f);
	packed(&f.pod, &before);
	uint32_t *const counts[] = {&f.pod.labels.count, &f.pod.notes.count, &f.pod.gate_count,
		&f.pod.node_selector.count, &f.pod.node_term_count, &f.terms[0].value_count,
		&f.node_terms[0].labels.count, &f.node_terms[0].fields.count,
		&f.pod.toleration_count, &f.pod.ledger.count, &f.pod.extra.amounts.count,
		&f.pod.extra.ports.count, &f.pod.claim_count, &f.pod.neighbour_count,
		&f.neighbours[0].namespace_count};
	for (size_t i = 0; i < COUNT_OF(counts); i++) {
		*counts[i] -= 1;
		expect_told_apart(&f, before.p, before.len, "a list");
		*counts[i] += 1;
	}
	f.pod.identity = NULL;
	expect_told_apart(&f, before.p, before.len, "identity");
	full_init(&f);
	snprintf(f.identity.driver, sizeof f.identity.driver, "571");
	expect_told_apart(&f, before.p, before.len, "driver");
}

/* A journal that somebody changed may say so. */
Test(pack, what_is_found_by_its_name_has_one)
{
	CLEANUP(arena_finish) struct arena arena = {0};
	CLEANUP(str_finish) struct str out = STR_INIT(PACKED_MAX);
	struct pair label = {NULL, "v"};
	struct node node = {.name = "n", .labels = {&label, 1}};
	struct change c = {.type = CHANGE_SET, .kind = KIND_NODE, .node = &node}, back = {0};
	change_pack(&out, &c);
	struct unpack u = {.p = out.p, .n = out.len, .arena = &arena};
	cr_expect_not(change_unpack(&u, &back));
	label.key = "k";
	str_reset(&out);
	change_pack(&out, &c);
	u = (struct unpack){.p = out.p, .n = out.len, .arena = &arena};
	cr_expect(change_unpack(&u, &back));
}

/* Each kind of object and each way in which it can change. */
static void change_round_trip(const struct change *c, struct arena *arena)
{
	CLEANUP(str_finish) struct str once = STR_INIT(PACKED_MAX), twice = STR_INIT(PACKED_MAX);
	struct change back = {0};
	change_pack(&once, c);
	struct unpack u = {.p = once.p, .n = once.len, .arena = arena};
	cr_assert(change_unpack(&u, &back));
	cr_assert_eq(back.type, c->type);
	cr_assert_eq(back.kind, c->kind);
	cr_assert_eq(back.leads, c->leads);
	cr_assert_eq(back.no_sweep, c->no_sweep);
	cr_assert_eq(u.n, 0);
	change_pack(&twice, &back);
	cr_assert_eq(once.len, twice.len);
	cr_assert_arr_eq(once.p, twice.p, once.len);
	/* Cut anywhere it is refused, and nothing beyond the cut is read. */
	for (size_t n = 0; n < once.len; n++) {
		CLEANUP(cleanup_free) char *cut = xmemdup(once.p, n);
		struct unpack short_of = {.p = cut, .n = n, .arena = arena};
		cr_assert_not(
			change_unpack(&short_of, &back), "%d of %d bytes", (int)n, (int)once.len);
	}
}

static void set_type(struct change *c, enum change_type type, enum kind kind)
{
	static const struct heard heard = {"GPU-1", "n", "XID 79", "a", NULL, NULL};
	c->type = type;
	c->kind = kind;
	c->leads = type == CHANGE_LEADER;
	c->reached = c->unsure = type == CHANGE_REACH;
	c->no_sweep = type == CHANGE_RELIST_END;
	c->uid = kind % 2 == 0 ? "uid" : NULL;
	c->heard = &heard;
}

Test(pack, every_change_survives)
{
	CLEANUP(arena_finish) struct arena arena = {0};
	struct full f;
	full_init(&f);
	struct taint taints[] = {{"k", "v", "NoExecute"}, {"l", NULL, "NoSchedule"}};
	struct owner_kind owners[] = {{"apps", "Deployment"}};
	const char *types[] = {"serving"};
	struct node node = {.name = "n",
		.uid = "u",
		.labels = {f.labels, 2},
		.taints = taints,
		.taint_count = 2,
		.ready = true,
		.cpu_milli = 64000,
		.gpus = 8,
		.others = {f.amounts, 2}};
	struct policy policy = {.name = "p",
		.priority = -3,
		.has_selector = true,
		.pods = {true, {f.labels, 2}, {f.terms, 2}},
		.owner_kinds = owners,
		.owner_kind_count = 1,
		.workload_types = types,
		.workload_type_count = 1,
		.mode = MODE_AUTOMATE,
		.max_tenants = 4};
	struct namespace ns = {.name = "ns", .labels = {f.labels, 2}, .terminating = true};
	struct limit_range range = {.ns = "ns", .name = "l", .limits_gpus = true};
	struct quota quota = {"ns", "q", true, 2500, {f.terms, 2}};
	struct gpu_slice slice = {.name = "n-gpu.nvidia.com-x", .node = "n"};
	struct volume_claim claim = {.ns = "ns",
		.name = "data",
		.state = CLAIM_BOUND,
		.terms = f.node_terms,
		.term_count = 1,
		.zones = {f.terms, 2}};
	struct pair wanted = {"gpus", "shared"};
	struct runtime_class runtime = {.cpu_milli = 5, .mem_bytes = 7, .selector = {&wanted, 1}};
	struct change c = {.pod = &f.pod,
		.state = &f.state,
		.claim = &claim,
		.slice = &slice,
		.node = &node,
		.policy = &policy,
		.namespace = &ns,
		.limit_range = &range,
		.quota = &quota,
		.ns = "ns",
		.name = "name"};
	for (int type = CHANGE_SET; type <= CHANGE_RUNTIME; type++) {
		for (int kind = 0; kind < KIND_ENGINE; kind++) {
			c.runtime = type == CHANGE_RUNTIME && kind > 0 ? &runtime : NULL;
			set_type(&c, (enum change_type)type, (enum kind)kind);
			change_round_trip(&c, &arena);
		}
	}
}

Test(pack, how_long_a_gpu_is_shunned_survives)
{
	CLEANUP(arena_finish) struct arena arena = {0};
	CLEANUP(str_finish) struct str bytes = STR_INIT(PACKED_MAX);
	struct change c = {.type = CHANGE_AVOID_GPU, .uid = "u", .for_ms = 21600000}, back;
	change_round_trip(&c, &arena);
	change_pack(&bytes, &c);
	struct unpack u = {.p = bytes.p, .n = bytes.len, .arena = &arena};
	cr_assert(change_unpack(&u, &back));
	cr_expect_eq(back.for_ms, c.for_ms);
}

Test(pack, what_was_heard_survives)
{
	CLEANUP(arena_finish) struct arena arena = {0};
	CLEANUP(str_finish) struct str bytes = STR_INIT(PACKED_MAX);
	const struct heard heard = {"GPU-1", "n", "XID 79", "agent", "boot", "reset"};
	struct change c = {.type = CHANGE_HEARD, .heard = &heard}, back;
	change_pack(&bytes, &c);
	struct unpack u = {.p = bytes.p, .n = bytes.len, .arena = &arena};
	cr_assert(change_unpack(&u, &back));
	cr_expect_str_eq(back.heard->uuid, "GPU-1");
	cr_expect_str_eq(back.heard->node, "n");
	cr_expect_str_eq(back.heard->why, "XID 79");
	cr_expect_str_eq(back.heard->by, "agent");
	cr_expect_str_eq(back.heard->boot, "boot");
	cr_expect_str_eq(back.heard->reset, "reset");
	/* Without whom it is about it cannot mean anything. */
	const struct heard nobody = {.uuid = "GPU-1", .node = "n"};
	c.heard = &nobody;
	str_reset(&bytes);
	change_pack(&bytes, &c);
	u = (struct unpack){.p = bytes.p, .n = bytes.len, .arena = &arena};
	cr_expect_not(change_unpack(&u, &back));
}

/* Any one byte replaced by any value: refused or read, but never beyond the end and never more
 * memory than the bytes can speak of. */
Test(pack, wrong_bytes_never_lead_beyond_the_end)
{
	CLEANUP(str_finish) struct str bytes = STR_INIT(PACKED_MAX);
	struct full f;
	full_init(&f);
	packed(&f.pod, &bytes);
	for (size_t at = 0; at < bytes.len; at++) {
		CLEANUP(cleanup_free) char *copy = xmemdup(bytes.p, bytes.len);
		for (int value = 0; value < 256; value += 3) {
			CLEANUP(arena_finish) struct arena arena = {0};
			struct pod pod;
			copy[at] = (char)value;
			struct unpack u = {.p = copy, .n = bytes.len, .arena = &arena};
			(void)!record_unpack(&u, &pod_table, &pod);
			cr_assert_lt(arena.used_bytes, 1u << 20);
		}
	}
}
