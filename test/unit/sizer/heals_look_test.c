/* Workloads in need are looked at in slices, between the rounds, and none of them is passed by. */
#include "bed.h"
#include "healing/failed_containers.h"
#include "tracking/workload_table.h"
#include "workload_life.h"

#define WORKLOADS 30
/* Enough for a few of them in one step. */
#define BUDGET 40

static size_t alerted(const struct bed *b)
{
	size_t count = 0;
	for (size_t i = 0; i < b->sizer->tracking.workloads.rows.count; i++) {
		count += workload_at(&b->sizer->tracking, i)->heal.alerted;
	}
	return count;
}

/* One that nobody names stands in the first place. */
static struct bed *field(void)
{
	struct bed *b = bed_new();
	char deployment[16], pod[32];
	const struct workload_key nobody = {"team", "apps", "Deployment", "nobody"};
	bed_policy(b);
	cr_assert_not_null(sized_of(&b->sizer->tracking, &nobody));
	for (int i = 0; i < WORKLOADS; i++) {
		snprintf(deployment, sizeof deployment, "work%02d", i);
		snprintf(pod, sizeof pod, "%s-pod", deployment);
		bed_pod(b, deployment, pod, 1);
	}
	bed_turn(b);
	cr_assert_geq(b->sizer->tracking.workloads.rows.count, WORKLOADS);
	return b;
}

static void alert_all(struct bed *b)
{
	for (size_t i = 0; i < b->sizer->tracking.workloads.rows.count; i++) {
		if (workload_at(&b->sizer->tracking, i)->pods > 0) {
			healing_alert(
				&b->sizer->healing.alarms, workload_at(&b->sizer->tracking, i));
		}
	}
	b->budget = BUDGET;
}

/* The steps that it takes; the time of the next round does not come meanwhile. */
static int look(struct bed *b)
{
	int steps = 0;
	for (; healing_deadline(&b->sizer->healing) == 0 && steps < 1000; steps++) {
		cr_assert_eq(b->sizer->phase, SIZER_RESTS);
		cr_assert_leq(sizer_deadline(b->sizer), b->now.mono_ms, "the next is due at once");
		bed_step(b);
	}
	return steps;
}

Test(heals_look, takes_as_many_steps_as_its_budget_asks_for)
{
	struct bed *b = field();
	alert_all(b);
	bed_step(b);
	cr_expect(
		alerted(b) < WORKLOADS && alerted(b) >= WORKLOADS - BUDGET / 8, "%zu", alerted(b));
	int steps = look(b);
	cr_expect(steps >= WORKLOADS * 8 / BUDGET - 1 && steps < WORKLOADS, "%d", steps);
	cr_expect_eq(alerted(b), 0);
	bed_free(b);
}

/* The last one takes its place, which the look has passed. */
Test(heals_look, one_that_goes_between_two_slices_hides_nobody)
{
	struct bed *b = field();
	struct sized_workload *nobody =
		sized_find(&b->sizer->tracking, "team", "deployment-nobody");
	cr_assert(nobody != NULL && nobody->row.at == 0);
	alert_all(b);
	bed_step(b);
	const struct sized_workload *last =
		workload_at(&b->sizer->tracking, b->sizer->tracking.workloads.rows.count - 1);
	cr_assert(last->heal.alerted);
	workload_remove(b->sizer, nobody);
	cr_assert_eq(last->row.at, 0);
	(void)look(b);
	cr_expect_eq(alerted(b), 0);
	bed_free(b);
}

/* One that is alerted behind the look is met by the next. */
Test(heals_look, who_is_alerted_meanwhile_is_looked_at_too)
{
	struct bed *b = field();
	alert_all(b);
	bed_step(b);
	struct sized_workload *first = sized_find(&b->sizer->tracking, "team", "deployment-work00");
	cr_assert(first != NULL && !first->heal.alerted);
	healing_alert(&b->sizer->healing.alarms, first);
	(void)look(b);
	cr_expect_eq(alerted(b), 0);
	bed_free(b);
}
