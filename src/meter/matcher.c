/* A person writes these into the configuration, and they end up in a query: so they are read as
 * strictly as PromQL would, and a mistake is told at the start instead of as a query that fails. */
#include "meter/matcher.h"

#include "base/fault.h"
#include "base/str.h"

#define TEXT_MAX     1024
#define MATCHERS_MAX 8

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"
#define DIGITS	"0123456789"
#define BLANKS	" \t"

static const char *skip_matcher_blanks(const char *p)
{
	return p + strspn(p, BLANKS);
}

/* By these pods and series are asked for, so another one beside them would mean nobody. */
static bool is_reserved_label(struct view name)
{
	static const char *const ours[] = {
		"__name__", "namespace", "pod", "exported_namespace", "exported_pod"};
	for (size_t i = 0; i < COUNT_OF(ours); i++) {
		if (view_equals(name, ours[i])) {
			return true;
		}
	}
	return false;
}

static int read_label_name(const char **at, struct fault *f)
{
	const char *p = skip_matcher_blanks(*at);
	size_t n = strchr(DIGITS, *p) == NULL ? strspn(p, LETTERS DIGITS) : 0;
	struct view name = {p, n};
	if (n == 0) {
		return fault_set(f, FAULT_INVALID,
			"\"%.40s\": write NAME=\"VALUE\", with commas between", p);
	}
	if (is_reserved_label(name)) {
		return fault_set(f, FAULT_INVALID,
			"\"%.*s\": pods are asked for by it; name the exporters, as job=\"VALUE\"",
			(int)n, p);
	}
	*at = skip_matcher_blanks(p + n);
	return 0;
}

/* `ret_names`: it asks for something, instead of only leaving something out. */
static int read_match_operator(const char **at, bool *ret_names, struct fault *f)
{
	const char *p = *at;
	bool two = strchr("=!", *p) != NULL && *p != '\0' && p[1] == '~';
	two = two || (p[0] == '!' && p[1] == '=');
	if (!two && *p != '=') {
		return fault_set(f, FAULT_INVALID, "\"%.40s\": neither = nor != nor =~ nor !~", p);
	}
	*ret_names = *p == '=';
	*at = skip_matcher_blanks(p + (two ? 2 : 1));
	return 0;
}

static int read_label_value(const char **at, bool *ret_empty, struct fault *f)
{
	const char *p = *at;
	if (*p != '"') {
		return fault_set(f, FAULT_INVALID, "\"%.40s\": a value is written in \"\"", p);
	}
	*ret_empty = p[1] == '"';
	for (p++; *p != '"'; p++) {
		if ((unsigned char)*p < ' ') {
			return fault_set(f, FAULT_INVALID, "a value without its end");
		}
		if (*p == '\\' && strchr("\\\"", *++p) == NULL) {
			return fault_set(
				f, FAULT_INVALID, "\"\\%.1s\": an escape is \\\\ or \\\"", p);
		}
		if (*p == '\0') {
			return fault_set(f, FAULT_INVALID, "a value without its end");
		}
	}
	*at = skip_matcher_blanks(p + 1);
	return 0;
}

int prometheus_matcher_check(const char *text, struct fault *ret_fault)
{
	uint32_t count = 0;
	bool named = false;
	if (strlen(text) > TEXT_MAX) {
		return fault_set(ret_fault, FAULT_INVALID, "longer than %d bytes", TEXT_MAX);
	}
	for (const char *p = text;; p++) {
		bool names = false, empty = false;
		if (count++ == MATCHERS_MAX) {
			return fault_set(
				ret_fault, FAULT_INVALID, "more than %d matchers", MATCHERS_MAX);
		}
		if (read_label_name(&p, ret_fault) < 0 ||
			read_match_operator(&p, &names, ret_fault) < 0 ||
			read_label_value(&p, &empty, ret_fault) < 0) {
			return -1;
		}
		named = named || (names && !empty);
		if (*p == '\0') {
			break;
		}
		if (*p != ',') {
			return fault_set(ret_fault, FAULT_INVALID,
				"\"%.40s\": a comma is between two matchers", p);
		}
	}
	return named ? 0
		     : fault_set(ret_fault, FAULT_INVALID,
			       "it names nobody; one must be = or =~ with a value, as "
			       "job=\"VALUE\"");
}
