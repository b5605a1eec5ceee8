/* The system's clocks, RFC 3339, and back-off. */
#include "base/clock.h"

#include "base/rand.h"
#include "base/str.h"

static int64_t read_clock(clockid_t id, int64_t per_second)
{
	struct timespec t;
	clock_gettime(id, &t);
	return (int64_t)t.tv_sec * per_second + (int64_t)t.tv_nsec / (1000000000 / per_second);
}

static int64_t system_mono(const struct clock *c)
{
	(void)c;
	return read_clock(CLOCK_MONOTONIC, 1000);
}

static int64_t system_wall(const struct clock *c)
{
	(void)c;
	return read_clock(CLOCK_REALTIME, 1000);
}

const struct clock clock_system = {.mono_ms = system_mono, .wall_ms = system_wall};

int64_t clock_mono_us(void)
{
	return read_clock(CLOCK_MONOTONIC, 1000000);
}

/* Exactly `n` digits at *p, within [min, max]. */
static bool parse_digits(const char **p, size_t n, int min, int max, int *ret)
{
	int value = 0;
	for (size_t i = 0; i < n; i++) {
		if ((*p)[i] < '0' || (*p)[i] > '9') {
			return false;
		}
		value = value * 10 + ((*p)[i] - '0');
	}
	*p += n;
	*ret = value;
	return value >= min && value <= max;
}

static bool take_char(const char **p, char c)
{
	return **p == c ? ((*p)++, true) : false;
}

static bool take_date(const char **p, struct tm *t)
{
	return parse_digits(p, 4, 1970, 9999, &t->tm_year) && take_char(p, '-') &&
	       parse_digits(p, 2, 1, 12, &t->tm_mon) && take_char(p, '-') &&
	       parse_digits(p, 2, 1, 31, &t->tm_mday) && (take_char(p, 'T') || take_char(p, 't')) &&
	       parse_digits(p, 2, 0, 23, &t->tm_hour) && take_char(p, ':') &&
	       parse_digits(p, 2, 0, 59, &t->tm_min) && take_char(p, ':') &&
	       parse_digits(p, 2, 0, 60, &t->tm_sec);
}

static bool take_fraction(const char **p, int *ret_ms)
{
	*ret_ms = 0;
	if (!take_char(p, '.')) {
		return true;
	}
	int scale = 100;
	size_t n = 0;
	while (**p >= '0' && **p <= '9' && n < 12) {
		*ret_ms += (**p - '0') * scale;
		scale /= 10;
		(*p)++;
		n++;
	}
	return n > 0;
}

static bool take_zone(const char **p, int *ret_minutes)
{
	*ret_minutes = 0;
	if (take_char(p, 'Z') || take_char(p, 'z')) {
		return true;
	}
	int sign = **p == '+' ? 1 : **p == '-' ? -1 : 0;
	int hours, minutes;
	if (sign == 0) {
		return false;
	}
	(*p)++;
	if (!parse_digits(p, 2, 0, 23, &hours) || !take_char(p, ':') ||
		!parse_digits(p, 2, 0, 59, &minutes)) {
		return false;
	}
	*ret_minutes = sign * (hours * 60 + minutes);
	return true;
}

bool time_parse(const char *text, int64_t *ret_ms)
{
	struct tm t = {0};
	int ms, zone;
	const char *p = text;
	if (text == NULL || !take_date(&p, &t) || !take_fraction(&p, &ms) ||
		!take_zone(&p, &zone) || *p != '\0') {
		return false;
	}
	t.tm_year -= 1900;
	t.tm_mon -= 1;
	*ret_ms = (int64_t)timegm(&t) * 1000 + ms - (int64_t)zone * 60000;
	return true;
}

const char *time_format(int64_t ms, char buffer[TIME_TEXT_MAX])
{
	time_t seconds = (time_t)(ms / 1000);
	struct tm t;
	gmtime_r(&seconds, &t);
	strftime(buffer, TIME_TEXT_MAX, "%Y-%m-%dT%H:%M:%SZ", &t);
	return buffer;
}

const char *time_format_micro(int64_t ms, char buffer[TIME_TEXT_MAX])
{
	char whole[TIME_TEXT_MAX];
	time_format(ms, whole);
	whole[strlen(whole) - 1] = '\0';
	snprintf(buffer, TIME_TEXT_MAX, "%.19s.%03d000Z", whole, (int)(ms % 1000));
	return buffer;
}

int64_t backoff_next(struct backoff *b, struct rng *r)
{
	int64_t delay = b->first_ms;
	for (int i = 0; i < b->attempt && delay < b->cap_ms; i++) {
		delay *= 2;
	}
	delay = time_min(delay, b->cap_ms);
	if (b->attempt < 62) {
		b->attempt++;
	}
	return delay / 2 + (int64_t)rng_below(r, (uint64_t)(delay / 2 + 1));
}
