/* Namespaces by name: what is in one may be seen before itself. */
#ifndef WORLD_NAMESPACES_INSIDE_H
#define WORLD_NAMESPACES_INSIDE_H

#include "store.h"

void namespaces_init(struct world *w);
struct world_namespace *namespace_touch(struct world *w, const char *name);

#endif
