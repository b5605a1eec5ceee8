/* Actions that only read: nothing is written, and what was seen is the outcome. And a checkpoint
 * that was to be made and is there: what it says is not written over. */
#ifndef ACT_READ_H
#define ACT_READ_H

#include "base/alloc.h"
#include "kube/client.h"
#include "model/plan.h"

bool read_is_all(const struct action *x);
struct kube_path read_path(const struct action *x, struct arena *a);
/* The whole outcome. Its fault is zeroed where something was seen, but for a checkpoint, which was
 * not written. What it names is in the arena. */
void read_take(const struct action *x, const struct kube_answer *answer, struct arena *a,
	struct outcome *ret);

/* The answer is to a GET of a tenant: it waits for its share, or is gone. False: it does not, or
 * nobody knows; the fault says it. */
MUST_CHECK bool confirm_waits(
	const struct kube_answer *answer, const char *uid, struct fault *ret_fault);
/* A uid that is not the object's is answered as an invalid change where no version was given with
 * it (seen on 1.36). To the engine it is what it is: a precondition that did not hold. */
void confirm_uid(const struct action *x, struct fault *f);

#endif
