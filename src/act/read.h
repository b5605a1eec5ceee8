/* Actions that only read: nothing is written, and what was seen is the outcome. And a checkpoint
 * that was to be made and is there: what it says is not written over. */
#ifndef ACT_READ_H
#define ACT_READ_H

#include "base/alloc.h"
#include "kube/client.h"
#include "model/plan.h"

struct read_sight {
	bool spares;
	const struct standing *standing; /* in the action's arena; NULL: nobody knows */
	const struct checkpoint *found;	 /* the same; NULL: it cannot be read, or there is none */
	bool exists;
};

bool read_is_all(const struct action *x);
struct kube_path read_path(const struct action *x, struct arena *a);
/* `ret_fault` is zeroed where something was seen, but for a checkpoint, which was not written. */
void read_take(const struct action *x, const struct kube_answer *answer, struct arena *a,
	struct read_sight *ret, struct fault *ret_fault);

#endif
