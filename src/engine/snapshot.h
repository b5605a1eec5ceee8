/* Step 2 of the engine: the picture of all GPUs that this step decides on, made from the world and
 * from what was asked for. Nothing here fails. */
#ifndef ENGINE_SNAPSHOT_H
#define ENGINE_SNAPSHOT_H

#include <stdbool.h>
#include <stdint.h>

struct engine;
struct grant;
struct holder;

void snapshot_build(struct engine *e, int64_t now);
/* The ledger counted the pod of this slot, in this step. */
bool snap_counted(const struct engine *e, uint32_t slot);
uint32_t snap_node_of(const struct engine *e, const char *name); /* NULL: none */
/* Does this entry still hold its share? */
bool grant_lives(struct engine *e, const struct holder *h, const struct grant *g);

#endif
