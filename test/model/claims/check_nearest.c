/* C17 where several GPUs could do: who has lacked room for longer than patience keeps the one on
 * which the least is missing, and nobody who ranks lower is given a share there, wherever else it
 * may go. Which GPU that is, is worked out from what the controller had been told when it decided;
 * where that leaves a doubt (what may run on after its pod is gone, what is being opened, what has
 * been asked for and not been seen), nothing is judged. */
#include "check_nearest.h"

#include <stdio.h>
#include <string.h>

#include "check_fair.h"
#include "claim_lack.h"
#include "claim_room.h"
#include "model/names.h"
#include "model/plan.h"
#include "objects/facts.h"
#include "objects/machine_find.h"
#include "objects/pending_pods.h"
#include "objects/told.h"
#include "objects/trace.h"

/* That are looked at. */
#define GPUS_MOST 64

/* What is missing on one GPU, at least and at most. */
struct missing {
	const struct stored *holder;
	struct span milli, mib;
};

struct judged {
	struct claim claim;
	const struct action *action;
	struct missing on[GPUS_MOST];
	size_t count;
};

void nearest_begin(struct sim *s)
{
	const struct weather *w = &s->weather;
	/* What else a GPU may be refused for is judged elsewhere. */
	s->checker.nearest = w->exclusive == 0 && w->walled == 0 && w->greedy == 0 && !w->probed &&
			     !w->rolled && !sim_everyone_leads(s);
}

/* --- since when it lacks room --- */

struct on_node {
	int64_t open, whole, cpu_milli, mem_bytes, slots;
	bool room;
};

static bool need_has_room(const struct sim *s, const struct stored *holder, const struct need *n)
{
	int64_t milli = n->milli, mib = n->mem_mib;
	for (uint32_t i = 0; i < holder->pod.ledger.count; i++) {
		const struct grant *g = &holder->pod.ledger.items[i];
		const struct stored *t = store_find_uid(&s->store, g->uid);
		bool lives = t != NULL && t->resource == RES_PODS && !pod_is_terminal(&t->pod);
		milli += lives ? g->milli : 0;
		mib += lives ? g->mem_mib : 0;
	}
	return milli <= MODEL_GPU_MILLI && mib <= holder->pod.identity->mem_mib;
}

static struct on_node look_on_node(const struct sim *s, const struct stored *t,
	const struct stored *node, const struct need *n)
{
	struct on_node on = {.cpu_milli = node->node.cpu_milli - t->pod.cpu_milli,
		.mem_bytes = node->node.mem_bytes - t->pod.mem_bytes,
		.slots = node->node.pod_slots - 1};
	for (size_t i = 0; i < s->store.items.count; i++) {
		const struct stored *o = s->store.items.items[i];
		if (o->resource != RES_PODS || o == t || pod_is_terminal(&o->pod)) {
			continue;
		}
		bool here = text_equals(o->pod.node, node->name);
		if (here || (text_empty(o->pod.node) && !claim_is_waiting(o))) {
			on.cpu_milli -= o->pod.cpu_milli;
			on.mem_bytes -= o->pod.mem_bytes;
			on.slots--;
		}
		if (here && claim_is_open(o)) {
			on.open++;
			on.room = on.room || need_has_room(s, o, n);
		} else if (here) {
			on.whole += o->pod.gpus;
		}
	}
	return on;
}

/* All GPUs that could do are open and full, whatever else is there; some node has all else. */
static bool lacks_everywhere(struct sim *s, const struct stored *t)
{
	bool takes = false;
	for (size_t i = 0; i < s->store.items.count; i++) {
		const struct stored *o = s->store.items.items[i];
		struct need n;
		if (o->resource == RES_QUOTAS || fair_is_pending(o)) {
			return false;
		}
		if (o->resource != RES_NODES || !claim_selects(&t->pod, &o->node)) {
			continue;
		}
		const struct machine *m = fleet_find(s, o->name);
		if (m == NULL || m->doubled || !o->node.ready || o->node.unschedulable ||
			claim_is_drained(&o->node) || fair_has_orphan(s, o->name) ||
			!facts_need(&t->pod, m->devices[0].mem_mib, &n)) {
			return false;
		}
		if (n.milli > MODEL_GPU_MILLI || n.mem_mib > m->devices[0].mem_mib) {
			if (!m->labelled) {
				return false;
			}
			continue;
		}
		struct on_node on = look_on_node(s, t, o, &n);
		if (on.room || on.open + on.whole != m->device_count) {
			return false;
		}
		takes = takes || (on.cpu_milli >= 0 && on.mem_bytes >= 0 && on.slots >= 0);
	}
	return takes;
}

static bool was_chosen(const struct sim *s, int replica, const char *uid)
{
	vec_for_each (const struct chosen, c, &s->claims.chosen) {
		if (c->replica == replica && strcmp(c->uid, uid) == 0) {
			return true;
		}
	}
	return false;
}

bool nearest_lacks(struct sim *s, const struct stored *t, int replica)
{
	return s->checker.nearest && group_asked(&t->pod) == 1 && !was_chosen(s, replica, t->uid) &&
	       lacks_everywhere(s, t);
}

/* --- where the least is missing --- */

static const struct promise *promise_of(
	const struct sim *s, const struct stored *holder, const char *uid)
{
	vec_for_each (const struct promise, p, &s->checker.promises) {
		if (strcmp(p->tenant, uid) == 0 && strcmp(p->holder_uid, holder->uid) == 0) {
			return p;
		}
	}
	return NULL;
}

/* It ended before its object went, and this controller has seen that. */
static bool promise_is_over(const struct claim *c, const struct promise *made)
{
	return made != NULL && made->over &&
	       made->gone_at > c->sim->memory.pictured_at[c->replica][RES_PODS];
}

static void use_amount(struct missing *m, int64_t milli, int64_t mib, bool certain)
{
	m->milli.least += certain ? milli : 0;
	m->milli.most += milli;
	m->mib.least += certain ? mib : 0;
	m->mib.most += mib;
}

/* Of this write what is taken before anybody who waits is looked at, and who comes first; of other
 * GPUs that makes them no nearer. */
static void use_before(const struct judged *j, struct missing *m)
{
	for (uint32_t i = 0; i < j->action->ledger.count; i++) {
		const struct grant *g = &j->action->ledger.items[i];
		const struct grant *had = claim_entry_of(&m->holder->pod.ledger, g->uid);
		const struct stored *t = claim_find(&j->claim, g->uid);
		int64_t milli = g->milli - (had != NULL ? had->milli : 0);
		int64_t mib = g->mem_mib - (had != NULL ? had->mem_mib : 0);
		bool before = had != NULL || (t != NULL && claim_comes_first(&j->claim, t));
		if (before) {
			use_amount(m, milli > 0 ? milli : 0, mib > 0 ? mib : 0, true);
		}
	}
}

/* What is used of it, to begin with. */
static void use_all(const struct judged *j, struct missing *m)
{
	const struct claim *c = &j->claim;
	const struct pod *h = &m->holder->pod;
	for (uint32_t i = 0; i < h->ledger.count; i++) {
		const struct grant *g = &h->ledger.items[i];
		const struct stored *t = claim_find(c, g->uid);
		bool over = t != NULL ? pod_is_terminal(&t->pod)
				      : promise_is_over(c, promise_of(c->sim, m->holder, g->uid));
		if (!over) {
			use_amount(m, g->milli, g->mem_mib, t != NULL);
		}
	}
	for (size_t i = 0; i < c->seen.count; i++) {
		const struct stored *o = c->seen.items[i];
		bool here =
			o->resource == RES_PODS && !pod_is_terminal(&o->pod) &&
			gpu_list_has(pairs_get(&o->pod.notes, NOTE_GPU_UUID), h->identity->uuid);
		if (here && claim_entry_of(&h->ledger, o->uid) == NULL) {
			use_amount(m, facts_note_number(&o->pod, NOTE_COMPUTE_MILLI),
				facts_note_number(&o->pod, NOTE_MEMORY_MIB), true);
		}
	}
	if (text_equals(m->holder->name, j->action->name)) {
		use_before(j, m);
	}
}

static int64_t lack(int64_t needs, int64_t has, int64_t used)
{
	return needs - (has - used) > 0 ? needs - (has - used) : 0;
}

/* False: what is missing cannot be told. */
static bool measure_missing(struct judged *j, const struct stored *holder, const struct need *n)
{
	struct missing used = {.holder = holder}, *m = &j->on[j->count];
	int64_t mib = holder->pod.identity->mem_mib;
	if (j->count == GPUS_MOST) {
		return false;
	}
	use_all(j, &used);
	*m = (struct missing){.holder = holder,
		.milli = {lack(n->milli, MODEL_GPU_MILLI, used.milli.least),
			lack(n->milli, MODEL_GPU_MILLI, used.milli.most)},
		.mib = {lack(n->mem_mib, mib, used.mib.least),
			lack(n->mem_mib, mib, used.mib.most)}};
	j->count++;
	return m->milli.least > 0 || m->mib.least > 0;
}

/* False: there is a doubt. */
static bool measure_all(struct judged *j)
{
	struct claim *c = &j->claim;
	for (size_t i = 0; i < c->seen.count; i++) {
		const struct stored *h = c->seen.items[i];
		if (h->resource == RES_QUOTAS || fair_is_pending(h)) {
			return false;
		}
		if (h->resource != RES_PODS || !pod_is_capacity(&h->pod) ||
			pod_is_terminal(&h->pod)) {
			continue;
		}
		const struct stored *node = claim_node_of(c, &h->pod);
		struct need n;
		if (node == NULL || !claim_is_open(h)) {
			return false;
		}
		if (!claim_selects(&c->pod->pod, &node->node)) {
			continue;
		}
		if (!facts_need(&c->pod->pod, h->pod.identity->mem_mib, &n)) {
			return false;
		}
		bool suits = n.milli <= MODEL_GPU_MILLI && n.mem_mib <= h->pod.identity->mem_mib;
		if (suits && !measure_missing(j, h, &n)) {
			return false;
		}
	}
	return true;
}

static bool misses_less(const struct missing *a, const struct missing *b)
{
	bool exact = a->milli.least == a->milli.most && b->milli.least == b->milli.most &&
		     a->milli.least == b->milli.least;
	if (!exact) {
		return a->milli.most < b->milli.least;
	}
	bool same = a->mib.least == a->mib.most && b->mib.least == b->mib.most &&
		    a->mib.least == b->mib.least;
	if (!same) {
		return a->mib.most < b->mib.least;
	}
	int by_node = strcmp(a->holder->pod.node, b->holder->pod.node);
	return by_node != 0 ? by_node < 0 : strcmp(a->holder->name, b->holder->name) < 0;
}

/* The one that is nearer than all others for certain; NULL: there is a doubt. */
static const struct stored *nearest_of(struct judged *j)
{
	if (!measure_all(j)) {
		return NULL;
	}
	for (size_t i = 0; i < j->count; i++) {
		bool all = true;
		for (size_t k = 0; k < j->count; k++) {
			all = all && (k == i || misses_less(&j->on[i], &j->on[k]));
		}
		const struct stored *node = claim_node_of(&j->claim, &j->on[i].holder->pod);
		if (all) {
			return claim_node_takes(&j->claim, node, 0) ? j->on[i].holder : NULL;
		}
	}
	return NULL;
}

/* --- a decision --- */

/* `t` is given a share by this write, while `p` waits. */
static void judge_nearest(struct sim *s, int replica, const struct action *a,
	const struct stored *t, const struct passed_over *p)
{
	struct judged j = {.claim = {.sim = s, .replica = replica}, .action = a};
	struct claim *c = &j.claim;
	const bool *partial = s->memory.partial[replica];
	if (partial[RES_PODS] || partial[RES_NODES] ||
		!past_picture(s, replica, s->memory.told.count, &c->seen)) {
		return;
	}
	c->pod = claim_find(c, p->uid);
	const struct stored *seen = claim_find(c, t->uid);
	bool judged = c->pod != NULL && claim_is_waiting(c->pod) && seen != NULL &&
		      seen != c->pod && !claim_comes_first(c, seen) &&
		      !claim_awaits_watch(c, sim_now(s));
	const struct stored *kept = judged ? nearest_of(&j) : NULL;
	s->report->overtakings += kept != NULL;
	if (kept != NULL && text_equals(kept->name, a->name)) {
		sim_fail(s, "C17",
			"r%d gives %s/%s a share of %s, on which the least is missing for %s/%s, "
			"which comes first and has lacked room for %lld s",
			replica, t->ns, t->name, a->name, c->pod->ns, c->pod->name,
			(long long)p->wide.lacked_ms / 1000);
	}
	VEC_FINISH(&c->seen);
}

void nearest_check(struct sim *s, int replica, const struct action *a)
{
	for (uint32_t i = 0; s->checker.nearest && i < a->ledger.count; i++) {
		const struct stored *t = store_find_uid(&s->store, a->ledger.items[i].uid);
		if (t == NULL || t->resource != RES_PODS || !claim_is_waiting(t) ||
			was_chosen(s, replica, t->uid)) {
			continue;
		}
		vec_for_each (const struct passed_over, p, &s->checker.passed) {
			bool waits = p->wide.reserved_at > 0 && p->replica == replica &&
				     p->leads_since == s->claims.leads_since;
			if (waits && !was_chosen(s, replica, p->uid) &&
				claim_entry_of(&a->ledger, p->uid) == NULL) {
				judge_nearest(s, replica, a, t, p);
			}
		}
	}
}
