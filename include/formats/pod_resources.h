/* What a kubelet answers to v1.PodResourcesLister/List: which pod of its node was given which
 * devices. It comes as one message of gRPC, in protocol buffers.
 *
 * Read are the device ids of the resources that are asked for: NVIDIA's device plugin names GPUs by
 * their UUIDs, with "::" and a number behind it where one GPU is given out several times, which is
 * cut off. Instances of MIG and ids that are no UUID are counted and left out. Everything else in
 * the message, CPUs, memory, claims, is passed over.
 *
 * The names are the kubelet's: it tells no uid, and it may list a pod that has ended beside a new
 * one of its name. */
#ifndef FORMATS_POD_RESOURCES_H
#define FORMATS_POD_RESOURCES_H

#include "base/alloc.h"
#include "base/fault.h"
#include "base/str.h"
#include "model/node_pod.h"

#define POD_RESOURCES_PODS_MAX	  NODE_PODS_MAX
#define POD_RESOURCES_DEVICES_MAX 4096 /* GPUs of all pods */
#define POD_RESOURCES_BYTES_MAX	  ((size_t)1 << 20)

struct pod_devices {
	const char *ns, *name;
	struct node_device *devices; /* each once for each container */
	uint32_t count;
};

struct pod_resources {
	struct pod_devices *pods; /* also those without a GPU */
	uint32_t count;
	uint32_t mig, odd; /* device ids that were left out */
};

/* `resources` are names with commas between them. All text is in the arena. FAULT_INVALID for what
 * is no such message, FAULT_LIMIT where it has too much. */
MUST_CHECK int pod_resources_decode(struct view bytes, const char *resources, struct arena *arena,
	struct pod_resources *ret_resources, struct fault *ret_fault);

#endif
