/* The table of pods: to which workload each belongs, and what is known of it by itself. */
#ifndef SIZER_SIZED_PODS_H
#define SIZER_SIZED_PODS_H

#include "state.h"

struct sized_pod *pods_add(struct sizer *s, struct sized *of, const char *uid);
/* The feed of that container, made if need be; NULL: there are too many. */
struct sized_feed *pods_feed(struct sized_pod *p, const char *container);
/* Since when the pod is Ready; 0: it is not. */
int64_t pods_ready_ms(const struct sized_pod *p, const struct world_gpu *g, int64_t now_ms);
void pods_drop(struct sizer *s, struct sized_pod *p);
/* When the pod was measured last; 0: never. */
int64_t pods_sampled_ms(const struct sized_pod *p);
/* The share of a tenant that can be resized while it runs; else 0. */
struct share pods_changeable(const struct sized_pod *p);
struct sized_pod *pods_find(const struct sizer *s, const char *uid); /* NULL: not known */
/* C35: a tenant with a recommended share, at our gate, that would run if it were whole. */
bool pods_wait_in_vain(const struct sized_pod *p, const struct world_pod *wp);
/* The pod, given to its workload; NULL: it has none. `ret_alone`: nobody controls it, and no group
 * takes it. */
struct sized_pod *pods_assigned(struct sizer *s, const struct world_pod *wp, bool *ret_alone);
/* The workload of a pod that ended, and is in the table no more; NULL: nobody knows. */
struct sized *pods_workload(struct sizer *s, const struct world_pod *wp);
/* The same for a pod with a recommended share; NULL: its share was not recommended. */
struct sized *pods_advised(struct sizer *s, const struct world_pod *wp);

#endif
