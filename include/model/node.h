/* A node: what it offers, what keeps pods away, how its GPUs are published. */
#ifndef MODEL_NODE_H
#define MODEL_NODE_H

#include <stdbool.h>
#include <stdint.h>

#include "model/extra.h"
#include "model/labels.h"

struct taint {
	const char *key;
	const char *value;
	const char *effect; /* NoSchedule, PreferNoSchedule, NoExecute */
};

struct node {
	const char *name;
	const char *uid;
	const char *resource_version;
	struct pairs labels;
	struct taint *taints;
	uint32_t taint_count;
	const char *boot;    /* status.nodeInfo.bootID; NULL: none, or too long */
	const char *runtime; /* containerRuntimeVersion, the same way; not a RuntimeClass */
	const char
		*gpus_reset; /* a person's word that its GPUs were reset, another one each time */
	bool unschedulable;  /* cordoned, or not all of it could be kept */
	bool ready;
	int64_t cpu_milli; /* allocatable */
	int64_t mem_bytes;
	int64_t pod_slots;
	int64_t gpus;
	struct amounts others; /* allocatable of whatever else */
	/* C27: somebody else gives out parts of its GPUs */
	bool shares_already; /* GPU feature discovery says time-slicing or MPS */
	bool is_mig;	     /* what it offers as GPUs are partitions of such */
	bool serves_hami;    /* HAMi's device plugin registered its GPUs */
	bool serves_kai;     /* it is in a node pool of KAI's */
};

/* A ResourceSlice of NVIDIA's driver: some GPUs of a node, published through DRA. */
struct gpu_slice {
	const char *name;
	const char *node; /* NULL: it is not about the GPUs of one node */
};

#endif
