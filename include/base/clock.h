/* Time as a port. The core takes `now` as an argument; the edges read it here, so that the
 * simulator and the tests can own it. Three clocks, never mixed: monotonic  deadlines, back-off,
 * leases (milliseconds since an arbitrary start) wall       certificates and timestamps that other
 * programs read (milliseconds since 1970) policy     history, budgets, windows (milliseconds since
 * 1970); wall time unless a test sets it */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>

#include "base/cleanup.h"
#include <stdbool.h>

struct clock {
	int64_t (*mono_ms)(const struct clock *c);
	int64_t (*wall_ms)(const struct clock *c);
	int64_t policy_offset_ms; /* zero in production */
};

extern const struct clock clock_system;

static inline int64_t clock_mono(const struct clock *c)
{
	return c->mono_ms(c);
}
static inline int64_t clock_wall(const struct clock *c)
{
	return c->wall_ms(c);
}
static inline int64_t clock_policy(const struct clock *c)
{
	return c->wall_ms(c) + c->policy_offset_ms;
}
int64_t clock_mono_us(void); /* for measuring only */

/* RFC 3339 with optional fraction and offset ("2026-11-21T10:00:00.123456Z"), to and from
 * milliseconds since 1970. */
MUST_CHECK bool time_parse(const char *text, int64_t *ret_ms);
#define TIME_TEXT_MAX 32
const char *time_format(int64_t ms, char buffer[TIME_TEXT_MAX]);       /* seconds: metav1.Time */
const char *time_format_micro(int64_t ms, char buffer[TIME_TEXT_MAX]); /* metav1.MicroTime */

/* Never is later than everything. */
#define TIME_NEVER INT64_MAX
static inline int64_t time_min(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* Capped exponential back-off with jitter. Reset by zeroing `attempt`. */
struct rng;
struct backoff {
	int64_t first_ms, cap_ms;
	int attempt;
};
int64_t backoff_next(
	struct backoff *b, struct rng *r); /* delay in [d/2, d], d doubling up to cap */

#endif
