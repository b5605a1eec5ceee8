/* What slice.c (the machine), slice_frame.c (levels, projection) and slice_raw.c (the bytes of
 * whole values) share. */
#ifndef JSON_SLICE_PARTS_H
#define JSON_SLICE_PARTS_H

#include <stdbool.h>

#include "json/scan.h"
#include "json/slice.h"

enum slice_state {
	SLICE_BETWEEN,	    /* before the document, or between two events */
	SLICE_VALUE,	    /* a value is due */
	SLICE_VALUE_OR_END, /* the same, or the array is empty */
	SLICE_KEY,	    /* a key is due */
	SLICE_KEY_OR_END,   /* the same, or the object is empty */
	SLICE_IN_KEY,
	SLICE_COLON,
	SLICE_COMMA, /* a comma or the closing bracket is due */
	SLICE_RAW,   /* inside a value that is copied or skipped whole, not inside a string of it */
	SLICE_STRING, /* inside a string of it */
	SLICE_SCALAR, /* inside a number or a literal */
	SLICE_DONE,   /* after a list */
};

/* The part of a push that is still to be read. */
struct slice_input {
	const char *p;
	const char *end;
};

enum slice_progress { SLICE_MORE, SLICE_COMPLETE, SLICE_BROKEN };

/* Reads on in a whole value (the last three states above) and copies it to s->sink. SLICE_MORE: the
 * input is used up; SLICE_COMPLETE: the value is, and input stands behind it. */
enum slice_progress slice_raw(struct slice *s, struct slice_input *in);

/* The events of the machine. `at` is the place in the whole stream, for the limits. False: it does
 * not belong there. */
bool slice_begin_document(struct slice *s, uint64_t at);
/* The value whose first byte is next. True if that byte, a bracket, opened a level and is to be
 * taken. */
bool slice_begin_value(struct slice *s, char first, uint64_t at);
void slice_end_value(struct slice *s, uint64_t at);
/* The value in progress is too long: it is taken back, and nothing more of it copied. */
void slice_drop_value(struct slice *s);
bool slice_end_frame(struct slice *s, char c, uint64_t at);
/* Behind the opening quote, and from there to behind the closing one. */
void slice_begin_key(struct slice *s);
void slice_read_key(struct slice *s, struct slice_input *in);

/* str_append for the many small pieces that fit where they are. */
static inline bool slice_append(struct str *s, const char *p, size_t n)
{
	if (s->overflow || s->cap - s->len <= n) {
		return str_append(s, p, n);
	}
	memcpy(s->p + s->len, p, n);
	s->len += n;
	s->p[s->len] = '\0';
	return true;
}

#endif
