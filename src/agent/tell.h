/* What /v1/state answers, made of one look, the pods and the cgroups that are there
 * (docs/design/state.md). Pure. An answer that would not be whole is a fault and no answer. */
#ifndef AGENT_TELL_H
#define AGENT_TELL_H

#include "base/alloc.h"
#include "base/fault.h"
#include "cgroups.h"
#include "gpu/sample.h"
#include "left.h"
#include "model/state.h"
#include "mps/fleet.h"
#include "node/attribute.h"
#include "node/node_pods.h"

struct tell {
	const struct gpu_sample *sample; /* all borrowed */
	const struct usage *usage;
	const struct node_pods *pods;
	const struct cgroup_pods *present;
	const struct mps_fleet *mps;  /* NULL: nothing is known of daemons */
	const struct leftovers *left; /* NULL: nothing is known of those either */
	const char *own_uid; /* its cgroup must be among those that are there; NULL: not told */
	int64_t now_ms;	     /* monotonic */
};

/* Fills devices, pods, uses and the age; who tells is the caller's. Everything is from the arena or
 * borrowed from the arguments. FAULT_TRANSIENT where the look is too old, FAULT_INVALID where the
 * agent does not see its node's processes or pods, FAULT_LIMIT. */
MUST_CHECK int tell_state(const struct tell *t, struct arena *arena, struct node_state *ret_state,
	struct fault *ret_fault);

#endif
