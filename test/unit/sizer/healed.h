/* A workload with one tenant, and what becomes of it that healing answers. */
#ifndef UNIT_SIZER_HEALED_H
#define UNIT_SIZER_HEALED_H

#include "bed.h"

#include "sizer/workload_pods.h"

#define WEB "deployment-web"
#define GIB INT64_C(1024)

static inline const struct recommended_container *first(struct bed *b)
{
	return &bed_told(b, WEB)->containers[0];
}

static inline bool is(struct bed *b, enum recommendation_condition type)
{
	return bed_told(b, WEB)->conditions[type].status == CONDITION_TRUE;
}

/* A workload in mode Automate whose target is what follows from that use, with one tenant that has
 * it. */
static inline struct bed *tenant_of(struct bed *b, int percent, int64_t peak_mib)
{
	b->mode = MODE_AUTOMATE;
	bed_policy(b);
	bed_pod(b, "web", "whole", 1);
	bed_turn(b);
	bed_run(b, "whole", percent, peak_mib, 35);
	bed_pod_gone(b, "whole");
	bed_tenant(b, "web", "t", first(b)->target.milli, first(b)->target.mib);
	bed_turn(b);
	b->request_count = 0;
	b->reasons[0] = '\0';
	return b;
}

/* 30 % and 8 GiB */
static inline struct bed *usual(void)
{
	struct bed *b = tenant_of(bed_new(), 20, 7100);
	cr_assert_eq(first(b)->target.milli, 300);
	cr_assert_eq(first(b)->target.mib, 8 * GIB);
	return b;
}

/* The tenant has what is requested, and is told to. */
static inline void give(struct bed *b)
{
	bed_tenant(b, "web", "t", first(b)->target.milli, first(b)->target.mib);
}

static inline void see(struct bed *b, const char *pod)
{
	const struct world_pod *wp = world_pod_find(b->world, "team", pod);
	cr_assert_not_null(wp);
	sizer_see(b->sizer, wp, b->now.policy_ms);
}

/* A scrape that is no round, and what follows from it. */
static inline void scrape(struct bed *b)
{
	struct sizer_totals before, after;
	sizer_sum(b->sizer, &before);
	see(b, "t");
	bed_step(b);
	bed_pass(b, 5000);
	bed_step(b);
	sizer_sum(b->sizer, &after);
	cr_assert_eq(before.rounds, after.rounds, "it waits for no round");
}

/* Its container says that a GPU had no memory left. */
static inline void deny(struct bed *b)
{
	b->oom_ms = b->now.policy_ms;
	b->failed_ms = b->oom_ms;
	b->restarts++;
	give(b);
}

#endif
