/* What the webhook never looks at leaves a request before it is parsed: managedFields, volumes and
 * the like are half of a pod's bytes and more than half of the time that parsing takes. Array
 * elements all stay, so that the indexes of a patch are those of the object as the API server has
 * it. */
#ifndef CODEC_TRIM_H
#define CODEC_TRIM_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

/* Appends the trimmed text of an AdmissionReview. False: these bytes are not JSON that could be
 * followed to its end within DECODE_DEPTH_MAX levels, or out is full; out is then of no use. What
 * comes out of malformed bytes is malformed too, or what was malformed is gone. */
bool trim_review(const char *p, size_t n, struct str *out);

#endif
