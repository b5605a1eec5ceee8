/* Whoever else changes the number of replicas: a HorizontalPodAutoscaler, a ScaledObject of KEDA.
 *
 * One that scales on how much of its GPU a pod uses would add pods when we make shares smaller,
 * which lowers their use, and so on: of such a workload compute is not automated. One that scales
 * on something else is left in peace while it is at it. */
#ifndef ROLL_SCALER_H
#define ROLL_SCALER_H

#include "model/scaler.h"

#define SCALER_QUIET_MS 600000 /* after it changed the number */

/* HorizontalScalerOnGPU. Borrowed, the metric that says so; NULL: none does. */
const char *scaler_gpu_metric(const struct scaler *s);

/* Until when nothing is replaced: 0 not at all, INT64_MAX while it is scaling. */
int64_t scaler_frozen_until(const struct scaler *s, int64_t now_ms);

#endif
