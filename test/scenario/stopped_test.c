/* What a GPURecommendation says where pods were replaced, or might be soon: whom it waits for, and
 * what stopped it. Each ends as golden/NAME.json, as in blocked_test.c. */
#include "quick.h"

/* No age and no cooldown, and the last Ready pod may go. */
#define AT_ONCE UPDATE(",\"replacement\":\"Evict\",\"minPodAgeSeconds\":0")

#define BLOCKED(s, reason) scene_expect_reason(s, WEB, "UpdateBlocked", "True", reason)

static const struct scene_pod tenant = {.milli = 300, .mib = 7168};

Test(scenario, state_of_an_owner_at_its_rollout)
{
	struct scene *s = quick_three(QUICK("Automate", AT_ONCE));
	scene_rollout(s);
	quick_learn(s);
	BLOCKED(s, "OwnerRollout");
	cr_expect_eq(scene_evictions(s), 0);
	scene_golden(s, WEB, "owner-rollout");
}

#define SCALER                                                                                     \
	"{\"metadata\":{\"namespace\":\"team\",\"name\":\"web-hpa\",\"uid\":\"h\","                \
	"\"resourceVersion\":\"1\"},\"spec\":{\"scaleTargetRef\":{\"apiVersion\":\"apps/v1\","     \
	"\"kind\":\"Deployment\",\"name\":\"web\"},\"minReplicas\":1,\"maxReplicas\":5,"           \
	"\"metrics\":[{\"type\":\"Resource\",\"resource\":{\"name\":\"cpu\",\"target\":{"          \
	"\"type\":\"Utilization\",\"averageUtilization\":50}}}]},\"status\":{"                     \
	"\"currentReplicas\":3,\"desiredReplicas\":5}}"

Test(scenario, state_of_replicas_that_move)
{
	struct scene *s = quick_three(QUICK("Automate", AT_ONCE));
	scene_scaler(s, SCALER);
	quick_learn(s);
	BLOCKED(s, "HorizontalScaler");
	cr_expect_eq(scene_evictions(s), 0);
	scene_golden(s, WEB, "horizontal-scaler");
}

Test(scenario, state_of_a_time_zone_that_nobody_knows)
{
	struct scene *s = quick_three(QUICK("Automate",
		UPDATE(",\"windows\":[{\"days\":[\"Mon\"],\"start\":\"22:00\",\"end\":\"04:00\","
		       "\"timeZone\":\"Mars/Olympus\"}]")));
	quick_learn(s);
	BLOCKED(s, "TimeZoneUnknown");
	scene_golden(s, WEB, "time-zone-unknown");
}

Test(scenario, state_of_a_young_pod)
{
	struct scene *s = quick_three(QUICK("Automate", UPDATE(",\"minPodAgeSeconds\":21600")));
	quick_learn(s);
	BLOCKED(s, "PodTooYoung");
	scene_golden(s, WEB, "pod-too-young");
}

/* One has its share and is not Ready. */
Test(scenario, state_of_pods_that_are_away)
{
	struct scene *s = quick_three(QUICK("Automate", AT_ONCE));
	struct scene_pod away = {.name = "web-3", .milli = 300, .mib = 7168, .unready = true};
	scene_pod(s, &away);
	scene_resizes(s, true);
	quick_learn(s);
	BLOCKED(s, "PodsNotReady");
	cr_expect_eq(scene_evictions(s), 0);
	scene_golden(s, WEB, "pods-not-ready");
}

/* The node has one GPU. */
Test(scenario, state_without_room_for_the_new_pod)
{
	struct scene *s = quick_one(QUICK("Automate", UPDATE("")), &quick_plain);
	scene_may_surge(s, NULL);
	scene_gpus(s, 1);
	quick_learn(s);
	BLOCKED(s, "NoSurgeCapacity");
	cr_expect_eq(scene_evictions(s), 0);
	scene_golden(s, WEB, "no-surge-capacity");
}

/* As a webhook of somebody's that minds evictions says it. */
#define DENIED                                                                                     \
	"{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\",\"message\":"           \
	"\"admission webhook \\\"freeze.example.com\\\" denied the request: change freeze\","      \
	"\"reason\":\"Forbidden\",\"code\":403}"

Test(scenario, state_of_a_refused_eviction)
{
	struct scene *s = quick_three(QUICK("Automate", AT_ONCE));
	scene_refuses(s, 403, DENIED);
	quick_learn(s);
	BLOCKED(s, "Refused");
	cr_expect_gt(scene_evictions(s), 0);
	scene_golden(s, WEB, "refused");
}

static void until_evicted(struct scene *s, int count)
{
	for (int i = 0; i < 6 * HOUR && scene_evictions(s) < count; i++) {
		scene_run(s, 1);
	}
	cr_assert_geq(scene_evictions(s), count);
}

/* The first one went well; then it needs more, which is another change. */
Test(scenario, state_of_a_cooldown)
{
	struct scene *s = quick_three(
		QUICK("Automate", UPDATE(",\"replacement\":\"Evict\",\"minPodAgeSeconds\":0,"
					 "\"cooldownSeconds\":21600")));
	scene_evicts(s, &tenant);
	until_evicted(s, 1);
	scene_use_all(s, 45, 12288);
	scene_run(s, 40);
	BLOCKED(s, "Cooldown");
	cr_expect_eq(scene_evictions(s), 1);
	scene_golden(s, WEB, "cooldown");
}

/* One of another workload went a moment ago, and was measured since. */
Test(scenario, state_of_a_spent_budget_of_all)
{
	struct scene *s = quick_three(QUICK("Automate", AT_ONCE));
	scene_evicts(s, &tenant);
	until_evicted(s, 1);
	for (int i = 0;
		i < 10 && !text_equals(scene_text(s, WEB, "status.conditions.UpdateBlocked.reason"),
				  "GlobalBudget");
		i++) {
		scene_run(s, 1);
	}
	BLOCKED(s, "GlobalBudget");
	cr_expect_eq(scene_evictions(s), 1);
	scene_golden(s, WEB, "global-budget");
}

/* It is there and Ready, and has not proven itself yet. */
Test(scenario, state_of_a_replacement_under_way)
{
	struct scene *s = quick_three(QUICK("Automate", AT_ONCE));
	scene_evicts(s, &tenant);
	until_evicted(s, 1);
	scene_run(s, 2);
	scene_expect_reason(s, WEB, "Applied", "False", "PodsDiffer");
	cr_expect_null(scene_text(s, WEB, "status.conditions.UpdateBlocked"));
	scene_golden(s, WEB, "replacing");
}

Test(scenario, state_of_pods_that_only_others_replace)
{
	struct scene *s =
		quick_one(QUICK("Automate", UPDATE(",\"byKind\":[{\"kind\":\"Deployment\","
						   "\"strategy\":\"OnCreate\"}]")),
			&quick_plain);
	quick_learn(s);
	cr_expect_null(scene_text(s, WEB, "status.conditions.UpdateBlocked"));
	scene_golden(s, WEB, "on-create");
}

/* Neither the first nor the second is Ready within 20 minutes. */
Test(scenario, state_after_two_that_did_not_come_up)
{
	struct scene *s = quick_three(QUICK("Automate", AT_ONCE));
	scene_evicts(s, &(struct scene_pod){.milli = 300, .mib = 7168, .unready = true});
	until_evicted(s, 1);
	(void)scene_until(s, "status.conditions.Paused.status", "True", HOUR);
	scene_evicts(s, &(struct scene_pod){0});
	scene_run(s, 15);
	scene_expect_reason(s, WEB, "Paused", "True", "Paused");
	scene_expect(s, WEB, "status.lastUpdate.result", "RolledBack");
	cr_expect_eq(scene_warnings(s, "RolledBack"), 1);
	scene_golden(s, WEB, "paused");
}

/* They come whole, as if nobody had converted them. */
Test(scenario, state_after_two_that_came_whole)
{
	struct scene *s = quick_three(QUICK("Automate", AT_ONCE));
	scene_evicts(s, &(struct scene_pod){0});
	until_evicted(s, 2);
	scene_run(s, 20);
	scene_expect_reason(s, WEB, "Paused", "True", "NoEffect");
	BLOCKED(s, "NoEffect");
	cr_expect_eq(scene_evictions(s), 2);
	scene_golden(s, WEB, "no-effect");
}

/* C35: the first hangs for five minutes, for a reason that a whole pod would not meet. */
Test(scenario, state_after_one_was_given_back)
{
	struct scene *s = quick_three(QUICK("Automate", AT_ONCE));
	scene_evicts(s, &(struct scene_pod){.milli = 300, .waits = "CapacityFailed"});
	until_evicted(s, 1);
	scene_evicts(s, &(struct scene_pod){0});
	scene_run(s, 8);
	scene_expect_reason(s, WEB, "Paused", "True", "GivenBack");
	scene_expect(s, WEB, "status.lastUpdate.result", "RolledBack");
	cr_expect_eq(scene_evictions(s), 2);
	cr_expect_geq(scene_warnings(s, "GivenBack"), 1);
	scene_golden(s, WEB, "given-back");
}

/* The new pod is adopted, and another one goes than the one that was made cheap. */
Test(scenario, state_after_a_lost_race)
{
	struct scene *s = quick_three(QUICK("Automate", UPDATE(",\"minPodAgeSeconds\":0")));
	scene_may_surge(s, "web-3");
	scene_run(s, HOUR);
	scene_steps(s, 10 * 60, 1000);
	scene_expect_reason(s, WEB, "Paused", "True", "SurgeLostRace");
	BLOCKED(s, "SurgeLostRace");
	cr_expect_eq(scene_evictions(s), 0);
	cr_expect_eq(scene_warnings(s, "SurgeLostRace"), 1);
	scene_golden(s, WEB, "surge-lost-race");
}

/* --- in place --- */

/* A tenant that is to have more than it has, and is not replaced for that. */
static struct scene *kept_small(enum share_state state, const char *blocker)
{
	struct scene *s =
		quick_one(QUICK("Automate", UPDATE(",\"byKind\":[{\"kind\":\"Deployment\","
						   "\"strategy\":\"OnCreate\"}]")),
			&(struct scene_pod){.name = "web-1", .milli = 200, .mib = 4096});
	scene_resize_status(s, state, blocker);
	quick_learn(s);
	cr_expect_gt(scene_wishes(s), 0);
	return s;
}

Test(scenario, state_of_a_quota)
{
	struct scene *s = kept_small(SHARE_QUOTA, "team-gpus");
	BLOCKED(s, "Quota");
	scene_golden(s, WEB, "quota");
}

Test(scenario, state_of_a_full_gpu)
{
	struct scene *s = kept_small(SHARE_NO_ROOM, "GPU-1");
	BLOCKED(s, "NoRoomOnGPU");
	scene_golden(s, WEB, "no-room-on-gpu");
}
