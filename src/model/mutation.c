/* The environment of a tenant, as a table. */
#include "model/mutation.h"

#include <string.h>

#include "base/str.h"
#include "model/names.h"

const struct env_edit tenant_env[TENANT_ENV_COUNT] = {TENANT_ENV_ROWS};

const struct env_edit mps_env[MPS_ENV_COUNT] = {
	{"NVIDIA_VISIBLE_DEVICES", ENV_RULE_SET, NULL, NOTE_VISIBLE_DEVICES},
	{"CUDA_VISIBLE_DEVICES", ENV_RULE_REPLACE, NULL, NOTE_GPU_UUID},
	{"CUDA_MPS_PIPE_DIRECTORY", ENV_RULE_SET, MPS_ROOT, NULL},
	{"CUDA_MPS_ACTIVE_THREAD_PERCENTAGE", ENV_RULE_SET, NULL, NOTE_MPS_THREADS},
	{"CUDA_MPS_PINNED_DEVICE_MEM_LIMIT", ENV_RULE_SET, NULL, NOTE_MPS_MEMORY},
	{"CUDA_MPS_", ENV_RULE_DROP, NULL, NULL},
	{"ALIQUOT_GPU_UUID", ENV_RULE_SET, NULL, NOTE_GPU_UUID},
	{"ALIQUOT_COMPUTE_MILLI", ENV_RULE_SET, NULL, NOTE_COMPUTE_MILLI},
	{"ALIQUOT_MEMORY_MIB", ENV_RULE_SET, NULL, NOTE_MEMORY_MIB},
	{"NVIDIA_DRIVER_CAPABILITIES", ENV_RULE_DEFAULT, "compute,utility", NULL},
};

/* The tenant sees the pipes of its own GPU, and never the daemon's logs beside them. */
const struct mount_edit mps_mounts[MPS_MOUNTS_COUNT] = {
	{"aliquot-mps", MPS_ROOT, MPS_ROOT, "$(ALIQUOT_GPU_UUID)/pipe"},
	{"aliquot-mps-shm", MPS_SHM_ROOT, "/dev/shm", NULL},
};

/* CUDA images bake `all` into the image, so that silence would show every GPU of the node. */
const struct env_edit others_env[OTHERS_ENV_COUNT] = {
	{"NVIDIA_VISIBLE_DEVICES", ENV_RULE_SET, "void", NULL},
};

const struct env_edit *env_edit_find(const struct env_edit *rows, uint32_t count, const char *name)
{
	for (uint32_t i = 0; name != NULL && i < count; i++) {
		const struct env_edit *e = &rows[i];
		bool fits = e->rule == ENV_RULE_DROP ? view_starts_with(view_of(name), e->name)
						     : strcmp(name, e->name) == 0;
		if (fits) {
			return e;
		}
	}
	return NULL;
}
