/* Events of events.k8s.io/v1. */
#include "codec/event.h"

#include "json/fields.h"

#define SHORT_MAX 128 /* reason, action and reportingInstance: more is refused */

static bool has_series(const void *event)
{
	return ((const struct event *)event)->series_count > 1;
}

#define E(member) AT(event, member)
static const struct field event_fields[] = {
	FIELD("apiVersion", constant, .words = WORDS("events.k8s.io/v1")),
	FIELD("kind", constant, .words = WORDS("Event")),
	FIELD("metadata.name", text, E(name), .always = true),
	FIELD("metadata.namespace", text, E(ns), .always = true),
	FIELD("eventTime", micro, E(time_ms), .always = true),
	FIELD("type", choice, E(warning), .words = WORDS("Normal", "Warning")),
	FIELD("reason", text, E(reason), .always = true, .max = SHORT_MAX),
	FIELD("action", text, E(action), .always = true, .max = SHORT_MAX),
	FIELD("note", text, E(note), .always = true, .max = EVENT_NOTE_MAX),
	FIELD("reportingController", text, E(controller), .always = true),
	FIELD("reportingInstance", text, E(instance), .always = true, .max = SHORT_MAX),
	FIELD("regarding.apiVersion", text, E(regarding.api_version), .always = true),
	FIELD("regarding.kind", text, E(regarding.kind), .always = true),
	FIELD("regarding.name", text, E(regarding.name), .always = true),
	FIELD("regarding.namespace", text, E(regarding.ns)),
	FIELD("regarding.uid", text, E(regarding.uid)),
	FIELD("regarding.resourceVersion", text, E(regarding.resource_version)),
	FIELD("series.count", i32, E(series_count), .always = true, .when = has_series),
	FIELD("series.lastObservedTime", micro, E(series_last_ms), .always = true,
		.when = has_series),
};
static const struct shape event_shape = {SHAPE(event, event_fields)};

bool event_write(struct str *out, const struct event *e)
{
	struct event event = *e;
	event.ns = text_empty(e->ns) ? "default" : e->ns;
	return fields_encode(out, &event_shape, &event);
}

bool event_write_series(struct str *out, int32_t count, int64_t last_ms)
{
	const struct event event = {.series_count = count, .series_last_ms = last_ms};
	struct build b = build_into(out);
	build_begin_object(&b);
	build_object_at(&b, "series");
	fields_write(&b, &event_shape, "series", &event);
	build_end(&b);
	build_end(&b);
	return build_ok(&b);
}
