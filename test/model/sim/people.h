/* What people ask of the modelled cluster. */
#ifndef SIM_PEOPLE_H
#define SIM_PEOPLE_H

#include <stdbool.h>

#include "objects/scenario_parts.h"

struct api_request;
struct sim;

void people_prepare(struct sim *s); /* what is there before anybody comes */
void people_start(struct sim *s);
void people_ask_for(struct sim *s, const struct wanted_pod *a);
void people_ask(struct sim *s, const char *name, const char *share);
void people_take_away(struct sim *s, const char *name);
void people_create_tenant(struct sim *s); /* one that the scope draws */

#endif
