/* Workloads, their containers and their pods: who is there. */
#ifndef SIZER_TABLE_H
#define SIZER_TABLE_H

#include "model/recommendation.h"
#include "sizer/sizer.h"

struct sized;
struct sized_container;
struct sized_pod;

/* --- sized.c: the table --- */
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

/* --- workload_pods.c: whose they are --- */
void pods_see(struct sizer *s, const struct world_pod *p, int64_t now_ms);
/* Since when it is Ready; 0: it is not. */
int64_t pods_ready_ms(const struct sized_pod *p, const struct world_gpu *g, int64_t now_ms);
void pods_settle(struct sizer *s, struct sized_pod *p, int64_t now_ms); /* its minute may be over */
void pods_drop(struct sizer *s, struct sized_pod *p);
/* When it was measured last; 0: never. */
int64_t pods_sampled_ms(const struct sized_pod *p);
/* What a tenant has that can be changed while it runs; else 0. */
struct share pods_changeable(const struct sized_pod *p);
struct sized_pod *pods_find(const struct sizer *s, const char *uid); /* NULL: not known */
/* C35: a tenant with a recommended share, at our gate, that would run if it were whole. */
bool pods_wait_in_vain(const struct sized_pod *p, const struct world_pod *wp);
/* Of whom a pod is that ended, and so is none of its pods; NULL: nobody knows. */
struct sized *pods_workload(struct sizer *s, const struct world_pod *wp);
/* The same of one whose share was recommended; NULL: it was not. */
struct sized *pods_advised(struct sizer *s, const struct world_pod *wp);

/* --- runs.c: those that ended --- */
/* It is gone, or ended, or being deleted: then nothing of it runs any more. `wp` NULL: it is gone.
 */
void runs_end(struct sized_pod *p, const struct world_pod *wp);
/* It had ended before anything was looked at: nobody may have counted it. */
void runs_recall(struct sizer *s, const struct world_pod *wp);

/* --- recommendation_watch.c: what it says --- */
struct sized_said sized_said_of(const struct recommendation *r);
void told_set(struct sizer *s, struct sized *x, const struct recommendation *r);

#endif
