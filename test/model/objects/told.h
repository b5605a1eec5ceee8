/* What pods were told of their GPUs, and for how many they ask. */
#ifndef SIM_TOLD_H
#define SIM_TOLD_H
#include "base/str.h"
#include "model/pod.h"

struct sim;
struct stored;

struct told_gpu {
	struct view uuids, names; /* that are left */
	char uuid[96], holder[64];
};

struct told_gpu told_gpus(const struct pod *p);
bool told_gpu_next(struct told_gpu *t);
/* The capacity pod by which it was told this GPU; NULL: it was not. */
const char *told_by(const struct pod *p, const char *uuid, struct told_gpu *t);
int64_t group_asked(const struct pod *p); /* how many GPUs it asks for */
/* It stands in fewer ledgers than it needs, and still waits. */
bool group_is_partial(const struct sim *s, const struct stored *o);

#endif
