/* What sizing costs: the histories of a cluster in memory, a round of samples, a round of
 * recommendations.
 *
 *     aliquot-bench-rightsize [WORKLOADS [PODS [MINUTES]]]
 *
 * Tells the CPU time of one scrape of all pods, of the scrape that closes their minute, and of one
 * recommendation and its hold for each workload, the worst of each; and the memory that a workload
 * takes, its pods' part included. The bench itself is rightsize.py. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/alloc.h"
#include "base/rand.h"
#include "base/str.h"
#include "right/hold.h"
#include "right/recommend.h"

#define START  1767225600000
#define SCRAPE 15000
#define MINUTE 60000

struct bed {
	int64_t workloads, pods, minutes;
	struct history **histories;
	struct history_feed *feeds;
	struct rng rng;
	int64_t now;
};

static double cpu_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static double scrape(struct bed *b)
{
	double began = cpu_ms();
	for (int64_t i = 0; i < b->pods; i++) {
		struct history_sample s = {{METERED_AGENT, false, "sm_active"}, b->now,
			(int64_t)rng_below(&b->rng, METERED_FULL), METERED_FULL,
			(int64_t)(4 + rng_below(&b->rng, 4)) << 30};
		history_take(b->histories[i % b->workloads], &b->feeds[i], &s, b->now);
	}
	b->now += SCRAPE;
	return cpu_ms() - began;
}

static double recommend(struct bed *b, int64_t *ret_milli)
{
	static const struct sizing sizing = SIZING_DEFAULT;
	double began = cpu_ms();
	for (int64_t i = 0; i < b->workloads; i++) {
		struct history *h = b->histories[i];
		struct recommend_ask ask = {.sizing = &sizing,
			.history = h,
			.facts = history_judge(h, &sizing, b->now, true),
			.now_ms = b->now,
			.device_mib = 81920};
		struct recommend_answer a;
		struct hold_answer held;
		recommend_share(&ask, &a);
		struct hold_ask hold = {.sizing = &sizing,
			.facts = ask.facts,
			.current = {1000, 81920},
			.wanted = a.target,
			.now_ms = b->now};
		hold_step(&hold, history_kept(h), &held);
		*ret_milli += a.target.milli;
	}
	return cpu_ms() - began;
}

static int64_t number(int argc, char **argv, int at, int64_t otherwise)
{
	int64_t value = otherwise;
	if (argc > at && !parse_i64(view_of(argv[at]), 1, 1000000, &value)) {
		fprintf(stderr, "%s: a number from 1 to 1000000\n", argv[at]);
		exit(2);
	}
	return value;
}

int main(int argc, char **argv)
{
	struct bed b = {.workloads = number(argc, argv, 1, 5000),
		.pods = number(argc, argv, 2, 20000),
		.minutes = number(argc, argv, 3, 60),
		.now = START};
	double within = 0, closing = 0;
	int64_t milli = 0;
	size_t bytes = 0;
	b.histories = xcalloc((size_t)b.workloads, sizeof *b.histories);
	b.feeds = xcalloc((size_t)b.pods, sizeof *b.feeds);
	rng_seed(&b.rng, 1);
	for (int64_t i = 0; i < b.workloads; i++) {
		b.histories[i] = history_create();
	}
	for (int64_t i = 0; i < b.minutes * 4; i++) {
		double took = scrape(&b);
		double *most = i % 4 == 0 ? &closing : &within;
		*most = took > *most ? took : *most;
	}
	double one = recommend(&b, &milli);
	for (int64_t i = 0; i < b.workloads; i++) {
		bytes += history_bytes(b.histories[i]);
		history_destroy(b.histories[i]);
	}
	bytes += (size_t)b.pods * sizeof *b.feeds;
	printf("{\"workloads\": %" PRId64 ", \"pods\": %" PRId64
	       ", \"scrape_ms\": %.2f, \"minute_ms\": %.2f, \"recommend_ms\": %.2f"
	       ", \"workload_bytes\": %zu}\n",
		b.workloads, b.pods, within, closing, one, bytes / (size_t)b.workloads);
	free(b.histories);
	free(b.feeds);
	return milli > 0 ? 0 : 1;
}
