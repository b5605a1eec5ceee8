/* Clusters and pieces of work that are named, not drawn. */
#ifndef SIM_SIM_SCENARIO_H
#define SIM_SIM_SCENARIO_H

#include <stddef.h>

#include "objects/scenario_parts.h"

struct sim;
const struct sim_scenario *sim_scenario_find(const char *name); /* NULL: no such */
const struct sim_scenario *sim_scenario_at(size_t i);		/* NULL: no more */
const char *sim_scenario_name(const struct sim_scenario *c);
const char *sim_scenario_what(const struct sim_scenario *c);

/* --- for the other files of the room --- */

/* scenario_more.c */
extern const struct sim_scenario scenarios_more[];
extern const size_t scenarios_more_count;
/* scenario_fence.c */
extern const struct sim_scenario scenarios_fence[];
extern const size_t scenarios_fence_count;
/* scenario_roll.c */
extern const struct sim_scenario scenarios_roll[];
extern const size_t scenarios_roll_count;
/* Nothing goes wrong that the scenario does not name, and nobody's work ends. */
void scenario_fine_weather(struct sim *s);

void scenario_begin(struct sim *s);
const char *scenario_fate(struct sim *s, const struct wire_request *r);
bool scenario_settled(struct sim *s, struct str *why);

#endif
