/* The agent's end of the process that asks the NVIDIA driver. A call into the driver may block for
 * good or crash: that happens in a child, which is ended and started anew with a capped back-off,
 * while the agent answers on. There is one child at most, also while an old one hangs in the kernel
 * and cannot be ended; and it does not outlive the agent.
 *
 * Where it was known to ask one device for most of that time, the next ones leave that device out,
 * so that the others are seen, and try it again later (gpu_hang.h); then a few old ones may hang on
 * beside the new one.
 *
 * The worker asks for a look every interval, and sooner when somebody wants a fresh one. What the
 * driver said of a device before its child ended is remembered: an XID makes a device ill until it
 * was reset or the agent is started anew.
 *
 * Whoever owns it steps it once a turn of the loop and wakes the loop at its deadline. Callbacks
 * come from the step and from the loop, never from the other calls, and may not destroy the worker.
 */
#ifndef NODE_GPU_WORKER_H
#define NODE_GPU_WORKER_H

#include "base/clock.h"
#include "base/metric.h"
#include "gpu/sample.h"
#include "io/loop.h"

/* A look that takes longer ends the child. Without persistence mode a driver brings the GPUs of a
 * large machine up for the better part of a minute, at the first look of a child. */
#define GPU_WORKER_DEADLINE_MS	     10000
#define GPU_WORKER_FIRST_DEADLINE_MS 90000
/* Fresh enough for who asks for a look. */
#define GPU_WORKER_FRESH_MS 1000

struct gpu_worker_config {
	struct loop *loop;		 /* all borrowed */
	const struct clock *clock;	 /* of the loop: monotonic */
	struct metric_registry *metrics; /* NULL: none are kept */
	const char *program;		 /* NULL: this one */
	const char *library;		 /* NVML's file name */
	int64_t interval_ms;
	int64_t deadline_ms, first_deadline_ms; /* 0: those above */
	int64_t try_ms; /* at first until a device that hung is tried again; 0: 15 s */
	/* The sample is the worker's and valid until the next one. */
	void (*on_sample)(void *data, const struct gpu_sample *sample);
	/* There is no look: why. Once for each failure, and once an interval while it lasts. */
	void (*on_fault)(void *data, const struct fault *why);
	void *data;
};

struct gpu_worker;
struct gpu_worker *gpu_worker_create(const struct gpu_worker_config *config);
void gpu_worker_destroy(struct gpu_worker *w); /* ends the child; NULL is fine */

void gpu_worker_step(struct gpu_worker *w, int64_t now_ms);
int64_t gpu_worker_deadline(const struct gpu_worker *w);
/* A look begins at the next step, unless one is under way or was begun a moment ago. */
void gpu_worker_refresh(struct gpu_worker *w);

#endif
