/* GPUWorkloadGroups: JSON to struct workload_group, defaults as the CRD's. Text lives in the arena.
 * Whether its expressions compile is not asked here. */
#ifndef OWN_GPUWORKLOADGROUP_H
#define OWN_GPUWORKLOADGROUP_H

#include <stdbool.h>
#include <stdint.h>

#include "json/build.h"
#include "json/fields.h"
#include "model/group.h"

extern const struct shape group_shape; /* struct workload_group */

struct group_verdict {
	const char *reason;  /* of the condition Accepted */
	const char *problem; /* what to write instead; NULL: it is accepted */
	int64_t wall_ms;
	bool counted; /* else the counts stay as they are */
	int32_t pods, groups;
};
/* A merge patch of the status. The group that it is about must be the
 * one that was judged: the patch names its uid. */
void group_write_status(
	struct build *b, const struct workload_group *g, const struct group_verdict *verdict);

#endif
