/* Carries out what the engine planned: one action, one write, one outcome.
 *
 * act_submit copies what it keeps. At most ACT_IN_FLIGHT_MAX writes are under way, the rest waits
 * in a bounded queue; conditions pass through a token bucket. Nothing is retried: a write that
 * carries preconditions either held or did not, and the engine, which sees the watch, decides what
 * comes next. A write whose fate is not known says so by fault.unknown_outcome.
 *
 * The gate is leadership: `write_ms` is asked at submit and again at the moment of sending, so
 * that what a former leader had queued is dropped with FAULT_DENIED "not leading". Outcomes come
 * exactly once per action, from act_step or from an answer, never from inside act_submit. */
#ifndef ACT_ACT_H
#define ACT_ACT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kube/client.h"
#include "kube/events.h"
#include "model/plan.h"

#define ACT_IN_FLIGHT_MAX	  64
#define ACT_QUEUE_MAX		  1024
#define ACT_TIMEOUT_MS		  10000
#define ACT_CONDITIONS_PER_SECOND 20

struct act_config {
	const char *image;	 /* of capacity pods */
	const char *pull_policy; /* NULL: the cluster's default */
	/* of the ConfigMap aliquot-capacity; creates fail with a sentence while it is empty */
	const char *owner_uid;
};

struct act_events {
	/* Failures are not logged here: whoever hears of one decides what it is worth. */
	void (*on_outcome)(void *data, const struct action *action, const struct outcome *outcome);
	/* For how long nobody else can write, 0: not now. Asked at submit and at send, when it also
	 * bounds the wait for the answer; NULL: always. */
	int64_t (*write_ms)(void *data);
	/* In which term what is sent now is sent; a placement carries it. NULL: none. */
	int64_t (*term)(void *data);
};

struct act;

/* kube and events are borrowed; events may be NULL: ACTION_EVENT is then dropped. config is copied.
 */
struct act *act_create(struct kube *kube, struct events *recorder, const struct act_config *config,
	const struct act_events *events, void *data);
/* Cancels what is in flight without outcomes. */
void act_destroy(struct act *a);
void act_set_owner(struct act *a, const char *owner_uid); /* the ConfigMap was read, or made anew */
void act_set_image(struct act *a, const char *image);	  /* of capacity pods made from now on */
void act_submit(struct act *a, const struct action *action);
void act_step(struct act *a, int64_t now_mono_ms);
int64_t act_deadline(const struct act *a);
size_t act_in_flight(const struct act *a);
size_t act_queued(const struct act *a);
/* Busy: as many writes wait as can be under way, conditions aside, which have a pace of their own.
 * Then events that are no warnings are dropped. */
bool act_is_busy(const struct act *a);
/* A placement that the API server refused because the Lease is in a later term. */
bool act_was_fenced(const struct action *x, const struct fault *f);

#endif
