/* The quick reader of JSON. */
#include "parse.h"

#include <stdint.h>

#include "base/alloc.h"
#include "base/str.h"
#include "json/decode.h"
#include "json/scan.h"

#define TEXT_MAX ((size_t)8 << 20)

struct parser {
	const char *p;
	const char *end;
	size_t depth; /* levels left */
	size_t cost;  /* so far, see DECODE_COST_MAX */
	bool unique;
	struct str scratch; /* the last text that had escapes */
};

/* A string: borrowed from the input or from scratch, until the next one. */
struct text {
	struct view v;
	bool high; /* has bytes beyond ASCII: to be checked for UTF-8 */
};

static json_t *parse_value(struct parser *s);

static void release_value(json_t **value)
{
	json_decref(*value);
}

static void skip_blanks(struct parser *s)
{
	while (s->p < s->end && (*s->p == ' ' || *s->p == '\n' || *s->p == '\r' || *s->p == '\t')) {
		s->p++;
	}
}

/* Blanks, then this byte. */
static bool take_byte(struct parser *s, char c)
{
	skip_blanks(s);
	if (s->p < s->end && *s->p == c) {
		s->p++;
		return true;
	}
	return false;
}

/* --- strings --- */

/* The four digits of a \u: a code below the surrogates, never zero. */
static bool unescape_code(struct parser *s)
{
	unsigned code = 0;
	if (s->end - s->p < 4) {
		return false;
	}
	for (int i = 0; i < 4; i++) {
		int digit = hex_digit(*s->p++);
		if (digit < 0) {
			return false;
		}
		code = code << 4 | (unsigned)digit;
	}
	if (code == 0 || code >= 0xd800) {
		return false;
	}
	char bytes[3];
	size_t n = code < 0x80 ? 1 : code < 0x800 ? 2 : 3;
	if (n == 1) {
		bytes[0] = (char)code;
	} else if (n == 2) {
		bytes[0] = (char)(0xc0 | code >> 6);
		bytes[1] = (char)(0x80 | (code & 0x3f));
	} else {
		bytes[0] = (char)(0xe0 | code >> 12);
		bytes[1] = (char)(0x80 | (code >> 6 & 0x3f));
		bytes[2] = (char)(0x80 | (code & 0x3f));
	}
	return str_append(&s->scratch, bytes, n);
}

/* After the backslash. */
static bool take_escape(struct parser *s)
{
	static const char names[] = "\"\\/bfnrt";
	static const char values[] = "\"\\/\b\f\n\r\t";
	if (s->p == s->end || *s->p == '\0') {
		return false;
	}
	char c = *s->p++;
	if (c == 'u') {
		return unescape_code(s);
	}
	const char *found = strchr(names, c);
	return found != NULL && str_append_char(&s->scratch, values[found - names]);
}

/* After the opening quote, to behind the closing one. */
static bool parse_text(struct parser *s, struct text *text)
{
	const char *from = s->p;
	*text = (struct text){0};
	s->p = scan_plain(s->p, s->end, &text->high);
	if (s->p == s->end) {
		return false;
	}
	if (*s->p == '"') {
		text->v = (struct view){from, (size_t)(s->p++ - from)};
		return true;
	}
	str_reset(&s->scratch);
	while (s->p < s->end) {
		str_append(&s->scratch, from, (size_t)(s->p - from));
		char c = *s->p++;
		if (c == '"') {
			text->v = (struct view){str_text(&s->scratch), s->scratch.len};
			return !s->scratch.overflow;
		}
		if (c != '\\' || !take_escape(s)) {
			return false;
		}
		from = s->p;
		s->p = scan_plain(s->p, s->end, &text->high);
	}
	return false;
}

static json_t *parse_string(struct parser *s)
{
	struct text text;
	s->p++;
	if (!parse_text(s, &text)) {
		return NULL;
	}
	return text.high ? json_stringn(text.v.p, text.v.n)
			 : json_stringn_nocheck(text.v.p, text.v.n);
}

/* --- the rest --- */

static bool is_digit(const struct parser *s)
{
	return s->p < s->end && *s->p >= '0' && *s->p <= '9';
}

/* Up to 18 digits, which fit; fractions and exponents are unusual. */
static json_t *parse_number(struct parser *s)
{
	bool negative = *s->p == '-';
	s->p += negative ? 1 : 0;
	const char *from = s->p;
	int64_t value = 0;
	while (is_digit(s) && s->p - from < 18) {
		value = value * 10 + (*s->p++ - '0');
	}
	bool leading_zero = s->p - from > 1 && *from == '0';
	bool goes_on =
		s->p < s->end && (is_digit(s) || *s->p == '.' || *s->p == 'e' || *s->p == 'E');
	if (s->p == from || leading_zero || goes_on) {
		return NULL;
	}
	return json_integer(negative ? -value : value);
}

static bool take_word(struct parser *s, const char *word)
{
	size_t n = strlen(word);
	if ((size_t)(s->end - s->p) < n || memcmp(s->p, word, n) != 0) {
		return false;
	}
	s->p += n;
	return true;
}

static bool add_member(struct parser *s, json_t *object)
{
	struct text key;
	if (!take_byte(s, '"') || !parse_text(s, &key)) {
		return false;
	}
	/* A key in scratch must outlive the value's own texts. */
	CLEANUP(cleanup_free) char *copy = NULL;
	if (key.v.p == str_text(&s->scratch)) {
		key.v.p = copy = xstrndup(key.v.p, key.v.n);
	}
	if (s->unique && json_object_getn(object, key.v.p, key.v.n) != NULL) {
		return false;
	}
	if (!take_byte(s, ':')) {
		return false;
	}
	json_t *value = parse_value(s);
	if (value == NULL) {
		return false;
	}
	/* Both take the value over, whatever comes back. */
	return (key.high ? json_object_setn_new(object, key.v.p, key.v.n, value)
			 : json_object_setn_new_nocheck(object, key.v.p, key.v.n, value)) == 0;
}

static bool spend_cost(struct parser *s, size_t cost)
{
	s->cost += cost;
	return s->cost <= DECODE_COST_MAX;
}

static json_t *parse_container(struct parser *s)
{
	bool is_object = *s->p == '{';
	char closing = is_object ? '}' : ']';
	CLEANUP(release_value) json_t *container = is_object ? json_object() : json_array();
	s->p++;
	if (s->depth == 0 || !spend_cost(s, DECODE_COST_CONTAINER)) {
		return NULL;
	}
	s->depth--;
	if (!take_byte(s, closing)) {
		do {
			json_t *value = is_object ? NULL : parse_value(s);
			bool added = is_object ? add_member(s, container)
					       : value != NULL && json_array_append_new(
									  container, value) == 0;
			if (!added) {
				return NULL;
			}
		} while (take_byte(s, ',') && spend_cost(s, 1));
		if (!take_byte(s, closing)) {
			return NULL;
		}
	}
	s->depth++;
	return TAKE(container);
}

static json_t *parse_value(struct parser *s)
{
	skip_blanks(s);
	if (s->p == s->end) {
		return NULL;
	}
	switch (*s->p) {
	case '{':
	case '[':
		return parse_container(s);
	case '"':
		return parse_string(s);
	case 't':
		return take_word(s, "true") ? json_true() : NULL;
	case 'f':
		return take_word(s, "false") ? json_false() : NULL;
	case 'n':
		return take_word(s, "null") ? json_null() : NULL;
	default:
		return parse_number(s);
	}
}

json_t *parse_quickly(const char *p, size_t n, size_t depth, bool unique)
{
	struct parser s = {.p = p,
		.end = p + n,
		.depth = depth,
		.unique = unique,
		.scratch = STR_INIT(TEXT_MAX)};
	skip_blanks(&s);
	bool container = s.p < s.end && (*s.p == '{' || *s.p == '[');
	json_t *root = container ? parse_container(&s) : NULL;
	skip_blanks(&s);
	if (root != NULL && s.p != s.end) {
		json_decref(root);
		root = NULL;
	}
	str_finish(&s.scratch);
	return root;
}
