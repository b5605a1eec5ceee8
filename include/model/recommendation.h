/* A GPURecommendation: what is known and recommended of one workload, as its status says it. The
 * controller's leader alone writes it; everyone reads it back, so that nothing else has to be
 * remembered across a restart.
 *
 * All text is borrowed. A share of 0 is not known: nobody has, needs or gets none of a GPU. */
#ifndef MODEL_RECOMMENDATION_H
#define MODEL_RECOMMENDATION_H

#include <stdbool.h>
#include <stdint.h>

#include "model/workload.h"

#define RECOMMENDED_CONTAINERS_MAX 32

/* Written in whole percent of one GPU; a policy's steps never come to less. */
struct share {
	int64_t milli;
	int64_t mib;
};

enum capped_by {
	CAPPED_BY_NONE,
	CAPPED_BY_POLICY_MIN,
	CAPPED_BY_POLICY_MAX,
	CAPPED_BY_DEVICE,
	CAPPED_BY_HEALING,
};

/* What was measured: in whole percent of one GPU, and MiB. */
struct recommended_usage {
	bool compute_known, memory_known;
	int32_t p50_percent;	/* the median */
	int32_t target_percent; /* the policy's percentile */
	int64_t peak_mib;
	int64_t last_sample_ms; /* 0: never */
};

struct recommended_container {
	const char *name;
	struct share original;	/* of the workload's template */
	struct share allocated; /* of running pods, */
	int32_t allocated_pods; /* so many */
	struct share target;	/* of new pods */
	struct share uncapped;
	struct share lower, upper;
	struct recommended_usage usage;
	enum capped_by capped_by;
};

/* One for each type of condition; those that are ABSENT are not written. */
enum recommendation_condition {
	RECOMMENDATION_READY,
	RECOMMENDATION_HISTORY_SUFFICIENT,
	RECOMMENDATION_RECOMMENDED,
	RECOMMENDATION_APPLIED,
	RECOMMENDATION_UPDATE_BLOCKED,
	RECOMMENDATION_HEALING,
	RECOMMENDATION_SCALE_DOWN_BLOCKED,
	RECOMMENDATION_MEMORY_PREALLOCATED,
	RECOMMENDATION_CAPPED,
	RECOMMENDATION_PAUSED,
	RECOMMENDATION_CONTENTION,
	RECOMMENDATION_LEAK_SUSPECTED,
	RECOMMENDATION_IDLE,
	RECOMMENDATION_CLAMPED,
	RECOMMENDATION_CONDITIONS,
};
enum condition_status { CONDITION_ABSENT, CONDITION_TRUE, CONDITION_FALSE, CONDITION_UNKNOWN };

struct recommended_condition {
	enum condition_status status;
	const char *reason; /* one CamelCase word */
	const char *message;
	int64_t since_ms; /* lastTransitionTime */
};

enum healing_kind { HEALING_NONE, HEALING_MEMORY, HEALING_COMPUTE, HEALING_ROLLBACK };

struct recommended_healing {
	enum healing_kind kind; /* NONE: the rest does not count */
	int32_t step;
	int64_t since_ms, until_ms;
};

enum update_result { UPDATE_NONE, UPDATE_SUCCEEDED, UPDATE_FAILED, UPDATE_ROLLED_BACK };

struct recommended_update {
	enum update_result result; /* NONE: there was none yet */
	int64_t at_ms;
	const char *reason;
	int32_t times; /* that its pods were given back in a row */
};

/* How the policy was chosen, as in size/policy_resolution.h. */
struct recommended_policy {
	const char *name; /* NULL: none */
	int64_t generation;
	const char *source;
};

struct recommended_history {
	int64_t first_sample_ms; /* 0: none yet */
	int64_t samples;
	int32_t coverage_percent; /* of the policy's window */
};

struct recommended_pods {
	int32_t total, up_to_date, pending;
};

struct recommendation {
	const char *name; /* its own; the namespace is the key's */
	const char *uid;
	const char *resource_version;
	int64_t generation;
	int64_t created_ms;
	bool owned; /* it names an owner, with which it goes */
	struct workload_key target;

	int64_t observed_generation;
	int64_t revision; /* rises by one at every new target */
	struct recommended_policy policy;
	enum workload_type type;
	struct recommended_container *containers;
	uint32_t container_count;
	struct recommended_history history;
	struct recommended_pods pods;
	struct recommended_healing healing;
	bool saves; /* `saved_milli` is known */
	int64_t saved_milli;
	struct recommended_update last_update;
	struct recommended_condition conditions[RECOMMENDATION_CONDITIONS];
};

const char *recommendation_condition_name(enum recommendation_condition type);
bool recommendation_condition_parse(const char *text, enum recommendation_condition *ret_type);
const char *capped_by_name(enum capped_by by);
const char *healing_kind_name(enum healing_kind kind);	   /* NONE: NULL */
const char *update_result_name(enum update_result result); /* NONE: NULL */

/* May its targets be applied? Two things keep them from that: too little is known, or nobody said.
 * What was applied once stays so, when it is silent or has to be learnt anew. */
bool recommendation_holds(const struct recommendation *r);

#endif
