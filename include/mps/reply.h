/* What `nvidia-cuda-mps-control` prints, read strictly: who holds the other end of the pipe may be
 * a tenant who is root, so that a reply is a stranger's bytes. FAULT_INVALID quotes what was said,
 * at most QUOTE_MAX printable characters of it; FAULT_LIMIT where a list is longer than we take. */
#ifndef MPS_REPLY_H
#define MPS_REPLY_H

#include <stdint.h>

#include "base/fault.h"
#include "base/str.h"

#define MPS_REPLY_BYTES_MAX 65536
#define MPS_PIDS_MAX	    1024
#define MPS_PID_LARGEST	    INT32_MAX
#define MPS_QUOTE_MAX	    80

struct mps_pids {
	uint32_t count;
	int32_t items[MPS_PIDS_MAX]; /* as told; none twice */
};

bool mps_pids_contain(const struct mps_pids *pids, int64_t pid);

/* INITIALIZING, ACTIVE, FAULT. */
enum mps_server_state { MPS_SERVER_INITIALIZING, MPS_SERVER_ACTIVE, MPS_SERVER_FAULT };

/* get_default_active_thread_percentage: "100.0", in thousandths. */
MUST_CHECK int mps_reply_percentage(
	struct view reply, int64_t *ret_milli_percent, struct fault *ret_fault);
/* get_server_list, get_client_list: a PID a line; nothing at all is an empty list. */
MUST_CHECK int mps_reply_pids(
	struct view reply, struct mps_pids *ret_pids, struct fault *ret_fault);
/* get_server_status. */
MUST_CHECK int mps_reply_server_state(
	struct view reply, enum mps_server_state *ret_state, struct fault *ret_fault);
/* terminate_client: "0" where it was done. */
MUST_CHECK int mps_reply_done(struct view reply, struct fault *ret_fault);

/* What is quotable of a stranger's text: its first line, every other byte than ASCII's printable
 * ones as '?'. */
const char *mps_quote(struct view text, char buffer[MPS_QUOTE_MAX + 1]);

/* A line of control.log that tells of a server's end: "… Server 4711 exited with status 1". True if
 * the status is not 0. */
bool mps_log_tells_failure(struct view line);

#endif
