/* Decided shares become actions: a Grant writes the ledger of a capacity pod, and once that was
 * acknowledged and the watch has shown it, a Place pins the tenant. */
#include "scheduling/emit_grant.h"

#include <stdlib.h>

#include "capacity/inject.h"
#include "capacity/inject_class.h"
#include "guardian/departed_share.h"
#include "guardian/resize.h"
#include "ledger/ledger.h"
#include "model/framework.h"
#include "model/names.h"
#include "record/tables.h"
#include "scheduling/scheduling.h"
#include "scheduling/startup_order.h"

#define MEND_EVERY_MS 10000

void note_chosen(struct scheduling *sched, const struct chosen *c)
{
	struct snap_gpu *s = &sched->picture->snap_gpus.items[c->gpu];
	sched->picture->book->flights.decided += s->added == 0 ? 1 : 0;
	s->added++;
	s->node_pins += c->waiter->pod.keeps_node ? 1 : 0;
	VEC_PUSH(&sched->chosen, *c);
}

static int by_uuid(const void *a, const void *b)
{
	const struct granted *x = a, *y = b;
	return strcmp(x->holder->pod.identity->uuid, y->holder->pod.identity->uuid);
}

/* One fraction for all of its GPUs, so that of the largest it is not too much. */
static int32_t framework_memory(
	const struct picture *picture, const struct waiter *w, int64_t mem_mib, int64_t largest_mib)
{
	const struct framework *f = framework_find(pairs_get(&w->pod.notes, NOTE_FRAMEWORK));
	struct framework_slice s = {mem_mib, picture->cfg->context_mib, largest_mib};
	return f != NULL ? framework_thousandths(f, &s) : 0;
}

void emit_place(struct scheduling *sched, struct waiter *w, struct granted *on, size_t count,
	struct emitter *out)
{
	const struct picture *picture = sched->picture;
	struct arena *arena = &out->plan->arena;
	int64_t until, largest_mib = 0;
	if (startup_before(sched->startup_order, w, &until) != NULL) {
		w->reason = REASON_STARTS_IN_TURN;
		return;
	}
	qsort(on, count, sizeof *on, by_uuid);
	CLEANUP(str_finish) struct str uuids = STR_INIT(MODEL_GPU_COUNT_MAX * GPU_UUID_MAX);
	CLEANUP(str_finish) struct str names = STR_INIT(MODEL_GPU_COUNT_MAX * 64);
	for (uint32_t i = 0; i < waiter_count(w); i++) {
		const struct gpu_identity *gpu = on[i].holder->pod.identity;
		str_append_text(&uuids, i > 0 ? "," : "");
		str_append_text(&uuids, gpu->uuid);
		str_append_text(&names, i > 0 ? "," : "");
		str_append_text(&names, on[i].holder->name);
		largest_mib = gpu->mem_mib > largest_mib ? gpu->mem_mib : largest_mib;
	}
	const struct grant *entry = &holder_ledger(on[0].holder)->items[on[0].index];
	struct action *a = emit_about(out, ACTION_PLACE, about_waiter(w));
	bool known = inject_knows_for(sched->inject, on[0].holder, &w->pod, &a->form);
	ENSURE(known);
	a->resource_version = arena_strdup(arena, waiter_version(w));
	a->node = arena_strdup(arena, on[0].holder->pod.node);
	a->uuid = arena_strdup(arena, str_text(&uuids));
	a->capacity_pod = arena_strdup(arena, str_text(&names));
	a->container = arena_strdup(arena, pairs_get(&w->pod.notes, NOTE_CONTAINER));
	a->milli = entry->milli;
	a->mem_mib = entry->mem_mib;
	a->framework_memory = framework_memory(picture, w, entry->mem_mib, largest_mib);
	a->policy = policy_stamp(picture->world, &w->pod, arena);
	a->mps = pod_is_mps(&w->pod);
	a->node_term_count = w->pod.node_term_count;
	text_set(&w->flight_rv, a->resource_version);
	waiter_sends(picture->book, w, a->id);
	landing_note(w, a);
	startup_begins(sched->startup_order, w);
}

/* Old entries that live, entries of tenants that the ledger has forgotten, and those decided now.
 */
static void write_ledger(struct scheduling *sched, uint32_t at, struct holder *h)
{
	const struct picture *picture = sched->picture;
	/* The new ledger may be made from the one that was asked for before: build it, then let
	 * that go. */
	struct arena fresh = {.block_bytes = 1024};
	const struct ledger *old = holder_ledger(h);
	struct grant *items = ARENA_ARRAY(&fresh, struct grant, MODEL_GRANTS_MAX);
	struct ledger next = {items, 0};
	for (uint32_t i = 0; i < old->count && next.count < MODEL_GRANTS_MAX; i++) {
		if (grant_lives(picture, h, &old->items[i])) {
			items[next.count] = old->items[i];
			resize_entry(sched->resizes, at, &items[next.count++]);
		}
	}
	/* Mostly there is none, and a ledger does not cost a look at every tenant. */
	bool any = picture->snap_gpus.items[at].forgotten > 0;
	size_t tenants = any ? world_class_count(picture->world, WORLD_TENANT) : 0;
	for (size_t i = 0; i < tenants; i++) {
		const struct world_pod *p = world_class_at(picture->world, WORLD_TENANT, i);
		uint32_t slot = world_class_slot(picture->world, WORLD_TENANT, i);
		bool counted = p->gpu->devices > 1 ? ledger_has(old, world_pod_uid(p))
						   : snap_counted(picture, slot);
		bool forgotten = !p->gpu->gated && !world_pod_terminal(p) &&
				 tenant_is_on(h, p->gpu) && !counted;
		if (forgotten && next.count < MODEL_GRANTS_MAX) {
			struct share share = resize_may_have(sched->resizes, p);
			items[next.count++] = (struct grant){
				world_pod_uid(p), p->ns, world_pod_name(p), share.milli, share.mib};
		}
	}
	for (size_t i = 0; i < sched->chosen.count && next.count < MODEL_GRANTS_MAX; i++) {
		const struct chosen *c = &sched->chosen.items[i];
		if (c->gpu == at && !ledger_has(&next, c->waiter->uid)) {
			items[next.count++] = (struct grant){c->waiter->uid, c->waiter->pod.ns,
				c->waiter->pod.name, c->milli, c->mem_mib};
		}
	}
	struct ledger kept;
	struct arena copy = {.block_bytes = 1024};
	record_copy(&copy, &ledger_table, &next, &kept);
	arena_finish(&fresh);
	arena_finish(&h->asked_arena);
	h->asked_arena = copy;
	h->asked = kept;
}

/* Those whose halves are given back: what is known of them may be old. */
static struct ledger struck_out(const struct book *book, const struct holder *h, struct plan *plan)
{
	const struct ledger *old = holder_ledger(h);
	struct ledger out = {ARENA_ARRAY(&plan->arena, struct grant, old->count), 0};
	for (uint32_t i = 0; i < old->count; i++) {
		const struct waiter *w = waiter_giving_back(book, old->items[i].uid, h);
		if (w != NULL) {
			out.items[out.count++] =
				(struct grant){.uid = arena_strdup(&plan->arena, w->uid),
					.ns = arena_strdup(&plan->arena, w->pod.ns),
					.name = arena_strdup(&plan->arena, w->pod.name)};
		}
	}
	return out;
}

/* C39: it may be evicted where each of its tenants may, for it waits until they have left. One of a
 * version before does not: the budget holds it. */
static bool is_movable(const struct picture *picture, uint32_t at)
{
	const struct snap_gpu *s = &picture->snap_gpus.items[at];
	return s->node_pins == 0 && s->holder->pod.lingers;
}

/* What its label says, which is looked up once for each version of it. */
static bool told_movable(struct holder *h)
{
	if (h->label_stamp != h->stamp + 1) {
		h->label_stamp = h->stamp + 1;
		h->label_movable =
			text_equals(pairs_get(&h->pod.labels, LABEL_IN_USE), IN_USE_MOVABLE);
	}
	return h->label_movable;
}

static void emit_grant(struct scheduling *sched, uint32_t at, struct emitter *out)
{
	const struct picture *picture = sched->picture;
	struct holder *h = picture->snap_gpus.items[at].holder;
	struct action *a = emit_about(out, ACTION_GRANT, about_holder(h));
	a->resource_version = arena_strdup(&out->plan->arena, holder_version(h));
	a->still = struck_out(picture->book, h, out->plan);
	h->trust.strikes = a->still.count > 0 || resizes_shrink(sched->resizes, at);
	write_ledger(sched, at, h);
	h->asked_holds = true;
	h->asked_keeps = a->keeps_node = picture->snap_gpus.items[at].node_pins > 0;
	h->asked_movable = a->movable = is_movable(picture, at);
	text_set(&h->flight_rv, a->resource_version);
	holder_sends(picture->book, h, ACTION_GRANT, a->id);
	text_set(&h->acked_rv, NULL);
	record_copy(&out->plan->arena, &ledger_table, &h->asked, &a->ledger);
	a->claim = record_clone(
		&out->plan->arena, &inject_claim_table, inject_proof_for(sched->inject, h));
}

/* Whoever runs there stands in the ledger: it was another's, or has lost them. What is sold over is
 * not written down. And autoscalers are told as much as is so. Somebody else may undo it as fast as
 * it is done, so that it is not done often. */
static bool needs_mending(struct injecting *inject, uint32_t at)
{
	const struct picture *picture = inject->picture;
	const struct place_gpu *g = &picture->snap.gpus.items[at];
	const struct snap_gpu *s = &picture->snap_gpus.items[at];
	struct holder *h = s->holder;
	bool kept = h->asked_holds ? h->asked_keeps : h->pod.keeps_node;
	bool forgotten = s->forgotten > 0 && !g->fenced && g->free_milli >= 0 && g->free_mib >= 0 &&
			 s->entries + s->forgotten <= MODEL_GRANTS_MAX;
	/* What was acknowledged and is not shown yet may have it: a watch that lags is waited for.
	 */
	if (s->confirms || (h->acked_rv == NULL && inject_owes(inject, h))) {
		return flights_room(picture->book);
	}
	/* What its label says is not so, and somebody is there whom that may harm or keep. */
	bool movable = h->asked_holds ? h->asked_movable : told_movable(h);
	bool mislabelled = s->entries > 0 && movable != is_movable(picture, at);
	if (!forgotten && kept == (s->node_pins > 0) && !mislabelled) {
		return false;
	}
	wake_by(picture->time, h->mend_at);
	return picture->time->now >= h->mend_at;
}

void emit_grants(struct scheduling *sched, struct emitter *out)
{
	const struct picture *picture = sched->picture;
	/* From now on they count as sent. */
	picture->book->flights.decided = 0;
	if (view_lags(picture->book)) {
		return;
	}
	for (uint32_t i = 0; i < picture->snap_gpus.count; i++) {
		const struct snap_gpu *s = &picture->snap_gpus.items[i];
		/* The last one has left: say so, that the node may be drained. */
		bool emptied = s->dead > 0 && s->entries == 0 && s->demand == 0 && !s->yields;
		/* Whoever runs where it cannot be served is not taken into its books. */
		if (picture->snap.gpus.items[i].state != GPU_OPEN ||
			s->holder->amiss == picture->time->step) {
			continue;
		}
		bool mends = s->added == 0 && !emptied && needs_mending(sched->inject, i);
		if (mends) {
			s->holder->mend_at = picture->time->now + MEND_EVERY_MS;
		}
		if (s->added > 0 || s->given_back > 0 || emptied || mends) {
			emit_grant(sched, i, out);
		}
	}
}
