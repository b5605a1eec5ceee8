/* How many bytes of large pods each namespace may have kept. */
#ifndef WORLD_SPACES_H
#define WORLD_SPACES_H

#include "store.h"

/* What is kept of large pods, by namespace. `bytes` as noun_size. */
bool spaces_have_room(const struct world *w, const char *ns, size_t bytes);
void spaces_take(struct world *w, const char *ns, size_t bytes);
void spaces_leave(struct world *w, const char *ns, size_t bytes);
/* What is kept of a pod for which there is no room. A view of it. */
void spaces_least(const struct pod *pod, struct arena *arena, struct pod *ret);

#endif
