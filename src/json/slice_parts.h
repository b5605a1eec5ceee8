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
