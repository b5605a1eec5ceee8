/* Between attribute.c, which says whose each process is, and attribute_share.c, which shares out
 * what the driver tells of several as one. */
#ifndef NODE_ATTRIBUTE_PARTS_H
#define NODE_ATTRIBUTE_PARTS_H

#include "base/vec.h"
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
	VEC_OF(struct entry) entries;
};

/* A pod may use a device. */
struct holding {
	const struct node_pod *pod;
	uint32_t device;
	const char *container; /* its name as it was told; NULL: it was not */
	const char *source;    /* what that rests on */
};

#endif
