/*
 * What the fake library knows: the topology file, looked at anew at every call, so that a test
 * changes the hardware by rewriting a file. A file that did not change since is not parsed again:
 * the agent's cost is measured against this library. What is loaded belongs to this thread and
 * stays as it is until the thread's next load.
 *
 * Loading fails, with NULL, where FAKE_NVML_TOPOLOGY names no readable file or a line is not
 * understood; the reason goes to standard error, since a silent misreading would hide a broken
 * test. README.md in the folder above describes the format.
 */
#ifndef FAKE_TOPOLOGY_H
#define FAKE_TOPOLOGY_H

#include <stdbool.h>

enum {
	GPU_MAX = 64,
	PROCESS_MAX = 8192,
	USE_MAX = 8192,
	RULE_MAX = 128,
	XID_MAX = 64,
	OWN_MAX = 128
};

enum process_kind { PROCESS_COMPUTE, PROCESS_MPS, PROCESS_GRAPHICS };

/* What a device measures of itself; MEASURE_UNSUPPORTED where it cannot. */
enum measure {
	MEASURE_SM_CLOCK,
	MEASURE_MEMORY_CLOCK,
	MEASURE_TEMPERATURE,
	MEASURE_MEMORY_TEMPERATURE,
	MEASURE_POWER_MW,
	MEASURE_ENERGY_MJ,
	MEASURE_PCIE_REPLAY,
	MEASURE_ENCODER,
	MEASURE_DECODER,
	MEASURE_ECC_UNCORRECTED,
	MEASURE_BUSY_GPU,
	MEASURE_BUSY_MEMORY,
	MEASURE_REMAPPED_CORRECTABLE,
	MEASURE_REMAPPED_UNCORRECTABLE,
	MEASURE_REMAPPED_PENDING,
	MEASURE_REMAPPED_FAILED,
	MEASURE_GPM_GRAPHICS,
	MEASURE_GPM_SM,
	MEASURE_GPM_OCCUPANCY,
	MEASURE_GPM_TENSOR,
	MEASURE_GPM_DRAM,
	MEASURE_GPM_PCIE_TX,
	MEASURE_GPM_PCIE_RX,
	MEASURE_COUNT
};
#define MEASURE_UNSUPPORTED (-1.0)

struct gpu {
	char uuid[96];
	char report_uuid[96];
	char name[96];
	char bus_id[32];
	unsigned minor;
	unsigned long long total, reserved, used;
	bool mig_known;
	unsigned mig_current, mig_pending;
	double measures[MEASURE_COUNT];
	unsigned long long own_us[OWN_MAX]; /* samples of its own use: when, and percent */
	unsigned own[OWN_MAX];
	int owns;
	unsigned garbage; /* rows of utilisation that mean nothing */
	unsigned xid[XID_MAX];
	int xids;
	bool visible;
};

struct process_row {
	int gpu;
	enum process_kind kind;
	unsigned pid;
	unsigned long long bytes;
};

/* A row of utilisation; at 0 it is one that goes on and on. */
struct use_row {
	int gpu;
	unsigned pid, sm, memory, encoder, decoder;
	unsigned long long at_us;
};

/* What a call shall do other than answer; gpu is -1 where the rule holds for every device. */
struct rule {
	char call[64];
	int gpu;
	enum { RULE_RETURN, RULE_DELAY_MS, RULE_CRASH, RULE_GROW } act;
	int value;
	int left; /* of RULE_GROW: how often it will still hold */
};

struct topology {
	char driver[80];
	int cuda;
	bool refuse_bare;
	int gpus, processes, uses, rules;
	struct gpu gpu[GPU_MAX];
	struct process_row process[PROCESS_MAX];
	struct use_row use[USE_MAX];
	struct rule rule[RULE_MAX];
};

struct topology *topology_load(void);

#endif
