/* A history as bytes, for a checkpoint. */
#ifndef HISTORY_HISTORY_PACK_H
#define HISTORY_HISTORY_PACK_H

#include "base/str.h"

struct fault;
struct history;

/* Exactly what is known, but for open minutes; false: it does not fit. */
bool history_pack(const struct history *h, struct str *out);
/* Strict: bytes that cannot have been written by this version, or more than 10 minutes from now,
 * are refused with what is wrong. FAULT_INVALID; nothing is returned then. Call history_fit on it,
 * the policy may have changed meanwhile. */
int history_unpack(
	struct view bytes, int64_t now_ms, struct history **ret, struct fault *ret_fault);

#endif
