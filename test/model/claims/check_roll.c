/* Replacing pods for their share, judged by the objects: nobody's last Ready pod goes for a saving,
 * one at a time, no pod that stands beside another is forgotten, and no mark of ours stays.
 *
 * A decision is judged by what its controller had been told, for an answer cannot be given by what
 * nobody told it; what the API server was just asked, by what was true when it was. */
#include "check_roll.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "budgets.h"
#include "json/decode.h"
#include "model/names.h"
#include "objects/trace.h"
#include "wayback.h"
#include "work_objects.h"

#define LATELY_MS  180000
#define SEEN_MS	   30000 /* what has been told for so long was looked at */
#define OWNER_MS   90000 /* the same of an owner, which is read at most 30 s before */
#define LIVE_MS	   5000	 /* what was asked for is live for so long */
#define BESIDE_MS  600000
#define BEGIN_MS   240000 /* a leader begins, and has given up what it found */
#define SETTLES_MS 120000
#define CHEAP	   "-1000"
/* After so long what could not be done was tried more than once. */
#define GIVEN_UP_MS 2400000

static struct rework *rework_of(struct sim *s, const char *name)
{
	vec_for_each (struct rework, r, &s->works.rework) {
		if (strcmp(r->name, name) == 0) {
			return r;
		}
	}
	struct rework made = {.wanted_at = sim_now(s)};
	snprintf(made.name, sizeof made.name, "%s", name);
	VEC_PUSH(&s->works.rework, made);
	return &s->works.rework.items[s->works.rework.count - 1];
}

static struct beside *beside_of(struct sim *s, const char *uid)
{
	vec_for_each (struct beside, b, &s->works.beside) {
		if (strcmp(b->uid, uid) == 0) {
			return b;
		}
	}
	return NULL;
}

static bool is_pod_of_work(const struct stored *o, const char *work)
{
	return o->resource == RES_PODS && text_equals(work_of(o), work);
}

static bool stands_beside(const struct stored *o)
{
	return o->pod.beside && o->pod.deleting_ms == 0 && !pod_is_terminal(&o->pod);
}

/* --- evictions --- */

struct told_work {
	const struct stored *victim;
	const struct stored *beside; /* that has been there for a while */
	int64_t others;		     /* Ready */
};

static struct told_work read_picture(const struct sim *s, const struct picture *p, const char *uid)
{
	struct told_work t = {0};
	for (size_t i = 0; i < p->count; i++) {
		if (strcmp(p->items[i]->uid, uid) == 0) {
			t.victim = p->items[i];
		}
	}
	for (size_t i = 0; i < p->count && t.victim != NULL; i++) {
		const struct stored *o = p->items[i];
		if (!is_pod_of_work(o, work_of(t.victim)) || o == t.victim) {
			continue;
		}
		if (stands_beside(o) && sim_now(s) - o->born_ms > SEEN_MS) {
			t.beside = o;
		}
		t.others += work_is_ready(o) && !o->pod.beside;
	}
	return t;
}

static int64_t wanted_of(const struct sim *s, const char *work)
{
	const struct stored *d = store_find(&s->store, RES_DEPLOYMENTS, WORKS_NS, work);
	return d != NULL ? work_number(d->value, "spec.replicas") : 0;
}

static void judge_eviction(struct sim *s, int replica, const struct told_work *t)
{
	const struct stored *o = t->victim;
	const char *work = work_of(o);
	if (work == NULL) {
		sim_fail(s, "roll", "r%d evicts %s for its share, which is no Deployment's",
			replica, o->name);
		return;
	}
	const struct rework *r = rework_of(s, work);
	bool steady = sim_now(s) - r->wanted_at > OWNER_MS;
	if (work_is_ready(o) && t->others < 1) {
		sim_fail(s, "last-ready",
			"r%d evicts %s for its share, and no other of %s is Ready", replica,
			o->name, work);
	} else if (work_is_ready(o) && steady && t->others + 1 < wanted_of(s, work)) {
		sim_fail(s, "one-at-a-time",
			"r%d evicts %s for its share, and %lld others of %s are Ready, of %lld",
			replica, o->name, (long long)t->others, work,
			(long long)wanted_of(s, work));
	} else if (t->beside != NULL) {
		sim_fail(s, "one-at-a-time", "r%d evicts %s for its share while %s stands beside",
			replica, o->name, t->beside->name);
	} else if (r->moves && sim_now(s) - r->since > OWNER_MS) {
		sim_fail(s, "rollout", "r%d evicts %s for its share while %s is at a rollout",
			replica, o->name, work);
	}
}

static void note_eviction(struct sim *s, int replica, const struct action *a)
{
	struct roll_intent made = {.at = sim_now(s), .returns = a->reason == REASON_GIVEN_BACK};
	struct picture p;
	snprintf(made.uid, sizeof made.uid, "%s", text_or(a->uid, ""));
	VEC_PUSH(&s->works.intents, made);
	if (made.returns) {
		wayback_intended(s, replica, a);
		return;
	}
	if (!past_picture(s, replica, s->memory.told.count, &p)) {
		return;
	}
	struct told_work t = read_picture(s, &p, made.uid);
	if (t.victim != NULL) {
		judge_eviction(s, replica, &t);
	}
	VEC_FINISH(&p);
}

void roll_intended(struct sim *s, int replica, const struct action *a)
{
	if (a->type == ACTION_EVICT) {
		note_eviction(s, replica, a);
	}
	if (a->type == ACTION_SURGE && a->surge->task == SURGE_TASK_ADOPT) {
		struct beside *b = beside_of(s, text_or(a->uid, ""));
		if (b != NULL) {
			b->adopt_at = sim_now(s);
		}
	}
}

bool roll_excuses(const struct sim *s, const struct stored *o)
{
	vec_for_each (const struct roll_intent, i, &s->works.intents) {
		if (strcmp(i->uid, o->uid) == 0 && sim_now(s) - i->at < LATELY_MS) {
			return true;
		}
	}
	return false;
}

/* --- pods beside others --- */

static const char *work_note(const struct stored *o, const char *key)
{
	const json_t *notes = decode_find(o->value, "metadata.annotations");
	return json_string_value(json_object_get(notes, key));
}

static const char *work_label(const struct stored *o, const char *key)
{
	return pairs_get(&o->pod.labels, key);
}

static void check_created(struct sim *s, const struct stored *o)
{
	struct beside made = {.adopted = false};
	snprintf(made.uid, sizeof made.uid, "%s", o->uid);
	snprintf(made.old_uid, sizeof made.old_uid, "%s", work_label(o, LABEL_SURGE));
	snprintf(made.set_uid, sizeof made.set_uid, "%s", text_or(o->pod.owner.uid, ""));
	VEC_PUSH(&s->works.beside, made);
	s->report->surged++;
	for (size_t i = 0; i < s->store.items.count; i++) {
		const struct stored *other = s->store.items.items[i];
		if (other != o && is_pod_of_work(other, work_of(o)) && stands_beside(other)) {
			sim_fail(s, "one-at-a-time", "%s is made beside a pod of %s, as %s was",
				o->name, work_of(o), other->name);
		}
	}
}

/* Adopted now, it would be the old one that goes, once that is cheap, and the budgets would let it.
 */
static bool is_right(struct sim *s, const struct beside *b)
{
	const struct stored *fresh = store_find_uid(&s->store, b->uid);
	const struct stored *old = store_find_uid(&s->store, b->old_uid);
	const struct stored *set = store_find_uid(&s->store, b->set_uid);
	return fresh != NULL && old != NULL && set != NULL && work_is_ready(fresh) &&
	       sets_victim(s, set, fresh, old) == old && budgets_forbid(s, old, false) == NULL;
}

static void check_adoption(struct sim *s, const struct stored *o)
{
	struct beside *b = beside_of(s, o->uid);
	s->report->adopted++;
	if (b == NULL) {
		sim_fail(s, "surge",
			"%s is given the label of a ReplicaSet and stands beside nobody", o->name);
		return;
	}
	b->adopted = true;
	int64_t least = b->adopt_at - LIVE_MS;
	const struct stored *old = store_find_uid(&s->store, b->old_uid);
	if (old != NULL && !text_equals(work_note(old, NOTE_DELETION_COST), CHEAP)) {
		sim_fail(s, "wrong-victim", "%s is adopted, and %s is not cheap to delete", o->name,
			old->name);
	}
	if (!is_right(s, b) && b->right_at < least) {
		const struct stored *set = store_find_uid(&s->store, b->set_uid);
		const struct stored *victim = set != NULL ? sets_victim(s, set, o, NULL) : NULL;
		sim_fail(s, "wrong-victim",
			"%s is adopted, as was decided at %.3f s, and %s would go; since %.3f s it "
			"has not been the one that it was made for, or a budget forbids it",
			o->name, (double)b->adopt_at / 1000, victim != NULL ? victim->name : "none",
			(double)b->right_at / 1000);
	}
}

/* The mark says that the cost is ours: they come and go in one write, or nobody takes back the
 * other. */
static void check_mark(struct sim *s, const struct commit *c)
{
	const struct stored *o = c->after;
	bool marked = work_note(o, NOTE_SURGED_BY) != NULL;
	bool cheap = text_equals(work_note(o, NOTE_DELETION_COST), CHEAP);
	if (marked != (work_note(c->before, NOTE_SURGED_BY) != NULL) && marked != cheap) {
		sim_fail(s, "cost", "a controller %s %s, which is %s to delete",
			marked ? "marks" : "takes the mark off", o->name,
			cheap ? "cheap still" : "not cheap");
	}
}

static void check_deletion_cost(struct sim *s, const struct commit *c)
{
	const struct stored *o = c->after;
	const char *had = work_note(c->before, NOTE_DELETION_COST);
	if (text_equals(had, work_note(o, NOTE_DELETION_COST))) {
		return;
	}
	if (had != NULL && work_note(c->before, NOTE_SURGED_BY) == NULL) {
		sim_fail(s, "cost",
			"a controller changes the deletion cost of %s, which is not ours", o->name);
	}
	for (size_t i = 0; i < s->store.items.count; i++) {
		const struct stored *other = s->store.items.items[i];
		if (other != o && is_pod_of_work(other, work_of(o)) && other->pod.surged &&
			o->pod.surged && other->pod.deleting_ms == 0 && o->pod.deleting_ms == 0) {
			sim_fail(s, "cost", "a controller makes %s cheap to delete, and %s is",
				o->name, other->name);
		}
	}
}

static void check_written(struct sim *s, const struct commit *c)
{
	bool had = work_label(c->before, LABEL_TEMPLATE_HASH) != NULL;
	if (!had && work_label(c->after, LABEL_TEMPLATE_HASH) != NULL) {
		check_adoption(s, c->after);
	}
	check_mark(s, c);
	check_deletion_cost(s, c);
}

/* Another one went than the one that was made cheap. */
static void count_lost(struct sim *s, const struct stored *gone)
{
	vec_for_each (const struct beside, b, &s->works.beside) {
		const struct stored *fresh = store_find_uid(&s->store, b->uid);
		const struct stored *old = store_find_uid(&s->store, b->old_uid);
		s->report->lost_races +=
			b->adopted && fresh != NULL && old != NULL &&
			text_equals(work_of(fresh), work_of(gone)) && old->pod.deleting_ms == 0 &&
			strcmp(b->old_uid, gone->uid) != 0 && sim_now(s) - b->adopt_at < SETTLES_MS;
	}
}

/* The ReplicaSet has one pod fewer now. */
static void check_surplus(struct sim *s, const struct stored *gone)
{
	const char *work = work_of(gone);
	int64_t ready = 0;
	bool ours = false;
	for (size_t i = 0; i < s->store.items.count; i++) {
		const struct stored *o = s->store.items.items[i];
		ready += is_pod_of_work(o, work) && work_is_ready(o);
	}
	vec_for_each (struct beside, b, &s->works.beside) {
		const struct stored *fresh = store_find_uid(&s->store, b->uid);
		bool one = b->adopted && fresh != NULL && text_equals(work_of(fresh), work);
		ours = ours || (one && sim_now(s) - b->adopt_at < SETTLES_MS);
	}
	if (ours && ready == 0 && wanted_of(s, work) > 0 && !rework_of(s, work)->moves &&
		sim_now(s) - rework_of(s, work)->wanted_at > OWNER_MS) {
		sim_fail(s, "last-ready",
			"ReplicaSet %s deletes %s after an adoption, the last Ready pod of %s",
			text_or(work_set_of(gone), "?"), gone->name, work);
	}
}

static bool begins_to_go(const struct commit *c)
{
	bool had = c->before != NULL && c->before->pod.deleting_ms == 0;
	return had && (c->after == NULL || c->after->pod.deleting_ms != 0);
}

static void check_roll_pod(struct sim *s, const struct commit *c)
{
	const struct stored *o = c->after != NULL ? c->after : c->before;
	if (c->actor >= 0 && c->type == PAST_ADDED) {
		check_created(s, o);
	} else if (c->actor >= 0 && c->type == PAST_MODIFIED) {
		check_written(s, c);
	}
	if (c->actor == ACTOR_CLUSTER && begins_to_go(c)) {
		count_lost(s, c->before);
	}
	if (c->actor == ACTOR_CLUSTER && begins_to_go(c) && work_is_ready(c->before)) {
		check_surplus(s, c->before);
	}
}

/* What was right stays so until something changes it. */
void roll_committed(struct sim *s, const struct commit *c)
{
	wayback_committed(s, c);
	const struct stored *o = c->after != NULL ? c->after : c->before;
	bool pod = o->resource == RES_PODS && work_of(o) != NULL;
	if (!pod && o->resource != RES_SETS && o->resource != RES_BUDGETS) {
		return;
	}
	vec_for_each (struct beside, b, &s->works.beside) {
		b->right_at = b->right ? sim_now(s) : b->right_at;
	}
	if (pod) {
		check_roll_pod(s, c);
	}
	vec_for_each (struct beside, b, &s->works.beside) {
		b->right = !b->adopted && is_right(s, b);
	}
}

/* --- whose business it is --- */

static bool same_but_marks(const struct commit *c)
{
	static const char *const marks[] = {NOTE_DELETION_COST, NOTE_SURGED_BY};
	json_t *had = store_draft(c->before), *has = store_draft(c->after);
	json_t *drafts[] = {had, has};
	for (size_t i = 0; i < COUNT_OF(drafts); i++) {
		json_t *meta = json_object_get(drafts[i], "metadata");
		json_t *notes = json_object_get(meta, "annotations");
		json_object_del(meta, "resourceVersion");
		for (size_t k = 0; k < COUNT_OF(marks); k++) {
			json_object_del(notes, marks[k]);
		}
		if (json_object_size(notes) == 0) {
			json_object_del(meta, "annotations");
		}
	}
	bool same = json_equal(had, has) == 1;
	json_decref(had);
	json_decref(has);
	return same;
}

bool roll_may_write(struct sim *s, const struct commit *c)
{
	const struct stored *o = c->after != NULL ? c->after : c->before;
	if (work_of(o) == NULL) {
		return false;
	}
	if (c->type == PAST_ADDED) {
		return o->pod.beside && work_label(o, LABEL_TEMPLATE_HASH) == NULL;
	}
	if (s->evicting) {
		return roll_excuses(s, o);
	}
	bool ours = beside_of(s, o->uid) != NULL;
	return ours || (c->type == PAST_MODIFIED && same_but_marks(c));
}

/* Only one that no ReplicaSet has. */
bool roll_may_delete(struct sim *s, const struct stored *o)
{
	return work_of(o) != NULL && beside_of(s, o->uid) != NULL && o->pod.beside;
}

/* --- in time --- */

static bool is_moving(const struct sim *s, const struct stored *d)
{
	const struct stored *newest = work_newest(s, d);
	bool moves = newest == NULL || work_number(d->value, "status.observedGeneration") <
					       work_number(d->value, "metadata.generation");
	for (size_t i = 0; i < s->store.items.count && !moves; i++) {
		const struct stored *o = s->store.items.items[i];
		moves = is_pod_of_work(o, d->name) && !o->pod.beside && !pod_is_terminal(&o->pod) &&
			o->pod.deleting_ms == 0 && !text_equals(work_set_of(o), newest->name);
	}
	return moves;
}

static void look_at_rework(struct sim *s, const struct stored *d)
{
	struct rework *r = rework_of(s, d->name);
	int64_t wanted = work_number(d->value, "spec.replicas");
	bool moves = is_moving(s, d);
	r->since = moves && !r->moves ? sim_now(s) : r->since;
	r->moves = moves;
	r->wanted_at = wanted != r->least || moves ? sim_now(s) : r->wanted_at;
	r->least = wanted;
}

static void look_beside(struct sim *s, const struct stored *o)
{
	int64_t begun = s->calm_at + BEGIN_MS;
	int64_t most = o->born_ms + BESIDE_MS;
	most = (most > begun ? most : begun) + SETTLES_MS;
	if (s->calm && sim_now(s) > most) {
		sim_fail(s, "orphan", "%s stands beside another pod since %.3f s", o->name,
			(double)o->born_ms / 1000);
	}
}

void roll_look(struct sim *s)
{
	if (s->weather.rolled) {
		wayback_look(s);
	}
	for (size_t i = 0; i < s->store.items.count && s->weather.rolled; i++) {
		const struct stored *o = s->store.items.items[i];
		if (o->resource == RES_DEPLOYMENTS) {
			look_at_rework(s, o);
		} else if (o->resource == RES_PODS && stands_beside(o)) {
			look_beside(s, o);
		}
	}
}

/* --- in the end --- */

/* Why no pod of it is replaced, as its GPURecommendation says; NULL: it does not. */
static const char *says_why(const struct sim *s, const char *work)
{
	static const char *const types[] = {"UpdateBlocked", "Paused"};
	char name[64];
	size_t i;
	json_t *c;
	snprintf(name, sizeof name, "deployment-%s", work);
	const struct stored *r = store_find(&s->store, RES_RECOMMENDATIONS, WORKS_NS, name);
	const json_t *list = r != NULL ? decode_find(r->value, "status.conditions") : NULL;
	json_array_foreach((json_t *)(uintptr_t)list, i, c)
	{
		const char *type = json_string_value(json_object_get(c, "type"));
		bool is_true = text_equals(json_string_value(json_object_get(c, "status")), "True");
		if (is_true && (text_equals(type, types[0]) || text_equals(type, types[1]))) {
			return json_string_value(json_object_get(c, "reason"));
		}
	}
	return NULL;
}

/* It waits for its share, and says why. */
static bool waits_for_share(const struct stored *o)
{
	return pod_has_gate(&o->pod, NAME_GATE) && o->pod.deleting_ms == 0 &&
	       o->pod.placed.type != NULL && !o->pod.placed.is_true;
}

static bool one_waits(const struct sim *s, const char *work)
{
	for (size_t i = 0; i < s->store.items.count; i++) {
		const struct stored *o = s->store.items.items[i];
		if (is_pod_of_work(o, work) &&
			(waits_for_share(o) || (!o->pod.ready && !pod_is_terminal(&o->pod)))) {
			return true;
		}
	}
	return false;
}

/* Others end by themselves, and are no reason in the end. */
static bool is_reason(struct sim *s, const char *work, const char *says)
{
	static const char *const passing[] = {
		"WebhookUnhealthy", "Stale", "Cooldown", "PodTooYoung", "GlobalBudget"};
	for (size_t i = 0; i < COUNT_OF(passing); i++) {
		if (text_equals(says, passing[i])) {
			return false;
		}
	}
	if (text_equals(says, "Refused")) {
		return sim_now(s) - s->calm_at > GIVEN_UP_MS;
	}
	/* A rollout may wait for room, too. */
	if (text_equals(says, "OwnerRollout")) {
		return rework_of(s, work)->moves;
	}
	return says != NULL && (!text_equals(says, "PodsNotReady") || one_waits(s, work));
}

/* One that was made beside another has no room, and had none before. */
static bool tries(const struct sim *s, const struct stored *o)
{
	return stands_beside(o) && waits_for_share(o) && sim_now(s) - s->calm_at > GIVEN_UP_MS;
}

static bool one_tries(const struct sim *s, const char *work)
{
	for (size_t i = 0; i < s->store.items.count; i++) {
		const struct stored *o = s->store.items.items[i];
		if (is_pod_of_work(o, work) && tries(s, o)) {
			return true;
		}
	}
	return false;
}

static bool is_converted(struct sim *s, const struct stored *o, struct str *why)
{
	const char *says = says_why(s, work_of(o));
	if (o->pod.deleting_ms != 0 || o->pod.phase != POD_RUNNING || pod_is_tenant(&o->pod) ||
		one_tries(s, work_of(o)) || is_reason(s, work_of(o), says)) {
		return true;
	}
	str_append_format(why, "%s has a whole GPU still, and %s says %s", o->name, work_of(o),
		text_or(says, "nothing"));
	return false;
}

static bool is_clean(const struct sim *s, const struct stored *o, struct str *why)
{
	if (stands_beside(o) && !tries(s, o)) {
		str_append_format(why, "%s stands beside another pod", o->name);
		return false;
	}
	bool gone = o->pod.deleting_ms != 0 || pod_is_terminal(&o->pod);
	if (!gone && (work_note(o, NOTE_SURGED_BY) != NULL ||
			     text_equals(work_note(o, NOTE_DELETION_COST), CHEAP))) {
		str_append_format(why, "%s is cheap to delete still", o->name);
		return false;
	}
	return true;
}

bool roll_settled(struct sim *s, struct str *why)
{
	for (size_t i = 0; i < s->store.items.count; i++) {
		const struct stored *o = s->store.items.items[i];
		if (work_of(o) != NULL && (!is_clean(s, o, why) || !is_converted(s, o, why))) {
			return false;
		}
	}
	return true;
}
