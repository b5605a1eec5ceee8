/* Quantities: what is read equals what an evaluation by long multiplication says, rounding, range
 * and refusal included; a share and a memory read back as they were written. */
#include <stdint.h>
#include <string.h>

#include "base/alloc.h"
#include "model/quantity.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Not in ISO C, but in every compiler we build with. */
__extension__ typedef __int128 wide;

/* More digits than this are beyond the evaluation here, though not beyond the parser. */
#define DIGITS_MAX 18
#define WIDE_MAX   ((wide)1 << 110)

struct parts {
	bool negative;
	wide digits; /* all of them, as if there were no point */
	int after_point;
	size_t digit_count;
	const char *suffix;
	size_t suffix_n;
};

static bool split(struct view v, struct parts *ret)
{
	struct parts p = {0};
	size_t i = 0;
	bool point = false;
	if (i < v.n && (v.p[i] == '+' || v.p[i] == '-')) {
		p.negative = v.p[i++] == '-';
	}
	for (; i < v.n && ((v.p[i] >= '0' && v.p[i] <= '9') || (v.p[i] == '.' && !point)); i++) {
		if (v.p[i] == '.') {
			point = true;
			continue;
		}
		p.digit_count++;
		if (p.digit_count > DIGITS_MAX) {
			return false;
		}
		p.digits = p.digits * 10 + (v.p[i] - '0');
		p.after_point += point ? 1 : 0;
	}
	p.suffix = v.p + i;
	p.suffix_n = v.n - i;
	*ret = p;
	return p.digit_count > 0;
}

/* The suffix as base to the power of ret_power. */
static bool power_of(const struct parts *p, int *ret_base, int *ret_power)
{
	static const char small[] = "num", large[] = "kMGTPE", binary[] = "KMGTPE";
	const char *s = p->suffix;
	*ret_base = 10;
	*ret_power = 0;
	if (p->suffix_n == 0) {
		return true;
	}
	const char *at = p->suffix_n == 1 ? strchr(small, s[0]) : NULL;
	if (at != NULL && s[0] != '\0') {
		*ret_power = -9 + 3 * (int)(at - small);
		return true;
	}
	at = p->suffix_n == 1 ? strchr(large, s[0]) : NULL;
	if (at != NULL && s[0] != '\0') {
		*ret_power = 3 + 3 * (int)(at - large);
		return true;
	}
	at = p->suffix_n == 2 && s[1] == 'i' ? strchr(binary, s[0]) : NULL;
	if (at != NULL && s[0] != '\0') {
		*ret_base = 1024;
		*ret_power = 1 + (int)(at - binary);
		return true;
	}
	return false;
}

/* digits * base^power / 10^after_point * scale, rounded up. False: this evaluation cannot tell. */
static bool evaluate(const struct parts *p, int scale, wide *ret)
{
	int base = 10, power = 0;
	wide up = p->digits * scale, down = 1;
	if (!power_of(p, &base, &power)) {
		return false;
	}
	for (; power > 0; power--) {
		up *= base;
		if (up > WIDE_MAX) {
			return false;
		}
	}
	for (int n = p->after_point - power; n > 0; n--) {
		down *= 10;
	}
	up = p->negative ? -up : up;
	/* Kubernetes rounds away from zero. */
	wide rest = up % down;
	*ret = up / down + (rest > 0 ? 1 : rest < 0 ? -1 : 0);
	return true;
}

typedef int (*parser)(struct view text, int64_t *ret, struct fault *f);

static void compare(struct view v, int scale, parser parse)
{
	struct parts p;
	wide expected = 0;
	int64_t got = -77;
	struct fault f = {0};
	int rc = parse(v, &got, &f);
	if (rc < 0) {
		ENSURE(got == -77 && f.kind == FAULT_INVALID && f.message[0] != '\0');
	}
	if (!split(v, &p) || !evaluate(&p, scale, &expected)) {
		return;
	}
	/* The least of all is refused: its amount does not fit. */
	bool fits = expected > INT64_MIN && expected <= INT64_MAX;
	ENSURE(rc < 0 || (fits && got == (int64_t)expected));
	ENSURE(rc == 0 || !fits || v.n > 64);
}

static void there_and_back(struct view v)
{
	char buffer[QUANTITY_TEXT_MAX];
	int64_t value = 0, again = 0;
	if (share_parse(v, &value, NULL) == 0) {
		ENSURE(value >= 1 && value <= 1000);
		ENSURE(share_parse(view_of(share_format(value, buffer)), &again, NULL) == 0);
		ENSURE(again == value);
	}
	if (memory_parse(v, &value, NULL) == 0) {
		ENSURE(value >= 1 && value <= (int64_t)1 << 30);
		ENSURE(memory_parse(view_of(memory_format(value, buffer)), &again, NULL) == 0);
		ENSURE(again == value);
	}
	if (count_parse(v, &value, NULL) == 0) {
		ENSURE(value >= 1);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct view v = {(const char *)data, size};
	compare(v, 1000, quantity_milli);
	compare(v, 1, quantity_units);
	there_and_back(v);
	return 0;
}
