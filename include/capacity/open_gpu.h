/* GPUs that are opened for those who wait. Nothing here fails. */
#ifndef CAPACITY_OPEN_GPU_H
#define CAPACITY_OPEN_GPU_H

#include "ledger/nouns.h"

/* A GPU more where the verdict says, which then names it; false: nowhere, or not now. */
bool open_gpu(struct scale *scale, const struct waiter *w, struct emitter *out,
	struct place_verdict *open);
/* It goes on a GPU whose capacity pod is not there yet. */
void await_creation(
	struct injecting *inject, struct waiter *w, struct holder *h, struct emitter *out);

#endif
