/* A PersistentVolumeClaim as placing sees it: where its volume lets a pod run. It is read for the
 * pods that wait for a share and name it, not watched (docs/design/feasibility.md). */
#ifndef MODEL_VOLUME_H
#define MODEL_VOLUME_H

#include "model/labels.h"

enum claim_state {
	CLAIM_UNREAD,	/* named by a pod, not known yet */
	CLAIM_BOUND,	/* to a volume, whose nodes are known */
	CLAIM_WAITS,	/* for a pod to be scheduled: WaitForFirstConsumer */
	CLAIM_UNBOUND,	/* and no pod will change that */
	CLAIM_MISSING,	/* there is no such claim */
	CLAIM_LEAVING,	/* it is being deleted */
	CLAIM_LOST,	/* its volume is gone */
	CLAIM_UNJUDGED, /* we may not read it, or not all of it */
	CLAIM_STATES,
};

struct volume_claim {
	const char *ns;
	const char *name;
	enum claim_state state;
	/* BOUND, WAITS: the nodes that can have the volume; OR, none: every node */
	struct node_term *terms;
	uint32_t term_count;
	struct terms
		zones; /* labels of the volume; they bind nodes that have any of these labels */
};

/* May a pod with this claim be placed? */
static inline bool claim_is_ready(enum claim_state s)
{
	return s == CLAIM_BOUND || s == CLAIM_WAITS || s == CLAIM_UNJUDGED;
}

#endif
