/* What became of an action. Success is kept as acknowledged until the watch shows it; failure is
 * forgotten; what may or may not have happened counts as having happened until the watch tells. */
#include "ledger/settle.h"

#include "base/rand.h"
#include "ledger/ledger.h"
#include "record/tables.h"

#define AVOID_CONFLICT_MS 5000
#define AVOID_REFUSED_MS  15000
#define ASSUME_MS	  30000
/* What was acknowledged under a number is shown under that or a higher one, or its pod is gone: a
 * watch that is silent for longer is late. Only numbers that went back could be waited for in vain.
 */
#define ASSUME_NUMBERED_MS 600000
/* A creation that was refused is remembered for so long after it may be tried again. */
#define REFUSED_KEPT_MS 60000

/* C20: the answer must still show the same pod, running and not on its way out. */
static bool answer_is_sound(const struct holder *h, const struct pod *p)
{
	return p != NULL && text_equals(p->uid, h->uid) && p->phase == POD_RUNNING &&
	       p->deleting_ms == 0;
}

static void avoid(struct holder *h, const char *version, int64_t now, int64_t ms)
{
	text_set(&h->avoid_rv, version);
	h->avoid_until = now + ms;
}

/* The version that was written from is of no use any more; where the watch has moved past it
 * already, it has shown what became of the write, and there is nothing to wait for. */
static void avoid_written(struct holder *h, int64_t now)
{
	if (h->in_world && version_passed(h->pod.resource_version, h->flight_rv)) {
		holder_drop_asked(h);
		return;
	}
	avoid(h, h->flight_rv, now, AVOID_CONFLICT_MS);
}

static int64_t assume_ms(const char *version)
{
	int64_t number;
	return parse_i64(view_of(version), 0, INT64_MAX, &number) ? ASSUME_NUMBERED_MS : ASSUME_MS;
}

static void settle_grant(struct holder *h, int64_t now, const struct outcome *o)
{
	if (o->fault.kind == FAULT_NONE && answer_is_sound(h, o->pod)) {
		h->trust.sure = true;
		const char *version = o->pod->resource_version;
		const char *shown = h->in_world ? h->pod.resource_version : NULL;
		if (text_equals(shown, version) || version_passed(shown, version)) {
			/* The watch was faster than the answer. */
			holder_drop_asked(h);
			return;
		}
		text_set(&h->acked_rv, version);
		h->acked_at = now;
		h->expires_at = now + assume_ms(version);
		return;
	}
	bool may_have_happened = o->fault.kind == FAULT_NONE || o->fault.unknown_outcome;
	bool refused = o->fault.kind == FAULT_DENIED || o->fault.kind == FAULT_INVALID;
	/* What was acknowledged before and is not shown yet is forgotten with this one: the watch
	 * shows what somebody had earlier, perhaps more. */
	bool shown = h->in_world && (text_equals(h->pod.resource_version, h->flight_rv) ||
					    version_passed(h->pod.resource_version, h->flight_rv));
	h->trust.sure = h->trust.sure && shown && !(may_have_happened && h->trust.strikes);
	if (refused) {
		avoid(h, h->pod.resource_version, now, AVOID_REFUSED_MS);
	} else {
		avoid_written(h, now);
	}
	if (!may_have_happened) {
		holder_drop_asked(h);
	}
}

static void settle_create(struct rng *rng, struct holder *h, int64_t now, const struct outcome *o)
{
	text_set(&h->refusal, NULL);
	if (o->fault.kind == FAULT_NONE && o->pod != NULL) {
		text_set(&h->uid, o->pod->uid);
		h->backoff.attempt = 0;
		h->expires_at = now + ASSUME_MS;
		return;
	}
	if (o->fault.kind == FAULT_NONE || o->fault.unknown_outcome) {
		/* The name is deterministic: if it exists the watch will show it, if not it is
		 * asked for again. */
		h->expires_at = now + AVOID_CONFLICT_MS;
		return;
	}
	/* The node had no part in this: not leading, a full queue, no right to. The name rests, and
	 * with it whoever chose it. */
	text_set(&h->refusal, o->fault.message);
	h->retry_at = now + backoff_next(&h->backoff, rng);
	h->expires_at = h->retry_at + REFUSED_KEPT_MS;
}

static void settle_delete(struct holder *h, int64_t now, const struct outcome *o)
{
	if (o->fault.kind == FAULT_NONE || o->fault.kind == FAULT_NOT_FOUND) {
		h->deleted = true;
		h->expires_at = now + ASSUME_MS;
		return;
	}
	/* A ledger that was acknowledged before the deletion was asked for still counts. */
	if (!version_passed(h->pod.resource_version, h->flight_rv)) {
		avoid(h, h->flight_rv, now, AVOID_CONFLICT_MS);
	}
}

/* Nothing more from the version that was written from: the watch brings another one, if it has not
 * already. */
static void await_version(struct waiter *w, int64_t until)
{
	if (!version_passed(w->pod.resource_version, w->flight_rv)) {
		text_set(&w->placed_rv, w->flight_rv);
		w->placed_until = until;
	}
}

/* --- words --- */

static struct pod pod_as_judged(const struct pod *pod)
{
	struct pod judged = *pod;
	judged.resource_version = NULL;
	judged.placed = (struct pod_condition){0};
	return judged;
}

static bool is_as_judged(const struct pod *shown, const struct pod *judged)
{
	const struct pod a = pod_as_judged(shown), b = pod_as_judged(judged);
	return record_equals(&pod_table, &a, &b);
}

/* A word of ours makes another version of a tenant, which a watch that is behind shows late, and
 * until then its placement would meet a conflict. The answer shows all of the pod under that
 * version. Whoever else wrote before, it is what was judged, or this says nothing. */
void word_settle(struct book *book, const struct outcome *o)
{
	struct waiter *w = o->fault.kind == FAULT_NONE && o->pod != NULL
				   ? waiter_find(book, text_or(o->pod->uid, ""))
				   : NULL;
	if (w == NULL || !version_after(o->pod->resource_version, waiter_version(w)) ||
		!is_as_judged(o->pod, &w->pod)) {
		return;
	}
	text_set(&w->word_from, w->pod.resource_version);
	text_set(&w->word_rv, o->pod->resource_version);
}

static void settle_place(struct waiter *w, struct book *book, int64_t now, const struct outcome *o)
{
	uint64_t flight = w->flight;
	waiter_heard(book, w);
	text_set(&w->refusal, NULL);
	if (o->fault.kind == FAULT_NONE) {
		w->backoff.attempt = 0;
		await_version(w, now + ASSUME_MS);
		return;
	}
	if (o->fault.kind == FAULT_CONFLICT) {
		text_set(&w->word_from, NULL);
	}
	if (o->fault.kind == FAULT_CONFLICT || o->fault.unknown_outcome) {
		/* Someone else wrote it, or our own write arrived after all: the watch brings
		 * another version. */
		await_version(w, now + AVOID_CONFLICT_MS);
		return;
	}
	landing_failed(w, flight);
	text_set(&w->refusal, o->fault.message);
	w->retry_at = now + backoff_next(&w->backoff, book->rng);
}

bool flight_settle(struct book *book, int64_t now, uint64_t id, const struct outcome *o)
{
	struct holder *h = holder_of_flight(book, id);
	struct waiter *w = h == NULL ? waiter_of_flight(book, id) : NULL;
	if (w != NULL) {
		settle_place(w, book, now, o);
	}
	if (h == NULL) {
		return w != NULL;
	}
	holder_heard(book, h);
	if (h->flight_type == ACTION_GRANT) {
		settle_grant(h, now, o);
	} else if (h->flight_type == ACTION_CREATE_CAPACITY) {
		settle_create(book->rng, h, now, o);
	} else {
		settle_delete(h, now, o);
	}
	return true;
}
