/* Pods of no workload: bare ones, and those whose owner is not known yet. Nothing is decided of
 * them, but what they use is asked for when a neighbour runs out of memory (C29). */
#ifndef TRACKING_UNOWNED_PODS_H
#define TRACKING_UNOWNED_PODS_H

#include "base/table.h"
#include "tracking/sizer_config.h"

void unowned_pods_init(struct table *pods);
/* One that tells no memory is as silent; more than SIZER_PODS_MAX are not kept. */
void unowned_pods_take(struct table *pods, const struct sizer_use *use);
/* Told since then; METERED_ABSENT: nobody did. */
int64_t unowned_pods_used(const struct table *pods, const char *uid, int64_t since_ms);
/* Those that were told nothing of since then are gone. */
void unowned_pods_forget(struct table *pods, int64_t since_ms);

#endif
