/* Whether a pod may run on a node, its GPU aside, and what it takes of the node. */
#ifndef PLACE_FIT_H
#define PLACE_FIT_H

#include "place/gpu_picture.h"

/* May the pod run on this node at all, GPU aside? Why not; *ret_what (NULL: not asked for) is the
 * taint, resource or claim, or NULL, and lives as long as the snapshot and the request. */
enum unfit place_unfit(const struct snapshot *s, const struct place_request *r,
	const struct place_node *n, const char **ret_what);
/* Counts the nodes of the snapshot by why the pod may not run there; on a node where a GPU would
 * have to be opened, the capacity pod takes its part first. */
void place_survey(
	const struct snapshot *s, const struct place_request *r, struct unfit_tally *ret_tally);
/* Who else gives out the GPUs of the node (C27); UNFIT_NONE: nobody. */
enum unfit place_given_out_by(const struct place_node *n);
/* The same of a node that is not in a snapshot; `dra`, `kai`: they have slices, or pods, there. */
enum unfit place_node_given_out(const struct node *n, bool dra, bool kai);
/* Does the pod choose the node, and tolerate it: selectors, affinity and taints? Who else gives out
 * its GPUs is asked apart. */
bool place_node_suits(const struct pod *pod, const struct node *n);
bool place_node_selected(const struct pod *pod, const struct node *n); /* by selectors alone */
bool place_node_tolerated(const struct pod *pod, const struct node *n);
/* Takes what the pod needs, GPU aside, out of the node on which it will run. */
void place_reserve_pod(struct snapshot *s, struct place_node *n, const struct pod *pod);
/* Takes host ports and extended resources alone, where CPU, memory and the slot are counted
 * already. */
void place_reserve_extra(struct snapshot *s, struct place_node *n, const struct extra *x);
/* Takes what one more capacity pod of a mode needs out of a node. */
void place_reserve_capacity(struct place_node *n, bool mps);
/* Gives back what a capacity pod took that goes. */
void place_return_capacity(struct place_node *n, bool mps);

/* Why a node does not suit the request, in two halves. What lasts for the whole of a step is asked
 * first and can be remembered; the rest depends on what was reserved meanwhile. */
enum unfit fit_lasting(
	const struct place_request *r, const struct place_node *n, const char **ret_what);
enum unfit fit_passing(const struct snapshot *s, const struct place_request *r,
	const struct place_node *n, const char **ret_what);

#endif
