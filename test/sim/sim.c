/* Runs seeds, prints the first breach of each that fails, and one JSON object at the end.
 *
 *     sim --seeds 200 [--first 1] [--steps 1000000]
 *     sim --trace 17             every request, answer and change of one seed
 *     sim --mutation NAME        succeeds where the mutation is caught
 *     sim --mutations            their names
 *     sim --all-mutations        each must be caught within --seeds
 *     sim --twice                each seed twice, which must be the same run to the byte */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/str.h"
#include "json/decode.h"
#include "mutations.h"

struct options {
	int64_t seeds, first, steps, trace;
	bool tracing, twice, all_mutations;
	const struct mutation_row *mutation;
};

struct totals {
	uint64_t seeds, steps, writes, faults, placed, tenants, crashes, takeovers, left, late,
		evicted, failed;
};

static int usage(void)
{
	fprintf(stderr, "usage: sim [--seeds N] [--first SEED] [--steps N] [--trace SEED] "
			"[--mutation NAME] [--mutations] [--all-mutations] [--twice]\n");
	return 2;
}

static int64_t *number_of(struct options *o, const char *key)
{
	const struct {
		const char *key;
		int64_t *value;
	} rows[] = {{"--seeds", &o->seeds}, {"--first", &o->first}, {"--steps", &o->steps},
		{"--trace", &o->trace}};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		if (strcmp(rows[i].key, key) == 0) {
			return rows[i].value;
		}
	}
	return NULL;
}

static bool parse(int argc, char **argv, struct options *o)
{
	for (int i = 1; i < argc; i++) {
		int64_t *number = number_of(o, argv[i]);
		if (strcmp(argv[i], "--twice") == 0) {
			o->twice = true;
		} else if (strcmp(argv[i], "--all-mutations") == 0) {
			o->all_mutations = true;
		} else if (i + 1 >= argc) {
			return false;
		} else if (number != NULL) {
			o->tracing = o->tracing || number == &o->trace;
			if (!parse_i64(view_of(argv[++i]), 0, INT64_MAX, number)) {
				return false;
			}
		} else if (strcmp(argv[i], "--mutation") == 0) {
			o->mutation = mutation_find(argv[++i]);
			if (o->mutation == NULL) {
				return false;
			}
		} else {
			return false;
		}
	}
	return true;
}

static struct sim_report run(const struct options *o, int64_t seed)
{
	struct sim_report report;
	struct sim_config config = {.seed = (uint64_t)seed,
		.trace = o->tracing,
		.hooks = o->mutation != NULL ? &o->mutation->hooks : NULL};
	sim_run(&config, &report);
	return report;
}

static void tell(int64_t seed, const struct sim_report *r)
{
	printf("seed %" PRId64 " at %.3f s breaks %s: %s\n  again: hack/sim --trace %" PRId64 "\n",
		seed, (double)r->at_ms / 1000, r->rule, r->message, seed);
	fflush(stdout);
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
	t->late += r->late;
	t->evicted += r->evicted;
	t->failed += r->failed;
}

static void summary(const struct totals *t, bool holds)
{
	printf("{\"seeds\": %" PRIu64 ", \"steps\": %" PRIu64 ", \"writes\": %" PRIu64
	       ", \"faults\": %" PRIu64 ", \"tenants\": %" PRIu64 ", \"placed\": %" PRIu64
	       ", \"crashes\": %" PRIu64 ", \"takeovers\": %" PRIu64 ", \"left\": %" PRIu64
	       ", \"late\": %" PRIu64 ", \"evicted\": %" PRIu64 ", \"failed\": %" PRIu64
	       ", \"holds\": %s}\n",
		t->seeds, t->steps, t->writes, t->faults, t->tenants, t->placed, t->crashes,
		t->takeovers, t->left, t->late, t->evicted, t->failed, holds ? "true" : "false");
}

static bool goes_on(const struct options *o, const struct totals *t)
{
	if (o->mutation != NULL && t->failed > 0) {
		return false;
	}
	return t->seeds < (uint64_t)o->seeds || t->steps < (uint64_t)o->steps;
}

static int sweep(const struct options *o)
{
	struct totals t = {0};
	for (int64_t seed = o->first; goes_on(o, &t); seed++) {
		struct sim_report r = run(o, seed);
		if (r.failed) {
			tell(seed, &r);
		}
		if (o->twice && !r.failed) {
			struct sim_report again = run(o, seed);
			if (again.digest != r.digest || again.steps != r.steps) {
				printf("seed %" PRId64 " is not the same run twice\n", seed);
				r.failed = true;
			}
		}
		add(&t, &r);
	}
	bool holds = o->mutation != NULL ? t.failed > 0 : t.failed == 0;
	summary(&t, holds);
	return holds ? 0 : 1;
}

/* Every mutation, until the first seed that catches it. */
static int sweep_mutations(const struct options *o)
{
	size_t caught = 0, tried = 0;
	for (size_t i = 0; i < mutation_count; i++) {
		if (mutation_rows[i].rare && o->seeds < MUTATION_SEEDS) {
			continue;
		}
		tried++;
		struct options each = *o;
		struct sim_report r = {.failed = false};
		each.mutation = &mutation_rows[i];
		int64_t seed = o->first;
		for (; !r.failed && seed < o->first + o->seeds; seed++) {
			r = run(&each, seed);
		}
		caught += r.failed;
		printf("%-24s %s seed %" PRId64 "%s%s\n", each.mutation->name,
			r.failed ? "caught by" : "NOT CAUGHT up to", seed - 1, r.failed ? ", " : "",
			r.rule != NULL ? r.rule : "");
	}
	bool holds = caught == tried;
	printf("{\"mutations\": %zu, \"caught\": %zu, \"holds\": %s}\n", tried, caught,
		holds ? "true" : "false");
	return holds ? 0 : 1;
}

int main(int argc, char **argv)
{
	struct options o = {.seeds = 60, .first = 1};
	decode_setup();
	log_setup(LOG_ERROR + 1, STDERR_FILENO);
	if (argc == 2 && strcmp(argv[1], "--mutations") == 0) {
		for (size_t i = 0; i < mutation_count; i++) {
			printf("%-24s %s\n", mutation_rows[i].name, mutation_rows[i].what);
		}
		return 0;
	}
	if (!parse(argc, argv, &o)) {
		return usage();
	}
	if (o.tracing) {
		struct sim_report r = run(&o, o.trace);
		if (r.failed) {
			tell(o.trace, &r);
		}
		return r.failed ? 1 : 0;
	}
	return o.all_mutations ? sweep_mutations(&o) : sweep(&o);
}
