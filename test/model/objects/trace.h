/* What a run tells: its trace, and what it found wrong. */
#ifndef SIM_TRACE_H
#define SIM_TRACE_H
#include "sim_parts.h"

void sim_fail(struct sim *s, const char *rule, const char *format, ...) PRINTF(3, 4);
void sim_trace(struct sim *s, const char *format, ...) PRINTF(2, 3);

#endif
