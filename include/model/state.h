/* What an agent has told of its node (docs/design/state.md): the health of each device, and which
 * pods may still use one. It is read where tenants run, not watched. What it does not say is
 * unknown: no state at all says nothing of any device or pod. */
#ifndef MODEL_STATE_H
#define MODEL_STATE_H

#include <stdbool.h>
#include <stdint.h>

/* Nothing is concluded from what was seen longer ago than this. */
#define STATE_FRESH_MS 10000

struct device_state {
	const char *uuid;
	const char *why; /* it is not healthy; NULL: it is */
};

struct node_state {
	const char *node;
	const char *boot; /* another one whenever the agent was started */
	int64_t sequence; /* grows with every answer of one boot */
	/* On the reader's monotonic clock: what is told was so at this time or later. */
	int64_t seen_ms;
	bool again; /* devices and pods are as they were told before, and left out here */
	struct device_state *devices;
	uint32_t device_count;
	const char **pods; /* uids of pods that may use a device of this node */
	uint32_t pod_count;
};

#endif
