/* The ground: limits hold, order is kept, nothing leaks. */
#include <criterion/criterion.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/fault.h"
#include "base/intern.h"
#include "base/map.h"
#include "base/metric.h"
#include "base/rand.h"
#include "base/str.h"
#include "base/vec.h"

Test(str, limit_is_kept_and_remembered)
{
	CLEANUP(str_finish) struct str s = STR_INIT(5);
	cr_assert(str_append_text(&s, "abc"));
	cr_assert_not(str_append_text(&s, "def"));
	cr_assert(s.overflow);
	cr_assert_str_eq(str_text(&s), "abc");
	cr_assert_not(str_append_text(&s, "d"), "an overflow stays until the reset");
	str_reset(&s);
	cr_assert(str_append_text(&s, "12345"));
	cr_assert_eq(s.len, 5);
}

Test(str, json_escapes_and_repairs_utf8)
{
	CLEANUP(str_finish) struct str s = STR_INIT(100);
	str_append_json(&s, "a\"\\\n\x01\xff\xc3\xa9", 8);
	cr_assert_str_eq(str_text(&s), "\"a\\\"\\\\\\n\\u0001\xef\xbf\xbd\xc3\xa9\"");
}

Test(str, numbers_are_strict)
{
	int64_t n = 7;
	const char *const bad[] = {"", "-", "+1", " 1", "1 ", "0x1", "1e3", "9223372036854775808",
		"99999999999999999999", "1.0"};
	for (size_t i = 0; i < COUNT_OF(bad); i++) {
		cr_assert_not(parse_i64(view_of(bad[i]), INT64_MIN, INT64_MAX, &n), "%s", bad[i]);
	}
	cr_assert_eq(n, 7);
	cr_assert(parse_i64(VIEW("-42"), -50, 0, &n) && n == -42);
	cr_assert(parse_i64(VIEW("9223372036854775807"), 0, INT64_MAX, &n) && n == INT64_MAX);
	cr_assert_not(parse_i64(VIEW("5"), 6, 9, &n));
}

Test(str, view_next_gives_every_part)
{
	struct view rest = VIEW("a,,b"), part;
	cr_assert(view_next(&rest, ',', &part) && view_equals(part, "a"));
	cr_assert(view_next(&rest, ',', &part) && view_equals(part, ""));
	cr_assert(view_next(&rest, ',', &part) && view_equals(part, "b"));
	cr_assert_not(view_next(&rest, ',', &part));
}

Test(fault, context_goes_in_front)
{
	struct fault f;
	cr_assert_eq(fault_set(&f, FAULT_CONFLICT, "409"), -1);
	fault_wrap(&f, "patch pod %s", "a/b");
	cr_assert_str_eq(f.message, "patch pod a/b: 409");
	cr_assert_eq(f.kind, FAULT_CONFLICT);
	cr_assert_eq(fault_set(NULL, FAULT_FATAL, "nobody listens"), -1);
}

struct bag {
	struct map index;
	uint64_t keys[3000];
};

static bool bag_same(const void *owner, uint32_t slot, const void *key)
{
	const struct bag *b = owner;
	return b->keys[slot] == *(const uint64_t *)key;
}

Test(map, agrees_with_a_plain_array_over_random_work)
{
	struct bag *b = xcalloc(1, sizeof *b);
	bool in[3000] = {0};
	map_init(&b->index, bag_same, b);
	struct rng r;
	rng_seed(&r, 42);
	for (uint32_t i = 0; i < 3000; i++) {
		/* Few distinct upper halves, so that collisions are the rule. */
		b->keys[i] = i;
	}
	for (int step = 0; step < 60000; step++) {
		uint32_t i = (uint32_t)rng_below(&r, 3000);
		uint64_t hash = (uint64_t)(i % 97) << 32;
		if (in[i]) {
			cr_assert_eq(map_find(&b->index, hash, &b->keys[i]), i);
			cr_assert(map_remove(&b->index, hash, i));
		} else {
			cr_assert_eq(map_find(&b->index, hash, &b->keys[i]), MAP_NONE);
			map_put(&b->index, hash, i);
		}
		in[i] = !in[i];
	}
	uint32_t count = 0;
	for (uint32_t i = 0; i < 3000; i++) {
		count += in[i];
		cr_assert_eq(
			map_find(&b->index, (uint64_t)(i % 97) << 32, &b->keys[i]) == i, in[i]);
	}
	cr_assert_eq(b->index.count, count);
	map_finish(&b->index);
	free(b);
}

/* Of the paper that describes SipHash, and of its reference implementation. */
Test(map, a_keyed_hash_is_the_one_that_was_analysed)
{
	static const struct {
		size_t n;
		uint64_t hash;
	} rows[] = {{0, 0x726fdb47dd0e0e31u}, {1, 0x74f839c593dc67fdu}, {8, 0x93f5f5799a932462u},
		{15, 0xa129ca6149be45e5u}};
	const uint64_t key[2] = {0x0706050403020100u, 0x0f0e0d0c0b0a0908u};
	unsigned char bytes[16];
	for (size_t i = 0; i < sizeof bytes; i++) {
		bytes[i] = (unsigned char)i;
	}
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		cr_expect_eq(hash_keyed(key, bytes, rows[i].n), rows[i].hash, "%zu", rows[i].n);
	}
}

Test(map, who_does_not_know_the_key_cannot_choose_the_hash)
{
	uint64_t before = key_text("name");
	cr_expect_eq(key_text("name"), before);
	cr_expect_neq(key_pair("a", "bc"), key_pair("ab", "c"));
	uint64_t same = hash_text("name");
	map_key_draw(1, 2);
	cr_expect_neq(key_text("name"), before);
	cr_expect_eq(hash_text("name"), same, "names are made of it");
	map_key_draw(0, 0);
	cr_expect_eq(key_text("name"), before);
}

Test(intern, one_copy_until_the_last_reference)
{
	struct intern *t = intern_create();
	const char *a = intern_add(t, "kube-system");
	char other[] = "kube-system";
	cr_assert_eq(intern_add(t, other), a);
	cr_assert_eq(intern_count(t), 1);
	intern_release(t, a);
	cr_assert_eq(intern_find(t, "kube-system"), a);
	intern_release(t, a);
	cr_assert_null(intern_find(t, "kube-system"));
	cr_assert_null(intern_add(t, NULL));
	intern_destroy(t);
}

Test(arena, gives_zeroed_memory_and_keeps_one_block)
{
	CLEANUP(arena_finish) struct arena a = {0};
	for (int i = 0; i < 1000; i++) {
		unsigned char *p = arena_alloc(&a, (size_t)i);
		for (int k = 0; k < i; k++) {
			cr_assert_eq(p[k], 0);
			p[k] = 0xff;
		}
	}
	cr_assert_str_eq(arena_printf(&a, "%s-%d", "x", 7), "x-7");
	arena_reset(&a);
	cr_assert_eq(a.used_bytes, 0);
	cr_assert_eq(((unsigned char *)arena_alloc(&a, 64))[63], 0);
}

Test(arena, wiping_leaves_nothing_to_read)
{
	CLEANUP(arena_finish) struct arena a = {0};
	char *key = arena_strdup(&a, "a private key");
	arena_wipe(&a);
	/* The first block is kept, so this memory is still the arena's. */
	for (size_t i = 0; i < sizeof "a private key"; i++) {
		cr_assert_eq(key[i], '\0');
	}
	cr_assert_eq(a.used_bytes, 0);
}

Test(clock, rfc3339_both_ways)
{
	int64_t ms = 0;
	char text[TIME_TEXT_MAX];
	cr_assert(time_parse("2026-11-21T10:00:00.123456Z", &ms));
	cr_assert_eq(ms, 1795255200123);
	cr_assert_str_eq(time_format(ms, text), "2026-11-21T10:00:00Z");
	cr_assert_str_eq(time_format_micro(ms, text), "2026-11-21T10:00:00.123000Z");
	cr_assert(time_parse("2026-11-21T12:00:00+02:00", &ms));
	cr_assert_eq(ms, 1795255200000);
	const char *const bad[] = {"", "2026-11-21", "2026-13-21T10:00:00Z", "2026-11-21T10:00:00",
		"2026-11-21T10:00:00.Z", "2026-11-21T10:00:00Zx", "junk"};
	for (size_t i = 0; i < COUNT_OF(bad); i++) {
		cr_assert_not(time_parse(bad[i], &ms), "%s", bad[i]);
	}
}

Test(clock, backoff_doubles_to_its_cap_and_jitters_within_half)
{
	struct rng r;
	rng_seed(&r, 1);
	struct backoff b = {.first_ms = 800, .cap_ms = 30000};
	int64_t full[] = {800, 1600, 3200, 6400, 12800, 25600, 30000, 30000};
	for (size_t i = 0; i < COUNT_OF(full); i++) {
		int64_t d = backoff_next(&b, &r);
		cr_assert(d >= full[i] / 2 && d <= full[i], "%zu: %lld", i, (long long)d);
	}
}

Test(metric, same_labels_same_series_and_text_format)
{
	struct metric_registry *r = metric_registry_create();
	CLEANUP(str_finish) struct str labels = STR_INIT(200);
	metric_label(&labels, "reason", "a\"b\\c\nd");
	struct metric *m = metric_get(r, METRIC_COUNTER, "x_total", "Things.", str_text(&labels));
	metric_add(m, 3);
	cr_assert_eq(metric_get(r, METRIC_COUNTER, "x_total", "Things.", str_text(&labels)), m);
	metric_observe_us(metric_get(r, METRIC_HISTOGRAM, "x_seconds", "Time.", NULL), 700);
	CLEANUP(str_finish) struct str out = STR_INIT(1 << 20);
	metric_write(r, &out);
	cr_assert(strstr(str_text(&out), "x_total{reason=\"a\\\"b\\\\c\\nd\"} 3\n") != NULL);
	cr_assert(strstr(str_text(&out), "x_seconds_bucket{le=\"0.0005\"} 0\n") != NULL);
	cr_assert(strstr(str_text(&out), "x_seconds_bucket{le=\"0.001\"} 1\n") != NULL);
	cr_assert(strstr(str_text(&out), "x_seconds_count 1\n") != NULL);
	metric_registry_destroy(r);
}

Test(metric, series_are_bounded)
{
	struct metric_registry *r = metric_registry_create();
	char labels[40];
	for (int i = 0; i < METRIC_SERIES_MAX + 50; i++) {
		snprintf(labels, sizeof labels, "n=\"%d\"", i);
		metric_add(metric_get(r, METRIC_COUNTER, "y_total", "Y.", labels), 1);
	}
	struct metric *rest = metric_get(r, METRIC_COUNTER, "y_total", "Y.", "overflow=\"true\"");
	cr_assert_eq(metric_value(rest), 50);
	metric_registry_destroy(r);
}
