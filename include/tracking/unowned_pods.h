/* Pods of no workload: bare ones, and those whose owner is not known yet. Nothing is decided of
 * them, but what they use is asked for when a neighbour runs out of memory (C29). */
#ifndef TRACKING_UNOWNED_PODS_H
#define TRACKING_UNOWNED_PODS_H

#include "base/map.h"
#include "base/vec.h"
#include "tracking/sizer_config.h"

struct other {
	char uid[SIZER_UID_MAX + 1];
	int64_t at_ms; /* told last */
	int64_t mib;
};

struct others {
	struct {
		VEC_FIELDS(struct other);
	} list;
	struct map by_uid;
};

void others_init(struct others *o);
void others_finish(struct others *o);
/* One that tells no memory is as silent; more than SIZER_PODS_MAX are not kept. */
void others_take(struct others *o, const struct sizer_use *use);
/* Told since then; METERED_ABSENT: nobody did. */
int64_t others_used(const struct others *o, const char *uid, int64_t since_ms);
/* Those that were told nothing of since then are gone. */
void others_forget(struct others *o, int64_t since_ms);

#endif
