/* Pods: one small record each, sums per node, and packed nouns for those that have to do with GPUs.
 * */
#ifndef WORLD_PODS_INSIDE_H
#define WORLD_PODS_INSIDE_H

#include "store.h"

void pods_init(struct world *w);
void pods_finish(struct world *w);
void pods_set(struct world *w, const struct pod *pod);
const char *pods_brief(const char *uid, char brief[PODS_BRIEF_SIZE]);
void pods_gone(struct world *w, const struct change *c);
void pods_keep(struct world *w, const struct change *c);
void pods_sweep(struct world *w, uint32_t mark);

#endif
