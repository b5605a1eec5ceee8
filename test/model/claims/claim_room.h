/* What is used for certain and what may be, of GPUs, nodes and quotas, in one picture. */
#ifndef SIM_CLAIM_ROOM_H
#define SIM_CLAIM_ROOM_H
#include "claim.h"

/* Has it written to any ledger what its watch has not shown it yet, however long ago? It gives
 * nothing before that (C21). What it has written before `since` counts. */
bool claim_awaits_watch(const struct claim *c, int64_t since);
bool claim_is_waiting(const struct stored *o);
const struct stored *claim_find(const struct claim *c, const char *uid);
/* Is this capacity pod open to grants, as far as the objects tell? */
bool claim_is_open(const struct stored *o);
/* Does its affinity allow that node? */
bool claim_selects(const struct pod *p, const struct node *n);
struct span claim_used_milli(const struct claim *c, const struct stored *holder);
struct span claim_used_mib(const struct claim *c, const struct stored *holder);
/* It was promised there, and nothing says that it is over; `holder` NULL: whatever its ledger says.
 */
bool claim_may_use(const struct claim *c, const struct promise *made, const struct stored *holder);
bool claim_comes_first(const struct claim *c, const struct stored *o);
/* What those who come first may take in this step. */
void claim_ahead(const struct claim *c, int64_t mem_mib, int64_t *ret_milli, int64_t *ret_mib);
/* The same of all others who wait. */
void claim_others(const struct claim *c, int64_t mem_mib, int64_t *ret_milli, int64_t *ret_mib);
/* Where it fits for certain; NULL: nowhere. */
const struct stored *claim_fits(const struct claim *c);
/* Has a GPU lost its capacity pod? */
bool claim_has_orphans(const struct claim *c);
/* Or has one that holds it again, and not yet in its books who runs on it? */
bool claim_has_unbooked(const struct claim *c);
/* The span of what is taken of a quota. */
struct span claim_quota_used(const struct claim *c, const struct quota *q);
bool claim_node_takes(const struct claim *c, const struct stored *node, int64_t opens);
bool claim_is_drained(const struct node *n); /* for an upgrade of its driver */
bool claim_may_come(const struct claim *c, const struct stored *o, const char *node);
int64_t claim_opened_unseen(const struct claim *c); /* capacity pods that it asked for lately */
const struct grant *claim_entry_of(const struct ledger *l, const char *uid); /* NULL: none */

#endif
