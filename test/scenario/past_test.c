/* What a Prometheus kept of the time before us (R1, R2, R14): asked for once, and a source of its
 * own. */
#include "scene.h"

#define HOUR 60
#define DAY  (24 * HOUR)

static struct scene *since(const struct scene_past *past)
{
	struct scene *s = scene_new(RT);
	scene_prometheus(s, past);
	return s;
}

static void begin(struct scene *s)
{
	scene_pod(s, &(struct scene_pod){.name = "web-1"});
	scene_use(s, "web-1", 20, 6144);
}

Test(past, what_a_prometheus_kept_counts_as_observed)
{
	struct scene *s = since(&(struct scene_past){
		.pod = "web-1234abcd-fghjk", .percent = 20, .mib = 6144, .minutes = 3 * DAY});
	scene_agents_gone(s);
	begin(s);
	scene_run(s, 60);
	scene_expect_target(s, "30", "7Gi");
	scene_expect_reason(s, WEB, "HistorySufficient", "True", "Sufficient");
	scene_expect_reason(s, WEB, "Ready", "True", "Ready");
	scene_expect(s, WEB, "status.history.coveragePercent", "43");
	scene_free(s);
}

Test(past, a_gap_in_it_is_a_gap)
{
	struct scene *s = since(&(struct scene_past){.pod = "web-1234abcd-fghjk",
		.percent = 20,
		.mib = 6144,
		.minutes = 2 * DAY,
		.gap = 2 * HOUR,
		.gap_minutes = 30 * HOUR});
	scene_agents_gone(s);
	begin(s);
	scene_run(s, 60);
	scene_expect_target(s, "30", "7Gi");
	scene_expect_reason(s, WEB, "HistorySufficient", "False", "Learning");
	scene_expect(s, WEB, "status.history.coveragePercent", "11");
	scene_run(s, 5 * HOUR + 10);
	scene_expect_reason(s, WEB, "HistorySufficient", "True", "Sufficient");
	scene_free(s);
}

/* Agents tell half of it: what they tell counts once they told enough by themselves, and then as
 * any smaller share does. */
Test(past, r14_agents_are_not_mixed_with_it)
{
	struct scene *s = since(&(struct scene_past){
		.pod = "web-1234abcd-fghjk", .percent = 40, .mib = 6144, .minutes = 3 * DAY});
	begin(s);
	scene_run(s, 60);
	scene_expect_target(s, "55", "7Gi");
	scene_expect_reason(s, WEB, "HistorySufficient", "False", "Relearning");
	scene_run(s, DAY);
	scene_expect_target(s, "55", "7Gi");
	scene_run(s, DAY + 10);
	scene_expect_target(s, "30", "7Gi");
	scene_expect_reason(s, WEB, "HistorySufficient", "True", "Sufficient");
	scene_free(s);
}

Test(past, what_may_be_missing_a_peak_is_not_used)
{
	struct scene *s = since(&(struct scene_past){.pod = "web-1234abcd-fghjk",
		.percent = 20,
		.mib = 6144,
		.minutes = 3 * DAY,
		.partial = true});
	scene_agents_gone(s);
	begin(s);
	scene_run(s, 60);
	scene_expect_reason(s, WEB, "HistorySufficient", "False", "Learning");
	scene_expect(s, WEB, "status.history.coveragePercent", "0");
	scene_free(s);
}

Test(past, r11_after_a_restart_the_checkpoint_counts_and_nobody_is_asked)
{
	struct scene *s = since(&(struct scene_past){
		.pod = "web-1234abcd-fghjk", .percent = 20, .mib = 6144, .minutes = 3 * DAY});
	scene_agents_gone(s);
	begin(s);
	scene_run(s, 60);
	scene_expect_reason(s, WEB, "HistorySufficient", "True", "Sufficient");
	int asked = scene_questions(s);
	cr_expect(asked >= 2 * 7 * 4 && asked <= 2 * 7 * 4 + 4, "%d", asked);
	scene_restart(s);
	scene_run(s, 10);
	scene_expect_reason(s, WEB, "HistorySufficient", "True", "Sufficient");
	cr_expect_eq(scene_questions(s), asked);
	scene_free(s);
}
