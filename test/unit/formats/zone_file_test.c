/* Zone files. The bytes are made here, so that no test depends on the machine's. */
#include "formats/zone_file.h"

#include <criterion/criterion.h>
#include <string.h>

#include "base/clock.h"
#include "base/str.h"

struct file {
	char bytes[2048];
	size_t n;
};

static void put(struct file *f, uint64_t value, int bytes)
{
	for (int i = bytes - 1; i >= 0; i--) {
		f->bytes[f->n++] = (char)(value >> (8 * i));
	}
}

static void header(struct file *f, char version, uint32_t times, uint32_t types)
{
	memcpy(f->bytes + f->n, "TZif", 4);
	f->bytes[f->n + 4] = version;
	memset(f->bytes + f->n + 5, 0, 15);
	f->n += 20;
	for (int i = 0; i < 3; i++) {
		put(f, 0, 4);
	}
	put(f, times, 4);
	put(f, types, 4);
	put(f, 4, 4);
}

/* One shift, from an offset to another. */
static void make(struct file *f, int64_t at, int32_t before, int32_t after, const char *rule)
{
	*f = (struct file){0};
	header(f, '2', 0, 1);
	put(f, 0, 6);
	put(f, 0, 4);
	header(f, '2', 1, 2);
	put(f, (uint64_t)at, 8);
	put(f, 1, 1);
	put(f, (uint32_t)before, 4);
	put(f, 0, 2);
	put(f, (uint32_t)after, 4);
	put(f, 0, 2);
	put(f, 0, 4);
	f->bytes[f->n++] = '\n';
	memcpy(f->bytes + f->n, rule, strlen(rule));
	f->n += strlen(rule);
	f->bytes[f->n++] = '\n';
}

static int64_t at(const char *text)
{
	int64_t ms = 0;
	cr_assert(time_parse(text, &ms));
	return ms / 1000;
}

static int decode(const struct file *f, struct zone *z, struct fault *fault)
{
	struct zone_span span = {at("2025-06-01T00:00:00Z"), at("2045-01-01T00:00:00Z")};
	return zone_decode(f->bytes, f->n, &span, z, fault);
}

static int32_t offset_at(const struct zone *z, const char *when)
{
	int32_t offset = -1;
	cr_assert(zone_offset(z, at(when), &offset), "%s", when);
	return offset;
}

Test(zone, a_rule_goes_on_where_the_list_ends)
{
	static const struct {
		const char *rule, *when;
		int32_t offset;
	} rows[] = {
		{"CET-1CEST,M3.5.0,M10.5.0/3", "2025-06-01T00:00:00Z", 7200},
		{"CET-1CEST,M3.5.0,M10.5.0/3", "2026-03-29T00:59:59Z", 3600},
		{"CET-1CEST,M3.5.0,M10.5.0/3", "2026-03-29T01:00:00Z", 7200},
		{"CET-1CEST,M3.5.0,M10.5.0/3", "2026-10-25T00:59:59Z", 7200},
		{"CET-1CEST,M3.5.0,M10.5.0/3", "2026-10-25T01:00:00Z", 3600},
		{"CET-1CEST,M3.5.0,M10.5.0/3", "2044-03-27T01:00:00Z", 7200},
		{"EST5EDT,M3.2.0,M11.1.0", "2026-03-08T06:59:59Z", -18000},
		{"EST5EDT,M3.2.0,M11.1.0", "2026-03-08T07:00:00Z", -14400},
		{"EST5EDT,M3.2.0,M11.1.0", "2026-11-01T06:00:00Z", -18000},
		{"<+1030>-10:30<+11>-11,M10.1.0,M4.1.0", "2026-01-01T00:00:00Z", 39600},
		{"<+1030>-10:30<+11>-11,M10.1.0,M4.1.0", "2026-07-01T00:00:00Z", 37800},
		{"IST-5:30", "2026-07-01T00:00:00Z", 19800},
		{"XXX3EDT4,J60/0,J61/0", "2028-03-01T02:59:59Z", -10800},
		{"XXX3EDT2,J60/0,J61/0", "2028-03-01T03:00:00Z", -7200},
		{"XXX3EDT2,59/0,60/0", "2028-02-29T03:00:00Z", -7200},
		{"<-02>2<-01>,M3.5.0/-1,M10.5.0/0", "2026-03-29T00:59:59Z", -7200},
		{"<-02>2<-01>,M3.5.0/-1,M10.5.0/0", "2026-03-29T01:00:00Z", -3600},
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct file f;
		struct zone z;
		struct fault fault = {0};
		make(&f, 0, 100, 200, rows[i].rule);
		cr_assert_eq(decode(&f, &z, &fault), 0, "row %zu: %s", i, fault.message);
		cr_expect_eq(offset_at(&z, rows[i].when), rows[i].offset, "row %zu: %d", i,
			offset_at(&z, rows[i].when));
	}
}

Test(zone, the_list_counts_up_to_its_end)
{
	struct file f;
	struct zone z;
	struct fault fault = {0};
	make(&f, at("2026-01-01T00:00:00Z"), 100, 200, "AAA-1");
	cr_assert_eq(decode(&f, &z, &fault), 0);
	cr_expect_eq(offset_at(&z, "2025-12-31T23:59:59Z"), 100);
	cr_expect_eq(offset_at(&z, "2026-01-01T00:00:00Z"), 3600, "the rule's");
	/* Without a rule nothing is known afterwards. */
	make(&f, at("2026-01-01T00:00:00Z"), 100, 200, "");
	cr_assert_eq(decode(&f, &z, &fault), 0);
	cr_expect_eq(offset_at(&z, "2025-12-31T23:59:59Z"), 100);
	int32_t offset;
	cr_expect_not(zone_offset(&z, at("2026-01-01T00:00:00Z"), &offset));
}

Test(zone, what_is_no_zone_file_is_refused)
{
	static const char *const rules[] = {"CET", "CET-1CEST", "CET-1CEST,M3.5.0", "CET-168",
		"CET-1CEST,M13.5.0,M10.5.0", "CET-1CEST,M3.6.0,M10.5.0", "CET-1CEST,J0,J1",
		"CET-1CEST,M3.5.0,M10.5.0/3x", "<CET-1", "-1", "CET-1:60", "CET-30"};
	struct file f;
	struct zone z = {.shift_count = 77};
	struct fault fault = {0};
	for (size_t i = 0; i < COUNT_OF(rules); i++) {
		make(&f, 0, 100, 200, rules[i]);
		cr_expect_eq(decode(&f, &z, &fault), -1, "%s", rules[i]);
		cr_expect_eq(fault.kind, FAULT_INVALID);
	}
	make(&f, 0, 100, 200, "IST-5:30");
	for (size_t n = 0; n < f.n; n++) {
		struct file cut = f;
		cut.n = n;
		cr_expect_eq(decode(&cut, &z, &fault), -1, "%zu bytes", n);
	}
	make(&f, 0, 100, 100000, "IST-5:30");
	cr_expect_eq(decode(&f, &z, &fault), -1, "27 hours");
	f = (struct file){0};
	header(&f, 0, 0, 1);
	cr_expect_eq(decode(&f, &z, &fault), -1, "the first version");
	cr_expect_eq(z.shift_count, 77, "untouched");
}
