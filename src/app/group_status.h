/* Tells in the status of each GPUWorkloadGroup whether it can be used as it is written, and if not,
 * what to write instead. One write at a time, and a moment between two, so that the watch has told
 * of the last one before the next is thought of. */
#ifndef APP_GROUP_STATUS_H
#define APP_GROUP_STATUS_H

#include "kube/client.h"
#include "owner/groups.h"

struct group_status;

/* Both borrowed. */
struct group_status *group_status_create(struct kube *kube, const struct groups *groups);
void group_status_destroy(struct group_status *s);
/* `writes`: only a leader does. */
void group_status_step(struct group_status *s, int64_t now_mono_ms, bool writes);
int64_t group_status_deadline(const struct group_status *s, bool writes);

#endif
