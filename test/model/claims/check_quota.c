/* C7: what tenants were given and whole GPUs together stay within each ResourceQuota, as far as the
 * controller that gives could know: a whole-GPU pod is admitted without a look at shares, and a
 * quota that was made or changed just now was not heard yet. What another process gives whose
 * writes land late it cannot know either (docs/design/quota.md); so of each tenant counts what it
 * has now and had already in what the controller had been told when it decided, or what the
 * controller has itself decided in its term. */
#include "check_quota.h"

#include <stdio.h>
#include <string.h>

#include "claim.h"
#include "isolation_rules.h"
#include "model/names.h"
#include "model/plan.h"
#include "objects/facts.h"
#include "objects/told.h"
#include "objects/trace.h"

static bool quota_covers_pod(const struct quota *q, const struct stored *o)
{
	struct quota_subject subject = quota_subject_of(&o->pod);
	return text_equals(o->ns, q->ns) && quota_covers(q, &subject);
}

/* A placement was sent for what it is now, and may land: of a later version of it nothing was
 * decided, and what was refused is not done later. */
static bool newer_may_land(const struct sim *s, const struct stored *t)
{
	vec_for_each (const struct intent, i, &s->claims.intents) {
		if (i->kind == ACTION_PLACE && !i->not_done && i->version >= t->version &&
			strcmp(i->uid, t->uid) == 0) {
			return true;
		}
	}
	return false;
}

/* What a tenant that still waits stands in ledgers with. From the first entry on, one of several
 * GPUs counts with its share on each. Nobody is placed any more by a capacity pod that goes, but by
 * what was sent before it went. */
static int64_t promised(
	const struct stored *const *items, size_t count, const struct stored *t, bool told)
{
	int64_t milli = 0;
	for (size_t i = 0; i < count; i++) {
		const struct stored *o = items[i];
		bool goes = o->pod.deleting_ms != 0 || pod_is_terminal(&o->pod);
		bool holder =
			o->resource == RES_PODS && pod_is_capacity(&o->pod) && (told || !goes);
		for (uint32_t k = 0; holder && k < o->pod.ledger.count; k++) {
			const struct grant *g = &o->pod.ledger.items[k];
			bool more = text_equals(g->uid, t->uid) && g->milli > milli;
			milli = more ? g->milli : milli;
		}
	}
	return milli * group_asked(&t->pod);
}

/* Told on each of its GPUs. */
int64_t quota_shown(const struct pod *p)
{
	struct told_gpu t = told_gpus(p);
	int64_t milli = 0;
	while (told_gpu_next(&t)) {
		milli += facts_note_number(p, NOTE_COMPUTE_MILLI);
	}
	return milli;
}

static int64_t granted_milli(const struct sim *s, const struct stored *t)
{
	bool shows = pairs_get(&t->pod.notes, NOTE_GPU_UUID) != NULL;
	return shows ? quota_shown(&t->pod)
		     : promised((const struct stored *const *)s->store.items.items,
			       s->store.items.count, t, newer_may_land(s, t));
}

/* Whole GPUs of pods that were there by that version count. */
int64_t quota_used(const struct sim *s, const struct quota *q, int64_t born_by)
{
	int64_t milli = 0;
	for (size_t i = 0; i < s->store.items.count; i++) {
		const struct stored *o = s->store.items.items[i];
		if (o->resource != RES_PODS || pod_is_terminal(&o->pod) ||
			!quota_covers_pod(q, o)) {
			continue;
		}
		milli += o->born <= born_by ? o->pod.gpus * MODEL_GPU_MILLI : 0;
		milli += pod_is_tenant(&o->pod) ? granted_milli(s, o) : 0;
	}
	return milli;
}

bool quota_allows(const struct sim *s, const struct stored *o, int64_t milli)
{
	for (size_t i = 0; i < s->store.items.count; i++) {
		const struct stored *q = s->store.items.items[i];
		if (q->resource == RES_QUOTAS && q->quota.bounds_gpus &&
			quota_covers_pod(&q->quota, o) &&
			quota_used(s, &q->quota, INT64_MAX) + milli > q->quota.hard_milli) {
			return false;
		}
	}
	return true;
}

static struct chosen *chosen_find(
	const struct sim *s, int replica, const char *holder, const char *uid)
{
	vec_for_each (struct chosen, c, &s->claims.chosen) {
		if (c->replica == replica && strcmp(c->uid, uid) == 0 &&
			strcmp(c->holder, holder) == 0) {
			return c;
		}
	}
	return NULL;
}

static void chosen_touch(struct sim *s, int replica, const char *holder, const char *uid)
{
	struct chosen *had = chosen_find(s, replica, holder, uid);
	if (had != NULL) {
		had->again = true;
		return;
	}
	struct chosen made = {.replica = replica,
		.moment = s->memory.told.count,
		.at = sim_now(s),
		.again = true};
	snprintf(made.holder, sizeof made.holder, "%s", holder);
	snprintf(made.uid, sizeof made.uid, "%s", uid);
	VEC_PUSH(&s->claims.chosen, made);
	modes_check_chosen(s, replica, holder, uid);
}

/* What a write repeats was decided when it was first said: that one may land still, or has landed
 * and the answer was lost, so that it cannot be taken back. */
void quota_intended(struct sim *s, int replica, const struct action *a)
{
	for (uint32_t i = 0; i < a->ledger.count; i++) {
		chosen_touch(s, replica, a->name, a->ledger.items[i].uid);
	}
	for (size_t i = s->claims.chosen.count; i-- > 0;) {
		struct chosen *c = &s->claims.chosen.items[i];
		bool dropped =
			c->replica == replica && !c->again && text_equals(c->holder, a->name);
		c->again = false;
		if (dropped) {
			VEC_REMOVE_SWAP(&s->claims.chosen, i);
		}
	}
}

static bool is_newly_granted(const struct ledger *had, const struct stored *t)
{
	for (uint32_t i = 0; i < had->count; i++) {
		if (text_equals(had->items[i].uid, t->uid)) {
			return false;
		}
	}
	return pairs_get(&t->pod.notes, NOTE_GPU_UUID) == NULL && !pod_is_terminal(&t->pod);
}

/* Decided by this very process, since it leads. */
static bool chosen_by_leader(const struct sim *s, const struct stored *t, int replica)
{
	vec_for_each (const struct chosen, c, &s->claims.chosen) {
		if (c->replica == replica && c->at >= s->claims.leads_since &&
			strcmp(c->uid, t->uid) == 0) {
			return true;
		}
	}
	return false;
}

static int64_t seen_given(const struct picture *seen, const char *uid)
{
	for (size_t i = 0; i < seen->count; i++) {
		const struct stored *t = seen->items[i];
		if (strcmp(t->uid, uid) == 0) {
			bool shows = pairs_get(&t->pod.notes, NOTE_GPU_UUID) != NULL;
			return shows ? quota_shown(&t->pod)
				     : promised(seen->items, seen->count, t, true);
		}
	}
	return 0;
}

/* Of what is taken now: whatever the controller must have known when it decided. */
static int64_t known_used(const struct sim *s, const struct quota *q, const struct chosen *made,
	const struct picture *seen)
{
	int64_t milli = 0, born_by = past_version(s, made->replica, RES_PODS, made->moment);
	for (size_t i = 0; i < s->store.items.count; i++) {
		const struct stored *o = s->store.items.items[i];
		if (o->resource != RES_PODS || pod_is_terminal(&o->pod) ||
			!quota_covers_pod(q, o)) {
			continue;
		}
		milli += o->born <= born_by ? o->pod.gpus * MODEL_GPU_MILLI : 0;
		if (pod_is_tenant(&o->pod)) {
			int64_t now = granted_milli(s, o);
			int64_t then = chosen_by_leader(s, o, made->replica)
					       ? now
					       : seen_given(seen, o->uid);
			milli += then < now ? then : now;
		}
	}
	return milli;
}

static void check_one(struct sim *s, const struct stored *t, const struct chosen *made)
{
	int64_t quotas = past_version(s, made->replica, RES_QUOTAS, made->moment);
	struct picture seen = {0};
	bool pictured = false;
	for (size_t i = 0; i < s->store.items.count; i++) {
		const struct stored *o = s->store.items.items[i];
		if (o->resource != RES_QUOTAS || !o->quota.bounds_gpus || o->version > quotas ||
			!quota_covers_pod(&o->quota, t)) {
			continue;
		}
		pictured = pictured || past_picture(s, made->replica, made->moment, &seen);
		if (!pictured) {
			return;
		}
		int64_t used = known_used(s, &o->quota, made, &seen);
		s->report->quotas++;
		if (used > o->quota.hard_milli) {
			sim_fail(s, "C7",
				"%s/%s (%s) is given a share, and %s allows %lld milli of which "
				"%lld are taken then",
				t->ns, t->name, t->uid, o->name, (long long)o->quota.hard_milli,
				(long long)used);
		}
	}
	VEC_FINISH(&seen);
}

void check_quotas(struct sim *s, const struct commit *c)
{
	bool grants = c->actor >= 0 && c->before != NULL && c->after != NULL &&
		      c->after->resource == RES_PODS && pod_is_capacity(&c->after->pod);
	if (!grants) {
		return;
	}
	const struct ledger *l = &c->after->pod.ledger;
	for (uint32_t i = 0; i < l->count; i++) {
		const struct stored *t = store_find_uid(&s->store, l->items[i].uid);
		const struct chosen *made =
			chosen_find(s, c->actor, c->after->name, l->items[i].uid);
		if (t != NULL && made != NULL && is_newly_granted(&c->before->pod.ledger, t)) {
			check_one(s, t, made);
		}
	}
}
