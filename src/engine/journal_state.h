/* The engine's whole state as records of a journal, and back. */
#ifndef ENGINE_JOURNAL_STATE_H
#define ENGINE_JOURNAL_STATE_H

#include "journal.h"

typedef void (*state_put)(void *data, const struct str *record);
void state_save(const struct engine *e, struct str *scratch, state_put put, void *data);
/* One such record, after its type, into an engine that is new but for the records before. False: it
 * cannot mean anything. What `u` unpacks is copied. */
bool state_load(struct engine *e, enum record type, struct unpack *u);
/* Another number for whatever is packed otherwise: it follows from all tables that a journal has.
 */
uint64_t journal_format(void);

#endif
