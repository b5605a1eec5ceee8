/* What is told of the pods of workloads: their use, and what became of them. */
#ifndef SIZER_WORKLOAD_PODS_H
#define SIZER_WORKLOAD_PODS_H

#include "sizer/sizer.h"

struct sized_pod;

/* False: the pod is none of a workload that is known. The same figure may be told again. */
bool sizer_take(struct sizer *s, const struct sizer_use *use, int64_t now_ms);

/* What became of a pod. Each is looked at once a round; before its figures are told it is time to
 * do it again, so that whoever is in need is helped at once. */
void sizer_see(struct sizer *s, const struct world_pod *wp, int64_t now_ms);

/* For the other files of the sizer. */
void pods_see(struct sizer *s, const struct world_pod *p, int64_t now_ms);
void pods_settle(struct sizer *s, struct sized_pod *p, int64_t now_ms); /* its minute may be over */
/* It is gone, or ended, or being deleted: then nothing of it runs any more. `wp` NULL: it is gone.
 */
void runs_end(struct sized_pod *p, const struct world_pod *wp);

#endif
