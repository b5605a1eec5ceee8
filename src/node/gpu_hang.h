/* Devices that the driver did not come back from: left out of the looks, so that the others are
 * seen, and tried again one at a time with a back-off. By NVML's index, which is all that is known
 * of a device that hangs.
 *
 * A process that hangs in the kernel cannot be ended. It is kept here, and its device is not tried
 * before it has gone: each try would leave another one. */
#ifndef NODE_GPU_HANG_H
#define NODE_GPU_HANG_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/clock.h"
#include "base/rand.h"
#include "gpu/probe.h"

/* How many processes may hang in the kernel beside the one that asks. */
#define HANG_STUCK_MAX 2
#define HANG_NO_DEVICE UINT32_MAX
#define HANG_TRY_MS    5000 /* how long a try may take */
#define HANG_FIRST_MS  15000
#define HANG_CAP_MS    1800000

struct hang {
	bool hangs;
	struct backoff backoff;
	int64_t try_at_ms;
	pid_t stuck; /* 0: none */
};

struct hangs {
	struct hang devices[PROBE_DEVICES_MAX];
	struct rng rng;
	uint32_t tried; /* in the look that is under way; or HANG_NO_DEVICE */
};

/* `first_ms`: until the first try. */
void hangs_init(struct hangs *h, int64_t first_ms, uint64_t seed);
/* What the look that begins now leaves out, a bit for each index. `may_try`: one whose time has
 * come is not among them. */
uint64_t hangs_begin(struct hangs *h, int64_t now_ms, bool may_try);
/* The look came back: what it tried does not hang any more. */
void hangs_done(struct hangs *h);
/* The look did not: it was at that device. */
void hangs_note(struct hangs *h, uint32_t index, int64_t now_ms);
/* The process that hangs on that device goes on hanging by itself. False: there are too many. */
bool hangs_keep(struct hangs *h, uint32_t index, pid_t pid);

#endif
