/* What /v1/state of a modelled node answers. */
#ifndef SIM_NODE_AGENT_H
#define SIM_NODE_AGENT_H

#include <stdbool.h>
#include <stdint.h>

#include "appetite.h"
#include "base/vec.h"
#include "objects/sim_parts.h"

struct machine;
struct sim;

/* NULL: there is no machine that answers. Owned by the caller. With `nobody` as an agent would that
 * takes silence for no process. */
char *agent_answer(struct sim *s, const char *node, bool nobody);
void agent_restart(struct machine *m); /* it has not heard what made a GPU ill before */
void agent_heal(struct sim *s, struct machine *m, int device); /* by a reset, and told if need be */
void agent_finish(struct machine *m);
void agent_spells(struct sim *s);

#endif
