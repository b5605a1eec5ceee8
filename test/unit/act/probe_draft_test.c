/* What a probe of injection is made of, and where what it proved is written (C26). */
#include <jansson.h>

#include "fixture.h"

static const struct inject_claim claim = {.form = INJECT_ENV,
	.node = "gpu-1",
	.uuid = "GPU-7",
	.driver = "570",
	.boot = "b",
	.runtime = "containerd://2.0",
	.class = "nvidia"};

#define CLAIM(form)                                                                                \
	"{\\\"v\\\":1,\\\"form\\\":\\\"" form "\\\",\\\"node\\\":\\\"gpu-1\\\",\\\"uuid\\\":"      \
	"\\\"GPU-7\\\",\\\"driver\\\":\\\"570\\\",\\\"boot\\\":\\\"b\\\",\\\"runtime\\\":"         \
	"\\\"containerd://2.0\\\",\\\"class\\\":\\\"nvidia\\\"}"

#define PROBE(form, value, note)                                                                   \
	"{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"probe-abc-env\","        \
	"\"namespace\":\"aliquot-system\",\"annotations\":{"                                       \
	"\"cluster-autoscaler.kubernetes.io/safe-to-evict\":\"true\","                             \
	"\"aliquot.dev/injection\":\"" CLAIM(                                                      \
		form) "\"" note "},\"labels\":{"                                                   \
		      "\"app.kubernetes.io/name\":\"aliquot-probe\",\"app.kubernetes.io/"          \
		      "part-of\":\"aliquot\","                                                     \
		      "\"aliquot.dev/probe\":\"" form                                              \
		      "\"},\"ownerReferences\":[{\"apiVersion\":\"v1\","                           \
		      "\"kind\":\"Pod\",\"name\":\"capacity-abc-0\",\"uid\":\"c-uid\","            \
		      "\"controller\":true}]},"                                                    \
		      "\"spec\":{\"restartPolicy\":\"Never\",\"terminationGracePeriodSeconds\":1," \
		      "\"activeDeadlineSeconds\":60,\"priorityClassName\":\"aliquot-capacity\","   \
		      "\"serviceAccountName\":\"aliquot-capacity\","                               \
		      "\"automountServiceAccountToken\":false,"                                    \
		      "\"enableServiceLinks\":false,\"securityContext\":{\"runAsNonRoot\":true,"   \
		      "\"runAsUser\":60813,\"runAsGroup\":60813,\"seccompProfile\":{\"type\":"     \
		      "\"RuntimeDefault\"}},\"runtimeClassName\":\"nvidia\",\"tolerations\":[{"    \
		      "\"key\":\"k\","                                                             \
		      "\"operator\":\"Exists\"}]," REQUIRED("{\"matchFields\":[" PIN(              \
			      "gpu-1") "]}") ","                                                   \
					     "\"containers\":[{\"name\":\"probe\",\"image\":"      \
					     "\"registry/aliquot:1\",\"args\":["                   \
					     "\"capacity\",\"probe\",\"--termination-log=/dev/"    \
					     "termination-log\"],\"env\":["                        \
					     "{\"name\":\"NVIDIA_VISIBLE_DEVICES\",\"value\":"     \
					     "\"" value "\"},"                                     \
					     "{\"name\":\"NVIDIA_DRIVER_CAPABILITIES\",\"value\":" \
					     "\"compute,utility\"}],"                              \
					     "\"resources\":{\"requests\":{\"cpu\":\"0\","         \
					     "\"memory\":\"0\"},"                                  \
					     "\"limits\":{\"cpu\":\"100m\",\"memory\":\"64Mi\"}}," \
					     "\"securityContext\":{\"allowPrivilegeEscalation\":"  \
					     "false,\"readOnlyRootFilesystem\":true,"              \
					     "\"capabilities\":{\"drop\":[\"ALL\"]}}}]}}"

static void expect_json(const char *found, const char *wanted)
{
	json_t *a = json_loads(found, 0, NULL);
	json_t *b = json_loads(wanted, 0, NULL);
	cr_assert_not_null(a, "not JSON: %s", found);
	cr_assert_not_null(b, "not JSON: %s", wanted);
	cr_expect(json_equal(a, b), "found\n%s\nwanted\n%s", found, wanted);
	json_decref(a);
	json_decref(b);
}

static void sends(enum inject_form form, const char *wanted)
{
	struct fixture *f = set_up();
	struct toleration all = {.key = "k", .operator= "Exists" };
	struct inject_claim tried = claim;
	tried.form = form;
	struct action x = {.id = 1,
		.type = ACTION_CREATE_CAPACITY,
		.ns = "aliquot-system",
		.name = "probe-abc-env",
		.node = "gpu-1",
		.uid = "c-uid",
		.capacity_pod = "capacity-abc-0",
		.runtime_class = "nvidia",
		.tolerations = &all,
		.toleration_count = 1,
		.claim = &tried};
	act_submit(f->act, &x);
	step(f, 0);
	struct fake_call *c = fake_last(f->wire);
	cr_expect_eq(c->method, WIRE_POST);
	cr_expect_str_eq(c->path, "/api/v1/namespaces/aliquot-system/pods?fieldManager=aliquot");
	expect_json(c->body, wanted);
	fake_answer(c, 201, POD_ANSWER);
	cr_expect_eq(last_heard(f)->fault.kind, FAULT_NONE);
	tear_down(f);
}

Test(probe, c26_one_of_each_form)
{
	sends(INJECT_ENV, PROBE("env", "GPU-7", ""));
	sends(INJECT_CDI, PROBE("cdi", "runtime.nvidia.com/gpu=GPU-7", ""));
	sends(INJECT_NRI,
		PROBE("nri", "void",
			",\"nvidia.cdi.k8s.io/container.probe\":\"k8s.device-plugin.nvidia.com/"
			"gpu=GPU-7\""));
}

Test(probe, one_that_belongs_to_nobody_is_not_made)
{
	struct fixture *f = set_up();
	struct action x = {.id = 1,
		.type = ACTION_CREATE_CAPACITY,
		.ns = "aliquot-system",
		.name = "probe-abc-env",
		.node = "gpu-1",
		.claim = &claim};
	act_submit(f->act, &x);
	step(f, 0);
	cr_expect_eq(f->wire->count, 0);
	cr_expect_eq(last_heard(f)->fault.kind, FAULT_INVALID);
	tear_down(f);
}

Test(probe, c26_the_proof_travels_with_the_ledger)
{
	struct fixture *f = set_up();
	struct action x = {.id = 3,
		.type = ACTION_GRANT,
		.ns = "aliquot-system",
		.name = "c",
		.uid = "c-uid",
		.resource_version = "12",
		.claim = &claim};
	act_submit(f->act, &x);
	step(f, 0);
	cr_expect_not_null(
		strstr(fake_last(f->wire)->body, "\"aliquot.dev/injection\":\"" CLAIM("env") "\""));
	fake_answer(fake_last(f->wire), 200, POD_ANSWER);
	tear_down(f);
}

/* The annotations of the placement in this form. */
static void placed(enum inject_form form, const char *uuids, const char *wanted)
{
	struct fixture *f = set_up();
	struct action x = place_action();
	x.form = form;
	x.uuid = uuids;
	x.container = "main";
	act_submit(f->act, &x);
	step(f, 0);
	json_t *body = json_loads(fake_last(f->wire)->body, 0, NULL);
	json_t *notes = json_object_get(json_object_get(body, "metadata"), "annotations");
	const char *const others[] = {
		"aliquot.dev/compute-milli", "aliquot.dev/memory-mib", "aliquot.dev/capacity-pod"};
	for (size_t i = 0; i < COUNT_OF(others); i++) {
		json_object_del(notes, others[i]);
	}
	char *text = json_dumps(notes, 0);
	expect_json(text, wanted);
	free(text);
	json_decref(body);
	fake_answer(fake_last(f->wire), 200, POD_ANSWER);
	tear_down(f);
}

Test(probe, c26_tenants_are_told_in_the_form_of_their_node)
{
	placed(INJECT_CDI, "GPU-7",
		"{\"aliquot.dev/gpu-uuid\":\"GPU-7\","
		"\"aliquot.dev/visible-devices\":\"runtime.nvidia.com/gpu=GPU-7\"}");
	placed(INJECT_NRI, "GPU-7,GPU-8",
		"{\"aliquot.dev/gpu-uuid\":\"GPU-7,GPU-8\","
		"\"aliquot.dev/visible-devices\":\"void\","
		"\"nvidia.cdi.k8s.io/container.main\":\"k8s.device-plugin.nvidia.com/gpu=GPU-7,"
		"k8s.device-plugin.nvidia.com/gpu=GPU-8\"}");
}

Test(probe, c26_an_annotation_needs_the_name_of_the_container)
{
	struct fixture *f = set_up();
	struct action x = place_action();
	x.form = INJECT_NRI;
	act_submit(f->act, &x);
	step(f, 0);
	cr_expect_eq(f->wire->count, 0);
	cr_expect_eq(last_heard(f)->fault.kind, FAULT_INVALID);
	cr_expect_not_null(strstr(last_heard(f)->fault.message, "aliquot.dev/container"));
	tear_down(f);
}

/* A key's part has 63 characters. Such a pod was converted when nothing was said by annotation. */
Test(probe, c26_a_name_that_has_no_room_in_the_annotation_is_told)
{
	struct fixture *f = set_up();
	struct action x = place_action();
	x.form = INJECT_NRI;
	x.container = "a-container-with-a-name-of-exactly-fifty-four-letters-";
	cr_assert_eq(strlen(x.container), 54);
	act_submit(f->act, &x);
	step(f, 0);
	cr_expect_eq(f->wire->count, 0);
	cr_expect_eq(last_heard(f)->fault.kind, FAULT_INVALID);
	cr_expect_not_null(strstr(last_heard(f)->fault.message, "53 characters"));
	x.container++;
	act_submit(f->act, &x);
	step(f, 0);
	cr_expect_eq(f->wire->count, 1);
	fake_answer(fake_last(f->wire), 200, POD_ANSWER);
	tear_down(f);
}
