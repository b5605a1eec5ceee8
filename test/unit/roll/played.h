/* A cluster of Deployments, played: what is evicted goes, its ReplicaSet makes another one, a
 * webhook sizes it, and after a while it is Ready and measured. */
#ifndef ROLL_PLAYED_H
#define ROLL_PLAYED_H

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "roll/course.h"
#include "roll/roll.h"
#include "roll/rollout_plan.h"

#define MINUTE	     60000LL
#define HOUR	     (60 * MINUTE)
#define DAY	     (24 * HOUR)
#define START	     1767225600000LL /* Thursday, 2026-01-01 00:00 UTC */
#define PLAYED_PODS  16
#define PLAYED_READY 40000 /* from its creation to Ready */

static const struct rollout played_rollout = ROLLOUT_DEFAULT;

struct played {
	struct rollout rollout;
	struct workload_key key;
	struct roll_pod pods[PLAYED_PODS];
	char uids[PLAYED_PODS][16];
	char nodes[PLAYED_PODS][16];
	int32_t makes; /* pods that were ever made */
	struct roll roll;
	struct roll_ask ask;
	int32_t budget; /* its PDB's minAvailable */
	bool webhook;	/* sizes what is made */
	int32_t evictions, refusals, least_ready;
};

static inline void played_make(struct played *p, uint32_t slot, int64_t now, bool sized)
{
	snprintf(p->uids[slot], sizeof p->uids[slot], "uid-%d", p->makes);
	snprintf(p->nodes[slot], sizeof p->nodes[slot], "node-%d", p->makes++);
	p->pods[slot] = (struct roll_pod){.uid = p->uids[slot],
		.name = p->uids[slot],
		.node = p->nodes[slot],
		.created_ms = now,
		.sized = sized,
		.fits_after = true,
		.up_to_date = sized};
}

/* So many pods that are a week old, whole and Ready; the controller has led for a day. */
static inline void played_init(struct played *p, uint32_t replicas, int64_t now)
{
	*p = (struct played){.rollout = played_rollout,
		.key = {"team", "apps", "Deployment", "web"},
		.roll = {.revision = -1},
		.webhook = true,
		.least_ready = INT32_MAX};
	for (uint32_t i = 0; i < replicas; i++) {
		played_make(p, i, now - 7 * DAY + i * 1000, false);
		p->pods[i].ready_ms = now - 7 * DAY + HOUR;
	}
	p->ask = (struct roll_ask){.now_ms = now,
		.key = &p->key,
		.revision = 1,
		.rollout = &p->rollout,
		.pods = p->pods,
		.pod_count = replicas,
		.replicas = (int32_t)replicas,
		.measured_ms = now,
		.surge_unfit = "the overlay surge is not applied",
		.gate = {true, now - DAY, now, true}};
}

static inline int32_t played_ready(const struct played *p)
{
	int32_t n = 0;
	for (uint32_t i = 0; i < p->ask.pod_count; i++) {
		n += p->pods[i].ready_ms != 0 ? 1 : 0;
	}
	return n;
}

/* The rest of the world, as it is now. */
static inline void played_world(struct played *p, int64_t now)
{
	p->ask.now_ms = p->ask.measured_ms = p->ask.gate.webhook_ms = now;
	for (uint32_t i = 0; i < p->ask.pod_count; i++) {
		struct roll_pod *pod = &p->pods[i];
		if (pod->ready_ms == 0 && now >= pod->created_ms + PLAYED_READY) {
			pod->ready_ms = now;
		}
		pod->sample_ms = pod->ready_ms != 0 ? now : 0;
	}
	int32_t ready = played_ready(p);
	p->least_ready = ready < p->least_ready ? ready : p->least_ready;
}

/* The API server, asked for an eviction. */
static inline void played_evict(
	struct played *p, struct roll_fleet *fleet, const struct roll_verdict *v)
{
	int64_t now = p->ask.now_ms;
	if (played_ready(p) - 1 < p->budget) {
		p->refusals++;
		roll_settle(&p->roll, fleet,
			&(struct roll_ending){ROLL_END_BUDGET, "web-pdb", 0, false}, now);
		return;
	}
	p->evictions++;
	played_make(p, v->pod, now, p->webhook);
	roll_settle(&p->roll, fleet, &(struct roll_ending){ROLL_END_DONE, NULL, 0, false}, now);
}

static inline struct roll_verdict played_step(
	struct played *p, struct roll_fleet *fleet, int64_t now)
{
	struct roll_verdict v;
	played_world(p, now);
	roll_plan(&p->roll, fleet, &p->ask, &v);
	if (v.does == ROLL_EVICT) {
		roll_begin(&p->roll, fleet, &p->ask, &v);
		played_evict(p, fleet, &v);
		played_world(p, now);
	}
	return v;
}

#endif
