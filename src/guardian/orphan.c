/* Which GPUs are orphans, what people are told of them, and when their tenants must go. The search
 * for them is search.c's. */
#include "guardian/orphan.h"

#include <stdlib.h>

#include "guardian/evict.h"
#include "ledger/ledger.h"
#include "model/names.h"
#include "size/explain_gpus.h"
#include "search.h"

#define RETRY_FIRST_MS 2000
#define RETRY_CAP_MS   30000
/* Whoever deletes a capacity pod may name any grace. */
#define GRACE_MAX_S 86400
/* So long before its grace is over the search for who holds its GPU next begins. */
#define LAST_MS 30000

static bool outside_same(const void *owner, uint32_t slot, const void *key)
{
	const struct orphans *orphans = owner;
	const struct holder *h = orphans->picture->book->holders.items[slot];
	const char *const *texts = key;
	return strcmp(h->pod.identity->uuid, texts[0]) == 0 && text_equals(h->node, texts[1]);
}

void orphans_init(struct orphans *orphans, struct picture *picture)
{
	orphans->picture = picture;
	keyed_init(KEYED(&orphans->items), sizeof(struct orphan), 2);
	map_init(&orphans->outside, outside_same, orphans);
}

static void orphan_free(struct orphan *o)
{
	for (size_t i = 0; i < o->told.count; i++) {
		free(o->told.items[i]);
	}
	VEC_FINISH(&o->told);
	free(o->node);
	free(o->uuid);
}

void orphans_finish(struct orphans *all)
{
	vec_for_each (struct orphan, o, &all->items) {
		orphan_free(o);
	}
	keyed_finish(KEYED(&all->items));
	VEC_FINISH(&all->stranded);
	VEC_FINISH(&all->searches);
	map_finish(&all->outside);
}

struct orphan *orphan_find(struct orphans *orphans, const char *uuid, const char *node)
{
	return keyed_find(KEYED(&orphans->items), uuid, node);
}

struct orphan *orphan_add(struct orphans *orphans, const char *uuid, const char *node)
{
	struct orphan made = {.uuid = xstrdup(uuid),
		.node = xstrdup(node),
		.since = -1,
		.backoff = {.first_ms = RETRY_FIRST_MS, .cap_ms = RETRY_CAP_MS}};
	return keyed_add(KEYED(&orphans->items), &made);
}

/* --- who is one --- */

static const struct holder *holder_outside(
	const struct orphans *orphans, const char *uuid, const char *node)
{
	const char *const key[] = {uuid, node};
	uint32_t at = map_find(&orphans->outside, hash_pair(uuid, node), key);
	return at == MAP_NONE ? NULL : orphans->picture->book->holders.items[at];
}

/* Capacity pods that may get no grant hold their GPU all the same, until they are over or gone. Of
 * several that tell one UUID one that stays counts. */
static void index_outside(struct orphans *orphans)
{
	map_finish(&orphans->outside);
	map_init(&orphans->outside, outside_same, orphans);
	for (int leaving = 0; leaving < 2; leaving++) {
		for (uint32_t i = 0; i < orphans->picture->book->holders.count; i++) {
			const struct holder *h = orphans->picture->book->holders.items[i];
			bool holds = h->in_world && h->snap_step != orphans->picture->time->step &&
				     h->pod.identity != NULL && h->node != NULL &&
				     !pod_is_terminal(&h->pod) &&
				     holder_is_leaving(h) == (leaving == 1);
			if (holds &&
				holder_outside(orphans, h->pod.identity->uuid, h->node) == NULL) {
				map_put(&orphans->outside,
					hash_pair(h->pod.identity->uuid, h->node), i);
			}
		}
	}
}

bool gpu_is_anybodys(struct orphans *orphans, const char *uuid, const char *node)
{
	const struct picture *picture = orphans->picture;
	const struct orphan *o = orphan_find(orphans, uuid, node);
	bool orphaned = o != NULL && o->seen == picture->time->step;
	return snap_gpu_on(picture, uuid, snap_node_of(picture, node)) != WORLD_NONE || orphaned ||
	       (picture->forgotten > 0 && holder_outside(orphans, uuid, node) != NULL);
}

/* Where it is: where a tenant runs, or will run because its capacity pod was there. NULL: nowhere,
 * as one that is pinned to a node that is gone. */
static const char *where(const struct picture *picture, const struct world_pod *p)
{
	const struct holder *h = holder_of_tenant(picture->book, p->gpu);
	if (p->node != WORLD_NONE) {
		return world_node_at(picture->world, p->node)->name;
	}
	return h != NULL && snap_node_of_holder(picture, h) != WORLD_NONE ? h->node : NULL;
}

/* A built-in policy says what the configuration would. */
static bool wants_eviction(const struct world *world, const struct world_pod *p)
{
	CLEANUP(arena_finish) struct arena arena = {.block_bytes = 1024};
	const struct pod pod = pod_of(p, &arena);
	const struct policy *policy = policy_of(world, &pod).policy;
	return policy != NULL && policy->capacity_lost == CAPACITY_LOST_EVICT;
}

/* So long it may still hold its GPU for whoever is there (C39). */
static bool lingers_for_tenants(struct step_time *time, const struct holder *h)
{
	int64_t grace_s = h->pod.grace_s < GRACE_MAX_S ? h->pod.grace_s : GRACE_MAX_S;
	int64_t until = h->going_at + grace_s * 1000 - LAST_MS;
	if (!holder_waits_for_tenants(h) || holder_is_deleted(h) || h->going_at < 0 ||
		time->now >= until) {
		return false;
	}
	wake_by(time, until);
	return true;
}

/* `amiss`: a capacity pod that cannot be its own has it. */
static void strand(struct orphans *orphans, const struct world_pod *p, uint32_t slot,
	const char *uuid, bool amiss)
{
	const struct picture *picture = orphans->picture;
	const char *node = where(picture, p);
	const struct holder *h = node != NULL ? holder_outside(orphans, uuid, node) : NULL;
	if (node == NULL ||
		(h != NULL && (!holder_is_leaving(h) || lingers_for_tenants(picture->time, h)))) {
		return;
	}
	struct orphan *o = orphan_find(orphans, uuid, node);
	o = o != NULL ? o : orphan_add(orphans, uuid, node);
	if (o->seen != picture->time->step) {
		o->seen = picture->time->step;
		o->leaving = h != NULL;
		o->searched = false;
	}
	struct stranded s = {.orphan = (uint32_t)(o - orphans->items.items),
		.slot = slot,
		.go = wants_eviction(picture->world, p)};
	o->searched = o->searched || !s.go;
	o->mps = p->gpu->mps;
	o->amiss = o->amiss || amiss;
	VEC_PUSH(&orphans->stranded, s);
}

/* One that does not tell its GPU just now holds it all the same. Names come again: one that tells
 * another GPU, of the same tenant too, is another one. */
static bool ledger_of_named_has(
	const struct book *book, const struct told *t, const struct world_pod *p)
{
	const struct holder *h = holder_find(book, t->capacity_pod);
	const char *tells = h != NULL && h->pod.identity != NULL ? h->pod.identity->uuid : t->uuid;
	return h != NULL && h->snap_step == book->time->step && strcmp(tells, t->uuid) == 0 &&
	       ledger_has(holder_ledger(h), world_pod_uid(p));
}

/* From now on it is one like any other; but clients of MPS that start again would find no daemon
 * under a capacity pod of mode None, and the others no device under one of MPS. */
static void found(struct orphans *orphans, const struct world_pod *p, uint32_t slot, uint32_t gpu)
{
	struct holder *h = orphans->picture->snap_gpus.items[gpu].holder;
	if (h->mps == p->gpu->mps) {
		h->search = false;
		return;
	}
	h->amiss = orphans->picture->time->step;
	orphans->picture->snap.gpus.items[gpu].fenced = true;
	strand(orphans, p, slot, h->pod.identity->uuid, true);
}

/* Whoever stands in the ledger of a capacity pod of the picture is on its GPU. */
static void find_stranded(struct orphans *orphans)
{
	const struct picture *picture = orphans->picture;
	vec_for_each (const uint32_t, i, &picture->unsettled) {
		const struct world_pod *p = world_class_at(picture->world, WORLD_TENANT, *i);
		uint32_t slot = world_class_slot(picture->world, WORLD_TENANT, *i);
		if (p->gpu->gated || world_pod_terminal(p) || p->gpu->uuid == NULL ||
			(p->gpu->devices == 1 && snap_counted(picture, slot))) {
			continue;
		}
		struct told t = told_of(p->gpu->uuid, p->gpu->capacity_pod);
		while (told_next(&t)) {
			uint32_t at = snap_gpu_of_pod(picture, p, t.uuid);
			if (at != WORLD_NONE) {
				found(orphans, p, slot, at);
			} else if (!ledger_of_named_has(picture->book, &t, p)) {
				strand(orphans, p, slot, t.uuid, false);
			}
		}
	}
}

/* Those that are held again, or whose last tenant has left. Called before any is stranded, for
 * places move. */
static void sweep(struct orphans *orphans)
{
	for (size_t i = orphans->items.count; i-- > 0;) {
		struct orphan o = orphans->items.items[i];
		if (o.seen + 1 < orphans->picture->time->step) {
			keyed_drop(KEYED(&orphans->items), i);
			orphan_free(&o);
		}
	}
}

static bool is_now(const struct step_time *time, const struct orphan *o)
{
	return o->seen == time->step;
}

/* The time runs only while the node can do something about it. */
static void keep_time(struct orphans *orphans)
{
	const struct picture *picture = orphans->picture;
	vec_for_each (struct orphan, o, &orphans->items) {
		uint32_t at = snap_node_of(picture, o->node);
		bool answers = at != WORLD_NONE && picture->snap.nodes.items[at].noun->ready;
		if (!is_now(picture->time, o)) {
			continue;
		}
		/* One of the other mode that goes is no hope of it. */
		if ((o->leaving && !o->amiss) || !answers) {
			o->since = -1;
		} else if (o->since < 0) {
			o->since = picture->time->now;
		}
		if (o->since >= 0) {
			wake_by(picture->time, o->since + picture->cfg->lost_ms);
		}
	}
}

void orphans_find(struct orphans *orphans)
{
	VEC_CLEAR(&orphans->stranded);
	sweep(orphans);
	if (orphans->picture->forgotten > 0) {
		index_outside(orphans);
		find_stranded(orphans);
	}
	keep_time(orphans);
	searches_plan(orphans);
}

bool orphan_is_late(const struct picture *picture, const struct orphan *o)
{
	return o->since >= 0 && picture->time->now - o->since >= picture->cfg->lost_ms;
}

/* --- what is said and done about it --- */

static bool was_told(const struct orphan *o, const char *uid)
{
	for (size_t i = 0; i < o->told.count; i++) {
		if (strcmp(o->told.items[i], uid) == 0) {
			return true;
		}
	}
	return false;
}

/* What became of the capacity pod that the tenant knows for this GPU. */
static void say_how(
	struct str *out, const struct book *book, const struct world_pod *p, const char *uuid)
{
	struct told t = told_of(p->gpu->uuid, p->gpu->capacity_pod);
	while (told_next(&t) && strcmp(t.uuid, uuid) != 0) {
	}
	const struct holder *h = holder_find(book, t.capacity_pod);
	struct explain_loss loss = {.gpu = uuid, .capacity_pod = t.capacity_pod, .gone = true};
	bool same = h != NULL && h->in_world && h->pod.identity != NULL &&
		    strcmp(h->pod.identity->uuid, uuid) == 0;
	if (same) {
		loss.gone = false;
		loss.ended = pod_is_terminal(&h->pod);
		loss.detail = h->pod.status_reason;
	}
	explain_orphaned(out, &loss);
}

static void tell(struct orphans *orphans, const struct stranded *s, struct emitter *out)
{
	struct orphan *o = &orphans->items.items[s->orphan];
	const struct world_pod *p = world_pod_at(orphans->picture->world, s->slot);
	CLEANUP(str_finish) struct str text = STR_INIT(1024);
	if (was_told(o, world_pod_uid(p))) {
		return;
	}
	VEC_PUSH(&o->told, xstrdup(world_pod_uid(p)));
	say_how(&text, orphans->picture->book, p, o->uuid);
	emit_warning(out, about_pod(p), "GpuOrphaned", str_text(&text));
}

/* A pod of our namespace that cannot be read may be the capacity pod that holds the GPU. */
static void move_on(struct orphans *orphans, struct evictions *evictions, const struct stranded *s,
	struct emitter *out)
{
	const struct picture *picture = evictions->picture;
	const struct orphan *o = &orphans->items.items[s->orphan];
	const struct world_pod *p = world_pod_at(picture->world, s->slot);
	bool free = o->since >= 0 && !world_pod_unread(picture->world, NAME_NAMESPACE, NULL);
	if (free && (s->go || orphan_is_late(picture, o))) {
		const struct evict_why why = {
			.reason = REASON_CAPACITY_LOST, .facts = {.gpu = o->uuid}};
		(void)evict_tenant(evictions, p, &why, out);
	}
}

void orphans_tend(struct orphans *orphans, struct evictions *evictions, struct emitter *out)
{
	out->report->gpus_orphaned = 0;
	vec_for_each (const struct orphan, o, &orphans->items) {
		out->report->gpus_orphaned += is_now(orphans->picture->time, o) ? 1 : 0;
	}
	vec_for_each (const struct stranded, s, &orphans->stranded) {
		tell(orphans, s, out);
		move_on(orphans, evictions, s, out);
	}
	searches_tend(orphans, out);
}
