/* The way back: pods that were to have a share and wait in vain for what a whole pod would have. */
#include "played.h"

#include "rollouts/roll_record.h"

#define WEB "deployment-web"

static int hanging(const struct played *p)
{
	int n = 0;
	for (size_t i = 0; i < PLAYED_PODS; i++) {
		n += p->pods[i].there && p->pods[i].hangs != REASON_NONE;
	}
	return n;
}

static const char *paused(struct played *p)
{
	return bed_reason(p->bed, WEB, RECOMMENDATION_PAUSED);
}

/* Three that ran whole; what is converted hangs. */
static void set_up(struct played *p, enum reason hangs)
{
	played_init(p, "Deployment", 3);
	p->hangs = hangs;
	played_automate(p);
	for (int i = 0; i < 60 && hanging(p) == 0; i++) {
		played_run(p, 1);
	}
	cr_assert_eq(hanging(p), 1, "the first is taken down, and its successor hangs");
}

Test(returns, one_that_hangs_goes_back_to_whole)
{
	struct played p;
	set_up(&p, REASON_CAPACITY_FAILED);
	cr_expect_str_eq(paused(&p), "absent");
	played_run(&p, 8);
	cr_expect_eq(hanging(&p), 0);
	cr_expect_eq(played_whole(&p), 3);
	cr_expect_eq(played_count(&p, "web", true), 3);
	cr_expect_eq(p.bed->evictions, 2);
	cr_expect_str_eq(paused(&p), "GivenBack");
	const struct recommendation *r = bed_told(p.bed, WEB);
	cr_expect_eq(r->last_update.result, UPDATE_ROLLED_BACK);
	cr_expect_eq(r->last_update.times, 1);
	cr_expect_eq(r->containers[0].target.milli, MODEL_GPU_MILLI);
	cr_expect(strstr(p.bed->reasons, "GivenBack ") != NULL, "%s", p.bed->reasons);
	bed_free(p.bed);
}

/* 5 min of waiting, then 10, 20, 40 ... min whole. */
Test(returns, it_is_tried_ever_more_seldom)
{
	struct played p;
	set_up(&p, REASON_NO_INJECTION);
	played_run(&p, 600);
	cr_expect_eq(p.most_away, 1);
	cr_expect_geq(played_whole(&p), 2);
	cr_expect_geq(p.bed->evictions, 6, "%d", p.bed->evictions);
	cr_expect_leq(p.bed->evictions, 16, "%d", p.bed->evictions);
	p.hangs = REASON_NONE;
	played_run(&p, 2000);
	cr_expect_eq(played_whole(&p), 0, "what was wrong is over");
	cr_expect_str_eq(paused(&p), "absent");
	cr_expect_eq(bed_told(p.bed, WEB)->last_update.times, 0);
	bed_free(p.bed);
}

Test(returns, another_leader_leaves_it_whole_for_as_long)
{
	struct played p;
	set_up(&p, REASON_CAPACITY_FAILED);
	played_run(&p, 8);
	cr_assert_str_eq(paused(&p), "GivenBack");
	int evictions = p.bed->evictions;
	bed_restart(p.bed);
	played_run(&p, 5);
	cr_expect_str_eq(paused(&p), "GivenBack");
	cr_expect_eq(bed_told(p.bed, WEB)->containers[0].target.milli, MODEL_GPU_MILLI);
	cr_expect_eq(bed_told(p.bed, WEB)->last_update.times, 1);
	cr_expect_eq(p.bed->evictions, evictions);
	cr_expect_eq(played_whole(&p), 3);
	bed_free(p.bed);
}

static void stays(struct played *p)
{
	int evictions = p->bed->evictions;
	played_run(p, 15);
	cr_expect_eq(hanging(p), 1);
	cr_expect_eq(p->bed->evictions, evictions);
	bed_free(p->bed);
}

/* A whole pod would wait as well. */
Test(returns, one_that_waits_for_others_stays)
{
	struct played p;
	set_up(&p, REASON_SHORT_COMPUTE);
	stays(&p);
}

Test(returns, a_policy_may_say_never)
{
	struct played p;
	set_up(&p, REASON_CAPACITY_FAILED);
	p.bed->rollout.give_back_min = 0;
	bed_policy(p.bed);
	stays(&p);
}

static struct played_pod *make_hanging(struct played *p, const char *kind, bool unadvised)
{
	played_init(p, kind, 1);
	p->unadvised = unadvised;
	p->hangs = REASON_CAPACITY_FAILED;
	return played_make(p, "web", false);
}

/* It is what they asked for. */
Test(returns, one_whose_share_a_person_asked_for_stays)
{
	struct played p;
	make_hanging(&p, "Deployment", true);
	stays(&p);
}

/* A Job counts what is evicted as failed, unless it says otherwise. */
Test(returns, one_that_is_counted_as_failed_stays)
{
	struct played p;
	make_hanging(&p, "Job", false);
	stays(&p);
}

Test(returns, several_go_at_once)
{
	struct played p;
	played_init(&p, "Deployment", 1);
	played_automate(&p);
	p.hangs = REASON_CAPACITY_FAILED;
	for (int i = 0; i < 5; i++) {
		(void)played_make(&p, "web", false);
	}
	played_run(&p, 8);
	cr_expect_eq(hanging(&p), 0);
	cr_expect_geq(played_whole(&p), 6, "%d", played_whole(&p));
	bed_free(p.bed);
}
