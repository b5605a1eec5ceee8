/* The checker: after every write it looks at the objects as the modelled API server has them, and
 * at nothing else. The rules are those of docs and of the product: I1 to I8 as far as they exist.
 */
#include <stdio.h>
#include <string.h>

#include "check_evict.h"
#include "check_gate.h"
#include "check_left.h"
#include "check_memory.h"
#include "claims/check_fair.h"
#include "claims/check_group.h"
#include "claims/check_overtake.h"
#include "claims/check_quota.h"
#include "claims/check_roll.h"
#include "claims/claim_intent.h"
#include "claims/isolation_rules.h"
#include "claims/sharing_rules.h"
#include "model/names.h"
#include "objects/machine_find.h"
#include "objects/told.h"
#include "objects/trace.h"
#include "prober.h"

void check_finish(struct sim *s)
{
	VEC_FINISH(&s->checker.promises);
	VEC_FINISH(&s->checker.left);
	VEC_FINISH(&s->checker.halves);
	VEC_FINISH(&s->checker.lost);
	greed_finish(&s->checker.greed);
	VEC_FINISH(&s->checker.pending);
	overtake_finish(s);
}

static const char *check_note(const struct pod *p, const char *key)
{
	return pairs_get(&p->notes, key);
}

static int64_t note_or_none(const struct pod *p, const char *key)
{
	int64_t value = -1;
	const char *text = check_note(p, key);
	return text != NULL && parse_i64(view_of(text), 0, INT64_MAX / 4, &value) ? value : -1;
}

static bool is_placed(const struct pod *p)
{
	return pod_is_tenant(p) && check_note(p, NOTE_GPU_UUID) != NULL;
}

static bool uses_share(const struct stored *o)
{
	return o->resource == RES_PODS && is_placed(&o->pod) && !pod_is_terminal(&o->pod);
}

static bool holds_gpu(const struct stored *o)
{
	return o->resource == RES_PODS && pod_is_capacity(&o->pod) && !pod_is_terminal(&o->pod) &&
	       o->pod.identity != NULL;
}

/* --- the promises: every entry of every ledger that was ever acknowledged --- */

static struct promise *promise_find(
	const struct sim *s, const char *holder, const char *tenant, const char *uuid)
{
	vec_for_each (struct promise, p, &s->checker.promises) {
		if (text_equals(p->holder, holder) && text_equals(p->tenant, tenant) &&
			text_equals(p->uuid, uuid)) {
			return p;
		}
	}
	return NULL;
}

static void remember_ledger(struct sim *s, const struct stored *o)
{
	const struct pod *p = &o->pod;
	for (uint32_t i = 0; i < p->ledger.count && p->identity != NULL; i++) {
		const struct grant *g = &p->ledger.items[i];
		struct promise made = {.milli = g->milli, .mem_mib = g->mem_mib};
		snprintf(made.holder, sizeof made.holder, "%s", p->name);
		snprintf(made.holder_uid, sizeof made.holder_uid, "%s", p->uid);
		snprintf(made.uuid, sizeof made.uuid, "%s", p->identity->uuid);
		snprintf(made.node, sizeof made.node, "%s", text_or(p->node, ""));
		snprintf(made.tenant, sizeof made.tenant, "%s", g->uid);
		struct promise *known = promise_find(s, made.holder, made.tenant, made.uuid);
		if (known != NULL) {
			*known = made;
		} else {
			VEC_PUSH(&s->checker.promises, made);
		}
	}
}

static void note_tenant_gone(struct sim *s, const struct stored *o)
{
	vec_for_each (struct promise, p, &s->checker.promises) {
		if (text_equals(p->tenant, o->uid)) {
			p->gone_at = sim_now(s);
			p->over = pod_is_terminal(&o->pod);
		}
	}
}

/* I1 in the books: what one ledger promises fits its GPU. */
static void check_ledger(struct sim *s, const struct stored *o)
{
	int64_t milli = 0, mib = 0;
	const struct pod *p = &o->pod;
	for (uint32_t i = 0; i < p->ledger.count; i++) {
		milli += p->ledger.items[i].milli;
		mib += p->ledger.items[i].mem_mib;
	}
	if (p->ledger.count > 0 && p->identity == NULL) {
		sim_fail(s, "I1", "%s promises shares before it knows its GPU", o->name);
	} else if (p->ledger_bad) {
		sim_fail(s, "I1", "the ledger of %s cannot be read", o->name);
	} else if (p->ledger.count > 0 && (milli > MODEL_GPU_MILLI || mib > p->identity->mem_mib)) {
		sim_fail(s, "I1", "the ledger of %s promises %lld milli and %lld MiB of %lld: %s",
			o->name, (long long)milli, (long long)mib, (long long)p->identity->mem_mib,
			check_note(p, NOTE_GRANTS));
	}
}

/* --- one tenant's placement --- */

static void check_pin(struct sim *s, const struct stored *o, const char *node)
{
	const struct pod *p = &o->pod;
	bool pinned = p->node_term_count > 0;
	for (uint32_t i = 0; i < p->node_term_count; i++) {
		bool this_one = false;
		const struct terms *fields = &p->node_terms[i].fields;
		for (uint32_t j = 0; j < fields->count; j++) {
			this_one = this_one || term_matches(&fields->items[j], node);
		}
		pinned = pinned && this_one;
	}
	if (!pinned) {
		sim_fail(s, "I3", "%s/%s is placed on a GPU of %s and not pinned there", o->ns,
			o->name, node);
	}
}

/* As long as the capacity pod is there, the entry is there before the tenant is told, and stays. */
static bool entry_is_gone(const struct sim *s, const struct promise *made)
{
	const struct stored *holder = store_find_uid(&s->store, made->holder_uid);
	bool found = false;
	for (uint32_t i = 0; holder != NULL && i < holder->pod.ledger.count; i++) {
		found = found || text_equals(holder->pod.ledger.items[i].uid, made->tenant);
	}
	return holder != NULL && !found;
}

static void check_placing_on(
	struct sim *s, const struct stored *o, const char *uuid, const char *holder)
{
	const struct pod *p = &o->pod;
	struct promise *made = promise_find(s, holder, o->uid, uuid);
	if (made == NULL) {
		sim_fail(s, "grant", "%s/%s (%s) is placed on %s of %s without an entry there",
			o->ns, o->name, o->uid, uuid, text_or(holder, "?"));
	} else if (entry_is_gone(s, made)) {
		sim_fail(s, "grant", "%s/%s (%s) is placed on %s of %s, whose ledger has lost it",
			o->ns, o->name, o->uid, uuid, holder);
	} else if (made->milli != note_or_none(p, NOTE_COMPUTE_MILLI) ||
		   made->mem_mib != note_or_none(p, NOTE_MEMORY_MIB)) {
		sim_fail(s, "grant",
			"%s/%s is placed with %s milli, %s MiB; its entry says %lld, "
			"%lld",
			o->ns, o->name, check_note(p, NOTE_COMPUTE_MILLI),
			check_note(p, NOTE_MEMORY_MIB), (long long)made->milli,
			(long long)made->mem_mib);
	} else {
		(void)prober_check_told(s, o, check_note(p, NOTE_GPU_UUID), made->node);
		check_pin(s, o, made->node);
		fair_check_placing(s, o, made->node);
		overtake_check(s, o, made->node);
	}
}

static void check_placing(struct sim *s, const struct stored *o)
{
	struct told_gpu t = told_gpus(&o->pod);
	check_whole(s, o);
	while (told_gpu_next(&t)) {
		check_placing_on(s, o, t.uuid, t.holder);
	}
}

static const struct grant *entry_on(
	const struct stored *holder, const char *uuid, const struct stored *o)
{
	const struct pod *p = &holder->pod;
	for (uint32_t i = 0; i < p->ledger.count; i++) {
		if (p->identity != NULL && text_equals(p->identity->uuid, uuid) &&
			text_equals(p->ledger.items[i].uid, o->uid)) {
			return &p->ledger.items[i];
		}
	}
	return NULL;
}

static bool share_covers(const struct stored *o, int64_t milli, int64_t mem_mib)
{
	return milli >= note_or_none(&o->pod, NOTE_COMPUTE_MILLI) &&
	       mem_mib >= note_or_none(&o->pod, NOTE_MEMORY_MIB);
}

/* The capacity pod is gone and its ledger had as much: whoever finds the GPU again counts it. */
static bool was_covered(struct sim *s, const char *uuid, const struct stored *o)
{
	vec_for_each (const struct promise, p, &s->checker.promises) {
		if (text_equals(p->tenant, o->uid) && text_equals(p->uuid, uuid) &&
			share_covers(o, p->milli, p->mem_mib) &&
			store_find_uid(&s->store, p->holder_uid) == NULL) {
			return true;
		}
	}
	return false;
}

/* Whoever holds the GPU now has at least as much for a tenant as it is told while it runs. */
static bool is_covered_on(struct sim *s, const char *uuid, const struct stored *o)
{
	bool any = false;
	for (size_t i = 0; i < s->store.items.count; i++) {
		const struct stored *h = s->store.items.items[i];
		const struct grant *g = h->resource == RES_PODS && pod_is_capacity(&h->pod)
						? entry_on(h, uuid, o)
						: NULL;
		if (g != NULL && share_covers(o, g->milli, g->mem_mib)) {
			return true;
		}
		any = any || g != NULL;
	}
	return !any && was_covered(s, uuid, o);
}

static bool is_covered(struct sim *s, const struct stored *o)
{
	struct told_gpu t = told_gpus(&o->pod);
	bool all = true;
	while (all && told_gpu_next(&t)) {
		all = is_covered_on(s, t.uuid, o);
	}
	return all;
}

static void check_keys(struct sim *s, const struct commit *c)
{
	static const char note_milli[] = NOTE_COMPUTE_MILLI, note_mib[] = NOTE_MEMORY_MIB;
	static const char *const keys[] = {
		NOTE_GPU_UUID, NOTE_VISIBLE_DEVICES, note_milli, note_mib, NOTE_CAPACITY_POD};
	const struct stored *o = c->after;
	bool was_gated = c->before != NULL && pod_has_gate(&c->before->pod, NAME_GATE);
	bool gated = pod_has_gate(&o->pod, NAME_GATE);
	if (gated == is_placed(&o->pod)) {
		sim_fail(s, "gate", "%s/%s: the gate and the keys do not go together", o->ns,
			o->name);
		return;
	}
	if (was_gated && !gated) {
		s->report->placed++;
		gate_check_placing(s, c);
		check_placing(s, o);
		return;
	}
	for (size_t i = 0; i < COUNT_OF(keys) && c->before != NULL; i++) {
		const char *had = check_note(&c->before->pod, keys[i]);
		bool amount = (keys[i] == note_milli || keys[i] == note_mib) && had != NULL;
		amount = amount && check_note(&o->pod, keys[i]) != NULL;
		bool less = amount &&
			    note_or_none(&o->pod, keys[i]) < note_or_none(&c->before->pod, keys[i]);
		if (!text_equals(had, check_note(&o->pod, keys[i])) && !less &&
			!(amount && is_covered(s, o))) {
			sim_fail(s, "keys", "%s/%s: %s changed from %s to %s", o->ns, o->name,
				keys[i], text_or(had, "none"),
				text_or(check_note(&o->pod, keys[i]), "none"));
		}
	}
}

/* --- sums over the whole cluster --- */

static bool share_counts(const struct stored *o, const char *uuid)
{
	struct told_gpu t;
	return uses_share(o) && told_by(&o->pod, uuid, &t) != NULL;
}

/* I1 as it is: everybody who may use a GPU together fits it. */
static void check_gpu(struct sim *s, const char *uuid)
{
	int64_t milli = 0, mib = 0;
	CLEANUP(str_finish) struct str who = STR_INIT(SIM_MESSAGE_MAX - 256);
	const struct device *d = fleet_device(s, uuid);
	if (left_sum(s, uuid, &milli, &mib)) {
		str_append_format(&who, " (%lld milli, %lld MiB of pods that are gone)",
			(long long)milli, (long long)mib);
	}
	for (size_t i = 0; i < s->store.items.count; i++) {
		const struct stored *o = s->store.items.items[i];
		if (!share_counts(o, uuid)) {
			continue;
		}
		milli += note_or_none(&o->pod, NOTE_COMPUTE_MILLI);
		mib += note_or_none(&o->pod, NOTE_MEMORY_MIB);
		str_append_format(&who, " %s (%s, %s milli, %s MiB, by %s)", o->name, o->uid,
			check_note(&o->pod, NOTE_COMPUTE_MILLI),
			check_note(&o->pod, NOTE_MEMORY_MIB),
			check_note(&o->pod, NOTE_CAPACITY_POD));
	}
	if (d == NULL) {
		sim_fail(s, "I3", "nobody knows the GPU %s", uuid);
	} else if (milli > MODEL_GPU_MILLI || mib > d->mem_mib) {
		sim_fail(s, "I1", "%s is sold over: %lld milli, %lld MiB of %lld:%s", uuid,
			(long long)milli, (long long)mib, (long long)d->mem_mib, str_text(&who));
	}
}

static int64_t placed_under(const struct sim *s, const struct stored *t)
{
	for (size_t i = s->memory.changes.count; i-- > 0;) {
		const struct happened *h = &s->memory.changes.items[i];
		if (h->before != NULL && h->after != NULL && text_equals(h->after->uid, t->uid) &&
			!is_placed(&h->before->pod) && is_placed(&h->after->pod)) {
			return h->version;
		}
	}
	return 0;
}

/* It was told of the GPU by a capacity pod that held it before, and whoever promises something now
 * had not been told so when it decided: an old leader's placement has landed a moment ago. What is
 * promised then is told to nobody, which check_gpu sees to. */
static bool came_unseen(struct sim *s, const struct stored *o, const struct stored *t, int replica)
{
	struct told_gpu told;
	const char *holder = told_by(&t->pod, o->pod.identity->uuid, &told);
	const struct promise *made =
		holder != NULL ? promise_find(s, holder, t->uid, o->pod.identity->uuid) : NULL;
	const struct intent *asked = replica >= 0 ? claim_grant_of(s, replica, o->name) : NULL;
	if (made == NULL || asked == NULL || strcmp(made->holder_uid, o->uid) == 0) {
		return false;
	}
	return placed_under(s, t) > past_version(s, replica, RES_PODS, asked->moment);
}

/* And everybody who was promised a part of it: entries of tenants that still wait count too. */
static void check_promised(struct sim *s, const struct stored *o, int replica)
{
	const struct pod *p = &o->pod;
	int64_t milli = 0, mib = 0;
	for (uint32_t i = 0; i < p->ledger.count; i++) {
		const struct stored *t = store_find_uid(&s->store, p->ledger.items[i].uid);
		if (t != NULL && t->resource == RES_PODS && pod_has_gate(&t->pod, NAME_GATE)) {
			milli += p->ledger.items[i].milli;
			mib += p->ledger.items[i].mem_mib;
		}
	}
	for (size_t i = 0; i < s->store.items.count; i++) {
		const struct stored *t = s->store.items.items[i];
		if (share_counts(t, p->identity->uuid) && !came_unseen(s, o, t, replica)) {
			milli += note_or_none(&t->pod, NOTE_COMPUTE_MILLI);
			mib += note_or_none(&t->pod, NOTE_MEMORY_MIB);
		}
	}
	left_sum(s, p->identity->uuid, &milli, &mib);
	if (milli > MODEL_GPU_MILLI || mib > p->identity->mem_mib) {
		sim_fail(s, "I1", "%s has promised and given %lld milli, %lld MiB of %lld: %s",
			o->name, (long long)milli, (long long)mib, (long long)p->identity->mem_mib,
			text_or(check_note(p, NOTE_GRANTS), ""));
	}
}

/* Where the machine itself tells one UUID twice it is not our doing; the sums still hold. */
static void check_doubles(struct sim *s, const struct stored *o)
{
	if (fleet_is_doubled(s, o->pod.identity->uuid)) {
		return;
	}
	for (size_t i = 0; i < s->store.items.count; i++) {
		const struct stored *other = s->store.items.items[i];
		if (other != o && holds_gpu(other) &&
			text_equals(other->pod.identity->uuid, o->pod.identity->uuid)) {
			sim_fail(s, "I2", "%s and %s both hold %s", o->name, other->name,
				o->pod.identity->uuid);
		}
	}
}

/* --- who may write what --- */

/* It waits for what it was promised there, or runs on it; what is not whole may be given back, and
 * what was told of another GPU needs no entry here. */
static bool counts_on(const struct sim *s, const char *uid, const struct stored *capacity)
{
	const struct stored *t = store_find_uid(&s->store, uid);
	if (t == NULL || t->resource != RES_PODS || pod_is_terminal(&t->pod)) {
		return false;
	}
	const char *uuid = check_note(&t->pod, NOTE_GPU_UUID);
	const struct gpu_identity *id = capacity->pod.identity;
	bool waits = uuid == NULL && group_asked(&t->pod) == 1;
	return waits || (id != NULL && gpu_list_has(uuid, id->uuid));
}

/* One of the other mode is of no use to it, and goes so that one of its own can come (C11). */
static bool is_served_by(const struct stored *tenant, const struct stored *capacity)
{
	return pod_is_mps(&tenant->pod) == pod_is_mps(&capacity->pod);
}

/* A deletion of ours begins, is made shorter or is done. What one on its way out has promised is
 * promised anew elsewhere. */
static void check_deletion(struct sim *s, const struct stored *o, bool again)
{
	if (pod_is_probe(&o->pod) || (s->weather.rolled && roll_may_delete(s, o))) {
		return;
	}
	if (!pod_is_capacity(&o->pod)) {
		sim_fail(s, "I5", "a controller deletes %s/%s, which is no capacity pod", o->ns,
			o->name);
		return;
	}
	/* What has ended holds nothing any more. */
	if (pod_is_terminal(&o->pod)) {
		return;
	}
	for (uint32_t i = 0; i < o->pod.ledger.count && !again; i++) {
		const struct grant *g = &o->pod.ledger.items[i];
		if (counts_on(s, g->uid, o)) {
			sim_fail(s, "I8",
				"a controller deletes %s, which has promised %s/%s (%s) "
				"a share",
				o->name, g->ns, g->name, g->uid);
		}
	}
	/* Of two that tell one UUID either may go. */
	bool doubled = o->pod.identity != NULL && fleet_is_doubled(s, o->pod.identity->uuid);
	int64_t milli = 0, mib = 0;
	if (o->pod.identity != NULL && !doubled &&
		left_sum(s, o->pod.identity->uuid, &milli, &mib)) {
		sim_fail(s, "I8",
			"a controller deletes %s, on whose GPU something runs whose pod is gone",
			o->name);
	}
	for (size_t i = 0; i < s->store.items.count && !doubled; i++) {
		const struct stored *t = s->store.items.items[i];
		if (uses_share(t) && o->pod.identity != NULL && is_served_by(t, o) &&
			gpu_list_has(check_note(&t->pod, NOTE_GPU_UUID), o->pod.identity->uuid)) {
			sim_fail(s, "I8", "a controller deletes %s, on whose GPU %s/%s runs",
				o->name, t->ns, t->name);
		}
	}
}

static bool ledger_lists(const struct ledger *l, const char *uid)
{
	for (uint32_t i = 0; i < l->count; i++) {
		if (text_equals(l->items[i].uid, uid)) {
			return true;
		}
	}
	return false;
}

/* Only departures are struck out: whoever waits for what it was promised, or runs on it, stays. */
static void check_struck_out(struct sim *s, const struct commit *c)
{
	const struct ledger *had = &c->before->pod.ledger;
	for (uint32_t i = 0; i < had->count; i++) {
		const struct stored *t = store_find_uid(&s->store, had->items[i].uid);
		if (!ledger_lists(&c->after->pod.ledger, had->items[i].uid) &&
			counts_on(s, had->items[i].uid, c->after)) {
			sim_fail(s, "books", "a controller strikes %s/%s (%s) out of %s", t->ns,
				t->name, t->uid, c->after->name);
		}
	}
}

/* Nobody has less in the ledger of its GPU than it was told. */
static void check_shrunk(struct sim *s, const struct commit *c)
{
	const struct ledger *l = &c->after->pod.ledger;
	for (uint32_t i = 0; i < l->count; i++) {
		const struct stored *t = store_find_uid(&s->store, l->items[i].uid);
		struct told_gpu told;
		bool here = t != NULL && t->resource == RES_PODS && uses_share(t) &&
			    c->after->pod.identity != NULL &&
			    told_by(&t->pod, c->after->pod.identity->uuid, &told) != NULL;
		if (here && (l->items[i].milli < note_or_none(&t->pod, NOTE_COMPUTE_MILLI) ||
				    l->items[i].mem_mib < note_or_none(&t->pod, NOTE_MEMORY_MIB))) {
			sim_fail(s, "books",
				"the ledger of %s says less of %s/%s (%s) than it was told",
				c->after->name, t->ns, t->name, t->uid);
		}
	}
}

static void check_author(struct sim *s, const struct commit *c)
{
	const struct stored *o = c->after != NULL ? c->after : c->before;
	if (o->resource == RES_LEASES || o->resource == RES_POLICIES ||
		o->resource == RES_RECOMMENDATIONS) {
		return;
	}
	if (o->resource != RES_PODS) {
		sim_fail(s, "I6", "a controller writes %s %s", resource_name(o->resource), o->name);
		return;
	}
	if (pod_is_probe(&o->pod) && s->weather.probed) {
		return;
	}
	bool replaces = s->weather.rolled && roll_may_write(s, c);
	if (c->type == PAST_ADDED && !pod_is_capacity(&o->pod) && !replaces) {
		sim_fail(s, "I6", "a controller creates %s/%s", o->ns, o->name);
	}
	if (c->type == PAST_ADDED && pod_is_capacity(&o->pod)) {
		fair_check_opening(s, o, c->actor);
	}
	if (!pod_is_capacity(&o->pod) && !pod_is_tenant(&o->pod) && !replaces) {
		sim_fail(
			s, "I6", "a controller writes %s/%s, which is not its own", o->ns, o->name);
	}
	if (c->type == PAST_MODIFIED && pod_is_capacity(&o->pod) && o->pod.identity != NULL) {
		check_struck_out(s, c);
		gate_check_ledger(s, c);
		check_shrunk(s, c);
	}
	bool both = c->after != NULL && c->before != NULL;
	bool again = c->before != NULL && c->before->pod.deleting_ms != 0;
	bool begins = both && !again && c->after->pod.deleting_ms != 0;
	bool shortens = both && again && c->after->pod.grace_s < c->before->pod.grace_s;
	if ((c->type == PAST_DELETED || begins || shortens) && !s->evicting) {
		check_deletion(s, o, again);
	}
}

static void count_capacity_pods(struct sim *s, const struct commit *c)
{
	const struct stored *o = c->after != NULL ? c->after : c->before;
	bool deletes = c->after == NULL || (c->before != NULL && c->before->pod.deleting_ms == 0 &&
						   c->after->pod.deleting_ms != 0);
	if (o->resource == RES_PODS && pod_is_capacity(&o->pod)) {
		s->tally.created += c->type == PAST_ADDED;
		s->tally.given_back += deletes;
	}
}

void check_commit(struct sim *s, const struct commit *c)
{
	const struct stored *o = c->after;
	check_note_waiting(s, c->before);
	check_note_waiting(s, o);
	check_note_lost(s, c);
	if (c->actor >= 0) {
		check_author(s, c);
		count_capacity_pods(s, c);
	}
	claim_committed(s, c);
	check_quotas(s, c);
	fair_note(s);
	if (o == NULL && c->before->resource == RES_PODS && pod_is_tenant(&c->before->pod)) {
		left_note(s, c->before);
		note_tenant_gone(s, c->before);
	}
	if (o == NULL || o->resource != RES_PODS) {
		return;
	}
	if (pod_is_tenant(&o->pod)) {
		check_keys(s, c);
		modes_check_told(s, o);
	}
	if (pod_is_capacity(&o->pod)) {
		check_ledger(s, o);
		company_check(s, o);
		modes_check_ledger(s, o);
		prober_check_ledger(s, c);
		remember_ledger(s, o);
	}
	if (holds_gpu(o)) {
		check_doubles(s, o);
	}
	/* What one on its way out has promised is promised anew elsewhere. */
	if (holds_gpu(o) && o->pod.deleting_ms == 0) {
		check_promised(s, o, c->actor);
	}
	struct told_gpu t = told_gpus(&o->pod);
	while (uses_share(o) && told_gpu_next(&t)) {
		check_gpu(s, t.uuid);
	}
}
