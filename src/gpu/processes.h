/* One look's processes of a device. */
#ifndef GPU_PROCESSES_H
#define GPU_PROCESSES_H

#include "sampler_parts.h"

void look_processes(struct look *l);

#endif
