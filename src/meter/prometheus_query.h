/* Text of PromQL queries, and the time of their answers. */
#ifndef METER_PROMETHEUS_QUERY_H
#define METER_PROMETHEUS_QUERY_H

#include "prometheus_parts.h"

/* Text within a PromQL string. */
void prometheus_append_quoted(struct str *query, const char *text);
/* A name as a regular expression that means only it. */
void prometheus_append_exactly(struct str *query, const char *name);
/* The administrator's matcher with what stands before and after it; nothing where there is none. */
void prometheus_append_matcher(
	const struct prometheus *p, struct str *query, const char *before, const char *after);
int64_t prometheus_policy_ms(const struct prometheus *p, int64_t wall_ms);

#endif
