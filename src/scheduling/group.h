/* A tenant of several GPUs (gpu-count): the same share on each of k GPUs of one node, or nothing.
 *
 * Its entries are k compare-and-swaps on k capacity pods, so some may hold and others not. It is
 * told only when all k are acknowledged. Entries are asked for only when the picture has all k GPUs
 * open and free at once; what comes to be held of fewer is completed, or given back after a time,
 * so that no two such tenants wait for each other's half for ever. Nothing here fails. */
#ifndef SCHEDULING_GROUP_H
#define SCHEDULING_GROUP_H

#include "ledger/nouns.h"

/* True: there might be GPUs for it, and none fit it now. */
bool group_decide(struct scheduling *sched, struct waiter *w, struct emitter *out);

#endif
