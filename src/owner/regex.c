/* The C library's expressions, kept from costing more than they should. */
#include "regex.h"

#include <stdio.h>
#include <string.h>

#include "model/group.h"

/* What repetitions multiply to: each is unrolled when it is compiled. */
#define REPEAT_MAX 1000

static int64_t read_number(const char **c)
{
	int64_t number = 0;
	for (; **c >= '0' && **c <= '9'; (*c)++) {
		number = number <= REPEAT_MAX ? number * 10 + (**c - '0') : number;
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
	return low > high ? low : high;
}

/* A back-reference takes time that is exponential in the text, nested repetitions take memory that
 * is exponential in the expression. */
static int check_cost(const char *text, struct fault *ret_fault)
{
	int64_t repeats = 1;
	for (const char *c = text; *c != '\0';) {
		if (*c == '\\' && c[1] >= '1' && c[1] <= '9') {
			return fault_set(
				ret_fault, FAULT_INVALID, "it refers back with \\%c", c[1]);
		}
		if (*c == '\\' && c[1] != '\0') {
			c += 2;
			continue;
		}
		if (*c != '{') {
			c++;
			continue;
		}
		int64_t repeat = read_repeat(&c);
		repeats *= repeat > 1 ? repeat : 1;
		if (repeats > REPEAT_MAX) {
			return fault_set(ret_fault, FAULT_INVALID,
				"it repeats more than %d times in all", REPEAT_MAX);
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
	if (check_cost(text, ret_fault) < 0) {
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
