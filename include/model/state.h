/* What an agent has told of its node (docs/design/state.md): the health of each device, and which
 * pods may still use one. It is read where tenants run, not watched. What it does not say is
 * unknown: no state at all says nothing of any device or pod. */
#ifndef MODEL_STATE_H
#define MODEL_STATE_H

#include <stdbool.h>
#include <stdint.h>

/* Nothing is concluded from what was seen longer ago than this. */
#define STATE_FRESH_MS 10000

/* The MPS daemon of a device, where a capacity pod keeps one. */
enum mps_state {
	MPS_UNSAID, /* no daemon is expected, or nothing is known of it */
	MPS_STARTING,
	MPS_ACTIVE,
	MPS_FAULT, /* a client's fault reached all of them; no new ones until they have gone */
	MPS_DOWN,
	MPS_STATES
};

/* Whence an agent knows that a device is not healthy. */
enum ill_cause {
	ILL_ASKED, /* the driver says so whenever it is asked */
	ILL_HEARD, /* an event said so once: an agent that was started since knows nothing of it */
	ILL_LOST,  /* it is out of reach, and will not be back without a reset */
	ILL_CAUSES
};

struct device_state {
	const char *uuid;
	const char *why; /* it is not healthy; NULL: it is */
	enum ill_cause cause;
	int64_t total_mib; /* memory; 0: not told, and then used_mib means nothing */
	int64_t used_mib;
	enum mps_state mps;
	uint32_t contexts;   /* processes that are clients of the daemon */
	const char *mps_why; /* what a person should know of that; or NULL */
};

/* What one pod uses of one device. A pod that is listed without any may use one soon. */
struct pod_use {
	const char *uid;
	const char *uuid;
	int64_t mem_mib; /* of all its processes there; -1: not known */
	uint32_t processes;
};

struct node_state {
	const char *node;
	const char *boot; /* another one whenever the agent was started */
	int64_t sequence; /* grows with every answer of one boot */
	/* On the reader's monotonic clock: what is told was so at this time or later. */
	int64_t seen_ms;
	/* It was at this time or earlier; where that is before seen_ms nothing is known of it. */
	int64_t seen_by_ms;
	bool again; /* devices and pods are as they were told before, and left out here */
	struct device_state *devices;
	uint32_t device_count;
	const char **pods; /* uids of pods that may use a device of this node */
	uint32_t pod_count;
	struct pod_use *uses; /* by pods of that list, on devices of that list */
	uint32_t use_count;
};

#endif
