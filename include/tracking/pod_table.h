/* The table of pods, and what is known of each by itself. */
#ifndef TRACKING_POD_TABLE_H
#define TRACKING_POD_TABLE_H

#include "tracking/tracking.h"

struct sized_pod *pods_add(struct tracking *s, struct sized_workload *of, const char *uid);
/* The feed of that container, made if need be; NULL: there are too many. */
struct sized_feed *pods_feed(struct sized_pod *p, const char *container);
/* Since when the pod is Ready; 0: it is not. */
int64_t pods_ready_ms(const struct sized_pod *p, const struct world_gpu *g, int64_t now_ms);
void pods_drop(struct tracking *s, struct sized_pod *p);
/* When the pod was measured last; 0: never. */
int64_t pods_sampled_ms(const struct sized_pod *p);
/* The share of a tenant that can be resized while it runs; else 0. */
struct share pods_changeable(const struct sized_pod *p);
struct sized_pod *pods_find(const struct tracking *s, const char *uid); /* NULL: not known */
/* C35: a tenant with a recommended share, at our gate, that would run if it were whole. */
bool pods_wait_in_vain(const struct sized_pod *p, const struct world_pod *wp);

#endif
