/* GPU memory in the model: how much each tenant uses, which in some runs is more than its share,
 * what agents see of that, and whether evictions for it are just. A breach ends the run. */
#ifndef SIM_APPETITE_H
#define SIM_APPETITE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "objects/sim_parts.h"

struct action;
struct machine;
struct sim;
struct stored;

void portions_clear(struct portions *p);
void portions_finish(struct portions *p);
/* As it is now on that machine. */
void portions_take(struct sim *s, const struct machine *m, struct portions *ret);

void appetite_begin(struct sim *s);		 /* in runs that are about it */
void appetite_ask(struct sim *s, json_t *value); /* a tenant that is about to be made */
void appetite_spells(struct sim *s);		 /* somebody has no memory left */

#endif
