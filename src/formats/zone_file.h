/* The list of a zone file, as the rule at its end adds to it. */
#ifndef FORMATS_ZONE_FILE_INSIDE_H
#define FORMATS_ZONE_FILE_INSIDE_H

#include "formats/zone_file.h"

/* What shifts at or before the span's begin is its first offset; what is after its end is left out.
 * They come in order. */
MUST_CHECK int zone_add(struct zone *z, int64_t at_s, int64_t offset_s, struct fault *ret_fault);

#endif
