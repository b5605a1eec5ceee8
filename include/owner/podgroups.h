/* Which PodGroups are Basic: their pods are scheduled each by itself. Of every other one (a gang,
 * one that was not seen yet, cannot be read or is one too many) nothing is kept, and its pods stay
 * whole. */
#ifndef OWNER_PODGROUPS_H
#define OWNER_PODGROUPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/change.h"

#define PODGROUPS_PER_NAMESPACE 1000
#define PODGROUPS_MAX		20000

struct podgroups;

struct podgroups *podgroups_create(void);
void podgroups_destroy(struct podgroups *g);
/* What the watch of PodGroups said. */
void podgroups_apply(struct podgroups *g, const struct change *c);

/* Is the pod of a PodGroup of its own namespace that is known to be Basic? Of none while the watch
 * is broken. `g` may be NULL: none is known. */
bool podgroups_frees(const struct podgroups *g, const struct pod *pod);

/* Basic ones that are kept; times that one was not, since the start. */
size_t podgroups_count(const struct podgroups *g);
uint64_t podgroups_unkept(const struct podgroups *g);

#endif
