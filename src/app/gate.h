/* Rule C2: whether a pod may be stripped of its GPU now. A stripped pod can never become whole
 * again, so it is done only while somebody is there to place it: the Lease was renewed within 20 s,
 * our own caches are synced, and no tenants wait for us in vain.
 *
 * What one person can bring about with pods of their own must not close it for everybody, so one
 * namespace whose tenants wait closes it for itself, and two close it for all. docs/design/gate.md
 * says which tenants count. */
#ifndef APP_GATE_H
#define APP_GATE_H

#include <stdint.h>

#include "kube/election.h"
#include "model/reason.h"
#include "world/world.h"

#define GATE_NS_MAX 64 /* a namespace's name has at most 63 bytes */

/* A look at all tenants, in slices: first for what they tell of the one who judges them, then for
 * those that wait in vain. What changes meanwhile is seen by this one or by the next. */
struct gate_look {
	enum { GATE_LOOK_DONE, GATE_LOOK_SIGNS, GATE_LOOK_LATE } stage;
	size_t at; /* next tenant */
	int64_t wall;
	int64_t judged_ms; /* somebody was told something, or was placed, at or after this */
	int64_t placed_ms; /* the youngest tenant that runs was made then */
	uint32_t late;
	char late_ns[GATE_NS_MAX];
	bool late_elsewhere;
};

struct gate {
	const struct world *world;	 /* borrowed */
	const struct election *election; /* borrowed */
	const struct clock *clock;	 /* borrowed */
	int64_t looked_at;		 /* monotonic; when the last look began */
	struct gate_look look;
	uint32_t late;		   /* tenants that wait for us in vain */
	char late_ns[GATE_NS_MAX]; /* of the first of them, "" if there is none */
	bool late_elsewhere;	   /* and some are of another namespace */
	int64_t pictured_at;	   /* monotonic; our caches were complete; 0: not so far */
	bool acquainted;	   /* gate_acquainted() */
};

void gate_step(struct gate *g, int64_t now_mono_ms);
/* When the next step is due. */
int64_t gate_deadline(const struct gate *g);
/* `ns` is that of the pod; NULL: any. */
enum reason gate_may_convert(const struct gate *g, const char *ns);
/* The third condition alone. */
bool gate_has_backlog(const struct gate *g, const char *ns);
/* Since some moment the answer is about the cluster, and no longer about our own youth: our caches
 * were complete once, and a renewal of the Lease was seen, or its whole term passed without one,
 * so that nobody leads. Never false again. */
bool gate_acquainted(const struct gate *g);

#endif
