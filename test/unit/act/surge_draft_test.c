/* The tasks of a surge, word for word, and the order of their requests. */
#include "body.h"

#define SET(uid, hash)                                                                             \
	"{\"kind\":\"ReplicaSet\",\"metadata\":{\"name\":\"web-7d\",\"uid\":\"" uid                \
	"\",\"generation\":3},\"spec\":{\"replicas\":1,\"selector\":{\"matchLabels\":{\"app\":"    \
	"\"web\"" hash                                                                             \
	"}},\"template\":{\"metadata\":{\"labels\":{\"app\":\"web\",\"tier\":\"x\","               \
	"\"pod-template-hash\":\"7d\"},\"annotations\":{\"aliquot.dev/policy\":\"p\","             \
	"\"aliquot.dev/surge-hash\":\"forged\"}},"                                                 \
	"\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}}}"
#define HASH	",\"pod-template-hash\":\"7d\""
#define PODS	"/api/v1/namespaces/team/pods"
#define MANAGER "fieldManager=aliquot"

static const struct surge_order base = {.set_name = "web-7d",
	.set_uid = "rs-uid",
	.hash = "7d",
	.old_uid = "old-uid",
	.fresh_name = "web-s"};

static void submit(struct fixture *f, const struct surge_order *o, const char *version)
{
	struct action x = {.id = 9,
		.type = ACTION_SURGE,
		.ns = "team",
		.name = "web-s",
		.uid = "u",
		.resource_version = version,
		.surge = o};
	act_submit(f->act, &x);
	step(f, 1);
}

static void expect_sent(struct fixture *f, enum wire_method method, const char *path)
{
	cr_expect_eq(fake_last(f->wire)->method, method);
	cr_expect_str_eq(fake_last(f->wire)->path, path);
}

#define MADE                                                                                       \
	"{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"web-s\","                \
	"\"namespace\":\"team\",\"labels\":{\"app\":\"web\",\"tier\":\"x\","                       \
	"\"aliquot.dev/surge\":\"old-uid\"},\"annotations\":{\"aliquot.dev/policy\":\"p\","        \
	"\"aliquot.dev/surge-hash\":\"7d\",\"aliquot.dev/surge-generation\":\"3\"},"               \
	"\"ownerReferences\":[{\"apiVersion\":\"apps/v1\",\"kind\":\"ReplicaSet\","                \
	"\"name\":\"web-7d\",\"uid\":\"rs-uid\",\"controller\":false}]},"                          \
	"\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}"
#define MARKED                                                                                     \
	"{\"metadata\":{\"name\":\"web-s\",\"labels\":{\"aliquot.dev/tenant\":\"true\"}},"         \
	"\"spec\":{\"schedulingGates\":[{\"name\":\"aliquot.dev/gpu\"}]}}"

Test(surge, C24_the_new_pod_lacks_one_label_is_not_controlled_and_is_tried_first)
{
	struct fixture *f = set_up();
	struct surge_order o = base;
	o.task = SURGE_TASK_CREATE;
	submit(f, &o, NULL);
	expect_sent(f, WIRE_GET, "/apis/apps/v1/namespaces/team/replicasets/web-7d");
	fake_answer(fake_last(f->wire), 200, SET("rs-uid", HASH));
	expect_sent(f, WIRE_POST, PODS "?" MANAGER "&dryRun=All");
	expect_json(fake_last(f->wire)->body, MADE);
	fake_answer(fake_last(f->wire), 201, MARKED);
	expect_sent(f, WIRE_POST, PODS "?" MANAGER);
	expect_json(fake_last(f->wire)->body, MADE);
	cr_expect_eq(f->count, 0);
	fake_answer(fake_last(f->wire), 201, MARKED);
	cr_expect_eq(last_heard(f)->fault.kind, FAULT_NONE);
	tear_down(f);
}

Test(surge, C24_what_would_come_whole_is_not_made)
{
	struct fixture *f = set_up();
	struct surge_order o = base;
	o.task = SURGE_TASK_CREATE;
	submit(f, &o, NULL);
	fake_answer(fake_last(f->wire), 200, SET("rs-uid", HASH));
	fake_answer(fake_last(f->wire), 201, "{\"metadata\":{\"name\":\"web-s\"}}");
	cr_expect_eq(last_heard(f)->fault.kind, FAULT_DENIED);
	cr_expect_not_null(strstr(last_heard(f)->fault.message, "without a share"));
	tear_down(f);
}

Test(surge, C24_another_replica_set_makes_none)
{
	static const char *const sets[] = {SET("other", HASH), SET("rs-uid", ""), "{}",
		SET("rs-uid", ",\"pod-template-hash\":\"8e\"")};
	for (size_t i = 0; i < COUNT_OF(sets); i++) {
		struct fixture *f = set_up();
		struct surge_order o = base;
		o.task = SURGE_TASK_CREATE;
		submit(f, &o, NULL);
		fake_answer(fake_last(f->wire), 200, sets[i]);
		cr_expect_neq(last_heard(f)->fault.kind, FAULT_NONE, "row %zu", i);
		expect_sent(f, WIRE_GET, "/apis/apps/v1/namespaces/team/replicasets/web-7d");
		tear_down(f);
	}
}

Test(surge, whoever_leads_no_more_makes_none)
{
	struct fixture *f = set_up();
	struct surge_order o = base;
	o.task = SURGE_TASK_CREATE;
	submit(f, &o, NULL);
	f->leads = false;
	fake_answer(fake_last(f->wire), 200, SET("rs-uid", HASH));
	cr_expect_eq(last_heard(f)->fault.kind, FAULT_DENIED);
	expect_sent(f, WIRE_GET, "/apis/apps/v1/namespaces/team/replicasets/web-7d");
	tear_down(f);
}

Test(surge, C25_the_old_one_becomes_cheap_and_dear_again)
{
	struct fixture *f = set_up();
	struct surge_order o = base;
	o.task = SURGE_TASK_LOWER_COST;
	submit(f, &o, "9");
	expect_sent(f, WIRE_PATCH, PODS "/web-s?" MANAGER);
	expect_json(fake_last(f->wire)->body,
		"{\"metadata\":{\"uid\":\"u\",\"resourceVersion\":\"9\",\"annotations\":{"
		"\"controller.kubernetes.io/pod-deletion-cost\":\"-1000\","
		"\"aliquot.dev/surged-by\":\"web-s\"}}}");
	fake_answer(fake_last(f->wire), 200, POD_ANSWER);
	o.task = SURGE_TASK_RESTORE;
	submit(f, &o, "10");
	expect_json(fake_last(f->wire)->body,
		"{\"metadata\":{\"uid\":\"u\",\"resourceVersion\":\"10\",\"annotations\":{"
		"\"controller.kubernetes.io/pod-deletion-cost\":null,"
		"\"aliquot.dev/surged-by\":null}}}");
	tear_down(f);
}

Test(surge, the_label_and_the_drop_are_of_this_very_pod)
{
	struct fixture *f = set_up();
	struct surge_order o = base;
	o.task = SURGE_TASK_ADOPT;
	submit(f, &o, "9");
	expect_json(fake_last(f->wire)->body,
		"{\"metadata\":{\"uid\":\"u\",\"resourceVersion\":\"9\",\"labels\":{"
		"\"pod-template-hash\":\"7d\"}}}");
	fake_answer(fake_last(f->wire), 200, POD_ANSWER);
	o.task = SURGE_TASK_DROP;
	submit(f, &o, "9");
	expect_sent(f, WIRE_DELETE, PODS "/web-s");
	expect_json(fake_last(f->wire)->body,
		"{\"apiVersion\":\"v1\",\"kind\":\"DeleteOptions\",\"preconditions\":{\"uid\":"
		"\"u\",\"resourceVersion\":\"9\"}}");
	fake_answer(fake_last(f->wire), 200, POD_ANSWER);
	static const enum surge_task tasks[] = {
		SURGE_TASK_LOWER_COST, SURGE_TASK_RESTORE, SURGE_TASK_ADOPT, SURGE_TASK_DROP};
	for (size_t i = 0; i < COUNT_OF(tasks); i++) {
		o.task = tasks[i];
		submit(f, &o, NULL);
		step(f, 1);
		cr_expect_eq(last_heard(f)->fault.kind, FAULT_INVALID, "row %zu", i);
	}
	tear_down(f);
}

/* --- what is read --- */

#define DEPLOYMENT                                                                                 \
	"{\"metadata\":{\"uid\":\"d-uid\",\"generation\":2,\"annotations\":{\"deployment."         \
	"kubernetes.io/revision\":\"1\"}},\"spec\":{},\"status\":{\"observedGeneration\":2}}"
#define OWNED_SET                                                                                  \
	"{\"metadata\":{\"uid\":\"rs-uid\",\"generation\":3,\"annotations\":{\"deployment."        \
	"kubernetes.io/revision\":\"1\"},\"ownerReferences\":[{\"kind\":\"Deployment\",\"name\":"  \
	"\"web\",\"uid\":\"d-uid\",\"controller\":true}]},\"spec\":{\"replicas\":1,"               \
	"\"selector\":{\"matchLabels\":{\"pod-template-hash\":\"7d\"}}},\"status\":{"              \
	"\"replicas\":1}}"
#define EMPTY "{\"metadata\":{\"resourceVersion\":\"5\"},\"items\":[]}"

static const char *const asked[] = {
	"/apis/apps/v1/namespaces/team/replicasets/web-7d",
	"/apis/apps/v1/namespaces/team/deployments/web",
	"/api/v1/namespaces/team/pods/web-s",
	"/api/v1/namespaces/team/pods?labelSelector=pod-template-hash%3D7d",
	"/apis/apps/v1/namespaces/team/replicasets",
	"/api/v1/namespaces/team/replicationcontrollers",
	"/apis/apps/v1/namespaces/team/statefulsets",
	"/apis/apps/v1/namespaces/team/daemonsets",
	"/apis/batch/v1/namespaces/team/jobs",
	"/apis/autoscaling/v2/namespaces/team/horizontalpodautoscalers",
	"/apis/policy/v1/namespaces/team/poddisruptionbudgets",
};

static const char *answer_of(size_t i)
{
	static const char *const objects[] = {OWNED_SET, DEPLOYMENT, POD_ANSWER};
	return i < COUNT_OF(objects) ? objects[i] : EMPTY;
}

Test(surge, C25_all_is_read_one_after_the_other)
{
	struct fixture *f = set_up();
	struct surge_order o = base;
	o.task = SURGE_TASK_READ;
	submit(f, &o, NULL);
	for (size_t i = 0; i < COUNT_OF(asked); i++) {
		cr_expect_eq(f->count, 0);
		expect_sent(f, WIRE_GET, asked[i]);
		fake_answer(fake_last(f->wire), 200, answer_of(i));
	}
	cr_expect_eq(last_heard(f)->fault.kind, FAULT_NONE);
	cr_expect(last_heard(f)->surge_seen);
	cr_expect(last_heard(f)->surge.current);
	cr_expect(last_heard(f)->surge.live.budget_allows);
	tear_down(f);
}

Test(surge, a_look_is_three_reads)
{
	struct fixture *f = set_up();
	struct surge_order o = base;
	o.task = SURGE_TASK_LOOK;
	submit(f, &o, NULL);
	for (size_t i = 0; i < 3; i++) {
		expect_sent(f, WIRE_GET, asked[i]);
		fake_answer(fake_last(f->wire), 200, answer_of(i));
	}
	cr_expect(last_heard(f)->surge_seen);
	tear_down(f);
}

Test(surge, C25_what_cannot_be_read_allows_nothing)
{
	for (size_t bad = 0; bad < COUNT_OF(asked); bad++) {
		struct fixture *f = set_up();
		struct surge_order o = base;
		o.task = SURGE_TASK_READ;
		submit(f, &o, NULL);
		for (size_t i = 0; i < bad; i++) {
			fake_answer(fake_last(f->wire), 200, answer_of(i));
		}
		fake_answer(fake_last(f->wire), 403, "{}");
		cr_expect_eq(last_heard(f)->fault.kind, FAULT_DENIED, "row %zu", bad);
		cr_expect(!last_heard(f)->surge_seen);
		tear_down(f);
	}
}

Test(surge, U15_a_replica_set_that_is_gone_is_not_current)
{
	struct fixture *f = set_up();
	struct surge_order o = base;
	o.task = SURGE_TASK_LOOK;
	submit(f, &o, NULL);
	fake_answer(fake_last(f->wire), 404, "{}");
	fake_answer(fake_last(f->wire), 200, POD_ANSWER);
	cr_assert(last_heard(f)->surge_seen);
	cr_expect(!last_heard(f)->surge.current);
	tear_down(f);
}
