/* GPUUsageCheckpoints: JSON to struct checkpoint and back. */
#ifndef OWN_CHECKPOINT_H
#define OWN_CHECKPOINT_H

#include <stddef.h>

#include "base/alloc.h"
#include "base/fault.h"
#include "json/build.h"
#include "json/slice.h"
#include "model/checkpoint.h"

const struct slice_keep *checkpoint_projection(void);
/* The bytes of another version than ours are not read: `bytes` is empty then. */
MUST_CHECK int checkpoint_decode(const char *json, size_t n, struct arena *arena,
	struct checkpoint *ret_checkpoint, struct fault *ret_fault);

/* The whole status as one value, in our version. */
void checkpoint_write_status(struct build *b, const struct checkpoint *c);
/* A new object, without its status. It goes with its recommendation. */
void checkpoint_write_new(
	struct build *b, const struct checkpoint *c, const char *recommendation_uid);

#endif
