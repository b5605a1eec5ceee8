/* The policies that are compiled in, all in mode Recommend, so that nothing changes. */
#ifndef SIZE_BUILTIN_H
#define SIZE_BUILTIN_H

#include "model/sizing.h"
#include "model/workload.h"

struct policy;

/* The policy that holds where nothing else does; that of a kind of work (UNKNOWN: NULL); that of a
 * name, in whatever case (builtin-TYPE; NULL: none). */
const struct policy *policy_builtin(void);
const struct policy *policy_builtin_for(enum workload_type type);
const struct policy *policy_builtin_named(const char *name);

/* The numbers of a policy for that kind of work: of those that it leaves open, the built-in's of
 * the kind; of an unknown kind, the general one's. Written bounds hold against those. */
struct sizing policy_sizing(const struct policy *p, enum workload_type type);

#endif
