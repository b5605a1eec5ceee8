/* Text of PromQL queries, and the time of their answers. */
#include "prometheus_query.h"

void prometheus_append_quoted(struct str *query, const char *text)
{
	for (; *text != '\0'; text++) {
		if (*text == '"' || *text == '\\') {
			str_append_char(query, '\\');
		}
		str_append_char(query, *text);
	}
}

void prometheus_append_exactly(struct str *query, const char *name)
{
	for (; *name != '\0'; name++) {
		str_append_text(query, *name == '.' ? "[.]" : "");
		if (*name != '.') {
			str_append_char(query, *name);
		}
	}
}

void prometheus_append_matcher(
	const struct prometheus *p, struct str *query, const char *before, const char *after)
{
	if (p->config.matcher != NULL) {
		str_append_format(query, "%s%s%s", before, p->config.matcher, after);
	}
}

int64_t prometheus_policy_ms(const struct prometheus *p, int64_t wall_ms)
{
	const struct clock *c = p->config.clock;
	return wall_ms + clock_policy(c) - clock_wall(c);
}
