/* Versions are opaque until Kubernetes 1.35; numbers are compared where both are numbers, which
 * they are on every server that keeps its state in etcd. Otherwise only equality counts, and the
 * expiry of what waits for one. */
#include "ledger/resource_version.h"

#include "base/str.h"

bool version_reached(const char *have, const char *wanted)
{
	int64_t a, b;
	if (text_equals(have, wanted)) {
		return true;
	}
	return have != NULL && parse_i64(view_of(have), 0, INT64_MAX, &a) &&
	       parse_i64(view_of(wanted), 0, INT64_MAX, &b) && a >= b;
}

bool version_after(const char *have, const char *from)
{
	return !text_equals(have, from) && version_reached(have, from);
}

bool version_passed(const char *have, const char *from)
{
	return have != NULL && !text_equals(have, from) && !version_reached(from, have);
}
