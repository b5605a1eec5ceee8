/* Pods as an API server sends them: what is read, through the projection and without, and how a
 * pod's needs are counted. */
#include "pods/pod_decode.h"

#include <criterion/criterion.h>

#include "../codec/data.h"
#include "json/decode.h"
#include "codec/meta.h"
#include "model/names.h"

struct taken {
	struct arena arena;
	struct pod pod;
	struct fault fault;
	int result;
	size_t size;
};

static bool take(void *data, struct view type, const char *json, size_t n)
{
	struct taken *t = data;
	(void)type;
	t->size = n;
	t->result = pod_decode(json, n, &t->arena, &t->pod, &t->fault);
	return true;
}

/* Through the splitter, as a watch does. */
static void watch(const char *json, struct taken *t)
{
	static const struct slice_events events = {take, NULL};
	struct slice s;
	t->result = -2;
	slice_init(&s, SLICE_WATCH, meta_projection(&pod_shape), &events, t);
	cr_assert_eq(slice_push(&s, "{\"type\":\"ADDED\",\"object\":", 25, &t->fault), 0);
	cr_assert_eq(slice_push(&s, json, strlen(json), &t->fault), 0, "%s", t->fault.message);
	cr_assert_eq(slice_push(&s, "}", 1, &t->fault), 0);
	slice_finish(&s);
}

static void check_serving(const struct pod *p)
{
	cr_assert_str_eq(p->ns, "ml-serving");
	cr_assert_str_eq(p->name, "llm-7c9d8f6b5-x2x8k");
	cr_assert_str_eq(p->uid, "0a7c2f58-9b1e-4f7e-8d0c-2f9a3b6c1d11");
	cr_assert_str_eq(p->resource_version, "184467");
	cr_assert_eq(p->created_ms, 1795255083000);
	cr_assert_eq(p->deleting_ms, 0);
	cr_assert_eq(p->labels.count, 4);
	cr_assert_str_eq(pairs_get(&p->labels, LABEL_TENANT), "true");
	cr_assert_eq(p->notes.count, 3, "only ours");
	cr_assert_str_eq(pairs_get(&p->notes, NOTE_ORIGINAL), "{\"nvidia.com/gpu\":\"1\"}");
	cr_assert_str_eq(p->owner.kind, "ReplicaSet");
	cr_assert_str_eq(p->owner.name, "llm-7c9d8f6b5");
	cr_assert_not(p->is_static);
	cr_assert_str_eq(p->node, "gpu-0017");
	cr_assert_str_eq(p->scheduler, "default-scheduler");
	cr_assert_str_eq(p->runtime_class, "nvidia");
	cr_assert_str_eq(p->priority_class, "serving");
	cr_assert(p->has_priority);
	cr_assert_eq(p->priority, 1000);
	cr_assert_not(p->never_preempts);
	cr_assert_eq(p->gate_count, 2);
	cr_assert_str_eq(p->gates[1], NAME_GATE);
	cr_assert_str_eq(pairs_get(&p->node_selector, "pool"), "gpu");
	cr_assert_eq(p->node_term_count, 1);
	cr_assert_eq(p->node_terms[0].labels.count, 1);
	cr_assert_eq(p->node_terms[0].labels.items[0].operator, TERM_IN);
	cr_assert_str_eq(p->node_terms[0].labels.items[0].values[1], "NVIDIA-A100-SXM4-80GB");
	cr_assert_str_eq(p->node_terms[0].fields.items[0].key, "metadata.name");
	cr_assert_eq(p->toleration_count, 3);
	cr_assert_str_eq(p->tolerations[0].effect, "NoExecute");
	cr_assert_null(p->tolerations[2].effect);
	cr_assert(p->has_volumes_claimed);
	cr_assert_not(p->has_claims || p->has_group);
	cr_assert_not(p->has_pod_affinity, "preferred only");
	cr_assert_not(p->has_spread, "ScheduleAnyway only");
	/* containers 2250m and the sidecar 100m against fetch's 3000m beside the sidecar, plus 50m
	 */
	cr_assert_eq(p->cpu_milli, 3150);
	cr_assert_eq(p->mem_bytes, (8192LL + 128 + 64 + 32) << 20);
	cr_assert_eq(p->gpus, 1);
	cr_assert_eq(p->container_count, 4);
	cr_assert(p->containers[0].sidecar && p->containers[0].init);
	cr_assert(p->containers[1].init && !p->containers[1].sidecar);
	cr_assert_str_eq(p->containers[2].name, "server");
	cr_assert_eq(p->containers[2].gpus, 1);
	cr_assert_eq(p->phase, POD_RUNNING);
	cr_assert(p->ready);
	cr_assert_not(p->unschedulable);
	cr_assert_str_eq(p->placed.type, NAME_PLACED);
	cr_assert_not(p->placed.is_true);
	cr_assert_str_eq(p->placed.reason, "ShortMemory");
	cr_assert_eq(p->placed.since_ms, 1795255093000);
	cr_assert_eq(p->restarts, 3);
	cr_assert_null(p->trouble);
	cr_assert_null(p->identity);
	cr_assert_str_eq(p->gpu_container, p->containers[2].name);
	cr_assert_str_eq(p->gpu_image, "registry.local/llm@sha256:8a1d");
}

/* It asks for no GPU any more: its annotation says which container it was. */
Test(pod, the_gpu_container_of_a_tenant)
{
	static const char json[] =
		"{\"metadata\":{\"namespace\":\"a\",\"name\":\"b\",\"uid\":\"c\",\"labels\":{"
		"\"aliquot.dev/tenant\":\"true\"},\"annotations\":{\"aliquot.dev/"
		"container\":\"y\"}},"
		"\"spec\":{\"containers\":[{\"name\":\"x\",\"image\":\"i:1\"},{\"name\":\"y\","
		"\"image\":"
		"\"j:2\"}]}}";
	CLEANUP(arena_finish) struct arena arena = {0};
	struct pod p;
	struct fault f = {0};
	cr_assert_eq(pod_decode(json, sizeof json - 1, &arena, &p, &f), 0, "%s", f.message);
	cr_assert_str_eq(p.gpu_container, "y");
	cr_assert_str_eq(p.gpu_image, "j:2");
	static const char plain[] =
		"{\"metadata\":{\"namespace\":\"a\",\"name\":\"b\",\"uid\":\"c\"},"
		"\"spec\":{\"containers\":[{\"name\":\"x\"}]}}";
	cr_assert_eq(pod_decode(plain, sizeof plain - 1, &arena, &p, &f), 0, "%s", f.message);
	cr_assert_null(p.gpu_container);
}

Test(pod, a_serving_pod)
{
	struct str json = DATA("serving.json");
	struct taken t = {0};
	watch(json.p, &t);
	cr_assert_eq(t.result, 0, "%s", t.fault.message);
	cr_assert_lt(t.size, json.len * 2 / 5, "the projection keeps %zu bytes", t.size);
	check_serving(&t.pod);
	cr_assert_null(t.pod.generate_name);
	cr_assert_eq(t.pod.containers[2].arg_count, 0);
	arena_finish(&t.arena);

	struct pod whole;
	struct fault f = {0};
	struct arena arena = {0};
	cr_assert_eq(pod_decode(json.p, json.len, &arena, &whole, &f), 0, "%s", f.message);
	check_serving(&whole);
	cr_assert_eq(whole.containers[2].env.count, 0, "only admission reads env");
	arena_finish(&arena);
	str_finish(&json);
}

Test(pod, the_same_at_admission)
{
	struct str json = DATA("serving.json");
	CLEANUP(decode_release) json_t *root = NULL;
	struct arena arena = {0};
	struct pod p;
	struct fault f = {0};
	cr_assert_eq(decode_parse(json.p, json.len, DECODE_UNIQUE, &root, &f), 0);
	cr_assert_eq(pod_review(root, &arena, &p, &f), 0, "%s", f.message);
	check_serving(&p);
	cr_assert_str_eq(p.generate_name, "llm-7c9d8f6b5-");
	const struct container *c = &p.containers[2];
	cr_assert_str_eq(c->image, "registry.local/llm@sha256:8a1d");
	cr_assert_eq(c->arg_count, 5);
	cr_assert_eq(c->command_count, 3);
	cr_assert_str_eq(c->args[0], "python3");
	cr_assert_str_eq(c->args[4], "$(MODEL)");
	cr_assert_eq(c->env.count, 4);
	cr_assert_str_eq(c->env.items[0].key, "MODEL");
	cr_assert_str_eq(c->env.items[1].key, "TOKEN");
	cr_assert_null(c->env.items[1].value, "from elsewhere");
	cr_assert_eq(c->visible_devices, ENV_ALL, "the last duplicate wins");
	cr_assert_not(c->env_is_missing);
	cr_assert(p.containers[3].env_is_missing);
	cr_assert(p.containers[3].privileged);
	cr_assert_not(c->privileged);
	arena_finish(&arena);
	str_finish(&json);
}

Test(pod, a_capacity_pod)
{
	struct str json = DATA("capacity.json");
	struct taken t = {0};
	watch(json.p, &t);
	cr_assert_eq(t.result, 0, "%s", t.fault.message);
	cr_assert(pod_is_capacity(&t.pod));
	cr_assert(t.pod.holds);
	cr_assert_str_eq(t.pod.identity->uuid, "GPU-5b8f2a6e-1c3d-4e5f-8a9b-0c1d2e3f4a5b");
	cr_assert_eq(t.pod.identity->mem_mib, 81559);
	cr_assert_eq(t.pod.ledger.count, 1);
	cr_assert_str_eq(t.pod.ledger.items[0].uid, "t1");
	cr_assert_not(t.pod.ledger_bad);
	cr_assert(t.pod.never_preempts);
	cr_assert_eq(t.pod.gpus, 1, "an init container's GPU is the same GPU");
	arena_finish(&t.arena);
	str_finish(&json);
}

static struct pod decoded(const char *json, struct arena *arena)
{
	struct pod p = {0};
	struct fault f = {0};
	cr_assert_eq(pod_decode(json, strlen(json), arena, &p, &f), 0, "%s", f.message);
	return p;
}

/* A container's last words are whatever bytes it left. */
Test(pod, u0000_in_it_does_not_hide_it)
{
	struct taken t = {0};
	watch("{\"metadata\":{\"namespace\":\"n\",\"name\":\"p\",\"uid\":\"u\",\"annotations\":{"
	      "\"" NOTE_GPU_FRACTION
	      "\":\"0.5\\u0000\"}},\"spec\":{\"nodeName\":\"n1\",\"containers\":[{"
	      "\"resources\":{\"limits\":{\"nvidia.com/gpu\":\"2\"}}}]},\"status\":{\"phase\":"
	      "\"Running\",\"containerStatuses\":[{\"state\":{\"terminated\":{\"message\":"
	      "\"a\\u0000b\""
	      "}}}]}}",
		&t);
	cr_assert_eq(t.result, 0, "%s", t.fault.message);
	cr_expect_str_eq(t.pod.node, "n1");
	cr_expect_eq(t.pod.gpus, 2);
	cr_expect_str_eq(pairs_get(&t.pod.notes, NOTE_GPU_FRACTION), "0.5\xef\xbf\xbd", "no share");
	arena_finish(&t.arena);
}

Test(pod, an_empty_pod_is_a_pod)
{
	struct arena arena = {0};
	struct pod p = decoded("{}", &arena);
	cr_assert_str_eq(p.ns, "");
	cr_assert_str_eq(p.name, "");
	cr_assert_str_eq(p.uid, "");
	cr_assert_null(p.node);
	cr_assert_eq(p.phase, POD_PENDING);
	cr_assert_eq(p.container_count, 0);
	arena_finish(&arena);
}

#define REQUEST(cpu) "{\"resources\":{\"requests\":{\"cpu\":\"" cpu "\"}}"
#define SIDECAR(cpu) REQUEST(cpu) ",\"restartPolicy\":\"Always\"}"

Test(pod, needs_are_counted_as_the_scheduler_counts_them)
{
	static const struct {
		const char *json;
		int64_t cpu_milli, gpus;
	} rows[] = {
		{"{\"spec\":{\"containers\":[" REQUEST("1") "}," REQUEST("500m") "}]}}", 1500, 0},
		{"{\"spec\":{\"initContainers\":[" REQUEST("2") "}],\"containers\":[" REQUEST(
			 "1") "}]}}",
			2000, 0},
		{"{\"spec\":{\"initContainers\":[" SIDECAR("1") "," REQUEST(
			 "2") "}],\"containers\":[" REQUEST("1") "}]}}",
			3000, 0},
		{"{\"spec\":{\"initContainers\":[" REQUEST("2") "}," SIDECAR(
			 "1") "],\"containers\":[" REQUEST("1") "}]}}",
			2000, 0},
		{"{\"spec\":{\"overhead\":{\"cpu\":\"10m\"},\"resources\":{\"requests\":{\"cpu\":"
		 "\"5\"}},"
		 "\"containers\":[" REQUEST("1") "}]}}",
			5010, 0},
		{"{\"spec\":{\"containers\":[{\"resources\":{\"limits\":{\"cpu\":2,\"nvidia.com/"
		 "gpu\":2},"
		 "\"requests\":{\"nvidia.com/"
		 "gpu\":\"1\"}}},{\"resources\":{\"requests\":{\"nvidia.com/gpu\":1}}}]}}",
			2000, 3},
		{"{\"spec\":{\"containers\":[" REQUEST("9223372036854775") "}," REQUEST(
			 "9223372036854775") "}]}}",
			INT64_MAX, 0},
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct arena arena = {0};
		struct pod p = decoded(rows[i].json, &arena);
		cr_assert_eq(
			p.cpu_milli, rows[i].cpu_milli, "row %zu: %lld", i, (long long)p.cpu_milli);
		cr_assert_eq(p.gpus, rows[i].gpus, "row %zu: %lld", i, (long long)p.gpus);
		arena_finish(&arena);
	}
}

/* What the API server would refuse of a plain pod must not be made valid by us. */
Test(pod, amounts_of_gpus_that_the_api_server_refuses_are_marked)
{
	static const struct {
		const char *resources;
		bool bad;
	} rows[] = {
		{"{\"limits\":{\"nvidia.com/gpu\":\"1\"}}", false},
		{"{\"limits\":{\"nvidia.com/gpu\":1},\"requests\":{\"nvidia.com/gpu\":\"1000m\"}}",
			false},
		{"{\"limits\":{\"cpu\":\"500m\"}}", false},
		{"{\"limits\":{\"nvidia.com/gpu\":\"500m\"}}", true},
		{"{\"limits\":{\"nvidia.com/gpu\":\"0.5\"},\"requests\":{\"nvidia.com/"
		 "gpu\":\"0.5\"}}",
			true},
		{"{\"limits\":{\"nvidia.com/gpu\":2},\"requests\":{\"nvidia.com/gpu\":1}}", true},
		{"{\"limits\":{\"nvidia.com/gpu\":1},\"requests\":{\"nvidia.com/gpu\":\"900m\"}}",
			true},
		{"{\"requests\":{\"nvidia.com/gpu\":1}}", true},
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		CLEANUP(arena_finish) struct arena arena = {0};
		const char *json = arena_printf(&arena,
			"{\"spec\":{\"containers\":[{\"resources\":%s}]}}", rows[i].resources);
		struct pod p = decoded(json, &arena);
		cr_assert_eq(p.containers[0].bad_gpus, rows[i].bad, "%s", rows[i].resources);
	}
}

Test(pod, marks_of_a_container)
{
	struct arena arena = {0};
	struct pod p = decoded(
		"{\"spec\":{\"containers\":[{\"resources\":{\"limits\":{\"nvidia.com/"
		"mig-1g.10gb\":1}}},"
		"{\"resources\":{\"claims\":[{\"name\":\"g\"}]}}],\"resourceClaims\":[{\"name\":"
		"\"g\"}],"
		"\"schedulingGroup\":{\"podGroupName\":\"g\"},\"topologySpreadConstraints\":"
		"[{\"whenUnsatisfiable\":\"DoNotSchedule\"}],\"affinity\":{\"podAntiAffinity\":"
		"{\"requiredDuringSchedulingIgnoredDuringExecution\":[{\"topologyKey\":\"\"}]}}}}",
		&arena);
	cr_assert(p.containers[0].mig && !p.containers[0].claims);
	cr_assert(p.containers[1].claims && !p.containers[1].mig);
	cr_assert(p.has_claims && p.has_group && p.has_spread && p.has_pod_affinity);
	arena_finish(&arena);
}

/* A pod whose node affinity, selector, tolerations and gates come to `rules` in all. */
static void write_rules(struct str *json, int rules)
{
	str_append_format(json,
		"{\"spec\":{\"schedulingGates\":[{\"name\":\"theirs\"},{\"name\":\"" NAME_GATE
		"\"}],\"nodeSelector\":{\"pool\":\"gpu\"},\"tolerations\":[{\"operator\":"
		"\"Exists\"}],\"containers\":[" REQUEST(
			"1") "}],\"affinity\":{\"nodeAffinity\":{"
			     "\"requiredDuringSchedulingIgnoredDuringExecution\":{"
			     "\"nodeSelectorTerms\":[{"
			     "\"matchExpressions\":[{\"key\":\"k\",\"operator\":\"In\",\"values\":"
			     "[");
	for (int i = 6; i < rules; i++) {
		str_append_format(json, "%s\"v\"", i > 6 ? "," : "");
	}
	str_append_format(json, "]}]}]}}}}}");
}

/* Every rule is looked at for every node and GPU, and the API server stores fifty thousand. */
Test(pod, too_many_rules_about_nodes_are_marked_and_not_kept)
{
	static const struct {
		int rules;
		bool admission, too_complex;
	} rows[] = {{256, true, false}, {257, true, true}, {512, false, false}, {513, false, true},
		{50000, false, true}};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		CLEANUP(str_finish) struct str json = STR_INIT(1 << 20);
		CLEANUP(decode_release) json_t *root = NULL;
		CLEANUP(arena_finish) struct arena arena = {0};
		struct pod p = {0};
		struct fault f = {0};
		write_rules(&json, rows[i].rules);
		cr_assert_eq(decode_parse(str_text(&json), json.len, DECODE_PLAIN, &root, &f), 0);
		int result = rows[i].admission ? pod_review(root, &arena, &p, &f)
					       : fields_fill(root, &pod_shape, &arena, &p, &f);
		cr_assert_eq(result, 0);
		cr_assert_eq(p.too_complex, rows[i].too_complex, "row %zu", i);
		cr_assert(pod_has_gate(&p, NAME_GATE), "row %zu", i);
		cr_assert_eq(p.cpu_milli, 1000, "its needs are counted");
		bool kept = p.node_term_count > 0 && p.toleration_count > 0 &&
			    p.node_selector.count > 0 && p.gate_count == 2;
		cr_assert_eq(kept, !rows[i].too_complex, "row %zu", i);
	}
}

Test(pod, static_pods)
{
	static const struct {
		const char *json;
		bool is_static;
	} rows[] = {
		{"{\"metadata\":{\"annotations\":{\"kubernetes.io/config.mirror\":\"x\"}}}", true},
		{"{\"metadata\":{\"annotations\":{\"kubernetes.io/config.source\":\"file\"}}}",
			true},
		{"{\"metadata\":{\"annotations\":{\"kubernetes.io/config.source\":\"api\"}}}",
			false},
		{"{\"metadata\":{\"annotations\":null}}", false},
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct taken t = {0};
		watch(rows[i].json, &t);
		cr_assert_eq(t.result, 0, "%s", t.fault.message);
		cr_assert_eq(t.pod.is_static, rows[i].is_static, "row %zu", i);
		arena_finish(&t.arena);
	}
}

Test(pod, c15_who_keeps_its_node)
{
	static const struct {
		const char *json;
		bool keeps;
	} rows[] = {
		{"{\"metadata\":{\"annotations\":{\"" NOTE_SAFE_TO_EVICT "\":\"false\"}}}", true},
		{"{\"metadata\":{\"annotations\":{\"" NOTE_SAFE_TO_EVICT "\":\"true\"}}}", false},
		{"{\"metadata\":{\"annotations\":{\"" NOTE_DO_NOT_DISRUPT "\":\"true\"}}}", true},
		{"{\"metadata\":{\"annotations\":{\"" NOTE_DO_NOT_DISRUPT "\":\"30m\"}}}", true},
		{"{\"metadata\":{\"annotations\":{\"" NOTE_DO_NOT_DISRUPT "\":\"false\"}}}", false},
		{"{\"metadata\":{\"ownerReferences\":[{\"apiVersion\":\"batch/"
		 "v1\",\"kind\":\"Job\","
		 "\"name\":\"j\",\"uid\":\"u\",\"controller\":true}]}}",
			true},
		{"{\"metadata\":{}}", false},
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct taken t = {0};
		watch(rows[i].json, &t);
		cr_assert_eq(t.result, 0, "%s", t.fault.message);
		cr_expect_eq(t.pod.keeps_node, rows[i].keeps, "row %zu", i);
		arena_finish(&t.arena);
	}
}

#define STATES(list, state) "{\"status\":{\"" list "\":[{\"name\":\"hold\",\"state\":" state "}]}}"

Test(pod, trouble)
{
	static const struct {
		const char *json;
		const char *trouble;
	} rows[] = {
		{STATES("containerStatuses", "{\"waiting\":{\"reason\":\"ContainerCreating\"}}"),
			NULL},
		{STATES("containerStatuses", "{\"waiting\":{\"reason\":\"PodInitializing\"}}"),
			NULL},
		{STATES("containerStatuses", "{\"waiting\":{}}"), NULL},
		{STATES("containerStatuses", "{\"running\":{}}"), NULL},
		{STATES("containerStatuses", "{\"waiting\":{\"reason\":\"CrashLoopBackOff\"}}"),
			"CrashLoopBackOff"},
		{STATES("initContainerStatuses", "{\"waiting\":{\"reason\":\"ImagePullBackOff\"}}"),
			"ImagePullBackOff"},
		{STATES("containerStatuses",
			 "{\"terminated\":{\"exitCode\":1,\"reason\":\"Error\"}}"),
			"Error"},
		{STATES("containerStatuses", "{\"terminated\":{\"exitCode\":139}}"), "Error"},
		{STATES("containerStatuses",
			 "{\"terminated\":{\"exitCode\":0,\"reason\":\"Completed\"}}"),
			NULL},
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct taken t = {0};
		watch(rows[i].json, &t);
		cr_assert_eq(t.result, 0, "%s", t.fault.message);
		cr_assert(text_equals(t.pod.trouble, rows[i].trouble), "row %zu: %s", i,
			text_or(t.pod.trouble, "none"));
		cr_assert_not(t.pod.holds);
		arena_finish(&t.arena);
	}
}

#define IDENTIFY(state)                                                                            \
	"{\"status\":{\"initContainerStatuses\":[{\"name\":\"identify\"," state "}]}}"
#define EXIT(code, message) "{\"terminated\":{\"exitCode\":" code ",\"message\":\"" message "\"}}"
#define TOLD                                                                                       \
	"{\\\"v\\\":1,\\\"uuid\\\":\\\"GPU-1\\\",\\\"memory\\\":9,\\\"model\\\":\\\"m\\\","        \
	"\\\"minor\\\":0}"

Test(pod, identity_comes_only_from_a_success)
{
	static const struct {
		const char *json;
		bool told;
	} rows[] = {
		{IDENTIFY("\"state\":" EXIT("0", TOLD)), true},
		{IDENTIFY("\"state\":" EXIT("1", TOLD)), false},
		{IDENTIFY("\"state\":{\"running\":{}},\"lastState\":" EXIT("0", TOLD)), true},
		{IDENTIFY("\"state\":{\"running\":{}},\"lastState\":" EXIT("2", TOLD)), false},
		{IDENTIFY("\"state\":" EXIT("0", "panic: no device")), false},
		{IDENTIFY("\"state\":{\"terminated\":{\"message\":\"" TOLD "\"}}"), false},
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct taken t = {0};
		watch(rows[i].json, &t);
		cr_assert_eq(t.result, 0, "%s", t.fault.message);
		cr_assert_eq(t.pod.identity != NULL, rows[i].told, "row %zu", i);
		arena_finish(&t.arena);
	}
}

Test(pod, a_ledger_is_read_only_where_it_is_ours)
{
	static const struct {
		const char *meta;
		bool bad;
	} rows[] = {
		{"\"namespace\":\"aliquot-system\",\"labels\":{\"aliquot.dev/capacity\":\"true\"}",
			true},
		{"\"namespace\":\"elsewhere\",\"labels\":{\"aliquot.dev/capacity\":\"true\"}",
			false},
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct taken t = {0};
		char *json = arena_printf(&t.arena,
			"{\"metadata\":{%s,\"annotations\":{\"aliquot.dev/grants\":\"x\"}}}",
			rows[i].meta);
		watch(json, &t);
		cr_assert_eq(t.result, 0, "%s", t.fault.message);
		cr_assert_eq(t.pod.ledger_bad, rows[i].bad, "row %zu", i);
		cr_assert_eq(t.pod.ledger.count, 0);
		arena_finish(&t.arena);
	}
}

Test(pod, unschedulable_and_leaving)
{
	struct arena arena = {0};
	struct pod p = decoded("{\"metadata\":{\"deletionTimestamp\":\"2026-11-21T10:00:30Z\","
			       "\"deletionGracePeriodSeconds\":30},\"status\":{\"phase\":\"Weird\","
			       "\"reason\":\"R\","
			       "\"conditions\":[{\"type\":\"PodScheduled\",\"status\":\"False\","
			       "\"reason\":\"Unschedulable\"}]}}",
		&arena);
	cr_assert(p.unschedulable);
	cr_assert_eq(p.deleting_ms, 1795255230000);
	cr_assert_eq(p.grace_s, 30);
	cr_assert_eq(p.phase, POD_UNKNOWN);
	cr_assert_str_eq(p.status_reason, "R");
	p = decoded("{\"status\":{\"conditions\":[{\"type\":\"PodScheduled\",\"status\":\"False\","
		    "\"reason\":\"SchedulingGated\"}]}}",
		&arena);
	cr_assert_not(p.unschedulable);
	arena_finish(&arena);
}

static void refused(const char *json, const char *message)
{
	struct taken t = {0};
	watch(json, &t);
	cr_assert_eq(t.result, -1, "accepted: %s", json);
	cr_assert_eq(t.fault.kind, FAULT_INVALID);
	cr_assert_str_eq(t.fault.message, message);
	arena_finish(&t.arena);
}

Test(pod, what_is_wrong_is_named)
{
	refused("5", "pod: malformed JSON: line 1 column 1: '[' or '{' expected near '5'");
	refused("[]", "pod /: object expected, array found");
	refused("{\"metadata\":5}", "pod /: metadata: object expected, integer found");
	refused("{\"metadata\":{\"namespace\":\"n\",\"name\":\"p\",\"labels\":{\"a\":1}}}",
		"pod n/p: metadata: labels: a: string expected, integer found");
	refused("{\"spec\":{\"containers\":[{},{\"resources\":{\"requests\":{\"cpu\":true}}}]}}",
		"pod /: spec: containers[1]: resources.requests: cpu: quantity expected, boolean "
		"found");
	refused("{\"spec\":{\"containers\":[{\"resources\":{\"limits\":{\"nvidia.com/"
		"gpu\":\"-1\"}}}]}}",
		"pod /: spec: containers[0]: resources: negative");
	refused("{\"spec\":{\"containers\":[5]}}",
		"pod /: spec: containers[0]: object expected, integer found");
	refused("{\"spec\":{\"priority\":\"1\"}}",
		"pod /: spec: priority: integer expected, string found");
	refused("{\"status\":{\"conditions\":{}}}",
		"pod /: status: conditions: array expected, object found");
	refused("{\"metadata\":{\"creationTimestamp\":\"x\"}}",
		"pod /: metadata: creationTimestamp: RFC 3339 time expected, \"x\" found");
	refused("{\"spec\":{\"affinity\":{\"nodeAffinity\":{"
		"\"requiredDuringSchedulingIgnoredDuringExecution\":"
		"{\"nodeSelectorTerms\":[{\"matchExpressions\":[{\"key\":\"a\",\"operator\":"
		"\"Like\"}]}]}}}}}",
		"pod /: spec: affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution"
		".nodeSelectorTerms: [0]: matchExpressions: [0]: operator: \"Like\" is not known "
		"here");
}

Test(pod, what_it_was_must_be_readable_as_long_as_it_waits)
{
	static const struct {
		const char *gate, *original;
		bool forged;
	} rows[] = {
		{NAME_GATE, "{\\\"v\\\":1,\\\"gpu\\\":{}}", false},
		{NAME_GATE, "nonsense", true},
		{NAME_GATE, "{\\\"v\\\":2}", false},
		{NAME_GATE, "{\\\"v\\\":3,\\\"framework\\\":\\\"JAX\\\"}", false},
		{NAME_GATE, "{\\\"v\\\":3}", true},
		{NAME_GATE, "{\\\"v\\\":4}", true},
		{NAME_GATE, "[]", true},
		/* Missing is another thing, and of one that runs nobody asks. */
		{NAME_GATE, "", false},
		{"example.com/x", "nonsense", false},
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct arena arena = {0};
		struct pod p;
		struct fault f = {0};
		char *json = arena_printf(&arena,
			"{\"metadata\":{\"annotations\":{\"" NOTE_ORIGINAL "\":\"%s\"}},"
			"\"spec\":{\"schedulingGates\":[{\"name\":\"%s\"}]}}",
			rows[i].original, rows[i].gate);
		cr_assert_eq(pod_decode(json, strlen(json), &arena, &p, &f), 0, "%s", f.message);
		cr_expect_eq(p.forged, rows[i].forged, "row %zu", i);
		arena_finish(&arena);
	}
}
