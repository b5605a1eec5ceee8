/* What people ask of the modelled cluster. */
#ifndef SIM_PEOPLE_H
#define SIM_PEOPLE_H

#include <stdbool.h>

struct api_request;
struct sim;

void people_prepare(struct sim *s); /* what is there before anybody comes */
void people_start(struct sim *s);
/* A pod that is named: a tenant, or one for whole GPUs. */
struct wanted_pod {
	const char *name;
	const char *share, *memory, *count; /* of tenants; NULL: not said */
	const char *app;		    /* with a disruption budget; NULL: none */
	const char *gpus;		    /* whole ones; NULL: it is a tenant */
	int priority;
	bool lasting; /* a whole GPU is kept for good */
};
void people_ask_for(struct sim *s, const struct wanted_pod *a);
void people_ask(struct sim *s, const char *name, const char *share);
void people_take_away(struct sim *s, const char *name);
void people_create_tenant(struct sim *s); /* one that the scope draws */

#endif
