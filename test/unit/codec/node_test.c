/* Nodes. */
#include "codec/objects.h"

#include <criterion/criterion.h>

#include "data.h"

static struct node decoded(const char *json, struct arena *arena)
{
	struct node n = {0};
	struct fault f = {0};
	cr_assert_eq(fields_decode(view_of(json), &node_shape, arena, &n, &f), 0, "%s", f.message);
	return n;
}

static bool keep_text(void *data, struct view type, const char *json, size_t n)
{
	(void)type;
	return str_append(data, json, n);
}

Test(node, a_gpu_node_through_its_projection)
{
	static const struct slice_events events = {keep_text, NULL};
	struct str json = DATA("node.json");
	struct str kept = STR_INIT(1 << 20);
	struct arena arena = {0};
	struct slice s;
	slice_init(&s, SLICE_LIST, meta_projection(&node_shape), &events, &kept);
	cr_assert_eq(slice_push(&s, "{\"items\":[", 10, NULL), 0);
	cr_assert_eq(slice_push(&s, json.p, json.len, NULL), 0);
	slice_finish(&s);
	cr_assert_lt(kept.len, json.len / 2);
	struct node n = decoded(kept.p, &arena);
	cr_assert_str_eq(n.name, "gpu-0017");
	cr_assert_str_eq(n.uid, "n17");
	cr_assert_eq(n.labels.count, 5);
	cr_assert(n.unschedulable);
	cr_assert(n.ready);
	cr_assert_eq(n.taint_count, 2);
	cr_assert_str_eq(n.taints[0].value, "present");
	cr_assert_str_eq(n.taints[1].value, "");
	cr_assert_eq(n.cpu_milli, 191450);
	cr_assert_eq(n.mem_bytes, 2110263584LL * 1024);
	cr_assert_eq(n.pod_slots, 110);
	cr_assert_eq(n.gpus, 7);
	cr_assert_not(n.shares_already);
	cr_assert_eq(amounts_get(&n.others, "ephemeral-storage"), 95551679124LL);
	cr_assert_eq(amounts_get(&n.others, "cpu"), 0);
	arena_finish(&arena);
	str_finish(&json);
	str_finish(&kept);
}

/* A node with so many labels, or taints, as the watch keeps it. */
static struct node kept_of(bool taints, int count, struct arena *arena)
{
	static const struct slice_events events = {keep_text, NULL};
	CLEANUP(str_finish) struct str json = STR_INIT(1 << 20);
	CLEANUP(str_finish) struct str kept = STR_INIT(1 << 20);
	struct slice s;
	str_append_text(&json, "{\"items\":[{\"metadata\":{\"name\":\"n\"");
	str_append_text(&json, taints ? "},\"spec\":{\"taints\":[" : ",\"labels\":{");
	for (int i = 0; i < count; i++) {
		str_append_text(&json, i > 0 ? "," : "");
		str_append_format(&json,
			taints ? "{\"key\":\"k-%d\",\"effect\":\"NoSchedule\"}"
			       : "\"example.com/label-%d\":\"value\"",
			i);
	}
	str_append_text(&json, taints ? "]}}" : "}}}");
	slice_init(&s, SLICE_LIST, meta_projection(&node_shape), &events, &kept);
	cr_assert_eq(slice_push(&s, json.p, json.len, NULL), 0);
	slice_finish(&s);
	return decoded(kept.p, arena);
}

/* Half of them cannot tell whom it keeps off, and who may go there. */
Test(node, c37_one_whose_labels_or_taints_are_cut_off_takes_nobody)
{
	for (int taints = 0; taints < 2; taints++) {
		struct arena arena = {0};
		cr_expect_not(kept_of(taints == 1, 10, &arena).unschedulable, "%d", taints);
		cr_expect(kept_of(taints == 1, 4000, &arena).unschedulable, "%d", taints);
		arena_finish(&arena);
	}
}

/* A kubelet that is not heard of leaves Unknown behind. */
Test(node, c13_only_true_is_ready)
{
	static const struct {
		const char *conditions;
		bool ready;
	} rows[] = {
		{"{\"type\":\"Ready\",\"status\":\"True\"}", true},
		{"{\"type\":\"Ready\",\"status\":\"False\"}", false},
		{"{\"type\":\"Ready\",\"status\":\"Unknown\"}", false},
		{"{\"type\":\"DiskPressure\",\"status\":\"True\"}", false},
		{"", false},
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct arena arena = {0};
		CLEANUP(str_finish) struct str json = STR_INIT(1024);
		str_append_format(&json,
			"{\"metadata\":{\"name\":\"n\"},\"status\":{\"conditions\":[%s]}}",
			rows[i].conditions);
		cr_expect_eq(decoded(str_text(&json), &arena).ready, rows[i].ready, "row %zu", i);
		arena_finish(&arena);
	}
}

Test(node, nodes_that_share_already)
{
	static const struct {
		const char *labels;
		bool shares;
	} rows[] = {
		{"{}", false},
		{"{\"nvidia.com/gpu.sharing-strategy\":\"none\",\"nvidia.com/gpu.replicas\":\"1\"}",
			false},
		{"{\"nvidia.com/gpu.sharing-strategy\":\"time-slicing\"}", true},
		{"{\"nvidia.com/gpu.sharing-strategy\":\"mps\"}", true},
		{"{\"nvidia.com/gpu.replicas\":\"4\"}", true},
		{"{\"nvidia.com/gpu.replicas\":\"many\"}", false},
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct arena arena = {0};
		char *json = arena_printf(
			&arena, "{\"metadata\":{\"name\":\"n\",\"labels\":%s}}", rows[i].labels);
		cr_assert_eq(decoded(json, &arena).shares_already, rows[i].shares, "row %zu", i);
		arena_finish(&arena);
	}
}

/* Under the strategy "single" of MIG the device plugin counts partitions as GPUs. */
Test(node, c34_nodes_whose_gpus_are_partitions)
{
	static const struct {
		const char *product;
		bool is;
	} rows[] = {{"NVIDIA-H100-80GB-HBM3", false}, {"NVIDIA-A100-SXM4-40GB-MIG-1g.5gb", true}};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct arena arena = {0};
		char *json = arena_printf(&arena,
			"{\"metadata\":{\"name\":\"n\",\"labels\":{\"nvidia.com/gpu.product\":"
			"\"%s\"}}}",
			rows[i].product);
		cr_expect_eq(decoded(json, &arena).is_mig, rows[i].is, "row %zu", i);
		arena_finish(&arena);
	}
}

Test(node, c27_nodes_that_serve_others)
{
	static const struct {
		const char *meta;
		bool hami, kai;
	} rows[] = {
		{"\"annotations\":{\"hami.io/"
		 "node-nvidia-register\":\"GPU-1,10,32768,100,V100,0,true:\"}",
			true, false},
		{"\"annotations\":{\"hami.io/node-nvidia-register\":\"[]\"}", false, false},
		{"\"annotations\":{\"hami.io/node-nvidia-register\":\"\"}", false, false},
		{"\"annotations\":{\"hami.io/node-handshake\":\"Requesting_2026\"}", false, false},
		{"\"labels\":{\"kai.scheduler/node-pool\":\"a\"}", false, true},
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct arena arena = {0};
		char *json =
			arena_printf(&arena, "{\"metadata\":{\"name\":\"n\",%s}}", rows[i].meta);
		struct node n = decoded(json, &arena);
		cr_expect_eq(n.serves_hami, rows[i].hami, "row %zu", i);
		cr_expect_eq(n.serves_kai, rows[i].kai, "row %zu", i);
		arena_finish(&arena);
	}
}

Test(node, a_persons_word_that_its_gpus_were_reset)
{
	static const char *const rows[][2] = {
		{"\"annotations\":{\"aliquot.dev/gpus-reset\":\"2026-11-22\"}", "2026-11-22"},
		{"\"annotations\":{\"aliquot.dev/gpus-reset\":\"\"}", NULL},
		{"\"annotations\":{\"aliquot.dev/gpus-reset\":7}", NULL},
		{"\"labels\":{\"aliquot.dev/gpus-reset\":\"x\"}", NULL},
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct arena arena = {0};
		char *json = arena_printf(&arena, "{\"metadata\":{\"name\":\"n\",%s}}", rows[i][0]);
		struct node n = decoded(json, &arena);
		cr_expect(text_equals(n.gpus_reset, rows[i][1]), "row %zu: %s", i,
			text_or(n.gpus_reset, "none"));
		arena_finish(&arena);
	}
}

Test(node, c27_slices_of_nvidias_driver)
{
	static const struct {
		const char *spec, *node;
	} rows[] = {
		{"\"driver\":\"gpu.nvidia.com\",\"nodeName\":\"n1\",\"pool\":{\"name\":\"n1\"}",
			"n1"},
		{"\"driver\":\"compute-domain.nvidia.com\",\"nodeName\":\"n1\"", NULL},
		{"\"driver\":\"gpu.nvidia.com\",\"allNodes\":true", NULL},
		/* v1, v1beta2, v1beta1, v1alpha3: what is in a device differs, and is not read */
		{"\"driver\":\"gpu.nvidia.com\",\"nodeName\":\"n1\",\"devices\":[{\"name\":"
		 "\"gpu-0\",\"basic\":{\"capacity\":{\"memory\":{\"value\":\"80Gi\"}}}}]",
			"n1"},
		{"\"driver\":\"gpu.nvidia.com\",\"nodeName\":\"n1\",\"devices\":[{\"name\":"
		 "\"gpu-0\",\"basic\":{\"capacity\":{\"memory\":\"80Gi\"}}}]",
			"n1"},
		{"\"driver\":\"gpu.nvidia.com\",\"nodeName\":\"n1\",\"devices\":[{\"name\":"
		 "\"gpu-0\",\"attributes\":{\"uuid\":{\"string\":\"GPU-1\"}}}]",
			"n1"},
		/* v1alpha2 */
		{"},\"nodeName\":\"n1\",\"driverName\":\"gpu.nvidia.com\",\"namedResources\":{"
		 "\"instances\":[{\"name\":\"gpu-0\"}]",
			"n1"},
		{"},\"nodeName\":\"n1\",\"driverName\":\"gpu.resource.nvidia.com\","
		 "\"namedResources\":{\"instances\":[]",
			"n1"},
		{"},\"nodeName\":\"n1\",\"driverName\":\"fpga.example.com\",\"namedResources\":{"
		 "\"instances\":[]",
			NULL},
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct arena arena = {0};
		struct gpu_slice s = {0};
		struct fault f = {0};
		char *json = arena_printf(
			&arena, "{\"metadata\":{\"name\":\"s\"},\"spec\":{%s}}", rows[i].spec);
		cr_assert_eq(fields_decode(view_of(json), &gpu_slice_shape, &arena, &s, &f), 0,
			"%s", f.message);
		cr_expect_str_eq(s.name, "s");
		cr_expect(text_equals(s.node, rows[i].node), "row %zu", i);
		arena_finish(&arena);
	}
	struct arena arena = {0};
	struct gpu_slice s = {0};
	struct fault f = {0};
	cr_expect_eq(fields_decode((struct view){"{}", 2}, &gpu_slice_shape, &arena, &s, &f), -1);
	cr_expect_str_eq(f.message, "resourceslice : metadata.name: missing");
	arena_finish(&arena);
}

static void refused(const char *json, const char *message)
{
	struct arena arena = {0};
	struct node n = {0};
	struct fault f = {0};
	cr_assert_eq(fields_decode(view_of(json), &node_shape, &arena, &n, &f), -1, "accepted: %s",
		json);
	cr_assert_eq(f.kind, FAULT_INVALID);
	cr_assert_str_eq(f.message, message);
	cr_assert_null(n.name, "untouched on failure");
	arena_finish(&arena);
}

Test(node, what_is_wrong_is_named)
{
	refused("{}", "node : metadata.name: missing");
	refused("{\"metadata\":{\"name\":\"n\"},\"spec\":{\"taints\":[{\"effect\":\"NoSchedule\"}]}"
		"}",
		"node n: spec.taints[0]: key: missing");
	refused("{\"metadata\":{\"name\":\"n\"},\"status\":{\"allocatable\":{\"nvidia.com/"
		"gpu\":\"-1\"}}}",
		"node n: status.allocatable: negative");
	refused("{\"metadata\":{\"name\":\"n\"},\"status\":{\"conditions\":[{\"type\":1}]}}",
		"node n: status.conditions[0]: type: string expected, integer found");
}
