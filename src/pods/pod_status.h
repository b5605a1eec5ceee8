/* What has become of a pod. */
#ifndef PODS_POD_STATUS_H
#define PODS_POD_STATUS_H

#include "json/fields.h"
#include "model/pod.h"

extern const struct shape pod_status_shape; /* status, into struct pod */

#endif
