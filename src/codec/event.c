/* Events of events.k8s.io/v1. */
#include "codec/event.h"

#include "base/clock.h"
#include "json/build.h"

#define SHORT_MAX 128 /* reason, action and reportingInstance: more is refused */

/* At most n bytes, never in the middle of a character. */
static struct view cut(const char *text, size_t n)
{
	struct view v = view_of(text_or(text, ""));
	if (v.n > n) {
		v.n = n;
		while (v.n > 0 && ((unsigned char)v.p[v.n] & 0xc0) == 0x80) {
			v.n--;
		}
	}
	return v;
}

static void put_cut(struct build *b, const char *key, const char *text, size_t n)
{
	build_key(b, key);
	build_view(b, cut(text, n));
}

static void put_micro(struct build *b, const char *key, int64_t ms)
{
	char buffer[TIME_TEXT_MAX];
	build_text_at(b, key, time_format_micro(ms, buffer));
}

static void put_series(struct build *b, int32_t count, int64_t last_ms)
{
	build_object_at(b, "series");
	build_i64_at(b, "count", count);
	put_micro(b, "lastObservedTime", last_ms);
	build_end(b);
}

static void put_regarding(struct build *b, const struct event *e)
{
	build_object_at(b, "regarding");
	build_text_at(b, "apiVersion", e->regarding.api_version);
	build_text_at(b, "kind", e->regarding.kind);
	build_text_at(b, "name", e->regarding.name);
	if (!text_empty(e->regarding.ns)) {
		build_text_at(b, "namespace", e->regarding.ns);
	}
	if (!text_empty(e->regarding.uid)) {
		build_text_at(b, "uid", e->regarding.uid);
	}
	if (!text_empty(e->regarding.resource_version)) {
		build_text_at(b, "resourceVersion", e->regarding.resource_version);
	}
	build_end(b);
}

bool event_write(struct str *out, const struct event *e)
{
	struct build b = build_into(out);
	build_begin_object(&b);
	build_text_at(&b, "apiVersion", "events.k8s.io/v1");
	build_text_at(&b, "kind", "Event");
	build_object_at(&b, "metadata");
	build_text_at(&b, "name", e->name);
	build_text_at(&b, "namespace", text_empty(e->ns) ? "default" : e->ns);
	build_end(&b);
	put_micro(&b, "eventTime", e->time_ms);
	build_text_at(&b, "type", e->warning ? "Warning" : "Normal");
	put_cut(&b, "reason", e->reason, SHORT_MAX);
	put_cut(&b, "action", e->action, SHORT_MAX);
	put_cut(&b, "note", e->note, EVENT_NOTE_MAX);
	build_text_at(&b, "reportingController", e->controller);
	put_cut(&b, "reportingInstance", e->instance, SHORT_MAX);
	put_regarding(&b, e);
	if (e->series_count > 1) {
		put_series(&b, e->series_count, e->series_last_ms);
	}
	build_end(&b);
	return build_ok(&b);
}

bool event_write_series(struct str *out, int32_t count, int64_t last_ms)
{
	struct build b = build_into(out);
	build_begin_object(&b);
	put_series(&b, count, last_ms);
	build_end(&b);
	return build_ok(&b);
}
