/* Pods that are there and were never read, by name. */
#ifndef WORLD_MISSED_H
#define WORLD_MISSED_H

#include <stdint.h>

#include "model/change.h"

struct world;

struct missed {
	const char *ns; /* interned */
	char *name;	/* owned; NULL: any pod of the namespace may be there */
	uint32_t mark;	/* of the relist that met it last */
};

/* An object is there that is not known here, nor what it is called. */
void world_missed(struct world *w, enum kind kind);

/* Without a name it may be any pod of the namespace. */
void missed_note(struct world *w, const char *ns, const char *name);
void missed_forget(struct world *w, const char *ns, const char *name);
/* Pods that the relist `mark` has not met are gone. */
void missed_sweep(struct world *w, uint32_t mark);
void missed_finish(struct world *w);

#endif
