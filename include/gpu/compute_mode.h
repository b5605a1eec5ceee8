/* Who may use a GPU: everybody, or one process at a time, which under MPS is its server. Needs
 * root. */
#ifndef GPU_COMPUTE_MODE_H
#define GPU_COMPUTE_MODE_H

#include "base/fault.h"

enum gpu_compute_mode { COMPUTE_MODE_DEFAULT = 0, COMPUTE_MODE_EXCLUSIVE_PROCESS = 3 };

/* Loads NVML for the length of the call. FAULT_DENIED: not root; FAULT_NOT_FOUND: no such GPU. */
MUST_CHECK int gpu_compute_mode_set(
	const char *library, const char *uuid, enum gpu_compute_mode mode, struct fault *ret_fault);

#endif
