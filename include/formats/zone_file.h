/* A compiled zone file (TZif, RFC 8536), as /usr/share/zoneinfo has them, to its shifts within a
 * span of time. Its footer, a rule of POSIX for what comes after its list, is worked out too. Files
 * that count leap seconds, or are of the first version, are refused. */
#ifndef FORMATS_ZONE_FILE_H
#define FORMATS_ZONE_FILE_H

#include <stddef.h>

#include "base/cleanup.h"
#include "base/fault.h"
#include "base/zone.h"

#define ZONE_FILE_MAX (64 * 1024)
#define ZONE_SPAN_MAX (40LL * 366 * 86400)

struct zone_span {
	int64_t from_s, until_s; /* at most ZONE_SPAN_MAX apart */
};

MUST_CHECK int zone_decode(const char *p, size_t n, const struct zone_span *span,
	struct zone *ret_zone, struct fault *ret_fault);

#endif
