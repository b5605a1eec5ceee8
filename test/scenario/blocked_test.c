/* S2: what a GPURecommendation says in each state in which nothing is replaced, or nothing applied.
 * The JSON that was written is compared with golden/NAME.json, which test/api/test_describe.py
 * shows to kubectl. */
#include "quick.h"

Test(scenario, S2_learning)
{
	struct scene *s = quick_one(RT, &quick_plain);
	scene_run(s, HOUR);
	scene_golden(s, WEB, "learning");
}

Test(scenario, S2_nothing_is_known)
{
	struct scene *s = scene_new(RT);
	scene_pod(s, &quick_plain);
	scene_run(s, 5);
	scene_golden(s, WEB, "nothing-known");
}

Test(scenario, S2_stale)
{
	struct scene *s = quick_one(QUICK("Automate", UPDATE("")), &quick_plain);
	quick_learn(s);
	scene_silence(s, true);
	scene_run(s, 12);
	scene_expect_reason(s, WEB, "HistorySufficient", "False", "Stale");
	scene_golden(s, WEB, "stale");
}

Test(scenario, S2_recommend_only)
{
	struct scene *s = quick_one(QUICK("Recommend", UPDATE("")), &quick_plain);
	quick_learn(s);
	scene_expect_reason(s, WEB, "Ready", "True", "Recommending");
	scene_golden(s, WEB, "recommending");
}

Test(scenario, S2_several_gpus)
{
	struct scene *s = quick_one(
		QUICK("Automate", UPDATE("")), &(struct scene_pod){.name = "web-1", .gpus = 2});
	quick_learn(s);
	scene_expect_reason(s, WEB, "UpdateBlocked", "True", "Unsupported");
	scene_golden(s, WEB, "unsupported");
}

Test(scenario, S2_excluded)
{
	struct scene *s = quick_one(QUICK("Automate", UPDATE("")),
		&(struct scene_pod){.name = "web-1", .notes = "\"aliquot.dev/exclude\":\"true\""});
	quick_learn(s);
	scene_golden(s, WEB, "excluded");
}

Test(scenario, S2_policy_not_found)
{
	struct scene *s = quick_one(QUICK("Automate", UPDATE("")),
		&(struct scene_pod){.name = "web-1", .notes = "\"aliquot.dev/policy\":\"c\""});
	quick_learn(s);
	scene_golden(s, WEB, "policy-not-found");
}

Test(scenario, S2_the_last_pod_without_a_surge)
{
	struct scene *s = quick_one(QUICK("Automate", UPDATE("")), &quick_plain);
	quick_learn(s);
	scene_expect(s, WEB, "status.conditions.UpdateBlocked.status", "True");
	cr_expect_eq(scene_evictions(s), 0);
	scene_golden(s, WEB, "last-ready");
}

Test(scenario, S2_not_evictable)
{
	struct scene *s = quick_one(QUICK("Automate", UPDATE("")),
		&(struct scene_pod){
			.name = "web-1", .notes = "\"karpenter.sh/do-not-disrupt\":\"true\""});
	quick_learn(s);
	scene_expect_reason(s, WEB, "UpdateBlocked", "True", "NotEvictable");
	scene_golden(s, WEB, "not-evictable");
}

Test(scenario, S2_outside_its_window)
{
	struct scene *s = quick_one(
		QUICK("Automate",
			UPDATE(",\"windows\":[{\"days\":[\"Mon\",\"Tue\"],\"start\":\"22:00\","
			       "\"end\":\"04:00\",\"timeZone\":\"UTC\"}]")),
		&quick_plain);
	quick_learn(s);
	scene_expect_reason(s, WEB, "UpdateBlocked", "True", "Window");
	scene_golden(s, WEB, "window");
}

Test(scenario, S2_the_webhook_is_away)
{
	struct scene *s = quick_one(QUICK("Automate", UPDATE("")), &quick_plain);
	scene_webhook_gone(s);
	quick_learn(s);
	scene_expect_reason(s, WEB, "UpdateBlocked", "True", "WebhookUnhealthy");
	scene_golden(s, WEB, "webhook");
}

/* It would come back whole. */
Test(scenario, S2_conversion_is_closed)
{
	struct scene *s = quick_three(QUICK("Automate", UPDATE("")));
	scene_closed(s);
	quick_learn(s);
	scene_expect_reason(s, WEB, "UpdateBlocked", "True", "ConversionClosed");
	cr_expect_eq(scene_evictions(s), 0);
	scene_golden(s, WEB, "conversion-closed");
}

#define BUDGET                                                                                     \
	"{\"metadata\":{\"namespace\":\"team\",\"name\":\"web-pdb\",\"uid\":\"b\","                \
	"\"resourceVersion\":\"1\",\"generation\":1},\"spec\":{\"minAvailable\":3,\"selector\":{"  \
	"\"matchLabels\":{\"pod-template-hash\":\"1234abcd\"}}},\"status\":{"                      \
	"\"observedGeneration\":1,\"disruptionsAllowed\":0,\"currentHealthy\":3,"                  \
	"\"desiredHealthy\":3,\"expectedPods\":3}}"

Test(scenario, S2_a_disruption_budget)
{
	struct scene *s = quick_three(QUICK("Automate", UPDATE("")));
	scene_budget(s, BUDGET);
	quick_learn(s);
	scene_expect_reason(s, WEB, "UpdateBlocked", "True", "PDB");
	cr_expect_eq(scene_evictions(s), 0);
	scene_golden(s, WEB, "pdb");
}

Test(scenario, S2_too_few_replicas)
{
	struct scene *s = quick_three(QUICK("Automate", UPDATE(",\"minReplicas\":4")));
	quick_learn(s);
	scene_expect_reason(s, WEB, "UpdateBlocked", "True", "MinReplicas");
	scene_golden(s, WEB, "min-replicas");
}

#define SCALER(metric)                                                                             \
	"{\"metadata\":{\"namespace\":\"team\",\"name\":\"web-hpa\",\"uid\":\"h\","                \
	"\"resourceVersion\":\"1\"},\"spec\":{\"scaleTargetRef\":{\"apiVersion\":\"apps/v1\","     \
	"\"kind\":\"Deployment\",\"name\":\"web\"},\"minReplicas\":1,\"maxReplicas\":5,"           \
	"\"metrics\":[{\"type\":\"Pods\",\"pods\":{\"metric\":{\"name\":\"" metric                 \
	"\"},\"target\":{\"type\":\"AverageValue\",\"averageValue\":\"50\"}}}]},\"status\":{"      \
	"\"currentReplicas\":1,\"desiredReplicas\":1}}"

Test(scenario, S2_a_scaler_on_the_gpu)
{
	struct scene *s = quick_one(QUICK("Automate", UPDATE("")), &quick_plain);
	scene_scaler(s, SCALER("DCGM_FI_DEV_GPU_UTIL"));
	quick_learn(s);
	scene_golden(s, WEB, "scaler-on-gpu");
}

#define OOM "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB"

Test(scenario, S2_healing)
{
	struct scene *s = quick_one(QUICK("Automate", UPDATE("")), &quick_plain);
	quick_learn(s);
	scene_pod_gone(s, "web-1");
	scene_pod(s, &(struct scene_pod){.name = "web-2", .milli = 300, .mib = 7168});
	scene_use(s, "web-2", 20, 6144);
	scene_resizes(s, true);
	scene_run(s, 3);
	scene_end(s, "web-2", 1, OOM);
	scene_run(s, 3);
	scene_expect_reason(s, WEB, "Healing", "True", "MemoryPressure");
	scene_golden(s, WEB, "healing");
}
