/* One command to an MPS daemon: one child process of the control program, the command on its
 * standard input, what it prints within a limit, a deadline after which that child, and nothing
 * else, is killed.
 *
 * The callback comes exactly once, never inside the call that started it and never after a cancel.
 * A fault: FAULT_NOT_FOUND (no such program) and FAULT_FATAL (no process, no descriptor: the daemon
 * was not asked), FAULT_TRANSIENT (not in time; ended with another status than 0, with what it
 * said; ended by a signal), FAULT_LIMIT (it said more than MPS_REPLY_BYTES_MAX). */
#ifndef MPS_MPS_CONTROL_H
#define MPS_MPS_CONTROL_H

#include <stdint.h>

#include "base/fault.h"
#include "base/str.h"
#include "io/loop.h"

#define MPS_CONTROL "nvidia-cuda-mps-control"

struct mps_command {
	const char *program; /* borrowed as all of these, for the length of mps_call_start */
	const char *pipe_dir;
	const char *log_dir;	 /* NULL: none */
	const char *const *args; /* up to NULL; NULL: none */
	const char *line;	 /* for its standard input; NULL: nothing */
	/* What leaves a daemon behind writes to this file: a pipe of ours would break under the
	 * daemon. NULL: a pipe. */
	const char *output_path;
	int64_t timeout_ms;
};

/* `fault` is NULL where it ended with 0; `reply` lives until the callback returns. */
typedef void (*mps_call_fn)(void *data, struct view reply, const struct fault *fault);

struct mps_call;
struct mps_call *mps_call_start(
	struct loop *l, const struct mps_command *command, mps_call_fn fn, void *data);
/* Kills the child and forgets the callback; NULL is fine. Not for a call whose callback has come:
 * it is gone by then. */
void mps_call_cancel(struct mps_call *call);

#endif
