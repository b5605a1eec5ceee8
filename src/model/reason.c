/* The names of the reasons, in CamelCase as Kubernetes shows reasons. */
#include "model/reason.h"

#include "base/alloc.h"

static const char *const names[REASON_COUNT] = {
	[REASON_NONE] = "None",
	[REASON_NO_GPU] = "NoGPU",
	[REASON_NO_RECOMMENDATION] = "NoRecommendation",
	[REASON_NOT_AUTOMATED] = "NotAutomated",
	[REASON_DISABLED] = "Disabled",
	[REASON_EXCLUDED] = "Excluded",
	[REASON_POLICY_NOT_FOUND] = "PolicyNotFound",
	[REASON_OWNER_UNKNOWN] = "OwnerUnknown",
	[REASON_BARE_POD] = "BarePod",
	[REASON_SCHEDULER] = "Scheduler",
	[REASON_NODE_NAME] = "NodeName",
	[REASON_STATIC_POD] = "StaticPod",
	[REASON_GANG] = "Gang",
	[REASON_PRIVILEGED] = "Privileged",
	[REASON_OWN_DEVICES] = "OwnDevices",
	[REASON_GPU_INIT_CONTAINER] = "GPUInitContainer",
	[REASON_SEVERAL_GPU_CONTAINERS] = "SeveralGPUContainers",
	[REASON_MIG] = "MIG",
	[REASON_RESOURCE_CLAIMS] = "ResourceClaims",
	[REASON_PREALLOCATES] = "PreallocatesWithoutWall",
	[REASON_LIMIT_RANGE] = "LimitRange",
	[REASON_BAD_VALUE] = "BadValue",
	[REASON_COUNT_MISMATCH] = "CountMismatch",
	[REASON_MULTI_GPU] = "MultiGPU",
	[REASON_WHOLE] = "Whole",
	[REASON_CONTROLLER_AWAY] = "ControllerAway",
	[REASON_BACKLOG] = "Backlog",
	[REASON_NOT_SYNCED] = "NotSynced",
	[REASON_CONVERTED] = "Converted",
	[REASON_NOT_OURS] = "NotOurs",
	[REASON_OTHER_GATES] = "OtherGates",
	[REASON_NO_GPU_NODE] = "NoGPUNode",
	[REASON_SHORT_COMPUTE] = "ShortCompute",
	[REASON_SHORT_MEMORY] = "ShortMemory",
	[REASON_MAX_TENANTS] = "MaxTenants",
	[REASON_NODE_UNFIT] = "NodeUnfit",
	[REASON_WAITING_FOR_CAPACITY] = "WaitingForCapacity",
	[REASON_GRANTING] = "Granting",
	[REASON_PLACED] = "Placed",
	[REASON_CAPACITY_FAILED] = "CapacityFailed",
	[REASON_API_REFUSED] = "APIRefused",
};

const char *reason_name(enum reason reason)
{
	ENSURE((unsigned)reason < REASON_COUNT && names[reason] != NULL);
	return names[reason];
}
