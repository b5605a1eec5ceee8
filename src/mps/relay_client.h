/* One question to the relay of a GPU's directory (mps/relay.h).
 *
 * The callback comes exactly once, never inside the call that started it and never after a cancel.
 * A fault: FAULT_NOT_FOUND (there is no relay), FAULT_DENIED (we may not connect), FAULT_TRANSIENT
 * (nobody answers there, not in time, or what was asked failed, with what it said), FAULT_INVALID
 * (no answer of a relay's), FAULT_LIMIT (more than MPS_REPLY_BYTES_MAX). */
#ifndef MPS_RELAY_CLIENT_H
#define MPS_RELAY_CLIENT_H

#include "mps/mps_control.h"

struct mps_asked {
	const char *folder; /* borrowed, as both of these, for the length of mps_ask_start */
	const char *line;
	int64_t timeout_ms;
};

struct mps_ask;
struct mps_ask *mps_ask_start(
	struct loop *l, const struct mps_asked *what, mps_call_fn fn, void *data);
/* NULL is fine. Not for one whose callback has come: it is gone by then. */
void mps_ask_cancel(struct mps_ask *a);

#endif
