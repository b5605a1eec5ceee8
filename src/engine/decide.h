/* Step 4 of the engine: where each of those who wait goes. What is decided stands in the engine's
 * scratch and in the plan; nothing here fails. */
#ifndef ENGINE_DECIDE_H
#define ENGINE_DECIDE_H

#include <stdbool.h>
#include <stdint.h>

#include "size/policy_resolution.h"

struct claims_of;
struct engine;
struct holder;
struct place_verdict;
struct plan;
struct pod;
struct waiter;

/* What it asks for, in w->asked, and its volumes; false: it gets nothing now, and has the reason.
 */
bool waiter_asks(struct engine *e, struct waiter *w, struct claims_of *claims);
void waiter_asked(struct waiter *w); /* lets go of what is of this step */
/* A GPU more where the verdict says, which then names it; false: nowhere, or not now. */
bool open_gpu(struct engine *e, int64_t now, const struct waiter *w, struct plan *plan,
	struct place_verdict *open);
/* It goes on a GPU whose capacity pod is not there yet. */
void await_creation(
	struct engine *e, int64_t now, struct waiter *w, struct holder *h, struct plan *plan);
void decide(struct engine *e, int64_t now, uint32_t budget, struct plan *plan);
struct policy_choice policy_of(const struct engine *e, const struct pod *pod); /* as it is now */

#endif
