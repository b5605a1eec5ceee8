/* What an engine is told when it is made, the time of a step, and what people ask about one. */
#ifndef LEDGER_ENGINE_CONFIG_H
#define LEDGER_ENGINE_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "model/reason.h"

struct engine_config {
	int64_t idle_grace_ms;	 /* 0: 60 s; of tenants without a GPUPolicy */
	int64_t open_timeout_ms; /* 0: 120 s from the creation of a capacity pod to its identity */
	int64_t lost_ms;	 /* 0: 60 s that a GPU is searched for whose capacity pod is lost */
	int64_t held_ms; /* 0: 300 s that a share is held whose tenant is gone, nobody knows how */
	int64_t partial_ms;	       /* 0: 30 s that fewer GPUs are kept than a tenant asks for
					  (scheduling/group.h) */
	uint32_t evictions_per_minute; /* 0: 30, of all tenants together */
	int64_t patience_ms; /* 0: 60 s that a pod is passed over before GPUs are kept for it */
	int64_t stuck_ms; /* 0: 30 s that the scheduler may refuse a tenant before it is recycled */
	int64_t lacks_ms; /* 0: 10 s that a tenant fits nowhere before it displaces others */
	/* so long nothing fits a tenant before a capacity pod asks for a node for it (C14); 0:
	 * never
	 */
	int64_t scale_up_ms;
	int64_t serve_ms; /* 0: 300 s that a node counts which came for tenants and does not serve
			   */
	int64_t context_mib; /* 0: MODEL_CONTEXT_MIB, the smallest share of memory */
	uint32_t warm_gpus;  /* so many capacity pods without tenants stay beyond their grace */
	const char *runtime_class; /* of capacity pods; NULL: none; copied */
	/* C26: rules as model/injection.h has them, which must parse; NULL: `env` everywhere;
	 * copied */
	const char *injection;
	/* For tests: after every so many pictures what was kept of the last one is compared with
	 * what is made anew (engine_differs); 0: never */
	uint32_t check_every;
};

/* Two clocks, named: see base/clock.h. */
struct engine_now {
	int64_t mono_ms;
	int64_t policy_ms;
};

/* What people and metrics ask about the last complete step. */
struct engine_report {
	uint32_t waiting; /* tenants with our gate */
	uint32_t by_reason[REASON_COUNT];
	uint32_t gpus_open, gpus_opening;
	uint32_t gpus_orphaned; /* used by tenants and held by nobody */
	uint32_t gpus_doubled;	/* told by more than one capacity pod */
	int64_t granted_milli;
	/* of GPU memory where nothing enforces it: those over their share, by how much together,
	 * and those that lately ran out of memory through others */
	uint32_t tenants_over, tenants_contended;
	int64_t over_mib;
	uint64_t steps, decisions;
};

#endif
