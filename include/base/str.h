/* Text: `struct str` to build it, `struct view` to look at it.
 *
 * A str has a limit from birth. What would exceed it is not appended, `overflow` is set and stays
 * set, and the text that is there remains valid: the caller decides what hitting the limit means.
 * The buffer is always NUL-terminated once something was appended; str_text() is never NULL. */
#ifndef BASE_STR_H
#define BASE_STR_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/cleanup.h"

struct str {
	char *p; /* owned */
	size_t len;
	size_t cap;
	size_t limit; /* most bytes it may hold, terminator excluded */
	bool overflow;
};

#define STR_INIT(max_bytes)                                                                        \
	{                                                                                          \
		.limit = (max_bytes)                                                               \
	}

void str_finish(struct str *s);
/* The same for what holds a private key: overwritten first. A text that grew has left copies
 * behind, so reserve its room before. */
void str_wipe(struct str *s);
void str_reset(struct str *s);		    /* empty again, memory and limit kept */
void str_truncate(struct str *s, size_t n); /* to its first n bytes, if it has more */
void str_trim_capacity(
	struct str *s, size_t keep_bytes); /* after a large object: give memory back */
bool str_append(struct str *s, const char *p, size_t n);
bool str_append_text(struct str *s, const char *text);
bool str_append_char(struct str *s, char c);
bool str_append_format(struct str *s, const char *format, ...) PRINTF(2, 3);
bool str_append_vformat(struct str *s, const char *format, va_list args) PRINTF(2, 0);
/* Room for n more bytes at the end, to be filled by the caller and then counted by str_added. NULL
 * on overflow. */
char *str_reserve(struct str *s, size_t n);
void str_added(struct str *s, size_t n);
char *str_take(struct str *s); /* the owned C string ("" if empty); s is empty afterwards */
static inline const char *str_text(const struct str *s)
{
	return s->p != NULL ? s->p : "";
}
/* Everything but the unreserved characters of RFC 3986 becomes %XX. */
void str_append_escaped(struct str *s, const char *text);
/* JSON string escapes, quotes included; bytes that are not UTF-8 become U+FFFD. */
bool str_append_json(struct str *s, const char *p, size_t n);

struct view {
	const char *p; /* borrowed, not NUL-terminated */
	size_t n;
};

#define VIEW(literal) ((struct view){(literal), sizeof(literal) - 1})
static inline struct view view_of(const char *text)
{
	return (struct view){text, text != NULL ? strlen(text) : 0};
}
bool view_equals(struct view v, const char *text);
bool view_starts_with(struct view v, const char *prefix);
/* The beginning of a text (NULL: none), of so many bytes at most and without half a character. */
struct view text_cut(const char *text, size_t most);
struct view view_trim(struct view v); /* ASCII blanks at both ends */
/* Cuts the part before `separator` off the front of *rest; the whole rest if there is none. False
 * at the end. */
bool view_next(struct view *rest, char separator, struct view *ret_part);

/* Whole decimal numbers, nothing else: no sign but '-', no blanks, no leading '+', range checked.
 */
MUST_CHECK bool parse_i64(struct view v, int64_t min, int64_t max, int64_t *ret_value);

static inline bool text_equals(const char *a, const char *b)
{
	return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}
static inline bool text_empty(const char *s)
{
	return s == NULL || *s == '\0';
}
static inline const char *text_or(const char *s, const char *otherwise)
{
	return s != NULL ? s : otherwise;
}
/* -1: it is none. */
static inline int hex_digit(char c)
{
	if (c >= '0' && c <= '9') {
		return c - '0';
	}
	c = (char)(c | 0x20);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}
/* The place of a text among some, any of which may be NULL; their count: it is none of them. */
size_t texts_find(const char *const *texts, size_t count, const char *text);
static inline bool texts_have(const char *const *texts, size_t count, const char *text)
{
	return texts_find(texts, count, text) < count;
}
void text_set(char **slot, const char *value); /* an owned copy takes the place of the old one */

#endif
