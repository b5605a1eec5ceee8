/* One look, with whatever rights somebody has. */
#include "lookup/survey.h"

#include "../kube/fake_wire.h"
#include "model/names.h"
#include "report/json.h"
#include "report/text.h"

#define LIST(...)  "{\"metadata\":{\"resourceVersion\":\"7\"},\"items\":[" __VA_ARGS__ "]}"
#define META(name) "\"metadata\":{\"name\":\"" name "\",\"namespace\":\"mine\",\"uid\":\"" name "\""
#define GPU                                                                                        \
	"\"containers\":[{\"name\":\"main\",\"resources\":{\"limits\":{\"nvidia.com/"              \
	"gpu\":\"2\"}}}]"
#define RUNS(name, owners)                                                                         \
	"{" META(name) ",\"ownerReferences\":[" owners "]},\"spec\":{\"nodeName\":\"a\"," GPU      \
		       "},\"status\":{\"phase\":\"Running\"}}"
#define WIDGET                                                                                     \
	"{\"apiVersion\":\"example.com/v1\",\"kind\":\"Widget\",\"name\":\"w\",\"uid\":\"w\","     \
	"\"controller\":true}"
#define LEASE                                                                                      \
	"{" META("l") "},\"spec\":{\"holderIdentity\":\"one\",\"leaseDurationSeconds\":12,"        \
		      "\"renewTime\":\"2026-11-18T11:06:38.000000Z\"}}"
#define FORBIDDEN "{\"kind\":\"Status\",\"reason\":\"Forbidden\",\"message\":\"no\"}"

struct bed {
	struct fake_clock clock;
	struct fake_wire *wire;
	struct kube_cred *cred;
	struct kube *kube;
	struct report *report;
	struct survey *survey;
	struct str text;
};

static void set_up_at(struct bed *b, const char *only, const char *own)
{
	*b = (struct bed){.clock = fake_clock_make(),
		.wire = fake_wire_create(),
		.report = report_create(),
		.text = STR_INIT(1 << 20)};
	b->cred = kube_cred_create_plain("https://api", NULL, &b->clock.clock);
	b->kube = kube_create(&b->wire->wire, b->cred, &b->clock.clock, NULL);
	b->survey = survey_create(
		&(struct survey_config){b->kube, b->report, .only = only, .own = own});
}

static void set_up(struct bed *b, const char *only)
{
	set_up_at(b, only, "mine");
}

static void tear_down(struct bed *b)
{
	survey_destroy(b->survey);
	report_destroy(b->report);
	kube_destroy(b->kube);
	kube_cred_destroy(b->cred);
	fake_wire_destroy(b->wire);
	str_finish(&b->text);
}

/* What is asked next is `path`, and so it is answered. */
static void give(struct bed *b, const char *path, int status, const char *body)
{
	struct fake_call *c = fake_last(b->wire);
	cr_assert(c->open, "%s is to be asked", path);
	fake_expect_path(c, path);
	if (status != 200 || !c->stream) {
		fake_answer(c, status, body);
	} else if (fake_data(c, body)) {
		fake_close(c);
	}
}

static void step(struct bed *b, int64_t ms)
{
	fake_pass(&b->clock, ms);
	survey_step(b->survey, b->clock.mono);
}

static void expect(struct bed *b, const char *part)
{
	str_reset(&b->text);
	report_write_text(b->report, b->clock.wall, &b->text);
	cr_expect(strstr(str_text(&b->text), part) != NULL, "%s in %s", part, str_text(&b->text));
}

static void give_objects(struct bed *b)
{
	give(b, "/leases/" NAME_CONTROLLER, 200, LEASE);
	give(b, "/deployments/" NAME_CONTROLLER, 200,
		"{\"spec\":{\"replicas\":2,\"template\":{\"spec\":{\"containers\":[{\"image\":"
		"\"aliquot:1\"}]}}},\"status\":{\"readyReplicas\":1}}");
	give(b, "/mutatingwebhookconfigurations/" NAME_WEBHOOK_CONFIG, 200,
		"{\"webhooks\":[{\"clientConfig\":{\"caBundle\":\"QQ==\"}}]}");
}

static void give_lists(struct bed *b)
{
	give(b, "/api/v1/namespaces?limit", 200, LIST(""));
	give(b, "/api/v1/nodes?limit", 200,
		LIST("{" META("a") "},\"status\":{\"allocatable\":{\"nvidia.com/gpu\":\"8\"}}}"));
	give(b, "gpuworkloadgroups", 200, LIST(""));
	give(b, "podgroups", 404, "404 page not found");
}

Test(survey, S4_all_that_is_asked_for_is_told)
{
	struct bed b;
	set_up(&b, NULL);
	give_objects(&b);
	give_lists(&b);
	give(&b, "/gpurecommendations?limit", 200, LIST(""));
	give(&b, "/api/v1/pods?limit", 200, LIST(RUNS("widget", WIDGET) "," RUNS("bare", "")));
	step(&b, 1);
	cr_expect_eq(survey_end(b.survey), SURVEY_GOES_ON, "an owner of the owner is asked for");
	give(&b, "/apis/example.com", 404, "404 page not found");
	step(&b, 100);
	cr_expect_eq(survey_end(b.survey), SURVEY_DONE);
	expect(&b, "led by one");
	expect(&b, "image aliquot:1, 1 of 2 ready; webhook ok");
	expect(&b, "8 on 1 node: 4 whole in use");
	expect(&b, "Widget.example.com: 2 GPUs of 1 pod: mine/widget");
	expect(&b, "Ownerless      2 GPUs of 1 pod: mine/bare");
	cr_expect_null(strstr(str_text(&b.text), "Not shown"), "%s", str_text(&b.text));
	tear_down(&b);
}

#define AGENT(name, ready) AGENT_IN(NAME_NAMESPACE, name, ready)
#define AGENT_IN(ns, name, ready)                                                                  \
	"{\"metadata\":{\"namespace\":\"" ns "\",\"name\":\"" name "\",\"uid\":\"" name            \
	"\",\"resourceVersion\":\"1\",\"labels\":{\"" LABEL_AGENT                                  \
	"\":\"true\"}},\"spec\":{\"nodeName\":\"of-" name                                          \
	"\"},\"status\":{\"phase\":\"Running\",\"conditions\":[{\"type\":\"Ready\",\"status\":"    \
	"\"" ready "\"}]}}"

/* By the API server, as far as it lets; who may not is told that the agent is not ready. */
Test(survey, agents_that_are_not_ready_say_why)
{
	struct bed b;
	set_up(&b, NULL);
	give_objects(&b);
	give_lists(&b);
	give(&b, "/gpurecommendations?limit", 200, LIST(""));
	give(&b, "/api/v1/pods?limit", 200,
		LIST(AGENT("a", "True") "," AGENT("b", "False") "," AGENT("c", "False")));
	give(&b, "/api/v1/namespaces/" NAME_NAMESPACE "/pods/b:9400/proxy/readyz", 503,
		"NoDriver: the driver is not loaded\n");
	give(&b, "/pods/c:9400/proxy/readyz", 403, "{\"kind\":\"Status\",\"code\":403}");
	step(&b, 1);
	step(&b, 100);
	cr_expect_eq(survey_end(b.survey), SURVEY_DONE);
	expect(&b, "Agents         1 of 3 ready");
	expect(&b, "NoDriver on node of-b");
	expect(&b, ": the driver is not loaded");
	expect(&b, "NotReady on node of-c");
	tear_down(&b);
}

/* With the overlay restricted they are in a namespace of their own. */
Test(survey, agents_are_asked_in_their_namespace)
{
	struct bed b;
	set_up(&b, NULL);
	give_objects(&b);
	give_lists(&b);
	give(&b, "/gpurecommendations?limit", 200, LIST(""));
	give(&b, "/api/v1/pods?limit", 200,
		LIST(AGENT_IN(NAME_AGENT_HOME, "a", "True") "," AGENT_IN(
			NAME_AGENT_HOME, "b", "False") "," AGENT_IN("elsewhere", "c", "False")));
	give(&b, "/api/v1/namespaces/aliquot-agents/pods/b:9400/proxy/readyz", 503,
		"NoDriver: the driver is not loaded\n");
	step(&b, 1);
	step(&b, 100);
	cr_expect_eq(survey_end(b.survey), SURVEY_DONE);
	expect(&b, "Agents         1 of 2 ready");
	expect(&b, "NoDriver on node of-b");
	tear_down(&b);
}

Test(survey, owners_are_waited_for_and_not_for_ever)
{
	struct bed b;
	set_up(&b, NULL);
	give_objects(&b);
	give_lists(&b);
	give(&b, "/gpurecommendations?limit", 200, LIST(""));
	give(&b, "/api/v1/pods?limit", 200, LIST(RUNS("widget", WIDGET)));
	step(&b, 1);
	step(&b, SURVEY_OWNERS_MS - 100);
	cr_expect_eq(survey_end(b.survey), SURVEY_GOES_ON);
	step(&b, 100);
	cr_expect_eq(survey_end(b.survey), SURVEY_DONE);
	expect(&b, "Widget.example.com: 2 GPUs");
	tear_down(&b);
}

Test(survey, what_may_not_be_listed_everywhere_is_listed_at_home)
{
	struct bed b;
	set_up(&b, NULL);
	give_objects(&b);
	give(&b, "/api/v1/namespaces", 403, FORBIDDEN);
	give(&b, "/api/v1/nodes", 403, FORBIDDEN);
	give(&b, "gpuworkloadgroups", 404, "404 page not found");
	give(&b, "podgroups", 403, FORBIDDEN);
	give(&b, "/gpurecommendations", 403, FORBIDDEN);
	give(&b, "/namespaces/mine/gpurecommendations", 403, FORBIDDEN);
	give(&b, "/api/v1/pods", 403, FORBIDDEN);
	give(&b, "/api/v1/namespaces/mine/pods", 200, LIST(RUNS("bare", "")));
	step(&b, 1);
	cr_expect_eq(survey_end(b.survey), SURVEY_DONE);
	expect(&b, "cannot list namespaces: forbidden");
	expect(&b, "cannot list nodes: forbidden");
	expect(&b, "there is no kind gpuworkloadgroups here");
	expect(&b, "cannot list gpurecommendations: forbidden");
	expect(&b, "cannot list pods in all namespaces: forbidden; shown: namespace mine");
	expect(&b, "how many is not known; in namespace mine: 2 whole in use");
	expect(&b, "mine/bare");
	tear_down(&b);
}

Test(survey, a_context_whose_namespace_is_none_is_told)
{
	struct bed b;
	set_up_at(&b, NULL, "..");
	give_objects(&b);
	give_lists(&b);
	give(&b, "/gpurecommendations", 200, LIST(""));
	give(&b, "/api/v1/pods", 403, FORBIDDEN);
	step(&b, 1);
	cr_expect_eq(survey_end(b.survey), SURVEY_DONE);
	expect(&b, "cannot list pods: forbidden");
	expect(&b, "the context's namespace is none");
	tear_down(&b);
}

/* Rights on the two lists come from two rules. */
Test(survey, workloads_of_home_beside_pods_of_everywhere)
{
	struct bed b;
	set_up(&b, NULL);
	give_objects(&b);
	give_lists(&b);
	give(&b, "/gpurecommendations", 403, FORBIDDEN);
	give(&b, "/namespaces/mine/gpurecommendations", 200, LIST(""));
	give(&b, "/api/v1/pods", 200, LIST(RUNS("bare", "")));
	step(&b, 1);
	cr_expect_eq(survey_end(b.survey), SURVEY_DONE);
	expect(&b, "8 on 1 node: 2 whole in use, 0 shared");
	expect(&b, "none with a GPURecommendation in namespace mine");
	tear_down(&b);
}

Test(survey, pods_of_home_beside_workloads_of_everywhere)
{
	struct bed b;
	set_up(&b, NULL);
	give_objects(&b);
	give_lists(&b);
	give(&b, "/gpurecommendations", 200, LIST(""));
	give(&b, "/api/v1/pods", 403, FORBIDDEN);
	give(&b, "/api/v1/namespaces/mine/pods", 200, LIST(RUNS("bare", "")));
	step(&b, 1);
	expect(&b, "8 on 1 node; in namespace mine: 2 whole in use, 0 tenants");
	expect(&b, "none with a GPURecommendation\n");
	tear_down(&b);
}

Test(survey, one_namespace_alone)
{
	struct bed b;
	set_up(&b, "team");
	give_objects(&b);
	give_lists(&b);
	give(&b, "/namespaces/team/gpurecommendations", 200, LIST(""));
	give(&b, "/api/v1/namespaces/team/pods", 403, FORBIDDEN);
	step(&b, 1);
	cr_expect_eq(survey_end(b.survey), SURVEY_DONE);
	expect(&b, "cannot list pods: forbidden");
	tear_down(&b);
}

Test(survey, who_may_read_nothing_is_told_so)
{
	struct bed b;
	set_up(&b, NULL);
	while (survey_end(b.survey) == SURVEY_GOES_ON) {
		cr_assert_lt(b.wire->count, 20);
		fake_answer(fake_last(b.wire), 403, FORBIDDEN);
	}
	cr_expect_eq(survey_end(b.survey), SURVEY_REFUSED);
	cr_expect_eq(b.wire->count, 11);
	tear_down(&b);
}

Test(survey, a_server_that_only_fails_is_not_called_one_that_refuses)
{
	struct bed b;
	set_up(&b, NULL);
	for (int i = 0; survey_end(b.survey) == SURVEY_GOES_ON; i++) {
		cr_assert_lt(b.wire->count, 20);
		fake_answer(fake_last(b.wire), i == 2 || i == 3 ? 503 : 403,
			i == 2 ? "overloaded" : "no");
	}
	cr_expect_eq(survey_end(b.survey), SURVEY_UNREACHED);
	cr_expect(strstr(survey_fault(b.survey)->message, "503: overloaded") != NULL, "%s",
		survey_fault(b.survey)->message);
	tear_down(&b);
}

Test(survey, where_aliquot_is_not_installed_that_is_told)
{
	struct bed b;
	set_up(&b, NULL);
	give(&b, "leases", 404, "{}");
	give(&b, "deployments", 404, "{}");
	give(&b, "mutatingwebhookconfigurations", 404, "{}");
	give_lists(&b);
	give(&b, "gpurecommendations", 404, "404 page not found");
	give(&b, "pods", 200, LIST(""));
	step(&b, 1);
	cr_expect_eq(survey_end(b.survey), SURVEY_DONE);
	expect(&b, "there is no Lease aliquot-system/aliquot-controller");
	expect(&b, "webhook is not there");
	expect(&b, "there is no kind gpurecommendations here");
	tear_down(&b);
}

/* The certificate authority stays when everything else is gone. */
Test(survey, a_webhook_without_a_deployment_is_not_ok)
{
	static const struct {
		int status;
		const char *wanted;
	} rows[] = {{404, "is not answered: pods start whole"},
		{403, "is set, whether anybody answers is not known"},
		{503, "is set, whether anybody answers is not known"}};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct bed b;
		set_up(&b, NULL);
		give(&b, "leases", 404, "{}");
		give(&b, "deployments", rows[i].status, "{}");
		give(&b, "mutatingwebhookconfigurations", 200,
			"{\"webhooks\":[{\"clientConfig\":{\"caBundle\":\"QQ==\"}}]}");
		survey_give_up(b.survey);
		str_reset(&b.text);
		report_write_json(b.report, b.clock.wall, &b.text);
		cr_expect(
			strstr(str_text(&b.text), rows[i].wanted) != NULL, "%s", str_text(&b.text));
		tear_down(&b);
	}
}

Test(survey, nobody_answers)
{
	struct bed b;
	set_up(&b, NULL);
	fake_fail(fake_last(b.wire), false);
	cr_expect_eq(survey_end(b.survey), SURVEY_UNREACHED);
	cr_expect_str_eq(survey_fault(b.survey)->message, "the connection broke");
	cr_expect_eq(b.wire->count, 1);
	tear_down(&b);
}

Test(survey, one_list_that_breaks_off_is_a_gap)
{
	struct bed b;
	set_up(&b, NULL);
	give_objects(&b);
	fake_fail(fake_last(b.wire), false);
	give(&b, "nodes", 200, LIST("{" META("a") ",\"labels\":7}}"));
	give(&b, "gpuworkloadgroups", 200, LIST(""));
	give(&b, "podgroups", 404, "404 page not found");
	give(&b, "gpurecommendations", 200, LIST(""));
	give(&b, "pods", 200, LIST(""));
	step(&b, 1);
	expect(&b, "cannot list namespaces: the connection broke");
	expect(&b, "1 of the nodes cannot be read");
	tear_down(&b);
}

Test(survey, when_time_is_over_what_was_read_is_shown)
{
	struct bed b;
	set_up(&b, NULL);
	give_objects(&b);
	survey_give_up(b.survey);
	cr_expect_eq(survey_end(b.survey), SURVEY_DONE);
	expect(&b, "led by one");
	expect(&b, "there was no time for all that is to be read");
	tear_down(&b);
	set_up(&b, NULL);
	survey_give_up(b.survey);
	cr_expect_eq(survey_end(b.survey), SURVEY_UNREACHED);
	tear_down(&b);
}

Test(survey, what_is_no_deployment_or_webhook_is_not_known)
{
	static const struct {
		const char *body, *deployment, *webhook;
	} rows[] = {
		{"[]", "cannot read Deployment", "webhook not known"},
		{"7", "cannot read Deployment", "webhook not known"},
		{"{\"spec\":7,\"webhooks\":{}}", "it has no spec", "webhook not known"},
		{"{\"spec\":{},\"webhooks\":[7]}", "image not told, 0 of 0", "webhook not known"},
		{"{\"webhooks\":[{}]}", "it has no spec", "webhook has no certificate yet"},
		{"{\"webhooks\":[]}", "it has no spec", "webhook is not there"},
		{"{}", "it has no spec", "webhook is not there"},
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct bed b;
		set_up(&b, NULL);
		give(&b, "leases", 200, LEASE);
		give(&b, "deployments", 200, rows[i].body);
		give(&b, "mutatingwebhookconfigurations", 200, rows[i].body);
		survey_give_up(b.survey);
		expect(&b, rows[i].deployment);
		expect(&b, rows[i].webhook);
		tear_down(&b);
	}
}

Test(survey, answers_that_make_no_sense_are_none)
{
	static const char *const bodies[] = {"{}", "[]", "x", "{\"spec\":7,\"webhooks\":[7]}",
		"{\"spec\":{\"replicas\":-1,\"template\":{\"spec\":{\"containers\":{}}}}}"};
	for (size_t i = 0; i < COUNT_OF(bodies); i++) {
		struct bed b;
		set_up(&b, NULL);
		for (int k = 0; k < 3; k++) {
			fake_answer(fake_last(b.wire), 200, bodies[i]);
		}
		give_lists(&b);
		give(&b, "gpurecommendations", 200, bodies[i]);
		give(&b, "pods", 200, bodies[i]);
		step(&b, 1);
		cr_expect_eq(survey_end(b.survey), SURVEY_DONE);
		expect(&b, "cannot list pods");
		tear_down(&b);
	}
}
