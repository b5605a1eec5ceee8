/* Modes of isolation in the model: tenants that were made clients of MPS, and whether a GPU is
 * shared by one mode only. A breach ends the run. */
#ifndef SIM_MODES_H
#define SIM_MODES_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct claim;
struct pod;
struct sim;
struct stored;

void modes_ask(struct sim *s, json_t *value); /* a tenant that is about to be made */
bool modes_agree(const struct pod *a, const struct pod *b);
void modes_check_ledger(struct sim *s, const struct stored *holder); /* one was written */
void modes_check_told(struct sim *s, const struct stored *tenant);   /* a tenant was written */
/* What a capacity pod takes of its node, at most, in this run. */
int64_t modes_capacity_cpu(const struct sim *s);
int64_t modes_capacity_mem(const struct sim *s);
/* Somebody is told that a mode keeps it off: NULL, or what is wrong with that. */
const char *modes_claim(struct claim *c);

#endif
