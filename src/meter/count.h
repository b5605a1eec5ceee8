/* What the readers of this room count, so that one name means one thing. */
#ifndef METER_COUNT_H
#define METER_COUNT_H

#include "base/fault.h"
#include "base/metric.h"

/* Both accept no registry. */
void count_read(struct metric_registry *r, const char *source, const char *verdict);
void count_figures(struct metric_registry *r, const char *source, const char *verdict, uint32_t n);
/* What a fault of a reading is called. */
const char *count_verdict(const struct fault *f);

#endif
