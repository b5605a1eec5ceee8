/* What the webhook does to a pod that becomes a tenant, as a value: size decides it, codec turns it
 * into a JSON patch, a simulated API server may apply it to its own pods. All text is borrowed. */
#ifndef MODEL_MUTATION_H
#define MODEL_MUTATION_H

#include <stdint.h>

#include "model/names.h"

enum env_rule {
	ENV_RULE_SET,	  /* replaced where it stands, else appended; doubles go */
	ENV_RULE_REPLACE, /* replaced where it stands, never appended */
	ENV_RULE_DEFAULT, /* appended where the container has none */
	ENV_RULE_DROP,	  /* every variable whose name begins like this goes */
};

/* One row; the first row that fits a variable's name counts. */
struct env_edit {
	const char *name;
	enum env_rule rule;
	const char *value; /* a literal, or */
	const char *note;  /* the annotation that the container reads through fieldRef */
};

/* A directory of the node that the tenant's container gets. */
struct mount_edit {
	const char *volume;   /* its name, if the pod has none of this name */
	const char *host;     /* hostPath, a directory that must be there */
	const char *path;     /* in the container; what a person mounts there goes */
	const char *sub_path; /* subPathExpr; NULL: none */
};

struct mutation {
	const char *container; /* the one that had the GPUs: its requests and limits lose them */
	int64_t milli;	       /* annotation `share`; 0: follows from the memory, no annotation */
	int64_t mem_mib;       /* annotation `memory`; 0: follows from the share, no annotation */
	int64_t count;	       /* GPUs; more than one is written as the annotation gpu-count */
	const char *policy_applied; /* NAME@GENERATION */
	const char *recommendation; /* NAME@REVISION; NULL: by a person's annotation alone */
	const char *runtime_class;  /* set if the pod names none; NULL: left alone */
	const char *isolation;	    /* annotation; NULL: None, and nobody asked for another */
	const struct env_edit *env; /* tenant_env */
	uint32_t env_count;
	const struct env_edit *others; /* others_env */
	uint32_t others_count;
	const struct mount_edit *mounts; /* mps_mounts */
	uint32_t mount_count;
	const char *framework; /* annotation; version 3, whose rows `env` is; NULL: none is told */
	/* at the end of its args; NULL: nothing */
	const char *argument;
	/* of command and args together, this element ends in the argument instead: a shell's
	 * script; MUTATION_NO_SCRIPT: none does */
	uint32_t script;
};
#define MUTATION_NO_SCRIPT UINT32_MAX

/* Mode None is version 1 of `original`, mode MPS version 2, version 3 is mode None with a framework
 * that is told its share (model/framework.h). What one version of the program writes, it and the
 * next one must be able to take away again, so rows are only ever added together with a new
 * version. */
#define TENANT_ENV_COUNT 8
#define OTHERS_ENV_COUNT 1
#define MPS_ENV_COUNT	 10
#define MPS_MOUNTS_COUNT 2
extern const struct env_edit tenant_env[TENANT_ENV_COUNT]; /* the container that had the GPUs */
extern const struct env_edit
	others_env[OTHERS_ENV_COUNT]; /* every other one, init containers too */
/* The same of a client of MPS, whose limits the driver reads at each start of the container. */
extern const struct env_edit mps_env[MPS_ENV_COUNT];
/* The pipes of the daemon of its GPU, and the shared memory through which older drivers speak to
 * it. */
extern const struct mount_edit mps_mounts[MPS_MOUNTS_COUNT];
/* What every tenant of mode None gets. A person's CUDA_VISIBLE_DEVICES would count devices that the
 * container no longer sees. No directory NO_MPS ever exists in a container: it is named so that the
 * toolkit's habit of mounting a host's /tmp/nvidia-mps does not let a daemon of the host capture
 * the tenant. */
#define NO_MPS "/run/aliquot/no-mps"
#define TENANT_ENV_ROWS                                                                            \
	{"NVIDIA_VISIBLE_DEVICES", ENV_RULE_SET, NULL, NOTE_VISIBLE_DEVICES},                      \
		{"CUDA_VISIBLE_DEVICES", ENV_RULE_REPLACE, NULL, NOTE_GPU_UUID},                   \
		{"CUDA_MPS_PIPE_DIRECTORY", ENV_RULE_SET, NO_MPS, NULL},                           \
		{"CUDA_MPS_", ENV_RULE_DROP, NULL, NULL},                                          \
		{"ALIQUOT_GPU_UUID", ENV_RULE_SET, NULL, NOTE_GPU_UUID},                           \
		{"ALIQUOT_COMPUTE_MILLI", ENV_RULE_SET, NULL, NOTE_COMPUTE_MILLI},                 \
		{"ALIQUOT_MEMORY_MIB", ENV_RULE_SET, NULL, NOTE_MEMORY_MIB},                       \
	{                                                                                          \
		"NVIDIA_DRIVER_CAPABILITIES", ENV_RULE_DEFAULT, "compute,utility", NULL            \
	}
/* The row that says what becomes of a variable; NULL: it is left alone. */
const struct env_edit *env_edit_find(const struct env_edit *rows, uint32_t count, const char *name);

#endif
