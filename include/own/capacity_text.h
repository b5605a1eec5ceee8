/* What a capacity pod carries as text: the identity of its GPU (termination message of `identify`)
 * and the ledger of grants (annotation). Formats in docs/design/names.md, both with a version.
 *
 * FAULT_INVALID: malformed, another version, a share of zero or less, a uid twice, out of range. */
#ifndef OWN_CAPACITY_TEXT_H
#define OWN_CAPACITY_TEXT_H

#include <stdbool.h>

#include "base/alloc.h"
#include "base/fault.h"
#include "base/str.h"
#include "model/gpu.h"

#define IDENTITY_TEXT_MAX 4096
#define LEDGER_TEXT_MAX	  65536

MUST_CHECK int identity_decode(
	const char *text, struct gpu_identity *ret_identity, struct fault *ret_fault);
/* Appends; false if it did not fit. */
bool identity_write(struct str *out, const struct gpu_identity *identity);

/* NULL or "" is an empty ledger: a capacity pod is born without the annotation. */
MUST_CHECK int ledger_decode(
	const char *text, struct arena *arena, struct ledger *ret_ledger, struct fault *ret_fault);
/* `by` names the write, NULL: it has no name. No two writes may have one, for what changes nothing
 * gets no new version from the API server. Nobody reads it. */
bool ledger_write(struct str *out, const struct ledger *ledger, const char *by);

#endif
