/* Modes of isolation in the model: tenants that were made clients of MPS, and whether a GPU is
 * shared by one mode only. A breach ends the run. */
#ifndef SIM_ISOLATION_RULES_H
#define SIM_ISOLATION_RULES_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "model/state.h"
#include "objects/sim_parts.h"

struct change;
struct claim;
struct device;
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
void modes_spells(struct sim *s); /* daemons come to a fault, and get over it */
/* What an agent says of the daemon of that device. */
enum mps_state modes_daemon(const struct sim *s, const struct device *d);
void modes_told(struct sim *s, int replica, const struct change *c);
/* A controller has decided to give that tenant a share, and had not before. */
void modes_check_chosen(struct sim *s, int replica, const char *holder, const char *uid);
/* Somebody is told that a mode keeps it off: NULL, or what is wrong with that. */
const char *modes_claim(struct claim *c);

#endif
