/*
 * What the fake library knows: the topology file, read anew at every call, so that a test changes
 * the hardware by rewriting a file. The caller owns a loaded topology and frees it; nothing is
 * kept.
 *
 * Loading fails, with -1, where FAKE_NVML_TOPOLOGY names no readable file or a line is not
 * understood; the reason goes to standard error, since a silent misreading would hide a broken
 * test. README.md beside this file describes the format.
 */
#ifndef FAKE_TOPOLOGY_H
#define FAKE_TOPOLOGY_H

#include <stdbool.h>

enum { GPU_MAX = 64, PROCESS_MAX = 1024, RULE_MAX = 128 };

enum process_kind { PROCESS_COMPUTE, PROCESS_MPS, PROCESS_GRAPHICS };

struct gpu {
	char uuid[96];
	char report_uuid[96];
	char name[96];
	char bus_id[32];
	unsigned minor;
	unsigned long long total, reserved, used;
	bool mig_known;
	unsigned mig_current, mig_pending;
	unsigned busy_gpu, busy_memory;
	bool visible;
};

struct process_row {
	int gpu;
	enum process_kind kind;
	unsigned pid;
	unsigned long long bytes;
};

/* What a call shall do other than answer; gpu is -1 where the rule holds for every device. */
struct rule {
	char call[64];
	int gpu;
	enum { RULE_RETURN, RULE_DELAY_MS, RULE_CRASH } act;
	int value;
};

struct topology {
	char driver[80];
	int cuda;
	bool refuse_bare;
	int gpus, processes, rules;
	struct gpu gpu[GPU_MAX];
	struct process_row process[PROCESS_MAX];
	struct rule rule[RULE_MAX];
};

int topology_load(struct topology **ret_topology);
void topology_free(struct topology **topology);

#endif
