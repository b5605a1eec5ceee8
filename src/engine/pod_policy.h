/* Which GPUPolicy holds for a pod, as policies are now: not as they were when it was admitted. */
#ifndef ENGINE_POD_POLICY_H
#define ENGINE_POD_POLICY_H

#include "size/policy_resolution.h"

struct arena;
struct pod;
struct world;

struct policy_choice policy_of(const struct world *w, const struct pod *pod);
/* NAME@GENERATION of it; NULL: there is none. */
const char *policy_stamp(const struct world *w, const struct pod *pod, struct arena *arena);

#endif
