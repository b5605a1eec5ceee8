/* Which tenants are still there when a capacity pod is asked to end. */
#ifndef NODE_LOOKOUT_H
#define NODE_LOOKOUT_H

#include "base/alloc.h"
#include "model/gpu.h"
#include "node/capacity.h"
#include "node/proc.h"

/* Must the capacity pod hold on although it is asked to end, because tenants are there? What cannot
 * be read says no. */
bool capacity_is_needed(const struct capacity_options *o);

/* Looks for the processes of the tenants that were there when the capacity pod was asked to end. It
 * needs to see the processes of its node (hostPID). */
#define LOOKOUT_EVERY_MS 1000
#define LOOKOUT_ALONE	 5 /* after so many looks in a row without tenants they are gone */
#define LOOKOUT_UNSEEN	 9 /* the same if none was ever seen; within GRACE_MPS_S of a deletion */

struct lookout {
	struct arena arena; /* of `named` */
	struct ledger named;
	const char *proc_root; /* borrowed */
	struct procs *procs;   /* owned */
	bool has_sight;	       /* it sees processes of pods */
	bool seen;	       /* a tenant was seen */
	int alone;	       /* looks in a row without a tenant */
};

void lookout_begin(struct lookout *l, const struct capacity_options *o, const char *proc_root);
void lookout_finish(struct lookout *l);
bool lookout_sees_anybody(struct lookout *l);
bool lookout_sees_nobody_left(struct lookout *l); /* they have left, as far as it can see */

#endif
