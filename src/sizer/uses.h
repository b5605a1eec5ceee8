/* What the figures of one pod come to: a container has one for each device that it uses. */
#ifndef SIZER_USES_H
#define SIZER_USES_H

#include "sizer/sizer.h"

/* Of the container of that figure, on the device where it is most: a share is on each. False: an
 * earlier figure was of the same one. */
bool uses_container(const struct sizer_use *use, uint32_t at, struct sizer_figure *ret);
/* Of all containers together; METERED_ABSENT: none is told. `ret_at_ms`: the latest of them. */
int64_t uses_memory(const struct sizer_use *use, int64_t *ret_at_ms);

#endif
