/* The levels that the splitter looks into: the list or the event, the array of items, and what the
 * projection names below them. In these every key and comma is read and written anew; what a
 * projection keeps or drops whole is left to slice_raw.c. */
#include "slice_frame.h"

#define KEEP_BYTES ((size_t)64 << 10)
#define TRIM_FROM  ((size_t)256 << 10)

enum role {
	ROLE_LIST,   /* the document of a list */
	ROLE_ITEMS,  /* its array of items */
	ROLE_EVENT,  /* one event of a watch */
	ROLE_OBJECT, /* inside an object that will be emitted */
	ROLE_HEAD,   /* inside the list's metadata */
};

static const struct slice_keep head_keep[] = {
	SLICE_KEEP("resourceVersion"),
	SLICE_KEEP("continue"),
	SLICE_END,
};

/* --- what goes where --- */

static struct slice_frame *innermost_frame(struct slice *s)
{
	return &s->frame[s->frames - 1];
}

static struct str *sink_of(struct slice *s, enum role role)
{
	switch (role) {
	case ROLE_OBJECT:
		return s->refused ? NULL : &s->out;
	case ROLE_HEAD:
		return &s->head;
	case ROLE_LIST:
	case ROLE_ITEMS:
	case ROLE_EVENT:
		break;
	}
	return NULL;
}

static void sink_put(struct slice *s, struct str *sink, const char *p, size_t n)
{
	if (sink != NULL && !slice_append(sink, p, n) && sink == &s->out) {
		s->refused = true;
	}
}

/* Frame `i` is that of an object that will be emitted, not of a part of it. */
static bool is_outermost(const struct slice *s, uint32_t i)
{
	return s->frame[i].role == ROLE_OBJECT && s->frame[i - 1].role != ROLE_OBJECT;
}

static bool push_frame(struct slice *s, enum role role, const struct slice_keep *keep,
	uint32_t most, bool is_array)
{
	if (s->frames == SLICE_FRAMES_MAX) {
		return false;
	}
	s->frame[s->frames++] = (struct slice_frame){.keep = keep,
		.role = (uint8_t)role,
		.is_array = is_array,
		.most = most,
		.from = s->out.len};
	if (s->frames > 2 && is_outermost(s, s->frames - 2)) {
		s->part_from = s->out.len;
	}
	s->state = is_array ? SLICE_VALUE_OR_END : SLICE_KEY_OR_END;
	sink_put(s, sink_of(s, role), is_array ? "[" : "{", 1);
	return true;
}

static const struct slice_keep *find_listed(const struct slice_keep *keep, struct view key)
{
	for (; keep->key != NULL; keep++) {
		bool fits = keep->prefix ? key.n >= keep->key_size : key.n == keep->key_size;
		if (fits && memcmp(key.p, keep->key, keep->key_size) == 0) {
			return keep;
		}
	}
	return NULL;
}

/* --- objects --- */

static void object_begin(struct slice *s, uint64_t at)
{
	s->in_object = true;
	s->has_object = false;
	s->refused = false;
	s->cut = false;
	memset(s->marks, 0, sizeof s->marks);
	s->opened = at;
	str_reset(&s->out);
}

static struct view event_type(const struct slice *s)
{
	if (s->type.overflow || s->type.len < 2 || s->type.p[0] != '"') {
		return VIEW("");
	}
	return (struct view){s->type.p + 1, s->type.len - 2};
}

static void object_end(struct slice *s, uint64_t at)
{
	s->in_object = false;
	if (s->refused || at - s->opened > SLICE_RAW_MAX) {
		if (s->events->on_oversize != NULL) {
			s->events->on_oversize(s->data);
		}
	} else if (!s->events->on_object(s->data, event_type(s), str_text(&s->out), s->out.len)) {
		s->stopped = true;
	}
	s->refused = false;
	str_reset(&s->out);
	if (s->out.cap > TRIM_FROM) {
		str_trim_capacity(&s->out, KEEP_BYTES);
	}
}

/* --- values --- */

struct plan {
	enum role role;
	struct str *sink;
	const struct slice_keep *inside;
	uint32_t most;
	uint8_t mark;
};

/* Whether the next element of a bounded array or map is one too many. */
static bool has_no_room(const struct slice *s, const struct slice_frame *f)
{
	size_t most = f->most;
	if (most == 0 || (!f->is_array && !s->listed->prefix)) {
		return false;
	}
	most = !f->is_array && s->listed->key_size == 0 ? most / 2 : most;
	return s->out.len - f->from > most || s->out.len - s->part_from > SLICE_LISTS_MAX;
}

static struct plan plan_member(struct slice *s, struct slice_frame *f)
{
	struct plan plan = {.role = (enum role)f->role, .sink = sink_of(s, (enum role)f->role)};
	bool left_out = !f->is_array && s->listed == NULL;
	if (!left_out && plan.sink == &s->out && has_no_room(s, f)) {
		s->cut = left_out = true;
	}
	if (left_out) {
		plan.sink = NULL;
		return plan;
	}
	plan.inside = f->is_array ? f->keep : s->listed->inside;
	plan.most = f->is_array ? f->most : s->listed->most;
	plan.mark = f->is_array ? 0 : s->listed->mark;
	s->value.before = s->out.len;
	s->value.wrote = f->wrote;
	if (f->wrote) {
		sink_put(s, plan.sink, ",", 1);
	}
	f->wrote = true;
	if (!f->is_array) {
		sink_put(s, plan.sink, s->key.p, s->key.len);
		sink_put(s, plan.sink, ":", 1);
	}
	return plan;
}

static struct plan plan_event(struct slice *s)
{
	struct view key = {s->key.p + 1, s->key.len - 2};
	if (view_equals(key, "type")) {
		str_reset(&s->type);
		return (struct plan){.role = ROLE_EVENT, .sink = &s->type};
	}
	if (!view_equals(key, "object")) {
		return (struct plan){.role = ROLE_EVENT};
	}
	str_reset(&s->out);
	s->has_object = true;
	/* The object of an ERROR is a Status, which no projection knows. */
	bool whole = view_equals(event_type(s), "ERROR");
	return (struct plan){.role = ROLE_OBJECT,
		.sink = sink_of(s, ROLE_OBJECT),
		.inside = whole ? NULL : s->keep};
}

static struct plan plan_list(struct slice *s, char first)
{
	struct view key = {s->key.p + 1, s->key.len - 2};
	if (view_equals(key, "metadata")) {
		str_reset(&s->head);
		return (struct plan){.role = ROLE_HEAD, .sink = &s->head, .inside = head_keep};
	}
	if (view_equals(key, "items") && first == '[') {
		push_frame(s, ROLE_ITEMS, NULL, 0, true);
	}
	return (struct plan){.role = ROLE_LIST};
}

/* Begins the value whose first byte is next. True if that byte, a bracket, opened a frame. */
bool slice_begin_value(struct slice *s, char first, uint64_t at)
{
	struct slice_frame *f = innermost_frame(s);
	uint32_t before = s->frames;
	struct plan plan = {.role = ROLE_OBJECT};
	switch ((enum role)f->role) {
	case ROLE_LIST:
		plan = plan_list(s, first);
		break;
	case ROLE_ITEMS:
		object_begin(s, at);
		plan = (struct plan){.role = ROLE_OBJECT, .sink = &s->out, .inside = s->keep};
		break;
	case ROLE_EVENT:
		plan = plan_event(s);
		break;
	case ROLE_OBJECT:
	case ROLE_HEAD:
		plan = plan_member(s, f);
		break;
	}
	if (s->frames > before) {
		return true;
	}
	bool is_array = first == '[';
	bool nested = is_array && f->is_array && f->role != ROLE_ITEMS;
	if (plan.inside != NULL && plan.sink != NULL && !nested && (is_array || first == '{') &&
		push_frame(s, plan.role, plan.inside, f->is_array ? 0 : plan.most, is_array)) {
		return true;
	}
	s->sink = plan.sink;
	s->value.from = s->out.len;
	s->value.most = plan.most;
	s->value.mark = plan.mark;
	s->raw_depth = 0;
	s->state = first == '"' || first == '{' || is_array ? SLICE_RAW : SLICE_SCALAR;
	return false;
}

void slice_drop_value(struct slice *s)
{
	str_truncate(&s->out, s->value.before);
	innermost_frame(s)->wrote = s->value.wrote;
	s->cut = true;
	s->sink = NULL;
}

void slice_end_value(struct slice *s, uint64_t at)
{
	if (s->value.mark > 0 && s->sink == &s->out) {
		s->marks[s->value.mark - 1] =
			(struct slice_span){s->value.from, s->out.len - s->value.from};
	}
	s->value.mark = 0;
	s->sink = NULL;
	s->state = SLICE_COMMA;
	if (innermost_frame(s)->role == ROLE_ITEMS) {
		object_end(s, at);
	}
}

/* An object says at its end whether it is all there. */
static void put_cut(struct slice *s, const struct slice_frame *f)
{
	if (s->cut && is_outermost(s, s->frames - 1)) {
		const struct view said = VIEW("\"" SLICE_CUT "\":true");
		sink_put(s, sink_of(s, ROLE_OBJECT), ",", f->wrote ? 1 : 0);
		sink_put(s, sink_of(s, ROLE_OBJECT), said.p, said.n);
	}
}

bool slice_end_frame(struct slice *s, char c, uint64_t at)
{
	struct slice_frame *f = innermost_frame(s);
	if ((c == ']') != f->is_array) {
		return false;
	}
	enum role role = (enum role)f->role;
	put_cut(s, f);
	sink_put(s, sink_of(s, role), &c, 1);
	s->frames--;
	if (role == ROLE_LIST) {
		s->state = SLICE_DONE;
		return true;
	}
	if (role != ROLE_EVENT) {
		slice_end_value(s, at);
		return true;
	}
	s->state = SLICE_BETWEEN;
	if (!s->has_object) {
		return false;
	}
	object_end(s, at);
	return true;
}

/* --- keys --- */

/* The closing quote was read. A key that is too long or spelled with escapes is nobody's. */
static void end_key(struct slice *s)
{
	const struct slice_frame *f = innermost_frame(s);
	if (s->key.overflow || (s->key_escaped && f->role != ROLE_OBJECT)) {
		str_reset(&s->key);
		str_append_text(&s->key, "\"\"");
		s->listed = NULL;
	} else if (f->keep != NULL) {
		struct view key = {s->key.p + 1, s->key.len - 2};
		s->listed = find_listed(f->keep, s->key_escaped ? VIEW("") : key);
	}
	s->state = SLICE_COLON;
}

void slice_read_key(struct slice *s, struct slice_input *in)
{
	const char *from = in->p;
	bool closed = false;
	while (in->p < in->end && !closed) {
		if (s->escaped) {
			s->escaped = false;
			in->p++;
			continue;
		}
		in->p = scan_string(in->p, in->end);
		if (in->p < in->end) {
			closed = *in->p == '"';
			s->escaped = !closed;
			s->key_escaped |= s->escaped;
			in->p++;
		}
	}
	slice_append(&s->key, from, (size_t)(in->p - from));
	if (closed) {
		end_key(s);
	}
}

void slice_begin_key(struct slice *s)
{
	str_reset(&s->key);
	slice_append(&s->key, "\"", 1);
	s->key_escaped = false;
	s->state = SLICE_IN_KEY;
}

/* --- documents --- */

bool slice_begin_document(struct slice *s, uint64_t at)
{
	if (s->form == SLICE_WATCH) {
		str_reset(&s->type);
		object_begin(s, at);
	}
	return push_frame(s, s->form == SLICE_LIST ? ROLE_LIST : ROLE_EVENT, NULL, 0, false);
}
