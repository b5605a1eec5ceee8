/* The process that asks the driver, seen from its parent: it is started, it is ended, it is gone.
 */
#ifndef NODE_GPU_CHILD_H
#define NODE_GPU_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/fault.h"

struct gpu_child {
	pid_t pid; /* 0: there is none */
	int fd;	   /* owned, our end of the socket, does not block; -1: none */
};

/* `program` as its own command "agent-probe"; it has nothing of ours but the other end, as
 * descriptor 0, and standard error. */
MUST_CHECK int gpu_child_start(
	struct gpu_child *child, const char *program, const char *library, struct fault *ret_fault);
void gpu_child_kill(struct gpu_child *child); /* closes our end, too */
/* True: it is gone, and *ret_status is what waitpid says. Does not wait. */
bool gpu_child_reap(struct gpu_child *child, int *ret_status);
/* "was ended by signal 9 (Killed)" */
void gpu_child_explain(int status, char *ret_text, size_t size);

#endif
