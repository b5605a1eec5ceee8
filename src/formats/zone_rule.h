/* The rule at the end of a zone file. */
#ifndef FORMATS_ZONE_RULE_H
#define FORMATS_ZONE_RULE_H

#include "base/str.h"
#include "formats/zone_file.h"

/* All shifts after `after_s` that the rule makes. */
MUST_CHECK int zone_rule_apply(
	struct view text, int64_t after_s, struct zone *z, struct fault *ret_fault);

#endif
