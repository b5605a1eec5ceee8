/* What people ask of the modelled cluster. */
#ifndef SIM_PEOPLE_H
#define SIM_PEOPLE_H

struct sim;

void people_prepare(struct sim *s); /* what is there before anybody comes */
void people_start(struct sim *s);
void people_ask(struct sim *s, const char *name, const char *share);
void people_take_away(struct sim *s, const char *name);
void people_snatch(struct sim *s, const char *capacity_pod);
void people_come_back(struct sim *s); /* while a GPU is about to be given back */

#endif
