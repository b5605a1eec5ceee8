/* HorizontalPodAutoscalers of autoscaling/v2 and ScaledObjects of keda.sh/v1alpha1: JSON to struct
 * scaler. Of the first the names of its metrics, of the second the queries and names of its
 * triggers, which are only there. Text lives in the arena; FAULT_INVALID names the path. */
#ifndef CODEC_AUTOSCALER_H
#define CODEC_AUTOSCALER_H

#include <stddef.h>

#include "base/alloc.h"
#include "base/fault.h"
#include "json/slice.h"
#include "model/scaler.h"

const struct slice_keep *scaler_projection(void);
MUST_CHECK int scaler_decode(const char *json, size_t n, struct arena *arena,
	struct scaler *ret_scaler, struct fault *ret_fault);

const struct slice_keep *scaled_object_projection(void);
MUST_CHECK int scaled_object_decode(const char *json, size_t n, struct arena *arena,
	struct scaler *ret_scaler, struct fault *ret_fault);

#endif
