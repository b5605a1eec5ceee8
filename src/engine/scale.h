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
 * For tenants of several GPUs one pod waits that asks for all of them (standin.c): capacity pods,
 * one a GPU, could not be made to come together.
 *
 * The names tell the group, so that nothing has to be remembered but which group rests. Nothing
 * here fails. */
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
struct world_pod;

/* GPUs that are asked for in this way, in all. */
#define SCALE_MOST 64

/* One GPU that is needed, or several of one node. */
struct scale_bin {
	uint64_t key; /* of the group */
	const struct waiter
		*first; /* borrowed for the step: all of a group say the same of nodes */
	uint32_t gpus;
	int64_t milli, mem_mib; /* that are left of each */
	uint64_t company;
	uint32_t tenants, max_tenants;
	int64_t cpu_milli, mem_bytes; /* that its tenants need */
	uint32_t next;		      /* slot of the group's names */
};

/* What waits for several GPUs of one node, by name. */
#define STANDIN_NAME_MAX 48
struct standin {
	char name[STANDIN_NAME_MAX];
	int64_t since;	 /* when we first knew of it */
	int64_t sent_at; /* when it was last asked for; 0: not by us */
	char node[256];	 /* where it was bound; "": it never was */
	int64_t free_at; /* when the GPUs there can be opened; 0: it never was */
	int64_t gone_at; /* when it was last asked to go; 0: never */
	uint64_t wanted; /* the step that last wanted it */
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
	struct {
		VEC_FIELDS(struct standin);
	} standins;
	/* of this step: those that the world has; borrowed */
	struct {
		VEC_FIELDS(const struct world_pod *);
	} there;
};

/* This name of a group: somebody has it who is of no use, what is needed waits, or nothing can. */
enum slot { SLOT_TAKEN, SLOT_WAITS, SLOT_IMPOSSIBLE };

bool scale_is_one(const struct holder *h); /* it was not pinned when it was made */
/* In the snapshot: a companion is no obstacle to whom it stands in for. */
void scale_discount(struct engine *e);
/* After the decisions of a step. */
void scale_up(struct engine *e, struct plan *plan);
void scale_forget(struct scale *s);
void scale_finish(struct scale *s);
bool scale_rest_unpack(struct engine *e, struct unpack *u);

/* standin.c */
bool standin_is_one(const struct world_pod *p);
enum slot standin_fill(struct engine *e, const struct scale_bin *b, struct plan *plan);
/* What the world has, and where nothing is opened for a moment after one. */
void standins_mark(struct engine *e);
void standins_asked(struct engine *e); /* into scale.asked */
void standins_let_go(struct engine *e, struct plan *plan);
bool standin_unpack(struct engine *e, struct unpack *u);

/* scale_where.c: what a tenant says of nodes */
uint64_t scale_key(struct engine *e, const struct waiter *w);
/* Into the action, whose arena it is. False: no new node could be such a one, or there are too many
 * to rule out. */
bool scale_where(struct engine *e, const struct waiter *w, struct arena *arena, struct action *a);

#endif
