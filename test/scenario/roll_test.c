/* U: when running pods are replaced. Each eviction is refused here, as by a budget that nobody
 * knows of. */
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
	scene_expect(s, "cronjob-nightly", "status.containers.main.target.computePercent", "30");
	cr_expect_eq(scene_objects(s), 1);
	cr_expect_eq(scene_evictions(s), 0);
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
