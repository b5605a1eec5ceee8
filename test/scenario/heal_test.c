/* H: a workload in need gets more at once. Its tenant runs under the target and gets each new one
 * where it is, as mode None has it. */
#include "scene.h"

#include "base/clock.h"
#include "model/quantity.h"

#define HOUR	 60
#define DAY	 (24 * HOUR)
#define OOM	 "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB"
#define MEMORY	 "status.containers.main.target.memory"
#define COMPUTE	 "status.containers.main.target.computePercent"
#define UNCAPPED "status.containers.main.uncappedTarget.memory"
/* What is learnt in an hour, and shrunk an hour later. */
#define QUICK(more)                                                                                \
	RT_WITH(",\"history\":{\"windowSeconds\":172800,\"requiredSeconds\":3600,"                 \
		"\"halfLifeSeconds\":3600},\"update\":{\"scaleDownDelaySeconds\":3600}" more)

/* A pod of a whole GPU is learnt; then a tenant of what it is recommended takes its place. */
static struct scene *tenant_under(const char *policy, int percent, int mib)
{
	struct scene *s = scene_new(policy);
	scene_pod(s, &(struct scene_pod){.name = "web-0"});
	scene_use(s, "web-0", percent, mib);
	scene_run(s, HOUR + 5);
	scene_expect_reason(s, WEB, "Ready", "True", "Ready");
	int64_t milli = strtoll(text_or(scene_text(s, WEB, COMPUTE), "0"), NULL, 10) * 10;
	int64_t target = 0;
	struct fault f = {0};
	cr_assert_eq(memory_parse(view_of(scene_text(s, WEB, MEMORY)), &target, &f), 0);
	scene_pod_gone(s, "web-0");
	scene_pod(s, &(struct scene_pod){.name = "web-1", .milli = milli, .mib = target});
	scene_use(s, "web-1", percent, mib);
	scene_resizes(s, true);
	scene_run(s, 2);
	return s;
}

/* 30 % and 8 GiB. */
static struct scene *usual(void)
{
	struct scene *s = tenant_under(QUICK(""), 20, 7100);
	scene_expect_target(s, "30", "8Gi");
	return s;
}

static void deny(struct scene *s)
{
	scene_end(s, "web-1", 1, OOM);
	scene_steps(s, 6, 10000);
}

Test(scenario, H1_one_denial_is_a_fifth_more_for_a_day)
{
	struct scene *s = usual();
	char since[64], until[64];
	int64_t from = 0, to = 0;
	deny(s);
	scene_expect_target(s, "30", "9984Mi");
	scene_expect_reason(s, WEB, "Healing", "True", "MemoryPressure");
	scene_expect(s, WEB, "status.conditions.ScaleDownBlocked.status", "True");
	scene_expect(s, WEB, "status.healing.step", "1");
	snprintf(since, sizeof since, "%s", scene_text(s, WEB, "status.healing.since"));
	snprintf(until, sizeof until, "%s", scene_text(s, WEB, "status.healing.until"));
	cr_assert(time_parse(since, &from) && time_parse(until, &to));
	cr_expect_eq(to - from, INT64_C(86400000));
	scene_run(s, 1);
	scene_expect(s, WEB, "status.containers.main.allocated.memory", "9984Mi");
	cr_expect_eq(scene_events(s, "HealingStarted"), 1);
	scene_free(s);
}

Test(scenario, H2_a_small_share_grows_by_a_gibibyte)
{
	struct scene *s = tenant_under(QUICK(""), 20, 1700);
	scene_expect_target(s, "30", "2Gi");
	deny(s);
	scene_expect_target(s, "30", "3Gi");
	scene_free(s);
}

Test(scenario, H3_a_second_is_half_more_and_a_third_all)
{
	struct scene *s = usual();
	deny(s);
	scene_expect(s, WEB, MEMORY, "9984Mi");
	scene_run(s, 19);
	deny(s);
	scene_expect(s, WEB, MEMORY, "15104Mi");
	scene_run(s, 19);
	deny(s);
	scene_expect(s, WEB, MEMORY, "79360Mi");
	scene_run(s, 10);
	deny(s);
	scene_expect_reason(s, WEB, "Healing", "True", "HealingExhausted");
	scene_free(s);
}

Test(scenario, H4_a_policy_caps_it_and_nothing_feeds_itself)
{
	struct scene *s = tenant_under(QUICK(",\"memory\":{\"max\":\"10Gi\"}"), 20, 7100);
	deny(s);
	scene_expect(s, WEB, MEMORY, "9984Mi");
	for (int i = 0; i < 3; i++) {
		int64_t mib = 0;
		struct fault f = {0};
		scene_run(s, 9);
		deny(s);
		scene_expect(s, WEB, MEMORY, "10Gi");
		scene_expect(s, WEB, "status.conditions.Capped.status", "True");
		cr_assert_eq(memory_parse(view_of(scene_text(s, WEB, UNCAPPED)), &mib, &f), 0);
		cr_expect_leq(mib, 15 * 1024, "%lld MiB", (long long)mib);
	}
	scene_free(s);
}

Test(scenario, H5_it_stays_for_a_day_and_goes_step_by_step)
{
	struct scene *s = usual();
	deny(s);
	scene_expect(s, WEB, MEMORY, "9984Mi");
	scene_use(s, "web-1", 20, 1024);
	scene_run(s, DAY - 2);
	scene_expect(s, WEB, MEMORY, "9984Mi");
	int64_t first = scene_until(s, MEMORY, "8448Mi", 10);
	int64_t second = scene_until(s, MEMORY, "8Gi", 40);
	cr_expect_leq(first, 4, "after %lld min", (long long)first);
	cr_expect(second >= 29 && second <= 31, "after %lld min more", (long long)second);
	scene_run(s, 2);
	cr_expect_eq(scene_events(s, "HealingEnded"), 1);
	scene_free(s);
}

#define WAITING                                                                                    \
	"# TYPE vllm:num_requests_waiting gauge\nvllm:num_requests_waiting{model_name=\"m\"} 4\n"

/* With headroom the recommendation alone would follow what it uses. */
#define NO_HEADROOM QUICK(",\"compute\":{\"headroomPercent\":0}")

Test(scenario, H6_saturated_and_waiting_for_ten_minutes)
{
	struct scene *s = tenant_under(NO_HEADROOM, 28, 7100);
	scene_expect_target(s, "30", "8Gi");
	scene_use(s, "web-1", 29, 7100);
	scene_app(s, "web-1", WAITING);
	scene_run(s, 6);
	scene_expect(s, WEB, COMPUTE, "30");
	int64_t minutes = scene_until(s, COMPUTE, "40", 8);
	cr_expect_leq(minutes + 6, 12, "after %lld min", (long long)minutes + 6);
	scene_expect_reason(s, WEB, "Healing", "True", "ComputePressure");
	scene_use(s, "web-1", 20, 7100);
	scene_app(s, "web-1", NULL);
	scene_run(s, 6 * HOUR - 5);
	scene_expect(s, WEB, COMPUTE, "40");
	(void)scene_until(s, COMPUTE, "30", 3 * HOUR);
	scene_free(s);
}

Test(scenario, H7_without_a_sign_it_takes_half_an_hour)
{
	struct scene *s = tenant_under(NO_HEADROOM, 28, 7100);
	scene_expect_target(s, "30", "8Gi");
	scene_use(s, "web-1", 29, 7100);
	scene_run(s, 20);
	scene_expect(s, WEB, COMPUTE, "30");
	int64_t minutes = scene_until(s, COMPUTE, "40", 20) + 20;
	cr_expect(minutes >= 24 && minutes <= 32, "after %lld min", (long long)minutes);
	scene_expect_reason(s, WEB, "Healing", "True", "ComputePressure");
	scene_free(s);
}

Test(scenario, H8_who_waits_without_being_saturated_is_not_healed)
{
	struct scene *s = usual();
	scene_use(s, "web-1", 18, 7100);
	scene_app(s, "web-1", WAITING);
	scene_run(s, HOUR);
	scene_expect_target(s, "30", "8Gi");
	cr_expect_eq(scene_events(s, "HealingStarted"), 0);
	scene_free(s);
}

Test(scenario, H9_neighbours_that_fill_the_gpu_are_contention)
{
	struct scene *s = usual();
	scene_pod(s, &(struct scene_pod){
			     .name = "api-1", .owner = "api-1234abcd", .milli = 700, .mib = 8192});
	scene_use(s, "api-1", 78, 4096);
	scene_use(s, "web-1", 21, 7100);
	scene_run(s, 20);
	scene_expect_target(s, "30", "8Gi");
	scene_expect(s, WEB, "status.conditions.Contention.status", "True");
	scene_free(s);
}

/* The repack hint: who is contended for long goes elsewhere, where the budget lets him (it does not
 * here). Its neighbour takes more than it has, and had its time to go itself. */
Test(scenario, H9_who_is_contended_for_long_is_moved)
{
	struct scene *s = usual();
	scene_pod(s, &(struct scene_pod){.name = "web-2", .milli = 300, .mib = 8192});
	scene_pod(s, &(struct scene_pod){
			     .name = "api-1", .owner = "api-1234abcd", .milli = 700, .mib = 8192});
	scene_use(s, "api-1", 78, 4096);
	scene_use(s, "web-1", 21, 7100);
	scene_use(s, "web-2", 20, 7100);
	scene_run(s, 40);
	scene_expect(s, WEB, "status.conditions.Contention.status", "True");
	cr_expect(strstr(text_or(scene_text(s, WEB, "status.conditions.Contention.message"), ""),
			  "if that lasts, its pod goes to another GPU from 20") != NULL,
		"%s", scene_text(s, WEB, "status.conditions.Contention.message"));
	cr_expect_eq(scene_evictions(s), 0);
	scene_run(s, 40);
	cr_expect_gt(scene_evictions(s), 0);
	scene_expect_reason(s, WEB, "UpdateBlocked", "True", "PDB");
	scene_expect_target(s, "30", "8Gi");
	scene_free(s);
}

Test(scenario, H10_a_kill_of_the_host_is_no_gpu_memory)
{
	static const int mib[] = {2400, 7500};
	for (size_t i = 0; i < COUNT_OF(mib); i++) {
		struct scene *s = usual();
		scene_use(s, "web-1", 20, mib[i]);
		scene_run(s, 5);
		scene_end(s, "web-1", 137, "");
		scene_run(s, 5);
		scene_expect_target(s, "30", "8Gi");
		cr_expect_eq(scene_events(s, "HealingStarted"), 0);
		scene_end(s, "web-1", 1, "");
		scene_run(s, 5);
		cr_expect_eq(scene_events(s, "HealingStarted"), (int)i,
			"an error near the limit is one");
		scene_free(s);
	}
}

Test(scenario, H11_a_shrink_that_breaks_it_is_undone)
{
	struct scene *s = tenant_under(QUICK(""), 31, 7100);
	scene_expect_target(s, "40", "8Gi");
	scene_use(s, "web-1", 15, 7100);
	(void)scene_until(s, COMPUTE, "20", 2 * DAY);
	scene_run(s, 1);
	scene_end(s, "web-1", 1, "");
	scene_run(s, 2);
	scene_end(s, "web-1", 1, "");
	scene_run(s, 1);
	scene_expect(s, WEB, COMPUTE, "40");
	scene_expect(s, WEB, "status.conditions.Paused.status", "True");
	scene_expect(s, WEB, "status.healing.kind", "Rollback");
	cr_expect_eq(scene_warnings(s, "RolledBack"), 1);
	scene_run(s, 71 * HOUR);
	scene_expect(s, WEB, COMPUTE, "40");
	scene_expect(s, WEB, "status.conditions.Paused.status", "True");
	(void)scene_until(s, COMPUTE, "20", 4 * HOUR);
	cr_expect_null(scene_text(s, WEB, "status.conditions.Paused.status"));
	scene_free(s);
}

Test(scenario, H12_a_leak_stops_growing)
{
	struct scene *s = tenant_under(QUICK(",\"memory\":{\"headroomPercent\":0}"), 20, 1700);
	for (int mib = 1700; mib < 1700 + 9 * 1024; mib += 16) {
		scene_use(s, "web-1", 20, mib);
		scene_run(s, 1);
	}
	cr_expect_eq(scene_warnings(s, "LeakSuspected"), 1);
	char before[32];
	snprintf(before, sizeof before, "%s", scene_text(s, WEB, MEMORY));
	for (int mib = 1700 + 9 * 1024; mib < 1700 + 12 * 1024; mib += 16) {
		scene_use(s, "web-1", 20, mib);
		scene_run(s, 1);
	}
	scene_expect(s, WEB, MEMORY, before);
	scene_free(s);
}

Test(scenario, H13_where_it_is_disabled_it_is_only_said)
{
	struct scene *s =
		tenant_under(QUICK(",\"healing\":{\"memory\":{\"state\":\"Disabled\"}}"), 20, 7100);
	deny(s);
	scene_run(s, 5);
	scene_expect_target(s, "30", "8Gi");
	cr_expect_eq(scene_events(s, "HealingStarted"), 0);
	cr_expect_eq(scene_warnings(s, "OutOfMemory"), 1, "%s", scene_note(s));
	scene_free(s);
}
