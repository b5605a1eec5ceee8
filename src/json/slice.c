/* The splitter's machine: bytes to keys, values and the ends of both. What they mean is decided in
 * slice_frame.c, and values without structure of interest pass through slice_raw.c. */
#include "json/slice.h"

#include "json/decode.h"
#include "slice_frame.h"
#include "slice_raw.h"

#define KEY_MAX	 512   /* of a key that a projection could list */
#define TYPE_MAX 34    /* of a watch event's type */
#define HEAD_MAX 16384 /* of a list's metadata */

void slice_init(struct slice *s, enum slice_form form, const struct slice_keep *keep,
	const struct slice_events *events, void *data)
{
	*s = (struct slice){
		.form = form,
		.keep = keep,
		.events = events,
		.data = data,
		.state = SLICE_BETWEEN,
		.out = STR_INIT(SLICE_OBJECT_MAX),
		.key = STR_INIT(KEY_MAX),
		.type = STR_INIT(TYPE_MAX),
		.head = STR_INIT(HEAD_MAX),
	};
}

void slice_finish(struct slice *s)
{
	str_finish(&s->out);
	str_finish(&s->key);
	str_finish(&s->type);
	str_finish(&s->head);
}

void slice_reset(struct slice *s)
{
	struct slice old = *s;
	slice_init(s, old.form, old.keep, old.events, old.data);
	s->out = old.out;
	s->key = old.key;
	s->type = old.type;
	s->head = old.head;
	str_reset(&s->out);
	str_reset(&s->key);
	str_reset(&s->type);
	str_reset(&s->head);
}

/* --- the machine --- */

static bool value_may_begin(char c)
{
	return c == '"' || c == '{' || c == '[' || c == '-' || (c >= '0' && c <= '9') || c == 't' ||
	       c == 'f' || c == 'n';
}

/* One byte between values, never a blank. False: it does not belong there; *taken: it was read. */
static bool structure_byte(struct slice *s, char c, uint64_t at, bool *taken)
{
	*taken = true;
	switch ((enum slice_state)s->state) {
	case SLICE_BETWEEN:
		return c == '{' && slice_begin_document(s, at);
	case SLICE_KEY_OR_END:
		if (c == '}') {
			return slice_end_frame(s, c, at + 1);
		}
		/* fall through */
	case SLICE_KEY:
		slice_begin_key(s);
		return c == '"';
	case SLICE_COLON:
		s->state = SLICE_VALUE;
		return c == ':';
	case SLICE_VALUE_OR_END:
		if (c == ']') {
			return slice_end_frame(s, c, at + 1);
		}
		/* fall through */
	case SLICE_VALUE:
		if (!value_may_begin(c)) {
			return false;
		}
		*taken = slice_begin_value(s, c, at);
		return true;
	case SLICE_COMMA:
		if (c == ',') {
			s->state = s->frame[s->frames - 1].is_array ? SLICE_VALUE : SLICE_KEY;
			return true;
		}
		return (c == '}' || c == ']') && slice_end_frame(s, c, at + 1);
	case SLICE_DONE:
	case SLICE_IN_KEY:
	case SLICE_RAW:
	case SLICE_STRING:
	case SLICE_SCALAR:
		break;
	}
	return false;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

/* Reads on until the input is used up; false where it cannot be JSON. */
static bool read_on(struct slice *s, struct slice_input *in, const char *start)
{
	while (in->p < in->end && !s->stopped) {
		enum slice_state state = (enum slice_state)s->state;
		if (state == SLICE_RAW || state == SLICE_STRING || state == SLICE_SCALAR) {
			enum slice_progress progress = slice_raw(s, in);
			if (progress == SLICE_BROKEN) {
				return false;
			}
			if (progress == SLICE_COMPLETE) {
				slice_end_value(s, s->taken + (uint64_t)(in->p - start));
			}
		} else if (state == SLICE_IN_KEY) {
			slice_read_key(s, in);
		} else if (is_blank(*in->p)) {
			in->p++;
		} else {
			bool taken = true;
			if (!structure_byte(
				    s, *in->p, s->taken + (uint64_t)(in->p - start), &taken)) {
				return false;
			}
			in->p += taken ? 1 : 0;
		}
	}
	return true;
}

int slice_push(struct slice *s, const char *p, size_t n, struct fault *ret_fault)
{
	if (s->stopped) {
		return 0;
	}
	struct slice_input in = {p, p + n};
	if (s->broken || !read_on(s, &in, p)) {
		s->broken = true;
		return fault_set(ret_fault, FAULT_INVALID, "malformed JSON at byte %llu",
			(unsigned long long)(s->taken + (uint64_t)(in.p - p)));
	}
	s->taken += n;
	if (s->in_object && s->taken - s->opened > SLICE_RAW_MAX) {
		s->refused = true; /* said once, at its end; until then nothing more is copied */
		if (s->sink == &s->out) {
			s->sink = NULL;
		}
	}
	return 0;
}

int slice_end(const struct slice *s, struct fault *ret_fault)
{
	if (s->broken) {
		return fault_set(ret_fault, FAULT_INVALID, "malformed JSON");
	}
	enum slice_state done = s->form == SLICE_LIST ? SLICE_DONE : SLICE_BETWEEN;
	if (s->state != done && !s->stopped) {
		return fault_set(ret_fault, FAULT_TRANSIENT, "cut off after %llu bytes",
			(unsigned long long)s->taken);
	}
	return 0;
}

static bool copy_text(const char *text, char *to, size_t room)
{
	size_t n = strlen(text_or(text, ""));
	if (n >= room) {
		return false;
	}
	memcpy(to, text_or(text, ""), n + 1);
	return true;
}

int slice_list_version(const struct slice *s, struct slice_list *ret_list, struct fault *ret_fault)
{
	CLEANUP(decode_release) json_t *head = NULL;
	const char *version = NULL;
	const char *more = NULL;
	if (s->head.overflow || s->head.len == 0) {
		return fault_set(
			ret_fault, FAULT_INVALID, "list: metadata is missing or too large");
	}
	if (decode_parse(str_text(&s->head), s->head.len, DECODE_PLAIN, &head, ret_fault) < 0 ||
		decode_text(head, "resourceVersion", &version, ret_fault) < 0 ||
		decode_text(head, "continue", &more, ret_fault) < 0) {
		return fault_wrap(ret_fault, "list: metadata");
	}
	struct slice_list list = {0};
	if (text_empty(version) || !copy_text(version, list.version, sizeof list.version) ||
		!copy_text(more, list.more, sizeof list.more)) {
		return fault_set(ret_fault, FAULT_INVALID,
			"list: metadata.resourceVersion or continue is missing or too large");
	}
	*ret_list = list;
	return 0;
}

struct view slice_marked(const struct slice *s, uint8_t mark)
{
	const struct slice_span *span = &s->marks[mark - 1];
	return (struct view){str_text(&s->out) + span->at, span->n};
}
