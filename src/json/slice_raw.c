/* The hot part of the splitter: most bytes of an answer belong to values that are copied or skipped
 * whole, and here they only need their brackets and strings followed. */
#include "slice_raw.h"

#include "slice_frame.h"

enum { ORDINARY, QUOTE, OPEN, CLOSE };

static const unsigned char class_of[256] = {
	['"'] = QUOTE,
	['{'] = OPEN,
	['['] = OPEN,
	['}'] = CLOSE,
	[']'] = CLOSE,
};

/* To the closing quote, which is read too. */
static bool string_end(struct slice *s, struct slice_input *in)
{
	while (in->p < in->end) {
		if (s->escaped) {
			s->escaped = false;
			in->p++;
			continue;
		}
		in->p = scan_string(in->p, in->end);
		if (in->p == in->end) {
			return false;
		}
		if (*in->p++ == '"') {
			return true;
		}
		s->escaped = true;
	}
	return false;
}

static void bracket_open(struct slice *s, char c)
{
	if (s->raw_depth < SLICE_DEPTH_MAX) {
		uint64_t bit = UINT64_C(1) << s->raw_depth;
		s->raw_kinds = c == '[' ? s->raw_kinds | bit : s->raw_kinds & ~bit;
	}
	s->raw_depth++;
	if (s->raw_depth + s->frames > SLICE_DEPTH_MAX) {
		s->refused = true;
		s->sink = NULL;
	}
}

/* Below SLICE_DEPTH_MAX the kinds are no longer remembered: the object is refused anyway. */
static bool bracket_close(struct slice *s, char c)
{
	if (s->raw_depth == 0) {
		return false;
	}
	s->raw_depth--;
	if (s->raw_depth >= SLICE_DEPTH_MAX) {
		return true;
	}
	return ((s->raw_kinds >> s->raw_depth & 1) != 0) == (c == ']');
}

static enum slice_progress read_nested(struct slice *s, struct slice_input *in)
{
	for (;;) {
		if (s->state == SLICE_STRING) {
			if (!string_end(s, in)) {
				return SLICE_MORE;
			}
			s->state = SLICE_RAW;
			if (s->raw_depth == 0) {
				return SLICE_COMPLETE;
			}
		}
		while (in->p < in->end && class_of[(unsigned char)*in->p] == ORDINARY) {
			in->p++;
		}
		if (in->p == in->end) {
			return SLICE_MORE;
		}
		char c = *in->p++;
		if (class_of[(unsigned char)c] == QUOTE) {
			s->state = SLICE_STRING;
		} else if (class_of[(unsigned char)c] == OPEN) {
			if (s->raw_depth == UINT32_MAX) {
				return SLICE_BROKEN;
			}
			bracket_open(s, c);
		} else if (!bracket_close(s, c)) {
			return SLICE_BROKEN;
		} else if (s->raw_depth == 0) {
			return SLICE_COMPLETE;
		}
	}
}

static bool scalar_byte(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || c == '-' || c == '+' ||
	       c == '.' || c == 'E';
}

static enum slice_progress read_scalar(struct slice_input *in)
{
	while (in->p < in->end && scalar_byte(*in->p)) {
		in->p++;
	}
	return in->p < in->end ? SLICE_COMPLETE : SLICE_MORE;
}

enum slice_progress slice_raw(struct slice *s, struct slice_input *in)
{
	const char *from = in->p;
	enum slice_progress progress =
		s->state == SLICE_SCALAR ? read_scalar(in) : read_nested(s, in);
	if (s->sink == &s->out && s->value.most > 0 &&
		s->out.len - s->value.from + (size_t)(in->p - from) > s->value.most) {
		slice_drop_value(s);
	}
	if (s->sink != NULL && !slice_append(s->sink, from, (size_t)(in->p - from)) &&
		s->sink == &s->out) {
		s->refused = true;
	}
	return progress;
}
