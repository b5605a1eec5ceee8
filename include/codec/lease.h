/* Leases of coordination.k8s.io/v1, both ways. Text lives in the arena; FAULT_INVALID names the
 * path. */
#ifndef CODEC_LEASE_H
#define CODEC_LEASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/fault.h"
#include "base/str.h"
#include "json/slice.h"

struct lease {
	const char *ns;
	const char *name;
	const char *uid;	      /* "" on a lease that does not exist yet */
	const char *resource_version; /* the precondition of an update; "" at create */
	const char *holder;	      /* "" when released */
	int32_t duration_s;
	int32_t transitions;
	int64_t acquire_ms; /* wall, 0 if absent */
	int64_t renew_ms;
	const char *heard;	/* its annotation NOTE_HEARD; NULL: none */
	const char *refused_by; /* NOTE_REFUSED_BY, the same */
};

MUST_CHECK int lease_decode(const char *json, size_t n, struct arena *arena,
	struct lease *ret_lease, struct fault *ret_fault);
/* Appends the whole object, for a POST or a PUT; false if it did not fit. */
bool lease_write(struct str *out, const struct lease *l);

#endif
