/* What a run tells: its trace, and what it found wrong. */
#include "trace.h"

#include <stdio.h>
#include <stdlib.h>

void sim_trace(struct sim *s, const char *format, ...)
{
	if (!s->config.trace) {
		return;
	}
	va_list args;
	printf("%10.3f  ", (double)sim_now(s) / 1000);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
}

void sim_fail(struct sim *s, const char *rule, const char *format, ...)
{
	struct sim_report *r = s->report;
	va_list args;
	if (r->failed) {
		return;
	}
	r->failed = true;
	r->rule = rule;
	r->at_ms = sim_now(s);
	va_start(args, format);
	vsnprintf(r->message, sizeof r->message, format, args);
	va_end(args);
	sim_trace(s, "VIOLATED %s: %s", rule, r->message);
}
