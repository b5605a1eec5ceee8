/* What a device did between two looks, by the samples that the driver keeps of it. */
#include "sampler_bed.h"

/* Samples of `percent`, one a second, of so many seconds up to now. */
static void samples_write(struct bed *b, int seconds, int percent, const char *more)
{
	char text[8192];
	size_t n = (size_t)snprintf(text, sizeof text, "%s%s", BED_ONE, more);
	for (int i = seconds - 1; i >= 0; i--) {
		n += (size_t)snprintf(text + n, sizeof text - n, "own-sample %lld %d\n",
			(long long)(b->wall_ms - i * 1000) * 1000, percent);
		cr_assert_lt(n, sizeof text);
	}
	bed_write(b, text);
}

static int64_t mean(const struct gpu_sample *s)
{
	cr_assert(s->devices[0].answered);
	return s->devices[0].figures[FIGURE_GPU_UTIL_MEAN];
}

Test(samples, their_mean_is_of_the_time_since_the_look_before)
{
	struct bed *b = bed_create("libnvidia-ml-older.so.1");
	samples_write(b, 16, 90, "");
	cr_assert_eq(mean(bed_look(b)), GPU_UNKNOWN, "nobody looked before");
	bed_pass(b, 15000);
	samples_write(b, 15, 30, "");
	cr_assert_eq(mean(bed_look(b)), 30000);
	b->use_every_ms = 14000;
	bed_pass(b, 2000);
	samples_write(b, 2, 100, "");
	cr_assert_eq(mean(bed_look(b)), 30000, "somebody looked in between");
	bed_pass(b, 13000);
	samples_write(b, 15, 50, "");
	cr_assert_eq(mean(bed_look(b)), 50000);
	cr_assert_eq(b->sample.errors, 0);
	bed_destroy(b);
}

Test(samples, what_they_do_not_cover_is_unknown)
{
	static const struct {
		int seconds, percent;
		const char *more;
		int64_t mean;
		uint32_t errors;
	} rows[] = {
		{12, 40, "", 40000, 0},
		{10, 40, "", GPU_UNKNOWN, 0}, /* the driver has forgotten the rest */
		{0, 0, "", GPU_UNKNOWN, 0},   /* nothing found is no zero */
		{15, 0, "", 0, 0},
		{15, 101, "", GPU_UNKNOWN, 0},
		{15, 40, "return nvmlDeviceGetSamples 3\n", GPU_UNKNOWN, 0},
		{15, 40, "return nvmlDeviceGetSamples 13\n", GPU_UNKNOWN, 0},
		{15, 40, "return nvmlDeviceGetSamples 25\n", GPU_UNKNOWN, 0},
		{15, 40, "return nvmlDeviceGetSamples 999\n", GPU_UNKNOWN, 1},
		{15, 40, "mig 1 1\n", GPU_UNKNOWN, 0},
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct bed *b = bed_create("libnvidia-ml-older.so.1");
		samples_write(b, 0, 0, "");
		(void)bed_look(b);
		bed_pass(b, 15000);
		samples_write(b, rows[i].seconds, rows[i].percent, rows[i].more);
		cr_expect_eq(mean(bed_look(b)), rows[i].mean, "row %zu: %lld", i,
			(long long)mean(&b->sample));
		cr_expect_eq(b->sample.errors, rows[i].errors, "row %zu", i);
		bed_destroy(b);
	}
}

/* Where the clock was set, the time is not known that they are of. */
Test(samples, a_clock_that_was_set_makes_none_up)
{
	static const int64_t steps_ms[] = {-3600000, 3600000};
	for (size_t i = 0; i < COUNT_OF(steps_ms); i++) {
		struct bed *b = bed_create("libnvidia-ml-older.so.1");
		samples_write(b, 0, 0, "");
		(void)bed_look(b);
		bed_pass(b, 15000);
		samples_write(b, 15, 60, "");
		b->wall_ms += steps_ms[i];
		cr_expect_eq(mean(bed_look(b)), GPU_UNKNOWN, "step %zu", i);
		bed_pass(b, 15000);
		samples_write(b, 15, 70, "");
		cr_expect_eq(mean(bed_look(b)), 70000, "step %zu", i);
		bed_destroy(b);
	}
}

Test(samples, are_not_asked_for_where_gpm_is)
{
	struct bed *b = bed_create("libnvidia-ml.so.1");
	samples_write(b, 0, 0, "gpm 40 30 20 10 5 100 0.5\n");
	(void)bed_look(b);
	bed_pass(b, 15000);
	samples_write(b, 15, 60, "gpm 40 30 20 10 5 100 0.5\n");
	cr_assert_eq(mean(bed_look(b)), GPU_UNKNOWN);
	cr_assert_eq(b->sample.devices[0].figures[FIGURE_PROF_GR_ENGINE_ACTIVE], 400);
	bed_destroy(b);
}
