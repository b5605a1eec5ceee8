/* One GPU held by one capacity pod: who it is, and who was granted what on it. */
#ifndef MODEL_GPU_H
#define MODEL_GPU_H

#include <stdbool.h>
#include <stdint.h>

#include "model/names.h"

/* What `aliquot capacity identify` tells by its termination message. */
#define GPU_UUID_MAX  96
#define GPU_MODEL_MAX 96
struct gpu_identity {
	char uuid[GPU_UUID_MAX];
	char model[GPU_MODEL_MAX];
	char driver[48];
	int64_t mem_mib; /* usable */
	int32_t minor;
};

/* One line of the ledger on a capacity pod. */
struct grant {
	const char *uid; /* the tenant's */
	const char *ns;
	const char *name;
	int64_t milli;
	int64_t mem_mib;
};

struct ledger {
	struct grant *items; /* from the arena */
	uint32_t count;
};

/* A tenant of several GPUs names them, and their capacity pods in the same order, in one text,
 * joined by commas. */
bool gpu_list_has(const char *list, const char *name);
uint32_t gpu_list_count(const char *list); /* NULL, "": 0 */

/* Integer shares of a GPU with `usable` MiB (product contract): fraction alone decides memory,
 * memory alone compute. Never less memory than one CUDA context (0: MODEL_CONTEXT_MIB). */
int64_t share_memory_of_milli(int64_t milli, int64_t usable_mib, int64_t context_mib);
int64_t share_milli_of_memory(int64_t mem_mib, int64_t usable_mib);

/* What a client of MPS is told of its share: a percentage of the threads, and the memory of its one
 * device, "0=20480M". The driver takes whole percents from 1. */
int64_t mps_threads_of_milli(int64_t milli);
#define MPS_MEMORY_TEXT_MAX 32
const char *mps_memory_text(int64_t mem_mib, char text[MPS_MEMORY_TEXT_MAX]);
/* Contexts that one GPU takes under MPS. */
#define MPS_CONTEXTS_MAX 48

#endif
