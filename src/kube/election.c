/* The election. Once a retry interval: read the Lease, or, while leading, renew it by a patch that
 * carries the version last seen. Renewals that meet a conflict read first and then decide. */
#include "kube/election.h"

#include "base/alloc.h"
#include "base/log.h"
#include "election_term.h"
#include "json/build.h"
#include "model/names.h"

#define THEIR_DURATION_MAX_MS 60000
#define DOUBT_MS	      500   /* between two looks at a Lease that may be lost */
#define TERM_LOOK_MS	      10000 /* between two looks at the term, while we lead */

struct election *election_create(struct kube *kube, const struct election_config *config,
	void (*on_change)(void *data, bool leads), void *data)
{
	struct election *e = xcalloc(1, sizeof *e);
	ENSURE(strlen(config->identity) > 0 && strlen(config->identity) < IDENTITY_MAX);
	e->kube = kube;
	e->config = *config;
	e->texts.block_bytes = 512;
	e->config.ns = arena_strdup(&e->texts, config->ns);
	e->config.name = arena_strdup(&e->texts, config->name);
	e->config.identity = arena_strdup(&e->texts, config->identity);
	e->config.term = arena_strdup(&e->texts, config->term);
	e->config.duration_ms =
		config->duration_ms > 0 ? config->duration_ms : ELECTION_DURATION_MS;
	e->config.renew_deadline_ms = config->renew_deadline_ms > 0 ? config->renew_deadline_ms
								    : ELECTION_RENEW_DEADLINE_MS;
	e->config.retry_ms = config->retry_ms > 0 ? config->retry_ms : ELECTION_RETRY_MS;
	ENSURE(e->config.renew_deadline_ms < e->config.duration_ms);
	e->on_change = on_change;
	e->data = data;
	e->moved_ms = -1;
	return e;
}

void election_destroy(struct election *e)
{
	if (e == NULL) {
		return;
	}
	kube_cancel(e->kube, e->call);
	arena_finish(&e->texts);
	free(e->heard);
	free(e->keeps);
	free(e->refused_by);
	free(e->refuses);
	free(e);
}

/* --- what an answer says --- */

/* Anything that moved starts the local clock of expiry anew; only a renewal by a holder, and only
 * one that we saw happen, counts as a sign of life. */
static void observe_lease(struct election *e, const struct lease *l, int64_t now)
{
	const char *holder = text_or(l->holder, "");
	bool renewed = l->renew_ms != e->renew_ms || !text_equals(holder, e->holder);
	if (!e->known || renewed || l->transitions != e->transitions) {
		e->observed_ms = now;
	}
	if (e->known && renewed && *holder != '\0') {
		/* The request's begin, not now: an answer that lay waiting while we were stopped is
		 * old. */
		e->moved_ms = e->sent_ms;
	}
	e->known = true;
	(void)snprintf(e->holder, sizeof e->holder, "%s", holder);
	(void)snprintf(e->version, sizeof e->version, "%s", text_or(l->resource_version, ""));
	e->duration_s = l->duration_s;
	e->transitions = l->transitions;
	e->renew_ms = l->renew_ms;
	text_set(&e->heard, l->heard);
	text_set(&e->refused_by, l->refused_by);
}

static bool is_about_term(enum election_stage stage)
{
	return stage == ELECTION_COUNTING || stage == ELECTION_RAISING ||
	       stage == ELECTION_LOOKING || stage == ELECTION_MENDING;
}

static void election_on_answer(void *data, const struct kube_answer *answer)
{
	struct election *e = data;
	e->call = 0;
	e->answered = true;
	e->has_record = false;
	e->fault = answer->fault;
	if (answer->fault.kind != FAULT_NONE) {
		return;
	}
	CLEANUP(arena_finish) struct arena arena = {0};
	struct lease lease;
	if (lease_decode(answer->body, answer->body_size, &arena, &lease, &e->fault) != 0) {
		return;
	}
	if (is_about_term(e->stage)) {
		term_saw(e, &lease);
		return;
	}
	e->has_record = true;
	observe_lease(e, &lease, clock_mono(kube_clock(e->kube)));
}

/* --- requests --- */

int64_t election_timeout(const struct election *e)
{
	return e->config.renew_deadline_ms / 2;
}

static void begin_stage(struct election *e, enum election_stage stage, int64_t now)
{
	e->stage = stage;
	e->sent_ms = now;
	e->next_ms = now + e->config.retry_ms;
}

void election_get(struct election *e, const char *name, int64_t timeout_ms)
{
	CLEANUP(str_finish) struct str path = STR_INIT(KUBE_PATH_MAX);
	kube_path_append(&path, &(struct kube_path){.group_version = LEASE_GROUP,
					.ns = e->config.ns,
					.resource = "leases",
					.name = name});
	struct kube_request request = {
		.method = WIRE_GET, .path = str_text(&path), .timeout_ms = timeout_ms};
	e->call = kube_call(e->kube, &request, election_on_answer, e);
}

void election_put(
	struct election *e, const char *name, const struct str *body, struct kube_write write)
{
	write.path = (struct kube_path){.group_version = LEASE_GROUP,
		.ns = e->config.ns,
		.resource = "leases",
		.name = name};
	write.body = str_text(body);
	write.body_size = body->len;
	e->call = kube_put(e->kube, &write, election_on_answer, e);
}

static void send_read(struct election *e, int64_t now)
{
	begin_stage(e, ELECTION_READING, now);
	election_get(e, e->config.name, election_timeout(e));
}

static void send_create(struct election *e, int64_t now)
{
	begin_stage(e, ELECTION_CREATING, now);
	int64_t wall = clock_wall(kube_clock(e->kube));
	struct lease lease = {
		.ns = e->config.ns,
		.name = e->config.name,
		.uid = "",
		.resource_version = "",
		.holder = e->config.identity,
		.duration_s = (int32_t)((e->config.duration_ms + 999) / 1000),
		.transitions = term_next(e),
		.acquire_ms = wall,
		.renew_ms = wall,
	};
	CLEANUP(str_finish) struct str body = STR_INIT(BODY_MAX);
	bool fits = lease_write(&body, &lease);
	ENSURE(fits);
	election_put(e, NULL, &body,
		(struct kube_write){.method = WIRE_POST,
			.content_type = KUBE_JSON,
			.timeout_ms = election_timeout(e)});
}

/* Only what is another than what stands there. */
static void write_notes(const struct election *e, struct build *b)
{
	const struct {
		const char *key, *wanted, *stands;
	} notes[] = {
		{NOTE_HEARD, e->keeps, e->heard}, {NOTE_REFUSED_BY, e->refuses, e->refused_by}};
	bool begun = false;
	for (size_t i = 0; i < COUNT_OF(notes); i++) {
		const char *wanted = text_empty(notes[i].wanted) ? NULL : notes[i].wanted;
		if (notes[i].wanted == NULL || text_equals(wanted, notes[i].stands)) {
			continue;
		}
		if (!begun) {
			build_object_at(b, "annotations");
			begun = true;
		}
		build_text_at(b, notes[i].key, wanted);
	}
	if (begun) {
		build_end(b);
	}
}

/* A patch rather than the whole object: what others keep on the Lease (labels) stays. Each
 * acquisition raises the number, that of a Lease which has our name already too: what was sent
 * before it, by an earlier process of this name or by us, is of an earlier term. */
static void write_patch(struct election *e, struct str *out, bool release)
{
	char now_text[TIME_TEXT_MAX];
	time_format_micro(clock_wall(kube_clock(e->kube)), now_text);
	bool takes = !release && !e->leads;
	struct build b = build_into(out);
	build_begin_object(&b);
	build_object_at(&b, "metadata");
	build_text_at(&b, "resourceVersion", e->version);
	write_notes(e, &b);
	build_end(&b);
	build_object_at(&b, "spec");
	build_text_at(&b, "holderIdentity", release ? "" : e->config.identity);
	build_i64_at(&b, "leaseDurationSeconds", (e->config.duration_ms + 999) / 1000);
	build_text_at(&b, "renewTime", now_text);
	if (takes) {
		build_text_at(&b, "acquireTime", now_text);
		build_i64_at(&b, "leaseTransitions", term_next(e));
	}
	build_end(&b);
	build_end(&b);
	ENSURE(build_ok(&b));
}

static void send_patch(struct election *e, int64_t now, bool release)
{
	begin_stage(e, release ? ELECTION_RELEASING : ELECTION_TAKING, now);
	CLEANUP(str_finish) struct str body = STR_INIT(BODY_MAX);
	write_patch(e, &body, release);
	election_put(e, e->config.name, &body,
		(struct kube_write){.method = WIRE_PATCH,
			.content_type = KUBE_MERGE_PATCH,
			.timeout_ms = election_timeout(e)});
}

/* --- decisions --- */

/* When whoever holds the Lease now may be taken for dead. */
static int64_t holder_expiry(const struct election *e)
{
	/* A holder of another version may have promised itself longer than we would. */
	int64_t theirs = (int64_t)e->duration_s * 1000;
	theirs = theirs < THEIR_DURATION_MAX_MS ? theirs : THEIR_DURATION_MAX_MS;
	return e->observed_ms + (theirs > e->config.duration_ms ? theirs : e->config.duration_ms);
}

/* The Lease says our name as of `sent_ms`, and the term's object the number. */
static void lease_won(struct election *e, int64_t now)
{
	bool in_time = now < e->renewed_ms + e->config.renew_deadline_ms;
	if (!e->leads && !e->releasing && in_time) {
		e->leads = true;
		e->term = e->transitions;
		e->count.look_ms = now + TERM_LOOK_MS;
		log_info("leading", LOG_S("lease", e->config.name),
			LOG_S("identity", e->config.identity), LOG_I("term", e->term));
	}
}

static void lease_lost(struct election *e, const char *why)
{
	if (e->leads) {
		e->leads = false;
		text_set(&e->keeps, NULL);
		text_set(&e->refuses, NULL);
		log_warn("no longer leading", LOG_S("lease", e->config.name), LOG_S("why", why));
	}
}

static void send_take(struct election *e, int64_t now)
{
	if (e->lacks) {
		send_create(e, now);
	} else {
		send_patch(e, now, false);
	}
}

/* The number that the Lease gets is higher than the last term's. */
static void prepare_to_take(struct election *e, int64_t now, bool lacks)
{
	e->lacks = lacks;
	if (e->config.term != NULL) {
		term_read(e, ELECTION_COUNTING);
	} else {
		send_take(e, now);
	}
}

static void handle_read(struct election *e, int64_t now)
{
	if (e->fault.kind == FAULT_NOT_FOUND && e->config.may_create && !e->config.never_lead &&
		!e->releasing) {
		prepare_to_take(e, now, true);
		return;
	}
	if (!e->has_record) {
		return;
	}
	e->fresh = true;
	if (e->leads && !text_equals(e->holder, e->config.identity)) {
		lease_lost(e, "another process holds the lease");
	} else if (e->leads && e->transitions != e->term) {
		lease_lost(e, "the lease was acquired since, under the same name");
	}
	if (e->config.never_lead || e->releasing) {
		return;
	}
	if (e->holder[0] == '\0' || text_equals(e->holder, e->config.identity) ||
		now >= holder_expiry(e)) {
		prepare_to_take(e, now, false);
	} else {
		e->next_ms = time_min(e->next_ms, holder_expiry(e));
	}
}

/* Look before the next attempt, soon if someone else may have won. */
static void look_first(struct election *e, int64_t next_ms)
{
	e->fresh = false;
	e->next_ms = time_min(e->next_ms, next_ms);
}

static void handle_written(struct election *e, int64_t now)
{
	if (!e->has_record || !text_equals(e->holder, e->config.identity)) {
		/* A conflict, or nobody knows. */
		look_first(e, e->fault.kind == FAULT_CONFLICT ? now : e->next_ms);
		return;
	}
	e->renewed_ms = e->sent_ms;
	e->moved_ms = e->sent_ms;
	e->fresh = true;
	if (!e->leads && !e->releasing && term_is_due(e, e->transitions)) {
		term_write(e, ELECTION_RAISING, e->transitions);
	} else {
		lease_won(e, now);
	}
}

/* The Lease is ours, and nobody is told so before the number stands. */
static void handle_raised(struct election *e, int64_t now)
{
	if (term_was_written(e)) {
		lease_won(e, now);
		return;
	}
	/* Denied: another one has written a higher number since it was read. */
	bool conflict = e->fault.kind == FAULT_CONFLICT;
	bool soon = conflict || e->fault.kind == FAULT_DENIED;
	if (!conflict) {
		log_warn("the number of the term cannot be written: nobody leads before it stands",
			LOG_S("name", e->config.term), LOG_F(&e->fault));
	}
	look_first(e, e->sent_ms + (soon ? DOUBT_MS : e->config.retry_ms));
}

/* Whoever lowered the number, or took its object away, has it back within seconds. */
static void handle_looked(struct election *e, int64_t now)
{
	e->count.look_ms = now + TERM_LOOK_MS;
	if (!term_was_read(e) || !e->leads) {
		return;
	}
	if (e->count.number > e->term) {
		lease_lost(e, "a later term has begun");
		look_first(e, now);
	} else if (term_is_due(e, e->term)) {
		log_warn("the number of the term was lowered: it is raised again",
			LOG_S("name", e->config.term), LOG_I("from", e->count.number),
			LOG_I("to", e->term));
		term_write(e, ELECTION_MENDING, e->term);
	}
}

static void handle_answer(struct election *e, int64_t now)
{
	enum election_stage stage = e->stage;
	e->answered = false;
	e->stage = ELECTION_IDLE;
	if (e->fault.kind != FAULT_NONE && e->fault.kind != FAULT_CONFLICT &&
		!is_about_term(stage)) {
		log_warn("the lease did not answer", LOG_S("lease", e->config.name),
			LOG_F(&e->fault));
	}
	switch (stage) {
	case ELECTION_IDLE:
		break;
	case ELECTION_READING:
		handle_read(e, now);
		break;
	case ELECTION_CREATING:
	case ELECTION_TAKING:
		handle_written(e, now);
		break;
	case ELECTION_COUNTING:
		if (term_was_read(e) && !e->releasing) {
			send_take(e, now);
		}
		break;
	case ELECTION_RAISING:
		handle_raised(e, now);
		break;
	case ELECTION_LOOKING:
		handle_looked(e, now);
		break;
	case ELECTION_MENDING:
		(void)term_was_written(e);
		break;
	case ELECTION_RELEASING:
		e->released = true;
		break;
	}
}

/* In between two renewals. */
static bool looks_next(const struct election *e)
{
	return e->config.term != NULL && e->leads && e->fresh;
}

static void start_next(struct election *e, int64_t now)
{
	if (e->releasing) {
		if (e->renewed_ms != 0 && e->fresh && text_equals(e->holder, e->config.identity)) {
			send_patch(e, now, true);
			e->fresh = false;
		} else {
			e->released = true;
		}
		return;
	}
	if (now < e->next_ms) {
		if (looks_next(e) && now >= e->count.look_ms) {
			term_read(e, ELECTION_LOOKING);
		}
		return;
	}
	if (e->leads && e->fresh) {
		send_patch(e, now, false);
	} else {
		send_read(e, now);
	}
}

void election_step(struct election *e, int64_t now_mono_ms)
{
	if (e->answered) {
		handle_answer(e, now_mono_ms);
	}
	if (e->leads && now_mono_ms >= e->renewed_ms + e->config.renew_deadline_ms) {
		lease_lost(e, "the lease was not renewed in time");
	}
	if (e->stage == ELECTION_IDLE && !e->released) {
		start_next(e, now_mono_ms);
	}
	if (e->told != e->leads) {
		e->told = e->leads;
		e->on_change(e->data, e->leads);
	}
}

int64_t election_deadline(const struct election *e)
{
	if (e->answered || e->told != e->leads) {
		return 0;
	}
	int64_t next = e->leads ? e->renewed_ms + e->config.renew_deadline_ms : TIME_NEVER;
	if (e->stage == ELECTION_IDLE && !e->released) {
		next = time_min(next, e->releasing ? 0 : e->next_ms);
		next = time_min(next, looks_next(e) ? e->count.look_ms : next);
	}
	return next;
}

bool election_leads(const struct election *e)
{
	return e->leads;
}

bool election_may_write(const struct election *e, int64_t now_mono_ms)
{
	return e->leads && !e->releasing &&
	       now_mono_ms < e->renewed_ms + e->config.renew_deadline_ms;
}

int64_t election_write_ms(const struct election *e, int64_t now_mono_ms)
{
	return election_may_write(e, now_mono_ms)
		       ? e->renewed_ms + e->config.duration_ms - now_mono_ms
		       : 0;
}

const char *election_version(const struct election *e)
{
	return e->version;
}

const char *election_holder(const struct election *e)
{
	return e->holder;
}

int64_t election_age_ms(const struct election *e, int64_t now_mono_ms)
{
	return e->moved_ms < 0 ? INT64_MAX : now_mono_ms - e->moved_ms;
}

int64_t election_term(const struct election *e)
{
	return e->term;
}

void election_doubt(struct election *e)
{
	if (e->leads) {
		e->fresh = false;
		e->next_ms = time_min(e->next_ms, e->sent_ms + DOUBT_MS);
		e->count.look_ms = time_min(e->count.look_ms, e->next_ms);
	}
}

void election_keep(struct election *e, const char *heard)
{
	ENSURE(strlen(heard) < ELECTION_HEARD_MAX);
	if (e->leads) {
		text_set(&e->keeps, heard);
	}
}

const char *election_heard(const struct election *e)
{
	return text_or(e->heard, "");
}

void election_tell_refusal(struct election *e, const char *policy)
{
	if (e->leads) {
		text_set(&e->refuses, text_or(policy, ""));
	}
}

void election_release(struct election *e)
{
	e->releasing = true;
	e->leads = false;
}

bool election_takes_part(const struct election *e)
{
	return !e->config.never_lead && !e->releasing;
}

bool election_is_released(const struct election *e)
{
	return e->released;
}
