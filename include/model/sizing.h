/* The numbers by which a workload's share is found and kept: those of a GPUPolicy (spec.compute,
 * spec.memory, spec.history, spec.healing and what of spec.update is about a share and not about
 * pods), or those of a built-in policy, which has some more that no policy can say. What a policy
 * leaves open is that of the kind of work that it is used for (size/policy_resolution.h).
 *
 * Percentages are whole: of one GPU where the name ends in `_percent` of a bound or a step, else of
 * what they are applied to. Memory is in MiB, time in seconds. All of it is within the limits of
 * the CRD: codec/gpupolicy checks what a person wrote, a test what is compiled in. */
#ifndef MODEL_SIZING_H
#define MODEL_SIZING_H

#include <stdbool.h>
#include <stdint.h>

/* The longest window, and so the most hours that a history keeps. */
#define SIZING_WINDOW_MAX_S 2592000

/* spec.memory.preallocated: what to do with a framework that takes memory ahead of need. */
enum preallocated {
	PREALLOCATED_APP_METRICS, /* sized by its own gauges; where there are none, as KEEP_USED */
	PREALLOCATED_KEEP_USED,	  /* what it uses stays */
	PREALLOCATED_SHRINK,	  /* treated as if it grew with need */
};

/* One half of spec.healing. */
struct sizing_heal {
	bool enabled;	      /* false: the pressure is only said */
	int32_t step_percent; /* is added, of the share */
	int64_t min_step;     /* at least this much: percent of one GPU, or MiB */
	int64_t hold_s;	      /* for so long it is not shrunk afterwards */
};

/* Numbers that a policy may leave to the kind of work, and those that it has to. */
enum sizing_open {
	SIZING_OPEN_PERCENTILE = 1 << 0,
	SIZING_OPEN_HEADROOM = 1 << 1,
	SIZING_OPEN_MIN = 1 << 2,
	SIZING_OPEN_MAX = 1 << 3,
	SIZING_OPEN_MEM_HEADROOM = 1 << 4,
	SIZING_OPEN_WINDOW = 1 << 5,
	SIZING_OPEN_REQUIRED = 1 << 6,
	SIZING_OPEN_DELAY = 1 << 7,
	SIZING_OPEN_REST = 1 << 8,
};

struct sizing {
	/* --- how much: compute, in percent of one GPU --- */
	int32_t percentile;	  /* of use that the share covers, 50..100 */
	int32_t headroom_percent; /* of that, on top */
	int32_t min_percent, max_percent;
	int32_t step_percent;		/* shares are rounded up to a multiple of it */
	int32_t whole_from_p50_percent; /* a median of so much or more: the whole GPU; 0: never */
	int32_t active_above_percent;	/* a minute of no more than this is idle and does not count
					   for compute; 0: every minute counts */

	/* --- memory --- */
	int32_t mem_headroom_percent;	  /* on top of the peak */
	int64_t min_mem_mib, max_mem_mib; /* max 0: unset */
	int64_t step_mem_mib;
	enum preallocated preallocated;

	/* --- history --- */
	int64_t window_s;
	int64_t required_s;	/* observed minutes, as seconds, before anything is changed */
	int64_t half_life_s;	/* of compute; at most the window counts */
	int32_t required_runs;	/* or so many runs that ended; 0: none asked for */
	int64_t required_run_s; /* with so much observed of them in all */

	/* --- change --- */
	int32_t min_change_percent; /* of the present share; less is not done */
	int64_t scale_down_delay_s;
	int64_t shrink_idle_s; /* and only after so long without activity; 0: at any time */
	bool keeps_running;    /* a running pod is never shrunk: the next one gets less */

	/* --- healing --- */
	struct sizing_heal heal_memory, heal_compute;

	uint32_t open; /* enum sizing_open, of a policy: nobody said these */
};

/* No kind of work has a smaller minPercent: where a policy has none, what a person asks for is not
 * raised beyond it. */
#define SIZING_LEAST_PERCENT 5

/* Where neither the policy nor the kind of work says anything; also what real-time inference gets.
 */
#define SIZING_DEFAULT                                                                             \
	{                                                                                          \
		.percentile = 98, .headroom_percent = 25, .min_percent = 10, .max_percent = 100,   \
		.step_percent = 5, .mem_headroom_percent = 15, .min_mem_mib = 1024,                \
		.step_mem_mib = 256, .preallocated = PREALLOCATED_APP_METRICS, .window_s = 604800, \
		.required_s = 86400, .half_life_s = 86400, .min_change_percent = 10,               \
		.scale_down_delay_s = 86400, .heal_memory = {true, 20, 1024, 86400},               \
		.heal_compute = {true, 30, 10, 21600},                                             \
	}

#endif
