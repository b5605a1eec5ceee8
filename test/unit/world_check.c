/* What the world keeps up with every change, counted anew. */
#include "world_check.h"

#include <string.h>

#include "../../src/world/nouns.h"
#include "../../src/world/store.h"
#include "base/cleanup.h"
#include "model/names.h"

static bool claims_agree(const struct world *w)
{
	size_t named = 0, counted = 0;
	for (size_t i = 0; i < w->claims.rows.count; i++) {
		counted += claim_at(w, i)->tenants;
		if (claim_at(w, i)->tenants == 0) {
			return false;
		}
	}
	for (size_t i = 0; i < w->pods.count; i++) {
		bool names = w->pods.items[i] != NULL && w->pods.items[i]->gpu != NULL;
		named += names ? w->pods.items[i]->gpu->claim_count : 0;
	}
	return named == counted && w->claims_unused == 0;
}

static bool slices_agree(const struct world *w)
{
	size_t counted = 0;
	for (size_t i = 0; i < w->nodes.count; i++) {
		counted += w->nodes.items[i]->dra_slices;
	}
	return counted == w->slices.rows.count;
}

/* As of src/world/spaces.c: smaller ones are not counted, and a namespace has so much room. */
#define NOUN_SMALL ((size_t)4 << 10)
#define SPACE_MAX  ((size_t)8 << 20)

static bool is_counted(const char *ns, size_t bytes)
{
	return bytes > NOUN_SMALL && !text_equals(ns, NAME_NAMESPACE);
}

static bool spaces_agree(const struct world *w)
{
	size_t kept = 0, counted = 0, cut = 0;
	for (size_t i = 0; i < w->spaces.rows.rows.count; i++) {
		size_t bytes = tally_get(&w->spaces, w->spaces.rows.rows.items[i]->name);
		kept += bytes;
		if (bytes == 0 || bytes > SPACE_MAX) {
			return false;
		}
	}
	for (size_t i = 0; i < w->pods.count; i++) {
		const struct world_pod *p = w->pods.items[i];
		if (p != NULL && p->gpu != NULL) {
			size_t bytes = p->gpu->lean ? 0 : noun_size(p);
			counted += is_counted(p->ns, bytes) ? bytes : 0;
			cut += p->gpu->cut ? 1 : 0;
		}
	}
	return kept == counted && cut == w->cut_pods;
}

static bool takes_agree(const struct world *w)
{
	size_t named = 0;
	for (size_t i = 0; i < w->takes.count; i++) {
		named += w->takes.items[i] != NULL ? w->takes.items[i]->pods : 0;
	}
	for (size_t i = 0; i < w->pods.count; i++) {
		const struct world_pod *p = w->pods.items[i];
		if (p != NULL && w->takes.items[p->takes->slot] != p->takes) {
			return false;
		}
	}
	return named == w->pod_count && w->takes_same.count + w->free_takes.count == w->takes.count;
}

struct use_tally {
	const struct world_uses *uses;
	struct extra sums; /* with the names and ports of `uses` */
	uint32_t ports;
	bool strange; /* a pod takes what is not in the sums at all */
};

static void tally_pod(struct use_tally *t, const struct extra *x)
{
	for (uint32_t i = 0; i < x->amounts.count; i++) {
		uint32_t at = 0;
		while (at < t->sums.amounts.count &&
			!text_equals(t->sums.amounts.items[at].name, x->amounts.items[i].name)) {
			at++;
		}
		if (at == t->sums.amounts.count) {
			t->strange = true;
			return;
		}
		t->sums.amounts.items[at].value += summable(x->amounts.items[i].value);
	}
	for (uint32_t i = 0; i < x->ports.count; i++) {
		bool there = false;
		for (size_t j = 0; j < t->uses->ports.count && !there; j++) {
			there = host_port_conflicts(&t->uses->ports.items[j], &x->ports.items[i]);
		}
		t->strange = t->strange || !there;
		t->ports++;
	}
}

static bool uses_agree(const struct world *w, uint32_t node)
{
	CLEANUP(arena_finish) struct arena arena = {0};
	const struct world_uses *u = &w->nodes.items[node]->uses;
	struct use_tally t = {.uses = u};
	t.sums.amounts.count = (uint32_t)u->amounts.count;
	t.sums.amounts.items = ARENA_ARRAY(&arena, struct amount, u->amounts.count);
	for (size_t i = 0; i < u->amounts.count; i++) {
		t.sums.amounts.items[i].name = u->amounts.items[i].name;
	}
	for (size_t i = 0; i < w->pods.count; i++) {
		const struct world_pod *p = w->pods.items[i];
		if (p != NULL && p->node == node && !world_pod_terminal(p)) {
			struct extra x = extra_read(p->takes->extra, &arena);
			tally_pod(&t, &x);
		}
	}
	for (size_t i = 0; i < u->amounts.count; i++) {
		if (t.sums.amounts.items[i].value != u->amounts.items[i].value) {
			return false;
		}
	}
	return !t.strange && t.ports == u->ports.count;
}

/* The share of all its devices, within what can be summed. */
static int64_t share_sum(int64_t milli, int64_t devices)
{
	bool sane =
		milli < summable(INT64_MAX) / MODEL_GPU_COUNT_MAX && devices <= MODEL_GPU_COUNT_MAX;
	return summable(sane ? milli * devices : milli);
}

/* Of each quota what the pods that it covers take, counted anew. */
static bool quotas_agree(const struct world *w)
{
	for (size_t i = 0; i < w->quotas.rows.count; i++) {
		const struct world_quota *q = quota_at(w, i);
		int64_t whole = 0, milli = 0;
		for (size_t k = 0; k < w->pods.count; k++) {
			const struct world_pod *p = w->pods.items[k];
			bool counts = p != NULL && p->gpu != NULL && !world_pod_terminal(p) &&
				      strcmp(p->ns, q->noun.ns) == 0 && world_quota_covers(q, p);
			if (counts) {
				bool holds = p->gpu->class == WORLD_TENANT && !p->gpu->gated;
				int64_t devices = p->gpu->devices > 1 ? p->gpu->devices : 1;
				whole += p->gpu->gpus;
				milli += holds ? share_sum(p->gpu->milli, devices) : 0;
			}
		}
		if (whole != q->whole_gpus || milli != q->granted_milli) {
			return false;
		}
	}
	return true;
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
