/* A cluster and a piece of work that are named: the numbered cases of docs/design/conformance.md
 * that are played here. A seed still draws delays, and whatever else the scenario leaves to it. */
#ifndef SIM_SCENARIO_H
#define SIM_SCENARIO_H

#include "base/str.h"
#include "model/wire.h"
#include "people.h"
#include "sim/sim.h"

struct sim;

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

/* What a scenario counts. */
struct sim_tally {
	uint64_t pod_writes;	      /* sent: all but conditions */
	uint64_t created, given_back; /* capacity pods, by controllers */
	uint64_t posts, denied;
	uint64_t regrets; /* refused no more, while somebody was being given back */
	bool crashed;
	char node[32]; /* that is being drained */
};

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
