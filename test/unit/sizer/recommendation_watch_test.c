/* What the watch tells of GPURecommendations. */
#include "bed.h"
#include "tracking/workload_table.h"

#include "sizer/recommendation_watch.h"

#define WEB "deployment-web"

static struct sized_workload *web(struct bed *b)
{
	return sized_find(&b->sizer->tracking, "team", WEB);
}

static struct bed *with_pod(void)
{
	struct bed *b = bed_new();
	bed_pod(b, "web", "web-1", 1);
	bed_turn(b);
	bed_run(b, "web-1", 20, 6144, 35);
	return b;
}

Test(told, what_is_in_force_comes_back)
{
	struct bed *b = with_pod();
	bed_restart(b);
	struct sized_container *c = sized_container_find(web(b), "main");
	cr_assert_not_null(c);
	cr_expect_eq(c->in_force.milli, 300);
	cr_expect(c->converted);
	bed_free(b);
}

Test(told, what_was_only_shown_is_not_in_force)
{
	struct bed *b = bed_new();
	bed_pod(b, "web", "web-1", 1);
	bed_turn(b);
	bed_run(b, "web-1", 20, 6144, 20);
	cr_assert_eq(bed_told(b, WEB)->containers[0].target.milli, 300);
	bed_restart(b);
	cr_expect(!sized_container_find(web(b), "main")->converted);
	bed_free(b);
}

Test(told, another_name_is_somebody_elses)
{
	struct bed *b = with_pod();
	struct recommendation r = *bed_told(b, WEB);
	r.name = "mine";
	struct change c = {.type = CHANGE_SET, .kind = KIND_RECOMMENDATION, .recommendation = &r};
	cr_expect(sizer_observe(b->sizer, &c));
	cr_expect_null(sized_find(&b->sizer->tracking, "team", "mine"));
	cr_expect_not_null(web(b));
	bed_free(b);
}

Test(told, g4_what_goes_with_its_owner_is_forgotten)
{
	struct bed *b = with_pod();
	bed_pod_gone(b, "web-1");
	bed_turn(b);
	cr_expect_not_null(web(b), "its history is worth keeping");
	bed_remove(b, WEB);
	cr_expect_null(web(b));
	bed_free(b);
}

Test(told, a_relist_sweeps_unless_something_could_not_be_read)
{
	struct bed *b = with_pod();
	bed_pod_gone(b, "web-1");
	bed_turn(b);
	bed_object(b, WEB)->there = false;
	struct change c = {.type = CHANGE_RELIST_BEGIN, .kind = KIND_RECOMMENDATION};
	(void)sizer_observe(b->sizer, &c);
	c.type = CHANGE_RELIST_END;
	c.no_sweep = true;
	(void)sizer_observe(b->sizer, &c);
	cr_expect_not_null(web(b));
	struct change begin = {.type = CHANGE_RELIST_BEGIN, .kind = KIND_RECOMMENDATION};
	struct change keep = {
		.type = CHANGE_KEEP, .kind = KIND_RECOMMENDATION, .ns = "team", .name = WEB};
	(void)sizer_observe(b->sizer, &begin);
	(void)sizer_observe(b->sizer, &keep);
	c.no_sweep = false;
	(void)sizer_observe(b->sizer, &c);
	cr_expect_not_null(web(b));
	bed_list(b);
	cr_expect_null(web(b));
	bed_free(b);
}
