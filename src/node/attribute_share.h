/* What the driver tells of several processes as one, shared out among them. */
#ifndef NODE_ATTRIBUTE_SHARE_H
#define NODE_ATTRIBUTE_SHARE_H

#include "attribute_parts.h"

/* Entries of one device, those of a pod side by side. What the server of MPS did goes to its
 * clients, where the driver tells nothing of what they did themselves. */
void share_server(struct entry *entries, uint32_t count);
/* Makes the parts smaller, these containers' and the device's lost ones, where together they are
 * more than the device did. True if it had to. */
bool share_scale(struct container_use *containers, uint32_t count, struct device_use *device,
	const struct gpu_reading *reading);

#endif
