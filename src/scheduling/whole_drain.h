/* A node that is kept for a pod which asks for whole GPUs (C18). Nothing here fails. */
#ifndef SCHEDULING_WHOLE_DRAIN_H
#define SCHEDULING_WHOLE_DRAIN_H

#include "ledger/nouns.h"

struct whole;

/* It fits nowhere and has waited; a node is kept for it. */
void whole_drain(
	struct wholes *all, struct whole *w, const struct place_request *r, struct emitter *out);

#endif
