/* What slice.c (structure, projection) and slice_raw.c (bytes of whole values) share. */
#ifndef JSON_SLICE_PARTS_H
#define JSON_SLICE_PARTS_H

#include <stdbool.h>

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

/* The first quote or backslash, or the end. */
const char *slice_scan_string(const char *p, const char *end);

#endif
