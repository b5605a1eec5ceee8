/* A workload: whatever it is whose pods share one history and one recommendation. Mostly the owner
 * at the top of a pod's chain of owners, else what a GPUWorkloadGroup made of several. */
#ifndef MODEL_WORKLOAD_H
#define MODEL_WORKLOAD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/alloc.h"

#define WORKLOAD_GROUP_KIND "GPUWorkloadGroup" /* its name is GROUP.KEY */

/* All texts borrowed; none is NULL in a key that names something. */
struct workload_key {
	const char *ns;
	const char *group; /* of the API, without a version; "" for core */
	const char *kind;
	const char *name;
};

/* The kinds of work, as in the CRDs. UNKNOWN: nothing tells. */
enum workload_type {
	WORKLOAD_UNKNOWN,
	WORKLOAD_INFERENCE_REAL_TIME,
	WORKLOAD_INFERENCE_NEAR_REAL_TIME,
	WORKLOAD_BATCH,
	WORKLOAD_TRAINING,
	WORKLOAD_BUILD,
	WORKLOAD_NOTEBOOK,
	WORKLOAD_TYPES,
};

const char *workload_type_name(enum workload_type type); /* UNKNOWN: NULL */
bool workload_type_parse(const char *text, enum workload_type *ret_type);

bool workload_key_equals(const struct workload_key *a, const struct workload_key *b);
uint64_t workload_key_hash(const struct workload_key *key);

/* What its GPURecommendation is called: KIND-NAME in lower case. Where that is longer than 63
 * characters, or another workload could come to the same (a kind that two API groups have, a
 * character that no object's name may hold), it is its first 54, a dash and 8 hexadecimal digits of
 * the key's SHA-256. */
#define WORKLOAD_OBJECT_NAME_MAX 63
const char *workload_object_name(const struct workload_key *key, struct arena *a);

#endif
