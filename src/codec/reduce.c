/* An object that says more than is parsed: the part of it that somebody needs, cut out as from a
 * stream. */
#include "parts.h"

static bool take(void *data, struct view type, const char *json, size_t n)
{
	(void)type;
	return str_append(data, json, n);
}

static const struct slice_events events = {.on_object = take};
static const struct view begin = {"{\"type\":\"ADDED\",\"object\":", 25};

bool parts_reduce(const char *json, size_t n, const struct slice_keep *keep, struct str *out)
{
	const struct view end = VIEW("}");
	struct slice s;
	str_reset(out);
	slice_init(&s, SLICE_WATCH, keep, &events, out);
	bool done = slice_push(&s, begin.p, begin.n, NULL) == 0 &&
		    slice_push(&s, json, n, NULL) == 0 && slice_push(&s, end.p, end.n, NULL) == 0;
	slice_finish(&s);
	return done && out->len > 0 && !out->overflow;
}

/* The event and its object are open then, and nothing of it that is kept. */
#define FRAMES_OPEN 2

bool parts_reduce_beginning(
	const char *json, size_t n, const struct slice_keep *keep, struct str *out)
{
	struct slice s;
	str_reset(out);
	slice_init(&s, SLICE_WATCH, keep, &events, out);
	bool done = slice_push(&s, begin.p, begin.n, NULL) == 0 &&
		    slice_push(&s, json, n, NULL) == 0 && s.frames == FRAMES_OPEN &&
		    s.sink == NULL && str_append(out, str_text(&s.out), s.out.len) &&
		    str_append_char(out, '}');
	slice_finish(&s);
	return done;
}
