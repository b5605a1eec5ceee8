/* Actions: what each asks of the API server, word for word. */
#include "body.h"

#define CONTAINER(name, args, mount)                                                               \
	"{\"name\":\"" name "\",\"image\":\"registry/aliquot:1\",\"args\":[" args "],"             \
	"\"env\":[{\"name\":\"NVIDIA_DRIVER_CAPABILITIES\",\"value\":\"utility\"}],"               \
	"\"resources\":{\"requests\":{\"cpu\":\"10m\",\"memory\":\"32Mi\",\"nvidia.com/"           \
	"gpu\":\"1\"},"                                                                            \
	"\"limits\":{\"cpu\":\"10m\",\"memory\":\"32Mi\",\"nvidia.com/gpu\":\"1\"}},"              \
	"\"volumeMounts\":[{\"name\":\"identity\",\"mountPath\":\"/run/aliquot\"" mount "}],"      \
	"\"securityContext\":{\"allowPrivilegeEscalation\":false,\"readOnlyRootFilesystem\":true," \
	"\"capabilities\":{\"drop\":[\"ALL\"]}}}"

/* No taint takes one away that is pinned (scenario 15). */
#define STAYS ",{\"operator\":\"Exists\",\"effect\":\"NoExecute\"}"

#define TOLD                                                                                       \
	"{\"name\":\"told\",\"downwardAPI\":{\"items\":[{\"path\":\"in-use\",\"fieldRef\":{"       \
	"\"fieldPath\":\"metadata.labels['aliquot.dev/in-use']\"}}]}}"

#define CAPACITY_POD(tolerations, extra)                                                           \
	"{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"capacity-abc-0\","       \
	"\"namespace\":\"aliquot-system\",\"labels\":{\"app.kubernetes.io/"                        \
	"name\":\"aliquot-capacity\","                                                             \
	"\"app.kubernetes.io/part-of\":\"aliquot\",\"aliquot.dev/capacity\":\"true\","             \
	"\"aliquot.dev/in-use\":\"false\"},\"annotations\":{"                                      \
	"\"cluster-autoscaler.kubernetes.io/safe-to-evict\":\"true\"},\"ownerReferences\":["       \
	"{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"name\":\"aliquot-capacity\",\"uid\":"     \
	"\"cm-uid\",\"controller\":true}]},\"spec\":{\"restartPolicy\":\"Always\","                \
	"\"terminationGracePeriodSeconds\":600,\"priorityClassName\":\"aliquot-capacity\","        \
	"\"serviceAccountName\":\"aliquot-capacity\",\"automountServiceAccountToken\":false,"      \
	"\"enableServiceLinks\":false,\"securityContext\":{\"runAsNonRoot\":true,\"runAsUser\":"   \
	"60812,"                                                                                   \
	"\"runAsGroup\":60812,\"seccompProfile\":{\"type\":\"RuntimeDefault\"}},\"tolerations\":[" \
	"{\"key\":\"nvidia.com/gpu\",\"operator\":\"Exists\"}" tolerations "]," extra              \
	"\"initContainers\":[" CONTAINER("identify",                                               \
		"\"capacity\",\"identify\",\"--identity-file=/run/aliquot/identity\","             \
		"\"--termination-log=/dev/termination-log\"",                                      \
		"") "],\"containers\":[" CONTAINER("hold",                                         \
		"\"capacity\",\"hold\",\"--identity-file=/run/aliquot/identity\","                 \
		"\"--told-dir=/run/aliquot-told\"",                                                \
		",\"readOnly\":true},{\"name\":\"told\",\"mountPath\":\"/run/aliquot-told\","      \
		"\"readOnly\":true") "],\"volumes\":[{\"name\":\"identity\",\"emptyDir\":"         \
				     "{\"medium\":\"Memory\",\"sizeLimit\":\"1Mi\"}}," TOLD "]}}"

Test(body, create_capacity_pinned)
{
	struct fixture *f = set_up();
	struct action x = create_action();
	act_submit(f->act, &x);
	cr_expect_eq(f->wire->count, 0, "nothing is sent from inside a submit");
	cr_expect_leq(act_deadline(f->act), f->clock.mono);
	step(f, 0);
	struct fake_call *c = fake_last(f->wire);
	cr_expect_eq(c->method, WIRE_POST);
	cr_expect_str_eq(c->path, "/api/v1/namespaces/aliquot-system/pods?fieldManager=aliquot");
	cr_expect_str_eq(c->content_type, "application/json");
	cr_expect_eq(c->timeout_ms, 10000);
	expect_json(
		c->body, CAPACITY_POD(STAYS, REQUIRED("{\"matchFields\":[" PIN("gpu-1") "]}") ","));
	cr_expect_eq(act_deadline(f->act), TIME_NEVER);
	fake_answer(c, 201, POD_ANSWER);
	cr_expect_eq(f->count, 1);
	cr_expect_eq(last_heard(f)->id, 1);
	cr_expect_eq(last_heard(f)->fault.kind, FAULT_NONE);
	cr_expect_str_eq(last_heard(f)->pod, "p@99");
	tear_down(f);
}

Test(body, create_capacity_with_tolerations_and_runtime_class)
{
	struct fixture *f = set_up();
	struct action x = create_action();
	struct toleration tolerations[] = {
		{.key = "team", .operator= "Equal", .value = "ml", .effect = "NoSchedule"}};
	x.ns = NULL;
	x.runtime_class = "nvidia";
	x.tolerations = tolerations;
	x.toleration_count = 1;
	act_submit(f->act, &x);
	tolerations[0].key = "changed after the submit";
	step(f, 0);
	expect_json(fake_last(f->wire)->body,
		CAPACITY_POD(STAYS ",{\"key\":\"team\",\"operator\":\"Equal\",\"value\":\"ml\","
				   "\"effect\":\"NoSchedule\"}",
			REQUIRED("{\"matchFields\":[" PIN(
				"gpu-1") "]}") ",\"runtimeClassName\":\"nvidia\","));
	fake_answer(fake_last(f->wire), 201, POD_ANSWER);
	tear_down(f);
}

Test(body, c14_what_asks_for_a_node_says_where)
{
	struct fixture *f = set_up();
	struct action x = create_action();
	const char *zones[] = {"a", "b"}, *wrong[] = {"L4"};
	struct pair pool[] = {{"pool", "ml"}};
	struct term labels[] = {
		{"zone", TERM_IN, zones, 2}, {"nvidia.com/gpu.product", TERM_NOT_IN, wrong, 1}};
	struct node_term terms[] = {{{labels, 2}, {NULL, 0}}};
	json_t *root;
	x.node = "";
	x.unpinned = x.companion = true;
	x.gpus = 1;
	x.where_labels = (struct pairs){pool, 1};
	x.where_terms = terms;
	x.where_count = 1;
	act_submit(f->act, &x);
	zones[0] = wrong[0] = pool[0].value = "changed after the submit";
	step(f, 0);
	json_t *spec = spec_of(f, &root);
	char *text = json_dumps(json_object_get(spec, "affinity"), 0);
	expect_json(text,
		"{\"nodeAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":{"
		"\"nodeSelectorTerms\":[{\"matchExpressions\":[{\"key\":\"zone\",\"operator\":"
		"\"In\",\"values\":[\"a\",\"b\"]},{\"key\":\"nvidia.com/gpu.product\","
		"\"operator\":\"NotIn\",\"values\":[\"L4\"]}]}]}}}");
	free(text);
	text = json_dumps(json_object_get(spec, "nodeSelector"), 0);
	expect_json(text, "{\"pool\":\"ml\"}");
	free(text);
	json_decref(root);
	fake_answer(fake_last(f->wire), 201, POD_ANSWER);
	tear_down(f);
}

Test(body, create_capacity_needs_its_owner)
{
	struct fixture *f = set_up();
	struct action x = create_action();
	act_set_owner(f->act, NULL);
	act_submit(f->act, &x);
	step(f, 0);
	cr_expect_eq(f->wire->count, 0);
	cr_expect_eq(last_heard(f)->fault.kind, FAULT_TRANSIENT);
	cr_expect_not_null(strstr(last_heard(f)->fault.message, "ConfigMap aliquot-capacity"));
	act_set_owner(f->act, "cm-uid-2");
	act_submit(f->act, &x);
	step(f, 0);
	cr_expect_not_null(strstr(fake_last(f->wire)->body, "cm-uid-2"));
	fake_answer(fake_last(f->wire), 201, POD_ANSWER);
	tear_down(f);
}

static enum fault_kind create_meets(const char *owner, const char *label, const char *deleted)
{
	struct fixture *f = set_up();
	struct action x = create_action();
	CLEANUP(str_finish) struct str body = STR_INIT(4096);
	str_append_format(&body,
		"{\"metadata\":{\"namespace\":\"aliquot-system\",\"name\":\"capacity-abc-0\","
		"\"uid\":\"u\","
		"\"resourceVersion\":\"5\",\"labels\":{\"aliquot.dev/"
		"capacity\":\"%s\"}%s,\"ownerReferences\":"
		"[{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"name\":\"aliquot-capacity\","
		"\"uid\":\"%s\","
		"\"controller\":true}]},\"spec\":{},\"status\":{}}",
		label, deleted, owner);
	act_submit(f->act, &x);
	step(f, 0);
	fake_answer(fake_last(f->wire), 409,
		"{\"kind\":\"Status\",\"code\":409,\"reason\":\"AlreadyExists\"}");
	cr_expect_eq(f->count, 0);
	cr_expect_eq(fake_last(f->wire)->method, WIRE_GET);
	cr_expect_str_eq(
		fake_last(f->wire)->path, "/api/v1/namespaces/aliquot-system/pods/capacity-abc-0");
	fake_answer(fake_last(f->wire), 200, str_text(&body));
	cr_expect_eq(f->count, 1);
	enum fault_kind kind = last_heard(f)->fault.kind;
	cr_expect_eq(last_heard(f)->had_pod, kind == FAULT_NONE);
	tear_down(f);
	return kind;
}

Test(body, a_capacity_pod_that_is_there_already_is_ours_or_not)
{
	cr_expect_eq(create_meets("cm-uid", "true", ""), FAULT_NONE);
	cr_expect_eq(create_meets("other", "true", ""), FAULT_CONFLICT);
	cr_expect_eq(create_meets("cm-uid", "false", ""), FAULT_CONFLICT);
	cr_expect_eq(
		create_meets("cm-uid", "true", ",\"deletionTimestamp\":\"2026-11-21T10:00:00Z\""),
		FAULT_CONFLICT);
}

Test(body, c14_what_asks_for_a_node_asks_for_all_gpus)
{
	struct fixture *f = set_up();
	struct action x = create_action();
	json_t *root;
	x.node = "";
	x.unpinned = x.companion = true;
	x.gpus = 4;
	x.runtime_class = "nvidia";
	x.cpu_milli = 1500;
	struct pair zone = {"zone", "far"};
	x.where_labels = (struct pairs){&zone, 1};
	act_submit(f->act, &x);
	step(f, 0);
	json_t *spec = spec_of(f, &root);
	char *text =
		json_dumps(json_object_get(json_array_get(json_object_get(spec, "containers"), 0),
				   "resources"),
			0);
	expect_json(text,
		"{\"requests\":{\"cpu\":\"1500m\",\"memory\":\"0\"},\"limits\":{\"nvidia.com/gpu\":"
		"\"4\"}}");
	free(text);
	text = json_dumps(json_object_get(spec, "nodeSelector"), 0);
	expect_json(text, "{\"zone\":\"far\"}");
	free(text);
	cr_expect_null(json_object_get(spec, "affinity"));
	cr_expect_str_eq(json_string_value(json_object_get(spec, "runtimeClassName")), "nvidia");
	json_t *meta = json_object_get(root, "metadata");
	json_t *owner = json_array_get(json_object_get(meta, "ownerReferences"), 0);
	cr_expect_str_eq(json_string_value(json_object_get(owner, "uid")), "cm-uid");
	cr_expect_null(json_object_get(json_object_get(meta, "labels"), LABEL_CAPACITY));
	json_decref(root);
	fake_answer(fake_last(f->wire), 201, POD_ANSWER);
	tear_down(f);
}

Test(body, c14_a_companion_goes_whatever_its_version)
{
	struct fixture *f = set_up();
	struct action x = {.id = 3, .type = ACTION_DELETE_CAPACITY, .name = "c", .uid = "u-1"};
	act_submit(f->act, &x);
	step(f, 0);
	cr_expect_eq(f->wire->count, 0, "a capacity pod does not");
	cr_expect_eq(last_heard(f)->fault.kind, FAULT_INVALID);
	x.companion = true;
	act_submit(f->act, &x);
	step(f, 0);
	cr_assert_eq(f->wire->count, 1);
	cr_expect_not_null(strstr(fake_last(f->wire)->body, "{\"uid\":\"u-1\"}"), "%s",
		fake_last(f->wire)->body);
	fake_answer(fake_last(f->wire), 200, POD_ANSWER);
	tear_down(f);
}

Test(body, delete_capacity_carries_its_preconditions)
{
	struct fixture *f = set_up();
	struct action x = {.id = 2,
		.type = ACTION_DELETE_CAPACITY,
		.ns = "aliquot-system",
		.name = "c",
		.uid = "c-uid",
		.resource_version = "12"};
	act_submit(f->act, &x);
	step(f, 0);
	struct fake_call *c = fake_last(f->wire);
	cr_expect_eq(c->method, WIRE_DELETE);
	cr_expect_str_eq(c->path, "/api/v1/namespaces/aliquot-system/pods/c");
	expect_json(c->body,
		"{\"apiVersion\":\"v1\",\"kind\":\"DeleteOptions\",\"gracePeriodSeconds\":1,"
		"\"preconditions\":{\"uid\":\"c-uid\",\"resourceVersion\":\"12\"}}");
	fake_answer(c, 404, "{}");
	cr_expect_eq(last_heard(f)->fault.kind, FAULT_NONE, "gone is what was wanted");
	act_submit(f->act, &x);
	step(f, 0);
	fake_answer(fake_last(f->wire), 409, "{}");
	cr_expect_eq(last_heard(f)->fault.kind, FAULT_CONFLICT);
	x.mps = true;
	act_submit(f->act, &x);
	step(f, 0);
	cr_expect_not_null(strstr(fake_last(f->wire)->body, "\"gracePeriodSeconds\":15,"));
	fake_answer(fake_last(f->wire), 200, POD_ANSWER);
	x.resource_version = "";
	act_submit(f->act, &x);
	step(f, 0);
	cr_expect_eq(last_heard(f)->fault.kind, FAULT_INVALID, "never without preconditions");
	tear_down(f);
}

Test(body, grant_is_a_compare_and_swap_of_the_ledger)
{
	struct fixture *f = set_up();
	struct grant grants[] = {
		{.uid = "t-uid", .ns = "team", .name = "tenant", .milli = 250, .mem_mib = 20096}};
	struct action x = {.id = 3,
		.type = ACTION_GRANT,
		.ns = "aliquot-system",
		.name = "c",
		.uid = "c-uid",
		.resource_version = "12",
		.ledger = {.items = grants, .count = 1}};
	act_submit(f->act, &x);
	step(f, 0);
	struct fake_call *c = fake_last(f->wire);
	cr_expect_eq(c->method, WIRE_PATCH);
	cr_expect_str_eq(c->content_type, "application/merge-patch+json");
	cr_expect_str_eq(c->path, "/api/v1/namespaces/aliquot-system/pods/c?fieldManager=aliquot");
	expect_json(c->body,
		"{\"metadata\":{\"uid\":\"c-uid\",\"resourceVersion\":\"12\","
		"\"labels\":{\"aliquot.dev/in-use\":"
		"\"true\"},\"annotations\":{\"aliquot.dev/"
		"grants\":\"{\\\"v\\\":1,\\\"by\\\":\\\"0.3\\\",\\\"grants\\\":[{\\\"uid\\\":"
		"\\\"t-uid\\\",\\\"ns\\\":\\\"team\\\",\\\"name\\\":\\\"tenant\\\","
		"\\\"milli\\\":250,\\\"mib\\\":20096}]}"
		"\",\"cluster-autoscaler.kubernetes.io/safe-to-evict\":\"true\","
		"\"karpenter.sh/do-not-disrupt\":null}}}");
	fake_answer(c, 200, POD_ANSWER);
	cr_expect_str_eq(last_heard(f)->pod, "p@99");
	x.movable = true;
	act_submit(f->act, &x);
	step(f, 0);
	cr_expect_not_null(strstr(fake_last(f->wire)->body, "\"aliquot.dev/in-use\":\"movable\""));
	fake_answer(fake_last(f->wire), 200, POD_ANSWER);
	x.movable = false;
	x.keeps_node = true;
	act_submit(f->act, &x);
	step(f, 0);
	cr_expect_not_null(strstr(fake_last(f->wire)->body,
		"\"cluster-autoscaler.kubernetes.io/safe-to-evict\":\"false\","
		"\"karpenter.sh/do-not-disrupt\":\"true\""));
	fake_answer(fake_last(f->wire), 200, POD_ANSWER);
	x.keeps_node = false;
	x.ledger.count = 0;
	act_submit(f->act, &x);
	step(f, 0);
	cr_expect_not_null(strstr(fake_last(f->wire)->body, "\"aliquot.dev/in-use\":\"false\""));
	fake_answer(fake_last(f->wire), 200, POD_ANSWER);
	tear_down(f);
}

#define PLACED(terms)                                                                              \
	"{\"metadata\":{\"uid\":\"t-uid\",\"resourceVersion\":\"41\",\"annotations\":{"            \
	"\"aliquot.dev/gpu-uuid\":\"GPU-7\",\"aliquot.dev/visible-devices\":\"GPU-7\","            \
	"\"aliquot.dev/compute-milli\":\"250\",\"aliquot.dev/memory-mib\":\"20096\","              \
	"\"aliquot.dev/"                                                                           \
	"capacity-pod\":\"capacity-abc-0\"}},\"spec\":{\"schedulingGates\":[]," REQUIRED(          \
		terms) "}}"

Test(body, place_pins_a_pod_without_affinity)
{
	struct fixture *f = set_up();
	struct action x = place_action();
	act_submit(f->act, &x);
	step(f, 0);
	struct fake_call *c = fake_last(f->wire);
	cr_expect_eq(c->method, WIRE_PATCH);
	cr_expect_str_eq(c->content_type, "application/merge-patch+json");
	cr_expect_str_eq(c->path, "/api/v1/namespaces/team/pods/tenant?fieldManager=aliquot");
	expect_json(c->body, PLACED("{\"matchFields\":[" PIN("gpu-1") "]}"));
	fake_answer(c, 200, POD_ANSWER);
	cr_expect_eq(last_heard(f)->fault.kind, FAULT_NONE);
	cr_expect_str_eq(last_heard(f)->pod, "", "the watch shows it");
	tear_down(f);
}

/* C33: that of the moment of sending, after whatever the action waited for. */
Test(body, place_carries_the_term_in_which_it_is_sent_and_what_a_framework_is_told)
{
	struct fixture *f = set_up();
	struct action x = place_action();
	x.framework_memory = 243;
	f->term = 6;
	act_submit(f->act, &x);
	f->term = 7;
	step(f, 0);
	cr_expect_not_null(strstr(fake_last(f->wire)->body, "\"aliquot.dev/term\":\"7\""));
	cr_expect_not_null(strstr(fake_last(f->wire)->body, "framework-memory\":\"0.243\""));
	fake_answer(fake_last(f->wire), 200, POD_ANSWER);
	x.node_term_count = 1;
	act_submit(f->act, &x);
	step(f, 0);
	f->term = 2147483647;
	fake_answer(fake_last(f->wire), 200, LIVE("41", "{" ZONE("In") "}"));
	cr_expect_not_null(strstr(fake_last(f->wire)->body, "\"aliquot.dev/term\":\"2147483647\""));
	fake_answer(fake_last(f->wire), 200, POD_ANSWER);
	tear_down(f);
}

#define ZONE_IN	       ZONE("In")
#define ZONE_NOT_IN    ZONE("NotIn")
#define PIN_1	       PIN("gpu-1")
#define PIN_9	       PIN("gpu-9")
#define FIELDS(fields) "{\"matchFields\":[" fields "]}"
#define AND_PIN_1      "\"matchFields\":[" PIN_1 "]"

Test(body, place_pins_every_alternative_of_a_pod_with_affinity)
{
	struct fixture *f = set_up();
	struct action x = place_action();
	x.node_term_count = 5;
	act_submit(f->act, &x);
	step(f, 0);
	struct fake_call *c = fake_last(f->wire);
	cr_expect_eq(c->method, WIRE_GET);
	cr_expect_str_eq(c->path, "/api/v1/namespaces/team/pods/tenant");
	fake_answer(c, 200,
		LIVE("41", "{" ZONE_IN "},{" ZONE_NOT_IN
			   ",\"matchFields\":[]}," FIELDS(PIN_1) "," FIELDS(PIN_9) ",{}"));
	cr_expect_eq(f->count, 0);
	c = fake_last(f->wire);
	cr_expect_eq(c->method, WIRE_PATCH);
	expect_json(c->body, PLACED("{" ZONE_IN "," AND_PIN_1 "},{" ZONE_NOT_IN "," AND_PIN_1
				    "}," FIELDS(PIN_1) "," FIELDS(PIN_9 "," PIN_1) ",{}"));
	fake_answer(c, 200, POD_ANSWER);
	cr_expect_eq(last_heard(f)->fault.kind, FAULT_NONE);
	tear_down(f);
}

/* "Anywhere but there" names a node and pins nothing. */
Test(body, place_pins_a_pod_that_only_shuns_a_node)
{
	struct fixture *f = set_up();
	struct action x = place_action();
	x.node_term_count = 1;
	act_submit(f->act, &x);
	step(f, 0);
	const char *shuns =
		"{\"key\":\"metadata.name\",\"operator\":\"NotIn\",\"values\":[\"gpu-1\"]}";
	char live[512];
	snprintf(live, sizeof live, LIVE("41", "{\"matchFields\":[%s]}"), shuns);
	fake_answer(fake_last(f->wire), 200, live);
	cr_expect_not_null(strstr(fake_last(f->wire)->body, "\"NotIn\""));
	cr_expect_not_null(strstr(fake_last(f->wire)->body, PIN("gpu-1")));
	fake_answer(fake_last(f->wire), 200, POD_ANSWER);
	tear_down(f);
}

/* Of two nodes the scheduler would take either, and its GPU is on one. */
Test(body, place_pins_a_pod_that_names_another_node_beside_this_one)
{
	struct fixture *f = set_up();
	struct action x = place_action();
	x.node_term_count = 1;
	act_submit(f->act, &x);
	step(f, 0);
	fake_answer(fake_last(f->wire), 200,
		LIVE("41", "{\"matchFields\":[{\"key\":\"metadata.name\",\"operator\":\"In\","
			   "\"values\":[\"gpu-1\",\"gpu-9\"]}]}"));
	cr_expect_not_null(strstr(fake_last(f->wire)->body, PIN("gpu-1")));
	fake_answer(fake_last(f->wire), 200, POD_ANSWER);
	tear_down(f);
}

Test(body, place_gives_up_when_the_pod_is_no_longer_the_one_that_was_judged)
{
	struct fixture *f = set_up();
	struct action x = place_action();
	x.node_term_count = 1;
	static const char *answers[] = {LIVE("42", "{" ZONE("In") "}"), LIVE("41", "{},{}"),
		"{\"metadata\":{\"uid\":\"t-uid\",\"resourceVersion\":\"41\"},\"spec\":{}}"};
	for (size_t i = 0; i < COUNT_OF(answers); i++) {
		act_submit(f->act, &x);
		step(f, 0);
		fake_answer(fake_last(f->wire), 200, answers[i]);
		cr_expect_eq(f->count, i + 1);
		cr_expect_eq(last_heard(f)->fault.kind, FAULT_CONFLICT);
		cr_expect_eq(fake_last(f->wire)->method, WIRE_GET, "no patch");
	}
	tear_down(f);
}

/* Each makes a new version of the pod, whatever it says: the time is in it. */
Test(body, a_resize_writes_the_amounts_and_when)
{
	struct fixture *f = set_up();
	struct action x = {.id = 5,
		.type = ACTION_RESIZE,
		.ns = "team",
		.name = "tenant",
		.uid = "t-uid",
		.resource_version = "41",
		.milli = 300,
		.mem_mib = 7168,
		.policy = "small@3"};
	act_submit(f->act, &x);
	step(f, 0);
	struct fake_call *c = fake_last(f->wire);
	cr_expect_str_eq(c->content_type, "application/merge-patch+json");
	cr_expect_str_eq(c->path, "/api/v1/namespaces/team/pods/tenant?fieldManager=aliquot");
	char now[TIME_TEXT_MAX];
	CLEANUP(str_finish) struct str wanted = STR_INIT(4096);
	str_append_format(&wanted,
		"{\"metadata\":{\"uid\":\"t-uid\",\"resourceVersion\":\"41\",\"annotations\":{"
		"\"aliquot.dev/compute-milli\":\"300\",\"aliquot.dev/memory-mib\":\"7168\","
		"\"aliquot.dev/resized\":\"%s\",\"aliquot.dev/policy-applied\":\"small@3\"}}}",
		time_format_micro(f->clock.wall, now));
	expect_json(c->body, str_text(&wanted));
	fake_answer(c, 200, POD_ANSWER);
	cr_expect_eq(last_heard(f)->fault.kind, FAULT_NONE);
	tear_down(f);
}

Test(body, a_condition_touches_only_itself)
{
	struct fixture *f = set_up();
	struct action x = {.id = 5,
		.type = ACTION_CONDITION,
		.ns = "team",
		.name = "tenant",
		.uid = "t-uid",
		.reason = REASON_SHORT_MEMORY,
		.message = "no GPU has 20 GiB left"};
	act_submit(f->act, &x);
	step(f, 0);
	struct fake_call *c = fake_last(f->wire);
	cr_expect_str_eq(c->content_type, "application/strategic-merge-patch+json");
	cr_expect_str_eq(
		c->path, "/api/v1/namespaces/team/pods/tenant/status?fieldManager=aliquot");
	char now[TIME_TEXT_MAX];
	CLEANUP(str_finish) struct str wanted = STR_INIT(4096);
	str_append_format(&wanted,
		"{\"metadata\":{\"uid\":\"t-uid\"},\"status\":{\"conditions\":[{\"type\":\"aliquot."
		"dev/Placed\","
		"\"status\":\"False\",\"reason\":\"ShortMemory\",\"message\":\"no GPU has 20 GiB "
		"left\","
		"\"lastTransitionTime\":\"%s\"}]}}",
		time_format(f->clock.wall, now));
	expect_json(c->body, str_text(&wanted));
	fake_answer(c, 200, POD_ANSWER);
	cr_expect_not(last_heard(f)->had_pod);
	tear_down(f);
}

/* Another type leaves that of the waiting alone, also in the queue. */
Test(body, a_condition_of_another_type_does_not_take_its_place)
{
	struct fixture *f = set_up();
	struct action x = {.id = 5,
		.type = ACTION_CONDITION,
		.ns = "team",
		.name = "tenant",
		.uid = "t-uid",
		.reason = REASON_PLACED};
	act_submit(f->act, &x);
	x.id = 6;
	x.condition = NAME_OVERUSE;
	x.reason = REASON_MEMORY_OVERUSE;
	x.is_true = true;
	act_submit(f->act, &x);
	step(f, 0);
	cr_expect_not_null(strstr(fake_last(f->wire)->body, "aliquot.dev/Placed"));
	fake_answer(fake_last(f->wire), 200, POD_ANSWER);
	cr_expect_eq(last_heard(f)->fault.kind, FAULT_NONE);
	step(f, 0);
	const char *body = fake_last(f->wire)->body;
	cr_expect(
		strstr(body, "aliquot.dev/MemoryOveruse") && strstr(body, "\"True\""), "%s", body);
	fake_answer(fake_last(f->wire), 200, POD_ANSWER);
	tear_down(f);
}

Test(body, policy_status)
{
	struct fixture *f = set_up();
	struct action x = {.id = 6,
		.type = ACTION_POLICY_STATUS,
		.name = "night",
		.is_true = true,
		.message = "3 workloads use it",
		.generation = 7,
		.matched = 3,
		.automated = 2,
		.overlapping = true,
		.ready_ms = 1793491200000};
	act_submit(f->act, &x);
	step(f, 0);
	struct fake_call *c = fake_last(f->wire);
	cr_expect_str_eq(c->path,
		"/apis/aliquot.dev/v1alpha1/gpupolicies/night/status?fieldManager=aliquot");
	cr_expect_str_eq(c->content_type, "application/merge-patch+json");
	json_t *body = json_loads(c->body, 0, NULL);
	json_t *status = json_object_get(body, "status");
	cr_expect_eq(json_integer_value(json_object_get(status, "observedGeneration")), 7);
	cr_expect_eq(json_integer_value(json_object_get(status, "matchedWorkloads")), 3);
	cr_expect_eq(json_integer_value(json_object_get(status, "automatedWorkloads")), 2);
	static const char *wanted[][3] = {{"Accepted", "True", "Accepted"},
		{"Overlapping", "True", "SamePriority"}, {"Ready", "True", "Ready"}};
	json_t *conditions = json_object_get(status, "conditions");
	char since[TIME_TEXT_MAX];
	cr_assert_eq(json_array_size(conditions), COUNT_OF(wanted));
	for (size_t i = 0; i < COUNT_OF(wanted); i++) {
		json_t *one = json_array_get(conditions, i);
		cr_expect_str_eq(json_string_value(json_object_get(one, "type")), wanted[i][0]);
		cr_expect_str_eq(json_string_value(json_object_get(one, "status")), wanted[i][1]);
		cr_expect_str_eq(json_string_value(json_object_get(one, "reason")), wanted[i][2]);
		cr_expect_str_eq(json_string_value(json_object_get(one, "lastTransitionTime")),
			time_format(i == 2 ? 1793491200000 : f->clock.wall, since));
	}
	json_decref(body);
	fake_answer(c, 200, "{}");
	cr_expect_eq(last_heard(f)->fault.kind, FAULT_NONE);
	tear_down(f);
}
