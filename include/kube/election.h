/* Leader election on one Lease (C33).
 *
 * Only the local monotonic clock is trusted: a standby takes the Lease when it saw it unchanged for
 * duration_ms; a leader counts from the moment it SENT its last successful renewal and stops
 * writing renew_deadline_ms later, before anybody could have taken over. A write that is on its way
 * can still land, so every write carries preconditions, and those that need it the term: each
 * acquisition raises spec.leaseTransitions, and the API server refuses what is of a lower one. The
 * same number stands in an object of its own, `term`, which nothing lowers: whoever takes the Lease
 * takes a number higher than both, and leads when both say it. While it leads it looks at `term`
 * every ten seconds: one that is gone or was lowered is written again, a higher one ends its lead.
 */
#ifndef KUBE_ELECTION_H
#define KUBE_ELECTION_H

#include <stdbool.h>
#include <stdint.h>

#include "kube/client.h"

#define ELECTION_DURATION_MS	   12000
#define ELECTION_RENEW_DEADLINE_MS 8000
#define ELECTION_RETRY_MS	   2000

struct election_config {
	const char *ns;
	const char *name;
	const char *term;     /* the Lease that keeps the number of the term; NULL: `name` alone */
	const char *identity; /* unique to this process, e.g. pod name and a random suffix */
	int64_t duration_ms;  /* 0: the constants above, for all three */
	int64_t renew_deadline_ms;
	int64_t retry_ms;
	bool may_create; /* POST the Lease if it is absent */
	bool never_lead; /* watch only: a process that must not take the Lease */
};

struct election;

/* on_change(data, true) after winning, (data, false) after losing; from election_step only. */
struct election *election_create(struct kube *kube, const struct election_config *config,
	void (*on_change)(void *data, bool leads), void *data);
/* Cancels what is in flight; does not release. */
void election_destroy(struct election *e);
void election_step(struct election *e, int64_t now_mono_ms);
int64_t election_deadline(const struct election *e);

bool election_leads(const struct election *e);
/* Asked before each write: true only while nobody else can hold the Lease. */
bool election_may_write(const struct election *e, int64_t now_mono_ms);
/* How long from now until somebody else could hold it; 0 where election_may_write is false. A write
 * whose answer is not here by then is given up. */
int64_t election_write_ms(const struct election *e, int64_t now_mono_ms);
const char *election_holder(
	const struct election *e); /* "" if nobody or unknown; borrowed until the next step */
/* How long ago the holder's renewTime was last seen to change. INT64_MAX: never since this process
 * looks, so a Lease whose holder died before we started never looks fresh. */
int64_t election_age_ms(const struct election *e, int64_t now_mono_ms);
/* The version of the Lease as last read or written: the holder writes it every two seconds, so one
 * that is new is of about this moment. "": it was not read yet. Borrowed until the next step. */
const char *election_version(const struct election *e);
/* The number of the last acquisition of this process, 1 or more; it is known
 * before election_leads is true, and no other acquisition has the same. 0: it never led. */
int64_t election_term(const struct election *e);
/* Something says that the Lease is another's by now: it is read again, soon. */
void election_doubt(struct election *e);

/* What whoever leads next should know, at most ELECTION_HEARD_MAX - 1 bytes: kept in an annotation
 * of the Lease from the next renewal on. Only who leads says so; "": nothing. */
#define ELECTION_HEARD_MAX ((size_t)16 << 10)
void election_keep(struct election *e, const char *heard);
/* The same as it stands there; "" if nothing does. Borrowed until the next step. */
const char *election_heard(const struct election *e);

/* For whoever asks after the state of the installation: the policy that refuses the canary, NULL:
 * none does. Kept as above. */
void election_tell_refusal(struct election *e, const char *policy);

/* For shutdown: stop leading at once (on_change fires at the next step) and give the Lease back. */
void election_release(struct election *e);
/* Whether this process takes the Lease as soon as it is free. */
bool election_takes_part(const struct election *e);
bool election_is_released(
	const struct election *e); /* the answer came, or there was nothing to release */

#endif
