/* What the commands of the capacity pod have in common. */
#ifndef NODE_CAPACITY_PARTS_H
#define NODE_CAPACITY_PARTS_H

#include <stdbool.h>

#include "base/alloc.h"
#include "base/str.h"
#include "model/gpu.h"
#include "node/capacity.h"
#include "node/proc.h"

void capacity_block_signals(void);
/* Sleeps; true if we were asked to stop. */
bool capacity_stopped_within(int64_t ms);
/* Asked to end: are tenants there for whom it must hold on? What cannot be read says no. */
bool capacity_is_needed(const struct capacity_options *o);
MUST_CHECK int capacity_read(const char *path, struct str *text, struct fault *ret_fault);

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
/* The last word; NULL: nobody wants it. */
MUST_CHECK int termination_write(const char *path, const struct str *text, struct fault *ret_fault);
void termination_explain(const struct capacity_options *o, const struct fault *why);

#endif
