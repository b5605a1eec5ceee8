/* One look at all devices of a node: what the agent makes its metrics, its state and its health of.
 *
 * What a driver does not tell is absent, never zero: a figure is GPU_UNKNOWN, a process's memory
 * and use are -1. A device that does not answer is in the sample with its fault, so that it is
 * missed by nobody. */
#ifndef GPU_SAMPLE_H
#define GPU_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/fault.h"
#include "gpu/probe.h"

#define SAMPLE_PROCESSES_MAX 4096 /* a device */
#define GPU_UNKNOWN	     INT64_MIN

/* In the units of dcgm-exporter, but that ratios and percent are in thousandths. */
enum gpu_figure {
	FIGURE_SM_CLOCK,      /* MHz */
	FIGURE_MEM_CLOCK,     /* MHz */
	FIGURE_GPU_TEMP,      /* C */
	FIGURE_MEMORY_TEMP,   /* C */
	FIGURE_POWER_MW,      /* exported in W */
	FIGURE_ENERGY_MJ,     /* counter */
	FIGURE_PCIE_REPLAY,   /* counter */
	FIGURE_GPU_UTIL,      /* thousandths of a percent */
	FIGURE_MEM_COPY_UTIL, /* the same */
	FIGURE_ENC_UTIL,
	FIGURE_DEC_UTIL,
	/* The same as GPU_UTIL, the mean since the look before, of devices without GPM. */
	FIGURE_GPU_UTIL_MEAN,
	FIGURE_XID,	/* the last one seen, 0: none since the agent began */
	FIGURE_FB_FREE, /* bytes; exported in MiB */
	FIGURE_FB_USED,
	FIGURE_FB_RESERVED,
	FIGURE_FB_TOTAL,
	FIGURE_CORRECTABLE_REMAPPED_ROWS,
	FIGURE_UNCORRECTABLE_REMAPPED_ROWS,
	FIGURE_ROW_REMAP_FAILURE, /* 0 or 1 */
	FIGURE_ROW_REMAP_PENDING,
	FIGURE_COMPUTE_MODE, /* NVML's number */
	/* GPM, Hopper and later: thousandths of 1 */
	FIGURE_PROF_GR_ENGINE_ACTIVE,
	FIGURE_PROF_SM_ACTIVE,
	FIGURE_PROF_SM_OCCUPANCY,
	FIGURE_PROF_PIPE_TENSOR_ACTIVE,
	FIGURE_PROF_DRAM_ACTIVE,
	FIGURE_PROF_PCIE_TX_BYTES, /* a second */
	FIGURE_PROF_PCIE_RX_BYTES,
	FIGURE_COUNT
};

enum gpu_process_kind {
	PROCESS_COMPUTE = 1,
	PROCESS_GRAPHICS = 2,
	PROCESS_MPS_CLIENT = 4, /* in NVML's list of those */
};

/* One process on one device, however many of NVML's lists name it: its memory is counted once. */
struct gpu_process {
	uint32_t pid;	   /* of the host */
	uint32_t kinds;	   /* of enum gpu_process_kind */
	int64_t mem_bytes; /* -1: not told */
	/* Thousandths of a percent of the device since the sample before; 0 where NVML says that
	 * nobody ran, -1 where the device cannot tell. */
	int32_t sm, mem_util, enc, dec;
};

struct gpu_reading {
	/* Identity; of a lost one what was known of it last: of one that never answered the UUID is
	 * empty. */
	struct gpu_device device;
	char pci_bus_id[32]; /* "00000000:41:00.0" */
	uint32_t index;	     /* NVML's, in this look; grows from one device to the next */
	bool answered;
	struct fault fault;  /* why it did not answer */
	const char *ill;     /* why no new tenants should come here, for people; NULL: it is well */
	int32_t ill_xid;     /* the XID that made it ill since the agent began; 0: none */
	bool process_use;    /* process utilisation can be told: false under MIG */
	bool processes_told; /* false: its lists could not be read, and some may use it */
	int64_t figures[FIGURE_COUNT];
	struct gpu_process *processes; /* borrowed from the sample's arena, by pid */
	uint32_t process_count;
};

struct gpu_sample {
	struct gpu_reading *devices; /* borrowed from the arena; in NVML's order */
	uint32_t device_count;
	int64_t taken_ms; /* monotonic: when it was begun */
	int64_t took_ms;
	uint32_t retries; /* lists that grew while they were read */
	uint32_t dropped; /* rows of utilisation that made no sense */
	uint32_t errors;  /* calls that failed on a device that answers and has what they ask for */
	char driver[48];
	int32_t cuda; /* 12040: 12.4; 0: not told */
};

#endif
