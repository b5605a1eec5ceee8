/* Agents, and what those that are not ready say of it. Without one a node's GPUs are not metered,
 * and nobody knows that one of them is ill. */
#include <ctype.h>

#include "model/names.h"
#include "parts.h"

#define WORD_MAX    64
#define SAYS_MAX    400
#define SILENT_TEXT "why, its port 9400 says at /readyz"

void agents_clear(struct report *r)
{
	rows_clear(&r->unready);
	r->agents = 0;
}

void report_agent(struct report *r, const struct pod *pod)
{
	bool runs = pod->phase == POD_RUNNING;
	if (pod_is_terminal(pod) || pod->deleting_ms != 0) {
		return;
	}
	r->agents++;
	if (!runs || !pod->ready) {
		rows_add(&r->unready, &r->pods_arena,
			&(struct row){.ns = text_or(pod->node, "no node"),
				.name = pod->name,
				.since_ms = pod->created_ms,
				.reason = runs ? "NotReady" : "NotRunning",
				.message = runs ? SILENT_TEXT : NULL,
				.home = text_equals(pod->ns, NAME_NAMESPACE) ? NAME_NAMESPACE
									     : NAME_AGENT_HOME});
	}
}

const char *report_unready_agent(const struct report *r, size_t i, const char **ret_ns)
{
	if (i >= r->unready.count) {
		return NULL;
	}
	*ret_ns = r->unready.items[i].home;
	return r->unready.items[i].name;
}

/* "NoDriver: cannot load NVML …", a line each; the first counts. */
void report_agent_says(struct report *r, size_t i, const char *text, size_t size)
{
	size_t word = 0, end = 0;
	while (word < size && word < WORD_MAX && isalpha((unsigned char)text[word])) {
		word++;
	}
	if (i >= r->unready.count || word == 0 || word + 2 > size || text[word] != ':' ||
		!isupper((unsigned char)text[0])) {
		return;
	}
	const char *rest = text + word + 1;
	size_t left = size - word - 1;
	for (; left > 0 && *rest == ' '; left--) {
		rest++;
	}
	while (end < left && end < SAYS_MAX && rest[end] != '\n') {
		end++;
	}
	struct row *row = &r->unready.items[i];
	row->reason = arena_printf(&r->pods_arena, "%.*s", (int)word, text);
	row->message = arena_printf(&r->pods_arena, "%.*s", (int)end, rest);
}
