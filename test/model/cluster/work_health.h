/* Pods of Deployments that become ready late, or stop being it for a while. */
#ifndef SIM_WORK_HEALTH_H
#define SIM_WORK_HEALTH_H
#include "works.h"

/* A ReplicaSet has just taken that pod, and looks next whether it has one too many. */
void works_adopted(struct sim *s, const char *set, const char *uid);
/* A new pod: so long it is not Ready; 0: it is at once. */
int64_t works_unfit_ms(struct sim *s, const struct stored *o);
void works_get_well(void *data, uint64_t serial);
/* It stops being ready, for a while. */
void work_stumbles(struct sim *s, struct stored *o, int64_t ms);

#endif
