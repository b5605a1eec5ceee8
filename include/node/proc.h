/* Where the processes of a sample live: /proc/PID/stat and /proc/PID/cgroup under a root of the
 * caller's choice, read at once and with bounds. Only files of /proc are read, so nothing blocks.
 *
 * A PID alone is nobody: what was read is kept by PID and start time, and a process that began
 * after the sample is not the one that was sampled. */
#ifndef NODE_PROC_H
#define NODE_PROC_H

#include <stdint.h>

#include "base/alloc.h"
#include "gpu/sample.h"
#include "node/cgroup.h"

#define PLACES_MAX 8192 /* processes of all devices together; more are PLACE_UNREAD */

enum place_kind {
	PLACE_POD,
	PLACE_HOST,   /* it is there and in no pod's cgroup */
	PLACE_GONE,   /* it ended, or its PID is another process's by now */
	PLACE_UNREAD, /* it is there, but may not be read, or there are too many */
};

struct place {
	uint32_t pid;
	enum place_kind kind;
	struct cgroup_name name; /* PLACE_POD */
};

struct places {
	struct place *items; /* from the arena, by pid, each once */
	uint32_t count;
	uint32_t gone;
	/* The driver names processes of the host and none of them is here, also not those that it
	 * named the last time: this process is not in the host's PID namespace (HostPIDRequired).
	 * Stays until one is found. */
	bool host_pid_missing;
};

struct procs; /* what is remembered between two samples; bounded by PLACES_MAX */

struct procs *procs_create(const char *root); /* "/proc" */
void procs_destroy(struct procs *p);	      /* NULL is fine */
/* began_ms: when the sample was begun, on CLOCK_BOOTTIME as start times are; INT64_MAX: not known.
 */
void procs_look(struct procs *p, const struct gpu_sample *sample, int64_t began_ms,
	struct arena *arena, struct places *ret_places);
/* The pod of one process, now. False: it has gone, or is in no pod. */
bool procs_ask(struct procs *p, uint32_t pid, struct cgroup_name *ret_name);
const struct place *places_find(const struct places *p, uint32_t pid); /* NULL if absent */

#endif
