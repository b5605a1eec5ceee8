/* The place of one GPU's MPS daemon on its node, ROOT/UUID (MPS_ROOT of model/names.h):
 *
 *   pipe/  0755  the daemon's pipe directory, mounted into tenants; only its files change hands
 *   log/   0755  the daemon's logs; no tenant sees it
 *   ready  0644  rewritten after each health command that succeeded
 *   lock   0600  held by the one process that keeps the daemon
 *
 * Every component is traversable by any uid, since clients have any, and belongs to us. A tenant
 * that is root may write into pipe/: nothing there is followed, trusted or waited for. */
#ifndef MPS_FOLDER_H
#define MPS_FOLDER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/fault.h"

#define MPS_ROOT_MAX	 512
#define MPS_PATH_MAX	 768
#define MPS_READY_OLD_MS 15000

struct mps_folder {
	char root[MPS_ROOT_MAX];
	char base[MPS_PATH_MAX];
	char pipe[MPS_PATH_MAX];
	char log[MPS_PATH_MAX];
	char ready[MPS_PATH_MAX];
	char lock[MPS_PATH_MAX];
};

/* FAULT_INVALID where the UUID could be another path, FAULT_LIMIT where the root is too long. */
MUST_CHECK int mps_folder_name(
	struct mps_folder *f, const char *root, const char *uuid, struct fault *ret_fault);

/* Makes ROOT and ROOT/UUID and takes the lock; FAULT_CONFLICT where somebody has it. It is held
 * until the descriptor is closed, also by death. */
MUST_CHECK int mps_folder_lock(const struct mps_folder *f, int *ret_fd, struct fault *ret_fault);
/* Makes pipe/ and log/, or puts right what is there. */
MUST_CHECK int mps_folder_prepare(const struct mps_folder *f, struct fault *ret_fault);
/* Empties pipe/ of what a daemon left that is gone. */
MUST_CHECK int mps_folder_clear(const struct mps_folder *f, struct fault *ret_fault);
/* A pipe directory that is a directory, ours, and writable by nobody else: asked before a command
 * is sent through it. */
MUST_CHECK int mps_folder_check(const struct mps_folder *f, struct fault *ret_fault);

/* All keepers of a node share what their daemons and clients put into shared memory; a lock says
 * that one is there, until its descriptor is closed. FAULT_FATAL also while another one empties. */
MUST_CHECK int mps_folder_share_shm(
	const struct mps_folder *f, int *ret_lock, struct fault *ret_fault);
/* Empties it where nobody else has it: what killed tenants left is on the node for good otherwise.
 * The lock is kept as it is or for us alone; the caller closes it next. */
MUST_CHECK int mps_folder_empty_shm(int lock, const char *shm, struct fault *ret_fault);

/* The daemon's PID as its file tells; 0: it tells none. Somebody else's word. */
pid_t mps_folder_pid(const struct mps_folder *f);

MUST_CHECK int mps_folder_set_ready(const struct mps_folder *f, struct fault *ret_fault);
void mps_folder_clear_ready(const struct mps_folder *f);
/* `wall_ms` is now. */
bool mps_folder_is_ready(const struct mps_folder *f, int64_t wall_ms);

#endif
