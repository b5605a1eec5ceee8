/* GPURecommendations and checkpoints as requests. */
#include "act/act.h"

#include "fixture.h"

static struct recommendation recommendation = {
	.name = "deployment-web", .target = {"team", "apps", "Deployment", "web"}};

static struct action make_action(const char *uid)
{
	return (struct action){.id = 9,
		.type = ACTION_CREATE_RECOMMENDATION,
		.ns = "team",
		.name = "deployment-web",
		.recommendation = &recommendation,
		.owner = {"apps/v1", "Deployment", "web", uid}};
}

static struct fake_call *sent(struct fixture *f, const struct action *x)
{
	act_submit(f->act, x);
	step(f, 0);
	return fake_last(f->wire);
}

Test(recommend, g3_it_is_made_with_its_owner_and_no_label)
{
	struct fixture *f = set_up();
	struct action x = make_action("d-uid");
	struct fake_call *c = sent(f, &x);
	cr_expect_eq(c->method, WIRE_POST);
	cr_expect_str_eq(c->path,
		"/apis/aliquot.dev/v1alpha1/namespaces/team/gpurecommendations?fieldManager="
		"aliquot");
	cr_expect_str_eq(c->body,
		"{\"apiVersion\":\"aliquot.dev/v1alpha1\",\"kind\":\"GPURecommendation\","
		"\"metadata\":{\"name\":\"deployment-web\",\"namespace\":\"team\","
		"\"ownerReferences\":[{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"name\":"
		"\"web\",\"uid\":\"d-uid\"}]},\"spec\":{\"targetRef\":{\"group\":\"apps\",\"kind\":"
		"\"Deployment\",\"name\":\"web\"}}}");
	fake_answer(c, 201, "{}");
	cr_expect_eq(last_heard(f)->fault.kind, FAULT_NONE);
	tear_down(f);
}

Test(recommend, an_owner_without_a_uid_is_read_first)
{
	struct fixture *f = set_up();
	struct action x = make_action(NULL);
	struct fake_call *c = sent(f, &x);
	cr_expect_eq(c->method, WIRE_GET);
	cr_expect_str_eq(c->path, "/apis/apps/v1/namespaces/team/deployments/web");
	fake_answer(c, 200, "{\"metadata\":{\"name\":\"web\",\"uid\":\"read\"}}");
	c = fake_last(f->wire);
	cr_expect_eq(c->method, WIRE_POST);
	cr_expect_not_null(strstr(c->body, "\"uid\":\"read\""));
	tear_down(f);
}

Test(recommend, r12_an_owner_that_cannot_be_read_is_told)
{
	struct fixture *f = set_up();
	struct action x = make_action(NULL);
	fake_answer(sent(f, &x), 403, "{\"kind\":\"Status\",\"message\":\"no\"}");
	cr_expect_eq(last_heard(f)->fault.kind, FAULT_DENIED);
	cr_expect_not_null(strstr(last_heard(f)->fault.message, "Deployment web"));
	cr_expect_eq(f->wire->count, 1, "nothing is made");
	tear_down(f);
}

Test(recommend, its_status_is_applied)
{
	struct fixture *f = set_up();
	struct action x = make_action(NULL);
	x.type = ACTION_RECOMMENDATION_STATUS;
	x.uid = "r-uid";
	struct fake_call *c = sent(f, &x);
	cr_expect_eq(c->method, WIRE_PATCH);
	cr_expect_str_eq(c->content_type, "application/apply-patch+yaml");
	cr_expect_str_eq(c->path,
		"/apis/aliquot.dev/v1alpha1/namespaces/team/gpurecommendations/deployment-web/"
		"status?fieldManager=aliquot&force=true");
	cr_expect_not_null(
		strstr(c->body, "\"metadata\":{\"uid\":\"r-uid\",\"name\":"
				"\"deployment-web\",\"namespace\":\"team\"},\"status\":{"));
	tear_down(f);
}

static struct fake_call *sent_checkpoint(struct fixture *f)
{
	static const struct checkpoint checkpoint = {.ns = "team",
		.name = "deployment-web.main",
		.recommendation = "deployment-web",
		.container = "main",
		.written_ms = 1000,
		.bytes = {"abc", 3}};
	const struct action x = {.id = 3,
		.type = ACTION_CHECKPOINT,
		.ns = "team",
		.name = "deployment-web.main",
		.checkpoint = &checkpoint,
		.makes = true,
		.owner_uid = "r-uid"};
	return sent(f, &x);
}

/* It may know more than whoever did not know of it. */
Test(recommend, a_checkpoint_that_is_there_is_read_and_not_written)
{
	static const char *const bodies[] = {
		"{\"metadata\":{\"namespace\":\"team\",\"name\":\"deployment-web.main\"},"
		"\"spec\":{\"recommendationName\":\"deployment-web\",\"containerName\":\"main\"},"
		"\"status\":{\"version\":\"v1\",\"samples\":7,\"data\":\"YWJj\"}}",
		"{\"metadata\":{}}"};
	for (size_t i = 0; i < COUNT_OF(bodies); i++) {
		struct fixture *f = set_up();
		fake_answer(sent_checkpoint(f), 409, "{\"reason\":\"AlreadyExists\"}");
		struct fake_call *c = fake_last(f->wire);
		cr_expect_eq(c->method, WIRE_GET);
		cr_expect_not_null(strstr(
			c->path, "/namespaces/team/gpuusagecheckpoints/deployment-web.main"));
		fake_answer(c, 200, bodies[i]);
		cr_expect_eq(f->wire->count, 2, "nothing is written");
		cr_expect_eq(last_heard(f)->fault.kind, FAULT_CONFLICT);
		cr_expect(last_heard(f)->exists);
		cr_expect_eq(last_heard(f)->found_samples, i == 0 ? 7 : -1);
		tear_down(f);
	}
}

Test(recommend, a_checkpoint_that_is_gone_again_is_no_finding)
{
	struct fixture *f = set_up();
	fake_answer(sent_checkpoint(f), 409, "{}");
	fake_answer(fake_last(f->wire), 404, "{}");
	cr_expect_eq(last_heard(f)->fault.kind, FAULT_NOT_FOUND);
	cr_expect_not(last_heard(f)->exists);
	tear_down(f);
}

Test(recommend, a_checkpoint_is_made_and_then_written)
{
	struct fixture *f = set_up();
	struct fake_call *c = sent_checkpoint(f);
	cr_expect_eq(c->method, WIRE_POST);
	cr_expect_not_null(strstr(c->body, "\"uid\":\"r-uid\""));
	fake_answer(c, 201, "{}");
	c = fake_last(f->wire);
	cr_expect_eq(c->method, WIRE_PATCH);
	cr_expect_not_null(strstr(c->path, "/gpuusagecheckpoints/deployment-web.main/status?"));
	cr_expect_not_null(strstr(c->body, "\"data\":\"YWJj\""));
	fake_answer(c, 200, "{}");
	cr_expect_eq(last_heard(f)->fault.kind, FAULT_NONE);
	tear_down(f);
}

Test(recommend, one_that_nobody_owns_goes_as_it_was_seen)
{
	struct fixture *f = set_up();
	struct action x = make_action(NULL);
	x.type = ACTION_DELETE_RECOMMENDATION;
	x.uid = "r-uid";
	struct fake_call *c = sent(f, &x);
	cr_expect_eq(c->method, WIRE_DELETE);
	cr_expect_str_eq(c->path,
		"/apis/aliquot.dev/v1alpha1/namespaces/team/gpurecommendations/deployment-web");
	cr_expect_str_eq(c->body, "{\"apiVersion\":\"v1\",\"kind\":\"DeleteOptions\","
				  "\"preconditions\":{\"uid\":\"r-uid\"}}");
	fake_answer(c, 404, "{}");
	cr_expect_eq(last_heard(f)->fault.kind, FAULT_NONE, "gone is gone");
	tear_down(f);
}
