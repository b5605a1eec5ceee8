/* What NVML's return codes mean for one look at a device. */
#ifndef GPU_LOOK_H
#define GPU_LOOK_H

#include "sampler_parts.h"

/* What a return code means for the look: true, go on with what was filled. What is lacking or
 * refused stays unknown, what fails is counted, and after a lost device or a deaf library
 * reading->answered is false. */
bool look_took(struct look *l, int code, const char *call);

#endif
