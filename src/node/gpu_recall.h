/* What the driver said of devices while a process listened that has ended since. */
#ifndef NODE_GPU_RECALL_H
#define NODE_GPU_RECALL_H

#include "base/vec.h"
#include "gpu/sample.h"

struct recalled {
	char uuid[GPU_UUID_MAX];
	struct gpu_device device; /* as it said when it answered last */
	char pci_bus_id[32];
	uint32_t index;	 /* NVML's, then; UINT32_MAX: another device has it since */
	int64_t xid;	 /* the last one */
	int32_t ill_xid; /* 0: none */
	bool lost;
};

struct recall {
	VEC_FIELDS(struct recalled); /* at most PROBE_DEVICES_MAX */
};

/* Notes what the sample tells and adds what it does not know any more: XIDs, and who a device is
 * that does not answer. */
void recall_merge(struct recall *r, struct gpu_sample *sample, struct arena *arena);
void recall_finish(struct recall *r);

#endif
