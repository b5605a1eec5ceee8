/* Which pods are on this node, by the directories that the kubelet makes for them.
 *
 * A pod has one from before its first container until after its last, also between two of them:
 * that it is gone proves that nothing of the pod runs (docs/design/state.md). The tree is walked
 * where a kubelet puts pods and nowhere else. */
#ifndef AGENT_CGROUPS_H
#define AGENT_CGROUPS_H

#include <stdint.h>

#include "base/alloc.h"
#include "base/fault.h"
#include "node/cgroup.h"

#define CGROUPS_PODS_MAX 2048

struct cgroup_pods {
	const char **names; /* uids, of static pods their hashes; from the arena, in no order */
	uint32_t count;
};

/* FAULT_NOT_FOUND where there is no pod at all, FAULT_LIMIT where there are more than are told
 * apart, FAULT_DENIED and FAULT_FATAL as the kernel has it. */
MUST_CHECK int cgroups_scan(const char *root, struct arena *arena, struct cgroup_pods *ret_pods,
	struct fault *ret_fault);
bool cgroups_have(const struct cgroup_pods *pods, const char *name);

#endif
