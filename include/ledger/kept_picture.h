/* What the picture of a step has from the one before, because nothing has changed that it was made
 * of: which tenants run as they should, and what the ledger of a capacity pod comes to where all of
 * its tenants do. Everything else, whatever takes part in a write, waits, has left or differs from
 * what the books say, is made anew in every step (docs/design/engine.md).
 *
 * All of it follows from the world, the ledgers and the rules of policies alone. The picture owns
 * it; nothing here fails. */
#ifndef LEDGER_KEPT_PICTURE_H
#define LEDGER_KEPT_PICTURE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bits.h"
#include "base/str.h"
#include "model/policy.h"

struct companies;
struct holder;
struct picture;
struct place_gpu;
struct snap_gpu;

/* What the object of a node says. */
struct kept_node {
	uint64_t stamp;	   /* the node's, and 1; 0: nothing is known */
	int64_t label_mib; /* memory of a GPU; 0: no label tells */
	bool drains;	   /* nobody new is to come there */
	bool upgrades;	   /* the driver of its GPUs is waited for */
};

struct kept {
	VEC_OF(struct kept_node) nodes; /* beside the world's */
	/* the rest by the slots of pods, where nothing else is said */
	uint64_t last;		    /* the step whose picture was made last; 0: there is none */
	uint64_t policies, rules;   /* the world's version of policies, and what they say */
	bool anew;		    /* nothing that ledgers came to is kept in this step */
	bool moved, doubled;	    /* some GPU is not in its last place; two tell one UUID */
	size_t gpus;		    /* of the last picture */
	const struct bits *changed; /* pods since then; borrowed from the world */
	struct bits plain;	    /* tenants that need no look if a ledger counts them */
	struct bits odd;	    /* the other tenants */
	struct bits apart;	    /* pods that keep others off their node by anti-affinity */
	struct bits unsettled;	    /* of this step, by their places among the world's tenants */
	struct str differs;	    /* for tests: what differed first */
};

/* What the ledger of a capacity pod comes to, if each entry is that of a tenant that runs there and
 * was told the same. */
struct kept_ledger {
	uint64_t step, stamp; /* last used in this step; of the pod when it was made */
	uint32_t *slots;      /* of the tenants' pods; in the arena of the capacity pod's */
	uint32_t node_pins, max_tenants;
	int64_t milli, mib;
	uint64_t company;
	enum exclusivity exclusivity;
};

void kept_begin(struct picture *picture);
/* The entries of its ledger are in the GPU of the picture now, and their tenants counted; false:
 * they are not all as they should be, and nothing has happened. */
bool kept_count(struct companies *companies, struct place_gpu *g, struct snap_gpu *s);
/* Its GPU is the next in the picture. */
void kept_place(struct picture *picture, struct holder *h);
/* All GPUs are in the picture: they are found by their UUIDs. */
void kept_index(struct picture *picture);
/* All ledgers are counted: fills picture->unsettled. */
void kept_end(struct picture *picture);
void kept_finish(struct kept *kept);

/* For tests, when the picture is complete: makes anew what was kept, and notes what differs. */
void kept_check(struct companies *companies);

#endif
