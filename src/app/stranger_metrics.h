/* Whose owners are not recognized, as text of /metrics. */
#ifndef APP_STRANGER_METRICS_H
#define APP_STRANGER_METRICS_H

#include "base/str.h"
#include "owner/strangers.h"

void strangers_write(const struct strangers *t, struct str *out);

#endif
