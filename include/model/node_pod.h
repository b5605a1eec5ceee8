/* A pod as the agent of its node sees it: which devices it may use, and what its containers are
 * called. */
#ifndef MODEL_NODE_POD_H
#define MODEL_NODE_POD_H

#include <stdbool.h>
#include <stdint.h>

#include "model/pod.h"

#define NODE_PODS_MAX	    2048 /* more are not kept; nothing can be attributed to them */
#define NODE_CONTAINERS_MAX 64	 /* a pod: init ones and ephemeral ones too */
#define NODE_UUIDS_MAX	    MODEL_GPU_COUNT_MAX
#define NODE_TOLD_MAX	    64 /* devices of a pod, of all its containers */

struct node_container {
	const char *name;
	const char *id; /* 64 hexadecimal digits, without "containerd://"; NULL: not started */
};

/* A device that the kubelet gave to a container. */
struct node_device {
	const char *uuid;
	const char *container; /* its name */
};

/* Who owns the text says whoever gives one. */
struct node_pod {
	const char *uid, *ns, *name;
	/* A static pod's: by this its cgroup is called. Anybody may write the annotation: fill it
	 * only for a pod that is a mirror (kubernetes.io/config.mirror the same, owned by a Node).
	 */
	const char *config_hash;
	enum pod_phase phase;
	bool tenant;   /* of ours, by its label; `uuids` and `mem_mib` are the guarded keys' */
	bool capacity; /* a capacity pod of ours, in our namespace; `uuids` is the GPU it told */
	bool mps;      /* in mode MPS: a capacity pod that keeps a daemon, or a client of one */
	int64_t gpus;  /* nvidia.com/gpu that it asks for: a pod of whole GPUs */
	const char **uuids; /* the devices it was granted */
	uint32_t uuid_count;
	int64_t milli;	 /* granted on each, 0: not told */
	int64_t mem_mib; /* the same */
	/* A tenant's limits under MPS, as its guarded keys have them; NULL: none. */
	const char *mps_threads, *mps_memory;
	int64_t deleting_ms; /* wall clock: when its grace period ends; 0: it is not being deleted
			      */
	const char *gpu_container; /* the one that gets the device; NULL: not told */
	struct node_container *containers;
	uint32_t container_count;
	/* Devices that it used at any time; filled by node_pods_saw (node/node_pods.h) alone. */
	const char **seen;
	uint32_t seen_count;
	/* What the kubelet says that it was given; 0: it has said nothing. Filled by
	 * node_pods_told alone. */
	const struct node_device *told;
	uint32_t told_count;
};

#endif
