/* A small CUDA load for a machine with a real GPU. Every line that it prints is one JSON object.
 *
 *   gpu-load spin DUTY PERIOD_MS SECONDS [MIB]   busy for DUTY percent of each period, holding MIB
 *   gpu-load work SECONDS [MIB]                  arithmetic as fast as it goes; tells rounds a
 * second gpu-load hold SECONDS [MIB]                  a context and memory, no work gpu-load fill
 * STEP_MIB                       allocates until that fails; tells how far it came gpu-load fault
 * an illegal address; tells the error that comes back
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cuda.h"

#define MIB	    ((uint64_t)1 << 20)
#define WORK_ROUNDS 20000

static int64_t now_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void wait_until(int64_t at_ms)
{
	int64_t left = at_ms - now_ms();
	if (left > 0) {
		struct timespec t = {left / 1000, left % 1000 * 1000000};
		nanosleep(&t, NULL);
	}
}

/* A whole number from 0 to `most`; anything else ends the program. */
static int64_t number(const char *text, int64_t most)
{
	char *end = NULL;
	long long value = strtoll(text, &end, 10);
	if (*text == '\0' || *end != '\0' || value < 0 || value > most) {
		fprintf(stderr, "gpu-load: '%s': a number from 0 to %lld is wanted\n", text,
			(long long)most);
		exit(2);
	}
	return value;
}

static void say_ready(const struct cuda *c)
{
	uint64_t unused = 0, total = 0;
	cuda_memory(c, &unused, &total);
	printf("{\"event\": \"ready\", \"pid\": %d, \"multiprocessors\": %d, \"freeMiB\": %" PRIu64
	       ", \"totalMiB\": %" PRIu64 "}\n",
		(int)getpid(), cuda_multiprocessors(c), unused / MIB, total / MIB);
	fflush(stdout);
}

static int say_error(const char *event, const char *error, int64_t mib)
{
	printf("{\"event\": \"%s\", \"error\": \"%s\", \"MiB\": %lld}\n", event,
		error != NULL ? error : "", (long long)mib);
	fflush(stdout);
	return error != NULL ? 1 : 0;
}

static struct cuda *begin(int64_t mib)
{
	struct cuda *c = cuda_open();
	const char *error = mib > 0 ? cuda_try_alloc(c, (uint64_t)mib * MIB) : NULL;
	if (error != NULL) {
		exit(say_error("failed", error, mib));
	}
	say_ready(c);
	return c;
}

static int spin(int64_t duty, int64_t period_ms, int64_t seconds, int64_t mib)
{
	struct cuda *c = begin(mib);
	int64_t end = now_ms() + seconds * 1000;
	uint64_t busy_ns = (uint64_t)(period_ms * duty * 10000);
	for (int64_t next = now_ms(); next < end; next += period_ms) {
		wait_until(next);
		if (busy_ns > 0) {
			cuda_spin(c, busy_ns);
		}
	}
	cuda_close(c);
	return say_error("done", NULL, mib);
}

static int work(int64_t seconds, int64_t mib)
{
	struct cuda *c = begin(mib);
	int64_t began = now_ms(), runs = 0;
	const char *error = NULL;
	while (error == NULL && now_ms() - began < seconds * 1000) {
		error = cuda_try_work(c, WORK_ROUNDS);
		runs++;
	}
	int64_t took = now_ms() - began;
	printf("{\"event\": \"worked\", \"runs\": %lld, \"ms\": %lld, \"error\": \"%s\"}\n",
		(long long)runs, (long long)took, error != NULL ? error : "");
	fflush(stdout);
	return error != NULL ? 1 : 0;
}

static int hold(int64_t seconds, int64_t mib)
{
	struct cuda *c = begin(mib);
	wait_until(now_ms() + seconds * 1000);
	cuda_close(c);
	return say_error("done", NULL, mib);
}

static int fill(int64_t step)
{
	struct cuda *c = begin(0);
	const char *error = NULL;
	int64_t mib = 0;
	while (mib < (int64_t)1 << 22 && error == NULL) {
		error = cuda_try_alloc(c, (uint64_t)step * MIB);
		mib += error == NULL ? step : 0;
	}
	(void)say_error("full", error, mib);
	return error != NULL ? 0 : 1;
}

static int fault(void)
{
	struct cuda *c = begin(0);
	const char *error = cuda_try_fault(c);
	(void)say_error("faulted", error, 0);
	return error != NULL ? 0 : 1;
}

int main(int argc, char **argv)
{
	const int64_t long_time = 86400, much = (int64_t)1 << 22;
	const char *what = argc > 1 ? argv[1] : "";
	if (strcmp(what, "spin") == 0 && (argc == 5 || argc == 6)) {
		int64_t period = number(argv[3], 60000);
		return spin(number(argv[2], 100), period > 0 ? period : 1,
			number(argv[4], long_time), argc == 6 ? number(argv[5], much) : 0);
	}
	if (strcmp(what, "work") == 0 && (argc == 3 || argc == 4)) {
		return work(number(argv[2], long_time), argc == 4 ? number(argv[3], much) : 0);
	}
	if (strcmp(what, "hold") == 0 && (argc == 3 || argc == 4)) {
		return hold(number(argv[2], long_time), argc == 4 ? number(argv[3], much) : 0);
	}
	if (strcmp(what, "fill") == 0 && argc == 3) {
		int64_t step = number(argv[2], much);
		return fill(step > 0 ? step : 1);
	}
	if (strcmp(what, "fault") == 0 && argc == 2) {
		return fault();
	}
	fputs("usage: gpu-load spin DUTY PERIOD_MS SECONDS [MIB] | work SECONDS [MIB] | "
	      "hold SECONDS [MIB] | fill STEP_MIB | fault\n",
		stderr);
	return 2;
}
