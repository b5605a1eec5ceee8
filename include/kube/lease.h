/* Leader election on one Lease (C33).
 *
 * Only the local monotonic clock is trusted: a standby takes the Lease when it saw it unchanged for
 * duration_ms; a leader counts from the moment it SENT its last successful renewal and stops writing
 * renew_deadline_ms later, before anybody could have taken over. That is not fencing: a write already on
 * its way can still land, so every write carries preconditions as well. */
#ifndef KUBE_LEASE_H
#define KUBE_LEASE_H

#include <stdbool.h>
#include <stdint.h>

#include "kube/client.h"

#define LEASE_DURATION_MS       12000
#define LEASE_RENEW_DEADLINE_MS 8000
#define LEASE_RETRY_MS          2000

struct lease_config {
	const char *ns;
	const char *name;
	const char *identity; /* unique to this process, e.g. pod name and a random suffix */
	int64_t duration_ms;  /* 0: the constants above, for all three */
	int64_t renew_deadline_ms;
	int64_t retry_ms;
	bool may_create; /* POST the Lease if it is absent */
	bool never_lead; /* watch only: a process that must not take the Lease */
};

struct lease;

/* on_change(data, true) after winning, (data, false) after losing; from lease_step only. */
struct lease *lease_create(struct kube *kube, const struct lease_config *config,
	void (*on_change)(void *data, bool leads), void *data);
/* Cancels what is in flight; does not release. */
void lease_destroy(struct lease *l);
void lease_step(struct lease *l, int64_t now_mono_ms);
int64_t lease_deadline(const struct lease *l);

bool lease_leads(const struct lease *l);
/* Asked before each write: true only while nobody else can hold the Lease. */
bool lease_may_write(const struct lease *l, int64_t now_mono_ms);
const char *lease_holder(const struct lease *l); /* "" if nobody or unknown; borrowed until the next step */
/* How long ago the holder's renewTime was last seen to change. INT64_MAX: never since this process looks, so
 * a Lease whose holder died before we started never looks fresh. */
int64_t lease_age_ms(const struct lease *l, int64_t now_mono_ms);
int64_t lease_transitions(const struct lease *l);

/* For shutdown: stop leading at once (on_change fires at the next step) and give the Lease back. */
void lease_release(struct lease *l);
bool lease_is_released(const struct lease *l); /* the answer came, or there was nothing to release */

#endif
