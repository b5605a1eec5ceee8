/* Each kind of object that Aliquot watches or lists: where it is, what of it is kept, and how that
 * is read. Constant; the kinds that are not of an API group (claims, states) have no row. */
#ifndef KUBE_FEED_H
#define KUBE_FEED_H

#include "base/alloc.h"
#include "base/fault.h"
#include "base/str.h"
#include "kube/reflector.h"
#include "model/change.h"

struct reflector_kind feed_kind(enum kind kind);
/* The object becomes a CHANGE_SET of that kind, in the arena. `json` is NUL-terminated. */
MUST_CHECK int feed_decode(enum kind kind, struct view json, struct arena *a,
	struct change *ret_change, struct fault *ret_fault);

#endif
