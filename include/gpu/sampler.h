/* Looks at all devices of a node through NVML, one look after the other. Every call into the driver
 * blocks, some hang: this lives in a process of its own (node/gpu_worker.h).
 *
 * What one look must know of those before it is kept by device: when its processes' use was read
 * last, GPM's sample, the XIDs that came. A device that does not answer is in the sample with its
 * fault and the others go on. Where nothing can be looked at the fault says why and the library is
 * opened anew, at the next look or, while that fails, with a capped back-off between the attempts;
 * it is opened anew as well while a device is lost, once a minute, since only that finds it after a
 * reset. */
#ifndef GPU_SAMPLER_H
#define GPU_SAMPLER_H

#include "base/alloc.h"
#include "base/clock.h"
#include "gpu/sample.h"

struct sampler;

/* `library` is a file name for dlopen and, like the clock, borrowed. Nothing is opened yet. */
struct sampler *sampler_create(const char *library, const struct clock *clock);
void sampler_destroy(struct sampler *s); /* NULL is fine */

/* The sample's memory is the arena's. FAULT_TRANSIENT where waiting may help.
 *
 * What the processes use and GPM are read where they were read at least `use_every_ms` ago, and
 * else are those of then, with -1 for a process that is new since: who looks in between, to see
 * whether a process is gone, does not cut the interval of the metrics short. */
MUST_CHECK int sampler_look(struct sampler *s, int64_t use_every_ms, struct arena *arena,
	struct gpu_sample *ret_sample, struct fault *ret_fault);

/* Says which device is about to be asked, by its index: who does not come back is still there. */
void sampler_watch(struct sampler *s, void (*on_device)(void *data, uint32_t index), void *data);
/* The devices of these indices, a bit each, are not touched from the next look on: a call about
 * them may not come back. They are in the sample as such that do not answer. */
void sampler_leave_out(struct sampler *s, uint64_t indices);

#endif
