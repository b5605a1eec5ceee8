/* S2: what a GPURecommendation says in each state in which nothing is replaced, or nothing applied.
 * The JSON that was written is compared with golden/NAME.json, which test/api/test_describe.py
 * shows to kubectl. SCENARIO_WRITE=1 writes them anew. */
#include "scene.h"

#define HOUR 60
#define DAY  (24 * HOUR)
/* What is learnt in an hour. */
#define QUICK(mode, more)                                                                          \
	"{\"priority\":200,\"isDefault\":\"Fallback\",\"mode\":\"" mode "\",\"history\":{"         \
	"\"windowSeconds\":172800,\"requiredSeconds\":3600,\"halfLifeSeconds\":3600}" more "}"
#define UPDATE(more) ",\"update\":{\"scaleDownDelaySeconds\":3600" more "}"

static struct scene *learning(const char *policy, const struct scene_pod *pod)
{
	struct scene *s = scene_new(policy);
	scene_pod(s, pod);
	scene_use(s, pod->name, 20, 6144);
	return s;
}

static void learn(struct scene *s)
{
	scene_run(s, HOUR + 15);
}

static char *read_golden(const char *path)
{
	char *text = xcalloc(1, 65536);
	FILE *f = fopen(path, "re");
	if (f != NULL) {
		(void)!fread(text, 1, 65535, f);
		fclose(f);
	}
	return text;
}

/* The scene ends here. */
static void compare(struct scene *s, const char *name)
{
	char path[1024];
	snprintf(path, sizeof path, "%s/%s.json", SCENARIO_GOLDEN, name);
	const char *found = scene_pretty(s, WEB);
	cr_assert_not_null(found);
	if (getenv("SCENARIO_WRITE") != NULL) {
		FILE *f = fopen(path, "we");
		cr_assert_not_null(f, "%s", path);
		cr_assert_geq(fputs(found, f), 0);
		cr_assert_eq(fclose(f), 0);
	}
	char *wanted = read_golden(path);
	cr_expect(text_equals(wanted, found), "%s is not what was written now:\n%s", path, found);
	free(wanted);
	scene_free(s);
}

static const struct scene_pod plain = {.name = "web-1"};

Test(scenario, S2_learning)
{
	struct scene *s = learning(RT, &plain);
	scene_run(s, HOUR);
	compare(s, "learning");
}

Test(scenario, S2_nothing_is_known)
{
	struct scene *s = scene_new(RT);
	scene_pod(s, &plain);
	scene_run(s, 5);
	compare(s, "nothing-known");
}

Test(scenario, S2_stale)
{
	struct scene *s = learning(QUICK("Automate", UPDATE("")), &plain);
	learn(s);
	scene_silence(s, true);
	scene_run(s, 12);
	scene_expect_reason(s, WEB, "HistorySufficient", "False", "Stale");
	compare(s, "stale");
}

Test(scenario, S2_recommend_only)
{
	struct scene *s = learning(QUICK("Recommend", UPDATE("")), &plain);
	learn(s);
	scene_expect_reason(s, WEB, "Ready", "True", "Recommending");
	compare(s, "recommending");
}

Test(scenario, S2_several_gpus)
{
	struct scene *s = learning(
		QUICK("Automate", UPDATE("")), &(struct scene_pod){.name = "web-1", .gpus = 2});
	learn(s);
	scene_expect_reason(s, WEB, "UpdateBlocked", "True", "Unsupported");
	compare(s, "unsupported");
}

Test(scenario, S2_excluded)
{
	struct scene *s = learning(QUICK("Automate", UPDATE("")),
		&(struct scene_pod){.name = "web-1", .notes = "\"aliquot.dev/exclude\":\"true\""});
	learn(s);
	compare(s, "excluded");
}

Test(scenario, S2_policy_not_found)
{
	struct scene *s = learning(QUICK("Automate", UPDATE("")),
		&(struct scene_pod){.name = "web-1", .notes = "\"aliquot.dev/policy\":\"c\""});
	learn(s);
	compare(s, "policy-not-found");
}

Test(scenario, S2_the_last_pod_without_a_surge)
{
	struct scene *s = learning(QUICK("Automate", UPDATE("")), &plain);
	learn(s);
	scene_expect(s, WEB, "status.conditions.UpdateBlocked.status", "True");
	cr_expect_eq(scene_evictions(s), 0);
	compare(s, "last-ready");
}

Test(scenario, S2_not_evictable)
{
	struct scene *s = learning(QUICK("Automate", UPDATE("")),
		&(struct scene_pod){
			.name = "web-1", .notes = "\"karpenter.sh/do-not-disrupt\":\"true\""});
	learn(s);
	scene_expect_reason(s, WEB, "UpdateBlocked", "True", "NotEvictable");
	compare(s, "not-evictable");
}

Test(scenario, S2_outside_its_window)
{
	struct scene *s = learning(
		QUICK("Automate",
			UPDATE(",\"windows\":[{\"days\":[\"Mon\",\"Tue\"],\"start\":\"22:00\","
			       "\"end\":\"04:00\",\"timeZone\":\"UTC\"}]")),
		&plain);
	learn(s);
	scene_expect_reason(s, WEB, "UpdateBlocked", "True", "Window");
	compare(s, "window");
}

Test(scenario, S2_the_webhook_is_away)
{
	struct scene *s = learning(QUICK("Automate", UPDATE("")), &plain);
	scene_webhook_gone(s);
	learn(s);
	scene_expect_reason(s, WEB, "UpdateBlocked", "True", "WebhookUnhealthy");
	compare(s, "webhook");
}

/* Three replicas, each with a whole GPU, one hour and some later. */
static struct scene *three(const char *policy)
{
	static const char *const names[] = {"web-1", "web-2", "web-3"};
	struct scene *s = scene_new(policy);
	for (size_t i = 0; i < COUNT_OF(names); i++) {
		scene_pod(s, &(struct scene_pod){.name = names[i]});
		scene_use(s, names[i], 20, 6144);
	}
	return s;
}

#define BUDGET                                                                                     \
	"{\"metadata\":{\"namespace\":\"team\",\"name\":\"web-pdb\",\"uid\":\"b\","                \
	"\"resourceVersion\":\"1\",\"generation\":1},\"spec\":{\"minAvailable\":3,\"selector\":{"  \
	"\"matchLabels\":{\"pod-template-hash\":\"1234abcd\"}}},\"status\":{"                      \
	"\"observedGeneration\":1,\"disruptionsAllowed\":0,\"currentHealthy\":3,"                  \
	"\"desiredHealthy\":3,\"expectedPods\":3}}"

Test(scenario, S2_a_disruption_budget)
{
	struct scene *s = three(QUICK("Automate", UPDATE("")));
	scene_budget(s, BUDGET);
	learn(s);
	scene_expect_reason(s, WEB, "UpdateBlocked", "True", "PDB");
	cr_expect_eq(scene_evictions(s), 0);
	compare(s, "pdb");
}

Test(scenario, S2_too_few_replicas)
{
	struct scene *s = three(QUICK("Automate", UPDATE(",\"minReplicas\":4")));
	learn(s);
	scene_expect_reason(s, WEB, "UpdateBlocked", "True", "MinReplicas");
	compare(s, "min-replicas");
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
	struct scene *s = learning(QUICK("Automate", UPDATE("")), &plain);
	scene_scaler(s, SCALER("DCGM_FI_DEV_GPU_UTIL"));
	learn(s);
	compare(s, "scaler-on-gpu");
}

#define OOM "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB"

Test(scenario, S2_healing)
{
	struct scene *s = learning(QUICK("Automate", UPDATE("")), &plain);
	learn(s);
	scene_pod_gone(s, "web-1");
	scene_pod(s, &(struct scene_pod){.name = "web-2", .milli = 300, .mib = 7168});
	scene_use(s, "web-2", 20, 6144);
	scene_resizes(s, true);
	scene_run(s, 3);
	scene_end(s, "web-2", 1, OOM);
	scene_run(s, 3);
	scene_expect_reason(s, WEB, "Healing", "True", "MemoryPressure");
	compare(s, "healing");
}
