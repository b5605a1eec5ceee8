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

/* Entries of one device, those of a pod side by side. What the server of MPS did goes to its
 * clients, where the driver tells nothing of what they did themselves. */
void share_server(struct entry *entries, uint32_t count);
/* Makes the parts smaller, these containers' and the device's lost ones, where together they are
 * more than the device did. True if it had to. */
bool share_scale(struct container_use *containers, uint32_t count, struct device_use *device,
	const struct gpu_reading *reading);

#endif
