/* Trims an AdmissionReview before it is parsed; watches go through the splitter (json/slice.h). One
 * pass over the bytes, copying runs between what is dropped. A member is dropped by its name and
 * the number of brackets around it; a label or an annotation, one level below metadata, is never
 * touched. */
#include "trim.h"

#include <string.h>

#include "base/cleanup.h"
#include "json/decode.h"
#include "json/scan.h"

#define DROP(depth, name)                                                                          \
	{                                                                                          \
		depth, sizeof(name) - 1, name                                                      \
	}
static const struct {
	int depth;
	size_t size;
	const char *name;
} dropped[] = {
	/* request */
	DROP(2, "resource"),
	DROP(2, "requestKind"),
	DROP(2, "requestResource"),
	DROP(2, "options"),
	/* request.userInfo, request.object, request.oldObject (null at CREATE) */
	DROP(3, "groups"),
	DROP(3, "extra"),
	DROP(3, "status"),
	/* metadata, spec */
	DROP(4, "managedFields"),
	DROP(4, "dnsConfig"),
	DROP(4, "hostAliases"),
	/* an element of containers */
	DROP(6, "volumeDevices"),
	DROP(6, "livenessProbe"),
	DROP(6, "readinessProbe"),
	DROP(6, "startupProbe"),
	DROP(6, "lifecycle"),
	DROP(6, "ports"),
	DROP(6, "envFrom"),
};

static bool is_dropped(int depth, const char *name, size_t n)
{
	for (size_t i = 0; i < COUNT_OF(dropped); i++) {
		if (dropped[i].depth == depth && dropped[i].size == n &&
			memcmp(dropped[i].name, name, n) == 0) {
			return true;
		}
	}
	return false;
}

static const char *skip_blanks(const char *p, const char *end)
{
	while (p < end && (*p == ' ' || *p == '\n' || *p == '\t' || *p == '\r')) {
		p++;
	}
	return p;
}

/* p is behind the opening quote; returns the closing one, or end. */
static const char *find_quote(const char *p, const char *end)
{
	while ((p = scan_string(p, end)) < end && *p != '"') {
		p += end - p > 1 ? 2 : 1;
	}
	return p;
}

/* Behind the value that begins at p; end if there is no end to it. */
static const char *skip_value(const char *p, const char *end)
{
	int depth = 0;
	for (p = skip_blanks(p, end); p < end; p++) {
		switch (*p) {
		case '"':
			p = find_quote(p + 1, end);
			if (p == end) {
				return end;
			}
			break;
		case '{':
		case '[':
			depth++;
			continue;
		case '}':
		case ']':
			if (depth == 0) {
				return p;
			}
			depth--;
			break;
		case ',':
			if (depth == 0) {
				return p;
			}
			continue;
		default:
			continue;
		}
		if (depth == 0) {
			return p + 1;
		}
	}
	return end;
}

/* After a member was dropped: the comma behind it goes with it, or else the one before it. */
static const char *mend_commas(struct str *out, const char *p, const char *end)
{
	p = skip_blanks(p, end);
	if (p < end && *p == ',') {
		return p + 1;
	}
	size_t n = out->len;
	while (n > 0 && strchr(" \n\t\r", out->p[n - 1]) != NULL) {
		n--;
	}
	if (n > 0 && out->p[n - 1] == ',') {
		out->len = n - 1;
		out->p[out->len] = '\0';
	}
	return p;
}

/* The member whose name begins behind the quote at p: where to go on. */
static const char *pass_text(
	const char *p, const char *end, int depth, const char **run, struct str *out)
{
	const char *close = find_quote(p + 1, end);
	if (close == end || depth > 6) {
		return close;
	}
	const char *colon = skip_blanks(close + 1, end);
	if (colon == end || *colon != ':' || !is_dropped(depth, p + 1, (size_t)(close - p) - 1)) {
		return close;
	}
	str_append(out, *run, (size_t)(p - *run));
	*run = mend_commas(out, skip_value(colon + 1, end), end);
	return *run - 1;
}

/* What is kept, counted as it goes by. */
struct budget {
	uint32_t cost;
	uint32_t left[DECODE_DEPTH_MAX + 1]; /* commas, of what is open, by its depth */
};

/* The elements of request.object.spec.containers. */
#define LISTS_DEPTH 5

/* False: that is too much. */
static bool spend_budget(struct budget *b, char c, int depth)
{
	if (c == ',') {
		b->cost++;
		return b->left[depth]-- > 0 && b->cost <= TRIM_COST_MAX;
	}
	bool list = c == '[' && depth == LISTS_DEPTH;
	b->left[depth] = (list ? TRIM_LIST_MAX : TRIM_WIDTH_MAX) - 1;
	b->cost += DECODE_COST_CONTAINER;
	return b->cost <= TRIM_COST_MAX;
}

enum trim trim_review(const char *p, size_t n, struct str *out)
{
	const char *end = p + n;
	const char *run = p;
	struct budget b = {0};
	int depth = 0;
	if (n > TRIM_BYTES_MAX) {
		return TRIM_TOO_LARGE;
	}
	for (; p < end; p++) {
		if (*p == '"') {
			p = pass_text(p, end, depth, &run, out);
			continue;
		}
		depth += *p == '{' || *p == '[' ? 1 : *p == '}' || *p == ']' ? -1 : 0;
		if (depth > DECODE_DEPTH_MAX || depth < 0) {
			return TRIM_BROKEN;
		}
		if ((*p == '{' || *p == '[' || *p == ',') && !spend_budget(&b, *p, depth)) {
			return TRIM_TOO_LARGE;
		}
	}
	bool whole = depth == 0 && p == end && str_append(out, run, (size_t)(end - run));
	return whole ? TRIM_DONE : TRIM_BROKEN;
}

/* API servers write it first; so much is looked through for it. */
#define UID_WITHIN ((size_t)64 << 10)

static struct view text_at(const char *p, const char *end)
{
	p = skip_blanks(p, end);
	if (p == end || *p != '"') {
		return (struct view){"", 0};
	}
	const char *close = scan_string(p + 1, end);
	/* What is escaped is no uid. */
	bool plain = close < end && *close == '"';
	for (const char *c = p + 1; c < close && plain; c++) {
		plain = (unsigned char)*c >= ' ' && (unsigned char)*c < 0x7f;
	}
	return plain ? (struct view){p + 1, (size_t)(close - p) - 1} : (struct view){"", 0};
}

struct view trim_uid(const char *p, size_t n)
{
	const char *end = p + (n < UID_WITHIN ? n : UID_WITHIN);
	bool in_request = false;
	int depth = 0;
	for (; p < end; p++) {
		depth += *p == '{' || *p == '[' ? 1 : *p == '}' || *p == ']' ? -1 : 0;
		if (*p != '"') {
			continue;
		}
		const char *close = find_quote(p + 1, end);
		const char *colon = close < end ? skip_blanks(close + 1, end) : end;
		struct view name = {p + 1, close < end ? (size_t)(close - p) - 1 : 0};
		p = close;
		if (colon == end || *colon != ':') {
			continue;
		}
		in_request = depth == 1 ? view_equals(name, "request") : in_request;
		if (depth == 2 && in_request && view_equals(name, "uid")) {
			return text_at(colon + 1, end);
		}
	}
	return (struct view){"", 0};
}
