/* What arrives, and which file it goes to; the marks of relists; the check of every sum. */
#include "world/world.h"

#include <stdlib.h>

#include "claims.h"
#include "departed.h"
#include "namespaces.h"
#include "objects.h"
#include "pods.h"
#include "quotas.h"
#include "sightings.h"
#include "slices.h"
#include "spaces.h"
#include "takes.h"

/* A noun as bytes, none of which is as large (record/change.h). */
#define SCRATCH_MAX (4u << 20)

struct world *world_create(void)
{
	struct world *w = xcalloc(1, sizeof *w);
	w->words = intern_create();
	w->scratch = w->squeezed = (struct str)STR_INIT(SCRATCH_MAX);
	pods_init(w);
	departed_init(w);
	objects_init(w);
	namespaces_init(w);
	quotas_init(w);
	claims_init(w);
	spaces_init(w);
	slices_init(w);
	sightings_init(w);
	return w;
}

void world_destroy(struct world *w)
{
	if (w == NULL) {
		return;
	}
	pods_finish(w);
	table_finish(&w->departed);
	objects_finish(w);
	table_finish(&w->claims);
	table_finish(&w->spaces);
	table_finish(&w->sightings);
	missed_finish(w);
	bits_finish(&w->changed);
	str_finish(&w->scratch);
	str_finish(&w->squeezed);
	intern_destroy(w->words);
	free(w);
}

static void kind_relist_begin(struct world *w, enum kind kind)
{
	w->sync[kind].relisting = true;
	w->sync[kind].mark++;
	w->sync[kind].blind_now = false;
	struct table *t = kind == KIND_NAMESPACE ? &w->namespaces : table_of(w, kind);
	if (t != NULL) {
		t->mark = w->sync[kind].mark;
	}
}

static void kind_relist_end(struct world *w, enum kind kind, bool no_sweep)
{
	struct sync_state *s = &w->sync[kind];
	if (!s->relisting) {
		return;
	}
	if (no_sweep) {
		/* Something unnamed may be any of them. */
	} else if (kind == KIND_POD) {
		pods_sweep(w, s->mark);
	} else {
		objects_sweep(w, kind, s->mark);
	}
	s->blind = s->blind_now;
	s->relisting = false;
	s->complete = true;
	s->stale = false;
	w->version++;
}

void world_apply(struct world *w, const struct change *c)
{
	switch (c->type) {
	case CHANGE_SET:
		if (c->kind == KIND_POD) {
			pods_set(w, c->pod);
		} else {
			objects_set(w, c);
		}
		return;
	case CHANGE_GONE:
		if (c->kind == KIND_POD) {
			pods_gone(w, c);
		} else {
			objects_gone(w, c);
		}
		return;
	case CHANGE_KEEP:
		if (c->name == NULL) {
			world_missed(w, c->kind);
		} else if (c->kind == KIND_POD) {
			pods_keep(w, c);
		} else {
			objects_keep(w, c);
		}
		return;
	case CHANGE_RELIST_BEGIN:
		kind_relist_begin(w, c->kind);
		return;
	case CHANGE_RELIST_END:
		kind_relist_end(w, c->kind, c->no_sweep);
		return;
	case CHANGE_STALE:
		w->sync[c->kind].stale = true;
		return;
	case CHANGE_FRESH:
		w->sync[c->kind].stale = false;
		w->version++;
		return;
	case CHANGE_LEADER:
	case CHANGE_REACH:
	case CHANGE_SHARE:
	case CHANGE_SHUN:
	case CHANGE_HEARD:
	case CHANGE_RUNTIME:
		return;
	}
}

bool world_synced(const struct world *w, enum kind kind)
{
	return w->sync[kind].complete && !w->sync[kind].stale;
}

bool world_blind(const struct world *w, enum kind kind)
{
	return w->sync[kind].blind || w->sync[kind].relisting;
}

bool world_pod_unread(const struct world *w, const char *ns, const char *name)
{
	if (world_blind(w, KIND_POD) || ns == NULL) {
		return world_blind(w, KIND_POD) || w->missed.count > 0;
	}
	const char *known = intern_find(w->words, ns);
	vec_for_each (const struct missed, m, &w->missed) {
		if (m->ns == known &&
			(name == NULL || m->name == NULL || strcmp(m->name, name) == 0)) {
			return true;
		}
	}
	return false;
}

bool world_all_synced(const struct world *w)
{
	for (int k = 0; k < KIND_REQUIRED; k++) {
		if (!world_synced(w, (enum kind)k)) {
			return false;
		}
	}
	return true;
}

uint64_t world_nodes_version(const struct world *w)
{
	return w->nodes_version;
}

uint64_t world_version(const struct world *w)
{
	return w->version;
}

uint64_t world_policies_version(const struct world *w)
{
	return w->policies_version;
}

uint64_t world_policy_version(const struct world *w)
{
	return w->policy_version;
}

const struct bits *world_changed_pods(struct world *w)
{
	bits_reserve(&w->changed, w->pods.count);
	return &w->changed;
}

void world_changes_seen(struct world *w)
{
	bits_clear(&w->changed);
}

struct sums {
	int64_t cpu, mem, gpus;
	uint32_t pods, kai, sharers, leavers;
	size_t tenants; /* ended ones too */
};

/* They are counted by their slots, so each is the next of its node's list. */
static bool tenant_is_listed(const struct world *w, uint32_t slot, struct sums *sums)
{
	const struct world_pod *p = w->pods.items[slot];
	if (p->gpu->class != WORLD_TENANT || p->node == WORLD_NONE) {
		return true;
	}
	const struct world_node *n = w->nodes.items[p->node];
	size_t at = sums[p->node].tenants++;
	return at < n->tenants.count && n->tenants.items[at] == slot;
}

static void sum_pod(const struct world_pod *p, struct sums *sums)
{
	if (p->node == WORLD_NONE || world_pod_terminal(p)) {
		return;
	}
	struct sums *s = &sums[p->node];
	s->cpu += p->takes->cpu_milli;
	s->mem += p->takes->mem_bytes;
	s->gpus += p->gpu != NULL ? p->gpu->gpus : 0;
	s->kai += p->gpu != NULL && p->gpu->is_kai ? 1 : 0;
	s->sharers += is_sharer(p) ? 1 : 0;
	s->pods++;
}

static bool node_agrees(const struct world_node *n, const struct sums *s)
{
	return n->cpu_milli == s->cpu && n->mem_bytes == s->mem && n->gpus == s->gpus &&
	       n->pods == s->pods && n->kai_pods == s->kai && n->sharers == s->sharers &&
	       n->leavers == s->leavers && n->tenants.count == s->tenants;
}

static const char *indexes_check(const struct world *w)
{
	if (!takes_agree(w)) {
		return "what pods take differs from what is kept of it";
	}
	if (!slices_agree(w)) {
		return "the slices of nodes differ from those listed";
	}
	if (!quotas_agree(w)) {
		return "what is taken of a quota differs from its pods";
	}
	if (!claims_agree(w)) {
		return "the claims differ from what tenants name";
	}
	return spaces_agree(w) ? NULL
			       : "what is kept of namespaces' large pods differs from the pods";
}

const char *world_check(const struct world *w)
{
	CLEANUP(cleanup_free) struct sums *sums = xcalloc(w->nodes.count + 1, sizeof *sums);
	size_t pods = 0, gpu_pods = 0;
	for (uint32_t i = 0; i < w->pods.count; i++) {
		const struct world_pod *p = w->pods.items[i];
		if (p == NULL) {
			continue;
		}
		pods++;
		sum_pod(p, sums);
		if (world_pod_find(w, p->ns, p->text) != p) {
			return "a pod is not found by its name";
		}
		if (p->gpu == NULL) {
			continue;
		}
		gpu_pods++;
		if (world_pod_by_uid(w, world_pod_uid(p)) != p) {
			return "a GPU pod is not found by its uid";
		}
		if (w->gpu_pods[p->gpu->class].items[p->gpu->slot] != i) {
			return "a GPU pod is not where its list says";
		}
		if (!tenant_is_listed(w, i, sums)) {
			return "a tenant is not among those of its node";
		}
	}
	for (size_t i = 0; i < w->departed.rows.count; i++) {
		const struct world_departed *d = departed_at(w, i);
		if (!d->ended && d->node != WORLD_NONE) {
			sums[d->node].leavers++;
		}
	}
	size_t listed = 0;
	for (int i = 0; i < WORLD_CLASSES; i++) {
		listed += w->gpu_pods[i].count;
	}
	if (pods != w->pod_count || gpu_pods != listed || pods != w->pods_by_name.count) {
		return "the counts of pods differ";
	}
	const char *differs = indexes_check(w);
	if (differs != NULL) {
		return differs;
	}
	for (size_t i = 0; i < w->nodes.count; i++) {
		const struct world_node *n = w->nodes.items[i];
		if (!node_agrees(n, &sums[i])) {
			return "a node's sums differ from its pods";
		}
		if (!uses_agree(w, (uint32_t)i)) {
			return "what a node's pods take besides differs from what is summed";
		}
	}
	return NULL;
}
