/* The agent's way to the MPS daemon of one GPU: a socket beside the daemon's directories, which
 * whoever keeps the daemon serves. So the agent needs neither root nor NVIDIA's control program,
 * and no tenant sees the socket: of ROOT/UUID it is given pipe/ alone.
 *
 * One question a connection, a line of words and numbers; the answer is a line `ok` or `failed`,
 * then what the daemon said or a sentence, then the end. Only these are taken:
 *
 *   get_server_list
 *   get_server_status PID
 *   get_client_list PID
 *   terminate_client SERVER-PID PID
 *   client_limits PID …    of each, a line: PID, threads, memory as its environment has them, - for
 *                          none; nothing of one that cannot be read
 *
 * Who may connect is told by the socket's owner and mode: root, and the group of the agents. */
#ifndef MPS_RELAY_H
#define MPS_RELAY_H

#include <stdint.h>

#include "base/fault.h"
#include "base/str.h"
#include "io/loop.h"
#include "model/uids.h"

#define MPS_RELAY_NAME	   "steer" /* in ROOT/UUID */
#define MPS_RELAY_GROUP	   UID_AGENT
#define MPS_RELAY_LINE_MAX 1024

struct mps_relay_options {
	struct loop *loop;   /* borrowed, as all of these */
	const char *program; /* MPS_CONTROL */
	const char *root;    /* MPS_ROOT */
	const char *uuid;
	const char *proc_root; /* "/proc" */
	int64_t timeout_ms;    /* how long a command may take */
};

struct mps_relay;
/* Its directory is there: mps_folder_lock() has made it. What a former one left is replaced. */
MUST_CHECK int mps_relay_create(const struct mps_relay_options *options,
	struct mps_relay **ret_relay, struct fault *ret_fault);
/* Takes the socket away and ends what is under way. NULL is fine. */
void mps_relay_destroy(struct mps_relay *r);

#endif
