/* What a controller has decided and sent, as the claims it makes are judged by. */
#ifndef SIM_CLAIM_INTENT_H
#define SIM_CLAIM_INTENT_H
#include "claim.h"

/* So long a write may be without an answer, and its ledger counts. */
#define CLAIM_ANSWER_MS 16000

bool claim_failed_on(const struct sim *s, const char *node, int64_t within_ms);
/* The last write to that capacity pod's ledger that this controller decided; NULL: none. */
const struct intent *claim_grant_of(const struct sim *s, int replica, const char *holder);
/* Has this controller meant to do that to the object of this name lately? NULL: to any. */
bool claim_intends(const struct claim *c, int kind, const char *name, int64_t within_ms);
/* Has it written to this one what the picture does not show? */
bool claim_grants_unseen(const struct claim *c, const struct stored *holder);
/* The node that it must go to; NULL: none is named. */
const char *claim_pin(const struct pod *p);

#endif
