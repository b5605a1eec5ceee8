/* Rule C2: whether a pod may be stripped of its GPU now. A stripped pod can never become whole
 * again, so it is done only while somebody is there to place it: the Lease was renewed within 20 s,
 * our own caches are synced, and no tenant has waited for more than a minute for a reason that is
 * ours. */
#ifndef APP_GATE_H
#define APP_GATE_H

#include <stdint.h>

#include "kube/election.h"
#include "model/reason.h"
#include "world/world.h"

struct gate {
	const struct world *world;	 /* borrowed */
	const struct election *election; /* borrowed */
	const struct clock *clock;	 /* borrowed */
	bool backlog;
	int64_t looked_at; /* monotonic; when the backlog was last counted */
};

void gate_step(struct gate *g, int64_t now_mono_ms);
enum reason gate_may_convert(const struct gate *g);

#endif
