/* The label matchers that an administrator adds to every query. */
#ifndef METER_MATCHER_H
#define METER_MATCHER_H

#include "base/fault.h"

/* `NAME="VALUE"` with commas between, as in PromQL: = != =~ !~, of which one at least names
 * somebody. Names by which pods are asked for are not allowed. */
MUST_CHECK int prometheus_matcher_check(const char *text, struct fault *ret_fault);

#endif
