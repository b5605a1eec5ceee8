/* Whoever else changes the number of replicas of a workload: a HorizontalPodAutoscaler, or a
 * ScaledObject of KEDA, which tells the queries of the HorizontalPodAutoscaler that KEDA makes of
 * it. roll/scaler.h is what works with it. */
#ifndef MODEL_SCALER_H
#define MODEL_SCALER_H

#include <stdint.h>

#include "model/workload.h"

#define SCALER_METRICS_MAX 64 /* of one; one with more is not kept */

struct scaler {
	const char *kind, *name;
	const char *const *metrics; /* names; queries where there are only those */
	uint32_t metric_count;
	int32_t current, desired; /* replicas; of a ScaledObject 0: it does not tell */
	int64_t scaled_ms;	  /* when it last changed the number; 0: never */

	struct workload_key target; /* what it scales, in its own namespace */
	const char *uid;
};

#endif
