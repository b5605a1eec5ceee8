/* Healing of workloads: what is seen of their pods, and what should be in force. */
#ifndef HEALING_HEALING_H
#define HEALING_HEALING_H

#include "supply/supply.h"
#include "tracking/decision.h"
#include "tracking/tracking.h"
#include "tracking/unowned_pods.h"

struct healing {
	struct tracking *tracking; /* borrowed, like */
	struct supply *supply;	   /* this */
	struct heal_alarms alarms;
	struct table unowned_pods;
	bool round_counts; /* a round counts what pods have: it will meet whoever is pressed now */
};

void healing_init(struct healing *s, struct tracking *tracking, struct supply *supply);
void healing_finish(struct healing *s);

/* Looks at a running pod: what became of its containers, and which share it has. */
void healing_see(
	struct healing *s, struct sized_pod *p, const struct world_pod *wp, int64_t now_ms);
/* A figure of a container was taken; `waiting`: requests that wait in its application. */
void healing_take(struct healing *s, struct sized_pod *p, struct sized_feed *f,
	const struct history_sample *sample, int64_t waiting);
/* Counts the pod in the tally of the round. */
void healing_tally(struct healing *s, struct sized_pod *p, int64_t now_ms);
/* The policy may have changed, which ends a pause. */
void healing_policy(struct sized_workload *x, const struct policy_choice *choice);
/* The share in force without what healing added. */
struct share healing_base(
	const struct sized_workload *x, struct sized_container *c, const struct sizing *sizing);
/* The share that should be in force, after hold_step. */
struct share healing_step(struct sized_workload *x, struct sized_container *c,
	const struct decision *d, const struct share *recommended);
/* The target has become smaller than `from`, which may be a whole GPU. */
void healing_shrunk(struct sized_container *c, const struct share *from, int64_t now_ms);

#endif
