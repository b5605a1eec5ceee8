/* Checkpoints: written now and then, at the end at once, and read again. */
#include "bed.h"

#include "sizer/usage_checkpoints.h"

#define WEB "deployment-web"

static struct bed *learnt(int64_t checkpoint_ms)
{
	struct bed *b = bed_new();
	b->checkpoint_ms = checkpoint_ms;
	bed_restart(b);
	bed_pod(b, "web", "web-1", 1);
	bed_turn(b);
	bed_run(b, "web-1", 20, 6144, 35);
	return b;
}

Test(save, one_is_written_when_it_is_old_and_something_is_new)
{
	struct bed *b = learnt(5 * MINUTE_MS);
	cr_expect_geq(b->saves, 6);
	cr_expect_leq(b->saves, 8);
	cr_expect_str_eq(b->checkpoint.name, "deployment-web.main");
	cr_expect_str_eq(b->checkpoint.recommendation, WEB);
	cr_expect_str_eq(b->checkpoint.container, "main");
	int before = b->saves;
	bed_run(b, NULL, 0, 0, 20);
	cr_expect_leq(b->saves, before + 1, "nothing is new");
	bed_free(b);
}

Test(save, r11_what_was_measured_is_there_again)
{
	struct bed *b = learnt(5 * MINUTE_MS);
	sizer_end(b->sizer);
	cr_expect(!sizer_ended(b->sizer, b->now));
	bed_step(b);
	cr_expect(sizer_ended(b->sizer, b->now));
	int64_t samples = b->checkpoint.samples;
	cr_expect_gt(samples, 60);
	bed_restart(b);
	cr_expect_eq(sizer_recall(b->sizer, &b->checkpoint, b->now.policy_ms), SIZER_RECALL_TAKEN);
	bed_turn(b);
	bed_run(b, "web-1", 20, 6144, 2);
	const struct recommendation *r = bed_told(b, WEB);
	cr_expect_eq(r->containers[0].target.milli, 300);
	cr_expect_str_eq(bed_reason(b, WEB, RECOMMENDATION_HISTORY_SUFFICIENT), "Sufficient");
	cr_expect_gt(r->history.samples, samples);
	cr_expect_eq(b->creates, 1);
	bed_free(b);
}

Test(save, r11_an_unknown_version_is_told_and_learnt_anew)
{
	struct bed *b = learnt(5 * MINUTE_MS);
	int events = b->events;
	bed_restart(b);
	b->checkpoint.version = "v9";
	cr_expect_eq(
		sizer_recall(b->sizer, &b->checkpoint, b->now.policy_ms), SIZER_RECALL_VERSION);
	bed_turn(b);
	bed_turn(b);
	cr_expect_eq(b->events, events + 1);
	cr_expect_not_null(strstr(b->message, "v9"));
	bed_run(b, "web-1", 5, 1024, 10);
	cr_expect_eq(bed_told(b, WEB)->containers[0].target.milli, 300);
	bed_free(b);
}

Test(save, bytes_that_make_no_sense_are_told)
{
	struct bed *b = learnt(5 * MINUTE_MS);
	int events = b->events;
	bed_restart(b);
	b->checkpoint.bytes.n /= 2;
	cr_expect_eq(
		sizer_recall(b->sizer, &b->checkpoint, b->now.policy_ms), SIZER_RECALL_MALFORMED);
	bed_turn(b);
	cr_expect_eq(b->events, events + 1);
	bed_free(b);
}

Test(save, what_nobody_asked_for_is_not_taken)
{
	struct bed *b = learnt(5 * MINUTE_MS);
	cr_expect_eq(sizer_recall(b->sizer, &b->checkpoint, b->now.policy_ms),
		SIZER_RECALL_NOT_WANTED, "it is measured already");
	bed_restart(b);
	b->checkpoint.recommendation = "deployment-other";
	cr_expect_eq(
		sizer_recall(b->sizer, &b->checkpoint, b->now.policy_ms), SIZER_RECALL_NOT_WANTED);
	bed_free(b);
}

/* After a start whose list of checkpoints takes its time. */
static void begin_unread(struct bed *b)
{
	bed_restart(b);
	sizer_wait(b->sizer, true);
	bed_turn(b);
}

Test(save, none_is_written_before_all_were_read)
{
	struct bed *b = learnt(5 * MINUTE_MS);
	begin_unread(b);
	int saves = b->saves;
	bed_run(b, "web-1", 20, 6144, 30);
	sizer_end(b->sizer);
	bed_step(b);
	cr_expect(sizer_ended(b->sizer, b->now));
	cr_expect_eq(b->saves, saves);
	bed_free(b);
}

Test(save, r11_what_is_read_late_is_joined_with_what_was_told_since)
{
	struct bed *b = learnt(5 * MINUTE_MS);
	int64_t before = b->checkpoint.samples;
	begin_unread(b);
	bed_run(b, "web-1", 20, 7000, 6);
	cr_expect_eq(sizer_recall(b->sizer, &b->checkpoint, b->now.policy_ms), SIZER_RECALL_TAKEN);
	cr_expect_eq(sizer_recall(b->sizer, &b->checkpoint, b->now.policy_ms),
		SIZER_RECALL_NOT_WANTED, "a list that is begun again tells it again");
	sizer_wait(b->sizer, false);
	bed_run(b, "web-1", 20, 6144, 6);
	const struct recommendation *r = bed_told(b, WEB);
	cr_expect_gt(r->history.samples, before);
	cr_expect_eq(r->containers[0].usage.peak_mib, 7000);
	cr_expect_gt(b->checkpoint.samples, before);
	bed_free(b);
}

Test(save, r11_nothing_shrinks_before_all_were_read)
{
	struct bed *b = bed_new();
	b->checkpoint_ms = 5 * MINUTE_MS;
	bed_restart(b);
	bed_pod(b, "web", "web-1", 1);
	bed_turn(b);
	bed_run(b, "web-1", 60, 6144, 35);
	cr_assert_eq(bed_told(b, WEB)->containers[0].target.milli, 800);
	begin_unread(b);
	bed_run(b, "web-1", 10, 1024, 120);
	cr_expect_eq(bed_told(b, WEB)->containers[0].target.milli, 800);
	const struct recommended_condition *c =
		&bed_told(b, WEB)->conditions[RECOMMENDATION_HISTORY_SUFFICIENT];
	cr_expect_str_eq(c->reason, "Relearning");
	cr_expect_not_null(
		strstr(c->message, "checkpoint could not be read yet"), "%s", c->message);
	bed_run(b, "web-1", 90, 6144, 20);
	cr_expect_gt(bed_told(b, WEB)->containers[0].target.milli, 800, "who needs more gets it");
	sizer_wait(b->sizer, false);
	bed_run(b, "web-1", 90, 6144, 2);
	cr_expect_str_eq(bed_reason(b, WEB, RECOMMENDATION_HISTORY_SUFFICIENT), "Sufficient");
	bed_free(b);
}

Test(save, one_that_is_there_is_read_and_not_written_over)
{
	struct bed *b = learnt(5 * MINUTE_MS);
	int64_t before = b->checkpoint.samples;
	bed_restart(b);
	bed_turn(b);
	int saves = b->saves;
	for (int i = 0; i < 4 && b->saves == saves; i++) {
		bed_run(b, "web-1", 20, 6144, 1);
	}
	cr_assert_gt(b->saves, saves, "it tried to make it");
	cr_expect_geq(b->checkpoint.samples, before, "nobody read it before, and it stands");
	bed_run(b, "web-1", 20, 6144, 2);
	cr_expect_gt(bed_told(b, WEB)->history.samples, before);
	bed_run(b, "web-1", 20, 6144, 10);
	cr_expect_gt(b->checkpoint.samples, before);
	bed_free(b);
}

Test(save, one_that_nobody_can_read_is_written_anew)
{
	struct bed *b = learnt(5 * MINUTE_MS);
	int64_t before = b->checkpoint.samples;
	bed_restart(b);
	b->unreadable = true;
	bed_turn(b);
	bed_run(b, "web-1", 20, 6144, 10);
	cr_expect_lt(b->checkpoint.samples, before);
	bed_free(b);
}

Test(save, one_that_fails_is_tried_again_later)
{
	struct bed *b = bed_new();
	b->checkpoint_ms = 5 * MINUTE_MS;
	bed_restart(b);
	bed_pod(b, "web", "web-1", 1);
	bed_turn(b);
	bed_turn(b);
	b->fails = true;
	bed_run(b, "web-1", 20, 6144, 5);
	cr_expect_geq(b->saves, 3);
	cr_expect_leq(b->saves, 12);
	b->fails = false;
	bed_run(b, "web-1", 20, 6144, 2);
	cr_expect_not_null(b->checkpoint.name);
	bed_free(b);
}

Test(save, one_that_somebody_deleted_is_made_anew)
{
	struct bed *b = learnt(5 * MINUTE_MS);
	cr_assert_not_null(b->checkpoint.name);
	b->checkpoint.name = NULL;
	bed_run(b, "web-1", 20, 6144, 12);
	cr_expect_str_eq(text_or(b->checkpoint.name, "none"), "deployment-web.main");
	bed_free(b);
}

Test(save, who_leads_anew_begins_with_what_is_told)
{
	struct bed *b = learnt(5 * MINUTE_MS);
	sizer_forget(b->sizer);
	cr_expect_eq(sizer_recall(b->sizer, &b->checkpoint, b->now.policy_ms), SIZER_RECALL_TAKEN);
	bed_turn(b);
	cr_expect_eq(bed_told(b, WEB)->containers[0].target.milli, 300);
	cr_expect(recommendation_holds(bed_told(b, WEB)));
	bed_free(b);
}

/* Its list of checkpoints takes its time, and rounds do not wait for it that long. */
Test(save, who_leads_anew_and_reads_late_has_what_was_known)
{
	struct bed *b = learnt(5 * MINUTE_MS);
	int64_t before = b->checkpoint.samples;
	sizer_forget(b->sizer);
	sizer_wait(b->sizer, true);
	bed_turn(b);
	bed_run(b, "web-1", 20, 6144, 3);
	cr_expect_eq(sizer_recall(b->sizer, &b->checkpoint, b->now.policy_ms), SIZER_RECALL_TAKEN);
	sizer_wait(b->sizer, false);
	bed_run(b, "web-1", 20, 6144, 10);
	cr_expect_gt(bed_told(b, WEB)->history.samples, before);
	cr_expect_gt(b->checkpoint.samples, before);
	cr_expect_str_eq(bed_reason(b, WEB, RECOMMENDATION_HISTORY_SUFFICIENT), "Sufficient");
	bed_free(b);
}

Test(save, who_leads_anew_and_never_reads_it_does_not_write_over_it)
{
	struct bed *b = learnt(5 * MINUTE_MS);
	int64_t before = b->checkpoint.samples;
	sizer_forget(b->sizer);
	bed_turn(b);
	int saves = b->saves;
	for (int i = 0; i < 20 && b->saves == saves; i++) {
		bed_run(b, "web-1", 20, 6144, 1);
	}
	cr_assert_gt(b->saves, saves);
	cr_expect_geq(b->checkpoint.samples, before);
	bed_run(b, "web-1", 20, 6144, 10);
	cr_expect_gt(b->checkpoint.samples, before);
	bed_free(b);
}

/* Nothing of it runs by the time that the list is read. */
Test(save, what_was_told_of_one_that_is_gone_is_joined_with_what_is_read_late)
{
	struct bed *b = learnt(5 * MINUTE_MS);
	begin_unread(b);
	bed_run(b, "web-1", 20, 9000, 20);
	bed_pod_gone(b, "web-1");
	bed_turn(b);
	cr_expect_eq(sizer_recall(b->sizer, &b->checkpoint, b->now.policy_ms), SIZER_RECALL_TAKEN);
	cr_expect_eq(sizer_recall(b->sizer, &b->checkpoint, b->now.policy_ms),
		SIZER_RECALL_NOT_WANTED, "a list that is begun again tells it again");
	sizer_wait(b->sizer, false);
	bed_pod(b, "web", "web-2", 1);
	bed_turn(b);
	bed_run(b, "web-2", 20, 6144, 6);
	cr_expect_eq(bed_told(b, WEB)->containers[0].usage.peak_mib, 9000);
	bed_free(b);
}
