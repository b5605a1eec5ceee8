/* The bytes of whole values. */
#ifndef JSON_SLICE_RAW_H
#define JSON_SLICE_RAW_H

#include "slice_parts.h"

/* Reads on in a whole value (SLICE_RAW, SLICE_STRING, SLICE_SCALAR) and copies it to s->sink.
 * SLICE_MORE: the input is used up; SLICE_COMPLETE: the value is, and input stands behind it. */
enum slice_progress slice_raw(struct slice *s, struct slice_input *in);

#endif
