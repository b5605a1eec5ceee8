/* From NVML's rows of utilisation to what each process used between two looks. Pure.
 *
 * A driver gives one row a process: the mean over all the time that was asked for, whatever the
 * time in the row, which is that of the last sample in which the process was met (R14 in
 * docs/design/gpu-truth.md). Several rows of a process are samples: each counts for the time since
 * the one before, or since the interval began, a second at most; what is left of the interval
 * counts as nothing. Who did nothing has no row. */
#ifndef GPU_USE_H
#define GPU_USE_H

#include <stddef.h>
#include <stdint.h>

#include "gpu/sample.h"
#include "library.h"

struct look;

struct use_span {
	uint64_t from_us, until_us; /* the interval between the looks, in NVML's time */
	bool sampled; /* several rows of one process: each stands for a second at most */
};

struct use_rows {
	struct nvml_use *rows; /* borrowed; sorted and thinned out here */
	size_t count;
};

/* Drops what means nothing (no PID, more than 100 %) and returns how many rows that were; then what
 * is not newer than `after_us`, or newer than `latest_us`: from before the clock was set back.
 * Sorts the rest by process and time. */
uint32_t use_clean(struct use_rows *r, uint64_t after_us, uint64_t latest_us);

/* The interval that cleaned rows are of: it ends now, or with the newest row where that is newer
 * than `now_us` less the second for which a driver gathers. */
struct use_span use_span_of(
	const struct use_rows *r, uint64_t after_us, uint64_t now_us, uint64_t interval_us);

/* Fills in sm, mem_util, enc and dec of all processes, sorted by PID: 0 for who has no rows. */
void use_share(const struct use_rows *r, const struct use_span *span, struct gpu_process *processes,
	uint32_t count);
void look_use(struct look *l); /* after the processes */

#endif
