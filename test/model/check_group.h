/* The checker's part about tenants of several GPUs: what each was told, GPU by GPU, and that it is
 * all or nothing. A breach ends the run. */
#ifndef SIM_CHECK_GROUP_H
#define SIM_CHECK_GROUP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

struct pod;
struct sim;
struct stored;

/* A tenant that was granted some of its GPUs. */
struct half {
	char uid[40];
	int64_t version;       /* of the store when it began */
	int64_t seen, kept_ms; /* for so long a leader could have done something */
	uint64_t term;
};
struct told_gpu {
	struct view uuids, names; /* that are left */
	char uuid[96], holder[64];
};
struct told_gpu told_gpus(const struct pod *p);
bool told_gpu_next(struct told_gpu *t);
/* The capacity pod by which it was told this GPU; NULL: it was not. */
const char *told_by(const struct pod *p, const char *uuid, struct told_gpu *t);
int64_t group_asked(const struct pod *p);		 /* how many GPUs it asks for */
void check_whole(struct sim *s, const struct stored *o); /* as asked, no GPU twice */
/* It stands in fewer ledgers than it needs, and still waits. */
bool group_is_partial(const struct sim *s, const struct stored *o);
/* None is kept for long. Once a second; `replica` could see and write all of it, -1: nobody. */
void check_halves(struct sim *s, int replica);

#endif
