/* Step 2 of the engine: the picture of all GPUs that this step decides on, made from the world and
 * from what was asked for. Nothing here fails. */
#ifndef ENGINE_SNAPSHOT_H
#define ENGINE_SNAPSHOT_H

#include <stdbool.h>
#include <stdint.h>

struct engine;
struct grant;
struct holder;
struct ledger;
struct world_gpu;

void snapshot_build(struct engine *e, int64_t now);
const struct ledger *holder_ledger(const struct holder *h);
const char *holder_version(const struct holder *h);
/* The watch shows something newer than `from`. */
bool version_passed(const char *have, const char *from);
/* Both are numbers, and the first is the larger one. */
bool version_after(const char *have, const char *from);
bool tenant_is_on(const struct holder *h, const struct world_gpu *tenant);
bool ledger_has(const struct ledger *l, const char *uid);
/* The ledger counted the pod of this slot, in this step. */
bool snap_counted(const struct engine *e, uint32_t slot);
uint32_t snap_node_of(const struct engine *e, const char *name); /* NULL: none */
/* Does this entry still hold its share? */
bool grant_lives(struct engine *e, const struct holder *h, const struct grant *g);
const struct grant *ledger_find(const struct ledger *l, const char *uid); /* NULL: not in it */

#endif
