/* C14. Asking for nodes: where a tenant fits nowhere for some seconds, a pod that stands in for it
 * waits at the scheduler, and is what an autoscaler of nodes sees.
 *
 * Who waits is grouped by what it says of nodes; the shares of a group are packed into GPUs, and
 * for each of these, or for as many as a tenant takes of one node, one pod asks: for the GPUs, and
 * for the CPU and memory of the tenants and of their capacity pods, with the group's selectors,
 * affinity and tolerations (standin.c). A node that is there and lacks CPU or memory for the
 * tenants lacks it for that pod too; one that has the wrong label of GPU feature discovery is ruled
 * out by that label, which a new node does not have yet. Nothing is said of a node's name:
 * Karpenter looks at no pod that does (C39).
 *
 * What is bound holds its node for its tenants until one of them can open a GPU there, then goes.
 * It counts for some minutes although none can, because labels come late; then the group rests, so
 * that one need never makes a second node. As soon as fewer are needed fewer wait. After twenty
 * minutes without a node a group rests too, and its tenants are told.
 *
 * The names tell the group. Nothing here fails. */
#ifndef ENGINE_SCALE_H
#define ENGINE_SCALE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/fault.h"
#include "base/vec.h"
#include "model/plan.h"

struct emitter;
struct holder;
struct outcome;
struct picture;
struct pools;
struct scheduling;
struct waiter;
struct world;
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

/* What waits for GPUs of one node, by name. */
#define STANDIN_NAME_MAX 48
struct standin {
	char name[STANDIN_NAME_MAX];
	int64_t since;	   /* when we first knew of it */
	int64_t sent_at;   /* when it was last asked for; 0: not by us */
	char node[256];	   /* where it was bound; "": it never was */
	int64_t landed_at; /* when that was first seen; 0: it never was */
	int64_t free_at;   /* when the GPUs there can be opened; 0: it never was */
	int64_t gone_at;   /* when it was last asked to go; 0: never */
	uint32_t nodes;	   /* with GPUs that there were when it was asked for */
	uint64_t wanted;   /* the step that last wanted it */
	bool yields;	   /* a tenant opens a GPU there as soon as it has gone */
	bool served;	   /* one has */
	uint64_t flight;   /* its creation under way, 0: none */
	/* the answer of an admission policy that does not let it be made; "": none does */
	char refusal[FAULT_MESSAGE_MAX];
};

struct scale {
	struct picture *picture; /* borrowed, as are these */
	struct pools *pools;
	bool answered; /* an autoscaler of nodes was seen at work: somebody listens */
	struct {
		VEC_FIELDS(struct scale_rest {
			uint64_t key;
			int64_t until;
		});
	} rests;
	/* of this step: what is needed, and since when a group's first pod waits */
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

/* In the snapshot: who stands in for others is no obstacle to them. */
void scale_discount(struct scale *scale);
/* After the decisions of a step. */
void scale_up(struct scheduling *sched, struct emitter *out);
/* What an admission policy said to what would ask for a node for it; NULL: nothing, or it does not
 * ask. Where nobody would listen that is no reason to wait. */
const char *scale_refusal(struct scale *scale, const struct waiter *w);
/* What was asked for; not whether anybody answers. */
void scale_forget(struct scale *s);
void scale_finish(struct scale *s);

/* standin.c */
bool standin_is_one(const struct world_pod *p);
enum slot standin_fill(struct scale *scale, const struct scale_bin *b, struct emitter *out);
/* What the world has, and where nothing is opened for a moment after one. */
void standins_mark(struct scale *scale);
/* A tenant would open a GPU of this node. True: one holds it, and goes for that. */
bool standins_yield(struct scale *scale, const char *node);
/* One of the group was bound minutes ago, and none of its tenants can use that node. */
bool standins_in_vain(struct scale *scale, uint64_t key);
/* What an admission policy said to one of the group; NULL: none said a thing. */
const char *standins_refused(const struct scale *scale, uint64_t key);
void standin_settle(struct scale *scale, uint64_t id, const struct outcome *o);
void standins_asked(struct scale *scale); /* into scale.asked */
void standins_let_go(struct scale *scale, struct emitter *out);

/* scale_where.c: what a tenant says of nodes */
uint64_t scale_key(struct world *world, const struct waiter *w);
/* Into the action, whose arena it is. False: no new node could be such a one. */
bool scale_where(
	struct picture *picture, const struct waiter *w, struct arena *arena, struct action *a);
/* It has a GPU that is not in use, or is getting one. */
bool scale_node_gives(const struct picture *picture, uint32_t node);

#endif
