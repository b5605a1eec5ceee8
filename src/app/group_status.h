/* Tells in the status of each GPUWorkloadGroup whether it can be used as it is written, and if not,
 * what to write instead; and now and then how many pods it takes. One write at a time, and a moment
 * between two, so that the watch has told of the last one before the next is thought of. */
#ifndef APP_GROUP_STATUS_H
#define APP_GROUP_STATUS_H

#include "kube/client.h"
#include "owner/groups.h"
#include "sizer/sizer.h"

struct group_status;
struct group_status_config {
	struct kube *kube;	     /* borrowed */
	const struct groups *groups; /* borrowed */
	/* What a group gathers; false: nobody knows yet */
	bool (*count)(void *data, const char *group, struct sizer_gathered *ret);
	void *data;
};

struct group_status *group_status_create(const struct group_status_config *config);
void group_status_destroy(struct group_status *s);
/* `writes`: only a leader does. */
void group_status_step(struct group_status *s, int64_t now_mono_ms, bool writes);
int64_t group_status_deadline(const struct group_status *s, bool writes);

#endif
