/* Whose a pod is, and what of its use is taken. */
#include "bed.h"
#include "tracking/workload_table.h"

#include "sizer/workload_pods.h"

#define WEB "deployment-web"

static struct sized_workload *web(struct bed *b)
{
	return sized_find(&b->sizer->tracking, "team", WEB);
}

static bool use(struct bed *b, const char *pod, const char *container, int percent)
{
	struct metered_figure f = {.container = container,
		.compute = percent * (METERED_FULL / 100),
		.mem_bytes = INT64_C(1) << 31,
		.at_ms = b->now.policy_ms};
	struct sizer_use u = {
		.uid = pod, .source = METERED_AGENT, .figures = &f, .figure_count = 1};
	return sizer_take(b->sizer, &u, b->now.policy_ms);
}

Test(pods, one_that_nobody_knows_is_not_taken)
{
	struct bed *b = bed_new();
	cr_expect(!use(b, "web-1", "main", 20));
	bed_pod(b, "web", "web-1", 1);
	bed_turn(b);
	cr_expect(use(b, "web-1", "main", 20));
	bed_pod_gone(b, "web-1");
	bed_turn(b);
	cr_expect(!use(b, "web-1", "main", 20));
	cr_expect_eq(b->sizer->tracking.pods.count, 0);
	bed_free(b);
}

Test(pods, a_figure_without_a_container_is_of_the_one_that_has_the_gpu)
{
	struct bed *b = bed_new();
	bed_pod(b, "web", "web-1", 1);
	bed_turn(b);
	bed_turn(b);
	cr_expect(use(b, "web-1", "", 20));
	bed_pass(b, MINUTE_MS);
	bed_turn(b);
	cr_expect_eq(web(b)->containers.items[0]->facts.samples, 1);
	cr_expect(use(b, "web-1", "", 20));
	bed_turn(b);
	cr_expect_eq(web(b)->containers.count, 1);
	bed_free(b);
}

/* On several devices a share is on each: the fullest counts. */
Test(pods, r16_of_several_devices_the_larger_figure_counts)
{
	struct bed *b = bed_new();
	bed_pod(b, "web", "web-1", 2);
	bed_turn(b);
	bed_turn(b);
	struct metered_figure f[] = {
		{.container = "main", .compute = 10000, .mem_bytes = INT64_C(4) << 30},
		{.container = "main", .compute = 40000, .mem_bytes = INT64_C(2) << 30}};
	for (int i = 0; i < 10; i++) {
		f[0].at_ms = f[1].at_ms = b->now.policy_ms;
		struct sizer_use u = {
			.uid = "web-1", .source = METERED_AGENT, .figures = f, .figure_count = 2};
		cr_assert(sizer_take(b->sizer, &u, b->now.policy_ms));
		bed_pass(b, MINUTE_MS - BED_ROUND);
		bed_turn(b);
	}
	const struct recommended_usage *usage = &bed_told(b, WEB)->containers[0].usage;
	cr_expect_eq(usage->target_percent, 41);
	cr_expect_eq(usage->peak_mib, 4096);
	cr_expect_str_eq(bed_reason(b, WEB, RECOMMENDATION_UPDATE_BLOCKED), "Unsupported");
	cr_expect_str_eq(bed_reason(b, WEB, RECOMMENDATION_READY), "Unsupported");
	bed_free(b);
}

/* What a sidecar uses it may use again, and it counts for the pod; a container of its own it is
 * not.
 */
Test(pods, sidecars_are_part_of_the_pod)
{
	struct bed *b = bed_new();
	bed_pod(b, "web", "web-1", 1);
	bed_turn(b);
	bed_turn(b);
	struct metered_figure f[] = {
		{.container = "side", .compute = 10000, .mem_bytes = INT64_C(1) << 30},
		{.container = "main", .compute = 20000, .mem_bytes = INT64_C(4) << 30}};
	struct sizer_use u = {
		.uid = "web-1", .source = METERED_AGENT, .figures = f, .figure_count = 2};
	for (int i = 0; i < 40; i++) {
		f[0].at_ms = f[1].at_ms = b->now.policy_ms;
		u.figure_count = i == 20 ? 1 : 2; /* alone it says nothing of the pod */
		cr_assert(sizer_take(b->sizer, &u, b->now.policy_ms));
		bed_pass(b, MINUTE_MS - BED_ROUND);
		bed_turn(b);
	}
	const struct recommendation *r = bed_told(b, WEB);
	cr_expect_eq(r->container_count, 1);
	cr_expect_str_eq(r->containers[0].name, "main");
	cr_expect_eq(r->containers[0].usage.peak_mib, 5120);
	cr_expect_eq(r->containers[0].usage.target_percent, 31);
	cr_expect_eq(web(b)->containers.count, 1);
	bed_free(b);
}

Test(pods, a_bare_pod_is_nobodys)
{
	struct bed *b = bed_new();
	struct container main = {.name = "main", .gpus = 1};
	struct pod p = {.ns = "team",
		.name = "bare",
		.uid = "bare",
		.resource_version = "1",
		.node = "node",
		.phase = POD_RUNNING,
		.containers = &main,
		.container_count = 1,
		.gpus = 1};
	struct change c = {.kind = KIND_POD, .pod = &p};
	bed_world(b, &c);
	bed_turn(b);
	cr_expect_eq(b->sizer->tracking.pods.count, 0);
	cr_expect_eq(b->creates, 0);
	bed_free(b);
}

Test(pods, what_they_have_is_told)
{
	struct bed *b = bed_new();
	bed_pod(b, "web", "whole", 1);
	bed_tenant(b, "web", "t1", 300, 7168);
	bed_tenant(b, "web", "t2", 400, 8192);
	bed_turn(b);
	bed_turn(b);
	const struct recommendation *r = bed_told(b, WEB);
	cr_expect_eq(r->pods.total, 3);
	cr_expect_eq(r->containers[0].allocated.milli, 1000);
	cr_expect_eq(r->containers[0].allocated_pods, 3);
	cr_expect_eq(r->saved_milli, 1300);
	bed_pod_gone(b, "whole");
	bed_pod_gone(b, "t1");
	bed_pod_gone(b, "t2");
	bed_run(b, NULL, 0, 0, 3);
	r = bed_told(b, WEB);
	cr_expect_eq(r->pods.total, 0, "nobody is there any more");
	cr_expect_eq(r->containers[0].allocated_pods, 0);
	bed_free(b);
}

struct above {
	enum owner_answer answer;
	struct owner owner;
	uint64_t version;
};

static enum owner_answer look_up(
	void *data, const char *ns, const struct owner_top *object, struct owner *ret_owner)
{
	const struct above *a = data;
	(void)ns;
	*ret_owner = a->owner;
	return text_equals(object->kind, "ReplicaSet") ? a->answer : OWNER_NONE;
}

static uint64_t version(void *data)
{
	return ((const struct above *)data)->version;
}

/* Else a GPURecommendation would be made for what is not its workload. */
Test(pods, one_whose_owners_are_being_asked_for_waits)
{
	struct above above = {OWNER_LATER, {0}, 0};
	const struct owner_port port = {&above, look_up, version};
	struct bed *b = bed_new();
	b->sizer->tracking.config.owners = &port;
	bed_pod(b, "web", "web-1", 1);
	bed_turn(b);
	cr_expect_eq(b->sizer->tracking.pods.count, 0);
	cr_expect_eq(b->creates, 0);
	above.answer = OWNER_ABOVE;
	above.owner = (struct owner){"apps/v1", "Deployment", "other", "u"};
	bed_turn(b);
	bed_turn(b);
	cr_expect_not_null(bed_object(b, "deployment-other"));
	cr_expect_null(bed_object(b, WEB));
	above.answer = OWNER_LATER;
	above.version++;
	bed_turn(b);
	cr_expect_eq(b->sizer->tracking.pods.count, 1, "it stays where it is meanwhile");
	above.answer = OWNER_UNKNOWN;
	bed_turn(b);
	bed_turn(b);
	cr_expect_not_null(bed_object(b, WEB), "and then its name tells");
	bed_free(b);
}

Test(pods, r16_two_containers_with_gpus_are_named_as_such)
{
	struct bed *b = bed_new();
	struct pair labels[] = {{"pod-template-hash", "1234abcd"}};
	struct container two[] = {{.name = "a", .gpus = 1}, {.name = "b", .gpus = 1}};
	struct pod p = {.ns = "team",
		.name = "web-1",
		.uid = "web-1",
		.resource_version = "1",
		.node = "node",
		.phase = POD_RUNNING,
		.created_ms = b->now.policy_ms,
		.labels = {labels, 1},
		.owner = {"apps/v1", "ReplicaSet", "web-1234abcd", "rs"},
		.containers = two,
		.container_count = 2,
		.gpus = 2};
	struct change c = {.kind = KIND_POD, .pod = &p};
	bed_world(b, &c);
	bed_turn(b);
	bed_turn(b);
	const struct recommended_condition *blocked =
		&bed_told(b, WEB)->conditions[RECOMMENDATION_UPDATE_BLOCKED];
	cr_expect_str_eq(blocked->reason, "Unsupported");
	cr_expect_not_null(strstr(blocked->message, "Several containers"), "%s", blocked->message);
	bed_pod_gone(b, "web-1");
	bed_pod(b, "web", "web-2", 2);
	bed_turn(b);
	bed_turn(b);
	blocked = &bed_told(b, WEB)->conditions[RECOMMENDATION_UPDATE_BLOCKED];
	cr_expect_not_null(strstr(blocked->message, "several GPUs"), "%s", blocked->message);
	bed_free(b);
}
