/* When and how running pods are brought to a new share: what of a GPUPolicy's spec.update is about
 * pods (what is about shares stands in model/sizing.h). All text is of the policy's arena. */
#ifndef MODEL_ROLLOUT_H
#define MODEL_ROLLOUT_H

#include <stdbool.h>
#include <stdint.h>

#define ROLLOUT_KINDS_MAX   32
#define ROLLOUT_WINDOWS_MAX 16

enum rollout_strategy {
	ROLLOUT_ON_CREATE, /* only pods that something else creates */
	ROLLOUT_ONGOING,   /* running pods are replaced */
	ROLLOUT_NEVER,	   /* no pod is sized */
};

struct rollout_kind {
	const char *kind; /* of the top owner */
	enum rollout_strategy strategy;
};

struct rollout_window {
	uint8_t days;	       /* on which it starts: bit 0 is Monday */
	int32_t start_min;     /* of the day, 0..1439 */
	int32_t end_min;       /* 0..1440; at or before the start: on the next day */
	const char *time_zone; /* an IANA name */
};

struct rollout {
	struct rollout_kind *kinds; /* those that are written; of the rest owner_row says */
	uint32_t kind_count;
	int32_t min_replicas;
	int64_t min_pod_age_s;
	int64_t cooldown_s;
	int32_t max_unavailable; /* pods, or percent of the workload's */
	bool max_unavailable_is_percent;
	int32_t give_back_min; /* a tenant that waits in vain goes back to whole; 0: never */
	bool evicts;	       /* replacement: Evict; else a new pod is Ready first */
	bool may_add_nodes;    /* a replacement may wait for one */
	struct rollout_window *windows; /* none: always */
	uint32_t window_count;
};

/* What the CRD has where a policy says nothing. */
#define ROLLOUT_DEFAULT                                                                            \
	{                                                                                          \
		.min_replicas = 1, .min_pod_age_s = 3600, .cooldown_s = 1800,                      \
		.max_unavailable = 1, .give_back_min = 5                                           \
	}

#endif
