/* What a pod says of the nodes that it can run on, beside CPU, memory, selectors and taints. */
#include "pods/pod_decode.h"

#include <criterion/criterion.h>

#include "base/cleanup.h"
#include "base/str.h"

static struct pod decoded(const char *json, struct arena *arena)
{
	struct pod p = {0};
	struct fault f = {0};
	cr_assert_eq(pod_decode(json, strlen(json), arena, &p, &f), 0, "%s", f.message);
	return p;
}

#define OTHER(list, amount)   "{\"resources\":{\"" list "\":{\"example.com/x\":\"" amount "\"}}"
#define OTHER_SIDECAR(amount) OTHER("requests", amount) ",\"restartPolicy\":\"Always\"}"

/* The same sums for whatever else a node can run out of. */
Test(pod, other_resources_are_counted_as_the_scheduler_counts_them)
{
	static const struct {
		const char *spec;
		int64_t amount;
	} rows[] = {
		{"\"containers\":[" OTHER("requests", "1") "}," OTHER("limits", "2") "}]", 3},
		{"\"initContainers\":[" OTHER("limits", "5") "}],\"containers\":[" OTHER(
			 "limits", "2") "}]",
			5},
		{"\"initContainers\":[" OTHER_SIDECAR("1") "," OTHER(
			 "requests", "2") "}],\"containers\":[" OTHER("requests", "1") "}]",
			3},
		{"\"initContainers\":[" OTHER_SIDECAR("1") "],\"containers\":[" OTHER(
			 "requests", "1") "}]",
			2},
		{"\"containers\":[" OTHER(
			 "requests", "1") "}],\"overhead\":{\"example.com/x\":\"4\"}",
			5},
		{"\"containers\":[" OTHER("requests", "1") "}],\"resources\":{\"requests\":{"
							   "\"example.com/x\":\"7\"}}",
			7},
		{"\"containers\":[" OTHER("requests", "0") "}]", 0},
		{"\"containers\":[" OTHER("requests", "1e40") "}]", INT64_MAX},
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct arena arena = {0};
		struct pod p =
			decoded(arena_printf(&arena, "{\"spec\":{%s}}", rows[i].spec), &arena);
		int64_t amount = amounts_get(&p.extra.amounts, "example.com/x");
		cr_expect_eq(amount, rows[i].amount, "row %zu: %lld", i, (long long)amount);
		cr_expect_eq(p.extra.amounts.count, amount != 0, "row %zu", i);
		cr_expect_eq(p.cpu_milli, 0);
		arena_finish(&arena);
	}
}

Test(pod, host_ports_are_those_of_containers_that_stay)
{
	struct arena arena = {0};
	struct pod p = decoded(
		"{\"spec\":{\"initContainers\":["
		"{\"ports\":[{\"containerPort\":1,\"hostPort\":1}]},"
		"{\"restartPolicy\":\"Always\",\"ports\":[{\"hostPort\":2,\"protocol\":\"UDP\"}]}],"
		"\"containers\":[{\"ports\":[{\"containerPort\":3,\"protocol\":\"TCP\"},"
		"{\"hostPort\":4,\"hostIP\":\"0.0.0.0\"},{\"hostPort\":5,\"hostIP\":\"10.0.0.1\"},"
		"{\"hostPort\":70000}]}]}}",
		&arena);
	struct str text = STR_INIT(EXTRA_TEXT_MAX);
	extra_write(&text, &p.extra);
	cr_expect_str_eq(str_text(&text), ":2 UDP\n:4 TCP\n:5 TCP 10.0.0.1\n");
	cr_expect_not(p.too_complex);
	str_finish(&text);
	arena_finish(&arena);
}

Test(pod, claims_of_its_volumes_each_once)
{
	struct arena arena = {0};
	struct pod p =
		decoded("{\"metadata\":{\"name\":\"p\"},\"spec\":{\"volumes\":[{\"name\":\"a\","
			"\"emptyDir\":{}},"
			"{\"name\":\"b\",\"persistentVolumeClaim\":{\"claimName\":\"data\"}},"
			"{\"name\":\"c\",\"persistentVolumeClaim\":{\"claimName\":\"data\"}},"
			"{\"name\":\"d\",\"ephemeral\":{}}]}}",
			&arena);
	cr_assert_eq(p.claim_count, 2);
	cr_expect_str_eq(p.claims[0], "data");
	cr_expect_str_eq(p.claims[1], "p-d");
	cr_expect(p.has_volumes_claimed);
	arena_finish(&arena);
}

#define APART(more)                                                                                \
	"{\"spec\":{\"affinity\":{\"podAntiAffinity\":{"                                           \
	"\"requiredDuringSchedulingIgnoredDuringExecution\":[{" more "}]}}}}"
#define ON_HOST "\"topologyKey\":\"kubernetes.io/hostname\""

/* What has another form is the scheduler's, and marked. */
Test(pod, affinity_and_anti_affinity_of_the_usual_forms_are_read)
{
	static const struct {
		const char *json;
		uint32_t terms;
		bool all, left;
	} rows[] = {
		{APART(ON_HOST ",\"labelSelector\":{\"matchLabels\":{\"a\":\"b\"}}"), 1, false,
			false},
		{APART(ON_HOST ",\"namespaces\":[\"x\"]"), 1, false, false},
		{APART(ON_HOST ",\"namespaceSelector\":{}"), 1, true, false},
		{APART(ON_HOST ",\"namespaceSelector\":{\"matchLabels\":{\"a\":\"b\"}}"), 0, false,
			true},
		{APART("\"topologyKey\":\"zone\""), 1, false, false},
		{APART("\"topologyKey\":\"\""), 0, false, true},
		{"{\"spec\":{\"affinity\":{\"podAffinity\":{"
		 "\"requiredDuringSchedulingIgnoredDuringExecution\":[{" ON_HOST "}]}}}}",
			1, false, false},
		{"{}", 0, false, false},
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct arena arena = {0};
		struct pod p = decoded(rows[i].json, &arena);
		cr_expect_eq(p.neighbour_count, rows[i].terms, "row %zu", i);
		cr_expect_eq(p.has_pod_affinity, rows[i].left, "row %zu", i);
		if (p.neighbour_count > 0) {
			cr_expect_eq(p.neighbours[0].all_namespaces, rows[i].all, "row %zu", i);
			cr_expect_eq(p.neighbours[0].pods.present, i == 0, "row %zu", i);
		}
		arena_finish(&arena);
	}
}

#define SPREAD(more)                                                                               \
	"{\"metadata\":{\"labels\":{\"app\":\"web\",\"hash\":\"7\"}},\"spec\":{"                   \
	"\"topologySpreadConstraints\":[{\"whenUnsatisfiable\":\"DoNotSchedule\"," more "}]}}"
#define IN_ZONES "\"maxSkew\":2,\"topologyKey\":\"zone\""

Test(pod, hard_spread_is_read)
{
	static const struct {
		const char *json;
		bool read;
		int32_t min;
		bool any, taints;
		uint32_t expressions;
	} rows[] = {
		{SPREAD(IN_ZONES), true, 0, false, false, 0},
		{SPREAD(IN_ZONES ",\"minDomains\":3,\"nodeTaintsPolicy\":\"Honor\""), true, 3,
			false, true, 0},
		{SPREAD(IN_ZONES ",\"nodeAffinityPolicy\":\"Ignore\""), true, 0, true, false, 0},
		{SPREAD(IN_ZONES ",\"labelSelector\":{\"matchLabels\":{\"app\":\"web\"}},"
				 "\"matchLabelKeys\":[\"hash\",\"none\"]"),
			true, 0, false, false, 1},
		{SPREAD("\"maxSkew\":2"), false, 0, false, false, 0},
		{SPREAD("\"topologyKey\":\"zone\""), false, 0, false, false, 0},
		{SPREAD("\"maxSkew\":\"x\",\"topologyKey\":\"zone\""), false, 0, false, false, 0},
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct arena arena = {0};
		struct pod p = decoded(rows[i].json, &arena);
		cr_expect_eq(p.has_spread, !rows[i].read, "row %zu", i);
		cr_expect_eq(p.neighbour_count, rows[i].read ? 1 : 0, "row %zu", i);
		const struct neighbour_term *t = p.neighbours;
		if (rows[i].read) {
			cr_expect(t->kind == NEIGHBOUR_SPREAD && t->max_skew == 2, "row %zu", i);
			cr_expect_str_eq(t->key, "zone", "row %zu", i);
			cr_expect_eq(t->min_domains, rows[i].min, "row %zu", i);
			cr_expect_eq(t->any_node, rows[i].any, "row %zu", i);
			cr_expect_eq(t->heeds_taints, rows[i].taints, "row %zu", i);
			cr_expect_eq(t->pods.expressions.count, rows[i].expressions, "row %zu", i);
		}
		if (rows[i].expressions > 0) {
			cr_expect_str_eq(t->pods.expressions.items[0].values[0], "7");
		}
		arena_finish(&arena);
	}
}

/* Each list is bounded, and who exceeds a bound is marked: nobody would judge all of it. */
Test(pod, too_many_resources_or_ports_are_marked)
{
	static const struct {
		int resources, ports;
		bool too_complex;
	} rows[] = {{32, 128, false}, {33, 0, true}, {0, 129, true}, {20000, 20000, true}};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		CLEANUP(str_finish) struct str json = STR_INIT(4 << 20);
		CLEANUP(arena_finish) struct arena arena = {0};
		str_append_text(&json,
			"{\"spec\":{\"containers\":[{\"resources\":{\"requests\":{\"cpu\":1");
		for (int j = 0; j < rows[i].resources; j++) {
			str_append_format(&json, ",\"example.com/r%d\":1", j);
		}
		str_append_text(&json, "}},\"ports\":[{}");
		for (int j = 0; j < rows[i].ports; j++) {
			str_append_format(&json, ",{\"hostPort\":%d}", j + 1);
		}
		str_append_text(&json, "]}]}}");
		struct pod p = decoded(str_text(&json), &arena);
		cr_expect_eq(p.too_complex, rows[i].too_complex, "row %zu", i);
		cr_expect_leq(p.extra.amounts.count, EXTRA_AMOUNTS_MAX);
		cr_expect_leq(p.extra.ports.count, EXTRA_PORTS_MAX);
		cr_expect_eq(p.cpu_milli, 1000);
	}
}
