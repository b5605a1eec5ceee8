/* What is remembered of a workload's replacements, and what of it outlasts a process. */
#include <criterion/criterion.h>

#include "rollouts/roll_record.h"
#include "rollouts/rollouts.h"
#include "tracking/workload_table.h"

struct site {
	struct tracking tracking;
	struct supply supply;
	struct heal_alarms alarms;
	struct rollouts rollouts;
	struct sized_workload *x;
};

static void init(struct site *s)
{
	*s = (struct site){.x = NULL};
	const struct sizer_config config = {.round_ms = 15000};
	const struct workload_key key = {"team", "apps", "Deployment", "web"};
	tracking_init(&s->tracking, &config);
	devices_init(&s->supply.devices);
	gpus_init(&s->supply.gpus);
	rollouts_init(&s->rollouts, &s->tracking, &s->supply, &s->alarms);
	s->x = sized_of(&s->tracking, &key);
}

static void finish(struct site *s)
{
	rollout_drop(&s->rollouts, s->x);
	table_remove(&s->tracking.workloads, &s->x->row);
	rollouts_finish(&s->rollouts);
	devices_finish(&s->supply.devices);
	gpus_finish(&s->supply.gpus);
	tracking_finish(&s->tracking);
}

Test(roll_record, what_stopped_it_is_read_back)
{
	struct site s;
	struct recommendation told = {.revision = 3,
		.last_update = {.result = UPDATE_ROLLED_BACK, .at_ms = 1000, .reason = "Paused"}};
	told.conditions[RECOMMENDATION_PAUSED] =
		(struct recommended_condition){.status = CONDITION_TRUE, .reason = "Paused"};
	init(&s);
	rollout_restore(&s.rollouts, s.x, &told);
	cr_assert_not_null(s.x->roll);
	cr_expect_eq(s.x->roll->result, UPDATE_ROLLED_BACK);
	cr_expect_str_eq(s.x->roll->update.reason, "Paused");
	cr_expect(rollout_hold(s.x));
	rollout_forget(&s.rollouts, s.x);
	cr_expect(rollout_hold(s.x), "another leader finds it as it was");
	finish(&s);
}

Test(roll_record, nothing_is_remembered_where_nothing_was_replaced)
{
	struct site s;
	const struct recommendation told = {.revision = 1};
	init(&s);
	rollout_restore(&s.rollouts, s.x, &told);
	cr_expect_null(s.x->roll);
	cr_expect_not(rollout_hold(s.x));
	finish(&s);
}

Test(roll_record, a_pause_of_healing_is_none_of_its_own)
{
	struct site s;
	struct recommendation told = {.revision = 1};
	told.conditions[RECOMMENDATION_PAUSED] =
		(struct recommended_condition){.status = CONDITION_TRUE, .reason = HEALING_PAUSED};
	init(&s);
	rollout_restore(&s.rollouts, s.x, &told);
	cr_expect_not(rollout_hold(s.x));
	finish(&s);
}
