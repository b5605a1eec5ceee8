/* Keeps the MPS daemon of one GPU: starts it, looks whether it lives, starts it again, ends it.
 *
 * Start, in this order: compute mode exclusive (a client that misses the daemon then fails instead
 * of running beside its limits) -> directories -> the daemon, multi-user -> defaults -> a health
 * command
 * -> the ready file. A daemon that lives in our directory from before and answers is kept, since
 * its clients would die with it; one that does not is killed and its files are removed.
 *
 * Its end is noticed at once, its silence after two health commands. It is started again after a
 * back-off that grows up to a minute and is forgotten after a minute of health. Three servers that
 * failed within a minute count as its end.
 *
 * The callbacks come from the loop; `changed` never from within a call of ours. */
#ifndef MPS_DAEMON_H
#define MPS_DAEMON_H

#include "base/fault.h"
#include "io/loop.h"
#include "model/state.h"

const char *mps_state_name(enum mps_state state);

struct mps_daemon_options {
	struct loop *loop;   /* borrowed, as all of these */
	const char *program; /* MPS_CONTROL */
	const char *root;    /* MPS_ROOT */
	const char *uuid;
	const char *shm;    /* made writable by everybody, as /dev/shm is; NULL: none */
	int64_t health_ms;  /* how often it is asked */
	int64_t timeout_ms; /* how long a command may take */
	int64_t retry_ms;   /* the first wait before it is started again */
	/* Sets the GPU's compute mode to EXCLUSIVE_PROCESS or back to DEFAULT. */
	int (*set_exclusive)(void *data, bool exclusive, struct fault *ret_fault);
	/* MPS_STARTING, MPS_ACTIVE or MPS_DOWN; `why` is "" while it is well. */
	void (*changed)(void *data, enum mps_state state, const char *why);
	void *data;
};

#define MPS_HEALTH_MS  2000
#define MPS_TIMEOUT_MS 3000
#define MPS_RETRY_MS   1000

struct mps_daemon;
/* Takes the directory's lock; FAULT_CONFLICT: another process keeps this GPU's daemon. */
MUST_CHECK int mps_daemon_create(const struct mps_daemon_options *options,
	struct mps_daemon **ret_daemon, struct fault *ret_fault);
/* quit, then whatever is left is killed, then compute mode DEFAULT; done(data) within 8 s. */
void mps_daemon_stop(struct mps_daemon *d, loop_fn done);
/* Leaves a daemon that runs to whoever comes next. NULL is fine. */
void mps_daemon_destroy(struct mps_daemon *d);

#endif
