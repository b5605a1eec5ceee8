/* The events of the machine: levels and the projection. `at` is the place in the whole stream, for
 * the limits. False: it does not belong there. */
#ifndef JSON_SLICE_FRAME_H
#define JSON_SLICE_FRAME_H

#include "slice_parts.h"

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

#endif
