/* The pods of this node as the API server tells them: who may use which device, and what the
 * cgroups of its containers are called. Filled from a watch, asked by uid. */
#ifndef NODE_PODS_H
#define NODE_PODS_H

#include <stdbool.h>
#include <stdint.h>

#include "model/pod.h"

#define NODE_PODS_MAX	    2048 /* more are not kept; nothing can be attributed to them */
#define NODE_CONTAINERS_MAX 64	 /* a pod: init ones and ephemeral ones too */
#define NODE_UUIDS_MAX	    MODEL_GPU_COUNT_MAX

struct node_container {
	const char *name;
	const char *id; /* 64 hexadecimal digits, without "containerd://"; NULL: not started */
};

/* All text is borrowed by node_pods_set and owned by what node_pods_find gives. */
struct node_pod {
	const char *uid, *ns, *name;
	/* A static pod's: by this its cgroup is called. Anybody may write the annotation: fill it
	 * only for a pod that is a mirror (kubernetes.io/config.mirror the same, owned by a Node).
	 */
	const char *config_hash;
	enum pod_phase phase;
	bool tenant;   /* of ours, by its label; `uuids` and `mem_mib` are the guarded keys' */
	bool capacity; /* a capacity pod of ours, in our namespace; `uuids` is the GPU it told */
	int64_t gpus;  /* nvidia.com/gpu that it asks for: a pod of whole GPUs */
	const char **uuids; /* the devices it was granted */
	uint32_t uuid_count;
	int64_t milli;		   /* granted on each, 0: not told */
	int64_t mem_mib;	   /* the same */
	const char *gpu_container; /* the one that gets the device; NULL: not told */
	struct node_container *containers;
	uint32_t container_count;
};

struct node_pods;

struct node_pods *node_pods_create(void);
void node_pods_destroy(struct node_pods *p); /* NULL is fine */
/* A copy is kept, in place of the former one of that uid. False: there are too many. */
bool node_pods_set(struct node_pods *p, const struct node_pod *pod);
void node_pods_remove(struct node_pods *p, const char *uid);
/* Round a relist: what was neither set nor kept in between is gone at its end. */
void node_pods_relist_begin(struct node_pods *p);
void node_pods_keep(struct node_pods *p, const char *uid);
void node_pods_relist_end(struct node_pods *p);

uint32_t node_pods_count(const struct node_pods *p);
/* In no order; valid until the next change. i < count. */
const struct node_pod *node_pods_at(const struct node_pods *p, uint32_t i);
const struct node_pod *node_pods_find(const struct node_pods *p, const char *uid);
/* By what a cgroup calls it: a uid, or the hash of a static pod. A hash that two pods claim is
 * nobody's. */
const struct node_pod *node_pods_of_cgroup(const struct node_pods *p, const char *name);
/* By namespace and name, for watches that tell no uid. */
const struct node_pod *node_pods_named(const struct node_pods *p, const char *ns, const char *name);

bool node_pod_granted(const struct node_pod *p, const char *uuid);
/* NULL: none of its containers is called that so far. */
const struct node_container *node_pod_container(const struct node_pod *p, const char *id);

#endif
