/* A history as bytes: what comes back is what went, and nothing else is read. */
#include <criterion/criterion.h>

#include "base/rand.h"
#include "bed.h"
#include "history/history_pack.h"
#include "history/pool.h"
#include "levels.h"
#include "record/pack.h"

static struct history *h;
static struct history_feed feed;
static struct history_source source;
static int64_t now;

static void set_up(void)
{
	h = history_create();
	feed = (struct history_feed){0};
	source = (struct history_source){METERED_AGENT, false, "sm"};
	now = START;
}

static void tear_down(void)
{
	history_destroy(h);
}

TestSuite(history_pack, .init = set_up, .fini = tear_down);

static struct history *again(struct str *bytes)
{
	struct history *got = NULL;
	struct fault fault = {0};
	cr_assert(history_pack(h, bytes));
	struct view view = {bytes->p, bytes->len};
	cr_assert_eq(history_unpack(view, now, &got, &fault), 0, "%s", fault.message);
	return got;
}

static void expect_same(struct history *a, struct history *b)
{
	for (int32_t p = 50; p <= 100; p++) {
		cr_assert_eq(history_compute(a, p, now), history_compute(b, p, now), "P%d", p);
		struct history_pool pa, pb;
		history_pool(a, p, now, &pa);
		history_pool(b, p, now, &pb);
		cr_assert(pa.told == pb.told && pa.sized == pb.sized && pa.fixed == pb.fixed);
		cr_assert(pa.starved == pb.starved && pa.engine == pb.engine);
		cr_assert_eq(pa.use_mib, pb.use_mib, "P%d", p);
		cr_assert_eq(pa.rest_mib, pb.rest_mib);
		cr_assert_eq(pa.minutes, pb.minutes);
	}
	cr_assert_eq(history_recent(a, 98, now), history_recent(b, 98, now));
	cr_assert_eq(history_peak(a, now), history_peak(b, now));
	cr_assert_eq(history_used(a, now), history_used(b, now));
	struct history_facts fa = history_judge(a, &real_time, now, true);
	struct history_facts fb = history_judge(b, &real_time, now, true);
	cr_assert_eq(fa.state, fb.state);
	cr_assert_eq(fa.samples, fb.samples);
	cr_assert_eq(fa.first_ms, fb.first_ms);
	cr_assert_eq(fa.last_ms, fb.last_ms);
	cr_assert_eq(fa.compute_minutes, fb.compute_minutes);
	cr_assert_eq(fa.mem_minutes, fb.mem_minutes);
	cr_assert_eq(fa.source.source, fb.source.source);
	cr_assert_str_eq(fa.source.basis, fb.source.basis);
}

/* Units of 2 MiB beside 16 GiB. */
static void take_pool(int64_t units, int64_t used, int64_t in_bytes)
{
	struct history_pool_sample s = {.print = 7,
		.engine = APP_VLLM,
		.alike = true,
		.units = units,
		.in_bytes = in_bytes,
		.used = used,
		.mem_mib = 16384 + units * 2};
	history_take_pool(h, &s, now);
}

static void use_much(struct rng *rng)
{
	for (int i = 0; i < 26 * 60; i++) {
		USE(1, (int64_t)rng_below(rng, 60000), 500 + (int64_t)rng_below(rng, 4000));
		/* Of two replicas one is taken in the first hours, the other one later. */
		take_pool(i < 300 ? 29000 : 12000, (int64_t)rng_below(rng, METERED_GAUGE_FULL),
			METERED_ABSENT);
	}
	source = (struct history_source){METERED_EXPORTER, true, "device"};
	USE(90, 77000, 9000);
	cr_assert(history_add_run(h, now - HOUR, true));
	*history_kept(h) = (struct history_kept){2, {START, 400}, {START, 7168}, now, {300, 6144}};
}

Test(history_pack, R11_after_a_restart_it_is_the_same)
{
	CLEANUP(str_finish) struct str bytes = STR_INIT(HISTORY_BYTES_MAX);
	struct rng rng;
	rng_seed(&rng, 11);
	use_much(&rng);
	struct history *got = again(&bytes);
	expect_same(h, got);
	cr_expect_eq(history_kept(got)->memory_class, 2);
	cr_expect_eq(history_kept(got)->compute.high, 400);
	cr_expect_eq(history_kept(got)->memory.since_ms, START);
	cr_expect_eq(history_kept(got)->told_ms, now);
	cr_expect_eq(history_kept(got)->held.mib, 6144);
	cr_expect_eq(history_judge(got, &real_time, now, true).runs, 1);
	cr_expect_not(history_add_run(got, now - HOUR, false), "it was counted");
	cr_expect_lt(bytes.len, 3000, "%zu bytes", bytes.len);
	struct history_pool pool;
	history_pool(got, 99, now, &pool);
	cr_expect(pool.sized && pool.rest_mib == 16384, "it was learnt: %lld",
		(long long)pool.rest_mib);
	/* And it goes on as if nothing had been. */
	struct history *former = h;
	struct history_feed fed = feed;
	int64_t then = now;
	USE(300, 99000, 12000);
	int64_t end = now;
	h = got;
	feed = fed;
	now = then;
	USE(300, 99000, 12000);
	cr_expect_eq(now, end);
	expect_same(former, h);
	history_destroy(former);
}

Test(history_pack, nothing_comes_back_as_nothing)
{
	CLEANUP(str_finish) struct str bytes = STR_INIT(HISTORY_BYTES_MAX);
	struct history *got = again(&bytes);
	cr_expect_eq(history_compute(got, 98, now), -1);
	cr_expect_eq(history_judge(got, &real_time, now, true).state, HISTORY_NONE);
	history_destroy(got);
}

static void expect_refused(struct view bytes, int64_t at, const char *why)
{
	struct history *got = NULL;
	struct fault fault = {0};
	cr_expect_eq(history_unpack(bytes, at, &got, &fault), -1);
	cr_expect_eq(fault.kind, FAULT_INVALID);
	cr_expect_null(got);
	cr_expect_not_null(strstr(fault.message, why), "%s", fault.message);
}

Test(history_pack, R11_what_is_not_ours_is_refused)
{
	CLEANUP(str_finish) struct str bytes = STR_INIT(HISTORY_BYTES_MAX);
	CLEANUP(str_finish) struct str other = STR_INIT(HISTORY_BYTES_MAX);
	USE(90, 20000, 500);
	history_destroy(again(&bytes));
	struct view whole = {bytes.p, bytes.len};
	pack_u64(&other, HISTORY_VERSION + 1);
	str_append(&other, bytes.p + 1, bytes.len - 1);
	expect_refused((struct view){other.p, other.len}, now, "version 4, this program reads 3");
	expect_refused((struct view){"", 0}, now, "version 0");
	expect_refused(whole, now - HOUR, "of a time to come");
	for (size_t n = 1; n < bytes.len; n++) {
		expect_refused((struct view){bytes.p, n}, now, "cut short");
	}
	str_append_char(&bytes, '\0');
	expect_refused((struct view){bytes.p, bytes.len}, now, "bytes follow it");
	char *large = xcalloc(1, HISTORY_BYTES_MAX + 1);
	large[0] = HISTORY_VERSION;
	expect_refused((struct view){large, HISTORY_BYTES_MAX + 1}, now, "at most");
	free(large);
}

/* The version before it knew no pool, but how full one of unknown size was. It is read, and what
 * has no pool is still written like that. */
Test(history_pack, R11_the_version_before_is_read)
{
	CLEANUP(str_finish) struct str bytes = STR_INIT(HISTORY_BYTES_MAX);
	CLEANUP(str_finish) struct str plain = STR_INIT(HISTORY_BYTES_MAX);
	struct history *got = NULL;
	struct history_pool pool;
	USE(90, 20000, 500);
	history_destroy(again(&bytes));
	cr_expect_eq(bytes.p[0], HISTORY_VERSION_PLAIN);
	cr_expect_eq(bytes.p[bytes.len - 1], 0);
	str_append(&plain, bytes.p, bytes.len - 1);
	pack_u64(&plain, 1);
	struct levels full;
	levels_init(&full, 86400, 604800);
	levels_add(&full, 19, now);
	levels_pack(&full, &plain);
	levels_finish(&full);
	struct view view = {plain.p, plain.len};
	cr_assert_eq(history_unpack(view, now, &got, NULL), 0);
	expect_same(h, got);
	history_pool(got, 99, now, &pool);
	cr_expect(!pool.told);
	history_destroy(got);
	take_pool(1000, 5000, METERED_ABSENT);
	str_reset(&bytes);
	got = again(&bytes);
	cr_expect_eq(bytes.p[0], HISTORY_VERSION);
	history_pool(got, 99, now, &pool);
	cr_expect(pool.told && pool.counted && !pool.sized);
	history_destroy(got);
}

Test(history_pack, a_pool_of_a_time_to_come_is_refused)
{
	CLEANUP(str_finish) struct str bytes = STR_INIT(HISTORY_BYTES_MAX);
	USE(90, 20000, 500);
	now += HOUR;
	take_pool(1000, 5000, METERED_ABSENT);
	cr_assert(history_pack(h, &bytes));
	expect_refused((struct view){bytes.p, bytes.len}, now - HOUR, "of a time to come");
}

/* Any byte replaced: refused, or read as something that can be used. */
Test(history_pack, a_byte_that_changed_breaks_nothing)
{
	CLEANUP(str_finish) struct str bytes = STR_INIT(HISTORY_BYTES_MAX);
	struct rng rng;
	rng_seed(&rng, 7);
	USE(200, 20000, 500);
	take_pool(1000, 5000, (int64_t)1 << 31);
	history_destroy(again(&bytes));
	for (size_t i = 0; i < bytes.len * 8; i++) {
		char *copy = xmemdup(bytes.p, bytes.len);
		struct history *got = NULL;
		copy[i / 8] = (char)rng_below(&rng, 256);
		if (history_unpack((struct view){copy, bytes.len}, now, &got, NULL) == 0) {
			struct history *former = h;
			int64_t then = now;
			h = got;
			history_fit(h, &real_time, now);
			USE(1, 50000, 600);
			cr_assert_geq(history_peak(h, now), 600);
			take_pool(1001, 5000, METERED_ABSENT);
			struct history_pool pool;
			history_pool(h, 99, now, &pool);
			cr_assert(pool.told && pool.rest_mib <= 2 * HISTORY_MIB_MAX);
			h = former;
			now = then;
			feed = (struct history_feed){0};
			history_destroy(got);
		}
		free(copy);
	}
}

/* As the version before wrote one of which nothing was told. */
Test(history_pack, one_of_before_runs_were_dated_is_read)
{
	CLEANUP(str_finish) struct str bytes = STR_INIT(HISTORY_BYTES_MAX);
	struct history *got = NULL;
	struct fault fault = {0};
	const int64_t rest[] = {START, 400, START, 7168, START};
	const uint64_t begin[] = {1, 604800, 86400, 3, 2}, end[] = {300, 6144, 0, 0, 0};
	for (size_t i = 0; i < 5; i++) {
		pack_u64(&bytes, begin[i]);
	}
	for (size_t i = 0; i < 5; i++) {
		pack_i64(&bytes, rest[i]);
	}
	for (size_t i = 0; i < 5; i++) {
		pack_u64(&bytes, end[i]);
	}
	struct view view = {bytes.p, bytes.len};
	cr_assert_eq(history_unpack(view, now, &got, &fault), 0, "%s", fault.message);
	cr_expect_eq(history_kept(got)->compute.high, 400);
	cr_expect_eq(history_kept(got)->held.mib, 6144);
	cr_expect_eq(history_judge(got, &real_time, now, false).runs, 3);
	history_destroy(got);
	bytes.p[0] = HISTORY_VERSION + 1;
	cr_expect_eq(history_unpack(view, now, &got, &fault), -1);
}
