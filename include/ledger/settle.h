/* What became of writes to capacity pods and of placements. Nothing here fails. */
#ifndef LEDGER_SETTLE_H
#define LEDGER_SETTLE_H

#include "ledger/nouns.h"

/* False: the action was neither. */
bool flight_settle(struct book *book, int64_t now, uint64_t id, const struct outcome *o);
/* Any other that tells of a tenant: it may have been a word of ours. */
void word_settle(struct book *book, const struct outcome *o);

#endif
