/* One run of the simulation, as this program names it: a seed, and what is different from the
 * usual. */
#ifndef SIM_RUN_H
#define SIM_RUN_H

#include "mutations.h"
#include "sim/sim.h"

struct run {
	int64_t seed;
	const struct mutation_row *mutation; /* borrowed; NULL: none */
	const struct sim_scenario *scenario; /* borrowed; NULL: none */
	bool probed;			     /* it is about the proof of injection */
	bool rolled, plain; /* it is about Deployments that are rightsized, or not */
	bool small;	    /* no machine has more than four GPUs */
	bool crowded;	    /* it is about one that is passed over */
};

/* `only` and `log` may be NULL, as in struct sim_config. */
struct sim_report run_once(
	const struct run *run, const struct sim_only *only, struct sim_log *log, bool trace);

#endif
