/* The rule at the end of a zone file, as in `CET-1CEST,M3.5.0,M10.5.0/3`: a name, its offset west
 * of Greenwich, and for summer time another name, its offset, and when it begins and ends each
 * year. */
#include "zone_rule.h"

#include "zone_file.h"

#define DAY_S	   86400
#define HOUR_S	   3600
#define HOURS_MAX  167
#define CHANGE_S   (2 * HOUR_S) /* where no time of day is written */
#define YEAR_S_MIN (365 * DAY_S)

enum rule_form { RULE_MONTH, RULE_JULIAN, RULE_DAY };

struct rule {
	enum rule_form form;
	int64_t month, week, day; /* MONTH; else `day` alone */
	int64_t time_s;
};

struct posix {
	int64_t std_s, dst_s; /* east */
	bool has_dst;
	struct rule begin, end;
};

/* --- reading --- */

static bool take_char(struct view *v, char c)
{
	if (v->n == 0 || *v->p != c) {
		return false;
	}
	v->p++;
	v->n--;
	return true;
}

static bool take_number(struct view *v, int64_t most, int64_t *ret)
{
	int64_t value = 0;
	size_t digits = 0;
	while (v->n > 0 && *v->p >= '0' && *v->p <= '9' && digits < 4) {
		value = value * 10 + (*v->p - '0');
		v->p++;
		v->n--;
		digits++;
	}
	*ret = value;
	return digits > 0 && value <= most;
}

/* [+-]hh[:mm[:ss]] */
static bool take_time(struct view *v, int64_t *ret_s)
{
	bool minus = take_char(v, '-');
	int64_t part[3] = {0};
	if (!minus) {
		(void)take_char(v, '+');
	}
	if (!take_number(v, HOURS_MAX, &part[0])) {
		return false;
	}
	for (int i = 1; i < 3 && take_char(v, ':'); i++) {
		if (!take_number(v, 59, &part[i])) {
			return false;
		}
	}
	*ret_s = part[0] * HOUR_S + part[1] * 60 + part[2];
	*ret_s = minus ? -*ret_s : *ret_s;
	return true;
}

static bool is_letter(char c)
{
	return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

static bool take_name(struct view *v)
{
	size_t n = 0;
	if (take_char(v, '<')) {
		while (v->n > 0 && *v->p != '>') {
			v->p++;
			v->n--;
		}
		return take_char(v, '>');
	}
	for (; v->n > 0 && is_letter(*v->p); n++) {
		v->p++;
		v->n--;
	}
	return n >= 3;
}

static bool take_rule(struct view *v, struct rule *ret)
{
	bool good;
	*ret = (struct rule){.time_s = CHANGE_S};
	if (take_char(v, 'M')) {
		ret->form = RULE_MONTH;
		good = take_number(v, 12, &ret->month) && ret->month > 0 && take_char(v, '.') &&
		       take_number(v, 5, &ret->week) && ret->week > 0 && take_char(v, '.') &&
		       take_number(v, 6, &ret->day);
	} else if (take_char(v, 'J')) {
		ret->form = RULE_JULIAN;
		good = take_number(v, 365, &ret->day) && ret->day > 0;
	} else {
		ret->form = RULE_DAY;
		good = take_number(v, 365, &ret->day);
	}
	return good && (!take_char(v, '/') || take_time(v, &ret->time_s));
}

static bool parse_posix(struct view v, struct posix *ret)
{
	*ret = (struct posix){0};
	if (!take_name(&v) || !take_time(&v, &ret->std_s)) {
		return false;
	}
	ret->std_s = -ret->std_s;
	if (v.n == 0) {
		return true;
	}
	ret->has_dst = true;
	ret->dst_s = ret->std_s + HOUR_S;
	if (!take_name(&v)) {
		return false;
	}
	if (v.n > 0 && *v.p != ',') {
		if (!take_time(&v, &ret->dst_s)) {
			return false;
		}
		ret->dst_s = -ret->dst_s;
	}
	return take_char(&v, ',') && take_rule(&v, &ret->begin) && take_char(&v, ',') &&
	       take_rule(&v, &ret->end) && v.n == 0;
}

/* --- working out --- */

static bool is_leap(int64_t year)
{
	return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

/* Days from 1970-01-01 to the first day of that year, in the proleptic calendar. */
static int64_t year_day(int64_t year)
{
	int64_t y = year - 1;
	return y * 365 + y / 4 - y / 100 + y / 400 - 719162;
}

static int64_t month_day(const struct rule *r, int64_t year)
{
	static const int lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	int64_t first = year_day(year);
	for (int64_t m = 1; m < r->month; m++) {
		first += lengths[m - 1] + (m == 2 && is_leap(year) ? 1 : 0);
	}
	int64_t length = lengths[r->month - 1] + (r->month == 2 && is_leap(year) ? 1 : 0);
	int64_t weekday = ((first + 4) % 7 + 7) % 7; /* 0 is Sunday */
	int64_t day = (r->day - weekday + 7) % 7 + (r->week - 1) * 7;
	while (day >= length) {
		day -= 7; /* the fifth is the last */
	}
	return first + day;
}

static int64_t rule_moment(const struct rule *r, int64_t year, int64_t offset_s)
{
	int64_t day = year_day(year) + r->day;
	if (r->form == RULE_MONTH) {
		day = month_day(r, year);
	} else if (r->form == RULE_JULIAN) {
		/* 29 February is never counted. */
		day += r->day >= 60 && is_leap(year) ? 0 : -1;
	}
	return day * DAY_S + r->time_s - offset_s;
}

struct pending {
	int64_t at_s, offset_s;
};

static int apply_year(const struct posix *x, int64_t year, int64_t after_s, struct zone *z,
	struct fault *ret_fault)
{
	struct pending two[2] = {{rule_moment(&x->begin, year, x->std_s), x->dst_s},
		{rule_moment(&x->end, year, x->dst_s), x->std_s}};
	int first = two[0].at_s <= two[1].at_s ? 0 : 1;
	for (int i = 0; i < 2; i++) {
		const struct pending *p = &two[first ^ i];
		if (p->at_s > after_s && zone_add(z, p->at_s, p->offset_s, ret_fault) < 0) {
			return -1;
		}
	}
	return 0;
}

int zone_rule_apply(struct view text, int64_t after_s, struct zone *z, struct fault *ret_fault)
{
	struct posix x;
	if (!parse_posix(text, &x)) {
		return fault_set(ret_fault, FAULT_INVALID, "a rule that cannot be read: %.*s",
			(int)(text.n < 64 ? text.n : 64), text.p);
	}
	if (!x.has_dst) {
		int64_t at = after_s > z->from_s ? after_s : z->from_s;
		return zone_add(z, at, x.std_s, ret_fault);
	}
	/* Two years early: what holds at the span's begin was said before it. */
	int64_t first = 1970 + z->from_s / YEAR_S_MIN - 2;
	int64_t last = 1970 + z->until_s / YEAR_S_MIN + 1;
	for (int64_t year = first; year <= last; year++) {
		if (apply_year(&x, year, after_s, z, ret_fault) < 0) {
			return -1;
		}
	}
	return 0;
}
