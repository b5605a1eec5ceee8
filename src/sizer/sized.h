/* Workloads by the name of their GPURecommendation, and their containers. */
#ifndef SIZER_SIZED_H
#define SIZER_SIZED_H

#include "state.h"

void sized_init(struct sizer *s);
/* Another text in its place, of those that many share; NULL: none. */
void names_set(struct sizer *s, const char **slot, const char *text);
struct sized *sized_find(const struct sizer *s, const char *ns, const char *object);
/* The workload of that key, made if need be; NULL: there are too many, or it is too long. */
struct sized *sized_of(struct sizer *s, const struct workload_key *key);
void sized_remove(struct sizer *s, struct sized *x);
struct sized_container *sized_container_find(const struct sized *x, const char *name);
/* NULL: there are too many. */
struct sized_container *sized_container_of(struct sized *x, const char *name);
/* As after a start: what is in force is what was told. */
void sized_container_forget(const struct sized *x, struct sized_container *c);
void sized_container_drop(struct sizer *s, struct sized *x, struct sized_container *c);

#endif
