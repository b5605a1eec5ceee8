/* Fairness with whole-GPU pods, from the objects alone. C16: nothing opens where one fits that
 * ranks before everybody who waits. C18: newcomers do not overtake one on the only node that could
 * ever hold it. Who may be told so: both are allowed the time that a controller may not know
 * better. */
#include "check_fair.h"

#include <stdio.h>
#include <string.h>

#include "check_fit.h"
#include "objects/machine_find.h"
#include "model/names.h"
#include "model/plan.h"
#include "objects/pending_pods.h"
#include "objects/told.h"
#include "objects/trace.h"

#define OFFER_MS 50000

/* Without faults. */
#define CALM_BLIND_MS 5000

/* What faults have kept back may still come for a while after they have stopped. */
static int64_t allowance(const struct sim *s)
{
	if (!s->calm) {
		return s->blind_ms;
	}
	return sim_now(s) - s->calm_at < s->blind_ms ? INT64_MAX : CALM_BLIND_MS;
}

/* So much each fault of this run may keep a controller's view behind, or its writes on their way.
 */
int64_t fair_blind_ms(const struct weather *w)
{
	return CALM_BLIND_MS + (w->stream_lag > 0 ? w->lag_ms : 0) + (w->stall > 0 ? 60000 : 0) +
	       (w->late + w->twice > 0 ? w->late_ms : 0) + (w->linger > 0 ? LINGER_MOST_MS : 0) +
	       (w->pause > 0 ? 30000 : 0) + (w->partition > 0 ? 40000 : 0) +
	       (w->crash + w->leave > 0 ? 30000 : 0) + (w->server_restart > 0 ? 20000 : 0) +
	       (w->crash_at_write > 0 ? 30000 : 0);
}

static bool is_gated_pod(const struct stored *o)
{
	return stored_is_pod(o) && pod_has_gate(&o->pod, NAME_GATE) && o->pod.deleting_ms == 0;
}

static struct pending *pending_find(struct sim *s, const char *uid)
{
	vec_for_each (struct pending, p, &s->checker.pending) {
		if (text_equals(p->uid, uid)) {
			return p;
		}
	}
	return NULL;
}

static struct pending *pending_touch(struct sim *s, const char *uid)
{
	struct pending *found = pending_find(s, uid);
	if (found != NULL) {
		return found;
	}
	struct pending made = {.known_at = sim_now(s),
		.first_at = sim_now(s),
		.known_version = s->store.version,
		.first_version = s->store.version};
	snprintf(made.uid, sizeof made.uid, "%s", uid);
	VEC_PUSH(&s->checker.pending, made);
	return &s->checker.pending.items[s->checker.pending.count - 1];
}

static bool anyone_before(struct sim *s, const struct pod *whole)
{
	for (size_t i = 0; i < s->store.items.count; i++) {
		const struct stored *o = s->store.items.items[i];
		if (is_gated_pod(o) && o->pod.gate_count == 1 && !fair_is_before(whole, &o->pod) &&
			check_could_ever_fit(s, &o->pod)) {
			return true;
		}
	}
	return false;
}

/* What is too large for every GPU may have one opened all the same, where nobody tells their size.
 */
static bool anyone_asks_before(const struct sim *s, const struct pod *whole)
{
	for (size_t i = 0; i < s->store.items.count; i++) {
		const struct stored *o = s->store.items.items[i];
		if (is_gated_pod(o) && o->pod.gate_count == 1 && !fair_is_before(whole, &o->pod)) {
			return true;
		}
	}
	return false;
}

void fair_note(struct sim *s)
{
	for (size_t i = s->checker.pending.count; i-- > 0;) {
		const struct stored *o = store_find_uid(&s->store, s->checker.pending.items[i].uid);
		if (o == NULL || !fair_is_pending(o)) {
			VEC_REMOVE_SWAP(&s->checker.pending, i);
		}
	}
	for (size_t i = 0; i < s->store.items.count; i++) {
		const struct stored *o = s->store.items.items[i];
		if (fair_is_pending(o)) {
			struct pending *p = pending_touch(s, o->uid);
			if (anyone_before(s, &o->pod)) {
				p->first_at = sim_now(s);
				p->first_version = s->store.version;
			}
		}
	}
}

/* No capacity pod of these objects holds it, or one that is about to go. One that came later under
 * the name of the former may hold another. */
static bool is_let_go(const struct stored *const *items, size_t count, const char *uuid)
{
	for (size_t i = 0; i < count; i++) {
		const struct pod *p = &items[i]->pod;
		if (stored_is_pod(items[i]) && pod_is_capacity(p) && p->identity != NULL &&
			text_equals(p->identity->uuid, uuid) && p->deleting_ms == 0 &&
			!pod_is_terminal(p)) {
			return false;
		}
	}
	return true;
}

static bool has_orphan(const struct stored *const *items, size_t count, const char *node)
{
	for (size_t i = 0; i < count; i++) {
		const struct stored *o = items[i];
		bool there = stored_is_pod(o) && !pod_is_terminal(&o->pod) &&
			     (text_empty(o->pod.node) || text_equals(o->pod.node, node));
		struct told_gpu t = told_gpus(&o->pod);
		while (there && told_gpu_next(&t)) {
			if (is_let_go(items, count, t.uuid)) {
				return true;
			}
		}
	}
	return false;
}

/* Where a GPU has lost its capacity pod, taking it back comes before everything. */
bool fair_has_orphan(const struct sim *s, const char *node)
{
	return has_orphan(
		(const struct stored *const *)s->store.items.items, s->store.items.count, node);
}

static const char *pinned_to(const struct pod *p)
{
	const struct terms *fields = p->node_term_count > 0 ? &p->node_terms[0].fields : NULL;
	return fields != NULL && fields->count > 0 && fields->items[0].value_count > 0
		       ? fields->items[0].values[0]
		       : NULL;
}

/* When the controller first asked for this one; NULL: it is not remembered. */
static const struct intent *asked_for(const struct sim *s, int replica, const char *name)
{
	vec_for_each (const struct intent, i, &s->claims.intents) {
		if (i->kind == ACTION_CREATE_CAPACITY && i->replica == replica &&
			strcmp(i->name, name) == 0) {
			return i;
		}
	}
	return NULL;
}

/* As far as it had been told then: the tenant of that GPU may have left since. */
static bool saw_orphan(
	const struct sim *s, int replica, const struct intent *asked, const char *node)
{
	struct picture seen = {0};
	if (asked == NULL || !past_picture(s, replica, asked->moment, &seen)) {
		return false;
	}
	bool saw = has_orphan(seen.items, seen.count, node);
	VEC_FINISH(&seen);
	return saw;
}

/* The scheduler had left it alone for so long that the reason may be one that nobody judges. */
static bool rests_maybe(const struct sim *s, const struct pending *p)
{
	return sim_now(s) - p->known_at > OFFER_MS;
}

/* It was there, and nobody before it, in what the controller knew; or for so long that it must have
 * known. */
static bool was_known(const struct sim *s, const struct pending *p, int64_t told)
{
	int64_t since = p->known_at > p->first_at ? p->known_at : p->first_at;
	bool seen = p->known_version <= told && p->first_version < told && !rests_maybe(s, p);
	return seen || sim_now(s) - since >= allowance(s);
}

/* Who opens a GPU there believes that one is free, and so that this pod fits. */
void fair_check_opening(struct sim *s, const struct stored *capacity, int replica)
{
	const char *name = pinned_to(&capacity->pod);
	const struct stored *node =
		name != NULL ? store_find(&s->store, RES_NODES, "", name) : NULL;
	if (node == NULL || fair_has_orphan(s, name)) {
		return;
	}
	const struct intent *asked = asked_for(s, replica, capacity->name);
	int64_t told = asked != NULL ? past_version(s, replica, RES_PODS, asked->moment) : 0;
	if (saw_orphan(s, replica, asked, name)) {
		return;
	}
	const struct machine *m = fleet_find(s, name);
	bool unknown = m != NULL && !m->labelled;
	vec_for_each (const struct pending, p, &s->checker.pending) {
		const struct stored *o = store_find_uid(&s->store, p->uid);
		if (o != NULL && o->pod.gpus == 1 && was_known(s, p, told) && node->node.ready &&
			!node->node.unschedulable && !(unknown && anyone_asks_before(s, &o->pod))) {
			sim_fail(s, "C16",
				"%s opens on %s, where %s/%s fits, which waits longer than "
				"anybody",
				capacity->name, name, o->ns, o->name);
		}
	}
}

/* The only node that could ever hold it; NULL: there is none, or there are others. */
static const struct stored *only_node_for(const struct sim *s, const struct pod *whole)
{
	const struct stored *only = NULL;
	for (size_t i = 0; i < s->store.items.count; i++) {
		const struct stored *o = s->store.items.items[i];
		if (o->resource != RES_NODES || o->node.gpus < whole->gpus) {
			continue;
		}
		if (only != NULL) {
			return NULL;
		}
		only = o;
	}
	return only;
}

/* GPUs of the node that somebody needs. */
static int64_t needed_on(const struct sim *s, const struct stored *node)
{
	int64_t gpus = 0;
	for (size_t i = 0; i < s->store.items.count; i++) {
		const struct stored *o = s->store.items.items[i];
		bool there = stored_is_pod(o) && text_equals(o->pod.node, node->name) &&
			     !pod_is_terminal(&o->pod) && o->pod.deleting_ms == 0;
		bool idle = there && pod_is_capacity(&o->pod) && !check_ledger_lives(s, o);
		gpus += there && !idle ? o->pod.gpus : 0;
	}
	return gpus;
}

/* In the calm only: nodes come and go before. With several that wait, they wait for each other. */
void fair_check_placing(struct sim *s, const struct stored *tenant, const char *node)
{
	if (s->checker.pending.count != 1 || !s->calm) {
		return;
	}
	const struct pending *p = &s->checker.pending.items[0];
	const struct stored *o = store_find_uid(&s->store, p->uid);
	const struct stored *only = o != NULL ? only_node_for(s, &o->pod) : NULL;
	int64_t clear = s->calm_at + s->blind_ms;
	int64_t since = p->known_at > clear ? p->known_at : clear;
	if (only != NULL && text_equals(only->name, node) &&
		fair_is_before(&o->pod, &tenant->pod) &&
		sim_now(s) - since >= s->patience_ms + CALM_BLIND_MS &&
		only->node.gpus - needed_on(s, only) < o->pod.gpus) {
		sim_fail(s, "C18", "%s/%s overtakes %s/%s on %s, the only node that could hold it",
			tenant->ns, tenant->name, o->ns, o->name, node);
	}
}

static bool is_claimed(
	const struct sim *s, const struct pod *p, const struct node *n, const struct stored *by)
{
	bool whole = fair_is_pending(by) && by->pod.gpus <= n->gpus;
	bool tenant = is_gated_pod(by) && !text_equals(by->pod.uid, p->uid);
	(void)s;
	return (whole || tenant) && fair_is_before(&by->pod, p);
}

/* Each pod that waits and ranks before it may keep one node or one GPU from it. One that needs
 * several GPUs says how many it lacks, not who keeps them. */
bool fair_excuses(
	const struct sim *s, const struct pod *p, const struct node *const *nodes, uint32_t count)
{
	uint32_t claims = 0;
	bool says = text_equals(p->placed.reason, "WholePodFirst") ||
		    text_equals(p->placed.reason, "Reserved") || group_asked(p) > 1;
	for (size_t i = 0; i < s->store.items.count; i++) {
		bool any = false;
		for (uint32_t k = 0; k < count; k++) {
			any = any || is_claimed(s, p, nodes[k], s->store.items.items[i]);
		}
		claims += any ? 1 : 0;
	}
	return says && count <= claims;
}
