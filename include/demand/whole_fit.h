/* On which nodes a pod that asks for whole GPUs could run. Nothing here fails. */
#ifndef DEMAND_WHOLE_FIT_H
#define DEMAND_WHOLE_FIT_H

#include "ledger/nouns.h"

/* Some share was taken out of the picture: what is idle may be so no more. */
void wholes_picture_changed(struct wholes *wholes);
/* All that the scheduler may refuse it for is judged here. */
bool whole_is_judged(const struct pod *p);
void wholes_know_rooms(struct wholes *wholes);
/* Might this GPU go for a whole pod? */
bool snap_gpu_is_idle(const struct picture *picture, uint32_t gpu);
/* GPUs that it can have on the node, idle capacity pods and those on their way out counted. */
int64_t whole_obtainable(const struct wholes *wholes, uint32_t node);
/* Of the nodes where it fits, the one that is nearest to it; PLACE_NOWHERE: it fits nowhere.
 * `keeper` not 0: nobody opens a GPU on any of them. */
uint32_t whole_best_node(struct wholes *wholes, const struct place_request *r, uint32_t keeper);

#endif
