/* Rule C2: whether a pod may be stripped of its GPU now. A stripped pod can never become whole
 * again, so it is done only while somebody is there to place it: the Lease was renewed within 20 s,
 * our own caches are synced, and no tenants wait for us in vain.
 *
 * What one person can bring about with pods of their own must not close it for everybody, so one
 * namespace whose tenants wait closes it for itself, and two close it for all. What is closed lets
 * a few through as a trial (trial.h), for it would reopen only by a tenant that closing prevents.
 * docs/design/gate.md says which tenants count. */
#ifndef GATE_GATE_H
#define GATE_GATE_H

#include <stdint.h>

#include "base/part.h"
#include "kube/election.h"
#include "model/reason.h"
#include "gate/trial.h"
#include "world/world.h"

#define GATE_NS_MAX 64 /* a namespace's name has at most 63 bytes */

#define GATE_LATE_MAX  32 /* namespaces with late tenants that are told apart */
#define GATE_TRIED_MAX 32 /* namespaces that had a trial of the door of all */

/* A look at all tenants, in slices: first for what they tell of the one who judges them, then for
 * those that wait in vain. What changes meanwhile is seen by this one or by the next. */
struct gate_look {
	enum { GATE_LOOK_DONE, GATE_LOOK_SIGNS, GATE_LOOK_LATE } stage;
	size_t at; /* next tenant */
	int64_t wall;
	int64_t judged_ms;   /* somebody was told something, or was placed, at or after this */
	int64_t placed_ms;   /* the youngest tenant that runs was made then */
	int64_t arrived_ms;  /* or one that waited was told that it is placed */
	const char *last_ns; /* borrowed from the world; of the late one before */
	uint32_t late;	     /* namespaces that have some */
};

/* A namespace that has late tenants, or had some lately. */
struct gate_room {
	char ns[GATE_NS_MAX]; /* "": nobody's */
	bool seen, late;      /* by the look under way; by the last one */
	struct trial door;
};

struct gate {
	const struct world *world;	 /* borrowed */
	const struct election *election; /* borrowed */
	const struct clock *clock;	 /* borrowed */
	int64_t looked_at;		 /* monotonic; when the last look began */
	struct gate_look look;
	struct gate_room rooms[GATE_LATE_MAX];
	struct trial all;     /* closed by the tenants of two namespaces */
	struct trial running; /* for pods that run: closed by those of one */
	int64_t sign;	      /* grows when a tenant arrives on its share */
	char tried[GATE_TRIED_MAX][GATE_NS_MAX];
	uint32_t tried_count; /* in all; the later ones take the places of the first */
	int64_t pictured_at;  /* monotonic; our caches were complete; 0: not so far */
	bool acquainted;      /* gate_acquainted() */
};

extern const struct part gate_part;
/* `ns` is that of the pod; NULL: any, and trials do not count. */
enum reason gate_may_convert(const struct gate *g, const char *ns);
/* A pod of the namespace is converted, perhaps as a trial. */
void gate_converted(struct gate *g, const char *ns);
/* May a pod that runs be taken down, so that the next one is converted? */
enum reason gate_may_replace(const struct gate *g, const char *ns);
/* Such a pod is taken down, perhaps as a trial. */
void gate_replaced(struct gate *g);
/* The third condition alone, whatever trials let through. */
bool gate_has_backlog(const struct gate *g, const char *ns);
/* Since some moment the answer is about the cluster, and no longer about our own youth: our caches
 * were complete once, and a renewal of the Lease was seen, or its whole term passed without one,
 * so that nobody leads. Never false again. */
bool gate_acquainted(const struct gate *g);

#endif
