/* Runs seeds, prints the first breach of each that fails, and one JSON object at the end.
 *
 *     sim --seeds 200 [--first 1] [--steps 1000000]
 *     sim --trace 17             every request, answer and change of one seed
 *     sim --replay FILE          a failure that was shrunk, as it was
 *     sim --mutation NAME        succeeds where the mutation is caught; --trace, --shrink with it
 *     sim --mutations            their names
 *     sim --all-mutations        each must be caught within --seeds; of --parts N only the --part
 * K. The seed that its row names is tried first, but for --anew sim --scenario NAME        one that
 * is named, --times (or --seeds) times sim --scenarios            their names sim --shrink the
 * first failing seed, as short as it gets; needs one that fails sim --rolled Deployments are
 * rightsized in each run, not in a quarter sim --plain                or in none sim --probed
 * machines differ in how they give GPUs in each run, not in a third sim --overtakings N fewer
 * judged in all is a failure: nobody is passed over there sim --twice                each seed
 * twice, which must be the same run to the byte
 *
 * A failure is shrunk (for --shrink-s seconds, 0: not at all) and kept as a file in --keep. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/str.h"
#include "json/decode.h"
#include "shrink.h"

/* So many failures of a sweep are shrunk; after those the time is better spent on reading. */
#define SHRUNK_MOST 3

struct options {
	int64_t seeds, first, steps, trace, shrink_s, part, parts, overtakings;
	bool tracing, twice, all_mutations, anew, shrink;
	const char *keep, *replay;
	struct run run;
};

struct totals {
	uint64_t seeds, steps, writes, faults, placed, tenants, crashes, takeovers, left, fenced,
		claims, half_claims, quotas, evicted, overused, rolled, surged, adopted, returned,
		lost_races, overtakings, gates, failed;
};

static int usage(void)
{
	fprintf(stderr,
		"usage: sim [--seeds N] [--first SEED] [--steps N] [--trace SEED] [--replay FILE] "
		"[--mutation NAME] [--mutations] [--all-mutations] [--anew] [--part K] [--parts N] "
		"[--scenario NAME] "
		"[--scenarios] [--shrink] [--shrink-s SECONDS] [--keep FOLDER] [--probed] "
		"[--rolled] [--plain] [--crowded] [--small] [--overtakings N] "
		"[--twice]\n");
	return 2;
}

static bool take_flag(struct options *o, const char *key)
{
	const struct {
		const char *key;
		bool *value;
	} rows[] = {{"--twice", &o->twice}, {"--all-mutations", &o->all_mutations},
		{"--anew", &o->anew}, {"--shrink", &o->shrink}, {"--probed", &o->run.probed},
		{"--rolled", &o->run.rolled}, {"--plain", &o->run.plain},
		{"--small", &o->run.small}, {"--crowded", &o->run.crowded}};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		if (strcmp(rows[i].key, key) == 0) {
			*rows[i].value = true;
			return true;
		}
	}
	return false;
}

static bool take_number(struct options *o, const char *key, const char *text, bool *ret_known)
{
	const struct {
		const char *key;
		int64_t *value;
	} rows[] = {{"--seeds", &o->seeds}, {"--first", &o->first}, {"--steps", &o->steps},
		{"--trace", &o->trace}, {"--shrink-s", &o->shrink_s}, {"--times", &o->seeds},
		{"--part", &o->part}, {"--parts", &o->parts}, {"--overtakings", &o->overtakings}};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		if (strcmp(rows[i].key, key) == 0) {
			*ret_known = true;
			o->tracing = o->tracing || rows[i].value == &o->trace;
			return parse_i64(view_of(text), 0, INT64_MAX, rows[i].value);
		}
	}
	*ret_known = false;
	return true;
}

static bool take_text(struct options *o, const char *key, const char *text)
{
	if (strcmp(key, "--mutation") == 0) {
		o->run.mutation = mutation_find(text);
		return o->run.mutation != NULL;
	}
	if (strcmp(key, "--scenario") == 0) {
		o->run.scenario = sim_scenario_find(text);
		return o->run.scenario != NULL;
	}
	if (strcmp(key, "--keep") == 0) {
		o->keep = text;
		return true;
	}
	if (strcmp(key, "--replay") == 0) {
		o->replay = text;
		return true;
	}
	return false;
}

/* Some mistakes show in one scenario only, or hardly ever elsewhere. */
static void take_scenario(struct run *run)
{
	if (run->scenario == NULL && run->mutation != NULL && run->mutation->scenario != NULL) {
		run->scenario = sim_scenario_find(run->mutation->scenario);
	}
}

static bool parse(int argc, char **argv, struct options *o)
{
	for (int i = 1; i < argc; i++) {
		bool known;
		if (take_flag(o, argv[i])) {
			continue;
		}
		if (i + 1 >= argc || !take_number(o, argv[i], argv[i + 1], &known) ||
			(!known && !take_text(o, argv[i], argv[i + 1]))) {
			return false;
		}
		i++;
	}
	take_scenario(&o->run);
	return o->part >= 1 && o->part <= o->parts;
}

struct sim_report run_once(
	const struct run *run, const struct sim_only *only, struct sim_log *log, bool trace)
{
	struct sim_report report;
	struct sim_config config = {.seed = (uint64_t)run->seed,
		.scenario = run->scenario,
		.probed = run->probed,
		.rolled = run->rolled || (run->mutation != NULL && run->mutation->rolled),
		/* A mistake of the engine's shows itself sooner where there is nothing else. */
		.plain = run->mutation != NULL ? !run->mutation->rolled : run->plain,
		.small = run->small,
		.crowded = run->crowded,
		.only = only,
		.log = log,
		.trace = trace,
		.hooks = run->mutation != NULL ? &run->mutation->hooks : NULL};
	sim_run(&config, &report);
	return report;
}

static struct sim_report run_seed(const struct options *o, int64_t seed)
{
	struct run run = o->run;
	run.seed = seed;
	return run_once(&run, NULL, NULL, o->tracing);
}

static void tell(const struct run *run, const struct sim_report *r)
{
	printf("seed %" PRId64 " at %.3f s breaks %s: %s\n  again: hack/sim", run->seed,
		(double)r->at_ms / 1000, r->rule, r->message);
	if (run->scenario != NULL) {
		printf(" --scenario %s", sim_scenario_name(run->scenario));
	}
	if (run->mutation != NULL) {
		printf(" --mutation %s", run->mutation->name);
	}
	if (run->probed) {
		printf(" --probed");
	}
	if (run->rolled || run->plain) {
		printf(run->rolled ? " --rolled" : " --plain");
	}
	printf("%s%s", run->small ? " --small" : "", run->crowded ? " --crowded" : "");
	printf(" --trace %" PRId64 "\n", run->seed);
	fflush(stdout);
}

/* The failure once more, with what it needs and no more; false: the file could not be written. */
static bool tell_short(
	const struct options *o, const struct run *run, struct shrunk *s, char *path, size_t room)
{
	shrink(run, o->shrink_s * 1000, s);
	snprintf(path, room, "%s/sim-%s%s%s%" PRId64 ".replay", o->keep,
		run->scenario != NULL ? sim_scenario_name(run->scenario) : "",
		run->mutation != NULL ? run->mutation->name : "",
		run->scenario != NULL || run->mutation != NULL ? "-" : "", run->seed);
	printf("  %zu of its %zu troubles suffice (%zu runs):\n", s->log.count, s->before, s->runs);
	for (size_t i = 0; i < s->log.count; i++) {
		printf("    %10.3f  %s: %s\n", (double)s->log.items[i].at_ms / 1000,
			s->log.items[i].kind, s->log.items[i].what);
	}
	printf("  then: %s\n", s->report.message);
	bool kept = recipe_write(path, run, s);
	printf(kept ? "  again: hack/sim --replay %s\n" : "  %s cannot be written\n", path);
	fflush(stdout);
	return kept;
}

static void add(struct totals *t, const struct sim_report *r)
{
	t->seeds++;
	t->steps += r->steps;
	t->writes += r->writes;
	t->faults += r->faults;
	t->placed += r->placed;
	t->tenants += r->tenants;
	t->crashes += r->crashes;
	t->takeovers += r->takeovers;
	t->left += r->left;
	t->fenced += r->fenced;
	t->claims += r->claims;
	t->half_claims += r->half_claims;
	t->quotas += r->quotas;
	t->evicted += r->evicted;
	t->overused += r->overused;
	t->rolled += r->rolled;
	t->surged += r->surged;
	t->adopted += r->adopted;
	t->returned += r->returned;
	t->lost_races += r->lost_races;
	t->overtakings += r->overtakings;
	t->gates += r->gates;
	t->failed += r->failed;
}

static void summary(const struct totals *t, bool holds)
{
	printf("{\"seeds\": %" PRIu64 ", \"steps\": %" PRIu64 ", \"writes\": %" PRIu64
	       ", \"faults\": %" PRIu64 ", \"tenants\": %" PRIu64 ", \"placed\": %" PRIu64
	       ", \"crashes\": %" PRIu64 ", \"takeovers\": %" PRIu64 ", \"left\": %" PRIu64
	       ", \"fenced\": %" PRIu64 ", \"claims\": %" PRIu64 ", \"half_claims\": %" PRIu64
	       ", \"quotas\": %" PRIu64 ", \"evicted\": %" PRIu64 ", \"overused\": %" PRIu64
	       ", \"rolled\": %" PRIu64 ", \"surged\": %" PRIu64 ", \"adopted\": %" PRIu64
	       ", \"returned\": %" PRIu64 ", \"lost_races\": %" PRIu64 ", \"overtakings\": %" PRIu64
	       ", \"gates\": %" PRIu64 ", \"failed\": %" PRIu64 ", \"holds\": %s}\n",
		t->seeds, t->steps, t->writes, t->faults, t->tenants, t->placed, t->crashes,
		t->takeovers, t->left, t->fenced, t->claims, t->half_claims, t->quotas, t->evicted,
		t->overused, t->rolled, t->surged, t->adopted, t->returned, t->lost_races,
		t->overtakings, t->gates, t->failed, holds ? "true" : "false");
}

static bool goes_on(const struct options *o, const struct totals *t)
{
	if (o->run.mutation != NULL && t->failed > 0) {
		return false;
	}
	return t->seeds < (uint64_t)o->seeds || t->steps < (uint64_t)o->steps;
}

static void report_failure(
	const struct options *o, const struct totals *t, int64_t seed, const struct sim_report *r)
{
	char path[512];
	struct shrunk s;
	struct run run = o->run;
	run.seed = seed;
	tell(&run, r);
	if (o->shrink_s > 0 && o->run.mutation == NULL && t->failed < SHRUNK_MOST) {
		(void)tell_short(o, &run, &s, path, sizeof path);
		shrunk_finish(&s);
	}
}

static int sweep(const struct options *o)
{
	struct totals t = {0};
	for (int64_t seed = o->first; goes_on(o, &t); seed++) {
		struct sim_report r = run_seed(o, seed);
		if (r.failed) {
			report_failure(o, &t, seed, &r);
		}
		if (o->twice && !r.failed) {
			struct sim_report again = run_seed(o, seed);
			if (again.digest != r.digest || again.steps != r.steps) {
				printf("seed %" PRId64 " is not the same run twice\n", seed);
				r.failed = true;
			}
		}
		add(&t, &r);
	}
	bool holds = o->run.mutation != NULL ? t.failed > 0 : t.failed == 0;
	holds = holds && t.overtakings >= (uint64_t)o->overtakings;
	summary(&t, holds);
	return holds ? 0 : 1;
}

static struct sim_report run_mutation(const struct options *o, int64_t seed)
{
	struct options each = *o;
	take_scenario(&each.run);
	return run_seed(&each, seed);
}

/* The seed that its row names, then every one, until one catches it. */
static bool catch_one(const struct options *o, bool *ret_known)
{
	const struct mutation_row *row = o->run.mutation;
	int64_t seed = row->seed;
	struct sim_report r = {.failed = false};
	if (!o->anew) {
		r = run_mutation(o, seed);
	}
	*ret_known = r.failed;
	for (seed = r.failed ? seed : o->first - 1; !r.failed && seed + 1 < o->first + o->seeds;) {
		r = run_mutation(o, ++seed);
	}
	printf("%-28s %s seed %" PRId64 "%s%s\n", row->name,
		r.failed ? "caught by" : "NOT CAUGHT up to", seed, r.failed ? ", " : "",
		r.rule != NULL ? r.rule : "");
	fflush(stdout);
	return r.failed;
}

/* `stale`: of so many the row names another seed than one that catches it. */
static int sweep_mutations(const struct options *o)
{
	size_t caught = 0, tried = 0, stale = 0;
	for (size_t i = 0; i < mutation_count; i++) {
		struct options each = *o;
		bool known;
		if ((int64_t)i % o->parts != o->part - 1) {
			continue;
		}
		each.run.mutation = &mutation_rows[i];
		caught += catch_one(&each, &known);
		stale += !known && !o->anew;
		tried++;
	}
	bool holds = caught == tried && tried > 0;
	printf("{\"mutations\": %zu, \"caught\": %zu, \"stale\": %zu, \"holds\": %s}\n", tried,
		caught, stale, holds ? "true" : "false");
	return holds ? 0 : 1;
}

/* The first seed that fails, shrunk and replayed from its file. It holds where the file fails in
 * the same way, to the byte, with less than a quarter of what happened at first. */
static int shrink_first(const struct options *o)
{
	char path[512];
	struct run run = o->run;
	struct sim_report r = {.failed = false};
	for (run.seed = o->first; run.seed < o->first + o->seeds; run.seed++) {
		r = run_once(&run, NULL, NULL, false);
		if (r.failed) {
			break;
		}
	}
	if (!r.failed) {
		printf("{\"holds\": false, \"error\": \"no seed fails\"}\n");
		return 1;
	}
	struct shrunk s;
	tell(&run, &r);
	bool kept = tell_short(o, &run, &s, path, sizeof path);
	bool holds = kept && strcmp(s.report.rule, r.rule) == 0 && s.log.count * 4 < s.before &&
		     recipe_play(path, false) == 0;
	printf("{\"seed\": %" PRId64 ", \"troubles\": %zu, \"left\": %zu, \"runs\": %zu, "
	       "\"holds\": %s}\n",
		run.seed, s.before, s.log.count, s.runs, holds ? "true" : "false");
	shrunk_finish(&s);
	return holds ? 0 : 1;
}

static int trace_one(const struct options *o)
{
	struct run run = o->run;
	run.seed = o->trace;
	struct sim_report r = run_once(&run, NULL, NULL, true);
	if (r.failed) {
		tell(&run, &r);
	}
	return r.failed ? 1 : 0;
}

static bool list_names(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "--mutations") == 0) {
		for (size_t i = 0; i < mutation_count; i++) {
			printf("%-28s %s\n", mutation_rows[i].name, mutation_rows[i].what);
		}
		return true;
	}
	if (argc == 2 && strcmp(argv[1], "--scenarios") == 0) {
		for (size_t i = 0; sim_scenario_at(i) != NULL; i++) {
			printf("%-28s %s\n", sim_scenario_name(sim_scenario_at(i)),
				sim_scenario_what(sim_scenario_at(i)));
		}
		return true;
	}
	return false;
}

int main(int argc, char **argv)
{
	struct options o = {
		.seeds = 60, .first = 1, .shrink_s = 30, .part = 1, .parts = 1, .keep = "."};
	decode_setup();
	log_setup(LOG_ERROR + 1, STDERR_FILENO);
	if (list_names(argc, argv)) {
		return 0;
	}
	if (!parse(argc, argv, &o)) {
		return usage();
	}
	if (o.replay != NULL) {
		return recipe_play(o.replay, true);
	}
	if (o.tracing) {
		return trace_one(&o);
	}
	if (o.shrink) {
		return shrink_first(&o);
	}
	return o.all_mutations ? sweep_mutations(&o) : sweep(&o);
}
