/* Every answer has a sentence, and it names who blocks and when it is looked at again. */
#include <criterion/criterion.h>

#include "base/str.h"
#include "roll/rollout_explain.h"
#include "roll/rollout_plan.h"
#include "played.h"

Test(explain, S2_the_blocker_and_the_time_are_named)
{
	struct arena a = {0};
	struct played p;
	played_init(&p, 1, START);
	struct roll_verdict v = {ROLL_BLOCKED, ROLL_BUDGET, 0, "web-pdb", START + 30000};
	cr_expect_str_eq(roll_explain(&p.ask, &v, &a),
		"the PodDisruptionBudget web-pdb allows no eviction now; tried again once it does; "
		"looked at again at "
		"2026-01-01T00:00:30Z");
	/* where nobody knows when it ends, how often it is asked */
	v.next_ms = 0;
	p.ask.every_ms = 10000;
	cr_expect_str_eq(roll_explain(&p.ask, &v, &a),
		"the PodDisruptionBudget web-pdb allows no eviction now; tried again once it does; "
		"looked at again every 10 "
		"seconds");
	p.ask.every_ms = 60000;
	v = (struct roll_verdict){.does = ROLL_BLOCKED, .why = ROLL_WEBHOOK};
	cr_expect_str_eq(roll_explain(&p.ask, &v, &a),
		"Aliquot's webhook is not known to answer, so a new pod might start whole: see its "
		"controller's pods; looked at again every minute");
	v.why = ROLL_SURGE_LOST;
	cr_expect_null(strstr(roll_explain(&p.ask, &v, &a), "every"), "a person ends it");
	v = (struct roll_verdict){.does = ROLL_EVICT, .pod = 0};
	cr_expect_str_eq(
		roll_explain(&p.ask, &v, &a), "pod uid-0 is replaced by one with the new share");
	p.ask.cause = ROLL_MOVES;
	cr_expect_str_eq(
		roll_explain(&p.ask, &v, &a), "pod uid-0 is replaced by one on another GPU");
	v = (struct roll_verdict){.does = ROLL_BLOCKED, .why = ROLL_NO_ROOM};
	cr_expect_str_eq(roll_explain(&p.ask, &v, &a),
		"no other GPU has room for the new pod; looked at again every minute");
	arena_finish(&a);
}

Test(explain, every_reason_has_a_word_and_a_sentence)
{
	struct arena a = {0};
	struct played p;
	played_init(&p, 1, START);
	for (int why = 0; why < ROLL_WHYS; why++) {
		struct roll_verdict v = {.does = ROLL_BLOCKED, .why = (enum roll_why)why};
		cr_assert_not_null(roll_why_name(v.why));
		const char *text = roll_explain(&p.ask, &v, &a);
		cr_expect_gt(strlen(text), 10);
		cr_expect_null(strchr(text, '%'));
	}
	arena_finish(&a);
}
