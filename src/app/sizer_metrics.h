/* What GPUs cost, and who has them whose owners are not recognized, as text of /metrics. */
#ifndef APP_SIZER_METRICS_H
#define APP_SIZER_METRICS_H

#include "options.h"
#include "owner/strangers.h"
#include "sizer/sizer.h"

/* Of each family at most so many series; what comes after them is in one with overflow="true". */
#define BILLS_SERIES_MAX 2000

/* The options were checked when they were read. `prices` must live as long as what is returned. */
struct bill_config bills_config(struct options *o, struct prices *prices);
void bills_write(
	const struct sizer *s, const struct world *w, const char *currency, struct str *out);
void strangers_write(const struct strangers *t, struct str *out);

#endif
