/* What is remembered of replacing a workload's running pods. rollouts.c asks src/roll about each
 * workload once a round and carries out what it says; a new pod that comes first is surges.c's, who
 * says by rollout_settle how it ended.
 *
 * Nothing of this outlives the process but what the GPURecommendation says: what is under way the
 * pods tell. */
#ifndef ROLLOUTS_ROLL_RECORD_H
#define ROLLOUTS_ROLL_RECORD_H

#include "roll/course.h"
#include "roll/roll.h"
#include "tracking/decision.h"
#include "tracking/tracking.h"

struct rollouts;
struct world;
struct world_pod;

/* The owner of a workload as it was read last. What is known of its template and of minReadySeconds
 * outlasts an answer that tells nothing. */
struct owner_seen {
	int64_t at_ms;	  /* when it was read; 0: never */
	int64_t retry_ms; /* when it may be read again after a failure */
	uint8_t misses;	  /* how often in a row it could not be read */
	bool known;	  /* an answer came, whatever it was */
	bool recreates;	  /* it ends its old pods before it makes new ones */
	bool going;	  /* it does not exist, or is being deleted */
	uint8_t course;	  /* enum standing_course */
	/* enum reason: why admission leaves a pod of its template whole, without MPS and with it;
	 * NONE: it converts the pod */
	uint8_t whole, whole_walled;
	int32_t wanted, min_ready_s;
};

/* What is remembered of replacements, from the first one to the workload's end: keep it small. */
struct rollout_record {
	struct roll roll;
	uint64_t eviction;	/* the eviction under way; 0: none */
	uint64_t stopped_under; /* a digest of the policy's choice when it stopped; 0: not known */
	uint64_t reading;	/* the read of its owner under way; 0: none */
	struct owner_seen seen;
	uint64_t told_whys;    /* the obstacles that an event told, by bits of enum roll_why */
	int64_t told_revision; /* the target for which they were told */
	struct {
		const char *reason; /* of the sizer's names; NULL: none */
		int64_t at_ms;
	} update;	  /* lastUpdate */
	int32_t mended;	  /* pods that made way after a rollback */
	uint8_t result;	  /* enum update_result, for lastUpdate */
	bool live;	  /* this process judged it; else it is as the watch told it */
	bool as_judged;	  /* only a pod that is still not Ready is evicted */
	bool wants_to_go; /* a pod goes as soon as the owner is read, without a round's wait */
};
static_assert(sizeof(struct rollout_record) <= 224, "what is remembered of replacements is larger");

struct rollout_record *rollout_record(struct sized_workload *x); /* made if need be */
/* Sets what lastUpdate says. */
void rollout_set_update(struct rollouts *s, struct rollout_record *m, enum update_result result,
	int64_t at_ms, const char *reason);
/* Healing of that container ends: what it added did not help, and is no base of what follows. */
void rollout_end_healing(struct sized_container *c);
/* What became of the replacement that is under way. */
void rollout_settle(
	struct rollouts *s, struct sized_workload *x, const struct roll_ending *e, int64_t now_ms);
/* The watch told what is known of the past. */
void rollout_restore(
	struct rollouts *s, struct sized_workload *x, const struct recommendation *told);
/* Another process leads, or did: what was under way is not known. */
void rollout_forget(struct rollouts *s, struct sized_workload *x);
void rollout_drop(struct rollouts *s, struct sized_workload *x);
/* Do its targets stay as they are, because it was rolled back? */
bool rollout_hold(const struct sized_workload *x);
/* C35: its new pods get whole GPUs for a while. False: not now. */
bool rollout_give_back(struct rollouts *s, struct sized_workload *x, const struct decision *d);
/* Does the GPURecommendation say what new pods get? Admission reads it there. */
bool rollout_shown(const struct sized_workload *x);
/* This pod shows a surge that a former leader began: the surge goes on, and nothing else begins. */
void rollout_found(struct rollouts *s, struct sized_workload *x, const struct world_pod *wp,
	struct sizer_now now, const struct world *w);

/* The outcome of an action; false: the action is not one of a replacement. */
bool rollout_answer(
	struct rollouts *s, struct sizer_now now, uint64_t id, const struct outcome *outcome);

#endif
