/* Events of events.k8s.io/v1, written only. */
#ifndef CODEC_EVENT_H
#define CODEC_EVENT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

#define EVENT_NOTE_MAX 1024 /* bytes; the API server refuses more, so a longer note is cut */

/* All text borrowed. */
struct event {
	const char *ns; /* of the object; "" (cluster-scoped) writes to "default" */
	const char *name;
	const char *reason;
	const char *note;
	const char *action;
	bool warning;
	int64_t time_ms;	/* wall */
	const char *controller; /* reportingController */
	const char *instance;	/* reportingInstance: the pod's name */
	struct {
		const char *api_version;
		const char *kind;
		const char *ns;
		const char *name;
		const char *uid;
		const char *resource_version; /* may be NULL */
	} regarding;
	int32_t series_count; /* < 2: no series */
	int64_t series_last_ms;
};

/* Appends the body of a POST; false if it did not fit. */
bool event_write(struct str *out, const struct event *e);
/* Appends a merge patch that sets the series of an event that was posted before. */
bool event_write_series(struct str *out, int32_t count, int64_t last_ms);

#endif
