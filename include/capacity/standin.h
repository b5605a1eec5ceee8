/* Pods that stand in for tenants and ask for a node (C14). Nothing here fails. */
#ifndef CAPACITY_STANDIN_H
#define CAPACITY_STANDIN_H

#include "base/fault.h"
#include "ledger/nouns.h"

struct scale_bin;
struct unpack;

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

/* This name of a group: somebody has it who is of no use, what is needed waits, or nothing can. */
enum slot { SLOT_TAKEN, SLOT_WAITS, SLOT_IMPOSSIBLE };

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
bool standin_unpack(struct scale *scale, struct unpack *u);

#endif
