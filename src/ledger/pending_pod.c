/* What follows from one tenant that waits alone: its pod, and the placements and entries of it. */
#include "ledger/pending_pod.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/str.h"
#include "ledger/assigned_gpus.h"
#include "ledger/capacity_pod.h"
#include "ledger/pod_object.h"
#include "ledger/resource_version.h"
#include "model/names.h"
#include "model/plan.h"
#include "model/quantity.h"
#include "world/world.h"

const char *waiter_version(const struct waiter *w)
{
	bool known = w->word_rv != NULL && text_equals(w->word_from, w->pod.resource_version);
	return known ? w->word_rv : w->pod.resource_version;
}

static void landing_free(struct landing *t)
{
	free(t->uuid);
	free(t->node);
	free(t->version);
}

static void landing_drop(struct waiter *w, size_t i)
{
	landing_free(&w->landings.items[i]);
	VEC_REMOVE_SWAP(&w->landings, i);
}

void landings_finish(struct waiter *w)
{
	vec_for_each (struct landing, t, &w->landings) {
		landing_free(t);
	}
	VEC_FINISH(&w->landings);
}

/* Two of one version that name one GPU are one: only one of them can win. */
static void note_landing(struct waiter *w, const struct action *a, const char *uuid)
{
	struct landing *same = NULL;
	vec_for_each (struct landing, t, &w->landings) {
		if (text_equals(t->uuid, uuid) && text_equals(t->node, a->node) &&
			text_equals(t->version, a->resource_version)) {
			same = t;
		}
	}
	if (same == NULL) {
		struct landing made = {.uuid = xstrdup(uuid),
			.node = xstrdup(a->node),
			.version = xstrdup(a->resource_version)};
		VEC_PUSH(&w->landings, made);
		same = &w->landings.items[w->landings.count - 1];
	}
	same->milli = same->milli > a->milli ? same->milli : a->milli;
	same->mem_mib = same->mem_mib > a->mem_mib ? same->mem_mib : a->mem_mib;
	same->flight = a->id;
	same->open++;
}

void landing_note(struct waiter *w, const struct action *a)
{
	struct told t = told_of(a->uuid, NULL);
	while (told_next(&t)) {
		note_landing(w, a, t.uuid);
	}
}

/* Earlier ones that say the same may land still. */
void landing_failed(struct waiter *w, uint64_t flight)
{
	for (size_t i = w->landings.count; i-- > 0;) {
		struct landing *t = &w->landings.items[i];
		if (t->flight == flight && --t->open == 0) {
			landing_drop(w, i);
		}
	}
}

static void pass_landings(struct waiter *w)
{
	for (size_t i = w->landings.count; i-- > 0;) {
		if (version_passed(w->pod.resource_version, w->landings.items[i].version)) {
			landing_drop(w, i);
		}
	}
}

bool landings_linger(const struct waiter *w)
{
	vec_for_each (const struct landing, t, &w->landings) {
		if (t->at != WORLD_NONE && t->out_whole) {
			return true;
		}
	}
	return false;
}

void hold_drop(struct waiter *w)
{
	free(w->hold.uuid);
	w->hold = (struct hold){.count = 0};
}

void waiter_read_gpu_count(struct waiter *w)
{
	const char *text = pairs_get(&w->pod.notes, NOTE_GPU_COUNT);
	int64_t count = 1;
	w->group.unreadable = text != NULL && count_parse(view_of(text), &count, NULL) < 0;
	w->group.count = w->group.unreadable ? 1 : (uint32_t)count;
}

bool waiter_gives_back(const struct waiter *w, const struct holder *h)
{
	const struct group *g = &w->group;
	uint64_t hash = g->gives.count > 0 ? hash_text(text_or(h->uid, "")) : 0;
	for (size_t i = 0; i < g->gives.count; i++) {
		if (g->gives.items[i] == hash) {
			return true;
		}
	}
	return false;
}

void waiter_note_entry(struct waiter *w, struct holder *h, uint32_t index, uint64_t step)
{
	struct group *g = &w->group;
	if (w->granted_step != step) {
		VEC_CLEAR(&g->granted);
		g->set = 0;
	}
	g->set += hash_text(text_or(h->uid, ""));
	if (g->gives.count > 0 && !waiter_gives_back(w, h)) {
		/* Somebody gives to it anew, who may tell it soon: all begins again. */
		VEC_CLEAR(&g->gives);
		g->partial_since = 0;
	}
	/* One on another node is of no use to it. It is struck out once the tenant runs. */
	bool apart =
		g->granted.count > 0 && !text_equals(g->granted.items[0].holder->node, h->node);
	if (waiter_count(w) > 1 && !apart) {
		struct granted made = {h, index};
		VEC_PUSH(&g->granted, made);
	}
}

/* Until it is struck out another leader may tell it, so it is not anybody else's part of a quota.
 */
void waiter_note_stale(struct waiter *w, int64_t milli, uint64_t step)
{
	struct group *g = &w->group;
	bool more = g->stale_step != step || milli > g->stale_milli;
	g->stale_milli = more ? milli : g->stale_milli;
	g->stale_step = step;
}

void waiter_refresh(struct waiter *w, const struct world_pod *p)
{
	if (w->stamp == p->gpu->stamp) {
		return;
	}
	arena_finish(&w->arena);
	w->arena.block_bytes = 1024;
	w->pod = pod_of(p, &w->arena);
	w->stamp = p->gpu->stamp;
	/* Nothing of it should have changed, but then nobody has to rely on that. */
	w->ranked = 0;
	waiter_read_gpu_count(w);
	if (w->placed_rv != NULL && version_passed(w->pod.resource_version, w->placed_rv)) {
		text_set(&w->placed_rv, NULL);
	}
	pass_landings(w);
}

void waiter_free(struct waiter *w)
{
	arena_finish(&w->arena);
	landings_finish(w);
	VEC_FINISH(&w->group.granted);
	VEC_FINISH(&w->group.gives);
	hold_drop(w);
	free(w->placed_rv);
	free(w->word_from);
	free(w->word_rv);
	free(w->refusal);
	free(w->flight_rv);
	free(w->uid);
	free(w);
}
