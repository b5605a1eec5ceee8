/* The answer of an agent's /v1/state (docs/design/state.md).
 *
 * Everything must be there: an answer that lacks its devices or its pods is FAULT_INVALID and never
 * "no devices" or "no process". Unknown members are ignored; another version is not. FAULT_LIMIT
 * where there is more of something than any node has. How lists hang
 * together and how long they may be is no matter of tables. */
#ifndef OWN_STATE_H
#define OWN_STATE_H

#include <stddef.h>

#include "base/alloc.h"
#include "base/fault.h"
#include "base/str.h"
#include "model/state.h"

#define STATE_VERSION	  1
#define STATE_BYTES_MAX	  ((size_t)256 * 1024)
#define STATE_DEVICES_MAX 64
#define STATE_PODS_MAX	  2048
#define STATE_USES_MAX	  4096
#define STATE_MEMORY_MAX  ((int64_t)1 << 30) /* MiB: a petabyte */
#define STATE_NAME_MAX	  253		     /* of a node */
#define STATE_TEXT_MAX	  96		     /* of a boot, a pod's uid */
#define STATE_WHY_MAX	  256
/* What an agent kept for longer it must not tell at all. */
#define STATE_AGE_MAX_MS STATE_FRESH_MS

/* ret_state->seen_ms is counted from the answer: 0 or less. Who knows when it was asked adds that.
 */
MUST_CHECK int state_decode(const char *json, size_t n, struct arena *arena,
	struct node_state *ret_state, struct fault *ret_fault);
/* As an agent answers at wall_ms; a pod's processes are those of its uses. */
bool state_write(struct str *out, const struct node_state *s, int64_t wall_ms);

#endif
