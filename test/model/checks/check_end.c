/* Nothing waits for ever. Once the faults have stopped and some time has passed, whoever fits by a
 * simple first fit over the objects runs, capacity pods that nobody needs are gone, and whoever
 * waits says why. */
#include "check_end.h"

#include <string.h>

#include "claims/check_fair.h"
#include "claims/check_fit.h"
#include "claims/check_quota.h"
#include "claims/sharing_rules.h"
#include "eviction.h"
#include "model/names.h"
#include "objects/facts.h"
#include "objects/machine_find.h"
#include "objects/told.h"
#include "prober.h"

static bool is_gated_tenant(const struct stored *o)
{
	return stored_is_pod(o) && pod_is_tenant(&o->pod) && pod_has_gate(&o->pod, NAME_GATE) &&
	       o->pod.gate_count == 1 && o->pod.deleting_ms == 0;
}

static bool allows(const struct pod *p, const struct node *n)
{
	return check_selects(p, n) && n->ready && !n->unschedulable;
}

struct node_room {
	int64_t cpu_milli, mem_bytes, slots, gpus;
};

/* Pods that are pinned and not bound yet count too: they will be. */
static struct node_room room_left_on(const struct sim *s, const struct node *n)
{
	struct node_room r = {n->cpu_milli, n->mem_bytes, n->pod_slots, n->gpus};
	for (size_t i = 0; i < s->store.items.count; i++) {
		const struct stored *o = s->store.items.items[i];
		if (stored_is_pod(o) && text_equals(o->pod.node, n->name) &&
			!pod_is_terminal(&o->pod)) {
			r.cpu_milli -= o->pod.cpu_milli;
			r.mem_bytes -= o->pod.mem_bytes;
			r.slots--;
			r.gpus -= o->pod.gpus;
		}
	}
	return r;
}

static const struct stored *bound_node(const struct sim *s, const struct pod *p)
{
	return text_empty(p->node) ? NULL : store_find(&s->store, RES_NODES, "", p->node);
}

/* What is free on an open GPU, by the tenants that use it. */
static bool gpu_has_room(const struct sim *s, const struct stored *holder, const struct stored *w)
{
	const struct pod *p = &w->pod;
	const struct gpu_identity *id = holder->pod.identity;
	struct need n;
	int64_t milli = MODEL_GPU_MILLI, mib = id->mem_mib;
	if (!facts_need(p, id->mem_mib, &n)) {
		return false;
	}
	for (size_t i = 0; i < s->store.items.count; i++) {
		const struct stored *o = s->store.items.items[i];
		const char *uuid =
			stored_is_pod(o) ? pairs_get(&o->pod.notes, NOTE_GPU_UUID) : NULL;
		if (pod_is_terminal(&o->pod) || !gpu_list_has(uuid, id->uuid)) {
			continue;
		}
		int64_t m = 0, b = 0;
		if (!parse_i64(view_of(pairs_get(&o->pod.notes, NOTE_COMPUTE_MILLI)), 0, 1000000,
			    &m) ||
			!parse_i64(view_of(pairs_get(&o->pod.notes, NOTE_MEMORY_MIB)), 0, INT32_MAX,
				&b)) {
			return false;
		}
		milli -= m;
		mib -= b;
	}
	return company_welcomes(s, holder, p) && n.milli <= milli && n.mem_mib <= mib &&
	       quota_allows(s, w, n.milli * group_asked(p));
}

static bool holds_open_gpu(const struct stored *o)
{
	return stored_is_pod(o) && pod_is_capacity(&o->pod) && o->pod.holds &&
	       o->pod.deleting_ms == 0 && o->pod.identity != NULL;
}

/* Memory is nobody knows how much compute before a GPU of the node was open, unless it is labelled.
 */
static int64_t quota_need(const struct machine *m, const struct pod *p, const struct need *n)
{
	bool known = m->labelled || pairs_get(&p->notes, NOTE_SHARE) != NULL;
	return known ? n->milli : MODEL_GPU_MILLI;
}

/* The same share on each of several GPUs of one node. */
static const struct stored *group_fit(const struct sim *s, const struct stored *w, int64_t count)
{
	const struct pod *p = &w->pod;
	for (size_t i = 0; i < s->store.items.count; i++) {
		const struct stored *node = s->store.items.items[i];
		struct machine *m = node->resource == RES_NODES
					    ? fleet_find((struct sim *)(uintptr_t)s, node->name)
					    : NULL;
		struct need n;
		/* Of a UUID that is told twice neither is given. */
		if (m == NULL || m->doubled || !allows(p, &node->node)) {
			continue;
		}
		struct node_room r = room_left_on(s, &node->node);
		int64_t open = 0;
		for (size_t k = 0; k < s->store.items.count; k++) {
			const struct stored *o = s->store.items.items[k];
			open += holds_open_gpu(o) && text_equals(o->pod.node, node->name) &&
				gpu_has_room(s, o, w);
		}
		int64_t more = open < count ? count - open : 0;
		bool fits = facts_need(p, m->devices[0].mem_mib, &n) &&
			    n.milli <= MODEL_GPU_MILLI && n.mem_mib <= m->devices[0].mem_mib &&
			    quota_allows(s, w, quota_need(m, p, &n) * count);
		if (more <= r.gpus && (more == 0 || fits) && r.slots >= 1 + more &&
			r.cpu_milli >= p->cpu_milli + 10 * more &&
			r.mem_bytes >= p->mem_bytes + more * (32 << 20)) {
			return node;
		}
	}
	return NULL;
}

/* The nodes on which the pod could run now, as many as there is room for. */
#define FITS_MAX 16

struct fits {
	const struct node *nodes[FITS_MAX];
	uint32_t count;
};

static void fits_add(struct fits *f, const struct node *n)
{
	for (uint32_t i = 0; i < f->count; i++) {
		if (f->nodes[i] == n) {
			return;
		}
	}
	if (f->count < FITS_MAX) {
		f->nodes[f->count++] = n;
	}
}

static struct fits all_fits(const struct sim *s, const struct stored *w)
{
	const struct pod *p = &w->pod;
	struct fits found = {.count = 0};
	for (size_t i = 0; i < s->store.items.count; i++) {
		const struct stored *o = s->store.items.items[i];
		const struct stored *node = o->resource == RES_NODES ? o : NULL;
		bool open = holds_open_gpu(o);
		node = open ? bound_node(s, &o->pod) : node;
		if (node == NULL || !allows(p, &node->node)) {
			continue;
		}
		struct node_room r = room_left_on(s, &node->node);
		bool room =
			r.cpu_milli >= p->cpu_milli && r.mem_bytes >= p->mem_bytes && r.slots >= 1;
		struct machine *m = fleet_find((struct sim *)(uintptr_t)s, node->name);
		struct need n;
		/* Of two that tell one UUID neither gets anybody. */
		if (m != NULL && m->doubled) {
			continue;
		}
		bool could_open = o->resource == RES_NODES && r.gpus >= 1 && m != NULL &&
				  r.cpu_milli >= p->cpu_milli + 10 && r.slots >= 2 &&
				  r.mem_bytes >= p->mem_bytes + (32 << 20) &&
				  facts_need(p, m->devices[0].mem_mib, &n) &&
				  n.milli <= MODEL_GPU_MILLI &&
				  n.mem_mib <= m->devices[0].mem_mib &&
				  quota_allows(s, w, quota_need(m, p, &n));
		if (room && (could_open || (open && gpu_has_room(s, o, w)))) {
			fits_add(&found, &node->node);
		}
	}
	return found;
}

static struct fits fits_of(const struct sim *s, const struct stored *w)
{
	int64_t count = group_asked(&w->pod);
	if (count == 1) {
		return all_fits(s, w);
	}
	struct fits found = {.count = 0};
	const struct stored *node = group_fit(s, w, count);
	if (node != NULL) {
		fits_add(&found, &node->node);
	}
	return found;
}

static bool gpu_used(const struct sim *s, const struct stored *holder)
{
	const struct gpu_identity *id = holder->pod.identity;
	for (size_t i = 0; i < s->store.items.count && id != NULL; i++) {
		const struct stored *o = s->store.items.items[i];
		if (stored_is_pod(o) && !pod_is_terminal(&o->pod) &&
			gpu_list_has(pairs_get(&o->pod.notes, NOTE_GPU_UUID), id->uuid)) {
			return true;
		}
	}
	return false;
}

/* It stays, or waits for its tenants to leave (C39). */
static bool is_kept_by(const struct pod *p)
{
	return p->deleting_ms == 0 || (p->lingers && p->grace_s >= CAPACITY_LINGER_S);
}

/* I8: somebody who stays holds the GPU of whoever runs, in its mode. */
static bool gpu_is_held(const struct sim *s, const char *uuid, bool mps)
{
	for (size_t i = 0; i < s->store.items.count; i++) {
		const struct stored *o = s->store.items.items[i];
		if (stored_is_pod(o) && pod_is_capacity(&o->pod) && !pod_is_terminal(&o->pod) &&
			is_kept_by(&o->pod) && o->pod.identity != NULL &&
			pod_is_mps(&o->pod) == mps && text_equals(o->pod.identity->uuid, uuid)) {
			return true;
		}
	}
	return false;
}

/* A pod for a whole GPU has been given it and stays, and a budget keeps its tenants: nothing can be
 * done. */
static bool gpu_is_taken(struct sim *s, const char *uuid, const struct pod *tenant)
{
	const struct device *d = fleet_device(s, uuid);
	const struct stored *o = d != NULL ? store_find_uid(&s->store, d->holder) : NULL;
	return o != NULL && !pod_is_capacity(&o->pod) && !evict_is_allowed(s, tenant);
}

/* A tenant of several GPUs that has waited long enough keeps those that are free of a node until
 * there are as many as it asks for (C17). */
static bool gpu_may_be_kept(struct sim *s, const struct stored *holder)
{
	const struct stored *node = bound_node(s, &holder->pod);
	const struct machine *m = node != NULL ? fleet_find(s, node->name) : NULL;
	for (size_t i = 0; m != NULL && i < s->store.items.count; i++) {
		const struct stored *o = s->store.items.items[i];
		int64_t count = group_asked(&o->pod);
		if (is_gated_tenant(o) && count > 1 && count <= m->device_count &&
			allows(&o->pod, &node->node)) {
			return true;
		}
	}
	return false;
}

static bool settled_pod(struct sim *s, const struct stored *o, struct str *why)
{
	if (is_gated_tenant(o)) {
		if (group_is_partial(s, o)) {
			str_append_format(
				why, "%s/%s waits and keeps some of its GPUs", o->ns, o->name);
			return false;
		}
		struct fits at = fits_of(s, o);
		if (at.count > 0 && !fair_excuses(s, &o->pod, at.nodes, at.count)) {
			str_append_format(why, "%s/%s waits (%s) although it fits %s", o->ns,
				o->name, text_or(o->pod.placed.reason, "no condition"),
				at.nodes[0]->name);
			return false;
		}
		if (o->pod.placed.type == NULL || o->pod.placed.is_true) {
			str_append_format(
				why, "%s/%s waits and does not say why (I7)", o->ns, o->name);
			return false;
		}
	}
	struct told_gpu t = told_gpus(&o->pod);
	bool runs = pod_is_tenant(&o->pod) && !text_empty(o->pod.node) && !pod_is_terminal(&o->pod);
	while (runs && told_gpu_next(&t)) {
		if (!fleet_is_doubled(s, t.uuid) && !gpu_is_held(s, t.uuid, pod_is_mps(&o->pod)) &&
			!gpu_is_taken(s, t.uuid, &o->pod)) {
			str_append_format(why, "%s/%s runs on %s, which nobody holds (I8)", o->ns,
				o->name, t.uuid);
			return false;
		}
	}
	if (pod_is_capacity(&o->pod)) {
		if (!check_ledger_lives(s, o) && !gpu_used(s, o) && !gpu_may_be_kept(s, o)) {
			str_append_format(why, "%s has no tenants and stays (I4)", o->name);
			return false;
		}
	}
	return true;
}

bool check_settled(struct sim *s, struct str *why)
{
	for (size_t i = 0; i < s->store.items.count; i++) {
		const struct stored *o = s->store.items.items[i];
		if (stored_is_pod(o) && (!settled_pod(s, o, why) || !prober_settled(s, o, why))) {
			return false;
		}
	}
	return true;
}
