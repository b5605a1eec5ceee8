/* What admission takes from recommendations: whose it is, whether it may be applied, and relists.
 */
#include "world/advice.h"

#include <criterion/criterion.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "base/str.h"

struct scene {
	struct recommended_container container;
	struct recommendation r;
	struct advice *advice;
};

static void scene_init(struct scene *s)
{
	*s = (struct scene){.advice = advice_create()};
	s->container = (struct recommended_container){.name = "main", .target = {300, 7168}};
	s->r = (struct recommendation){.name = "deployment-web",
		.target = {"team", "apps", "Deployment", "web"},
		.revision = 17,
		.containers = &s->container,
		.container_count = 1};
	s->r.conditions[RECOMMENDATION_HISTORY_SUFFICIENT].status = CONDITION_TRUE;
}

static void tell(struct scene *s, enum change_type type, const char *name)
{
	struct change c = {.type = type,
		.kind = KIND_RECOMMENDATION,
		.recommendation = &s->r,
		.ns = name != NULL ? "team" : NULL,
		.name = name};
	cr_assert(advice_apply(s->advice, &c));
}

static const struct advised *find(struct scene *s)
{
	struct workload_key key = {"team", "apps", "Deployment", "web"};
	return advice_find(s->advice, &key);
}

Test(advice, it_is_found_by_the_workload)
{
	struct scene s;
	scene_init(&s);
	cr_assert_null(find(&s));
	tell(&s, CHANGE_SET, NULL);
	const struct advised *x = find(&s);
	cr_assert_not_null(x);
	cr_assert_str_eq(x->name, "deployment-web");
	cr_assert_eq(x->revision, 17);
	cr_assert(x->ready);
	cr_assert_eq(x->container_count, 1);
	cr_assert_eq(x->containers[0].target.milli, 300);
	s.r.revision = 18;
	s.container.target.milli = 450;
	tell(&s, CHANGE_SET, NULL);
	cr_assert_eq(find(&s)->revision, 18);
	cr_assert_eq(find(&s)->containers[0].target.milli, 450);
	cr_assert_eq(advice_count(s.advice), 1);
	tell(&s, CHANGE_GONE, "deployment-web");
	cr_assert_null(find(&s));
	advice_destroy(s.advice);
}

/* Anybody may make an object in his namespace, but not one of this name for another workload, and
 * not one of another name for this. */
Test(advice, the_name_is_the_workloads)
{
	struct scene s;
	scene_init(&s);
	s.r.name = "mine";
	tell(&s, CHANGE_SET, NULL);
	cr_assert_null(find(&s));
	s.r.name = "deployment-web";
	s.r.target.name = "other";
	tell(&s, CHANGE_SET, NULL);
	cr_assert_null(find(&s));
	s.r.target = (struct workload_key){"elsewhere", "apps", "Deployment", "web"};
	tell(&s, CHANGE_SET, NULL);
	cr_assert_null(find(&s));
	advice_destroy(s.advice);
}

Test(advice, r2_what_is_still_learnt_is_not_applied)
{
	static const struct {
		enum condition_status status;
		const char *reason;
		bool ready;
	} cases[] = {
		{CONDITION_TRUE, "Sufficient", true},
		{CONDITION_FALSE, "Learning", false},
		{CONDITION_FALSE, "Stale", true},
		{CONDITION_UNKNOWN, "Stale", false},
		{CONDITION_ABSENT, NULL, false},
	};
	struct scene s;
	scene_init(&s);
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		s.r.conditions[RECOMMENDATION_HISTORY_SUFFICIENT] =
			(struct recommended_condition){cases[i].status, cases[i].reason, "", 1};
		tell(&s, CHANGE_SET, NULL);
		cr_assert_eq(find(&s)->ready, cases[i].ready, "case %zu", i);
	}
	s.container.target.mib = 0;
	tell(&s, CHANGE_SET, NULL);
	cr_assert_eq(find(&s)->container_count, 0, "half a target is none");
	advice_destroy(s.advice);
}

Test(advice, relists_forget_what_is_gone)
{
	struct scene s;
	char name[32];
	scene_init(&s);
	for (int i = 0; i < 100; i++) {
		snprintf(name, sizeof name, "deployment-w%d", i);
		s.r.name = name;
		s.r.target.name = name + sizeof "deployment";
		tell(&s, CHANGE_SET, NULL);
	}
	cr_assert_eq(advice_count(s.advice), 100);
	tell(&s, CHANGE_RELIST_BEGIN, NULL);
	tell(&s, CHANGE_KEEP, "deployment-w7");
	s.r.name = "deployment-w9";
	s.r.target.name = "w9";
	tell(&s, CHANGE_SET, NULL);
	tell(&s, CHANGE_RELIST_END, NULL);
	cr_assert_eq(advice_count(s.advice), 2);
	for (int i = 0; i < 100; i++) {
		snprintf(name, sizeof name, "w%d", i);
		struct workload_key key = {"team", "apps", "Deployment", name};
		cr_assert_eq(advice_find(s.advice, &key) != NULL, i == 7 || i == 9, "%d", i);
	}
	tell(&s, CHANGE_RELIST_BEGIN, NULL);
	tell(&s, CHANGE_KEEP, NULL);
	tell(&s, CHANGE_RELIST_END, NULL);
	cr_assert_eq(advice_count(s.advice), 2, "something unreadable may be any of them");
	advice_destroy(s.advice);
}
