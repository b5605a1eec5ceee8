/* The port through which a GPU driver is asked what there is. NVML implements it (gpu/nvml.h);
 * tests implement it with arrays.
 *
 * FAULT_TRANSIENT: ask again later (driver not loaded yet, library missing, library and driver of
 * different versions during an upgrade). FAULT_GONE: the GPU fell off the bus. FAULT_DENIED: no
 * permission. FAULT_NOT_FOUND: no such device. FAULT_INVALID: the driver says what cannot be.
 * FAULT_FATAL: the GPU needs a reset or a repair. */
#ifndef GPU_PROBE_H
#define GPU_PROBE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/fault.h"
#include "model/gpu.h"

#define PROBE_DEVICES_MAX 64

struct gpu_device {
	struct gpu_identity identity; /* memory 0: it has none of its own, or is of mode MIG */
	bool mig;		      /* MIG mode is on, or will be after the next reset */
};

struct gpu_probe;
struct gpu_probe_impl {
	/* Looks again at what is there; devices that this process may not open do not count. */
	int (*count)(struct gpu_probe *p, uint32_t *ret_count, struct fault *ret_fault);
	/* index < what count said last. Asks the device itself, so that a lost one is noticed. */
	int (*describe)(struct gpu_probe *p, uint32_t index, struct gpu_device *ret_device,
		struct fault *ret_fault);
	void (*destroy)(struct gpu_probe *p);
};

struct gpu_probe {
	const struct gpu_probe_impl *impl;
};

/* How a probe comes to be; `library` is a file name for dlopen. */
typedef int (*gpu_probe_open)(
	const char *library, struct gpu_probe **ret_probe, struct fault *ret_fault);

static inline int gpu_probe_count(struct gpu_probe *p, uint32_t *ret_count, struct fault *ret_fault)
{
	return p->impl->count(p, ret_count, ret_fault);
}

static inline int gpu_probe_describe(
	struct gpu_probe *p, uint32_t index, struct gpu_device *ret_device, struct fault *ret_fault)
{
	return p->impl->describe(p, index, ret_device, ret_fault);
}

/* NULL is fine. */
static inline void gpu_probe_destroy(struct gpu_probe *p)
{
	if (p != NULL) {
		p->impl->destroy(p);
	}
}

static inline void cleanup_gpu_probe(struct gpu_probe **slot)
{
	gpu_probe_destroy(*slot);
}

#endif
