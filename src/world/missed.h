/* Pods that are there and were never read, by name. */
#ifndef WORLD_MISSED_H
#define WORLD_MISSED_H

#include "base/table.h"
#include "model/change.h"

struct world;

struct missed {
	struct table_row row; /* without a name any pod of the namespace may be there */
	char text[];	      /* namespace, NUL, name, NUL */
};

/* An object is there that is not known here, nor what it is called. */
void world_missed(struct world *w, enum kind kind);

void missed_init(struct world *w);
/* Without a name it may be any pod of the namespace. */
void missed_note(struct world *w, const char *ns, const char *name);
void missed_forget(struct world *w, const char *ns, const char *name);

#endif
