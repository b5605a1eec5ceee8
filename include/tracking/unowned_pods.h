/* Pods of no workload: bare ones, and those whose owner is not known yet. Nothing is decided of
 * them, but what they use is asked for when a neighbour runs out of memory (C29). */
#ifndef TRACKING_UNOWNED_PODS_H
#define TRACKING_UNOWNED_PODS_H

#include "base/map.h"
#include "base/vec.h"
#include "tracking/sizer_config.h"

struct unowned_pod {
	char uid[SIZER_UID_MAX + 1];
	int64_t at_ms; /* told last */
	int64_t mib;
};

struct unowned_pods {
	struct {
		VEC_FIELDS(struct unowned_pod);
	} list;
	struct map by_uid;
};

void unowned_pods_init(struct unowned_pods *o);
void unowned_pods_finish(struct unowned_pods *o);
/* One that tells no memory is as silent; more than SIZER_PODS_MAX are not kept. */
void unowned_pods_take(struct unowned_pods *o, const struct sizer_use *use);
/* Told since then; METERED_ABSENT: nobody did. */
int64_t unowned_pods_used(const struct unowned_pods *o, const char *uid, int64_t since_ms);
/* Those that were told nothing of since then are gone. */
void unowned_pods_forget(struct unowned_pods *o, int64_t since_ms);

#endif
