/* What the figures of one pod come to: a container has one for each device that it uses. */
#ifndef TRACKING_CONTAINER_USE_H
#define TRACKING_CONTAINER_USE_H

#include "tracking/sizer_config.h"

/* Of the container of that figure, on the device where it is most: a share is on each. False: an
 * earlier figure was of the same one. */
bool uses_container(const struct sizer_use *use, uint32_t at, struct metered_figure *ret);
/* Of the pod whose GPU that container has: what it uses itself, and what others of the pod use
 * beside it, since the share has to hold all of it. A figure that names no container is taken for
 * its own. False: nothing is told of it, and what others use alone says nothing. */
bool uses_pod(const struct sizer_use *use, const char *container, struct metered_figure *ret);
/* Of all containers together; METERED_ABSENT: none is told. `ret_at_ms`: the latest of them. */
int64_t uses_memory(const struct sizer_use *use, int64_t *ret_at_ms);

#endif
