/* NVML behind the port of gpu/probe.h. The library is the driver's: it is loaded at run time,
 * every call is looked up by name, newest version first, and what an old driver lacks is done
 * without. */
#ifndef GPU_NVML_H
#define GPU_NVML_H

#include "base/fault.h"
#include "gpu/probe.h"

#define NVML_LIBRARY "libnvidia-ml.so.1"

/* Loads and initialises; the probe is the caller's. FAULT_TRANSIENT where waiting may help. */
MUST_CHECK int nvml_probe_open(
	const char *library, struct gpu_probe **ret_probe, struct fault *ret_fault);

#endif
