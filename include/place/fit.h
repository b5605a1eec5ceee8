/* Whether a pod may run on a node, its GPU aside, and what it takes of the node. */
#ifndef PLACE_FIT_H
#define PLACE_FIT_H

#include "place/picture.h"

/* May the pod run on this node at all, GPU aside? Why not; *ret_what (NULL: not asked for) is the
 * taint, resource or claim, or NULL, and lives as long as the snapshot and the request. */
enum unfit place_unfit(const struct snapshot *s, const struct place_request *r,
	const struct place_node *n, const char **ret_what);
/* The same of every node of the snapshot, counted; where one must be opened, beside a capacity pod.
 */
void place_survey(
	const struct snapshot *s, const struct place_request *r, struct unfit_tally *ret_tally);
/* C27: who else gives out its GPUs; UNFIT_NONE: nobody. */
enum unfit place_given_out_by(const struct place_node *n);
/* What of that does not pass with time: selectors, affinity, taints. */
bool place_node_suits(const struct pod *pod, const struct node *n);
bool place_node_selected(const struct pod *pod, const struct node *n); /* its parts */
bool place_node_tolerated(const struct pod *pod, const struct node *n);
/* Takes what the pod needs, GPU aside, out of the node on which it will run. */
void place_reserve_pod(struct snapshot *s, struct place_node *n, const struct pod *pod);
/* The same without CPU, memory and slot, where those are counted already. */
void place_reserve_extra(struct snapshot *s, struct place_node *n, const struct extra *x);
/* Takes what one more capacity pod of a mode needs out of a node. */
void place_reserve_capacity(struct place_node *n, bool mps);
/* The opposite: one that is there goes. */
void place_return_capacity(struct place_node *n, bool mps);

/* Why a node does not suit the request, in two halves. What lasts for the whole of a step is asked
 * first and can be remembered; the rest depends on what was reserved meanwhile. */
enum unfit fit_lasting(
	const struct place_request *r, const struct place_node *n, const char **ret_what);
enum unfit fit_passing(const struct snapshot *s, const struct place_request *r,
	const struct place_node *n, const char **ret_what);

#endif
