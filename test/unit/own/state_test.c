/* What an agent says of its node. */
#include "own/state.h"

#include <criterion/criterion.h>

#define HEAD                                                                                       \
	"{\"v\":1,\"node\":\"n1\",\"boot\":\"b1\",\"sequence\":7,\"ageMs\":250,"                   \
	"\"time\":\"2026-11-21T10:00:00.5Z\","

static int decode(const char *json, struct arena *arena, struct node_state *s, struct fault *f)
{
	*f = (struct fault){0};
	return state_decode(json, strlen(json), arena, s, f);
}

Test(state, everything_that_is_told)
{
	CLEANUP(arena_finish) struct arena arena = {0};
	struct node_state s;
	struct fault f;
	cr_assert_eq(decode(HEAD "\"devices\":[{\"uuid\":\"GPU-A\",\"healthy\":true,\"why\":\"\"},"
				 "{\"uuid\":\"GPU-B\",\"healthy\":false,\"why\":\"XID 79\"},"
				 "{\"uuid\":\"GPU-C\",\"healthy\":false,\"cause\":\"Heard\"},"
				 "{\"uuid\":\"GPU-D\",\"healthy\":true,\"cause\":\"Later\"}],"
				 "\"pods\":[{\"uid\":\"u1\",\"processes\":3,\"later\":[]},"
				 "{\"uid\":\"u2\",\"processes\":0}],\"more\":{}}",
			     &arena, &s, &f),
		0, "%s", f.message);
	cr_assert_str_eq(s.node, "n1");
	cr_assert_str_eq(s.boot, "b1");
	cr_expect(s.sequence == 7 && s.seen_ms == -250 && s.device_count == 4 && s.pod_count == 2);
	cr_expect_null(s.devices[0].why);
	cr_expect_str_eq(s.devices[1].why, "XID 79");
	cr_expect_str_eq(s.devices[2].why, "not said why");
	cr_expect_eq(s.devices[1].cause, ILL_ASKED, "one that does not tell it knows no events");
	cr_expect_eq(s.devices[2].cause, ILL_HEARD);
	cr_expect_eq(s.devices[3].cause, ILL_ASKED, "of one that is well it means nothing");
	cr_expect_str_eq(s.pods[1], "u2");
}

/* No process is one thing, nothing said of processes another. */
Test(state, nobody_and_nothing)
{
	CLEANUP(arena_finish) struct arena arena = {0};
	struct node_state s;
	struct fault f;
	cr_assert_eq(decode(HEAD "\"devices\":[],\"pods\":[]}", &arena, &s, &f), 0);
	cr_expect(s.device_count == 0 && s.pod_count == 0);
}

Test(state, what_is_refused_names_its_place)
{
	static const struct {
		const char *json, *part;
	} rows[] = {
		{"", "state"},
		{"[]", "object expected"},
		{HEAD "\"pods\":[]}", "devices: missing"},
		{HEAD "\"devices\":[]}", "pods: missing"},
		{HEAD "\"devices\":null,\"pods\":[]}", "devices: missing"},
		{HEAD "\"devices\":{},\"pods\":[]}", "devices"},
		{HEAD "\"devices\":[{\"uuid\":\"GPU-A\"}],\"pods\":[]}", "devices[0]: healthy"},
		{HEAD "\"devices\":[{\"uuid\":\"GPU-A\",\"healthy\":1}],\"pods\":[]}", "healthy"},
		{HEAD "\"devices\":[{\"uuid\":\"\",\"healthy\":true}],\"pods\":[]}", "uuid"},
		{HEAD "\"devices\":[{\"uuid\":\"G\",\"healthy\":false,\"cause\":\"heard\"}],"
		      "\"pods\":[]}",
			"devices[0]: cause"},
		{HEAD "\"devices\":[],\"pods\":[{\"uid\":\"u1\"}]}", "pods[0]: processes"},
		{HEAD "\"devices\":[],\"pods\":[{\"processes\":1}]}", "pods[0]: uid"},
		{HEAD "\"devices\":[],\"pods\":[{\"uid\":\"u 1\",\"processes\":1}]}", "pods[0]"},
		{HEAD "\"devices\":[],\"pods\":[{\"uid\":\"u\",\"processes\":-1}]}", "pods[0]"},
		{HEAD "\"devices\":[],\"pods\":[\"u1\"]}", "pods[0]"},
		{HEAD "\"devices\":[],\"pods\":[],\"pods\":[]}", "state"},
		{HEAD "\"devices\":[],\"pods\":[]", "state"},
		{"{\"v\":2,\"node\":\"n\",\"boot\":\"b\",\"sequence\":1,\"ageMs\":0,\"time\":"
		 "\"2026-11-21T10:00:00Z\",\"devices\":[],\"pods\":[]}",
			"v: 2"},
		{"{\"v\":1,\"node\":\"n\",\"boot\":\"b\",\"sequence\":0,\"ageMs\":0,\"time\":"
		 "\"2026-11-21T10:00:00Z\",\"devices\":[],\"pods\":[]}",
			"sequence"},
		{"{\"v\":1,\"node\":\"n\",\"boot\":\"b\",\"sequence\":1,\"ageMs\":10001,\"time\":"
		 "\"2026-11-21T10:00:00Z\",\"devices\":[],\"pods\":[]}",
			"ageMs"},
		{"{\"v\":1,\"node\":\"n\",\"boot\":\"b\",\"sequence\":1,\"ageMs\":-1,\"time\":"
		 "\"2026-11-21T10:00:00Z\",\"devices\":[],\"pods\":[]}",
			"ageMs"},
		{"{\"v\":1,\"node\":\"n\",\"boot\":\"b\",\"sequence\":1,\"ageMs\":0,\"time\":"
		 "\"now\",\"devices\":[],\"pods\":[]}",
			"time"},
		{"{\"v\":1,\"node\":\"\",\"boot\":\"b\",\"sequence\":1,\"ageMs\":0,\"time\":"
		 "\"2026-11-21T10:00:00Z\",\"devices\":[],\"pods\":[]}",
			"node"},
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		CLEANUP(arena_finish) struct arena arena = {0};
		struct node_state s = {.sequence = 4711};
		struct fault f;
		cr_expect_eq(decode(rows[i].json, &arena, &s, &f), -1, "row %zu", i);
		cr_expect_eq(f.kind, FAULT_INVALID, "row %zu: %s", i, f.message);
		cr_expect_not_null(strstr(f.message, rows[i].part), "row %zu: %s", i, f.message);
		cr_expect_eq(s.sequence, 4711, "untouched");
	}
}

static void fill(struct str *out, const char *list, int count)
{
	str_append_text(out, HEAD);
	str_append_text(
		out, list[0] == 'd' ? "\"pods\":[],\"devices\":[" : "\"devices\":[],\"pods\":[");
	for (int i = 0; i < count; i++) {
		str_append_text(out, i > 0 ? "," : "");
		str_append_format(out,
			list[0] == 'd' ? "{\"uuid\":\"G-%d\",\"healthy\":true}"
				       : "{\"uid\":\"u-%d\",\"processes\":1}",
			i);
	}
	str_append_text(out, "]}");
}

Test(state, limits)
{
	static const struct {
		const char *list;
		int count, result;
	} rows[] = {{"devices", STATE_DEVICES_MAX, 0}, {"devices", STATE_DEVICES_MAX + 1, -1},
		{"pods", STATE_PODS_MAX, 0}, {"pods", STATE_PODS_MAX + 1, -1}};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		CLEANUP(arena_finish) struct arena arena = {0};
		CLEANUP(str_finish) struct str json = STR_INIT(1 << 20);
		struct node_state s;
		struct fault f;
		fill(&json, rows[i].list, rows[i].count);
		cr_expect_eq(decode(str_text(&json), &arena, &s, &f), rows[i].result, "row %zu", i);
		cr_expect(rows[i].result == 0 || f.kind == FAULT_LIMIT);
	}
}

/* What is asked of a driver or a daemon may be unknown: then it is left out, and never a zero. */
Test(state, use_and_daemons)
{
	CLEANUP(arena_finish) struct arena arena = {0};
	struct node_state s;
	struct fault f;
	cr_assert_eq(
		decode(HEAD "\"devices\":[{\"uuid\":\"A\",\"healthy\":true,\"memory\":"
			    "{\"totalMiB\":81559,\"usedMiB\":0},\"mps\":{\"state\":\"Fault\","
			    "\"contexts\":4,\"why\":\"x\"}},{\"uuid\":\"B\",\"healthy\":true}],"
			    "\"pods\":[{\"uid\":\"u1\",\"processes\":0},{\"uid\":\"u2\","
			    "\"processes\":3,\"devices\":[{\"uuid\":\"A\",\"processes\":2,"
			    "\"memoryMiB\":700},{\"uuid\":\"B\",\"processes\":1}]}]}",
			&arena, &s, &f),
		0, "%s", f.message);
	cr_expect(s.devices[0].total_mib == 81559 && s.devices[0].used_mib == 0);
	cr_expect(s.devices[0].mps == MPS_FAULT && s.devices[0].contexts == 4);
	cr_expect_str_eq(s.devices[0].mps_why, "x");
	cr_expect(s.devices[1].total_mib == 0 && s.devices[1].mps == MPS_UNSAID);
	cr_assert_eq(s.use_count, 2);
	cr_expect_str_eq(s.uses[0].uid, "u2");
	cr_expect_str_eq(s.uses[1].uuid, "B");
	cr_expect(s.uses[0].mem_mib == 700 && s.uses[0].processes == 2 && s.uses[1].mem_mib == -1);
}

Test(state, what_is_refused_of_use)
{
	static const char *const rows[][2] = {
		{"\"memory\":{\"totalMiB\":10}", "memory"},
		{"\"memory\":{\"usedMiB\":10}", "memory"},
		{"\"memory\":{\"totalMiB\":0,\"usedMiB\":0}", "memory"},
		{"\"memory\":{\"totalMiB\":10,\"usedMiB\":-2}", "memory"},
		{"\"memory\":{\"totalMiB\":\"10\",\"usedMiB\":1}", "totalMiB"},
		{"\"mps\":{\"state\":\"active\"}", "mps.state"},
		{"\"mps\":{\"state\":\"Active\",\"contexts\":-1}", "mps.contexts"},
	};
	static const char *const uses[][2] = {
		{"{\"uuid\":\"B\",\"processes\":1}", "not one of devices"},
		{"{\"uuid\":\"A\"}", "processes"},
		{"{\"uuid\":\"A\",\"processes\":-1}", "out of range"},
		{"{\"uuid\":\"A\",\"processes\":1,\"memoryMiB\":-7}", "out of range"},
	};
	struct node_state s;
	struct fault f;
	for (size_t i = 0; i < COUNT_OF(rows) + COUNT_OF(uses); i++) {
		CLEANUP(arena_finish) struct arena arena = {0};
		CLEANUP(str_finish) struct str json = STR_INIT(4096);
		bool of_pod = i >= COUNT_OF(rows);
		const char *const *row = of_pod ? uses[i - COUNT_OF(rows)] : rows[i];
		str_append_format(&json,
			HEAD "\"devices\":[{\"uuid\":\"A\",\"healthy\":true%s%s}],\"pods\":["
			     "{\"uid\":\"u\",\"processes\":1,\"devices\":[%s]}]}",
			of_pod ? "" : ",", of_pod ? "" : row[0], of_pod ? row[0] : "");
		cr_expect_eq(decode(str_text(&json), &arena, &s, &f), -1, "row %zu", i);
		cr_expect_not_null(strstr(f.message, row[1]), "row %zu: %s", i, f.message);
	}
}

Test(state, what_is_written_is_read_back)
{
	CLEANUP(arena_finish) struct arena arena = {0};
	CLEANUP(str_finish) struct str json = STR_INIT(4096);
	struct device_state devices[] = {{.uuid = "GPU-A",
						 .total_mib = 80,
						 .used_mib = 70,
						 .mps = MPS_ACTIVE,
						 .contexts = 2},
		{.uuid = "GPU-B", .why = "XID 48"}};
	const char *pods[] = {"u0", "u1"};
	struct pod_use uses[] = {{"u1", "GPU-A", 60, 2}, {"u1", "GPU-B", -1, 1}};
	struct node_state s, told = {.node = "n1",
				     .boot = "b1",
				     .sequence = 3,
				     .seen_ms = -40,
				     .devices = devices,
				     .device_count = 2,
				     .pods = pods,
				     .pod_count = 2,
				     .uses = uses,
				     .use_count = 2};
	struct fault f;
	cr_assert(state_write(&json, &told, 1795000000000));
	cr_expect_not_null(strstr(str_text(&json), "{\"uid\":\"u1\",\"processes\":3,"));
	cr_assert_eq(decode(str_text(&json), &arena, &s, &f), 0, "%s", f.message);
	cr_expect(s.sequence == 3 && s.seen_ms == -40 && s.pod_count == 2 && s.use_count == 2);
	cr_expect_str_eq(s.devices[1].why, "XID 48");
	cr_expect(s.devices[0].total_mib == 80 && s.devices[0].used_mib == 70);
	cr_expect(s.devices[0].mps == MPS_ACTIVE && s.devices[0].contexts == 2);
	cr_expect(s.uses[0].mem_mib == 60 && s.uses[1].mem_mib == -1);
}
