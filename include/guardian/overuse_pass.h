/* One pass of the watchdog, in slices. Nothing here fails. */
#ifndef GUARDIAN_OVERUSE_PASS_H
#define GUARDIAN_OVERUSE_PASS_H

#include "ledger/engine_config.h"
#include "ledger/nouns.h"

/* A pass begins once a second, whatever calls it. */
void overuse_tend(struct overuses *all);
/* One slice of it, of about so many objects; nothing where none is under way. */
void overuse_step(
	struct overuses *overuses, struct engine_now now, uint32_t budget, struct emitter *out);
bool overuse_running(const struct overuses *overuses);

#endif
