/* Workloads by the name of their GPURecommendation, and their containers. */
#ifndef TRACKING_WORKLOAD_TABLE_H
#define TRACKING_WORKLOAD_TABLE_H

#include "tracking/tracking.h"

void tracking_init(struct tracking *s, const struct sizer_config *config);
void tracking_finish(struct tracking *s); /* all workloads and pods are gone */
/* Another text in its place, of those that many share; NULL: none. */
void names_set(struct tracking *s, const char **slot, const char *text);
struct sized_workload *sized_find(const struct tracking *s, const char *ns, const char *object);
/* The workload of that key, made if need be; NULL: there are too many, or it is too long. */
struct sized_workload *sized_of(struct tracking *s, const struct workload_key *key);
struct sized_container *sized_container_find(const struct sized_workload *x, const char *name);
/* NULL: there are too many. */
struct sized_container *sized_container_of(struct sized_workload *x, const char *name);
/* As after a start: what is in force is what was told. */
void sized_container_forget(const struct sized_workload *x, struct sized_container *c);
void sized_container_drop(struct sized_workload *x, struct sized_container *c);

#endif
