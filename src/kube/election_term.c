/* The number of the term in an object of its own, which only ever rises (C33).
 *
 * It is read before the Lease is taken, so that the Lease gets a number higher than both; it is
 * written after the Lease was taken and before anybody is told that we lead. The Lease keeps the
 * same number for versions that know nothing of the object. Where it cannot be read or written at
 * all (rights of an earlier version) the Lease's number counts alone, as it did then. */
#include "base/log.h"
#include "election_term.h"
#include "json/build.h"
#include "model/names.h"

/* Whoever leads has a Lease to renew, and asks of this only in between. */
static int64_t timeout_of(const struct election *e, enum election_stage stage)
{
	bool leads = stage == ELECTION_LOOKING || stage == ELECTION_MENDING;
	return leads ? e->config.retry_ms / 2 : election_timeout(e);
}

void term_read(struct election *e, enum election_stage stage)
{
	e->stage = stage;
	election_get(e, e->config.term, timeout_of(e, stage));
}

void term_saw(struct election *e, const struct lease *l)
{
	e->count.absent = false;
	e->count.number = l->transitions > 0 ? l->transitions : 0;
	(void)snprintf(
		e->count.version, sizeof e->count.version, "%s", text_or(l->resource_version, ""));
}

/* No time heals that, but somebody who gives us the right. A number that may not be lowered is no
 * such case: another one has written it since it was read. */
static bool is_barred(const struct fault *f)
{
	return (f->status == 403 || f->kind == FAULT_INVALID) &&
	       strstr(f->message, "ValidatingAdmissionPolicy '" NAME_FENCE) == NULL;
}

static void term_set_barred(struct election *e, bool barred)
{
	if (barred && !e->count.barred) {
		log_warn("the term cannot be kept in an object of its own, the number of the lease "
			 "counts alone",
			LOG_S("name", e->config.term), LOG_F(&e->fault));
	}
	e->count.barred = barred;
}

bool term_was_read(struct election *e)
{
	bool absent = e->fault.kind == FAULT_NOT_FOUND, barred = is_barred(&e->fault);
	if (e->fault.kind != FAULT_NONE && !absent && !barred) {
		return false;
	}
	e->count.absent = absent;
	e->count.number = e->fault.kind == FAULT_NONE ? e->count.number : 0;
	term_set_barred(e, barred);
	return true;
}

bool term_was_written(struct election *e)
{
	bool barred = is_barred(&e->fault);
	if (e->fault.kind != FAULT_NONE && !barred) {
		return false;
	}
	term_set_barred(e, barred);
	return true;
}

int32_t term_next(const struct election *e)
{
	int32_t now = e->transitions > 0 ? e->transitions : 0;
	now = e->config.term != NULL && e->count.number > now ? e->count.number : now;
	return now + (now < INT32_MAX);
}

bool term_is_due(const struct election *e, int32_t number)
{
	return e->config.term != NULL && !e->count.barred &&
	       (e->count.absent || e->count.number < number);
}

/* One that is there is changed as it was seen; one that is gone is applied, for that alone can be
 * allowed by its name. */
void term_write(struct election *e, enum election_stage stage, int32_t number)
{
	e->stage = stage;
	CLEANUP(str_finish) struct str body = STR_INIT(BODY_MAX);
	struct build b = build_into(&body);
	build_begin_object(&b);
	if (e->count.absent) {
		build_text_at(&b, "apiVersion", LEASE_GROUP);
		build_text_at(&b, "kind", "Lease");
	}
	build_object_at(&b, "metadata");
	if (e->count.absent) {
		build_text_at(&b, "name", e->config.term);
	} else {
		build_text_at(&b, "resourceVersion", e->count.version);
	}
	build_end(&b);
	build_object_at(&b, "spec");
	build_i64_at(&b, "leaseTransitions", number);
	build_end(&b);
	build_end(&b);
	ENSURE(build_ok(&b));
	election_put(e, e->config.term, &body,
		(struct kube_write){.method = WIRE_PATCH,
			.content_type = e->count.absent ? KUBE_APPLY_PATCH : KUBE_MERGE_PATCH,
			.options = e->count.absent ? KUBE_FORCE : 0,
			.timeout_ms = timeout_of(e, stage)});
}
