/* Objects of Kubernetes' own APIs that are watched and only read: the tables by which JSON becomes
 * structs (fields_decode), and by which a watch keeps of it what is read (meta_projection). Text
 * lives in the arena; FAULT_INVALID names the path. */
#ifndef CODEC_OBJECTS_H
#define CODEC_OBJECTS_H

#include "codec/meta.h"
#include "json/fields.h"
#include "model/budget.h"
#include "model/node.h"
#include "model/podgroup.h"
#include "model/policy.h"
#include "model/quota.h"
#include "model/scaler.h"

extern const struct shape node_shape;	     /* struct node */
extern const struct shape namespace_shape;   /* struct namespace */
extern const struct shape limit_range_shape; /* struct limit_range */
/* struct quota, of a ResourceQuota. What the API server counts (status) is left out: it changes
 * with every pod, and is not what we count. */
extern const struct shape quota_shape;
/* struct budget, of a PodDisruptionBudget */
extern const struct shape budget_shape;
/* struct pod_group. One that is not understood in all its parts is not Basic, and no fault. */
extern const struct shape pod_group_shape;
/* struct gpu_slice, of a ResourceSlice of NVIDIA's DRA driver: which nodes publish GPUs that way.
 * Of any other driver's a slice without a node. */
extern const struct shape gpu_slice_shape;
#define GPU_SLICE_SELECTOR "spec.driver=gpu.nvidia.com"
/* struct scaler, of a HorizontalPodAutoscaler the names of its metrics, of a ScaledObject of KEDA
 * the queries and names of its triggers, which are only there. */
extern const struct shape scaler_shape, scaled_object_shape;

#endif
