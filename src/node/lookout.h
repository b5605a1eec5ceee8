/* Who of the tenants is still there when a capacity pod is asked to end. */
#ifndef NODE_LOOKOUT_H
#define NODE_LOOKOUT_H

#include "base/alloc.h"
#include "model/gpu.h"
#include "node/capacity.h"
#include "node/proc.h"

/* Asked to end: are tenants there for whom it must hold on? What cannot be read says no. */
bool capacity_is_needed(const struct capacity_options *o);

/* Looks out for the processes of those who were there when it was asked to end; wants to see those
 * of its node (hostPID). */
#define LOOKOUT_EVERY_MS 1000
#define LOOKOUT_ALONE	 5 /* looks in a row */
#define LOOKOUT_UNSEEN	 9 /* the same of those who never were; within GRACE_MPS_S of a deletion */

struct lookout {
	struct arena arena; /* of `named` */
	struct ledger named;
	const char *proc_root; /* borrowed */
	struct procs *procs;   /* owned */
	bool has_sight;	       /* of processes of pods */
	bool seen;
	int alone;
};

void lookout_begin(struct lookout *l, const struct capacity_options *o, const char *proc_root);
void lookout_finish(struct lookout *l);
bool lookout_sees_anybody(struct lookout *l);
bool lookout_sees_nobody_left(struct lookout *l); /* they were seen, and are not any more */

#endif
