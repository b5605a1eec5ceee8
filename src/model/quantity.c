/* The strict parser for amounts. Everything is exact: a value is digits times a power of ten or
 * two, held in 128 bits until it is known to fit. */
#include "model/quantity.h"

#include <stdio.h>

#include "model/names.h"

#define TEXT_MAX 64

/* Not in ISO C, but in every compiler we build with; only this file needs it. */
__extension__ typedef unsigned __int128 u128;

/* mantissa * 10^exp10 * 2^exp2 */
struct amount {
	bool negative;
	u128 mantissa;
	int exp10;
	int exp2;
	bool more; /* digits that are not zero follow those of the mantissa */
};

static const struct {
	const char *suffix;
	int exp10, exp2;
} suffixes[] = {
	{"", 0, 0},
	{"n", -9, 0},
	{"u", -6, 0},
	{"m", -3, 0},
	{"k", 3, 0},
	{"M", 6, 0},
	{"G", 9, 0},
	{"T", 12, 0},
	{"P", 15, 0},
	{"E", 18, 0},
	{"Ki", 0, 10},
	{"Mi", 0, 20},
	{"Gi", 0, 30},
	{"Ti", 0, 40},
	{"Pi", 0, 50},
	{"Ei", 0, 60},
};

static int not_a_quantity(struct fault *f, struct view text, const char *why)
{
	return fault_set(f, FAULT_INVALID, "\"%.*s\" is not a quantity: %s",
		(int)(text.n > TEXT_MAX ? TEXT_MAX : text.n), text.n > 0 ? text.p : "", why);
}

/* Digits with at most one point. Returns how many characters were taken, 0 if there was no digit.
 */
static size_t scan_digits(struct view v, struct amount *a)
{
	size_t i = 0, digits = 0;
	bool point = false;
	for (; i < v.n; i++) {
		if (v.p[i] == '.' && !point) {
			point = true;
			continue;
		}
		if (v.p[i] < '0' || v.p[i] > '9') {
			break;
		}
		digits++;
		/* 30 digits always fit 128 bits; what follows a run of zeros still counts. */
		if (a->mantissa < (u128)1000000000000000u * 100000000000000u) {
			a->mantissa = a->mantissa * 10 + (unsigned)(v.p[i] - '0');
			a->exp10 -= point ? 1 : 0;
		} else {
			a->exp10 += point ? 0 : 1;
			a->more = a->more || v.p[i] != '0';
		}
	}
	return digits > 0 ? i : 0;
}

static bool take_suffix(struct view v, struct amount *a)
{
	for (size_t i = 0; i < COUNT_OF(suffixes); i++) {
		if (view_equals(v, suffixes[i].suffix)) {
			a->exp10 += suffixes[i].exp10;
			a->exp2 += suffixes[i].exp2;
			return true;
		}
	}
	int64_t e;
	struct view digits = {v.p + 1, v.n - 1};
	if (v.n < 2 || (v.p[0] != 'e' && v.p[0] != 'E')) {
		return false;
	}
	if (digits.n > 1 && digits.p[0] == '+') {
		digits = (struct view){digits.p + 1, digits.n - 1};
		if (digits.p[0] == '-') {
			return false;
		}
	}
	if (!parse_i64(digits, -60, 60, &e)) {
		return false;
	}
	a->exp10 += (int)e;
	return true;
}

static int amount_parse(struct view text, struct amount *ret, struct fault *f)
{
	struct amount a = {0};
	struct view v = text;
	if (v.n == 0) {
		return not_a_quantity(f, text, "it is empty");
	}
	if (v.n > TEXT_MAX) {
		return not_a_quantity(f, text, "it is longer than 64 characters");
	}
	if (v.p[0] == '+' || v.p[0] == '-') {
		a.negative = v.p[0] == '-';
		v = (struct view){v.p + 1, v.n - 1};
	}
	size_t taken = scan_digits(v, &a);
	if (taken == 0) {
		return not_a_quantity(f, text,
			"it does not begin with a number (write for example 0.25, 250m or 8Gi)");
	}
	if (!take_suffix((struct view){v.p + taken, v.n - taken}, &a)) {
		return not_a_quantity(f, text,
			"what follows the number is no unit (write for example m, k, M, Mi, Gi)");
	}
	*ret = a;
	return 0;
}

/* Multiplies by 10^exp10 * 2^exp2, rounding up; false if it does not fit int64. `exact` tells
 * whether rounding was needed. */
static bool amount_scale(struct amount a, int64_t *ret, bool *ret_exact)
{
	/* Whatever follows 30 digits, the next higher number is where rounding up ends. */
	u128 x = a.mantissa + (a.more ? 1 : 0);
	bool exact = !a.more;
	const u128 most = (u128)INT64_MAX;
	/* Dividing by ten first could lose what a power of two would have kept: multiply first, in
	 * 128 bits. */
	for (; a.exp2 > 0 && x != 0; a.exp2--) {
		if (x > ((u128)1 << 126)) {
			return false;
		}
		x *= 2;
	}
	for (; a.exp10 > 0 && x != 0; a.exp10--) {
		if (x > most) {
			return false;
		}
		x *= 10;
	}
	for (; a.exp10 < 0 && x != 0; a.exp10++) {
		exact = exact && x % 10 == 0;
		/* A ceiling at every step equals one ceiling at the end. */
		x = (x + 9) / 10;
	}
	if (x > most) {
		return false;
	}
	*ret = a.negative ? -(int64_t)x : (int64_t)x;
	*ret_exact = exact;
	return true;
}

static int parse_scaled(struct view text, int exp10, int64_t *ret, bool *ret_exact, struct fault *f)
{
	struct amount a = {0};
	if (amount_parse(text, &a, f) < 0) {
		return -1;
	}
	a.exp10 += exp10;
	if (!amount_scale(a, ret, ret_exact)) {
		return not_a_quantity(f, text, "it is out of range");
	}
	return 0;
}

int quantity_milli(struct view text, int64_t *ret_milli, struct fault *ret_fault)
{
	bool exact;
	return parse_scaled(text, 3, ret_milli, &exact, ret_fault);
}

int quantity_units(struct view text, int64_t *ret_units, struct fault *ret_fault)
{
	bool exact;
	return parse_scaled(text, 0, ret_units, &exact, ret_fault);
}

bool quantity_is_whole(struct view text)
{
	int64_t units;
	bool exact = false;
	return parse_scaled(text, 0, &units, &exact, NULL) == 0 && exact;
}

int share_parse(struct view text, int64_t *ret_milli, struct fault *ret_fault)
{
	int64_t milli = 0;
	bool exact = true;
	if (parse_scaled(text, 3, &milli, &exact, ret_fault) < 0) {
		return -1;
	}
	if (!exact) {
		return not_a_quantity(ret_fault, text,
			"a share has at most three digits after the point (0.001 is the smallest)");
	}
	if (milli < 1 || milli > MODEL_GPU_MILLI) {
		return not_a_quantity(ret_fault, text,
			"a share is more than 0 and at most 1 (write for example 0.25)");
	}
	*ret_milli = milli;
	return 0;
}

int memory_parse(struct view text, int64_t *ret_mib, struct fault *ret_fault)
{
	int64_t bytes = 0;
	if (quantity_units(text, &bytes, ret_fault) < 0) {
		return -1;
	}
	int64_t mib = bytes / (1024 * 1024);
	if (bytes < 0 || mib < 1 || mib > 1024LL * 1024 * 1024) {
		return not_a_quantity(ret_fault, text,
			"GPU memory is at least 1Mi and at most 1Pi (write for example 8Gi)");
	}
	*ret_mib = mib;
	return 0;
}

int count_parse(struct view text, int64_t *ret_count, struct fault *ret_fault)
{
	if (!parse_i64(text, 1, MODEL_GPU_COUNT_MAX, ret_count)) {
		return not_a_quantity(
			ret_fault, text, "a number of GPUs is a whole number from 1 to 16");
	}
	return 0;
}

const char *share_format(int64_t milli, char buffer[QUANTITY_TEXT_MAX])
{
	int n = snprintf(buffer, QUANTITY_TEXT_MAX, "%lld.%03lld", (long long)(milli / 1000),
		(long long)(milli % 1000));
	/* At least two digits stay, as in 0.30; a whole number loses its point. */
	if (milli % 1000 == 0) {
		buffer[n - 4] = '\0';
	} else if (buffer[n - 1] == '0') {
		buffer[n - 1] = '\0';
	}
	return buffer;
}

const char *memory_format(int64_t mib, char buffer[QUANTITY_TEXT_MAX])
{
	bool whole = mib % 1024 == 0 && mib > 0;
	snprintf(buffer, QUANTITY_TEXT_MAX, "%lld%s", (long long)(whole ? mib / 1024 : mib),
		whole ? "Gi" : "Mi");
	return buffer;
}
