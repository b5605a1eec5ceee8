/* The C library's expressions, kept from costing more than they should. */
#include "regex.h"

#include <stdio.h>
#include <string.h>

#include "model/group.h"

/* What repetitions multiply to: {N} is unrolled when it is compiled, and `+` is two. */
#define COST_MAX	1024
#define REPETITIONS_MAX 24

static int64_t read_number(const char **c)
{
	int64_t number = 0;
	for (; **c >= '0' && **c <= '9'; (*c)++) {
		number = number <= COST_MAX ? number * 10 + (**c - '0') : number;
	}
	return number;
}

/* Of {LOW,HIGH}, past whose numbers it goes. */
static int64_t read_repeat(const char **c)
{
	(*c)++;
	int64_t low = read_number(c);
	int64_t high = 0;
	if (**c == ',') {
		(*c)++;
		high = read_number(c);
	}
	*c += **c == '}' ? 1 : 0;
	return low > high ? low : high;
}

/* Past a set such as []a-z[:digit:]]. */
static const char *after_set(const char *c)
{
	c += c[1] == '^' ? 2 : 1;
	c += *c == ']' ? 1 : 0;
	while (*c != '\0' && *c != ']') {
		const char *end = *c == '[' && c[1] == ':' ? strstr(c + 2, ":]") : NULL;
		c = end != NULL ? end + 2 : c + 1;
	}
	return *c == ']' ? c + 1 : c;
}

/* The next thing of an expression: how often it repeats what stood before it (0: it is no
 * repetition). */
static int64_t next_repeat(const char **c)
{
	switch (**c) {
	case '{':
		return read_repeat(c);
	case '+':
		(*c)++;
		return 2;
	case '*':
	case '?':
		(*c)++;
		return 1;
	case '[':
		*c = after_set(*c);
		return 0;
	case '\\':
		*c += (*c)[1] != '\0' ? 2 : 1;
		return 0;
	default:
		(*c)++;
		return 0;
	}
}

/* The C library takes memory and time that are exponential in repetitions of repetitions when it
 * compiles, and in the text where it is referred back. */
static int regex_check_cost(const char *text, struct fault *ret_fault)
{
	int64_t cost = 1;
	int repetitions = 0;
	bool repeated = false;
	for (const char *c = text; *c != '\0';) {
		if (*c == '\\' && c[1] >= '1' && c[1] <= '9') {
			return fault_set(
				ret_fault, FAULT_INVALID, "it refers back with \\%c", c[1]);
		}
		int64_t repeat = next_repeat(&c);
		if (repeat > 0 && repeated) {
			return fault_set(ret_fault, FAULT_INVALID,
				"it repeats a repetition: write parentheses or leave one out");
		}
		repeated = repeat > 0;
		repetitions += repeated ? 1 : 0;
		cost *= repeat > 1 ? repeat : 1;
		if (cost > COST_MAX || repetitions > REPETITIONS_MAX) {
			return fault_set(ret_fault, FAULT_INVALID,
				"it repeats more than can be computed: write fewer of + and {}");
		}
	}
	return 0;
}

int pattern_compile(struct pattern *p, const char *text, bool tail, struct fault *ret_fault)
{
	char whole[GROUP_REGEX_MAX + 8];
	char why[128];
	if (text == NULL) {
		return 0;
	}
	if (strlen(text) > GROUP_REGEX_MAX) {
		return fault_set(
			ret_fault, FAULT_INVALID, "it is longer than %d bytes", GROUP_REGEX_MAX);
	}
	if (regex_check_cost(text, ret_fault) < 0) {
		return -1;
	}
	snprintf(whole, sizeof whole, tail ? "(%s)$" : "%s", text);
	int code = regcomp(&p->compiled, whole, REG_EXTENDED);
	if (code != 0) {
		regerror(code, NULL, why, sizeof why);
		return fault_set(ret_fault, FAULT_INVALID, "%s", why);
	}
	p->present = true;
	return 0;
}

void pattern_finish(struct pattern *p)
{
	if (p->present) {
		regfree(&p->compiled);
	}
	p->present = false;
}

static struct view view_at(const char *text, const regmatch_t *m)
{
	if (m->rm_so < 0) {
		return (struct view){NULL, 0};
	}
	return (struct view){text + m->rm_so, (size_t)(m->rm_eo - m->rm_so)};
}

bool pattern_matches(
	const struct pattern *p, const char *text, struct view *ret_at, struct view *ret_first)
{
	regmatch_t at[2] = {{-1, -1}, {-1, -1}};
	if (p->present && (text == NULL || strlen(text) > REGEX_TEXT_MAX ||
				  regexec(&p->compiled, text, COUNT_OF(at), at, 0) != 0)) {
		return false;
	}
	if (ret_at != NULL) {
		*ret_at = view_at(text, &at[0]);
	}
	if (ret_first != NULL) {
		*ret_first = view_at(text, &at[1]);
	}
	return true;
}
