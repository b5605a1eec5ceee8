/* One pass over the bytes, copying runs between what is dropped. A member is dropped by its name
 * and the number of brackets around it; a label or an annotation, one level below metadata, is
 * never touched. */
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

bool trim_review(const char *p, size_t n, struct str *out)
{
	const char *end = p + n;
	const char *run = p;
	int depth = 0;
	for (; p < end; p++) {
		if (*p == '"') {
			p = pass_text(p, end, depth, &run, out);
		} else if (*p == '{' || *p == '[') {
			depth++;
		} else if (*p == '}' || *p == ']') {
			depth--;
		}
		if (depth > DECODE_DEPTH_MAX || depth < 0) {
			return false;
		}
	}
	return depth == 0 && p == end && str_append(out, run, (size_t)(end - run));
}
