/* Delta debugging over the troubles of one run. */
#include "shrink.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/str.h"

struct search {
	const struct run *run;
	const char *rule;
	int64_t until; /* on the monotonic clock */
	struct shrunk *best;
};

static int64_t now_ms(void)
{
	return clock_mono(&clock_system);
}

static bool has_time(const struct search *s)
{
	return now_ms() < s->until;
}

static int by_id(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return x < y ? -1 : x > y;
}

/* Runs with the marked ones of the best run; kept where it fails in the same way with fewer. */
static bool attempt(struct search *s, const bool *in)
{
	const struct sim_log *had = &s->best->log;
	uint64_t *ids = xcalloc(had->count + 1, sizeof *ids);
	struct sim_only only = {.ids = ids};
	for (size_t i = 0; i < had->count; i++) {
		if (in[i]) {
			ids[only.count++] = had->items[i].id;
		}
	}
	qsort(ids, only.count, sizeof *ids, by_id);
	struct sim_log log = {0};
	struct sim_report r = run_once(s->run, &only, &log, false);
	s->best->runs++;
	free(ids);
	if (!r.failed || strcmp(r.rule, s->rule) != 0 || log.count >= had->count) {
		VEC_FINISH(&log);
		return false;
	}
	VEC_FINISH(&s->best->log);
	s->best->log = log;
	s->best->report = r;
	return true;
}

static bool without_kind(struct search *s, const char *kind)
{
	const struct sim_log *log = &s->best->log;
	bool *in = xcalloc(log->count + 1, sizeof *in);
	for (size_t i = 0; i < log->count; i++) {
		in[i] = strcmp(log->items[i].kind, kind) != 0;
	}
	bool smaller = attempt(s, in);
	free(in);
	return smaller;
}

/* Every kind that is there once; after a success the list is another one, and is begun anew. */
static void drop_kinds(struct search *s)
{
	for (size_t i = 0; i < s->best->log.count && has_time(s);) {
		const struct sim_log *log = &s->best->log;
		size_t first = 0;
		while (strcmp(log->items[first].kind, log->items[i].kind) != 0) {
			first++;
		}
		bool dropped = first == i && without_kind(s, log->items[i].kind);
		i = dropped ? 0 : i + 1;
	}
}

/* All but those from `at` on. */
static bool without_piece(struct search *s, size_t at, size_t size)
{
	size_t count = s->best->log.count;
	bool *in = xcalloc(count + 1, sizeof *in);
	for (size_t i = 0; i < count; i++) {
		in[i] = i < at || i >= at + size;
	}
	bool smaller = attempt(s, in);
	free(in);
	return smaller;
}

/* From the last to the first: what comes last seldom is what others need. */
static bool drop_pieces(struct search *s, size_t size)
{
	bool any = false;
	size_t end = s->best->log.count;
	while (end > 0 && has_time(s)) {
		size_t at = end > size ? end - size : 0;
		bool dropped = without_piece(s, at, end - at);
		any = any || dropped;
		end = at < s->best->log.count ? at : s->best->log.count;
	}
	return any;
}

void shrink(const struct run *run, int64_t most_ms, struct shrunk *ret_shrunk)
{
	*ret_shrunk = (struct shrunk){.runs = 1};
	ret_shrunk->report = run_once(run, NULL, &ret_shrunk->log, false);
	ret_shrunk->before = ret_shrunk->log.count;
	if (!ret_shrunk->report.failed) {
		return;
	}
	struct search s = {run, ret_shrunk->report.rule, now_ms() + most_ms, ret_shrunk};
	drop_kinds(&s);
	size_t size = ret_shrunk->log.count / 2;
	while (size > 0 && has_time(&s)) {
		bool any = drop_pieces(&s, size);
		size = size > 1 ? size / 2 : any ? 1 : 0;
	}
}

void shrunk_finish(struct shrunk *s)
{
	VEC_FINISH(&s->log);
}
