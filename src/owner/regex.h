/* POSIX extended regular expressions of people: compiled with limits. */
#ifndef OWNER_REGEX_H
#define OWNER_REGEX_H

#include <regex.h>
#include <stdbool.h>

#include "base/fault.h"
#include "base/str.h"

#define REGEX_TEXT_MAX 1024 /* bytes; a longer text matches nothing */

struct pattern {
	regex_t compiled;
	bool present; /* there is one, and it is compiled */
};

/* NULL is no pattern. `tail`: it must match up to the end. */
MUST_CHECK int pattern_compile(
	struct pattern *p, const char *text, bool tail, struct fault *ret_fault);
void pattern_finish(struct pattern *p);
/* An absent pattern matches every text, a NULL text matches an absent pattern alone. ret_at and
 * ret_first may be NULL: the whole match and its first parentheses; p NULL: they took no part. */
bool pattern_matches(
	const struct pattern *p, const char *text, struct view *ret_at, struct view *ret_first);

#endif
