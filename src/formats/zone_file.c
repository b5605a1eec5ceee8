/* The list of a zone file. It is there twice, with times of 32 and of 64 bits; the second counts.
 */
#include "formats/zone_file.h"

#include <string.h>

#include "base/alloc.h"
#include "zone_file.h"
#include "zone_rule.h"

#define HEADER 44
#define MAGIC  "TZif"

/* How many of what; each is checked against the bytes that are left before anything is read. */
struct counts {
	uint32_t isut, isstd, leap, time, type, chars;
};

static uint64_t big_endian(const char *p, int bytes)
{
	uint64_t value = 0;
	for (int i = 0; i < bytes; i++) {
		value = value << 8 | (unsigned char)p[i];
	}
	return value;
}

static int read_header(struct view *rest, struct counts *ret, struct fault *ret_fault)
{
	if (rest->n < HEADER || memcmp(rest->p, MAGIC, 4) != 0) {
		return fault_set(ret_fault, FAULT_INVALID, "no zone file");
	}
	if (rest->p[4] < '2') {
		return fault_set(ret_fault, FAULT_INVALID, "a zone file of the first version");
	}
	uint32_t *fields[] = {
		&ret->isut, &ret->isstd, &ret->leap, &ret->time, &ret->type, &ret->chars};
	for (size_t i = 0; i < COUNT_OF(fields); i++) {
		*fields[i] = (uint32_t)big_endian(rest->p + 20 + 4 * i, 4);
	}
	rest->p += HEADER;
	rest->n -= HEADER;
	return 0;
}

static int take_block(struct view *rest, const struct counts *c, uint64_t time_size,
	struct view *ret_block, struct fault *ret_fault)
{
	uint64_t size = c->time * (time_size + 1) + c->type * 6ULL + c->chars +
			c->leap * (time_size + 4) + c->isstd + c->isut;
	if (size > rest->n) {
		return fault_set(ret_fault, FAULT_INVALID, "a zone file that is cut off");
	}
	*ret_block = (struct view){rest->p, (size_t)size};
	rest->p += size;
	rest->n -= (size_t)size;
	return 0;
}

int zone_add(struct zone *z, int64_t at_s, int64_t offset_s, struct fault *ret_fault)
{
	if (offset_s > ZONE_OFFSET_MAX || offset_s < -ZONE_OFFSET_MAX) {
		return fault_set(ret_fault, FAULT_INVALID, "an offset of more than 26 hours");
	}
	if (at_s >= z->until_s) {
		return 0;
	}
	struct zone_shift *last = z->shift_count > 0 ? &z->shifts[z->shift_count - 1] : NULL;
	if (at_s <= z->from_s && last == NULL) {
		z->offset_s = (int32_t)offset_s;
		return 0;
	}
	if (last != NULL && at_s <= last->at_s) {
		if (at_s < last->at_s) {
			return fault_set(ret_fault, FAULT_INVALID, "times that do not rise");
		}
		last->offset_s = (int32_t)offset_s;
		return 0;
	}
	if (z->shift_count == ZONE_SHIFTS_MAX) {
		return fault_set(ret_fault, FAULT_LIMIT, "more than %d shifts", ZONE_SHIFTS_MAX);
	}
	z->shifts[z->shift_count++] = (struct zone_shift){at_s, (int32_t)offset_s};
	return 0;
}

static int64_t type_offset(const struct counts *c, struct view block, uint32_t type)
{
	const char *types = block.p + c->time * 9ULL;
	return (int32_t)big_endian(types + 6ULL * type, 4);
}

/* *ret_last_s is the time of the last one, INT64_MIN where there is none. */
static int read_list(const struct counts *c, struct view block, struct zone *z, int64_t *ret_last_s,
	struct fault *ret_fault)
{
	const char *indexes = block.p + c->time * 8ULL;
	int64_t last = INT64_MIN;
	if (zone_add(z, z->from_s, type_offset(c, block, 0), ret_fault) < 0) {
		return -1;
	}
	for (uint32_t i = 0; i < c->time; i++) {
		int64_t at = (int64_t)big_endian(block.p + 8ULL * i, 8);
		uint32_t type = (unsigned char)indexes[i];
		if (type >= c->type || (i > 0 && at <= last)) {
			return fault_set(ret_fault, FAULT_INVALID, "a list that is out of order");
		}
		last = at;
		if (zone_add(z, at, type_offset(c, block, type), ret_fault) < 0) {
			return -1;
		}
	}
	*ret_last_s = last;
	return 0;
}

static int read_footer(struct view rest, int64_t last_s, struct zone *z, struct fault *ret_fault)
{
	const char *end = rest.n > 1 ? memchr(rest.p + 1, '\n', rest.n - 1) : NULL;
	if (end == NULL || rest.p[0] != '\n') {
		return fault_set(ret_fault, FAULT_INVALID, "a zone file without its last line");
	}
	struct view rule = {rest.p + 1, (size_t)(end - rest.p - 1)};
	if (rule.n > 0) {
		return zone_rule_apply(rule, last_s, z, ret_fault);
	}
	if (last_s < z->until_s) {
		z->until_s = last_s > z->from_s ? last_s : z->from_s;
	}
	return 0;
}

int zone_decode(const char *p, size_t n, const struct zone_span *span, struct zone *ret_zone,
	struct fault *ret_fault)
{
	struct view rest = {p, n};
	struct view block = {NULL, 0};
	struct counts c;
	struct zone z = {.from_s = span->from_s, .until_s = span->until_s};
	int64_t last = INT64_MIN;
	ENSURE(span->from_s < span->until_s && span->until_s - span->from_s <= ZONE_SPAN_MAX);
	if (n > ZONE_FILE_MAX) {
		return fault_set(
			ret_fault, FAULT_LIMIT, "a zone file of more than %d bytes", ZONE_FILE_MAX);
	}
	if (read_header(&rest, &c, ret_fault) < 0 ||
		take_block(&rest, &c, 4, &block, ret_fault) < 0 ||
		read_header(&rest, &c, ret_fault) < 0 ||
		take_block(&rest, &c, 8, &block, ret_fault) < 0) {
		return -1;
	}
	if (c.leap > 0 || c.type == 0) {
		return fault_set(ret_fault, FAULT_INVALID,
			"a zone file without types of time, or with leap seconds");
	}
	if (read_list(&c, block, &z, &last, ret_fault) < 0 ||
		read_footer(rest, last, &z, ret_fault) < 0) {
		return -1;
	}
	*ret_zone = z;
	return 0;
}
