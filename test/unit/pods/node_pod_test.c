/* The pods of a node, as its agent reads them. */
#include "pods/node_pod.h"

#include <criterion/criterion.h>

#include "base/str.h"
#include "own/capacity_text.h"
#include "json/build.h"

#define ID_A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define ID_B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"

struct cuts {
	struct arena arena;
	char *one;
	size_t n;
};

static bool on_object(void *data, struct view type, const char *json, size_t n)
{
	struct cuts *c = data;
	(void)type;
	c->one = arena_strndup(&c->arena, json, n);
	c->n = n;
	return true;
}

/* As a watch hands it on: what the projection drops nobody may miss. */
static int decode(const char *json, struct arena *arena, struct node_pod *p, struct fault *f)
{
	static const struct slice_events events = {.on_object = on_object};
	CLEANUP(str_finish) struct str list = STR_INIT(65536);
	struct cuts cuts = {0};
	struct slice s;
	str_append_format(&list, "{\"metadata\":{\"resourceVersion\":\"1\"},\"items\":[%s]}", json);
	slice_init(&s, SLICE_LIST, node_pod_projection(), &events, &cuts);
	cr_assert_eq(slice_push(&s, list.p, list.len, f), 0, "%s", f->message);
	cr_assert_not_null(cuts.one);
	int result = node_pod_decode(cuts.one, cuts.n, arena, p, f);
	slice_finish(&s);
	arena_finish(&cuts.arena);
	return result;
}

#define META(extra) "{\"metadata\":{\"uid\":\"u1\",\"namespace\":\"team\",\"name\":\"p\"" extra "}"

Test(node_pod, a_tenant_with_all_that_it_was_granted)
{
	CLEANUP(arena_finish) struct arena arena = {0};
	struct node_pod p;
	struct fault f = {0};
	cr_assert_eq(
		decode(META(",\"labels\":{\"aliquot.dev/tenant\":\"true\",\"app\":\"x\"},"
			    "\"annotations\":{\"aliquot.dev/"
			    "gpu-uuid\":\"GPU-1,GPU-2\",\"other\":\"x\","
			    "\"aliquot.dev/compute-milli\":\"250\",\"aliquot.dev/"
			    "memory-mib\":\"20480\","
			    "\"aliquot.dev/container\":\"main\"}") ",\"spec\":{\"containers\":[{"
								   "\"name\":\"main\"},{\"name\":"
								   "\"side\"}]},"
								   "\"status\":{\"phase\":"
								   "\"Running\","
								   "\"initContainerStatuses\":[{"
								   "\"name\":\"init\","
								   "\"containerID\":\"cri-o://" ID_B
								   "\"}],\"containerStatuses\":[{"
								   "\"name\":\"main\","
								   "\"containerID\":\"containerd:/"
								   "/" ID_A
								   "\"},{\"name\":\"side\"}],"
								   "\"ephemeralContainerStatuses\":"
								   "[{\"name\":\"debug\","
								   "\"containerID\":\"x://short\"}]"
								   "}}",
			&arena, &p, &f),
		0, "%s", f.message);
	cr_expect_str_eq(p.uid, "u1");
	cr_expect_str_eq(p.ns, "team");
	cr_expect_str_eq(p.name, "p");
	cr_expect(p.tenant && !p.capacity && p.phase == POD_RUNNING && p.gpus == 0);
	cr_assert_eq(p.uuid_count, 2);
	cr_expect_str_eq(p.uuids[0], "GPU-1");
	cr_expect_str_eq(p.uuids[1], "GPU-2");
	cr_expect(p.milli == 250 && p.mem_mib == 20480);
	cr_expect_str_eq(p.gpu_container, "main");
	cr_assert_eq(p.container_count, 4);
	cr_expect_str_eq(p.containers[0].name, "init");
	cr_expect_str_eq(p.containers[0].id, ID_B);
	cr_expect_str_eq(p.containers[1].id, ID_A);
	cr_expect_null(p.containers[2].id);
	cr_expect_null(p.containers[3].id, "no cgroup is called that");
	cr_expect_null(p.config_hash);
}

/* The keys mean something only with the label, which the webhook sets: who wrote them by hand while
 * it was away was granted nothing. */
Test(node_pod, what_looks_like_a_grant_is_none_without_the_label)
{
	CLEANUP(arena_finish) struct arena arena = {0};
	struct node_pod p;
	struct fault f = {0};
	cr_assert_eq(decode(META(",\"annotations\":{\"aliquot.dev/gpu-uuid\":\"GPU-1\"},"
				 "\"labels\":{\"aliquot.dev/capacity\":\"true\"}") "}",
			     &arena, &p, &f),
		0, "%s", f.message);
	cr_expect(!p.tenant && p.uuid_count == 0);
	cr_expect_not(p.capacity, "another namespace");
	cr_expect(p.phase == POD_PENDING && p.container_count == 0);
}

Test(node_pod, a_pod_of_whole_gpus_and_who_of_it_gets_them)
{
	static const struct {
		const char *spec;
		int64_t gpus;
		const char *container;
	} rows[] = {
		{"{\"containers\":[{\"name\":\"a\",\"resources\":{\"limits\":{\"nvidia.com/"
		 "gpu\":\"2\","
		 "\"cpu\":\"1\"}}},{\"name\":\"b\"}]}",
			2, "a"},
		{"{\"containers\":[{\"name\":\"a\",\"resources\":{\"limits\":{\"nvidia.com/"
		 "gpu\":\"1\"}}},"
		 "{\"name\":\"b\",\"resources\":{\"limits\":{\"nvidia.com/gpu\":\"1\"}}}]}",
			2, NULL},
		{"{\"initContainers\":[{\"name\":\"i\",\"resources\":{\"limits\":"
		 "{\"nvidia.com/gpu\":\"4\"}}}],\"containers\":[{\"name\":\"a\"}]}",
			4, NULL},
		{"{\"containers\":[{\"name\":\"a\",\"resources\":{\"limits\":"
		 "{\"nvidia.com/gpu\":\"no number\"}}}]}",
			0, NULL},
		{"{}", 0, NULL},
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		CLEANUP(arena_finish) struct arena arena = {0};
		CLEANUP(str_finish) struct str json = STR_INIT(4096);
		struct node_pod p;
		struct fault f = {0};
		str_append_format(&json, META("") ",\"spec\":%s}", rows[i].spec);
		cr_assert_eq(decode(str_text(&json), &arena, &p, &f), 0, "%s", f.message);
		cr_expect_eq(p.gpus, rows[i].gpus, "row %zu", i);
		cr_expect(text_equals(p.gpu_container, rows[i].container), "row %zu", i);
	}
}

static void capacity_json(struct str *out, const char *state, const char *code)
{
	struct gpu_identity id = {
		.uuid = "GPU-7", .model = "H100", .driver = "550", .mem_mib = 81000, .minor = 3};
	CLEANUP(str_finish) struct str text = STR_INIT(IDENTITY_TEXT_MAX);
	cr_assert(identity_write(&text, &id));
	str_append_format(out,
		"{\"metadata\":{\"uid\":\"c\",\"namespace\":\"aliquot-system\",\"name\":\"capacity-"
		"x\","
		"\"labels\":{\"aliquot.dev/"
		"capacity\":\"true\"}},\"status\":{\"initContainerStatuses\":"
		"[{\"name\":\"identify\",\"%s\":{\"terminated\":{\"exitCode\":%s,\"message\":",
		state, code);
	str_append_json(out, text.p, text.len);
	str_append_text(out, "}}}]}}");
}

Test(node_pod, a_capacity_pod_holds_what_it_told)
{
	static const struct {
		const char *state, *code;
		uint32_t uuids;
	} rows[] = {{"state", "0", 1}, {"lastState", "0", 1}, {"state", "1", 0}};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		CLEANUP(arena_finish) struct arena arena = {0};
		CLEANUP(str_finish) struct str json = STR_INIT(8192);
		struct node_pod p;
		struct fault f = {0};
		capacity_json(&json, rows[i].state, rows[i].code);
		cr_assert_eq(decode(str_text(&json), &arena, &p, &f), 0, "%s", f.message);
		cr_assert(p.capacity && p.uuid_count == rows[i].uuids, "row %zu", i);
		cr_expect(p.uuid_count == 0 || text_equals(p.uuids[0], "GPU-7"));
	}
}

/* Its hash names a cgroup, so it is believed of a mirror alone. */
Test(node_pod, the_hash_of_a_static_pod)
{
	static const struct {
		const char *mirror, *owner;
		bool is;
	} rows[] = {{"h1", "Node", true}, {"h2", "Node", false}, {"h1", "ReplicaSet", false}};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		CLEANUP(arena_finish) struct arena arena = {0};
		CLEANUP(str_finish) struct str json = STR_INIT(4096);
		struct node_pod p;
		struct fault f = {0};
		str_append_format(&json,
			META(",\"annotations\":{\"kubernetes.io/config.hash\":\"h1\","
			     "\"kubernetes.io/config.mirror\":\"%s\"},"
			     "\"ownerReferences\":[{\"kind\":\"%s\",\"name\":\"n\"}]") "}",
			rows[i].mirror, rows[i].owner);
		cr_assert_eq(decode(str_text(&json), &arena, &p, &f), 0, "%s", f.message);
		cr_expect(text_equals(p.config_hash, rows[i].is ? "h1" : NULL), "row %zu", i);
	}
}

Test(node_pod, what_is_refused_names_its_place)
{
	static const struct {
		const char *json, *part;
	} rows[] = {
		{"[]", "pod"},
		{"{}", "metadata"},
		{"{\"metadata\":[]}", "metadata"},
		{"{\"metadata\":{\"namespace\":\"a\",\"name\":\"b\"}}", "uid"},
		{META(",\"labels\":1") "}", "labels"},
		{META("") ",\"status\":7}", "status"},
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		CLEANUP(arena_finish) struct arena arena = {0};
		struct node_pod p;
		struct fault f = {0};
		cr_assert_eq(
			node_pod_decode(rows[i].json, strlen(rows[i].json), &arena, &p, &f), -1);
		cr_expect_eq(f.kind, FAULT_INVALID);
		cr_expect_not_null(
			strstr(f.message, rows[i].part), "%s: %s", rows[i].json, f.message);
	}
}

Test(node_pod, what_mps_takes_of_a_tenant_and_of_a_capacity_pod)
{
	CLEANUP(arena_finish) struct arena arena = {0};
	struct node_pod p;
	struct fault f = {0};
	cr_assert_eq(
		decode(META(",\"deletionTimestamp\":\"2026-11-21T10:00:00Z\","
			    "\"labels\":{\"aliquot.dev/tenant\":\"true\"},\"annotations\":{"
			    "\"aliquot.dev/isolation\":\"MPS\",\"aliquot.dev/mps-threads\":\"25\","
			    "\"aliquot.dev/mps-memory\":\"0=1024M\"}") "}",
			&arena, &p, &f),
		0, "%s", f.message);
	cr_expect(p.tenant && p.mps);
	cr_expect_str_eq(p.mps_threads, "25");
	cr_expect_str_eq(p.mps_memory, "0=1024M");
	cr_expect_eq(p.deleting_ms, 1795255200000);
	cr_assert_eq(decode(META(",\"labels\":{\"aliquot.dev/tenant\":\"true\"},\"annotations\":{"
				 "\"aliquot.dev/isolation\":\"None\"}") "}",
			     &arena, &p, &f),
		0, "%s", f.message);
	cr_expect_not(p.mps);
	cr_expect_null(p.mps_threads);
	cr_expect_eq(p.deleting_ms, 0);
	/* Nobody's word but that of our own pods. */
	cr_assert_eq(decode(META(",\"annotations\":{\"aliquot.dev/isolation\":\"MPS\"}") "}",
			     &arena, &p, &f),
		0, "%s", f.message);
	cr_expect_not(p.mps);
	cr_assert_eq(decode("{\"metadata\":{\"uid\":\"u1\",\"namespace\":\"aliquot-system\","
			    "\"name\":\"c\",\"labels\":{\"aliquot.dev/capacity\":\"true\"},"
			    "\"annotations\":{\"aliquot.dev/isolation\":\"MPS\"}}}",
			     &arena, &p, &f),
		0, "%s", f.message);
	cr_expect(p.capacity && p.mps);
}
