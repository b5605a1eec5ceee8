/* Could any node give a pod a share, as far as it may choose nodes? Admission asks this before it
 * takes a pod's whole GPU away, for a pod that only may go where somebody else gives out the GPUs
 * would wait for ever (C34).
 *
 * Nodes that differ in nothing that a pod may say of nodes are one pool, and one of each is looked
 * at: a review costs about as much in a cluster of five thousand nodes as in one of five. A pod
 * that speaks of a label that every node has for itself, its host name above all, is held against
 * the nodes one by one. Either way a review looks at a bounded number of rules; where that is not
 * enough to know, the answer is what it is where nothing is known: a node could.
 *
 * The pools are the caller's and of one world. Nothing here fails. */
#ifndef DEMAND_NODE_POOLS_H
#define DEMAND_NODE_POOLS_H

#include <stdbool.h>

#include "model/labels.h"
#include "model/pod.h"
#include "model/unfit.h"

struct pools;
struct world;
struct world_node;

/* Who else gives out the GPUs of the node, also where it offers none of them to us (C27);
 * UNFIT_NONE: nobody, or it has none. */
enum unfit node_given_out_by(const struct world_node *w);

struct pools *pools_create(void);
void pools_destroy(struct pools *p);

/* True: nodes with GPUs match what the pod asks of nodes, and none of them could ever give it a
 * share; they are counted by why. False also where no node matches at all, since one may come.
 * What a node suffers for a time, a taint of its kubelet or a cordon, is not held against it.
 * `class` is what the RuntimeClass of capacity pods asks of nodes; NULL: nothing. */
bool pools_refuse(struct pools *p, const struct world *w, const struct pod *pod,
	const struct pairs *class, struct unfit_tally *ret_why);

#endif
