/* The recorder for events.k8s.io/v1.
 *
 * Events are for people and are shed first. The same sentence about the same object becomes a
 * series: the first is written at once, then at most one write in EVENTS_REPEAT_MS carries the
 * count. A queue of EVENTS_QUEUE_MAX and a token bucket bound what we ask of the API server; what
 * does not fit is dropped and counted. */
#ifndef KUBE_EVENTS_H
#define KUBE_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kube/client.h"

#define EVENTS_QUEUE_MAX  256
#define EVENTS_KEYS_MAX	  1024
#define EVENTS_REPEAT_MS  300000
#define EVENTS_PER_SECOND 5
#define EVENTS_BURST	  25
#define EVENTS_NOTE_MAX	  1024 /* the API server's own limit */

struct event_note {
	/* what it is about */
	const char *api_version;
	const char *kind;
	const char *ns; /* "" for a cluster-scoped object: the event then lives in "default" */
	const char *name;
	const char *uid;
	const char *reason; /* CamelCase */
	const char *action; /* what was done or tried; NULL: the reason */
	const char *note;   /* the sentence */
	bool warning;
};

struct events;

struct events *events_create(
	struct kube *kube, const char *controller, const char *instance, uint64_t seed);
void events_destroy(struct events *e);
/* Copies what it keeps. False: dropped. */
bool events_emit(struct events *e, const struct event_note *note);
void events_step(struct events *e, int64_t now_mono_ms);
int64_t events_deadline(const struct events *e);
size_t events_queued(const struct events *e);

#endif
