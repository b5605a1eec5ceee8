/* C14. Capacity pods that are not pinned: where a tenant fits nowhere for some seconds, one of them
 * for each GPU that is needed waits at the scheduler, and is what an autoscaler of nodes sees.
 *
 * Who waits is grouped by what it says of nodes; the shares of a group are packed into GPUs, and
 * each of these is one capacity pod with the group's selectors, affinity and tolerations. Beside it
 * a companion asks for the CPU and memory that those tenants will need. Nodes that are there and
 * have a GPU to give are ruled out by name, since the tenants do not fit there. As soon as fewer
 * are needed fewer wait. What is bound is a capacity pod like any other. After twenty minutes in
 * vain a group rests, and its tenants are told.
 *
 * The names tell the group, so that nothing has to be remembered but which group rests. Tenants of
 * several GPUs ask for no node: nothing would make the GPUs be of one. Nothing here fails. */
#ifndef ENGINE_SCALE_H
#define ENGINE_SCALE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "model/plan.h"

struct engine;
struct holder;
struct str;
struct unpack;
struct waiter;

/* GPUs that are asked for in this way, in all. */
#define SCALE_MOST 64

/* One GPU that is needed. */
struct scale_bin {
	uint64_t key; /* of the group */
	const struct waiter
		*first;		/* borrowed for the step: all of a group say the same of nodes */
	int64_t milli, mem_mib; /* that are left of it */
	uint64_t company;
	uint32_t tenants, max_tenants;
	int64_t cpu_milli, mem_bytes; /* that its tenants need */
	uint32_t next;		      /* slot of the group's names */
};

struct scale {
	struct {
		VEC_FIELDS(struct scale_rest {
			uint64_t key;
			int64_t until;
		});
	} rests;
	/* of this step: what is needed, and since when a group's first capacity pod waits */
	struct {
		VEC_FIELDS(struct scale_bin);
	} bins;
	struct {
		VEC_FIELDS(struct scale_asked {
			uint64_t key;
			int64_t since;
		});
	} asked;
};

bool scale_is_one(const struct holder *h); /* it was not pinned when it was made */
/* In the snapshot: a companion is no obstacle to whom it stands in for. */
void scale_discount(struct engine *e);
/* After the decisions of a step. */
void scale_up(struct engine *e, struct plan *plan);
void scale_forget(struct scale *s);
void scale_finish(struct scale *s);
void scale_rest_pack(struct str *out, const struct scale_rest *r);
bool scale_rest_unpack(struct engine *e, struct unpack *u);

/* scale_where.c: what a tenant says of nodes */
uint64_t scale_key(struct engine *e, const struct waiter *w);
/* Into the action, whose arena it is. False: no new node could be such a one, or there are too many
 * to rule out. */
bool scale_where(struct engine *e, const struct waiter *w, struct arena *arena, struct action *a);

#endif
