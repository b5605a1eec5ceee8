/* Reasons by name: what conditions, events and metric labels carry. */
#include "model/reason.h"

#include "base/alloc.h"
#include "base/str.h"

static const char *const names[REASON_COUNT] = {
	[REASON_NONE] = "None",
	[REASON_NO_GPU] = "NoGpu",
	[REASON_NO_RECOMMENDATION] = "NoRecommendation",
	[REASON_NOT_AUTOMATED] = "NotAutomated",
	[REASON_DISABLED] = "Disabled",
	[REASON_EXCLUDED] = "Excluded",
	[REASON_POLICY_NOT_FOUND] = "PolicyNotFound",
	[REASON_OWNER_UNKNOWN] = "OwnerUnknown",
	[REASON_BARE_POD] = "BarePod",
	[REASON_SCHEDULER] = "OtherScheduler",
	[REASON_NODE_NAME] = "NodeNameSet",
	[REASON_STATIC_POD] = "StaticPod",
	[REASON_GANG] = "Gang",
	[REASON_QUEUE] = "Queue",
	[REASON_RANK] = "ParallelRank",
	[REASON_DECLARED] = "DeclaredPod",
	[REASON_PRIVILEGED] = "Privileged",
	[REASON_OWN_DEVICES] = "OwnVisibleDevices",
	[REASON_GPU_INIT_CONTAINER] = "GpuInitContainer",
	[REASON_SEVERAL_GPU_CONTAINERS] = "SeveralGpuContainers",
	[REASON_MIG] = "Mig",
	[REASON_RESOURCE_CLAIMS] = "ResourceClaims",
	[REASON_PREALLOCATES] = "PreallocatesWithoutWall",
	[REASON_LIMIT_RANGE] = "LimitRange",
	[REASON_BAD_VALUE] = "BadValue",
	[REASON_COUNT_MISMATCH] = "CountMismatch",
	[REASON_MULTI_GPU] = "MultiGpu",
	[REASON_WHOLE] = "WholeGpu",
	[REASON_CONTROLLER_AWAY] = "ControllerAway",
	[REASON_BACKLOG] = "Backlog",
	[REASON_NOT_SYNCED] = "NotSynced",
	[REASON_CONVERTED] = "Converted",
	[REASON_NOT_OURS] = "NotOurs",
	[REASON_OTHER_GATES] = "OtherGates",
	[REASON_NO_GPU_NODE] = "NoGpuNode",
	[REASON_SHORT_COMPUTE] = "ShortCompute",
	[REASON_SHORT_MEMORY] = "ShortMemory",
	[REASON_MAX_TENANTS] = "MaxTenants",
	[REASON_NODE_UNFIT] = "NodeUnfit",
	[REASON_WAITING_FOR_CAPACITY] = "WaitingForCapacity",
	[REASON_GRANTING] = "Granting",
	[REASON_PLACED] = "Placed",
	[REASON_CAPACITY_FAILED] = "CapacityFailed",
	[REASON_GPU_UNHEALTHY] = "GpuUnhealthy",
	[REASON_REACQUIRING] = "Reacquiring",
	[REASON_MPS_HELD_OFF] = "MpsHeldOff",
	[REASON_API_REFUSED] = "ApiRefused",
	[REASON_TOO_COMPLEX] = "TooComplex",
	[REASON_BAD_AMOUNT] = "BadGpuAmount",
	[REASON_TOO_LARGE] = "TooLarge",
	[REASON_LONG_NAME] = "LongContainerName",
	[REASON_LARGER_THAN_ANY_GPU] = "LargerThanAnyGpu",
	[REASON_RUNTIME_CLASS] = "RuntimeClass",
	[REASON_OTHER_SHARING] = "OtherSharing",
	[REASON_READING_VOLUMES] = "ReadingVolumes",
	[REASON_VOLUME_NOT_READY] = "VolumeNotReady",
	[REASON_QUOTA] = "Quota",
	[REASON_QUOTA_ZERO] = "QuotaZero",
	[REASON_RECYCLED] = "Recycled",
	[REASON_NODE_LEAVES] = "NodeLeaves",
	[REASON_PREEMPTED] = "Preempted",
	[REASON_CAPACITY_LOST] = "CapacityLost",
	[REASON_PINNED_UNSCHEDULABLE] = "PinnedUnschedulable",
	[REASON_WHOLE_POD_FIRST] = "WholePodFirst",
	[REASON_RESERVED] = "Reserved",
	[REASON_EXCLUSIVE] = "Exclusive",
	[REASON_SHORT_GPUS] = "ShortGpus",
	[REASON_NO_SCALE_UP] = "NoScaleUp",
	[REASON_MEMORY_OVERUSE] = "MemoryOveruse",
	[REASON_WITHIN_SHARE] = "WithinShare",
	[REASON_CONTENTION] = "Contention",
	[REASON_NO_CONTENTION] = "NoContention",
	[REASON_NO_INJECTION] = "NoInjection",
	[REASON_USER_PINNED] = "UserPinned",
	[REASON_STARTS_IN_TURN] = "StartsInTurn",
	[REASON_RIGHTSIZED] = "Rightsized",
	[REASON_PROVING] = "ProvingInjection",
	[REASON_PROBE_ENDED] = "ProbeEnded",
	[REASON_NEVER_SIZED] = "NeverSized",
	[REASON_NO_SHARE_NODE] = "NoNodeForShare",
	[REASON_NEIGHBOURS] = "NeighboursNotJudged",
	[REASON_GIVEN_BACK] = "GivenBack",
	[REASON_POLICY_REFUSED] = "PolicyRefused",
	[REASON_CONVERTED_REFUSED] = "ConvertedRefused",
};

const char *reason_name(enum reason reason)
{
	ENSURE(reason < REASON_COUNT && names[reason] != NULL);
	return names[reason];
}

enum reason reason_parse(const char *name)
{
	size_t i = texts_find(names, REASON_COUNT, name);
	return i < REASON_COUNT ? (enum reason)i : REASON_NONE;
}

bool reason_is_ours(enum reason reason)
{
	static const enum reason ours[] = {REASON_GRANTING, REASON_WAITING_FOR_CAPACITY,
		REASON_API_REFUSED, REASON_READING_VOLUMES, REASON_CAPACITY_FAILED,
		REASON_NO_INJECTION, REASON_PROBE_ENDED, REASON_PROVING, REASON_RUNTIME_CLASS,
		REASON_POLICY_REFUSED};
	for (size_t i = 0; i < COUNT_OF(ours); i++) {
		if (reason == ours[i]) {
			return true;
		}
	}
	return false;
}

bool reason_would_run_whole(enum reason reason)
{
	return reason_is_ours(reason) || reason == REASON_OTHER_SHARING ||
	       reason == REASON_NO_SCALE_UP || reason == REASON_LARGER_THAN_ANY_GPU;
}
