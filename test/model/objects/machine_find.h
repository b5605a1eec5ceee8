/* Machines and their devices, by name. */
#ifndef SIM_MACHINE_FIND_H
#define SIM_MACHINE_FIND_H
#include "sim_parts.h"

struct machine *fleet_find(struct sim *s, const char *name);
bool fleet_is_doubled(struct sim *s, const char *uuid);
struct device *fleet_device(struct sim *s, const char *uuid);

#endif
