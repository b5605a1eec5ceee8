/* What the driver said of devices while a process listened that has ended since. */
#ifndef NODE_GPU_RECALL_H
#define NODE_GPU_RECALL_H

#include "base/vec.h"
#include "gpu/sample.h"

struct recalled {
	char uuid[GPU_UUID_MAX];
	int64_t xid;	 /* the last one */
	int32_t ill_xid; /* 0: none */
	bool lost;
};

struct recall {
	VEC_FIELDS(struct recalled); /* at most PROBE_DEVICES_MAX */
};

/* Notes what the sample tells and adds what it does not know any more. */
void recall_merge(struct recall *r, struct gpu_sample *sample, struct arena *arena);
void recall_finish(struct recall *r);

#endif
