/* Controllers broken on purpose, by name, so that we know that the checker can fail. */
#ifndef SIM_MUTATIONS_H
#define SIM_MUTATIONS_H

#include "sim/sim.h"

struct mutation_row {
	const char *name;
	const char *what;
	struct sim_hooks hooks;
	int seed;	      /* one that catches it, of the first 200: it is tried first */
	bool rolled;	      /* it is looked for where Deployments are rightsized */
	const char *scenario; /* where it is looked for; NULL: in the usual runs */
};

extern const struct mutation_row mutation_rows[];
extern const size_t mutation_count;

const struct mutation_row *mutation_find(const char *name);

#endif
