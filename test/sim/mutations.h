/* Controllers broken on purpose, by name, so that we know that the checker can fail. */
#ifndef SIM_MUTATIONS_H
#define SIM_MUTATIONS_H

#include "sim/sim.h"

struct mutation_row {
	const char *name;
	const char *what;
	struct sim_hooks hooks;
	bool rare;	      /* needs luck: only a sweep of MUTATION_SEEDS is sure to meet it */
	bool rolled;	      /* it is looked for where Deployments are rightsized */
	const char *scenario; /* where it is looked for; NULL: in the usual runs */
};

#define MUTATION_SEEDS 200

extern const struct mutation_row mutation_rows[];
extern const size_t mutation_count;

const struct mutation_row *mutation_find(const char *name);

#endif
