/* C17 among tenants, one GPU or several: who has lacked room for longer than patience has reserved
 * what it waits for, and nobody who ranks lower is given any of it. Which GPUs those are is plain
 * only where there are no others that could ever do, so that is where it is judged. What counts are
 * seconds in which one leader could see and write, and what was decided after them. */
#include "check_overtake.h"

#include <stdio.h>
#include <string.h>

#include "check_fair.h"
#include "check_nearest.h"
#include "claim_room.h"
#include "model/names.h"
#include "objects/facts.h"
#include "objects/machine_find.h"
#include "objects/told.h"
#include "objects/trace.h"

#define LOOK_MS	 1000
#define SLACK_MS 10000
/* A search that was in vain is not repeated for so long. */
#define VAIN_MS 30000
#define WELL_MS 60000
/* Nobody looks for room in vain for longer before that counts. */
#define SOON_MS 5000

void overtake_finish(struct sim *s)
{
	VEC_FINISH(&s->checker.passed);
}

static bool node_suits_pod(struct sim *s, const struct pod *p, const struct stored *node)
{
	struct need n;
	const struct machine *m = node->resource == RES_NODES ? fleet_find(s, node->name) : NULL;
	return m != NULL && claim_selects(p, &node->node) &&
	       facts_need(p, m->devices[0].mem_mib, &n) && n.milli <= MODEL_GPU_MILLI &&
	       n.mem_mib <= m->devices[0].mem_mib;
}

/* The node all of whose GPUs it needs, and no other node could do; NULL: there is none. */
static const struct stored *only_node_of(struct sim *s, const struct pod *p)
{
	const struct stored *only = NULL;
	for (size_t i = 0; i < s->store.items.count; i++) {
		const struct stored *o = s->store.items.items[i];
		if (!node_suits_pod(s, p, o)) {
			continue;
		}
		const struct machine *m = fleet_find(s, o->name);
		bool open = o->node.ready && !o->node.unschedulable && !m->doubled &&
			    !claim_is_drained(&o->node);
		if (only != NULL || m->device_count != group_asked(p) || !open) {
			return NULL;
		}
		only = o;
	}
	return only;
}

/* What is promised there, and whether one more of that size has room, or it has been granted. */
static bool share_has_room(const struct sim *s, const struct stored *holder, const struct pod *p)
{
	struct need n;
	int64_t milli = 0, mib = 0;
	const struct ledger *l = &holder->pod.ledger;
	for (uint32_t i = 0; i < l->count; i++) {
		const struct stored *t = store_find_uid(&s->store, l->items[i].uid);
		bool lives = t != NULL && t->resource == RES_PODS && !pod_is_terminal(&t->pod);
		lives = lives && !text_equals(t->uid, p->uid);
		milli += lives ? l->items[i].milli : 0;
		mib += lives ? l->items[i].mem_mib : 0;
	}
	int64_t whole = holder->pod.identity->mem_mib;
	return facts_need(p, whole, &n) && milli + n.milli <= MODEL_GPU_MILLI &&
	       mib + n.mem_mib <= whole;
}

/* CPU, memory and slots are no obstacle, nor is a quota; every GPU is open, and one lacks room. */
static bool node_lacks_room(const struct sim *s, const struct stored *t, const struct stored *node)
{
	int64_t open = 0, lacks = 0, slots = node->node.pod_slots - 1;
	int64_t cpu = node->node.cpu_milli - t->pod.cpu_milli;
	int64_t mem = node->node.mem_bytes - t->pod.mem_bytes;
	for (size_t i = 0; i < s->store.items.count; i++) {
		const struct stored *o = s->store.items.items[i];
		if (o->resource == RES_QUOTAS) {
			return false;
		}
		if (o->resource != RES_PODS || pod_is_terminal(&o->pod)) {
			continue;
		}
		/* Whoever was let go and is not bound yet may come here. */
		bool comes = text_empty(o->pod.node) && !claim_is_waiting(o);
		if (o != t && (comes || text_equals(o->pod.node, node->name))) {
			cpu -= o->pod.cpu_milli;
			mem -= o->pod.mem_bytes;
			slots--;
		}
		if (claim_is_open(o) && text_equals(o->pod.node, node->name)) {
			open++;
			lacks += !share_has_room(s, o, &t->pod);
		}
	}
	return cpu >= 0 && mem >= 0 && slots >= 0 && open == group_asked(&t->pod) && lacks > 0;
}

static struct passed_over *passed_of(struct sim *s, const char *uid)
{
	vec_for_each (struct passed_over, p, &s->checker.passed) {
		if (strcmp(p->uid, uid) == 0) {
			return p;
		}
	}
	struct passed_over made = {.replica = -1};
	snprintf(made.uid, sizeof made.uid, "%s", uid);
	VEC_PUSH(&s->checker.passed, made);
	return &s->checker.passed.items[s->checker.passed.count - 1];
}

/* True: from now on it must have what it waits for reserved. Before `seen_at` it was looked for by
 * nobody who leads now; later somebody may have looked for it in vain. */
static bool wait_on(const struct sim *s, struct lacked *l, bool lacks, int64_t seen_at)
{
	bool had = l->reserved_at > 0;
	l->since = l->lacked_ms > 0 ? l->since : sim_now(s);
	l->lacked_ms = lacks ? l->lacked_ms + LOOK_MS : 0;
	bool maybe_vain = l->since - seen_at > SOON_MS && s->patience_ms < VAIN_MS;
	bool has = l->lacked_ms >= (maybe_vain ? VAIN_MS : s->patience_ms) + SLACK_MS;
	l->reserved_at = !has ? 0 : had ? l->reserved_at : sim_now(s);
	return has && !had;
}

static void look_at_overtaken(struct sim *s, const struct stored *t, int replica)
{
	const struct stored *node = only_node_of(s, &t->pod);
	struct passed_over *p = passed_of(s, t->uid);
	/* A GPU that is ill, or was just now, takes nobody and is kept for nobody. */
	bool well = s->weather.sick == 0 && s->weather.faulty == 0 &&
		    (!s->calm || sim_now(s) - s->calm_at > WELL_MS);
	/* Who leads anew has seen nobody wait, though it led a moment ago. */
	bool same = replica >= 0 && p->replica == replica && p->term == s->report->takeovers &&
		    p->leads_since == s->claims.leads_since &&
		    past_version(s, replica, RES_PODS, s->memory.told.count) >= t->born;
	bool counts = well && node != NULL && same && node_lacks_room(s, t, node) &&
		      !fair_has_orphan(s, node->name);
	p->replica = replica;
	p->term = s->report->takeovers;
	p->leads_since = s->claims.leads_since;
	int64_t leads_since = s->claims.leads_since;
	int64_t seen_at = t->born_ms > leads_since ? t->born_ms : leads_since;
	bool wide = well && same && nearest_lacks(s, t, replica);
	if (wait_on(s, &p->wide, wide, seen_at)) {
		sim_trace(s, "%s (%s) must have reserved the GPU on which the least is missing",
			t->name, t->uid);
	}
	if (wait_on(s, &p->only, counts, seen_at)) {
		snprintf(p->node, sizeof p->node, "%s", node->name);
		sim_trace(s, "%s (%s) must have reserved what gets free on %s", t->name, t->uid,
			node->name);
	}
}

void overtake_look(struct sim *s, int replica)
{
	for (size_t i = 0; i < s->store.items.count; i++) {
		const struct stored *o = s->store.items.items[i];
		if (o->resource == RES_PODS && claim_is_waiting(o) && o->pod.gate_count == 1) {
			look_at_overtaken(s, o, replica);
		}
	}
}

static bool ranks_ahead(const struct pod *a, const struct pod *b)
{
	return a->priority != b->priority ? a->priority > b->priority
					  : a->created_ms < b->created_ms;
}

/* Who decided first that it gets a share, and when; NULL: it is not known. */
static const struct chosen *first_chosen(const struct sim *s, const char *uid)
{
	const struct chosen *first = NULL;
	vec_for_each (const struct chosen, c, &s->claims.chosen) {
		bool earlier = first == NULL || c->at < first->at;
		first = strcmp(c->uid, uid) == 0 && earlier ? c : first;
	}
	return first;
}

/* Where two lead, the patience of one is not the other's: it may have begun to see just now. */
static bool had_reserved(
	const struct sim *s, const struct passed_over *p, const struct chosen *made)
{
	return made != NULL && p->only.reserved_at > s->claims.leads_since &&
	       made->at > p->only.reserved_at && made->replica == p->replica;
}

/* It has what it asks for of this GPU: what is given besides is nothing that it could have. */
static bool has_share_of(const struct stored *holder, const struct stored *t)
{
	for (uint32_t k = 0; k < holder->pod.ledger.count; k++) {
		if (text_equals(holder->pod.ledger.items[k].uid, t->uid)) {
			return true;
		}
	}
	return false;
}

/* All that it asks for is in the books, so that it waits for a write, not for room; or its part of
 * every GPU that `other` was placed on, or has room beside that still: while it waits for a write
 * to one GPU, who fits beside it on another takes nothing from it. */
static bool is_granted(const struct sim *s, const struct stored *t, const struct stored *other)
{
	int64_t entries = 0, elsewhere = 0;
	for (size_t i = 0; i < s->store.items.count; i++) {
		const struct stored *o = s->store.items.items[i];
		if (o->resource == RES_PODS && pod_is_capacity(&o->pod)) {
			bool has = has_share_of(o, t);
			entries += has;
			bool takes = has_share_of(o, other) &&
				     (!claim_is_open(o) || !share_has_room(s, o, &t->pod));
			elsewhere += !has && takes;
		}
	}
	return entries >= group_asked(&t->pod) || elsewhere == 0;
}

void overtake_check(struct sim *s, const struct stored *t, const char *node)
{
	const struct chosen *made = first_chosen(s, t->uid);
	vec_for_each (const struct passed_over, p, &s->checker.passed) {
		const struct stored *o =
			had_reserved(s, p, made) ? store_find_uid(&s->store, p->uid) : NULL;
		if (o != NULL && o != t && claim_is_waiting(o) && strcmp(p->node, node) == 0 &&
			ranks_ahead(&o->pod, &t->pod) && !is_granted(s, o, t)) {
			sim_fail(s, "C17",
				"%s/%s overtakes %s/%s on %s, the only node that could hold it, "
				"which has lacked room for %lld s",
				t->ns, t->name, o->ns, o->name, node,
				(long long)p->only.lacked_ms / 1000);
		}
	}
}
