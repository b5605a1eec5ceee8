/* Who may use a GPU: everybody, or one process at a time, which under MPS is its server. To set it
 * needs root. */
#ifndef GPU_COMPUTE_MODE_H
#define GPU_COMPUTE_MODE_H

#include "base/fault.h"

enum gpu_compute_mode {
	COMPUTE_MODE_DEFAULT = 0,
	COMPUTE_MODE_EXCLUSIVE_THREAD = 1, /* of old drivers */
	COMPUTE_MODE_PROHIBITED = 2,
	COMPUTE_MODE_EXCLUSIVE_PROCESS = 3
};

/* As nvidia-smi has them; "Unknown" for another one. */
const char *gpu_compute_mode_name(enum gpu_compute_mode mode);

/* Both load NVML for the length of the call. FAULT_DENIED: not root; FAULT_NOT_FOUND: no such GPU.
 */
MUST_CHECK int gpu_compute_mode_set(
	const char *library, const char *uuid, enum gpu_compute_mode mode, struct fault *ret_fault);

MUST_CHECK int gpu_compute_mode_get(const char *library, const char *uuid,
	enum gpu_compute_mode *ret_mode, struct fault *ret_fault);

#endif
