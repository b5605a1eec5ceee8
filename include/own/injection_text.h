/* C26 as text: what was tried (annotation `injection` of probes and capacity pods) and what a probe
 * saw (its termination message). Formats in docs/design/injection.md, both with a version.
 *
 * FAULT_INVALID: malformed, another version, a form that is none, a text that is too long. */
#ifndef OWN_INJECTION_TEXT_H
#define OWN_INJECTION_TEXT_H

#include <stdbool.h>

#include "base/alloc.h"
#include "base/fault.h"
#include "base/str.h"
#include "model/injection.h"

#define INJECTION_TEXT_MAX 8192

MUST_CHECK int inject_claim_decode(const char *text, struct arena *arena,
	struct inject_claim *ret_claim, struct fault *ret_fault);
/* Appends; false if it did not fit. */
bool inject_claim_write(struct str *out, const struct inject_claim *claim);

MUST_CHECK int inject_sight_decode(const char *text, struct arena *arena,
	struct inject_sight *ret_sight, struct fault *ret_fault);
bool inject_sight_write(struct str *out, const struct inject_sight *sight);

#endif
