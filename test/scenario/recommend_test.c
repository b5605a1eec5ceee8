/* R: from what pods use to what their workload should have. Memory is shown as the API server's own
 * quantities are: 70.25 GiB are 71936Mi. */
#include "scene.h"

#define HOUR	 60
#define DAY	 (24 * HOUR)
#define TARGET	 "status.containers.main.target.computePercent"
#define MEMORY	 "status.containers.main.target.memory"
#define UNCAPPED "status.containers.main.uncappedTarget."

static struct scene *steady_under(const char *policy, int percent, int mib)
{
	struct scene *s = scene_new(policy);
	scene_pod(s, &(struct scene_pod){.name = "web-1"});
	scene_use(s, "web-1", percent, mib);
	return s;
}

static struct scene *steady(int percent, int mib)
{
	return steady_under(RT, percent, mib);
}

/* The only pod goes as soon as it may; each eviction is refused, and tried again. */
#define EAGER RT_WITH(",\"update\":{\"replacement\":\"Evict\",\"minPodAgeSeconds\":0}")

/* A day of a fifth of the GPU and 6 GiB, applied. */
static struct scene *learnt(void)
{
	struct scene *s = steady(20, 6144);
	scene_run(s, DAY + 2);
	scene_expect_target(s, "30", "7Gi");
	scene_expect_reason(s, WEB, "Ready", "True", "Ready");
	return s;
}

Test(scenario, R1_a_day_of_a_fifth_and_six_gib)
{
	struct scene *s = learnt();
	scene_expect_reason(s, WEB, "HistorySufficient", "True", "Sufficient");
	scene_expect(s, WEB, "status.containers.main.cappedBy", "None");
	scene_expect(s, WEB, "status.policy.name", "rt");
	scene_expect(s, WEB, "spec.targetRef.kind", "Deployment");
	scene_free(s);
}

Test(scenario, R2_ten_minutes_less_are_too_little)
{
	struct scene *s = steady_under(EAGER, 20, 6144);
	scene_run(s, DAY - 10);
	scene_expect_target(s, "30", "7Gi");
	scene_expect_reason(s, WEB, "HistorySufficient", "False", "Learning");
	scene_expect_reason(s, WEB, "Ready", "False", "Learning");
	scene_expect(s, WEB, "status.history.coveragePercent", "14");
	cr_expect_eq(scene_evictions(s), 0);
	scene_run(s, 20);
	cr_expect_gt(scene_evictions(s), 0, "what was missing is those ten minutes");
	scene_free(s);
}

Test(scenario, R3_without_a_sample_there_is_no_target)
{
	struct scene *s = scene_new(RT);
	scene_pod(s, &(struct scene_pod){.name = "web-1"});
	scene_run(s, DAY + 2);
	cr_assert(scene_has(s, WEB));
	cr_expect_null(scene_text(s, WEB, TARGET));
	cr_expect_null(scene_text(s, WEB, MEMORY));
	scene_expect_reason(s, WEB, "Recommended", "False", "NoHistory");
	scene_expect_reason(s, WEB, "Ready", "False", "Learning");
	scene_free(s);
}

/* Of each 200 minutes so many at 90 %, spread evenly, and the rest at 10 %. */
static struct scene *bursts(int of_200)
{
	struct scene *s = steady(10, 6144);
	for (int i = 0; i < DAY + 40; i++) {
		scene_use(s, "web-1", i * of_200 % 200 < of_200 ? 90 : 10, 6144);
		scene_run(s, 1);
	}
	return s;
}

Test(scenario, R4_what_is_rarer_than_the_percentile_does_not_count)
{
	struct scene *s = bursts(3);
	scene_expect_target(s, "15", "7Gi");
	scene_free(s);
}

/* All of the compute is a whole GPU, with all of its memory. */
Test(scenario, R4_what_is_not_does)
{
	struct scene *s = bursts(6);
	scene_expect_target(s, "100", "80Gi");
	scene_expect(s, WEB, UNCAPPED "computePercent", "115");
	scene_expect(s, WEB, "status.containers.main.cappedBy", "Device");
	scene_free(s);
}

Test(scenario, R5_one_peak_counts_for_the_window_and_a_delay)
{
	struct scene *s = steady(20, 6144);
	scene_run(s, 2 * HOUR + 30);
	scene_use(s, "web-1", 20, 61 * 1024);
	scene_run(s, 1);
	scene_use(s, "web-1", 20, 6144);
	scene_run(s, DAY);
	scene_expect_target(s, "30", "71936Mi");
	scene_run(s, 6 * DAY);
	scene_expect_target(s, "30", "71936Mi");
	int64_t left = scene_until(s, UNCAPPED "memory", "7Gi", 2 * HOUR);
	cr_expect_leq(left, HOUR, "the hour stays %lld min too long", (long long)left);
	scene_run(s, DAY - 2);
	scene_expect(s, WEB, MEMORY, "71936Mi");
	scene_run(s, 4);
	scene_expect_target(s, "30", "7Gi");
	scene_free(s);
}

Test(scenario, R6_no_more_memory_than_the_device_has)
{
	struct scene *s = scene_new(RT);
	scene_pod(s, &(struct scene_pod){.name = "web-1"});
	for (int i = 0; i < DAY + 2; i++) {
		scene_use(s, "web-1", 20, (60 + i % 20) * 1024);
		scene_run(s, 1);
	}
	scene_expect_target(s, "30", "79360Mi");
	scene_expect(s, WEB, UNCAPPED "memory", "91Gi");
	scene_expect(s, WEB, "status.containers.main.cappedBy", "Device");
	scene_expect_reason(s, WEB, "Capped", "True", "Device");
	scene_free(s);
}

Test(scenario, R7_no_more_than_the_policy_allows)
{
	struct scene *s = steady_under(RT_WITH(",\"compute\":{\"maxPercent\":50}"), 51, 6144);
	scene_run(s, DAY + 2);
	scene_expect_target(s, "50", "7Gi");
	scene_expect(s, WEB, UNCAPPED "computePercent", "65");
	scene_expect(s, WEB, "status.containers.main.cappedBy", "PolicyMax");
	scene_expect_reason(s, WEB, "Capped", "True", "PolicyMax");
	scene_free(s);
}

Test(scenario, R8_never_nothing)
{
	struct scene *s = steady(0, 100);
	scene_run(s, 7 * DAY);
	scene_expect_target(s, "10", "1Gi");
	scene_expect(s, WEB, "status.containers.main.cappedBy", "PolicyMin");
	scene_free(s);
}

Test(scenario, R9_a_step_of_a_sixth_is_applied)
{
	struct scene *s = learnt();
	scene_use(s, "web-1", 24, 6144);
	scene_run(s, 10);
	scene_expect_target(s, "35", "7Gi");
	scene_free(s);
}

Test(scenario, R9_a_step_of_a_twelfth_is_not)
{
	struct scene *s = steady(45, 6144);
	scene_run(s, DAY + 2);
	scene_expect_target(s, "60", "7Gi");
	scene_use(s, "web-1", 50, 6144);
	scene_run(s, 10);
	scene_expect(s, WEB, UNCAPPED "computePercent", "65");
	scene_expect_target(s, "60", "7Gi");
	scene_expect_reason(s, WEB, "Recommended", "True", "BelowThreshold");
	scene_free(s);
}

Test(scenario, R10_a_fall_is_followed_after_the_delay)
{
	struct scene *s = steady(40, 6144);
	scene_run(s, DAY + 2);
	scene_expect_target(s, "55", "7Gi");
	scene_use(s, "web-1", 10, 6144);
	(void)scene_until(s, UNCAPPED "computePercent", "15", 6 * DAY);
	scene_run(s, 23 * HOUR);
	scene_expect_target(s, "55", "7Gi");
	scene_expect_reason(s, WEB, "Recommended", "True", "ScaleDownDelay");
	scene_run(s, HOUR - 2);
	scene_expect_target(s, "55", "7Gi");
	scene_run(s, 4);
	scene_expect_target(s, "15", "7Gi");
	scene_free(s);
}

Test(scenario, R10_a_rise_is_followed_within_minutes)
{
	struct scene *s = steady(10, 6144);
	scene_run(s, DAY + 2);
	scene_expect_target(s, "15", "7Gi");
	scene_use(s, "web-1", 40, 6144);
	int64_t minutes = scene_until(s, TARGET, "55", 60);
	cr_expect_leq(minutes, 9, "after %lld minutes", (long long)minutes);
	scene_free(s);
}

Test(scenario, R11_a_restart_changes_no_target)
{
	struct scene *s = learnt();
	int writes = scene_writes(s, WEB);
	char before[32], revision[32];
	snprintf(before, sizeof before, "%s", scene_text(s, WEB, "status.history.samples"));
	snprintf(revision, sizeof revision, "%s", scene_text(s, WEB, "status.revision"));
	scene_restart(s);
	scene_run(s, 3);
	scene_expect_target(s, "30", "7Gi");
	scene_expect(s, WEB, "status.revision", revision);
	scene_expect_reason(s, WEB, "HistorySufficient", "True", "Sufficient");
	cr_expect_geq(strtoll(scene_text(s, WEB, "status.history.samples"), NULL, 10),
		strtoll(before, NULL, 10));
	cr_expect_gt(scene_writes(s, WEB), writes);
	cr_expect_eq(scene_events(s, "CheckpointIgnored"), 0);
	scene_free(s);
}

Test(scenario, R11_a_list_that_takes_minutes_costs_no_history)
{
	struct scene *s = learnt();
	char before[32];
	scene_restart(s);
	snprintf(before, sizeof before, "%s", scene_text(s, WEB, "status.history.samples"));
	scene_lists(s, 503);
	scene_restart(s);
	scene_use(s, "web-1", 5, 1024);
	scene_run(s, 10);
	scene_expect_target(s, "30", "7Gi");
	scene_expect_reason(s, WEB, "HistorySufficient", "False", "Relearning");
	scene_restart(s); /* and again: nothing was written over them at the end */
	scene_run(s, 10);
	scene_lists(s, 200);
	scene_run(s, 3);
	scene_expect_target(s, "30", "7Gi");
	scene_expect_reason(s, WEB, "HistorySufficient", "True", "Sufficient");
	cr_expect_gt(strtoll(scene_text(s, WEB, "status.history.samples"), NULL, 10),
		strtoll(before, NULL, 10));
	scene_expect(s, WEB, "status.containers.main.usage.memoryPeak", "6Gi");
	cr_expect_eq(scene_events(s, "CheckpointIgnored"), 0);
	scene_free(s);
}

Test(scenario, R11_a_checkpoint_of_an_unknown_version)
{
	struct scene *s = learnt();
	scene_use(s, "web-1", 5, 1024);
	scene_restart(s);
	scene_spoil_checkpoints(s);
	scene_restart(s);
	scene_run(s, 10);
	cr_expect_eq(scene_events(s, "CheckpointIgnored"), 1, "%s", scene_note(s));
	scene_expect_target(s, "30", "7Gi");
	scene_expect_reason(s, WEB, "HistorySufficient", "False", "Relearning");
	scene_run(s, DAY - 15);
	scene_expect_target(s, "30", "7Gi");
	scene_run(s, DAY + 20);
	scene_expect_target(s, "10", "1280Mi");
	scene_free(s);
}

Test(scenario, R12_a_deployment_that_cannot_be_read_takes_nothing)
{
	struct scene *s = learnt();
	scene_owners(s, 403);
	scene_run(s, 10);
	scene_expect_target(s, "30", "7Gi");
	scene_expect_reason(s, WEB, "HistorySufficient", "True", "Sufficient");
	scene_owners(s, 200);
	scene_run(s, 2);
	scene_expect_target(s, "30", "7Gi");
	scene_free(s);
}

Test(scenario, R12_what_was_measured_meanwhile_is_not_lost)
{
	struct scene *s = steady(20, 6144);
	scene_owners(s, 403);
	scene_run(s, DAY);
	cr_expect(!scene_has(s, WEB));
	scene_owners(s, 200);
	scene_run(s, 5);
	scene_expect_target(s, "30", "7Gi");
	scene_expect_reason(s, WEB, "Ready", "True", "Ready");
	scene_free(s);
}

Test(scenario, R13_silence_is_stale_and_not_zero)
{
	struct scene *s = steady_under(EAGER, 20, 6144);
	char p50[32];
	scene_run(s, DAY + HOUR);
	scene_expect_target(s, "30", "7Gi");
	snprintf(p50, sizeof p50, "%s",
		scene_text(s, WEB, "status.containers.main.usage.computeP50"));
	scene_silence(s, true);
	scene_run(s, 4);
	scene_expect_reason(s, WEB, "HistorySufficient", "True", "Sufficient");
	scene_run(s, 2);
	scene_expect_reason(s, WEB, "HistorySufficient", "False", "Stale");
	int evictions = scene_evictions(s);
	scene_run(s, HOUR);
	scene_expect_target(s, "30", "7Gi");
	cr_expect(evictions > 0 && scene_evictions(s) == evictions, "%d, and %d in silence",
		evictions, scene_evictions(s) - evictions);
	scene_silence(s, false);
	scene_run(s, 20);
	cr_expect_gt(scene_evictions(s), evictions);
	scene_expect_reason(s, WEB, "HistorySufficient", "True", "Sufficient");
	scene_expect(s, WEB, "status.containers.main.usage.computeP50", p50);
	scene_expect_target(s, "30", "7Gi");
	scene_free(s);
}

#define BY_FRACTION ",attribution=\"estimated\",source=\"sm_util_x_cap\""

Test(scenario, R14_another_source_alone_moves_nothing)
{
	struct scene *s = learnt();
	scene_labels(s, "web-1", BY_FRACTION);
	scene_use(s, "web-1", 60, 6144);
	scene_run(s, DAY - HOUR);
	scene_expect_target(s, "30", "7Gi");
	scene_expect_reason(s, WEB, "HistorySufficient", "False", "Relearning");
	scene_labels(s, "web-1", NULL);
	scene_use(s, "web-1", 20, 6144);
	scene_run(s, 20);
	scene_expect_target(s, "30", "7Gi");
	scene_expect_reason(s, WEB, "HistorySufficient", "True", "Sufficient");
	scene_free(s);
}

static void rename_to(struct scene *s, const char *container)
{
	scene_pod_gone(s, "web-1");
	scene_run(s, 1);
	scene_pod(s, &(struct scene_pod){.name = "web-1", .container = container});
	scene_use(s, "web-1", 20, 6144);
}

Test(scenario, R15_a_renamed_container_is_another_one)
{
	struct scene *s = learnt();
	rename_to(s, "server");
	scene_run(s, 2);
	cr_expect_null(scene_text(s, WEB, "status.containers.main"));
	cr_expect_not_null(scene_text(s, WEB, "status.containers.server"));
	scene_run(s, 7 * DAY);
	rename_to(s, "main");
	scene_run(s, 2);
	cr_expect_gt(strtoll(scene_text(s, WEB, "status.history.samples"), NULL, 10), 1000,
		"what it used is known for 8 days");
	rename_to(s, "server");
	scene_run(s, 8 * DAY + HOUR);
	rename_to(s, "main");
	scene_run(s, 2);
	cr_expect_lt(strtoll(scene_text(s, WEB, "status.history.samples"), NULL, 10), 10,
		"and not for longer");
	scene_free(s);
}

Test(scenario, R16_two_gpus_are_only_a_recommendation)
{
	struct scene *s = scene_new(EAGER);
	scene_pod(s, &(struct scene_pod){.name = "web-1", .gpus = 2});
	scene_use(s, "web-1", 20, 6144);
	scene_run(s, DAY + 2);
	scene_expect_target(s, "30", "7Gi");
	scene_expect_reason(s, WEB, "UpdateBlocked", "True", "Unsupported");
	scene_expect_reason(s, WEB, "Ready", "False", "Unsupported");
	cr_expect_eq(scene_evictions(s), 0);
	scene_free(s);
}

Test(scenario, R17_replicas_share_one_target)
{
	struct scene *s = scene_new(RT);
	static const struct {
		const char *name;
		int percent;
	} replicas[] = {{"web-1", 10}, {"web-2", 10}, {"web-3", 60}};
	for (size_t i = 0; i < COUNT_OF(replicas); i++) {
		scene_pod(s, &(struct scene_pod){.name = replicas[i].name});
		scene_use(s, replicas[i].name, replicas[i].percent, 6144);
	}
	scene_run(s, DAY + 2);
	scene_expect_target(s, "80", "7Gi");
	scene_expect(s, WEB, "status.pods.total", "3");
	cr_expect_eq(scene_objects(s), 1);
	scene_free(s);
}
