/* What is counted of one container in a round, how far its checkpoint is, and what was decided and
 * said of it. */
#ifndef TRACKING_TALLY_H
#define TRACKING_TALLY_H

#include "model/recommendation.h"

#include "tracking/heal_record.h"

/* What the pods of a workload have, counted in one round. */
struct pod_tally {
	int64_t saved_milli;
	uint32_t pods, pending, running, up_to_date;
	struct small_share allocated; /* the most that a running one has */
	struct small_share original;  /* that the template asks for */
	struct heal_tally heal;
	bool whole; /* one of them has whole GPUs */
};

/* Its checkpoint. */
struct checkpoint_state {
	uint64_t action;	/* 0: none is under way */
	int64_t at_ms, samples; /* of what is written */
	int64_t asked_ms, asked_samples;
	int64_t retry_ms; /* monotonic */
	bool exists;
};

/* Of the last decision, what is looked at later. */
struct kept_history {
	int64_t first_ms, last_ms; /* as in history_facts */
	int64_t samples;
	int32_t quiet_minutes;
	uint16_t runs; /* at most so many as fit */
	uint8_t state; /* enum history_state */
	uint8_t coverage_percent;
};
struct kept_recommendation {
	struct small_share uncapped, lower, upper;
	int64_t last_sample_ms;
	int32_t peak_mib, p50_percent, target_percent;
	uint8_t capped_by; /* enum capped_by, of both */
	uint8_t memory_by; /* enum prealloc_by */
	bool compute_known : 1;
	bool memory_known : 1;
};

/* What was said of each condition last, so that its time is that of the change. */
struct condition_times {
	uint32_t since_s[RECOMMENDATION_CONDITIONS]; /* since 1970, as it is written */
	uint8_t status[RECOMMENDATION_CONDITIONS];   /* enum condition_status */
};

#endif
