/* Step 2 of the engine: the picture of all GPUs that this step decides on, made from the world and
 * from what was asked for. Nothing here fails. */
#ifndef ENGINE_SNAPSHOT_H
#define ENGINE_SNAPSHOT_H

struct orphans;
struct scheduling;

void snapshot_build(struct scheduling *sched, struct orphans *orphans);

#endif
