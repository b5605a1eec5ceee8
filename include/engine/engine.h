/* The heart. Changes and outcomes come in, plans go out; time is an argument and nothing else is
 * read.
 *
 *     engine_observe   a watch said something
 *     engine_step      decide: 1 drain, 2 snapshot, 3 rank, 4 decide, 5 assume, 6 emit
 *     engine_settle    what became of an action of an earlier plan
 *
 * The engine trusts only what the API server acknowledged. What it has asked for is assumed until
 * the watch shows it, forgotten when it failed, and kept as a worst case while its fate is unknown.
 * It can be dropped at any instruction: everything it needs is rebuilt from the objects.
 *
 * It decides only while it leads and every kind is synced. Nothing here fails. */
#ifndef ENGINE_ENGINE_H
#define ENGINE_ENGINE_H

#include <stdbool.h>
#include <stdint.h>

#include "ledger/engine_config.h"
#include "model/change.h"
#include "model/plan.h"
#include "model/share.h"
#include "world/world.h"

struct engine;
struct journal;

struct engine *engine_create(const struct engine_config *config, uint64_t seed);
void engine_destroy(struct engine *e);
/* False: an object that is too large to be kept; nothing has happened. Say then that something is
 * there (CHANGE_KEEP). */
bool engine_observe(struct engine *e, const struct change *change);
/* `budget` counts units of work (objects visited); what is left over is done in the next step,
 * which ret_plan->unfinished asks for. ret_plan must be initialised (zeroed) and is reset first. */
void engine_step(struct engine *e, struct engine_now now, uint32_t budget, struct plan *ret_plan);
void engine_settle(
	struct engine *e, struct engine_now now, uint64_t action_id, const struct outcome *outcome);
/* On the monotonic clock: when a step is due although nothing happened. */
int64_t engine_next_deadline(const struct engine *e);

/* GPUs of the node that get no new tenants because its agent told that they are not healthy. */
uint32_t engine_unhealthy(const struct engine *e, const char *node);

/* Events that made a device ill and are not over, of whoever heard them: for whoever leads next,
 * who is told them by CHANGE_HEARD. Borrowed until the next call of anything else. */
size_t engine_heard(const struct engine *e, struct heard *ret_list, size_t room);

/* What became of a share that was asked for by CHANGE_SHARE. */
void engine_share_fate(const struct engine *e, const char *uid, struct share_fate *ret);

/* Is it taking that pod down, or another one of its owner? */
bool engine_evicts(const struct engine *e, const char *uid);

/* Should the agent of this node of the world be asked? */
bool engine_wants_state(const struct engine *e, uint32_t node);

/* What differed first where it was compared, of all steps until now; NULL: nothing. */
const char *engine_differs(const struct engine *e);

/* From now on the engine records here, beginning with its state as it is. NULL ends it. */
void engine_record(struct engine *e, struct journal *journal);

const struct world *engine_world(const struct engine *e);
const struct engine_report *engine_report(const struct engine *e);

#endif
