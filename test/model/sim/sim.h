/* One simulated run: the shipped engine, reflectors, election and act in two controllers, against a
 * modelled API server, scheduler and kubelet, on one virtual clock and one seeded generator. The
 * same configuration gives the same run, to the byte.
 *
 * A run has two parts: trouble, with all faults that the seed drew, and calm, without any, in which
 * everything that can still happen must happen. A checker looks at every write; it reads the
 * modelled API server's objects and the modelled devices, never what a controller believes. The
 * first breach ends the run and stands in the report.
 *
 * Hooks break a controller on purpose, to show that the checker notices.
 *
 * Every trouble (what people do, each fault, each spell) has an id, the same in each run of a seed.
 * A run tells which happened, and can be told to let no others happen than those of a list. */
#ifndef SIM_SIM_H
#define SIM_SIM_H
#include "objects/run_parts.h"
#include "sim/scenario.h"

void sim_run(const struct sim_config *config, struct sim_report *ret_report);

#endif
