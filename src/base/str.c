/* Text with a limit from birth, and strict looks at it. */
#include "base/str.h"

#include "base/alloc.h"

void str_finish(struct str *s)
{
	if (s == NULL) {
		return;
	}
	free(s->p);
	*s = (struct str){.limit = s->limit};
}

void str_wipe(struct str *s)
{
	if (s->p != NULL) {
		explicit_bzero(s->p, s->cap);
	}
	str_finish(s);
}

void str_reset(struct str *s)
{
	s->len = 0;
	s->overflow = false;
	if (s->p != NULL) {
		s->p[0] = '\0';
	}
}

void str_truncate(struct str *s, size_t n)
{
	if (n < s->len) {
		s->len = n;
		s->p[n] = '\0';
	}
}

void str_trim_capacity(struct str *s, size_t keep_bytes)
{
	if (s->cap > keep_bytes && s->len < keep_bytes) {
		s->p = xrealloc(s->p, keep_bytes);
		s->cap = keep_bytes;
	}
}

char *str_reserve(struct str *s, size_t n)
{
	if (s->overflow || n > s->limit || s->len > s->limit - n) {
		s->overflow = true;
		return NULL;
	}
	size_t need = s->len + n + 1;
	if (need > s->cap) {
		size_t cap = s->cap < 64 ? 64 : s->cap;
		while (cap < need) {
			cap += cap / 2 + 64;
		}
		if (cap > s->limit + 1) {
			cap = s->limit + 1;
		}
		s->p = xrealloc(s->p, cap);
		s->cap = cap;
	}
	return s->p + s->len;
}

void str_added(struct str *s, size_t n)
{
	s->len += n;
	ENSURE(s->len < s->cap);
	s->p[s->len] = '\0';
}

bool str_append(struct str *s, const char *p, size_t n)
{
	char *to = str_reserve(s, n);
	if (to == NULL) {
		return false;
	}
	if (n > 0) {
		memcpy(to, p, n);
	}
	str_added(s, n);
	return true;
}

bool str_append_text(struct str *s, const char *text)
{
	return str_append(s, text, strlen(text));
}

bool str_append_char(struct str *s, char c)
{
	return str_append(s, &c, 1);
}

bool str_append_vformat(struct str *s, const char *format, va_list args)
{
	va_list again;
	va_copy(again, args);
	int n = vsnprintf(NULL, 0, format, again);
	va_end(again);
	char *to = n >= 0 ? str_reserve(s, (size_t)n) : NULL;
	if (to == NULL) {
		return false;
	}
	vsnprintf(to, (size_t)n + 1, format, args);
	str_added(s, (size_t)n);
	return true;
}

bool str_append_format(struct str *s, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	bool fits = str_append_vformat(s, format, args);
	va_end(args);
	return fits;
}

char *str_take(struct str *s)
{
	char *text = s->p != NULL ? s->p : xstrdup("");
	*s = (struct str){.limit = s->limit};
	return text;
}

/* Length of the well-formed UTF-8 sequence at p, 0 if there is none. */
static size_t utf8_length(const unsigned char *p, size_t n)
{
	size_t need = p[0] < 0x80		    ? 1
		      : p[0] >= 0xc2 && p[0] < 0xe0 ? 2
		      : (p[0] & 0xf0) == 0xe0	    ? 3
						    : 4;
	if (p[0] >= 0x80 && (p[0] < 0xc2 || p[0] > 0xf4)) {
		return 0;
	}
	if (need > n) {
		return 0;
	}
	for (size_t i = 1; i < need; i++) {
		if ((p[i] & 0xc0) != 0x80) {
			return 0;
		}
	}
	bool overlong = (p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xf0 && p[1] < 0x90);
	bool outside = (p[0] == 0xed && p[1] > 0x9f) || (p[0] == 0xf4 && p[1] > 0x8f);
	return overlong || outside ? 0 : need;
}

static void append_escaped(struct str *s, unsigned char c)
{
	switch (c) {
	case '"':
		str_append_text(s, "\\\"");
		break;
	case '\\':
		str_append_text(s, "\\\\");
		break;
	case '\n':
		str_append_text(s, "\\n");
		break;
	case '\t':
		str_append_text(s, "\\t");
		break;
	default:
		str_append_format(s, "\\u%04x", c);
		break;
	}
}

void str_append_escaped(struct str *s, const char *text)
{
	for (const char *p = text; *p != '\0'; p++) {
		bool unreserved = (*p >= 'A' && *p <= 'Z') || (*p >= 'a' && *p <= 'z') ||
				  (*p >= '0' && *p <= '9') || strchr("-._~", *p) != NULL;
		if (unreserved) {
			str_append_char(s, *p);
		} else {
			str_append_format(s, "%%%02X", (unsigned)(unsigned char)*p);
		}
	}
}

bool str_append_json(struct str *s, const char *p, size_t n)
{
	str_append_char(s, '"');
	const unsigned char *u = (const unsigned char *)p;
	size_t plain = 0;
	size_t i = 0;
	while (i < n) {
		size_t step = utf8_length(u + i, n - i);
		if (step > 0 && u[i] >= 0x20 && u[i] != '"' && u[i] != '\\') {
			i += step;
			continue;
		}
		str_append(s, p + plain, i - plain);
		if (step == 0) {
			str_append_text(s, "\xef\xbf\xbd");
		} else {
			append_escaped(s, u[i]);
		}
		i++;
		plain = i;
	}
	str_append(s, p + plain, n - plain);
	return str_append_char(s, '"');
}

bool view_equals(struct view v, const char *text)
{
	return strlen(text) == v.n && (v.n == 0 || memcmp(v.p, text, v.n) == 0);
}

bool view_starts_with(struct view v, const char *prefix)
{
	size_t n = strlen(prefix);
	return v.n >= n && (n == 0 || memcmp(v.p, prefix, n) == 0);
}

static bool is_white(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

struct view view_trim(struct view v)
{
	while (v.n > 0 && is_white(v.p[0])) {
		v.p++;
		v.n--;
	}
	while (v.n > 0 && is_white(v.p[v.n - 1])) {
		v.n--;
	}
	return v;
}

struct view text_cut(const char *text, size_t most)
{
	struct view v = {text_or(text, ""), text != NULL ? strnlen(text, most + 1) : 0};
	if (v.n > most) {
		v.n = most;
		while (v.n > 0 && ((unsigned char)v.p[v.n] & 0xC0) == 0x80) {
			v.n--;
		}
	}
	return v;
}

bool view_next(struct view *rest, char separator, struct view *ret_part)
{
	if (rest->p == NULL) {
		return false;
	}
	const char *cut = rest->n > 0 ? memchr(rest->p, separator, rest->n) : NULL;
	if (cut == NULL) {
		*ret_part = *rest;
		*rest = (struct view){0};
		return true;
	}
	size_t n = (size_t)(cut - rest->p);
	*ret_part = (struct view){rest->p, n};
	*rest = (struct view){cut + 1, rest->n - n - 1};
	return true;
}

bool parse_i64(struct view v, int64_t min, int64_t max, int64_t *ret_value)
{
	bool negative = v.n > 0 && v.p[0] == '-';
	size_t i = negative ? 1 : 0;
	if (i >= v.n || v.n - i > 19) {
		return false;
	}
	uint64_t value = 0;
	for (; i < v.n; i++) {
		if (v.p[i] < '0' || v.p[i] > '9') {
			return false;
		}
		value = value * 10 + (uint64_t)(v.p[i] - '0');
	}
	if (value > (uint64_t)INT64_MAX) {
		return false;
	}
	int64_t result = negative ? -(int64_t)value : (int64_t)value;
	if (result < min || result > max) {
		return false;
	}
	*ret_value = result;
	return true;
}

size_t texts_find(const char *const *texts, size_t count, const char *text)
{
	size_t i = 0;
	while (i < count && !text_equals(texts[i], text)) {
		i++;
	}
	return i;
}

void text_set(char **slot, const char *value)
{
	if (text_equals(*slot, value)) {
		return;
	}
	free(*slot);
	*slot = xstrdup(value);
}
