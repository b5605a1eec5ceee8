/* Tells in the status of each GPUWorkloadGroup whether it can be used as it is written, and if not,
 * what to write instead; and now and then how many pods it takes. One write at a time, and a moment
 * between two, so that the watch has told of the last one before the next is thought of. */
#ifndef APP_GROUP_STATUS_H
#define APP_GROUP_STATUS_H

#include "base/part.h"
#include "kube/client.h"
#include "owner/groups.h"
#include "sizer/sizer.h"

struct group_status;

/* All borrowed. `count`: what a group gathers; false: nobody knows yet. */
struct group_status *group_status_create(struct kube *kube, const struct groups *groups,
	bool (*count)(void *data, const char *group, struct sizer_gathered *ret), void *data);
/* Only a leader writes. */
extern const struct part group_status_part;

#endif
