/* Between attribute.c, which says whose each process is, and attribute_share.c, which shares out
 * what the driver tells of several as one. */
#ifndef NODE_ATTRIBUTE_PARTS_H
#define NODE_ATTRIBUTE_PARTS_H

#include "node/attribute.h"

enum entry_kind {
	ENTRY_PROCESS,
	ENTRY_IDLE,    /* a pod that may use the device and is known to run: it uses 0 at least */
	ENTRY_GRANTED, /* a pod of which it is not known whether it uses the device */
};

/* One process on one device, or the word that a pod may have one. */
struct entry {
	enum entry_kind kind;
	uint32_t device;
	const char *uid;	    /* "": in no pod */
	const struct node_pod *pod; /* NULL: unknown */
	const char *container;
	const struct gpu_process *process; /* ENTRY_PROCESS */
	enum loss loss;			   /* LOSS_COUNT: charged to its pod */
	int64_t sm, mem_util;		   /* what of the process's is its own; -1: not told */
	const char *source;		   /* as in struct use */
};

/* One look at everything, while it is taken apart. */
struct work {
	const struct gpu_sample *sample;
	const struct places *places;
	const struct node_pods *pods;
	struct arena *arena;
	struct usage *usage;
	struct entry *entries;
	uint32_t count;
};

bool work_pod_is_over(const struct node_pod *pod);
/* A pod may use a device. */
struct holding {
	const struct node_pod *pod;
	uint32_t device;
	const char *container; /* its name as it was told; NULL: it was not */
	const char *source;    /* what that rests on */
};
void work_add_holder(struct work *w, const struct holding *holding);

/* After the processes were added: which pod of whole devices holds which, where that can be known.
 * The kubelet tells it, if it is asked. Else a pod keeps a device on which it was seen, and the
 * last one without is where else nobody can be. Adds at most what whole_most says. */
void whole_add(struct work *w);
size_t whole_most(const struct work *w);

/* Entries of one device, those of a pod side by side. What the server of MPS did goes to its
 * clients, where the driver tells nothing of what they did themselves. */
void share_server(struct entry *entries, uint32_t count);
/* Makes the parts smaller, these containers' and the device's lost ones, where together they are
 * more than the device did. True if it had to. */
bool share_scale(struct container_use *containers, uint32_t count, struct device_use *device,
	const struct gpu_reading *reading);

#endif
