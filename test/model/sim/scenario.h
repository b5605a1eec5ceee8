/* Clusters and pieces of work that are named, not drawn. */
#ifndef SIM_SIM_SCENARIO_H
#define SIM_SIM_SCENARIO_H

#include <stddef.h>

struct sim_scenario;
const struct sim_scenario *sim_scenario_find(const char *name); /* NULL: no such */
const struct sim_scenario *sim_scenario_at(size_t i);		/* NULL: no more */
const char *sim_scenario_name(const struct sim_scenario *c);
const char *sim_scenario_what(const struct sim_scenario *c);

#endif
