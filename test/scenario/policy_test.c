/* O and G: which policy, what is said of it, and how often. */
#include "scene.h"

#define HOUR 60
#define DAY  (24 * HOUR)

static struct scene *scene_of(const struct scene_pod *pod)
{
	struct scene *s = scene_new(RT);
	scene_pod(s, pod);
	scene_use(s, pod->name, 20, 6144);
	return s;
}

Test(scenario, O1_the_higher_priority_until_it_is_gone)
{
	struct scene *s = scene_of(&(struct scene_pod){.name = "web-1"});
	scene_policy(s, "a", "{\"priority\":100,\"selector\":{},\"mode\":\"Automate\"}");
	scene_policy(s, "b", "{\"priority\":200,\"selector\":{},\"mode\":\"Automate\"}");
	scene_run(s, 3);
	scene_expect(s, WEB, "status.policy.name", "b");
	scene_expect(s, WEB, "status.policy.source", "Selector");
	scene_policy_gone(s, "b");
	scene_run(s, 1);
	scene_expect(s, WEB, "status.policy.name", "a");
	scene_free(s);
}

Test(scenario, O3_a_policy_that_is_not_there_is_not_replaced)
{
	struct scene *s = scene_of(
		&(struct scene_pod){.name = "web-1", .notes = "\"aliquot.dev/policy\":\"c\""});
	scene_run(s, DAY + 2);
	scene_expect_reason(s, WEB, "Ready", "False", "PolicyNotFound");
	scene_policy(s, "c", "{\"priority\":1,\"selector\":{},\"mode\":\"Automate\"}");
	scene_run(s, 2);
	scene_expect(s, WEB, "status.policy.name", "c");
	scene_expect(s, WEB, "status.policy.source", "Annotation");
	scene_free(s);
}

Test(scenario, O4_who_is_excluded_is_told_so)
{
	struct scene *s = scene_new(
		RT_WITH(",\"update\":{\"replacement\":\"Evict\",\"minPodAgeSeconds\":0}"));
	struct scene_pod pod = {.name = "web-1", .notes = "\"aliquot.dev/exclude\":\"true\""};
	scene_pod(s, &pod);
	scene_use(s, "web-1", 20, 6144);
	scene_run(s, DAY + HOUR);
	scene_expect_reason(s, WEB, "Ready", "False", "Excluded");
	cr_expect_eq(scene_evictions(s), 0);
	pod.notes = NULL;
	scene_pod(s, &pod);
	scene_run(s, HOUR);
	cr_expect_gt(scene_evictions(s), 0, "it was kept by that alone");
	scene_free(s);
}

Test(scenario, O6_another_mode_acts_at_the_next_loop)
{
	struct scene *s =
		scene_new("{\"priority\":200,\"isDefault\":\"Fallback\",\"mode\":\"Recommend\"}");
	scene_pod(s, &(struct scene_pod){.name = "web-1", .milli = 500, .mib = 10240});
	scene_use(s, "web-1", 20, 6144);
	scene_run(s, DAY + 2);
	scene_expect_target(s, "30", "7Gi");
	scene_expect_reason(s, WEB, "Ready", "True", "Recommending");
	cr_expect_eq(scene_wishes(s), 0);
	scene_policy(s, "rt", RT);
	scene_run(s, 1);
	scene_expect_reason(s, WEB, "Ready", "True", "Ready");
	cr_expect_eq(scene_wishes(s), 1);
	scene_free(s);
}

Test(scenario, O7_a_pytorch_job_trains)
{
	struct scene *s = scene_new(NULL);
	scene_pod(s, &(struct scene_pod){.name = "fit-worker-0",
			     .owner_api = "kubeflow.org/v1",
			     .owner_kind = "PyTorchJob",
			     .owner = "fit"});
	scene_use(s, "fit-worker-0", 20, 6144);
	scene_run(s, 3);
	scene_expect(s, "pytorchjob-fit", "status.workloadType", "Training");
	scene_expect(s, "pytorchjob-fit", "status.policy.name", "builtin-Training");
	scene_expect(s, "pytorchjob-fit", "status.policy.source", "Detected");
	scene_free(s);
}

/* One policy for all of them, with what it does not say. */
Test(scenario, O7_what_a_policy_does_not_say_is_that_of_the_type)
{
	struct scene *s =
		scene_new(RT_WITH(",\"selector\":{},\"history\":{\"requiredSeconds\":3600},"
				  "\"update\":{\"scaleDownDelaySeconds\":0}"));
	struct scene_pod fit = {.name = "fit-worker-0",
		.owner_api = "kubeflow.org/v1",
		.owner_kind = "PyTorchJob",
		.owner = "fit",
		.milli = 600,
		.mib = 20480};
	struct scene_pod book = {.name = "book-0",
		.owner_api = "kubeflow.org/v1",
		.owner_kind = "Notebook",
		.owner = "book"};
	scene_resizes(s, true);
	scene_pod(s, &fit);
	scene_use(s, fit.name, 10, 6144);
	scene_pod(s, &book);
	scene_use(s, book.name, 70, 6144);
	scene_run(s, 3 * HOUR);
	scene_expect(s, "pytorchjob-fit", "status.policy.name", "rt");
	scene_expect_reason(s, "pytorchjob-fit", "HistorySufficient", "True", "Sufficient");
	scene_expect(s, "pytorchjob-fit", "status.containers.main.target.computePercent", "25");
	scene_expect(s, "pytorchjob-fit", "status.containers.main.allocated.computePercent", "60");
	cr_expect_eq(scene_wishes(s), 0, "a training that runs is not shrunk");
	/* Headroom of a fifth and not of a quarter; and no maximum, since nobody wrote one. */
	scene_expect(s, "notebook-book", "status.containers.main.cappedBy", "None");
	scene_expect(
		s, "notebook-book", "status.containers.main.uncappedTarget.computePercent", "90");
	scene_free(s);
}

Test(scenario, O8_an_edited_policy_is_shown_within_a_minute)
{
	struct scene *s = scene_of(&(struct scene_pod){.name = "web-1"});
	scene_pod(s, &(struct scene_pod){.name = "api-1", .owner = "api-1234abcd"});
	scene_run(s, 3);
	scene_expect(s, WEB, "status.policy.generation", "1");
	scene_policy(s, "rt", RT);
	scene_policy(s, "rt", RT_WITH(",\"compute\":{\"headroomPercent\":30}"));
	scene_run(s, 1);
	scene_expect(s, WEB, "status.policy.generation", "3");
	scene_expect(s, "deployment-api", "status.policy.generation", "3");
	scene_free(s);
}

#define CRON "workflows.argoproj.io/cron-workflow"
#define NIGHTLY                                                                                    \
	"{\"state\":\"Enabled\",\"weight\":%d,\"rules\":[{\"labels\":[{\"key\":\"" CRON "\"}]}],"  \
	"\"keyFrom\":\"LabelValue\",\"keyName\":\"" CRON "\",\"retentionSeconds\":172800}"

static void group_of(struct scene *s, const char *name, int weight)
{
	char spec[512];
	snprintf(spec, sizeof spec, NIGHTLY, weight);
	scene_group(s, name, spec);
}

/* Twelve pods of three Workflows. */
static void workflows(struct scene *s, char names[12][16])
{
	static const char *const owners[] = {"nightly-1", "nightly-2", "nightly-3"};
	for (int i = 0; i < 12; i++) {
		snprintf(names[i], sizeof names[i], "step-%d", i);
		scene_pod(s, &(struct scene_pod){.name = names[i],
				     .owner_api = "argoproj.io/v1alpha1",
				     .owner_kind = "Workflow",
				     .owner = owners[i % 3],
				     .labels = "\"" CRON "\":\"nightly\""});
		scene_use(s, names[i], 20, 6144);
	}
}

Test(scenario, O9_twelve_pods_of_three_runs_are_one_workload)
{
	char names[12][16];
	struct scene *s = scene_new(RT);
	group_of(s, "cron", 0);
	workflows(s, names);
	scene_run(s, 5);
	cr_assert_eq(scene_objects(s), 1);
	cr_assert(scene_has(s, "gpuworkloadgroup-cron.nightly"));
	scene_expect(s, "gpuworkloadgroup-cron.nightly", "status.pods.total", "12");
	scene_expect(s, "gpuworkloadgroup-cron.nightly", "spec.targetRef.kind", "GPUWorkloadGroup");
	for (int i = 0; i < 12; i++) {
		scene_pod_gone(s, names[i]);
	}
	scene_run(s, DAY);
	workflows(s, names);
	scene_run(s, 2);
	cr_expect_gt(
		strtoll(scene_text(s, "gpuworkloadgroup-cron.nightly", "status.history.samples"),
			NULL, 10),
		50, "what it used is known for as long as the group says");
	scene_free(s);
}

/* Retained for two days after the last pod, and gone then. */
Test(scenario, O9_after_its_retention_it_is_gone)
{
	char names[12][16];
	struct scene *s = scene_new(RT);
	group_of(s, "cron", 0);
	workflows(s, names);
	scene_run(s, 5);
	for (int i = 0; i < 12; i++) {
		scene_pod_gone(s, names[i]);
	}
	scene_run(s, 2 * DAY - 10);
	cr_assert(scene_has(s, "gpuworkloadgroup-cron.nightly"));
	scene_run(s, 30);
	cr_expect_not(scene_has(s, "gpuworkloadgroup-cron.nightly"));
	cr_expect_eq(scene_objects(s), 0);
	scene_free(s);
}

Test(scenario, O11_the_higher_weight_wins)
{
	char names[12][16];
	struct scene *s = scene_new(RT);
	group_of(s, "a", 0);
	group_of(s, "z", 10);
	workflows(s, names);
	scene_run(s, 3);
	cr_expect_eq(scene_objects(s), 1);
	cr_expect(scene_has(s, "gpuworkloadgroup-z.nightly"));
	scene_free(s);
}

Test(scenario, G5_figures_alone_are_written_once_a_minute)
{
	struct scene *s = scene_of(&(struct scene_pod){.name = "web-1"});
	scene_run(s, DAY + 2);
	int before = scene_writes(s, WEB);
	scene_steps(s, 120, 5000);
	cr_expect_leq(scene_writes(s, WEB) - before, 10);
	cr_expect_geq(scene_writes(s, WEB) - before, 5);
	scene_free(s);
}
