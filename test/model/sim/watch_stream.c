/* The server's half of a watch, and the way of its bytes to the client: in order, late, cut
 * anywhere. A watch is opened at a version or with the whole picture, and then follows history. */
#include "watch_stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "objects/api_object.h"
#include "base/str.h"
#include "objects/dice.h"
#include "network_link.h"
#include "cluster/replica.h"
#include "objects/request_path.h"

#define PENDING_MAX (8 * 1024 * 1024)
/* Who lags behind by more than this is cut off, and asks again from where it was. */
#define BEHIND_MAX  (PENDING_MAX / 2)
#define BOOKMARK_MS 50000
/* A picture that goes on after longer than this has been given up. */
#define PICTURE_STALL_MS 58000
#define INITIAL_NOTE	 "k8s.io/initial-events-end"

static const char *const type_names[] = {"ADDED", "MODIFIED", "DELETED"};

static void append_line(struct flight *f, const char *type, const char *object, size_t n)
{
	size_t before = f->pending.len;
	str_append_format(&f->pending, "{\"type\":\"%s\",\"object\":", type);
	str_append(&f->pending, object, n);
	str_append_text(&f->pending, "}\n");
	ENSURE(!f->pending.overflow);
	f->appended += f->pending.len - before;
}

/* Whoever has read as far as this has been told of that version: an object ends with its last
 * brace, whether the end of its line has come or not. */
static void mark_told(struct flight *f)
{
	struct told_mark m = {f->appended - 1, f->cursor};
	VEC_PUSH(&f->marks, m);
}

static void read_marks(struct flight *f, size_t n)
{
	bool *partial = &f->link->sim->memory.partial[f->link->replica][f->resource];
	*partial = *partial || (f->whole && n > 0 && f->delivered == 0);
	if (*partial) {
		struct sim *s = f->link->sim;
		s->memory.pictured_at[f->link->replica][f->resource] = sim_now(s);
	}
	f->delivered += n;
	size_t passed = 0;
	while (passed < f->marks.count && f->marks.items[passed].end <= f->delivered) {
		past_told(f->link->sim, f->link->replica, f->resource,
			f->marks.items[passed++].version);
	}
	f->marks.count -= passed;
	if (passed > 0) {
		memmove(f->marks.items, f->marks.items + passed,
			f->marks.count * sizeof *f->marks.items);
	}
}

static void append_bookmark(struct flight *f, bool initial)
{
	char text[256];
	snprintf(text, sizeof text,
		"{\"kind\":\"Bookmark\",\"metadata\":{\"resourceVersion\":\"%lld\"%s}}",
		(long long)f->cursor,
		initial ? ",\"annotations\":{\"" INITIAL_NOTE "\":\"true\"}" : "");
	append_line(f, "BOOKMARK", text, strlen(text));
	mark_told(f);
}

static void append_error(struct flight *f)
{
	struct api_answer gone = {0};
	api_status(&gone, 410, "Expired", "too old resource version");
	append_line(f, "ERROR", gone.body, strlen(gone.body));
	free(gone.body);
	f->over = true;
}

static void append_picture(struct flight *f)
{
	const struct store *store = &f->link->sim->store;
	for (size_t i = 0; i < store->items.count; i++) {
		const struct stored *o = store->items.items[i];
		if (o->resource == f->resource) {
			char *text = value_text(o->value);
			append_line(f, "ADDED", text, strlen(text));
			free(text);
		}
	}
	f->cursor = store->version;
	append_bookmark(f, true);
}

/* What happened since the cursor. Now and then something is said twice. */
static void append_news(struct flight *f)
{
	struct sim *s = f->link->sim;
	if (f->cursor < s->store.compacted) {
		append_error(f);
		return;
	}
	size_t at = s->store.past.count;
	while (at > 0 && s->store.past.items[at - 1].version > f->cursor) {
		at--;
	}
	for (; at < s->store.past.count; at++) {
		const struct past *p = &s->store.past.items[at];
		if (p->resource != f->resource) {
			continue;
		}
		if (f->pending.len > BEHIND_MAX) {
			f->over = true;
			return;
		}
		append_line(f, type_names[p->type], p->text, p->size);
		f->cursor = p->version;
		mark_told(f);
		struct dice back = dice_enter(
			s, dice_next(s, "news", NULL, p->about + (uint64_t)f->link->replica));
		if (dice_falls(s, "duplicate", s->weather.duplicate)) {
			const char *again =
				p->type == PAST_ADDED ? "MODIFIED" : type_names[p->type];
			dice_say(s, "r%d is told of version %lld twice", f->link->replica,
				(long long)p->version);
			append_line(f, again, p->text, p->size);
		}
		dice_leave(s, back);
	}
}

static bool has_news(const struct flight *f)
{
	const struct store *store = &f->link->sim->store;
	if (f->cursor < store->compacted) {
		return true;
	}
	for (size_t i = store->past.count; i-- > 0;) {
		if (store->past.items[i].version <= f->cursor) {
			return false;
		}
		if (store->past.items[i].resource == f->resource) {
			return true;
		}
	}
	return false;
}

static void end_stream(struct flight *f, bool broken)
{
	struct wire_answer answer = {.status = 200, .body = ""};
	if (broken) {
		fault_set(&answer.fault, FAULT_TRANSIENT, "the connection broke");
	}
	flight_end(f->link, f->id, &answer);
}

/* Bytes reach the client: all of them, or as far as they have come. */
static void watch_pump(void *data, uint64_t id)
{
	struct link *l = data;
	struct sim *s = l->sim;
	struct flight *f = flight_find(l, id);
	if (f == NULL) {
		return;
	}
	f->pumping = false;
	int64_t held = s->slots[l->replica].paused_until;
	if (sim_now(s) < held || sim_now(s) < l->cut_until) {
		f->pumping = true;
		agenda_add(
			&s->agenda, held > l->cut_until ? held : l->cut_until, watch_pump, l, id);
		return;
	}
	if (!f->over) {
		append_news(f);
	}
	struct dice back = dice_enter(s, f->scope + 1);
	bool breaks = dice_falls(s, "stream break", s->weather.stream_break);
	if (breaks) {
		dice_say(s, "r%d: the watch of %s breaks", l->replica, resource_name(f->resource));
	}
	size_t n = f->pending.len;
	uint32_t cuts = f->picture && s->weather.stall > 0 ? 800 : 200;
	if (n > 0 && (breaks || sim_chance(s, cuts))) {
		n = (size_t)sim_between(s, 0, (int64_t)n);
	}
	dice_leave(s, back);
	char *bytes = xstrndup(str_text(&f->pending), n);
	if (n > 0) {
		memmove(f->pending.p, f->pending.p + n, f->pending.len - n);
		f->pending.len -= n;
	}
	f->picture = f->picture && f->pending.len > 0;
	read_marks(f, n);
	bool over = f->over && f->pending.len == 0;
	bool goes_on = n == 0 || f->events->on_data(f->data, 200, bytes, n);
	free(bytes);
	f = flight_find(l, id);
	replica_wake(s->slots[l->replica].replica, sim_now(s));
	if (f == NULL) {
		return;
	}
	if (!goes_on || over || breaks) {
		end_stream(f, breaks && goes_on);
	} else if (f->pending.len > 0 || has_news(f)) {
		watch_pump_soon(f);
	}
}

void watch_pump_soon(struct flight *f)
{
	struct sim *s = f->link->sim;
	if (f->pumping) {
		return;
	}
	f->pumping = true;
	/* Named by what was written last, that is what it is about to tell. */
	uint64_t about =
		s->store.past.count > 0 ? s->store.past.items[s->store.past.count - 1].about : 0;
	f->scope = dice_next(
		s, "pump", resource_name(f->resource), about + (uint64_t)f->link->replica);
	struct dice back = dice_enter(s, f->scope);
	int64_t delay = sim_between(s, 0, s->weather.latency_ms);
	if (dice_falls(s, f->picture ? "slow picture" : "lag",
		    f->picture ? s->weather.stall : s->weather.stream_lag)) {
		delay += sim_between(s, 0, f->picture ? PICTURE_STALL_MS : s->weather.lag_ms);
		dice_say(s, "r%d: the watch of %s waits %lld ms", f->link->replica,
			resource_name(f->resource), (long long)delay);
	}
	dice_leave(s, back);
	agenda_add(&s->agenda, sim_now(s) + delay, watch_pump, f->link, f->id);
}

static void bookmark(void *data, uint64_t id)
{
	struct link *l = data;
	struct flight *f = flight_find(l, id);
	if (f == NULL || f->over) {
		return;
	}
	append_news(f);
	if (!f->over) {
		f->cursor = l->sim->store.version;
		append_bookmark(f, false);
		f->over = sim_now(l->sim) >= f->ends_at;
	}
	watch_pump_soon(f);
	agenda_add(&l->sim->agenda, sim_now(l->sim) + BOOKMARK_MS, bookmark, l, id);
}

bool watch_open(struct flight *f, const struct api_request *r, struct api_answer *ret_answer)
{
	char version[32], seconds[16];
	struct sim *s = f->link->sim;
	struct api_path p;
	int64_t from = 0, timeout_s = 300;
	*ret_answer = (struct api_answer){0};
	if (!api_path_parse(r->path, &p) || !api_resource(&p, &f->resource)) {
		api_status(ret_answer, 404, "NotFound", "no such resource");
		return false;
	}
	if (api_query(p.query, "timeoutSeconds", seconds, sizeof seconds) &&
		!parse_i64(view_of(seconds), 1, 3600, &timeout_s)) {
		timeout_s = 300;
	}
	f->pending = (struct str)STR_INIT(PENDING_MAX);
	f->ends_at = sim_now(s) + timeout_s * 1000;
	bool begins = strstr(p.query, "sendInitialEvents=true") != NULL;
	if (begins && s->weather.paged) {
		api_status(ret_answer, 422, "Invalid", "sendInitialEvents is forbidden");
		return false;
	}
	if (begins) {
		append_picture(f);
		f->picture = f->whole = true;
	} else if (!api_query(p.query, "resourceVersion", version, sizeof version) ||
		   !parse_i64(view_of(version), 1, INT64_MAX, &from)) {
		api_status(ret_answer, 400, "BadRequest", "a watch from nowhere");
		return false;
	} else {
		f->cursor = from;
	}
	f->open = true;
	f->opened_at = sim_now(s);
	watch_pump_soon(f);
	agenda_add(&s->agenda, sim_now(s) + BOOKMARK_MS, bookmark, f->link, f->id);
	return true;
}
