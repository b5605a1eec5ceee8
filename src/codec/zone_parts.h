/* The two halves of a zone file: the list (zone_file.c) and the rule at its end (zone_rule.c). */
#ifndef CODEC_ZONE_PARTS_H
#define CODEC_ZONE_PARTS_H

#include "base/str.h"
#include "codec/zone_file.h"

/* What shifts at or before the span's begin is its first offset; what is after its end is left out.
 * They come in order. */
MUST_CHECK int zone_add(struct zone *z, int64_t at_s, int64_t offset_s, struct fault *ret_fault);

/* All shifts after `after_s` that the rule makes. */
MUST_CHECK int zone_rule_apply(
	struct view text, int64_t after_s, struct zone *z, struct fault *ret_fault);

#endif
