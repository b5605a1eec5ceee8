/* GPUPolicy, as far as decisions read it now, and the namespace defaults that stand in for
 * annotations. */
#ifndef MODEL_POLICY_H
#define MODEL_POLICY_H

#include <stdbool.h>
#include <stdint.h>

#include "model/labels.h"
#include "model/rollout.h"
#include "model/sizing.h"

enum policy_mode { MODE_RECOMMEND, MODE_AUTOMATE, MODE_DISABLED };
enum isolation { ISOLATION_NONE, ISOLATION_MPS };
enum exclusivity { EXCLUSIVITY_ANY, EXCLUSIVITY_SAME, EXCLUSIVITY_DEDICATED };
enum capacity_lost { CAPACITY_LOST_REACQUIRE, CAPACITY_LOST_EVICT };
enum packing { PACKING_PACK, PACKING_SPREAD };
enum memory_overuse { OVERUSE_REPORT, OVERUSE_EVICT };

struct owner_kind {
	const char *group;
	const char *kind;
};

struct policy {
	const char *name;
	const char *uid;
	const char *resource_version;
	int64_t generation;
	int64_t created_ms;
	bool built_in;

	int32_t priority;
	bool is_fallback;
	bool has_selector;
	struct selector namespaces;
	struct selector pods;
	struct owner_kind *owner_kinds;
	uint32_t owner_kind_count;
	const char **workload_types;
	uint32_t workload_type_count;

	enum policy_mode mode;
	struct sizing sizing;
	struct rollout rollout;
	enum isolation isolation;
	enum exclusivity exclusivity;
	enum packing packing;
	enum capacity_lost capacity_lost;
	enum memory_overuse memory_overuse;
	int32_t max_tenants;
	int32_t idle_grace_s;
	bool never_preempts; /* who waits under it displaces nobody (C17) */

	/* what the status says now, so that it is written only on a change */
	int64_t status_observed_generation;
	int32_t status_matched, status_automated;
	const char *status_ready_reason; /* NULL: never written */
	bool status_overlapping;
	/* since when its conditions say so, in ms; 0: they are not there */
	int64_t status_accepted_ms, status_overlapping_ms, status_ready_ms;
};

struct namespace
{
	const char *name;
	struct pairs labels;
	struct pairs notes; /* annotations under aliquot.dev/ */
	bool terminating;
};

/* A LimitRange matters to us only as far as it names nvidia.com/gpu. */
struct limit_range {
	const char *ns;
	const char *name;
	bool limits_gpus; /* min, default or ratio for nvidia.com/gpu */
};

bool policy_mode_parse(const char *text, enum policy_mode *ret_mode);

#endif
