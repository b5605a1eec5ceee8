/* Who uses what: a sample, where its processes live and the node's pods, brought together. Pure;
 * everything in the result is from the arena or borrowed from the arguments, and dies with them.
 *
 * A process is charged to a pod only where the pod may use that device: a tenant on a device that
 * it was granted, another pod on a device that no capacity pod holds and no tenant was granted. All
 * else is in the device's `lost`, by reason and without a name.
 *
 * What is not told is -1 and not zero. A pod that runs and has no process on its device uses 0 of
 * it, but only while the device answers and each of its processes could be looked at: otherwise one
 * of those may be the pod's, and the pod has no line at all. Which device a pod of whole GPUs holds
 * is told by the kubelet, or by nobody but its processes: before the first one it may have no line
 * then. */
#ifndef NODE_ATTRIBUTE_H
#define NODE_ATTRIBUTE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/alloc.h"
#include "gpu/sample.h"
#include "node/node_pods.h"
#include "node/proc.h"

#define USE_FULL      100000 /* thousandths of a percent */
#define USE_LINES_MAX 4096   /* containers with a device, and pods with one */

/* Why a process is charged to nobody. */
enum loss {
	LOSS_GONE,	  /* it had ended when it was looked at */
	LOSS_UNREAD,	  /* it could not be looked at */
	LOSS_HOST,	  /* it is in no pod */
	LOSS_UNKNOWN_POD, /* the API server knows no such pod here */
	LOSS_NOT_GRANTED, /* a tenant of ours on a device that it was not granted */
	LOSS_NOT_MANAGED, /* not ours, on a device that is shared by us */
	LOSS_CAPACITY,	  /* a capacity pod's own: the MPS server */
	LOSS_LIMIT,	  /* more pods or containers than are told apart */
	LOSS_COUNT
};
const char *loss_name(enum loss why); /* as a label's value: "gone", "unread", … */

/* What some processes use of one device together. */
struct use {
	int64_t sm, mem_util, enc,
		dec;	   /* thousandths of a percent, USE_FULL at most; -1: not told */
	int64_t mem_bytes; /* -1: not told, also where one of them is not */
	uint32_t processes;
	uint32_t kinds;	    /* of enum gpu_process_kind */
	const char *source; /* what an estimate of `sm` rests on; NULL: it was measured */
	bool presumed; /* nobody says that it is on this device at all: `source` is of all of it */
};

/* One container on one device: a line of the metrics. */
struct container_use {
	const struct node_pod *pod;
	const char *container; /* "": it is not known which of the pod's */
	uint32_t device;       /* of the sample */
	bool first; /* of this pod on this device: what is the pod's as a whole goes here */
	struct use use;
};

/* One pod on one device, of whoever has a process there or was granted it, charged or not. */
struct pod_usage {
	const char *uid;	    /* as the cgroup has it where pod is NULL */
	const struct node_pod *pod; /* NULL: the API server knows no such pod here (any more) */
	uint32_t device;
	bool charged; /* it may use that device, and its figures are known */
	struct use use;
};

struct device_use {
	struct use lost; /* processes that are charged to nobody */
	uint32_t lost_by[LOSS_COUNT];
	bool shared; /* a capacity pod holds it, or a tenant was granted it */
	bool blind;  /* some process could not be looked at: nobody is said to be idle */
	bool scaled; /* the sum of all was more than the device did; the parts were made smaller */
};

struct usage {
	struct container_use *containers; /* by device, namespace, name, uid, container */
	uint32_t container_count;
	struct pod_usage *pods; /* by device, namespace, name, uid; unknown ones first */
	uint32_t pod_count;
	struct device_use *devices; /* as in the sample */
	uint32_t device_count;
	uint32_t gone;	 /* processes that ended between the driver's word and ours */
	bool incomplete; /* there are more pods than USE_LINES_MAX: some are missing in `pods` */
	bool host_pid_missing;
};

void usage_make(const struct gpu_sample *sample, const struct places *places,
	const struct node_pods *pods, struct arena *arena, struct usage *ret_usage);

/* For attribute_whole.c: the pod has ended; a pod may use a device. */
struct work;
struct holding;
bool work_pod_is_over(const struct node_pod *pod);
void work_add_holder(struct work *w, const struct holding *holding);

#endif
