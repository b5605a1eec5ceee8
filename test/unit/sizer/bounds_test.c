/* A person's bounds hold at once, for what is in force and so for what runs. */
#include "healed.h"
#include "played.h"
#include "tracking/workload_table.h"

/* Two pods with a share that their policy allows. */
static void begin(struct played *p, bool mps, int percent)
{
	played_init(p, "Deployment", 2);
	p->mps = mps;
	p->percent = percent;
	played_run(p, 60);
	played_automate(p);
	played_run(p, 60);
	cr_assert_eq(played_whole(p), 0);
	p->bed->sizing.scale_down_delay_s = 86400;
	p->bed->policy_generation++;
}

static int64_t target(const struct played *p)
{
	return bed_told(p->bed, WEB)->containers[0].target.milli;
}

/* One more has to be made than those that are replaced. */
static void lose_one(struct played *p)
{
	bed_pod_gone(p->bed, p->pods[0].name);
	p->pods[0].there = false;
	(void)played_make(p, "web", false);
}

static int over(const struct played *p, int64_t milli)
{
	int n = 0;
	for (size_t i = 0; i < PLAYED_PODS; i++) {
		n += p->pods[i].there && p->pods[i].milli != milli;
	}
	return n;
}

Test(bounds, c6_a_maximum_that_is_lowered_replaces_each_pod_once)
{
	struct played p;
	begin(&p, true, 60);
	cr_assert_gt(target(&p), 500);
	int before = p.bed->evictions;
	p.bed->sizing.max_percent = 50;
	bed_policy(p.bed);
	p.most_milli = 500;
	played_run(&p, 2);
	cr_expect_eq(target(&p), 500, "at once, and not after the delay for savings");
	lose_one(&p);
	played_run(&p, 600);
	cr_expect_leq(p.bed->evictions - before, 2, "%d", p.bed->evictions - before);
	cr_expect_eq(over(&p, 500), 0);
	cr_expect_eq(target(&p), 500);
	bed_free(p.bed);
}

Test(bounds, c8_nobody_is_wished_more_than_the_maximum)
{
	struct played p;
	begin(&p, false, 60);
	int before = p.bed->evictions;
	p.bed->sizing.max_percent = 50;
	bed_policy(p.bed);
	p.most_milli = 500;
	p.bed->request = (struct resize_request){.milli = 0};
	lose_one(&p);
	played_run(&p, 600);
	cr_expect_eq(p.bed->evictions, before, "it is changed where it runs");
	cr_expect_leq(p.bed->request.milli, 500);
	cr_expect_eq(target(&p), 500);
	bed_free(p.bed);
}

Test(bounds, c6_a_minimum_that_is_raised_holds_at_once)
{
	struct played p;
	begin(&p, true, 20);
	cr_assert_eq(target(&p), 300);
	int before = p.bed->evictions;
	p.bed->sizing.min_percent = 40;
	bed_policy(p.bed);
	p.least_milli = 400;
	played_run(&p, 2);
	cr_expect_eq(target(&p), 400);
	played_run(&p, 600);
	cr_expect_leq(p.bed->evictions - before, 2);
	cr_expect_eq(over(&p, 400), 0);
	bed_free(p.bed);
}

/* What it cannot have it is not held at, and Capped says so. */
Test(bounds, c6_healing_keeps_within_a_maximum_that_is_lowered)
{
	struct bed *b = usual();
	bed_run(b, "t", 20, 8000, 2);
	deny(b);
	scrape(b);
	cr_assert_gt(first(b)->target.mib, 9216);
	give(b);
	b->sizing.max_mem_mib = 9216;
	b->policy_generation++;
	bed_policy(b);
	bed_run(b, "t", 20, 8000, 2);
	cr_expect_eq(first(b)->target.mib, 9216);
	cr_expect_eq(bed_told(b, WEB)->healing.kind, HEALING_MEMORY);
	bed_free(b);
}

/* It restarts because of what a person wants, and what it had is not to be had any more. */
Test(bounds, what_a_person_takes_away_is_no_shrink_of_ours)
{
	struct played p;
	begin(&p, false, 60);
	struct sized_workload *x = sized_find(&p.bed->sizer->tracking, "team", WEB);
	cr_assert_not_null(x);
	int64_t before = healing_of(x->containers.items[0])->shrunk_ms;
	p.bed->sizing.max_percent = 50;
	bed_policy(p.bed);
	p.most_milli = 500;
	played_run(&p, 2);
	cr_expect_eq(target(&p), 500);
	cr_expect_leq(healing_of(x->containers.items[0])->shrunk_ms, before);
	bed_free(p.bed);
}
