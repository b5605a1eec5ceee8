/* Who must go because a GPU is short of memory: whoever is most over its share among those whose
 * policy says so, one at a time, and the next only after memory was measured without the last. */
#include "overuse_evict.h"

#include <stdlib.h>

#include "guardian/evict.h"
#include "guardian/overuse.h"
#include "guardian/overuse_find.h"
#include "ledger/ledger.h"
#include "model/gpu.h"
#include "size/blame.h"
#include "size/explain_gpus.h"
#include "world/departed.h"
#include "world/node_states.h"

/* So long somebody's failure is a reason. */
#define FAILED_FOR_MS 60000
/* A look that was begun before somebody came or left may not show it yet. */
#define SETTLE_MS 1000

struct candidate_over {
	const struct world_pod *pod;
	const struct overuse *overuse;
};

/* A built-in policy says what the configuration would: nothing. */
static bool may_evict(const struct world *world, const struct world_pod *p)
{
	CLEANUP(arena_finish) struct arena arena = {.block_bytes = 1024};
	const struct pod pod = pod_of(p, &arena);
	const struct policy *policy = policy_of(world, &pod).policy;
	return policy != NULL && policy->memory_overuse == OVERUSE_EVICT;
}

static int64_t excess(const struct overuse *o)
{
	const struct blame_user user = {o->share_mib, o->used_mib};
	return blame_excess(&user);
}

static int by_excess(const void *a, const void *b)
{
	const struct candidate_over *x = a, *y = b;
	int64_t ex = excess(x->overuse), ey = excess(y->overuse);
	if (ex != ey) {
		return ex > ey ? -1 : 1;
	}
	return strcmp(x->overuse->uid, y->overuse->uid);
}

/* Those of the GPU that are over now, the worst first. */
static size_t gather(struct overuses *overuses, const struct crowd *c,
	struct candidate_over out[MODEL_GRANTS_MAX])
{
	size_t n = 0;
	const struct overuse *items = overuses->items.items;
	for (uint32_t i = c->first; i != MAP_NONE; i = items[i].next) {
		const struct overuse *o = &items[i];
		const struct world_pod *p = world_pod_by_uid(overuses->picture->world, o->uid);
		if (o->over && o->known && excess(o) > 0 && p != NULL &&
			may_evict(overuses->picture->world, p) && n < MODEL_GRANTS_MAX) {
			out[n++] = (struct candidate_over){p, o};
		}
	}
	qsort(out, n, sizeof *out, by_excess);
	return n;
}

static const struct device_state *device_of(const struct node_state *s, const char *uuid)
{
	for (uint32_t i = 0; i < s->device_count; i++) {
		if (strcmp(s->devices[i].uuid, uuid) == 0) {
			return &s->devices[i];
		}
	}
	return NULL;
}

static bool lists(const struct node_state *s, const char *uid)
{
	for (uint32_t i = 0; i < s->pod_count; i++) {
		if (strcmp(s->pods[i], uid) == 0) {
			return true;
		}
	}
	return false;
}

/* Somebody whose object is gone runs on, so that its memory is still counted. */
static bool lingers(struct world *world, const struct crowd *c, const struct node_state *s)
{
	for (size_t i = 0; i < world_departed_count(world); i++) {
		const struct world_departed *d = world_departed_at(world, i);
		if (d->uuid != NULL && gpu_list_has(d->uuid, c->uuid) && lists(s, d->uid)) {
			return true;
		}
	}
	return false;
}

/* What a tenant says when it ends is its own word, and anybody can write it. It is a reason for
 * somebody else to go only where its share is not there for it: what is free, and what it uses
 * itself, is less. */
static bool lacks_its_share(const struct picture *picture, const char *uid,
	const struct node_state *s, const char *uuid)
{
	const struct world_pod *p = uid != NULL ? world_pod_by_uid(picture->world, uid) : NULL;
	const struct device_state *d = device_of(s, uuid);
	if (p == NULL || p->gpu == NULL || p->node != world_node_find(picture->world, s->node) ||
		world_pod_terminal(p) || d == NULL || d->total_mib <= 0 || d->used_mib < 0) {
		return false;
	}
	int64_t own = overuse_measured(picture, p, uuid), share = p->gpu->mem_mib;
	int64_t there = d->total_mib - d->used_mib + own;
	return own >= 0 && there + blame_tolerance(share) < share;
}

/* Why somebody must go, as words; false: nobody must. Nobody goes for its own failure. */
static bool is_short(const struct picture *picture, const struct crowd *c,
	const struct node_state *s, struct str *why, const char **ret_spared)
{
	*ret_spared = NULL;
	const struct device_state *d = device_of(s, c->uuid);
	if (d != NULL && d->total_mib > 0 && blame_is_short(d->total_mib, d->used_mib)) {
		explain_short(why, d->total_mib - d->used_mib);
		return true;
	}
	if (c->failed_at >= 0 && picture->time->now - c->failed_at <= FAILED_FOR_MS &&
		lacks_its_share(picture, c->victim, s, c->uuid)) {
		str_append_text(why, "another tenant had no memory left there");
		*ret_spared = c->victim;
		return true;
	}
	return false;
}

/* Memory that is used and that nobody tells is somebody's. */
static bool all_are_measured(const struct picture *picture, const struct crowd *c, uint32_t node)
{
	const struct world_node *n = world_node_at(picture->world, node);
	for (size_t i = 0; i < n->tenants.count; i++) {
		const struct world_pod *p = world_pod_at(picture->world, n->tenants.items[i]);
		if (p->gpu->uuid != NULL && !world_pod_terminal(p) &&
			gpu_list_has(p->gpu->uuid, c->uuid) &&
			overuse_measured(picture, p, c->uuid) < 0) {
			return false;
		}
	}
	return true;
}

/* Is what one has too much all that is missing? */
static bool excess_covers(const struct node_state *s, const struct overuse *o)
{
	const struct device_state *d = device_of(s, o->uuid);
	return d != NULL && d->total_mib > 0 &&
	       !blame_is_short(d->total_mib, d->used_mib - excess(o));
}

static void send_away(struct evictions *evictions, const struct candidate_over *one,
	const char *cause, struct emitter *out)
{
	CLEANUP(str_finish) struct str amount = STR_INIT(256);
	const struct explain_overuse facts = {
		.share_mib = one->overuse->share_mib, .used_mib = one->overuse->used_mib};
	explain_overuse_amount(&amount, &facts);
	const struct evict_why why = {.reason = REASON_MEMORY_OVERUSE,
		.facts = {.gpu = one->overuse->uuid, .value = str_text(&amount), .name = cause}};
	(void)evict_tenant(evictions, one->pod, &why, out);
}

/* Returns who is asked to go now; NULL: nobody. */
static const struct world_pod *relieve(
	struct overuses *overuses, const struct crowd *c, struct emitter *out)
{
	const struct picture *picture = overuses->picture;
	struct candidate_over all[MODEL_GRANTS_MAX];
	size_t n = c->leaving ? 0 : gather(overuses, c, all);
	if (n == 0) {
		return NULL;
	}
	CLEANUP(str_finish) struct str why = STR_INIT(256);
	const char *spared;
	const struct node_state *s = world_state_of(picture->world, all[0].pod->node);
	if (s->seen_ms < c->changed_at + SETTLE_MS || lingers(picture->world, c, s) ||
		!is_short(picture, c, s, &why, &spared)) {
		return NULL;
	}
	bool measured = all_are_measured(picture, c, all[0].pod->node);
	/* One that a budget protects stays, and the next is asked meanwhile. */
	for (size_t i = 0; i < n; i++) {
		if (text_equals(all[i].overuse->uid, spared) ||
			(!measured && !excess_covers(s, all[i].overuse))) {
			continue;
		}
		enum evict_state state =
			evict_look(overuses->evictions, all[i].pod, REASON_MEMORY_OVERUSE);
		if (state == EVICT_SENT) {
			send_away(overuses->evictions, &all[i], str_text(&why), out);
			return all[i].pod;
		}
		if (state != EVICT_REFUSED) {
			return NULL;
		}
	}
	return NULL;
}

void crowds_relieve(struct overuses *all, struct emitter *out)
{
	vec_for_each (const uint32_t, at, &all->crowded) {
		const struct world_pod *sent = relieve(all, &all->crowds.items[*at], out);
		/* Whoever leaves several GPUs leaves room on all of them. */
		struct told t = told_of(sent != NULL ? sent->gpu->uuid : NULL, NULL);
		while (told_next(&t)) {
			struct crowd *other = crowd_find(all, t.uuid);
			if (other != NULL) {
				other->leaving = true;
			}
		}
	}
}
