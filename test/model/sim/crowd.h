/* Work that keeps one small machine full: little tenants that come and end all the time, and one
 * that needs nearly all of a GPU, or of every one. */
#ifndef SIM_CROWD_H
#define SIM_CROWD_H
#include "objects/sim_parts.h"

void crowd_weather(struct weather *w, uint64_t seed);
void crowd_work(void *data, uint64_t turn);

#endif
