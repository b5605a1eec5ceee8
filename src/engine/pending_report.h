/* What those who wait, and those who have just been placed, are told. Nothing here fails. */
#ifndef ENGINE_PENDING_REPORT_H
#define ENGINE_PENDING_REPORT_H

#include "ledger/nouns.h"

void report_waiting(struct scheduling *sched, struct emitter *out);

#endif
