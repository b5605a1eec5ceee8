/* The machines: nodes with whole GPUs of their own UUIDs. */
#ifndef SIM_MACHINES_H
#define SIM_MACHINES_H
#include "objects/sim_parts.h"

void fleet_init(struct sim *s);
void fleet_finish(struct sim *s);
void fleet_add(struct sim *s);
void fleet_make(struct sim *s, int gpus, int64_t mem_mib); /* one that is not drawn */
void fleet_lose(struct sim *s, struct machine *m, bool for_good);
void fleet_repair(struct sim *s);
void fleet_upgrade(struct sim *s, struct machine *m, bool begins); /* of its driver */

#endif
