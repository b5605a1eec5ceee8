/* A named piece of work. */
#ifndef SIM_SCENARIO_PARTS_H
#define SIM_SCENARIO_PARTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "model/wire.h"

struct sim;

/* A pod that is named: a tenant, or one for whole GPUs. */
struct wanted_pod {
	const char *name;
	const char *share, *memory, *count; /* of tenants; NULL: not said */
	const char *app;		    /* with a disruption budget; NULL: none */
	const char *gpus;		    /* whole ones; NULL: it is a tenant */
	int priority;
	bool lasting; /* a whole GPU is kept for good */
};
/* So many of a kind ask at that time; their names end with a number. */
struct asking {
	int64_t at_ms;
	int times; /* 0: the script ends here */
	struct wanted_pod ask;
};

struct sim_scenario {
	const char *name, *what;
	void (*begin)(struct sim *s); /* nodes, weather, who asks for what; settings of the run */
	/* Everything is as the case says; else `why` not. */
	bool (*settled)(struct sim *s, struct str *why);
	/* What befalls a write about pods, by a fate's name; NULL: what the weather says. "CRASH
	 * BEFORE" and "CRASH AFTER" end the process that sends it. */
	const char *(*fate)(struct sim *s, const struct wire_request *r);
	const struct asking *script; /* NULL: `begin` asks for what there is */
	int64_t trouble_ms;
	bool own_rest;	     /* only `settled` says when everything has come to rest */
	bool everyone_leads; /* each controller believes that it leads, always */
};

#endif
