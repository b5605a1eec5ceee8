/* What the webhook does to pods: golden patches, and the way back. */
#include "review_bed.h"

static const struct mutation quarter = {
	.container = "main",
	.milli = 250,
	.mem_mib = 8192,
	.policy_applied = "own@3",
	.env = tenant_env,
	.env_count = TENANT_ENV_COUNT,
	.others = others_env,
	.others_count = OTHERS_ENV_COUNT,
};

static const char simple[] = "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"p\"}"
			     ",\"spec\":{\"containers\":["
			     "{\"name\":\"main\",\"image\":\"i\",\"resources\":{\"limits\":{"
			     "\"nvidia.com/gpu\":\"1\"}}}]}}";

Test(review, golden_patch_of_the_smallest_pod_with_no_annotations_no_labels_no_env)
{
	json_t *pod = parse(simple);
	CLEANUP(result_finish) struct result r = pass(pod, &quarter);
	char *text = json_dumps(r.patch, JSON_COMPACT);
	cr_assert_str_eq(text,
		"[{\"op\":\"add\",\"path\":\"/metadata/annotations\",\"value\":{"
		"\"aliquot.dev/"
		"original\":\"{\\\"v\\\":1,\\\"container\\\":\\\"main\\\",\\\"gpu\\\":{"
		"\\\"limits\\\":"
		"\\\"1\\\"},\\\"added\\\":[\\\"NVIDIA_DRIVER_CAPABILITIES\\\"],\\\"toleration\\\":"
		"true}\","
		"\"aliquot.dev/container\":\"main\",\"aliquot.dev/share\":\"0.25\","
		"\"aliquot.dev/memory\":\"8Gi\",\"aliquot.dev/policy-applied\":\"own@3\"}},"
		"{\"op\":\"add\",\"path\":\"/metadata/labels\",\"value\":{\"aliquot.dev/"
		"tenant\":\"true\"}},"
		"{\"op\":\"remove\",\"path\":\"/spec/containers/0/resources/limits\"},"
		"{\"op\":\"add\",\"path\":\"/spec/containers/0/env\",\"value\":["
		"{\"name\":\"NVIDIA_VISIBLE_DEVICES\",\"valueFrom\":{\"fieldRef\":{\"apiVersion\":"
		"\"v1\","
		"\"fieldPath\":\"metadata.annotations['aliquot.dev/visible-devices']\"}}},"
		"{\"name\":\"CUDA_MPS_PIPE_DIRECTORY\",\"value\":\"/run/aliquot/no-mps\"},"
		"{\"name\":\"ALIQUOT_GPU_UUID\",\"valueFrom\":{\"fieldRef\":{\"apiVersion\":\"v1\","
		"\"fieldPath\":\"metadata.annotations['aliquot.dev/gpu-uuid']\"}}},"
		"{\"name\":\"ALIQUOT_COMPUTE_MILLI\",\"valueFrom\":{\"fieldRef\":{\"apiVersion\":"
		"\"v1\","
		"\"fieldPath\":\"metadata.annotations['aliquot.dev/compute-milli']\"}}},"
		"{\"name\":\"ALIQUOT_MEMORY_MIB\",\"valueFrom\":{\"fieldRef\":{\"apiVersion\":"
		"\"v1\","
		"\"fieldPath\":\"metadata.annotations['aliquot.dev/memory-mib']\"}}},"
		"{\"name\":\"NVIDIA_DRIVER_CAPABILITIES\",\"value\":\"compute,utility\"}]},"
		"{\"op\":\"add\",\"path\":\"/spec/tolerations\",\"value\":[{\"key\":\"nvidia.com/"
		"gpu\","
		"\"operator\":\"Exists\",\"effect\":\"NoSchedule\"}]},"
		"{\"op\":\"add\",\"path\":\"/spec/"
		"schedulingGates\",\"value\":[{\"name\":\"aliquot.dev/gpu\"}]}]");
	free(text);
	json_decref(pod);
}

/* A pod with everything that the webhook touches already there in some form. */
static const char rich[] =
	"{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"generateName\":\"web-\","
	"\"annotations\":{\"aliquot.dev/gpu-fraction\":\"0.25\",\"x/"
	"y\":\"z\"},\"labels\":{\"app\":\"web\"}},"
	"\"spec\":{\"schedulingGates\":[{\"name\":\"example.com/hold\"}],"
	"\"tolerations\":[{\"key\":\"a\",\"operator\":\"Exists\"}],"
	"\"affinity\":{\"nodeAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":{"
	"\"nodeSelectorTerms\":[{\"matchExpressions\":[{\"key\":\"zone\",\"operator\":\"In\","
	"\"values\":[\"a\"]}]},{\"matchExpressions\":[{\"key\":\"zone\",\"operator\":\"In\","
	"\"values\":[\"b\"]}]}]}}},"
	"\"initContainers\":[{\"name\":\"setup\",\"image\":\"s\"},"
	"{\"name\":\"native\",\"image\":\"n\",\"restartPolicy\":\"Always\","
	"\"env\":[{\"name\":\"NVIDIA_VISIBLE_DEVICES\",\"value\":\"all\"}]}],"
	"\"containers\":[{\"name\":\"side\",\"image\":\"s\",\"env\":[{\"name\":\"A\",\"value\":"
	"\"1\"},"
	"{\"name\":\"NVIDIA_VISIBLE_DEVICES\",\"value\":\"void\"}]},"
	"{\"name\":\"main\",\"image\":\"m\",\"env\":["
	"{\"name\":\"NVIDIA_VISIBLE_DEVICES\",\"value\":\"all\"},{\"name\":\"B\",\"value\":\"2\"},"
	"{\"name\":\"CUDA_MPS_ACTIVE_THREAD_PERCENTAGE\",\"value\":\"50\"},"
	"{\"name\":\"CUDA_VISIBLE_DEVICES\",\"value\":\"0\"},"
	"{\"name\":\"NVIDIA_VISIBLE_DEVICES\",\"value\":\"\"},"
	"{\"name\":\"CUDA_MPS_PIPE_DIRECTORY\",\"value\":\"/tmp/nvidia-mps\"},"
	"{\"name\":\"CUDA_VISIBLE_DEVICES\",\"value\":\"1\"},"
	"{\"name\":\"NVIDIA_DRIVER_CAPABILITIES\",\"value\":\"all\"},{\"name\":\"C\",\"value\":"
	"\"3\"}],"
	"\"resources\":{\"limits\":{\"cpu\":\"2\",\"nvidia.com/gpu\":1},"
	"\"requests\":{\"nvidia.com/gpu\":1}}}]}}";

/* "NAME=value" or "NAME<annotation", joined by blanks */
static void env_is(const json_t *container, const char *expected)
{
	CLEANUP(str_finish) struct str out = STR_INIT(10000);
	const json_t *env = json_object_get(container, "env");
	for (size_t i = 0; i < json_array_size(env); i++) {
		const json_t *e = json_array_get(env, i);
		const json_t *ref = json_object_get(json_object_get(e, "valueFrom"), "fieldRef");
		const char *path = json_string_value(json_object_get(ref, "fieldPath"));
		const char *value = json_string_value(json_object_get(e, "value"));
		str_append_format(&out, "%s%s%s%s", i > 0 ? " " : "",
			json_string_value(json_object_get(e, "name")), path != NULL ? "<" : "=",
			path != NULL ? strchr(path, '/') + 1 : value);
	}
	cr_assert_str_eq(str_text(&out), expected);
}

Test(review, c5_case_30_and_32_devices_are_replaced_in_place_and_void_everywhere_else)
{
	json_t *pod = parse(rich);
	CLEANUP(result_finish) struct result r = pass(pod, &quarter);
	env_is(container_of(r.pod, "containers", 1),
		"NVIDIA_VISIBLE_DEVICES<visible-devices'] B=2 CUDA_VISIBLE_DEVICES<gpu-uuid'] "
		"CUDA_MPS_PIPE_DIRECTORY=/run/aliquot/no-mps NVIDIA_DRIVER_CAPABILITIES=all C=3 "
		"ALIQUOT_GPU_UUID<gpu-uuid'] ALIQUOT_COMPUTE_MILLI<compute-milli'] "
		"ALIQUOT_MEMORY_MIB<memory-mib']");
	env_is(container_of(r.pod, "containers", 0), "A=1 NVIDIA_VISIBLE_DEVICES=void");
	env_is(container_of(r.pod, "initContainers", 0), "NVIDIA_VISIBLE_DEVICES=void");
	env_is(container_of(r.pod, "initContainers", 1), "NVIDIA_VISIBLE_DEVICES=void");
	const json_t *resources =
		json_object_get(container_of(r.pod, "containers", 1), "resources");
	json_t *expected = parse("{\"limits\":{\"cpu\":\"2\"}}");
	same(resources, expected, "the GPUs are gone, the rest stays");
	json_decref(expected);
	const json_t *gates = json_object_get(json_object_get(r.pod, "spec"), "schedulingGates");
	cr_assert_eq(json_array_size(gates), 2, "case 35: the other gate stays");
	json_decref(pod);
}

static const char *const pods[] = {simple, rich,
	/* number, requests too, empty lists, its own toleration and driver capabilities as ours */
	"{\"metadata\":{\"annotations\":{},\"labels\":{}},\"spec\":{\"tolerations\":[{\"operator\":"
	"\"Exists\"}],"
	"\"containers\":[{\"name\":\"main\",\"env\":[{\"name\":\"NVIDIA_DRIVER_CAPABILITIES\","
	"\"value\":\"compute,utility\"}],\"resources\":{\"limits\":{\"nvidia.com/gpu\":1},"
	"\"requests\":{\"nvidia.com/gpu\":\"1\",\"cpu\":1}}}]}}",
	/* pinned by a DaemonSet, one without other requirements */
	"{\"metadata\":{\"name\":\"d\"},\"spec\":{\"runtimeClassName\":\"x\",\"affinity\":{"
	"\"nodeAffinity\":{"
	"\"requiredDuringSchedulingIgnoredDuringExecution\":{\"nodeSelectorTerms\":[{"
	"\"matchFields\":["
	"{\"key\":\"metadata.name\",\"operator\":\"In\",\"values\":[\"n1\"]}]}]}}},"
	"\"containers\":[{\"name\":\"main\",\"resources\":{\"requests\":{\"nvidia.com/gpu\":\"1\"},"
	"\"limits\":{\"nvidia.com/gpu\":\"1\"}}}]}}"};

Test(review, a_second_pass_in_one_round_changes_nothing)
{
	struct mutation with_class = quarter;
	with_class.runtime_class = "nvidia";
	const struct mutation *both[] = {&quarter, &with_class};
	for (size_t i = 0; i < 2 * COUNT_OF(pods); i++) {
		json_t *pod = parse(pods[i / 2]);
		CLEANUP(result_finish) struct result once = pass(pod, both[i % 2]);
		cr_assert_gt(json_array_size(once.patch), 0);
		CLEANUP(result_finish) struct result twice = pass(once.pod, both[i % 2]);
		cr_assert(twice.restored);
		cr_assert_eq(json_array_size(twice.patch), 0, "pod %zu", i / 2);
		json_decref(pod);
	}
}

/* The API server adds none to a pod that asks for no GPU any more. */
Test(review, c5_only_who_tolerates_whatever_keeps_others_off_gpus_is_given_no_more)
{
	static const struct {
		const char *own;
		bool enough;
	} each[] = {
		{"{\"operator\":\"Exists\"}", true},
		{"{\"operator\":\"Exists\",\"effect\":\"NoSchedule\"}", true},
		{"{\"operator\":\"Exists\",\"effect\":\"NoExecute\"}", false},
		{"{\"key\":\"nvidia.com/gpu\",\"operator\":\"Exists\"}", true},
		{"{\"key\":\"nvidia.com/gpu\",\"operator\":\"Exists\",\"effect\":\"NoExecute\"}",
			false},
		{"{\"key\":\"nvidia.com/gpu\",\"operator\":\"Equal\",\"value\":\"a\"}", false},
		{"{\"key\":\"nvidia.com/mig\",\"operator\":\"Exists\"}", false},
	};
	for (size_t i = 0; i < COUNT_OF(each); i++) {
		json_t *pod = parse(simple);
		json_object_set_new(json_object_get(pod, "spec"), "tolerations",
			json_pack("[o]", parse(each[i].own)));
		CLEANUP(result_finish) struct result r = pass(pod, &quarter);
		const json_t *has = json_object_get(json_object_get(r.pod, "spec"), "tolerations");
		cr_expect_eq(json_array_size(has), each[i].enough ? 1 : 2, "%s", each[i].own);
		json_decref(pod);
	}
}

/* What the controller does to a tenant, and what the API server and the kubelet leave in it. */
static void live(json_t *pod)
{
	json_t *spec = json_object_get(pod, "spec");
	json_t *notes = json_object_get(json_object_get(pod, "metadata"), "annotations");
	static const char *const keys[] = {NOTE_GPU_UUID, NOTE_VISIBLE_DEVICES, NOTE_COMPUTE_MILLI,
		NOTE_MEMORY_MIB, NOTE_MPS_THREADS, NOTE_MPS_MEMORY, NOTE_FRAMEWORK_MEMORY,
		NOTE_CAPACITY_POD, NOTE_TERM, NAME_CDI_PREFIX "main"};
	for (size_t i = 0; i < COUNT_OF(keys); i++) {
		json_object_set_new(notes, keys[i], json_string("stale"));
	}
	json_t *gates = json_object_get(spec, "schedulingGates");
	json_array_remove(gates, json_array_size(gates) - 1);
	json_t *pin = parse("{\"matchFields\":[{\"key\":\"metadata.name\",\"operator\":\"In\","
			    "\"values\":[\"node-7\"]}]}");
	json_t *affinity = json_object_get(spec, "affinity");
	if (affinity == NULL) {
		json_object_set_new(spec, "affinity",
			json_pack("{s:{s:{s:[O]}}}", "nodeAffinity",
				"requiredDuringSchedulingIgnoredDuringExecution",
				"nodeSelectorTerms", pin));
	} else {
		json_t *required = json_object_get(json_object_get(affinity, "nodeAffinity"),
			"requiredDuringSchedulingIgnoredDuringExecution");
		json_t *terms = json_object_get(required, "nodeSelectorTerms");
		for (size_t i = 0; i < json_array_size(terms); i++) {
			json_t *term = json_array_get(terms, i);
			if (json_object_get(term, "matchFields") == NULL) {
				json_object_update(term, pin);
			}
		}
	}
	json_decref(pin);
}

Test(review, case_31_a_copied_live_tenant_is_again_what_the_person_wrote)
{
	struct mutation m = quarter;
	for (size_t i = 0; i < COUNT_OF(pods); i++) {
		json_t *pod = parse(pods[i]);
		m.runtime_class = i == 3 ? NULL : "nvidia";
		CLEANUP(result_finish) struct result tenant = pass(pod, &m);
		live(tenant.pod);
		CLEANUP(result_finish) struct result whole = pass(tenant.pod, NULL);
		cr_assert(whole.restored);
		same_meaning(whole.pod, pod, pods[i]);
		/* and as a new tenant it has nothing of the old one */
		CLEANUP(result_finish) struct result again = pass(tenant.pod, &m);
		CLEANUP(result_finish) struct result first = pass(pod, &m);
		same_meaning(again.pod, first.pod, pods[i]);
		json_decref(pod);
	}
}

Test(review, what_a_person_changed_in_the_copy_wins)
{
	json_t *pod = parse(rich);
	CLEANUP(result_finish) struct result tenant = pass(pod, &quarter);
	json_t *env = json_object_get(container_of(tenant.pod, "containers", 1), "env");
	json_array_set_new(
		env, 0, parse("{\"name\":\"NVIDIA_VISIBLE_DEVICES\",\"value\":\"GPU-mine\"}"));
	CLEANUP(result_finish) struct result whole = pass(tenant.pod, NULL);
	env_is(container_of(whole.pod, "containers", 1),
		"NVIDIA_VISIBLE_DEVICES=GPU-mine B=2 CUDA_MPS_ACTIVE_THREAD_PERCENTAGE=50 "
		"CUDA_VISIBLE_DEVICES=0 NVIDIA_DRIVER_CAPABILITIES=all "
		"CUDA_MPS_PIPE_DIRECTORY=/tmp/nvidia-mps CUDA_VISIBLE_DEVICES=1 C=3");
	json_decref(pod);
}

Test(review, a_container_injected_between_two_passes_is_made_void_too)
{
	json_t *pod = parse(simple);
	CLEANUP(result_finish) struct result once = pass(pod, &quarter);
	json_t *list = json_object_get(json_object_get(once.pod, "spec"), "containers");
	json_array_append_new(list, parse("{\"name\":\"mesh\",\"image\":\"m\"}"));
	CLEANUP(result_finish) struct result twice = pass(once.pod, &quarter);
	env_is(container_of(twice.pod, "containers", 1), "NVIDIA_VISIBLE_DEVICES=void");
	cr_assert_eq(json_array_size(twice.patch), 1);
	json_decref(pod);
}

Test(review, a_pod_left_whole_gets_no_patch_and_stale_guarded_keys_go)
{
	for (size_t i = 0; i < COUNT_OF(pods); i++) {
		json_t *pod = parse(pods[i]);
		CLEANUP(result_finish) struct result r = pass(pod, NULL);
		cr_assert_eq(json_array_size(r.patch), 0, "%s", pods[i]);
		json_decref(pod);
	}
	json_t *pod =
		parse("{\"metadata\":{\"annotations\":{\"aliquot.dev/gpu-uuid\":\"GPU-1\"},"
		      "\"labels\":{\"aliquot.dev/in-use\":\"true\",\"a\":\"b\"}},\"spec\":{}}");
	CLEANUP(result_finish) struct result r = pass(pod, NULL);
	char *text = json_dumps(r.patch, JSON_COMPACT);
	cr_assert_str_eq(text,
		"[{\"op\":\"remove\",\"path\":\"/metadata/annotations\"},"
		"{\"op\":\"remove\",\"path\":\"/metadata/labels/aliquot.dev~1in-use\"}]");
	free(text);
	json_decref(pod);
}

Test(review, an_unreadable_original_is_left_with_everything_but_the_guarded_keys)
{
	static const char *const originals[] = {"", "nonsense", "[]", "{\"v\":2}", "{\"v\":1}",
		"{\"v\":1,\"container\":\"other\",\"gpu\":{\"limits\":\"1\"}}",
		"{\"v\":1,\"container\":\"main\"}",
		"{\"v\":1,\"container\":\"main\",\"gpu\":{\"limits\":[]}}",
		"{\"v\":1,\"container\":\"main\",\"gpu\":{\"claims\":\"1\"}}",
		"{\"v\":1,\"container\":\"main\",\"gpu\":{\"limits\":\"1\"},\"env\":[[-1,{\"name\":"
		"\"a\"}]]}",
		"{\"v\":1,\"container\":\"main\",\"gpu\":{\"limits\":\"1\"},\"env\":[[0,7]]}",
		"{\"v\":1,\"container\":\"main\",\"gpu\":{\"limits\":\"1\"},\"env\":{}}",
		"{\"v\":1,\"container\":\"main\",\"container\":\"main\",\"gpu\":{\"limits\":\"1\"}"
		"}"};
	for (size_t i = 0; i < COUNT_OF(originals); i++) {
		json_t *pod = json_pack(
			"{s:{s:{s:s, s:s, s:s}, s:{s:s}}, s:{s:[{s:s}], s:[{s:s}]}}", "metadata",
			"annotations", NOTE_ORIGINAL, originals[i], NOTE_SHARE, "0.5",
			NOTE_GPU_UUID, "GPU-1", "labels", LABEL_TENANT, "true", "spec",
			"schedulingGates", "name", NAME_GATE, "containers", "name", "main");
		CLEANUP(result_finish) struct result r = pass(pod, NULL);
		cr_assert(r.unreadable, "%s", originals[i]);
		cr_assert_not(r.restored);
		char *text = json_dumps(r.patch, JSON_COMPACT);
		cr_assert_str_eq(text,
			"[{\"op\":\"remove\",\"path\":\"/metadata/annotations/"
			"aliquot.dev~1gpu-uuid\"}]",
			"%s: %s", originals[i], text);
		free(text);
		json_decref(pod);
	}
}

Test(review, a_stray_tenant_label_goes_and_one_beside_our_gate_stays)
{
	json_t *pod =
		parse("{\"metadata\":{\"labels\":{\"aliquot.dev/tenant\":\"true\"}},\"spec\":{}}");
	CLEANUP(result_finish) struct result r = pass(pod, NULL);
	cr_assert_eq(json_array_size(r.patch), 1);
	json_decref(pod);
	pod = parse("{\"metadata\":{\"labels\":{\"aliquot.dev/tenant\":\"true\"}},"
		    "\"spec\":{\"schedulingGates\":[{\"name\":\"aliquot.dev/gpu\"}]}}");
	CLEANUP(result_finish) struct result gated = pass(pod, NULL);
	cr_assert_eq(json_array_size(gated.patch), 0);
	json_decref(pod);
}

Test(review, an_original_that_would_be_too_long_is_not_written)
{
	json_t *pod = parse(simple);
	char value[70000];
	memset(value, 'x', sizeof value - 1);
	value[sizeof value - 1] = '\0';
	json_object_set_new((json_t *)container_of(pod, "containers", 0), "env",
		json_pack("[{s:s,s:s}]", "name", "CUDA_MPS_LOG_DIRECTORY", "value", value));
	char *body = request_of(pod);
	struct review r = {0};
	cr_assert_eq(review_decode(&r, body, strlen(body), NULL), 0);
	cr_assert_not(review_apply(&r, &quarter));
	review_finish(&r);
	free(body);
	json_decref(pod);
}

Test(review, reads_the_envelope)
{
	json_t *pod = parse(simple);
	char *body = request_of(pod);
	struct review r = {0};
	cr_assert_eq(review_decode(&r, body, strlen(body), NULL), 0);
	cr_assert_str_eq(r.uid, "705ab4f5");
	cr_assert_str_eq(r.user, "jane");
	cr_assert_str_eq(r.ns, "team");
	cr_assert_str_eq(r.pod.ns, "team", "the request's, where the object has none");
	cr_assert_str_eq(r.pod.name, "p");
	cr_assert_eq(r.pod.container_count, 1);
	cr_assert_eq(r.pod.containers[0].gpus, 1);
	cr_assert_not(r.dry_run);
	cr_assert_not(r.group_note);
	review_finish(&r);
	review_finish(&r);
	free(body);
	json_decref(pod);
}

Test(review, bytes_that_name_no_request_fail)
{
	static const char *const bodies[] = {"", "{", "null", "[]", "{}", "{\"request\":null}",
		"{\"request\":{}}", "{\"request\":{\"uid\":7}}", "{\"request\":{\"uid\":\"\"}}",
		"\xff\xfe"};
	for (size_t i = 0; i < COUNT_OF(bodies); i++) {
		struct review r = {0};
		struct fault f = {0};
		cr_assert_eq(
			review_decode(&r, bodies[i], strlen(bodies[i]), &f), -1, "%s", bodies[i]);
		cr_assert_neq(f.kind, FAULT_NONE);
		review_finish(&r);
	}
}

Test(review, whatever_else_is_wrong_is_allowed_without_a_patch)
{
	static const char *const requests[] = {"{\"request\":{\"uid\":\"u\"}}",
		"{\"request\":{\"uid\":\"u\",\"uid\":\"u\"}}", "{\"request\":{\"uid\":\"u\",",
		"{\"request\":{\"uid\":\"u\",\"operation\":\"UPDATE\",\"object\":{}}}",
		"{\"request\":{\"uid\":\"u\",\"operation\":\"CREATE\",\"kind\":{\"kind\":\"Pod\","
		"\"version\":"
		"\"v1\"}}}",
		"{\"request\":{\"uid\":\"u\",\"operation\":\"CREATE\",\"kind\":{\"kind\":\"Node\","
		"\"version\":"
		"\"v1\"},\"object\":{}}}",
		"{\"request\":{\"uid\":\"u\",\"operation\":\"CREATE\",\"kind\":{\"kind\":\"Pod\","
		"\"version\":"
		"\"v1\"},\"object\":{\"spec\":7}}}",
		"{\"request\":{\"uid\":\"u\",\"operation\":\"CREATE\",\"kind\":{\"kind\":\"Pod\","
		"\"version\":"
		"\"v1\"},\"object\":{\"metadata\":[],\"spec\":{\"containers\":{}}}}}",
		"{\"request\":{\"uid\":\"u\",\"operation\":\"CREATE\",\"kind\":{\"kind\":\"Pod\","
		"\"version\":"
		"\"v1\"},\"object\":{\"spec\":{\"containers\":[null,5,{\"name\":[]}]}}}}"};
	for (size_t i = 0; i < COUNT_OF(requests); i++) {
		struct review r = {0};
		struct fault f = {0};
		cr_assert_eq(review_decode(&r, requests[i], strlen(requests[i]), &f), 0, "%zu: %s",
			i, f.message);
		cr_assert_not_null(r.problem, "%zu", i);
		CLEANUP(str_finish) struct str out = STR_INIT(10000);
		struct review_notes notes = {.verdict = "x"};
		cr_assert(review_answer(&r, &notes, &out));
		cr_assert_str_eq(str_text(&out),
			"{\"apiVersion\":\"admission.k8s.io/v1\",\"kind\":\"AdmissionReview\","
			"\"response\":{\"uid\":\"u\",\"allowed\":true,\"auditAnnotations\":{"
			"\"verdict\":\"x\"}}}");
		review_finish(&r);
	}
}

Test(review, warnings_are_cut_between_characters)
{
	char text[400];
	memset(text, 'w', sizeof text);
	memcpy(text + 255, "\xc3\xa9", 3);
	const char *const warnings[] = {text, "short"};
	struct review r = {.uid = "u\"", .problem = "p"};
	struct review_notes notes = {.warnings = warnings, .warning_count = 2};
	CLEANUP(str_finish) struct str out = STR_INIT(10000);
	cr_assert(review_answer(&r, &notes, &out));
	json_t *answer = parse(str_text(&out));
	const json_t *response = json_object_get(answer, "response");
	cr_assert_str_eq(json_string_value(json_object_get(response, "uid")), "u\"");
	const json_t *list = json_object_get(response, "warnings");
	cr_assert_eq(json_array_size(list), 2);
	cr_assert_eq(json_string_length(json_array_get(list, 0)), 255);
	json_decref(answer);
}

Test(review, a_groups_annotation_is_seen)
{
	json_t *pod =
		parse("{\"metadata\":{\"annotations\":{\"scheduling.k8s.io/group-name\":\"g\"}},"
		      "\"spec\":{}}");
	char *body = request_of(pod);
	struct review r = {0};
	cr_assert_eq(review_decode(&r, body, strlen(body), NULL), 0);
	cr_assert(r.group_note);
	review_finish(&r);
	free(body);
	json_decref(pod);
}

Test(review, what_is_applied_again_and_again_is_seen)
{
	static const struct {
		const char *meta, *key;
	} cases[] = {
		{"\"annotations\":{\"a\":\"b\",\"argocd.argoproj.io/tracking-id\":\"x\"}",
			"argocd.argoproj.io/tracking-id"},
		{"\"labels\":{\"kustomize.toolkit.fluxcd.io/name\":\"x\"}",
			"kustomize.toolkit.fluxcd.io/name"},
		{"\"labels\":{\"helm.toolkit.fluxcd.io/namespace\":\"x\"}",
			"helm.toolkit.fluxcd.io/namespace"},
		{"\"annotations\":{\"meta.helm.sh/release-name\":\"x\"}",
			"meta.helm.sh/release-name"},
		{"\"annotations\":{\"configsync.gke.io/declared-version\":\"x\"}",
			"configsync.gke.io/declared-version"},
		{"\"labels\":{\"objectset.rio.cattle.io/hash\":\"x\"}",
			"objectset.rio.cattle.io/hash"},
		{"\"labels\":{\"app.kubernetes.io/instance\":\"x\"}", NULL},
		{"\"labels\":\"none\",\"annotations\":[]", NULL},
	};
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		char text[256];
		snprintf(text, sizeof text, "{\"metadata\":{%s},\"spec\":{}}", cases[i].meta);
		json_t *pod = parse(text);
		char *body = request_of(pod);
		struct review r = {0};
		cr_assert_eq(review_decode(&r, body, strlen(body), NULL), 0);
		cr_assert(text_equals(r.declared, cases[i].key), "%s", cases[i].meta);
		review_finish(&r);
		free(body);
		json_decref(pod);
	}
}

/* Whatever the bytes, no byte outside of them is read and nothing fails but by saying so. */
Test(review, survives_any_cut_and_any_changed_byte)
{
	json_t *pod = parse(rich);
	char *body = request_of(pod);
	size_t n = strlen(body);
	for (size_t i = 0; i <= 2 * n; i++) {
		size_t length = i <= n ? i : n;
		char *exact = malloc(length + 1);
		memcpy(exact, body, length);
		if (i > n) {
			exact[i - n - 1] = "\"{}[]:,\\x0"[i % 10];
		}
		struct review r = {0};
		struct fault f = {0};
		if (review_decode(&r, exact, length, &f) == 0) {
			CLEANUP(str_finish) struct str out = STR_INIT(100000);
			struct review_notes notes = {0};
			(void)!(r.problem == NULL && review_apply(&r, &quarter));
			cr_assert(review_answer(&r, &notes, &out));
		}
		review_finish(&r);
		free(exact);
	}
	free(body);
	json_decref(pod);
}
