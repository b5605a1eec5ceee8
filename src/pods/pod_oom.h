/* Did a container end because a GPU had no memory left? */
#ifndef PODS_POD_OOM_H
#define PODS_POD_OOM_H

#include "json/fields.h"
#include "model/pod.h"

/* How a container ended (NULL: it has not): whether a GPU had no memory left for it. What says so
 * in the wrong type says nothing. */
void pod_oom_note(const json_t *terminated, struct pod *pod);
/* The same: when it ended with an error. */
void pod_oom_failed(const json_t *terminated, struct pod *pod);

#endif
