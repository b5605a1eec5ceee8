/* A sampler on the fake NVML, whose topology a test writes as text, with a clock that stands still
 * until it is moved. */
#ifndef SAMPLER_BED_H
#define SAMPLER_BED_H

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gpu/sampler.h"

#define BED_WALL_MS 1700000000000ll
#define BED_A	    "GPU-aaaaaaaa-1111-2222-3333-444444444444"
#define BED_B	    "GPU-bbbbbbbb-1111-2222-3333-444444444444"
#define BED_ONE	    "device\nuuid " BED_A "\n"

struct bed {
	struct clock clock;
	int64_t mono_ms, wall_ms;
	int64_t use_every_ms; /* 0: at every look */
	int64_t slow_ms;      /* pass between any two looks at the clock */
	char library[4096], topology[256];
	struct sampler *sampler; /* owned */
	struct arena arena;
	struct gpu_sample sample;
	struct fault fault;
};

static inline int64_t bed_mono(const struct clock *c)
{
	struct bed *b = (struct bed *)(uintptr_t)c;
	b->mono_ms += b->slow_ms;
	return b->mono_ms;
}

static inline int64_t bed_wall(const struct clock *c)
{
	return ((const struct bed *)(const void *)c)->wall_ms;
}

/* `library` lies in the build's test/fake: libnvidia-ml.so.1 and the older drivers. */
static inline struct bed *bed_create(const char *library)
{
	struct bed *b = xcalloc(1, sizeof *b);
	char self[2048];
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
	cr_assert(n > 0);
	self[n] = '\0';
	*strrchr(self, '/') = '\0';
	(void)snprintf(b->library, sizeof b->library, "%s/../fake/%s", self, library);
	(void)snprintf(b->topology, sizeof b->topology, "/tmp/aliquot-topology-%d", (int)getpid());
	cr_assert_eq(setenv("FAKE_NVML_TOPOLOGY", b->topology, 1), 0);
	cr_assert_eq(unsetenv("NVIDIA_VISIBLE_DEVICES"), 0);
	b->clock = (struct clock){.mono_ms = bed_mono, .wall_ms = bed_wall};
	b->mono_ms = 5000000;
	b->wall_ms = BED_WALL_MS;
	b->sampler = sampler_create(b->library, &b->clock);
	return b;
}

static inline void bed_destroy(struct bed *b)
{
	sampler_destroy(b->sampler);
	arena_finish(&b->arena);
	(void)unlink(b->topology);
	free(b);
}

/* Replaces the file, as a reader must never see half of it. */
static inline void bed_write(struct bed *b, const char *text)
{
	char aside[300];
	(void)snprintf(aside, sizeof aside, "%s.new", b->topology);
	FILE *f = fopen(aside, "we");
	cr_assert_not_null(f);
	cr_assert(fputs(text, f) >= 0);
	cr_assert_eq(fclose(f), 0);
	cr_assert_eq(rename(aside, b->topology), 0);
}

static inline void bed_pass(struct bed *b, int64_t ms)
{
	b->mono_ms += ms;
	b->wall_ms += ms;
}

static inline int bed_try(struct bed *b)
{
	arena_reset(&b->arena);
	b->fault = (struct fault){0};
	return sampler_look(b->sampler, b->use_every_ms, &b->arena, &b->sample, &b->fault);
}

/* A look that succeeds, at what the topology now says. */
static inline const struct gpu_sample *bed_look(struct bed *b)
{
	cr_assert_eq(bed_try(b), 0, "%s", b->fault.message);
	return &b->sample;
}

/* The same after 15 s, the usual interval. */
static inline const struct gpu_sample *bed_next(struct bed *b)
{
	bed_pass(b, 15000);
	return bed_look(b);
}

static inline const struct gpu_process *bed_process(const struct gpu_reading *r, uint32_t pid)
{
	for (uint32_t i = 0; i < r->process_count; i++) {
		if (r->processes[i].pid == pid) {
			return &r->processes[i];
		}
	}
	return NULL;
}

/* A line "sample TIME REST", the time being so many milliseconds before now. */
static inline void bed_sample(
	const struct bed *b, char *text, size_t size, int64_t ago_ms, const char *rest)
{
	size_t n = strlen(text);
	(void)snprintf(text + n, size - n, "sample %lld %s\n",
		(long long)(b->wall_ms - ago_ms) * 1000, rest);
}

#endif
