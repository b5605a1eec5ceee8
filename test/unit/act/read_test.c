/* How the owner of a workload stands: read, and nothing written. What nobody may see is unknown. */
#include "act/act.h"

#include "fixture.h"

static struct action owner_action(const char *api_version, const char *kind)
{
	return (struct action){.id = 7,
		.type = ACTION_READ_OWNER,
		.ns = "team",
		.name = "llm",
		.owner = {api_version, kind, "llm", NULL}};
}

static struct fake_call *sent(struct fixture *f, const struct action *x)
{
	act_submit(f->act, x);
	step(f, 0);
	return fake_last(f->wire);
}

#define SERVING                                                                                    \
	"{\"metadata\":{\"uid\":\"o\",\"generation\":2},\"spec\":{\"replicas\":3},\"status\":{"    \
	"\"observedGeneration\":2,\"replicas\":4,\"updatedReplicas\":2}}"

Test(read, an_owner_is_read_where_its_kind_is)
{
	static const struct {
		const char *api_version, *kind, *path;
	} rows[] = {
		{"apps/v1", "Deployment", "/apis/apps/v1/namespaces/team/deployments/llm"},
		{"apps/v1", "ReplicaSet", "/apis/apps/v1/namespaces/team/replicasets/llm"},
		{"apps.openshift.io/v1", "DeploymentConfig",
			"/apis/apps.openshift.io/v1/namespaces/team/deploymentconfigs/llm"},
		{"argoproj.io/v1alpha1", "Rollout",
			"/apis/argoproj.io/v1alpha1/namespaces/team/rollouts/llm"},
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct fixture *f = set_up();
		struct action x = owner_action(rows[i].api_version, rows[i].kind);
		struct fake_call *c = sent(f, &x);
		cr_expect_eq(c->method, WIRE_GET);
		cr_expect_str_eq(c->path, rows[i].path);
		fake_answer(c, 200, SERVING);
		cr_expect_eq(last_heard(f)->fault.kind, FAULT_NONE);
		cr_assert(last_heard(f)->seen);
		cr_expect(last_heard(f)->standing.exists);
		cr_expect_eq(last_heard(f)->standing.wanted, 3);
		cr_expect_eq(f->wire->count, 1, "nothing is written");
		tear_down(f);
	}
}

#define NO_OBJECT                                                                                  \
	"{\"kind\":\"Status\",\"reason\":\"NotFound\",\"details\":{\"name\":\"llm\"},\"code\":"    \
	"404}"

Test(read, R12_what_nobody_may_see_is_unknown_and_not_absent)
{
	static const struct {
		int status;
		const char *body;
		enum fault_kind kind;
		bool seen;
	} rows[] = {{404, NO_OBJECT, FAULT_NONE, true},
		{404, "404 page not found", FAULT_NOT_FOUND, false},
		{403, "{\"kind\":\"Status\"}", FAULT_DENIED, false},
		{500, "oh", FAULT_TRANSIENT, false}, {200, "[", FAULT_INVALID, false}};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct fixture *f = set_up();
		struct action x = owner_action("apps/v1", "Deployment");
		fake_answer(sent(f, &x), rows[i].status, rows[i].body);
		cr_expect_eq(last_heard(f)->fault.kind, rows[i].kind, "row %zu", i);
		cr_expect_eq(last_heard(f)->seen, rows[i].seen, "row %zu", i);
		cr_expect_not(last_heard(f)->standing.exists);
		tear_down(f);
	}
}

/* They may have one name, and a pod may have it too. */
Test(read, owners_of_two_kinds_are_two)
{
	struct fixture *f = set_up();
	struct action x = owner_action("apps/v1", "Deployment");
	struct action y = owner_action("apps/v1", "StatefulSet");
	act_submit(f->act, &x);
	act_submit(f->act, &y);
	step(f, 0);
	cr_expect_eq(f->wire->count, 2);
	tear_down(f);
}
