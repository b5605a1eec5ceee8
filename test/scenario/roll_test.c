/* U: when running pods are replaced, and what ends by itself. Each eviction is refused here, as by
 * a budget that nobody knows of. */
#include "scene.h"

#define HOUR 60
#define DAY  (24 * HOUR)
/* What is learnt in an hour. */
#define QUICK                                                                                      \
	RT_WITH(",\"selector\":{},\"history\":{\"windowSeconds\":172800,\"requiredSeconds\":3600," \
		"\"halfLifeSeconds\":3600},\"update\":{\"scaleDownDelaySeconds\":3600}")

/* Three replicas, each on a whole GPU. */
static struct scene *three(void)
{
	static const char *const names[] = {"web-1", "web-2", "web-3"};
	struct scene *s = scene_new(QUICK);
	for (size_t i = 0; i < COUNT_OF(names); i++) {
		scene_pod(s, &(struct scene_pod){.name = names[i]});
		scene_use(s, names[i], 20, 6144);
	}
	return s;
}

Test(scenario, U2_a_refused_eviction_is_tried_ever_later)
{
	struct scene *s = three();
	scene_run(s, HOUR - 2);
	cr_expect_eq(scene_evictions(s), 0, "nothing is known yet");
	scene_steps(s, 30 * 12, 5000);
	int first = scene_evictions(s);
	scene_expect_reason(s, WEB, "UpdateBlocked", "True", "PDB");
	cr_expect(first >= 3 && first <= 8, "%d in half an hour", first);
	scene_steps(s, HOUR * 12, 5000);
	int second = scene_evictions(s) - first;
	cr_expect(second >= 4 && second <= 7, "%d in an hour, each 10 minutes", second);
	scene_expect(s, WEB, "status.pods.total", "3");
	scene_free(s);
}

Test(scenario, U8_a_job_that_runs_is_left_alone_and_its_cronjob_is_sized)
{
	struct scene *s = scene_new(QUICK);
	scene_pod(s, &(struct scene_pod){.name = "nightly-29000001-abcde",
			     .owner_api = "batch/v1",
			     .owner_kind = "Job",
			     .owner = "nightly-29000001"});
	scene_use(s, "nightly-29000001-abcde", 20, 6144);
	scene_run(s, 3 * HOUR);
	cr_assert(scene_has(s, "cronjob-nightly"));
	scene_expect(s, "cronjob-nightly", "status.containers.main.target.computePercent", "25");
	cr_expect_eq(scene_objects(s), 1);
	cr_expect_eq(scene_evictions(s), 0);
	scene_free(s);
}

/* As builtin-Batch says; `number` tells the runs apart. */
static void run_of_nightly(struct scene *s, int number, int64_t hours)
{
	char name[64], owner[64];
	snprintf(name, sizeof name, "nightly-2900000%d-abcde", number);
	snprintf(owner, sizeof owner, "nightly-2900000%d", number);
	struct scene_pod pod = {.name = name,
		.owner_api = "batch/v1",
		.owner_kind = "Job",
		.owner = owner,
		.notes = "\"aliquot.dev/mode\":\"Automate\""};
	scene_pod(s, &pod);
	scene_use(s, name, 20, 6144);
	scene_run(s, hours * HOUR);
	pod.succeeded = true;
	scene_pod(s, &pod);
	scene_run(s, 2);
	scene_pod_gone(s, name);
}

/* Of six hours each: the first tells all that is asked for, the built-in wants one. */
Test(scenario, U8_a_cronjob_is_sized_by_its_runs)
{
	struct scene *s = scene_new(NULL);
	run_of_nightly(s, 1, 6);
	scene_expect(s, "cronjob-nightly", "status.policy.name", "builtin-Batch");
	scene_expect_reason(s, "cronjob-nightly", "HistorySufficient", "True", "Sufficient");
	scene_expect_reason(s, "cronjob-nightly", "Ready", "True", "Ready");
	scene_expect(s, "cronjob-nightly", "status.containers.main.target.computePercent", "25");
	run_of_nightly(s, 2, 6);
	scene_restart(s);
	run_of_nightly(s, 3, 6);
	scene_expect_reason(s, "cronjob-nightly", "HistorySufficient", "True", "Sufficient");
	scene_free(s);
}

Test(scenario, U8_a_build_is_sized_by_three_runs)
{
	struct scene *s = scene_new(NULL);
	const char *object = "autoscalingrunnerset-gpu-65eed891";
	for (int i = 1; i <= 3; i++) {
		char name[32];
		snprintf(name, sizeof name, "gpu-%d", i);
		scene_pod(s, &(struct scene_pod){.name = name,
				     .owner_api = "actions.github.com/v1alpha1",
				     .owner_kind = "EphemeralRunner",
				     .owner = name,
				     .labels = "\"actions.github.com/scale-set-name\":\"gpu\""});
		scene_use(s, name, 20, 6144);
		scene_run(s, 30);
		scene_expect_reason(s, object, "HistorySufficient", "False", "Learning");
		scene_pod_gone(s, name);
		scene_run(s, 3);
		const char *said =
			scene_text(s, object, "status.conditions.HistorySufficient.message");
		cr_expect(i != 2 || strstr(text_or(said, ""), "2 of 3 runs") != NULL, "%s", said);
	}
	scene_expect(s, object, "status.policy.name", "builtin-Build");
	scene_expect_reason(s, object, "HistorySufficient", "True", "Sufficient");
	scene_free(s);
}

Test(scenario, U11_without_a_webhook_nobody_is_evicted)
{
	struct scene *s = three();
	scene_webhook_gone(s);
	scene_run(s, 3 * HOUR);
	scene_expect_reason(s, WEB, "UpdateBlocked", "True", "WebhookUnhealthy");
	cr_expect_eq(scene_evictions(s), 0);
	scene_free(s);
}

Test(scenario, U13_who_leads_anew_looks_around_before_anybody_goes)
{
	struct scene *s = three();
	scene_run(s, HOUR + HOUR / 2);
	int before = scene_evictions(s);
	cr_assert_gt(before, 0);
	scene_leads(s, false);
	scene_run(s, HOUR);
	cr_expect_eq(scene_evictions(s), before);
	scene_leads(s, true);
	scene_steps(s, 23, 5000);
	cr_expect_eq(scene_evictions(s), before, "in the first two minutes");
	scene_run(s, 12);
	cr_expect_gt(scene_evictions(s), before);
	scene_free(s);
}
