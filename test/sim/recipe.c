/* The file of a shrunk failure: lines of a word and its value; what follows a # is for people. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "shrink.h"

#define LINE_MAX_BYTES 4096
#define IDS_MAX	       100000

bool recipe_write(const char *path, const struct run *run, const struct shrunk *s)
{
	FILE *f = fopen(path, "we");
	if (f == NULL) {
		return false;
	}
	const struct sim_report *r = &s->report;
	fprintf(f, "# breaks %s at %.3f s: %s\n", r->rule, (double)r->at_ms / 1000, r->message);
	fprintf(f,
		"# %zu of %zu troubles are left, after %zu runs. Again: hack/sim --replay FILE\n",
		s->log.count, s->before, s->runs);
	fprintf(f, "seed %" PRId64 "\n", run->seed);
	if (run->mutation != NULL) {
		fprintf(f, "mutation %s\n", run->mutation->name);
	}
	if (run->scenario != NULL) {
		fprintf(f, "scenario %s\n", sim_scenario_name(run->scenario));
	}
	if (run->probed) {
		fprintf(f, "probed 1\n");
	}
	if (run->rolled || run->plain) {
		fprintf(f, run->rolled ? "rolled 1\n" : "plain 1\n");
	}
	fprintf(f, "small %d\ncrowded %d\n", run->small, run->crowded);
	fprintf(f, "rule %s\ndigest %" PRIu64 "\n", r->rule, r->digest);
	for (size_t i = 0; i < s->log.count; i++) {
		const struct sim_entry *e = &s->log.items[i];
		fprintf(f, "happens %" PRIu64 "  # %.3f s, %s: %s\n", e->id,
			(double)e->at_ms / 1000, e->kind, e->what);
	}
	bool written = ferror(f) == 0;
	return fclose(f) == 0 && written;
}

struct recipe {
	struct run run;
	char rule[128];
	uint64_t digest;
	struct {
		VEC_FIELDS(uint64_t);
	} ids;
};

static bool read_number(const char *text, uint64_t *ret)
{
	char *end = NULL;
	errno = 0;
	uint64_t n = strtoull(text, &end, 10);
	if (errno != 0 || end == text || *end != '\0') {
		return false;
	}
	*ret = n;
	return true;
}

static bool take_line(struct recipe *r, const char *word, const char *value)
{
	uint64_t n = 0;
	if (strcmp(word, "mutation") == 0) {
		r->run.mutation = mutation_find(value);
		return r->run.mutation != NULL;
	}
	if (strcmp(word, "scenario") == 0) {
		r->run.scenario = sim_scenario_find(value);
		return r->run.scenario != NULL;
	}
	if (strcmp(word, "rule") == 0) {
		snprintf(r->rule, sizeof r->rule, "%s", value);
		return true;
	}
	if (!read_number(value, &n)) {
		return false;
	}
	if (strcmp(word, "seed") == 0) {
		r->run.seed = (int64_t)n;
	} else if (strcmp(word, "probed") == 0) {
		r->run.probed = n != 0;
	} else if (strcmp(word, "rolled") == 0) {
		r->run.rolled = n != 0;
	} else if (strcmp(word, "plain") == 0) {
		r->run.plain = n != 0;
	} else if (strcmp(word, "crowded") == 0) {
		r->run.crowded = n != 0;
	} else if (strcmp(word, "small") == 0) {
		r->run.small = n != 0;
	} else if (strcmp(word, "digest") == 0) {
		r->digest = n;
	} else if (strcmp(word, "happens") == 0 && r->ids.count < IDS_MAX) {
		VEC_PUSH(&r->ids, n);
	} else {
		return false;
	}
	return true;
}

static bool read_recipe(FILE *f, struct recipe *r)
{
	char line[LINE_MAX_BYTES];
	while (fgets(line, sizeof line, f) != NULL) {
		char word[32], value[128];
		line[strcspn(line, "#\n")] = '\0';
		int n = sscanf(line, "%31s %127s", word, value);
		if (n > 0 && (n != 2 || !take_line(r, word, value))) {
			fprintf(stderr, "sim: this line cannot be read: %s\n", line);
			return false;
		}
	}
	return true;
}

static int by_id(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return x < y ? -1 : x > y;
}

static int play(struct recipe *r, bool trace)
{
	struct sim_log log = {0};
	qsort(r->ids.items, r->ids.count, sizeof *r->ids.items, by_id);
	struct sim_only only = {r->ids.items, r->ids.count};
	struct sim_report report = run_once(&r->run, &only, &log, trace);
	for (size_t i = 0; i < log.count; i++) {
		printf("%10.3f  %s: %s\n", (double)log.items[i].at_ms / 1000, log.items[i].kind,
			log.items[i].what);
	}
	VEC_FINISH(&log);
	printf("breaks %s: %s\n", report.failed ? report.rule : "nothing", report.message);
	bool same = report.failed && strcmp(report.rule, r->rule) == 0;
	bool exact = same && report.digest == r->digest;
	printf("%s\n", exact  ? "the same run to the byte"
		       : same ? "it fails in the same way, but it is another run"
			      : "it does not fail in that way any more");
	return exact ? 0 : 1;
}

int recipe_play(const char *path, bool trace)
{
	struct recipe r = {0};
	FILE *f = fopen(path, "re");
	if (f == NULL) {
		fprintf(stderr, "sim: %s cannot be read\n", path);
		return 2;
	}
	int status = read_recipe(f, &r) ? play(&r, trace) : 2;
	(void)fclose(f);
	VEC_FINISH(&r.ids);
	return status;
}
