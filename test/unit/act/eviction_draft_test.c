/* The one write that takes a tenant down, and what a budget answers. */
#include "act/act.h"

#include "fixture.h"

static struct action evict_action(const char *version)
{
	return (struct action){.id = 9,
		.type = ACTION_EVICT,
		.ns = "team",
		.name = "tenant",
		.uid = "t-uid",
		.resource_version = version,
		.reason = REASON_PREEMPTED,
		.message = "somebody needs it"};
}

static struct fake_call *sent(struct fixture *f, const struct action *x)
{
	act_submit(f->act, x);
	step(f, 0);
	return fake_last(f->wire);
}

Test(evict, i5_it_is_an_eviction_of_this_very_pod)
{
	struct fixture *f = set_up();
	struct action x = evict_action("41");
	struct fake_call *c = sent(f, &x);
	cr_expect_eq(c->method, WIRE_POST);
	cr_expect_str_eq(
		c->path, "/api/v1/namespaces/team/pods/tenant/eviction?fieldManager=aliquot");
	cr_expect_str_eq(c->content_type, "application/json");
	cr_expect_str_eq(c->body,
		"{\"apiVersion\":\"policy/v1\",\"kind\":\"Eviction\",\"metadata\":{\"name\":"
		"\"tenant\",\"namespace\":\"team\"},\"deleteOptions\":{\"preconditions\":{\"uid\":"
		"\"t-uid\",\"resourceVersion\":\"41\"}}}");
	fake_answer(c, 201, "{\"kind\":\"Status\",\"status\":\"Success\"}");
	cr_expect_eq(last_heard(f)->fault.kind, FAULT_NONE);
	tear_down(f);
}

Test(evict, without_a_version_only_the_uid_must_be_the_same)
{
	struct fixture *f = set_up();
	struct action x = evict_action(NULL);
	cr_expect_null(strstr(sent(f, &x)->body, "resourceVersion"));
	tear_down(f);
}

Test(evict, i5_without_a_uid_nothing_leaves)
{
	struct fixture *f = set_up();
	struct action x = evict_action("41");
	x.uid = NULL;
	act_submit(f->act, &x);
	step(f, 0);
	cr_expect_eq(f->wire->count, 0);
	cr_expect_eq(last_heard(f)->fault.kind, FAULT_INVALID);
	tear_down(f);
}

Test(evict, a_budget_that_refuses_is_named)
{
	struct fixture *f = set_up();
	struct action x = evict_action(NULL);
	fake_answer(sent(f, &x), 429,
		"{\"kind\":\"Status\",\"status\":\"Failure\",\"message\":\"Cannot evict pod as it "
		"would violate the pod's disruption budget.\",\"reason\":\"TooManyRequests\","
		"\"details\":{\"causes\":[{\"reason\":\"DisruptionBudget\",\"message\":\"The "
		"disruption budget web needs 2 healthy pods and has 2 "
		"currently\"}]},\"code\":429}");
	const struct fault *told = &last_heard(f)->fault;
	cr_expect_eq(told->kind, FAULT_LIMIT);
	cr_expect_eq(told->status, 429);
	cr_expect_not(told->unknown_outcome);
	cr_expect(strstr(told->message, "budget web needs 2 healthy pods") != NULL, "%s",
		told->message);
	tear_down(f);
}

/* --- what a Job says of it (C21) --- */

#define IGNORES                                                                                    \
	"{\"action\":\"Ignore\",\"onPodConditions\":[{\"type\":\"DisruptionTarget\",\"status\":"   \
	"\"True\"}]}"
#define JOB(uid, rules)                                                                            \
	"{\"metadata\":{\"uid\":\"" uid "\"},\"spec\":{\"podReplacementPolicy\":\"Failed\","       \
	"\"podFailurePolicy\":{\"rules\":[" rules "]}}}"

static struct fake_call *asked(struct fixture *f)
{
	struct action x = {
		.id = 11, .type = ACTION_READ_JOB, .ns = "team", .name = "train", .uid = "j-uid"};
	return sent(f, &x);
}

Test(evict, c21_a_job_is_read_and_nothing_is_written)
{
	struct fixture *f = set_up();
	struct fake_call *c = asked(f);
	cr_expect_eq(c->method, WIRE_GET);
	cr_expect_str_eq(c->path, "/apis/batch/v1/namespaces/team/jobs/train");
	fake_answer(c, 200, JOB("j-uid", IGNORES));
	cr_expect_eq(last_heard(f)->fault.kind, FAULT_NONE);
	cr_expect(last_heard(f)->spares);
	cr_expect_eq(f->wire->count, 1);
	tear_down(f);
}

Test(evict, c21_a_job_that_counts_another_or_none_spares_nothing)
{
	static const struct {
		int status;
		const char *body;
		enum fault_kind kind;
	} cases[] = {{200, JOB("j-uid", ""), FAULT_NONE},
		{200, JOB("other", IGNORES), FAULT_NOT_FOUND}, {200, "[", FAULT_INVALID},
		{403, "{\"kind\":\"Status\"}", FAULT_DENIED}, {404, "{}", FAULT_NOT_FOUND}};
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct fixture *f = set_up();
		fake_answer(asked(f), cases[i].status, cases[i].body);
		cr_expect_eq(last_heard(f)->fault.kind, cases[i].kind, "%zu", i);
		cr_expect_not(last_heard(f)->spares, "%zu", i);
		tear_down(f);
	}
}
