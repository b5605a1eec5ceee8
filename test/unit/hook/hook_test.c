/* The admission route as the API server meets it: bytes in, bytes out, counted. */
#include "hook/hook.h"

#include <criterion/criterion.h>
#include <jansson.h>

#include "base/cleanup.h"
#include "base/base64.h"
#include "model/names.h"

struct cluster {
	struct namespace ns, home;
	struct pair notes[2];
	bool unknown, limits, zero, timesliced;
	enum reason cannot;
	bool refuses; /* what was converted before */
	int converted;
	const char *selector;  /* of the pods, JSON; NULL: none */
	const char *spread;    /* a part of their spec, JSON; NULL: none */
	bool basic;	       /* their PodGroup is */
	bool meets_others;     /* it may be about pods that are not known */
	const char *owner;     /* their controller, JSON; NULL: none */
	const char *user;      /* who makes them; NULL: nobody is told */
	const char *labels;    /* JSON; NULL: none */
	const char *container; /* NULL: main */
	struct policy policy;
	const struct policy *list[1];
	struct groups *groups;
	struct advice *advice;
	struct metric_registry *metrics;
	struct hook *hook;
};

static void say_place(void *data, struct admit_input *in)
{
	const struct cluster *c = data;
	bool own = text_equals(in->pod->ns, c->ns.name);
	in->ns = text_equals(in->pod->ns, NAME_NAMESPACE) ? &c->home
		 : !c->unknown && own			  ? &c->ns
							  : NULL;
	in->home = &c->home;
	in->policies = (struct policy_set){c->list, c->policy.name != NULL ? 1 : 0};
	in->limits_gpus = c->limits && own;
	in->zero_quota = c->zero && own ? "gpus" : NULL;
}

static const struct groups *get_groups(void *data)
{
	const struct cluster *c = data;
	return c->groups;
}

static const struct advised *get_advice(void *data, const struct workload_key *workload)
{
	const struct cluster *c = data;
	cr_assert(!c->unknown, "nothing is told of a namespace that does not exist");
	return c->advice != NULL ? advice_find(c->advice, workload) : NULL;
}

static bool meets_others(void *data, const struct pod *pod)
{
	cr_assert_gt(pod->neighbour_count, 0);
	const struct cluster *c = data;
	return c->meets_others;
}

static bool basic_group(void *data, const struct pod *pod)
{
	const struct cluster *c = data;
	cr_assert_str_eq(pod->ns, "team");
	cr_assert_str_eq(pod->group_name, "g");
	return c->basic;
}

static bool unshared(
	void *data, const struct pod *pod, const struct pairs *class, struct unfit_tally *ret_why)
{
	(void)pod;
	(void)class;
	const struct cluster *c = data;
	*ret_why = (struct unfit_tally){0};
	if (c->timesliced) {
		unfit_add(ret_why, UNFIT_SHARED, NULL);
	}
	return c->timesliced;
}

static enum reason may_convert(void *data, const char *ns)
{
	(void)ns;
	const struct cluster *c = data;
	return c->cannot;
}

static bool refused(void *data, const struct pod *pod)
{
	const struct cluster *c = data;
	return c->refuses && text_equals(pod->ns, "team");
}

static void converted(void *data, const struct pod *pod)
{
	struct cluster *c = data;
	cr_expect_str_eq(pod->ns, "team");
	c->converted++;
}

static void cluster_init(struct cluster *c)
{
	*c = (struct cluster){.ns = {.name = "team"}, .metrics = metric_registry_create()};
	c->ns.notes.items = c->notes;
	c->list[0] = &c->policy;
	struct hook_config config = {
		.view = {c, say_place, get_groups, NULL, get_advice, unshared, meets_others,
			may_convert, refused, converted, basic_group},
		.metrics = c->metrics,
		.runtime_class = "nvidia",
		.notes_names = true};
	c->hook = hook_create(&config);
}

static void cluster_finish(struct cluster *c)
{
	hook_destroy(c->hook);
	metric_registry_destroy(c->metrics);
	groups_destroy(c->groups);
	advice_destroy(c->advice);
}

/* The response to a pod of this namespace with these annotations (JSON text of an object). */
static json_t *ask(struct cluster *c, const char *ns, bool dry_run, const char *notes)
{
	CLEANUP(str_finish) struct str body = STR_INIT(100000), out = STR_INIT(100000);
	str_append_format(&body,
		"{\"request\":{\"uid\":\"u1\",\"kind\":{\"group\":\"\",\"version\":\"v1\",\"kind\":"
		"\"Pod\"},"
		"\"operation\":\"CREATE\",\"namespace\":\"%s\",\"dryRun\":%s,"
		"\"userInfo\":{\"username\":\"%s\"},\"object\":{"
		"\"metadata\":{"
		"\"name\":\"p\",\"labels\":%s,\"ownerReferences\":[%s],\"annotations\":%s},"
		"\"spec\":{"
		"%s\"nodeSelector\":%s,"
		"\"containers\":[{\"name\":\"%s\","
		"\"resources\":{\"limits\":{\"nvidia.com/gpu\":\"1\"}}}]}}}}",
		ns, dry_run ? "true" : "false", text_or(c->user, ""), text_or(c->labels, "{}"),
		text_or(c->owner, ""), notes, text_or(c->spread, ""),
		c->selector != NULL ? c->selector : "{}", text_or(c->container, "main"));
	cr_assert_eq(hook_admit(c->hook, str_text(&body), body.len, &out), 200);
	json_t *answer = json_loads(str_text(&out), 0, NULL);
	cr_assert_not_null(answer);
	json_t *response = json_incref(json_object_get(answer, "response"));
	json_decref(answer);
	cr_assert(json_is_true(json_object_get(response, "allowed")));
	return response;
}

static void expect(struct cluster *c, const char *notes, const char *verdict, const char *warning)
{
	json_t *response = ask(c, "team", false, notes);
	const json_t *audit = json_object_get(response, "auditAnnotations");
	cr_assert_str_eq(json_string_value(json_object_get(audit, "verdict")), verdict);
	bool patched = json_object_get(response, "patch") != NULL;
	cr_assert_eq(patched, strcmp(verdict, "Converted") == 0, "%s", notes);
	const json_t *warnings = json_object_get(response, "warnings");
	if (warning == NULL) {
		cr_assert_eq(json_array_size(warnings), 0, "%s", notes);
	} else {
		const char *text = json_string_value(json_array_get(warnings, 0));
		cr_assert_not_null(text, "%s", notes);
		cr_assert_not_null(strstr(text, warning), "%s", text);
	}
	json_decref(response);
}

static int64_t counted(struct cluster *c, const char *labels)
{
	return metric_value(
		metric_get(c->metrics, METRIC_COUNTER, "aliquot_admission_total", "", labels));
}

#define FRACTION "{\"aliquot.dev/gpu-fraction\":\"0.25\"}"

Test(hook, converts_a_pod_that_asks_and_no_other)
{
	CLEANUP(cluster_finish) struct cluster c;
	cluster_init(&c);
	expect(&c, FRACTION, "Converted", NULL);
	expect(&c, FRACTION, "Converted", NULL);
	expect(&c, "{}", "NoRecommendation", NULL);
	cr_assert_eq(counted(&c, "verdict=\"converted\",reason=\"Converted\""), 2);
	cr_assert_eq(counted(&c, "verdict=\"whole\",reason=\"NoRecommendation\""), 1);
}

/* What stands in the cache becomes annotations, by the name of the container that asks. */
Test(hook, a_recommendation_is_the_share_of_the_next_pod)
{
	CLEANUP(cluster_finish) struct cluster c;
	cluster_init(&c);
	c.advice = advice_create();
	c.policy = (struct policy){.name = "own",
		.uid = "p",
		.generation = 2,
		.has_selector = true,
		.mode = MODE_AUTOMATE,
		.sizing = SIZING_DEFAULT};
	c.owner = "{\"apiVersion\":\"apps/v1\",\"kind\":\"StatefulSet\",\"name\":\"db\","
		  "\"uid\":\"u\",\"controller\":true}";
	expect(&c, "{}", "NoRecommendation", NULL);
	struct recommended_container container = {.name = "other", .target = {300, 7168}};
	struct recommendation r = {.name = "statefulset-db",
		.target = {"team", "apps", "StatefulSet", "db"},
		.revision = 17,
		.containers = &container,
		.container_count = 1};
	struct change set = {.type = CHANGE_SET, .kind = KIND_RECOMMENDATION, .recommendation = &r};
	r.conditions[RECOMMENDATION_HISTORY_SUFFICIENT].status = CONDITION_TRUE;
	cr_assert(advice_apply(c.advice, &set));
	expect(&c, "{}", "NoRecommendation", NULL);
	container.name = "main";
	cr_assert(advice_apply(c.advice, &set));
	expect(&c, "{}", "Converted", NULL);
	json_t *response = ask(&c, "team", false, "{}");
	CLEANUP(str_finish) struct str patch = STR_INIT(100000);
	cr_assert(base64_decode(
		view_of(json_string_value(json_object_get(response, "patch"))), &patch));
	static const char *const parts[] = {"recommendation\",\"value\":\"statefulset-db@17\"",
		"share\",\"value\":\"0.30\"", "memory\",\"value\":\"7Gi\"",
		"policy-applied\",\"value\":\"own@2\""};
	for (size_t i = 0; i < COUNT_OF(parts); i++) {
		cr_assert_not_null(strstr(str_text(&patch), parts[i]), "%s", str_text(&patch));
	}
	json_decref(response);
	/* C36: what nobody judges before the pin, nobody can keep after it. */
	c.spread = "\"topologySpreadConstraints\":[{\"maxSkew\":1,\"topologyKey\":\"zone\","
		   "\"whenUnsatisfiable\":\"DoNotSchedule\"}],";
	expect(&c, "{}", "Converted", NULL);
	c.meets_others = true;
	expect(&c, "{}", "NeighboursNotJudged", NULL);
	expect(&c, FRACTION, "Converted", NULL);
	c.spread = "\"topologySpreadConstraints\":[{\"maxSkew\":1,\"topologyKey\":\"\","
		   "\"whenUnsatisfiable\":\"DoNotSchedule\"}],";
	expect(&c, "{}", "NeighboursNotJudged", NULL);
	c.spread = "\"topologySpreadConstraints\":[{\"maxSkew\":1,\"topologyKey\":\"zone\","
		   "\"whenUnsatisfiable\":\"ScheduleAnyway\"}],";
	expect(&c, "{}", "Converted", NULL);
	c.spread = NULL;
	r.conditions[RECOMMENDATION_HISTORY_SUFFICIENT] =
		(struct recommended_condition){CONDITION_FALSE, "Learning", "", 1};
	cr_assert(advice_apply(c.advice, &set));
	expect(&c, "{}", "NoRecommendation", NULL);
	r.conditions[RECOMMENDATION_HISTORY_SUFFICIENT].status = CONDITION_TRUE;
	cr_assert(advice_apply(c.advice, &set));
	c.policy.mode = MODE_RECOMMEND;
	expect(&c, "{}", "NotAutomated", NULL);
}

/* A pod that our own account makes beside another is one of its Deployment's; anyone else's is
 * bare.
 */
Test(hook, c24_a_pod_beside_another_gets_the_share_of_its_workload)
{
	CLEANUP(cluster_finish) struct cluster c;
	cluster_init(&c);
	c.advice = advice_create();
	c.policy = (struct policy){.name = "own",
		.uid = "p",
		.generation = 2,
		.has_selector = true,
		.mode = MODE_AUTOMATE,
		.sizing = SIZING_DEFAULT};
	struct recommended_container container = {.name = "main", .target = {300, 7168}};
	struct recommendation r = {.name = "deployment-web",
		.target = {"team", "apps", "Deployment", "web"},
		.revision = 3,
		.containers = &container,
		.container_count = 1};
	struct change set = {.type = CHANGE_SET, .kind = KIND_RECOMMENDATION, .recommendation = &r};
	r.conditions[RECOMMENDATION_HISTORY_SUFFICIENT].status = CONDITION_TRUE;
	cr_assert(advice_apply(c.advice, &set));
	c.owner = "{\"apiVersion\":\"apps/v1\",\"kind\":\"ReplicaSet\",\"name\":\"web-7d\","
		  "\"uid\":\"u\",\"controller\":false}";
	c.labels = "{\"aliquot.dev/surge\":\"old\"}";
	static const char notes[] = "{\"aliquot.dev/surge-hash\":\"7d\"}";
	c.user = NAME_CONTROLLER_USER;
	expect(&c, notes, "Converted", NULL);
	expect(&c, "{}", "NoRecommendation", NULL);
	c.user = "jane";
	expect(&c, notes, "NoRecommendation", NULL);
	c.user = NAME_CONTROLLER_USER;
	c.labels = "{}";
	expect(&c, notes, "NoRecommendation", NULL);
}

/* With ours its annotations are more than the API server takes: the pod must not be counted as if
 * they were not. */
Test(hook, a_pod_whose_patch_would_be_too_large_is_left_and_counted_whole)
{
	CLEANUP(cluster_finish) struct cluster c;
	cluster_init(&c);
	CLEANUP(str_finish) struct str body = STR_INIT(4 << 20), out = STR_INIT(4 << 20);
	str_append_text(&body,
		"{\"request\":{\"uid\":\"u1\",\"kind\":{\"group\":\"\",\"version\":\"v1\",\"kind\":"
		"\"Pod\"},\"operation\":\"CREATE\",\"namespace\":\"team\",\"object\":{\"metadata\":"
		"{\"annotations\":{\"aliquot.dev/gpu-fraction\":\"0.25\",\"much\":\"");
	for (int i = 0; i < 256 << 10; i++) {
		str_append_char(&body, 'x');
	}
	str_append_text(&body, "\"}},\"spec\":{\"containers\":[{\"name\":\"main\",\"resources\":{"
			       "\"limits\":{\"nvidia.com/gpu\":\"1\"}}}]}}}}");
	cr_assert_not(body.overflow);
	cr_assert_eq(hook_admit(c.hook, str_text(&body), body.len, &out), 200);
	cr_assert_null(strstr(str_text(&out), "\"patch\""));
	cr_assert_not_null(strstr(str_text(&out), "\"verdict\":\"TooLarge\""));
	cr_assert_not_null(strstr(str_text(&out), "is too large"), "its author is told");
	cr_assert_eq(counted(&c, "verdict=\"whole\",reason=\"TooLarge\""), 1);
}

Test(hook, tells_a_person_what_is_wrong)
{
	CLEANUP(cluster_finish) struct cluster c;
	cluster_init(&c);
	expect(&c, "{\"aliquot.dev/gpu-fraction\":\"0,5\"}", "BadValue", "\"0,5\"; write a share");
	expect(&c, "{\"aliquot.dev/gpu-fraction\":\"0.5\",\"aliquot.dev/mode\":\"Foo\"}",
		"Converted", "aliquot.dev/mode: \"Foo\" cannot be read; write Recommend");
	expect(&c, "{\"aliquot.dev/gpu-memory\":\"100Mi\"}", "Converted",
		"asked for 100Mi GPU memory, gets 512Mi GPU memory");
	expect(&c, "{\"aliquot.dev/policy\":\"gone\"}", "PolicyNotFound", "GPUPolicy gone");
	expect(&c, "{\"aliquot.dev/gpu-fraction\":\"1\"}", "WholeGpu", "a whole GPU");
	expect(&c, "{\"aliquot.dev/original\":\"{}\"}", "NotOurs", "unreadable");
	c.policy = (struct policy){.name = "walled",
		.has_selector = true,
		.sizing.max_percent = 100,
		.isolation = ISOLATION_MPS};
	expect(&c, FRACTION, "Converted",
		"has no label pod-security.kubernetes.io/enforce=privileged");
	c.ns.labels = (struct pairs){&(struct pair){LABEL_POD_SECURITY, "privileged"}, 1};
	expect(&c, FRACTION, "Converted", NULL);
	c.home.labels = (struct pairs){&(struct pair){LABEL_POD_SECURITY, "restricted"}, 1};
	expect(&c, FRACTION, "Converted", "namespace aliquot-system, where capacity pods are, en");
	c.home.labels.count = 0;
	c.ns.labels = (struct pairs){&(struct pair){LABEL_POD_SECURITY, "restricted"}, 1};
	expect(&c, FRACTION, "Converted",
		"walled asks for isolation MPS, but the namespace enforces Pod Security "
		"restricted");
}

/* Nobody would ever place it: it starts whole, where it would have run before. Our own canary is
 * never stored, and asks whether the webhook is reached. */
Test(hook, c34_no_node_has_a_share_for_it)
{
	CLEANUP(cluster_finish) struct cluster c;
	cluster_init(&c);
	c.timesliced = true;
	expect(&c, FRACTION, "NoNodeForShare",
		"none could give it a share: 1 node shares its GPUs already");
	expect(&c, "{}", "NoRecommendation", NULL);
	cr_expect_eq(counted(&c, "verdict=\"whole\",reason=\"NoNodeForShare\""), 1);
	json_t *response = ask(&c, NAME_CANARY_NAMESPACE, true, FRACTION);
	cr_expect_not_null(json_object_get(response, "patch"));
	json_decref(response);
	c.timesliced = false;
	expect(&c, FRACTION, "Converted", NULL);
}

Test(hook, o4_and_c7_and_c2_leave_pods_whole)
{
	CLEANUP(cluster_finish) struct cluster c;
	cluster_init(&c);
	c.cannot = REASON_CONTROLLER_AWAY;
	expect(&c, FRACTION, "ControllerAway", "no controller");
	c.cannot = REASON_NONE;
	c.limits = true;
	expect(&c, FRACTION, "LimitRange", "LimitRange");
	c.limits = false;
	c.zero = true;
	expect(&c, FRACTION, "QuotaZero", "ResourceQuota gpus allows no nvidia.com/gpu at all");
	c.zero = false;
	c.notes[0] = (struct pair){NOTE_DEFAULT "exclude", "true"};
	c.ns.notes.count = 1;
	expect(&c, FRACTION, "Excluded", "excluded");
	c.ns.notes.count = 0;
	c.unknown = true;
	expect(&c, FRACTION, "NotSynced", "not fully known");
}

Test(hook, o4_who_would_be_refused_again_stays_whole_though_a_person_asked)
{
	CLEANUP(cluster_finish) struct cluster c;
	cluster_init(&c);
	json_t *response = ask(&c, "team", true, FRACTION);
	cr_assert_not_null(json_object_get(response, "patch"));
	json_decref(response);
	cr_expect_eq(c.converted, 0, "a dry run is no conversion");
	expect(&c, FRACTION, "Converted", NULL);
	cr_expect_eq(c.converted, 1);
	c.refuses = true;
	expect(&c, FRACTION, "ConvertedRefused", "does not let in");
	cr_expect_eq(c.converted, 1);
	c.cannot = REASON_BACKLOG;
	expect(&c, FRACTION, "Backlog", "waited too long");
	c.unknown = true;
	c.cannot = REASON_NONE;
	expect(&c, FRACTION, "NotSynced", "not fully known");
	response = ask(&c, NAME_CANARY_NAMESPACE, true, FRACTION);
	cr_expect_not_null(json_object_get(response, "patch"));
	json_decref(response);
}

Test(hook, c3_the_canary_is_converted_whatever_c2_says)
{
	CLEANUP(cluster_finish) struct cluster c;
	cluster_init(&c);
	c.cannot = REASON_CONTROLLER_AWAY;
	json_t *response = ask(&c, NAME_CANARY_NAMESPACE, true, FRACTION);
	cr_assert_not_null(json_object_get(response, "patch"));
	json_decref(response);
	response = ask(&c, NAME_CANARY_NAMESPACE, false, FRACTION);
	cr_assert_null(json_object_get(response, "patch"), "only a dry run is a canary");
	json_decref(response);
}

/* The response to these containers being added to a pod with these labels, that had those (JSON
 * text of a list each). */
static json_t *debug(struct cluster *c, const char *labels, const char *had, const char *gets)
{
	CLEANUP(str_finish) struct str body = STR_INIT(100000), out = STR_INIT(100000);
	static const char pod[] = "{\"metadata\":{\"name\":\"p\",\"labels\":%s,\"annotations\":{"
				  "\"aliquot.dev/container\":\"main\"}},\"spec\":{\"containers\":["
				  "{\"name\":\"main\"}],\"ephemeralContainers\":%s}}";
	str_append_text(&body, "{\"request\":{\"uid\":\"u1\",\"kind\":{\"group\":\"\",\"version\":"
			       "\"v1\",\"kind\":\"Pod\"},\"subResource\":\"ephemeralcontainers\","
			       "\"operation\":\"UPDATE\",\"namespace\":\"team\",\"object\":");
	str_append_format(&body, pod, "{}", gets);
	str_append_text(&body, ",\"oldObject\":");
	str_append_format(&body, pod, labels, had);
	str_append_text(&body, "}}");
	cr_assert_eq(hook_admit(c->hook, str_text(&body), body.len, &out), 200);
	json_t *answer = json_loads(str_text(&out), 0, NULL);
	json_t *response = json_incref(json_object_get(answer, "response"));
	json_decref(answer);
	cr_assert(json_is_true(json_object_get(response, "allowed")));
	return response;
}

#define TENANT "{\"aliquot.dev/tenant\":\"true\"}"

static void expect_debug(
	struct cluster *c, const char *had, const char *gets, const char *patch, const char *said)
{
	json_t *response = debug(c, TENANT, had, gets);
	const char *coded = json_string_value(json_object_get(response, "patch"));
	CLEANUP(str_finish) struct str text = STR_INIT(100000);
	cr_assert(coded == NULL || base64_decode(view_of(coded), &text));
	cr_assert_str_eq(str_text(&text), patch, "%s", gets);
	const json_t *warnings = json_object_get(response, "warnings");
	const char *warning = json_string_value(json_array_get(warnings, 0));
	cr_assert_str_eq(text_or(warning, ""), said, "%s", gets);
	json_decref(response);
}

#define VOID "{\"name\":\"NVIDIA_VISIBLE_DEVICES\",\"value\":\"void\"}"
#define ALL  "{\"name\":\"NVIDIA_VISIBLE_DEVICES\",\"value\":\"all\"}"
#define FIELD                                                                                      \
	"{\"name\":\"NVIDIA_VISIBLE_DEVICES\",\"valueFrom\":{\"fieldRef\":{\"fieldPath\":\"x\"}}}"
#define OTHER	    "{\"name\":\"A\",\"value\":\"all\"}"
#define ADDED(env)  "{\"name\":\"new\",\"env\":[" env "]}"
#define AT(i, rest) "\"path\":\"/spec/ephemeralContainers/" #i "/env" rest

Test(hook, case_30_what_is_added_to_a_tenant_sees_no_gpu)
{
	static const char said[] =
		"aliquot.dev: container new sees no GPU: NVIDIA_VISIBLE_DEVICES is "
		"void in what is added to a pod that shares one; run nvidia-smi in "
		"its container main (kubectl exec -c)";
	CLEANUP(cluster_finish) struct cluster c;
	cluster_init(&c);
	c.cannot = REASON_CONTROLLER_AWAY;
	expect_debug(&c, "[]", "[{\"name\":\"new\"}]",
		"[{\"op\":\"add\"," AT(0, "\",\"value\":[" VOID "]}]"), "");
	expect_debug(&c, "[]", "[" ADDED(OTHER) "]",
		"[{\"op\":\"add\"," AT(0, "/1\",\"value\":" VOID "}]"), "");
	expect_debug(&c, "[]", "[" ADDED(VOID) "]", "", "");
	expect_debug(&c, "[]", "[" ADDED(ALL "," OTHER) "]",
		"[{\"op\":\"replace\"," AT(0, "/0/value\",\"value\":\"void\"}]"), said);
	expect_debug(&c, "[]", "[" ADDED(OTHER "," FIELD) "]",
		"[{\"op\":\"remove\"," AT(0, "/1/valueFrom\"},{\"op\":\"add\",")
			AT(0, "/1/value\",\"value\":\"void\"}]"),
		said);
	expect_debug(&c, "[]", "[" ADDED(VOID "," OTHER "," ALL) "]",
		"[{\"op\":\"remove\"," AT(0, "/2\"}]"), said);
	/* What is there already can no longer be changed by anybody. */
	expect_debug(&c, "[" ADDED(ALL) "]", "[" ADDED(ALL) "]", "", "");
	expect_debug(&c, "[" ADDED(ALL) "]", "[" ADDED(ALL) ",{\"name\":\"b\",\"env\":[]}]",
		"[{\"op\":\"add\"," AT(1, "/0\",\"value\":" VOID "}]"), "");
	cr_assert_eq(counted(&c, "verdict=\"debugged\",reason=\"EphemeralContainer\""), 8);
}

Test(hook, case_30_what_is_added_to_other_pods_is_none_of_ours)
{
	CLEANUP(cluster_finish) struct cluster c;
	cluster_init(&c);
	static const char *const labels[] = {"{}", "null", "7", "{\"tenant\":\"true\"}"};
	for (size_t i = 0; i < COUNT_OF(labels); i++) {
		json_t *response = debug(&c, labels[i], "[]", "[" ADDED(ALL) "]");
		cr_assert_null(json_object_get(response, "patch"));
		cr_assert_null(json_object_get(response, "warnings"));
		json_decref(response);
	}
	static const char *const lists[] = {"7", "{}", "[7,null,[]]", "null"};
	for (size_t i = 0; i < COUNT_OF(lists); i++) {
		json_t *response = debug(&c, TENANT, lists[i], lists[i]);
		cr_assert_null(json_object_get(response, "patch"), "%s", lists[i]);
		json_decref(response);
	}
	cr_assert_eq(counted(&c, "verdict=\"ignored\",reason=\"NotAPod\""), 4);
}

Test(hook, refuses_bytes_that_name_no_request_and_nothing_else)
{
	CLEANUP(cluster_finish) struct cluster c;
	cluster_init(&c);
	CLEANUP(str_finish) struct str out = STR_INIT(1000);
	cr_assert_eq(hook_admit(c.hook, "{", 1, &out), 400);
	cr_assert_gt(out.len, 0);
	cr_assert_eq(hook_admit(c.hook, "", (8u << 20), &out), 413, "the bytes are not even read");
	str_reset(&out);
	static const char update[] = "{\"request\":{\"uid\":\"u\",\"operation\":\"UPDATE\"}}";
	cr_assert_eq(hook_admit(c.hook, update, sizeof update - 1, &out), 200);
	cr_assert_eq(counted(&c, "verdict=\"ignored\",reason=\"NotAPod\""), 1);
	cr_assert_eq(counted(&c, "verdict=\"ignored\",reason=\"Malformed\""), 2);
	struct str small = STR_INIT(20);
	cr_assert_eq(hook_admit(c.hook, update, sizeof update - 1, &small), 500);
	str_finish(&small);
	hook_set_runtime_class(c.hook, NULL);
	expect(&c, FRACTION, "Converted", NULL);
}

static bool gets_class(struct cluster *c, const char *selector)
{
	CLEANUP(str_finish) struct str patch = STR_INIT(100000);
	c->selector = selector;
	json_t *response = ask(c, "team", false, FRACTION);
	const char *text = json_string_value(json_object_get(response, "patch"));
	cr_assert(base64_decode(view_of(text), &patch));
	json_decref(response);
	return strstr(str_text(&patch), "runtimeClassName") != NULL;
}

/* The API server would refuse a pod that says something else of nodes than its class. */
Test(hook, c5_who_contradicts_the_class_gets_none)
{
	CLEANUP(cluster_finish) struct cluster c;
	cluster_init(&c);
	struct pair wanted[] = {{"gpus", "shared"}};
	cr_expect(gets_class(&c, "{\"gpus\":\"whole\"}"), "nothing is known of the class");
	hook_set_runtime_selector(c.hook, &(struct pairs){wanted, 1});
	cr_expect_not(gets_class(&c, "{\"gpus\":\"whole\"}"));
	cr_expect(gets_class(&c, "{\"gpus\":\"shared\"}"));
	cr_expect(gets_class(&c, "{\"zone\":\"a\"}"));
	hook_set_runtime_selector(c.hook, NULL);
	cr_expect(gets_class(&c, "{\"gpus\":\"whole\"}"));
}

Test(hook, c26_a_name_that_the_annotation_has_no_room_for_is_told)
{
	CLEANUP(cluster_finish) struct cluster c;
	cluster_init(&c);
	c.container = "a-container-with-a-name-of-exactly-fifty-four-letters-";
	expect(&c, FRACTION, "LongContainerName", "53 characters at most");
	c.container++;
	expect(&c, FRACTION, "Converted", NULL);
}

Test(hook, C4_a_pod_of_a_basic_pod_group_is_converted)
{
	CLEANUP(cluster_finish) struct cluster c;
	cluster_init(&c);
	c.spread = "\"schedulingGroup\":{\"podGroupName\":\"g\"},";
	expect(&c, FRACTION, "Gang", "of a PodGroup that is not known as Basic");
	c.basic = true;
	expect(&c, FRACTION, "Converted", NULL);
	c.spread = "\"workloadRef\":{\"name\":\"w\",\"podGroup\":\"g\"},";
	expect(&c, FRACTION, "Gang", "spec.schedulingGroup");
}
