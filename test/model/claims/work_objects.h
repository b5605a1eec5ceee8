/* Deployments, ReplicaSets and their pods, as the objects tell. */
#ifndef SIM_WORK_OBJECTS_H
#define SIM_WORK_OBJECTS_H
#include "objects/sim_parts.h"

const char *work_of(const struct stored *o); /* NULL: no pod of a Deployment */
bool work_is_ready(const struct stored *o);  /* and stays */
/* Its ReplicaSet by name; NULL: nobody controls it. */
const char *work_set_of(const struct stored *o);
int64_t work_number(const json_t *value, const char *path); /* 0: not there */
const char *work_text(const json_t *value, const char *path);
/* The ReplicaSet of its Deployment's version; NULL: there is none yet. */
const struct stored *work_newest(const struct sim *s, const struct stored *deployment);
/* Whom the ReplicaSet would delete, had it one pod too many; `more` is taken for one of its pods.
 * `cheap` passes for one that is cheap to delete. NULL: nobody. */
const struct stored *sets_victim(const struct sim *s, const struct stored *set,
	const struct stored *more, const struct stored *cheap);
/* What the objects of Deployments, ReplicaSets and their pods tell. */
bool work_is_running(const struct stored *o);
bool work_is_surging(const struct stored *o);
json_t *work_controller(const json_t *value);
bool work_controlled_by(const json_t *value, const struct stored *owner);
bool work_is_active(const struct stored *o);
bool work_set_counts(const struct stored *set, const struct stored *o);
bool work_is_set_of(const struct stored *o, const struct stored *deployment);
const char *work_version(const struct stored *o);
bool work_selects(const json_t *selector, const struct stored *o);
void work_put(struct sim *s, const struct stored *o, json_t *draft);

#endif
