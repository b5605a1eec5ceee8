/* Whose owners are not recognized, as text of /metrics. */
#ifndef APP_STRANGERS_H
#define APP_STRANGERS_H

#include "base/str.h"
#include "sizer/sizer.h"

void strangers_write(const struct sizer *s, struct str *out);

#endif
