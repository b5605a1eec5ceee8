/* Step 2: the picture on which one step decides. GPUs come from capacity pods, shares from their
 * ledgers and from the tenants themselves; where the two differ, the tenant wins, because it is
 * what runs. */
#include "snapshot.h"

#include "capacity/capacity_failure.h"
#include "capacity/inject_class.h"
#include "capacity/scale.h"
#include "demand/quota_usage.h"
#include "guardian/departed_share.h"
#include "guardian/health.h"
#include "guardian/mps.h"
#include "guardian/orphan.h"
#include "guardian/resize.h"
#include "ledger/grant_revoke.h"
#include "ledger/ledger.h"
#include "model/names.h"
#include "scheduling/scheduling.h"

/* The watch may have shown it before the answer came, and shows nothing after that. */
static void see_acked(struct holder *h)
{
	if (h->acked_rv != NULL && version_reached(h->pod.resource_version, h->acked_rv)) {
		holder_drop_asked(h);
	}
}

static const char *uuid_of(const struct pod *pod)
{
	return pod->identity != NULL ? pod->identity->uuid : NULL;
}

static void holder_read(struct holder *h, const struct world_pod *p)
{
	struct arena before = h->arena;
	h->arena = (struct arena){.block_bytes = 2048};
	struct pod pod = pod_of(p, &h->arena);
	h->told_anew = h->told_anew || !text_equals(uuid_of(&h->pod), uuid_of(&pod));
	arena_finish(&before);
	h->pod = pod;
	h->stamp = p->gpu->stamp;
	h->mps = pod_is_mps(&h->pod);
}

/* What the watch shows replaces what was assumed. */
static void holder_refresh(struct book *book, struct holder *h, const struct world_pod *p)
{
	bool fresh = !h->in_world || h->stamp != p->gpu->stamp;
	h->in_world = true;
	if (!fresh) {
		see_acked(h);
		return;
	}
	holder_read(h, p);
	bool met = h->uid == NULL && h->node == NULL;
	if (h->uid != NULL && !text_equals(h->uid, h->pod.uid)) {
		/* The name was used again: nothing that was assumed holds. */
		holder_drop_asked(h);
		h->deleted = false;
		/* What is still under way was about the other pod, and so is its outcome. */
		holder_heard(book, h);
		h->opened_at = h->told_from = h->idle_since = book->time->now;
		h->has_grace = false;
		h->lost_at = h->refused_at = h->going_at = -1;
		h->search = h->told_doubled = h->trust.sure = false;
		h->companion_gone_at = 0;
		if (holder_asks_for_node(h)) {
			text_set(&h->node, NULL);
			h->node_known = false;
		}
		met = true;
	}
	if (met && h->pod.identity != NULL) {
		/* This step may be the first for long. It was there before, nobody knows since
		 * when, and its agent may have spoken of it already. */
		h->told_from = INT64_MIN;
	}
	text_set(&h->uid, h->pod.uid);
	bool lost = h->pod.identity != NULL && !h->pod.holds;
	h->lost_at = !lost ? -1 : h->lost_at >= 0 ? h->lost_at : book->time->now;
	bool refused = text_empty(h->pod.node) ? h->pod.unschedulable
					       : h->pod.identity == NULL && h->pod.trouble != NULL;
	h->refused_at = !refused ? -1 : h->refused_at >= 0 ? h->refused_at : book->time->now;
	h->going_at = h->pod.deleting_ms == 0 ? -1
		      : h->going_at >= 0      ? h->going_at
					      : book->time->now;
	if (!text_empty(h->pod.node)) {
		/* Only what was not pinned comes to a node later than it was made. */
		h->opened_at =
			h->node == NULL && holder_asks_for_node(h) ? book->time->now : h->opened_at;
		text_set(&h->node, h->pod.node);
		h->node_at = p->node;
		h->node_known = true;
	}
	see_acked(h);
	if (h->avoid_rv != NULL && version_passed(h->pod.resource_version, h->avoid_rv)) {
		text_set(&h->avoid_rv, NULL);
		if (h->flight == 0 && h->acked_rv == NULL) {
			holder_drop_asked(h);
		}
	}
}

static void holder_expire(struct holder *h, int64_t now)
{
	if (h->avoid_rv != NULL && now >= h->avoid_until) {
		text_set(&h->avoid_rv, NULL);
		if (h->flight == 0 && h->acked_rv == NULL) {
			holder_drop_asked(h);
		}
	}
	if (h->acked_rv != NULL && h->flight == 0 && now >= h->expires_at) {
		holder_drop_asked(h);
	}
}

/* What a GPU of the node has told, when it was held, counts more than the label, which is there or
 * not and counts what nobody can use: what cannot fit opens no other GPU to find that out again.
 * One that is much smaller than the label says nothing about the others. */
static int64_t gpu_mib(int64_t label, int64_t told)
{
	return told >= label - label / 4 ? told : label;
}

static void add_nodes(struct picture *picture)
{
	for (uint32_t i = 0; i < world_node_slots(picture->world); i++) {
		const struct world_node *n = world_node_at(picture->world, i);
		VEC_PUSH(&picture->node_to_snap, WORLD_NONE);
		if (!n->known || n->noun.gpus <= 0) {
			continue;
		}
		const struct kept_node *known = &picture->kept.nodes.items[i];
		const struct node_memo *t = memo_find(picture->book, n->name);
		if (t != NULL && picture->time->now < t->until) {
			wake_by(picture->time, t->until);
		}
		struct place_node s = {.noun = &n->noun,
			.runtime = runtime_of(picture->runtime),
			.free_cpu_milli = n->noun.cpu_milli - n->cpu_milli,
			.free_mem_bytes = n->noun.mem_bytes - n->mem_bytes,
			.free_slots = n->noun.pod_slots - n->pods,
			.free_gpus = n->noun.gpus - n->gpus,
			.gpu_mem_mib = gpu_mib(known->label_mib, t != NULL ? t->usable_mib : 0),
			.no_grants = known->drains,
			.no_opening = n->noun.shares_already ||
				      (t != NULL && picture->time->now < t->until)};
		picture->node_to_snap.items[i] = (uint32_t)picture->snap.nodes.count;
		VEC_PUSH(&picture->snap.nodes, s);
		VEC_PUSH(&picture->snap_nodes, i);
		VEC_PUSH(&picture->told_mib, t != NULL ? t->usable_mib : 0);
	}
}

static void learn_memory(struct picture *picture, uint32_t node, const struct holder *h)
{
	struct place_node *n = &picture->snap.nodes.items[node];
	int64_t *told = &picture->told_mib.items[node];
	if (h->pod.identity != NULL && h->pod.identity->mem_mib > *told) {
		*told = h->pod.identity->mem_mib;
		memo_touch(picture->book, n->noun->name)->usable_mib = *told;
		uint32_t at = picture->snap_nodes.items[node];
		n->gpu_mem_mib = gpu_mib(picture->kept.nodes.items[at].label_mib, *told);
	}
}

/* Nothing is given before it is proven that it would arrive (C26). A ledger that was acknowledged
 * is not written again before the watch has shown it: nobody in it can be told before, and as long
 * as others came faster than the watch nobody ever would be. */
static enum gpu_state holder_state(const struct injecting *inject, const struct holder *h)
{
	const struct pod *p = &h->pod;
	enum inject_form form;
	if (!inject_knows(inject, h, &form) || !h->in_world || p->identity == NULL || !p->holds ||
		p->phase != POD_RUNNING) {
		return GPU_OPENING;
	}
	bool busy = h->flight != 0 || h->avoid_rv != NULL || h->acked_rv != NULL;
	return busy ? GPU_BUSY : GPU_OPEN;
}

/* Capacity pods that can never receive a grant again are not part of the picture, but their GPU is
 * taken. One that was there and is gone holds nothing: it is remembered only until the answer to a
 * write has come, and whoever holds its GPU by then must not share a UUID with a ghost. */
static bool holder_usable(const struct holder *h)
{
	const struct pod *p = &h->pod;
	if (!h->in_world && p->name != NULL) {
		return false;
	}
	if (holder_is_deleted(h)) {
		return false;
	}
	return !h->in_world || (!pod_is_terminal(p) && p->deleting_ms == 0 && !p->ledger_bad);
}

/* Where nothing is given any more (C13) nobody is told of what was given before either: the pin
 * would be for good. It is looked for elsewhere; until it runs there the entry counts as any other,
 * since another leader may have told it. */
static bool is_void(struct injecting *inject, const struct holder *h, const struct waiter *w)
{
	const struct picture *picture = inject->picture;
	uint32_t node = snap_node_of_holder(picture, h);
	bool closed = node != WORLD_NONE && picture->snap.nodes.items[node].no_grants;
	bool useless = closed || health_is_bad(inject->ailments, h) || mps_is_ill(picture, h) ||
		       inject_is_vain(inject, h) || inject_is_vain_for(inject, h, &w->pod);
	return useless && w->flight == 0 && w->landings.count == 0;
}

/* Marks the pods that some ledger names: those that run, so that the rest can be found, and those
 * that still wait, so that their entry is not looked for again. */
static void mark_counted(
	struct injecting *inject, struct holder *h, uint32_t i, const struct world_pod *p)
{
	struct picture *picture = inject->picture;
	if (tenant_is_on(h, p->gpu)) {
		bits_put(&picture->counted,
			world_class_slot(picture->world, p->gpu->class, p->gpu->slot), true);
	} else if (p->gpu->gated) {
		struct waiter *w = waiter_of(picture->book, p, picture->time->now);
		if (is_void(inject, h, w)) {
			waiter_note_stale(w, holder_ledger(h)->items[i].milli, picture->time->step);
			return;
		}
		waiter_note_entry(w, h, i, picture->time->step);
		w->granted_by = h;
		w->granted_index = i;
		w->granted_step = picture->time->step;
	}
}

static void count_entry(struct scheduling *sched, struct place_gpu *g, struct snap_gpu *s,
	const struct grant *entry, const struct world_pod *p)
{
	const struct picture *picture = sched->picture;
	if (!entry_lives(picture, s->holder, entry, p)) {
		s->dead++;
		struct waiter *w = waiter_giving_back(picture->book, entry->uid, s->holder);
		if (w != NULL) {
			s->given_back++;
			waiter_note_stale(w, entry->milli, picture->time->step);
		}
		return;
	}
	if (sched->quotas->used.count > 0 && p == NULL) {
		quotas_hold(sched->quotas, entry->ns, entry->milli);
	}
	struct manners manners = manners_of_pod(sched->companies, p);
	s->node_pins += p != NULL && p->gpu->keeps_node ? 1 : 0;
	s->entries++;
	struct share counted = resize_counts(sched->resizes, s->holder, entry, p);
	g->free_milli -= counted.milli;
	g->free_mib -= counted.mib;
	g->tenants++;
	company_joins(g, s, &manners);
}

/* A part that is being given back stands there until the write has done it: until then it is part
 * of a quota, whatever GPU the room is on. */
static void count_struck_out(struct book *book, const struct holder *h)
{
	const struct ledger *shown = &h->pod.ledger;
	for (uint32_t i = 0; h->asked_holds && i < shown->count; i++) {
		const struct grant *g = &shown->items[i];
		const struct world_pod *p = ledger_has(&h->asked, g->uid)
						    ? NULL
						    : world_pod_by_uid(book->world, g->uid);
		if (p != NULL && p->gpu->gated) {
			waiter_note_stale(
				waiter_of(book, p, book->time->now), g->milli, book->time->step);
		}
	}
}

/* The tenant of each entry is looked up once: these are all tenants of the cluster. */
static void count_entries(struct scheduling *sched, struct place_gpu *g, struct snap_gpu *s)
{
	const struct picture *picture = sched->picture;
	const struct ledger *l = holder_ledger(s->holder);
	for (uint32_t i = 0; i < l->count; i++) {
		const struct world_pod *p = world_pod_by_uid(picture->world, l->items[i].uid);
		count_entry(sched, g, s, &l->items[i], p);
		if (p != NULL) {
			mark_counted(sched->inject, s->holder, i, p);
		}
	}
	if (sched->quotas->used.count > 0) {
		count_struck_out(picture->book, s->holder);
	}
}

/* It is given up at the end of this step, and its node rests from then on: none is opened there
 * before that either. */
static bool goes_now(const struct holder *h)
{
	return holder_may_go(h) && !h->search &&
	       (h->pod.identity == NULL || pod_is_terminal(&h->pod));
}

static void add_holder(struct scheduling *sched, struct holder *h)
{
	struct picture *picture = sched->picture;
	uint32_t node = snap_node_of_holder(picture, h);
	bool failed = h->in_world && capacity_failed(picture, h);
	if (node != WORLD_NONE && failed && goes_now(h)) {
		picture->snap.nodes.items[node].no_opening = true;
	}
	if (!holder_usable(h) || node == WORLD_NONE) {
		return;
	}
	enum gpu_state state = holder_state(sched->inject, h);
	struct place_node *n = &picture->snap.nodes.items[node];
	learn_memory(picture, node, h);
	bool bad = h->in_world && health_is_bad(sched->inject->ailments, h);
	struct place_gpu g = {.node = node,
		.state = state,
		.capacity_pod = h->name,
		.usable_mib = h->pod.identity != NULL ? h->pod.identity->mem_mib : n->gpu_mem_mib,
		.free_milli = MODEL_GPU_MILLI,
		.max_tenants = MODEL_GRANTS_MAX,
		.company = place_nobody(h->mps),
		.mps = h->mps,
		.fenced = bad || inject_is_vain(sched->inject, h) || failed,
		.unhealthy = bad};
	g.free_mib = g.usable_mib;
	struct snap_gpu s = {.holder = h, .same = WORLD_NONE};
	if (!kept_count(sched->companies, &g, &s)) {
		count_entries(sched, &g, &s);
	}
	/* Until the scheduler has bound it, what it asks for is not in the node's sums. */
	if (!h->in_world || text_empty(h->pod.node)) {
		place_reserve_capacity(n, h->mps);
	}
	kept_place(picture, h);
	VEC_PUSH(&picture->snap.gpus, g);
	VEC_PUSH(&picture->snap_gpus, s);
}

static void add_holders(struct scheduling *sched)
{
	const struct picture *picture = sched->picture;
	struct book *book = picture->book;
	struct step_time *time = picture->time;
	for (size_t i = 0; i < world_class_count(picture->world, WORLD_CAPACITY); i++) {
		const struct world_pod *p = world_class_at(picture->world, WORLD_CAPACITY, i);
		holder_refresh(book, holder_of(book, i, time->now), p);
	}
	inject_look(sched->inject);
	for (size_t i = 0; i < book->holders.count; i++) {
		struct holder *h = book->holders.items[i];
		holder_expire(h, time->now);
		if (h->seen != time->step && h->in_world) {
			/* Seen before, gone now. */
			h->in_world = false;
			h->expires_at = 0;
		}
		if (h->seen != time->step && (h->flight != 0 || time->now < h->expires_at)) {
			h->seen = time->step;
			wake_by(time, h->expires_at);
		}
		if (h->seen == time->step) {
			add_holder(sched, h);
		}
	}
	kept_index(sched->picture);
}

/* Whoever holds the tenant's GPU now: the tenant runs on it all the same. Where nobody has told
 * that UUID, the capacity pod that the tenant names, as long as it may turn out to hold it. */
static uint32_t snap_gpu_of(
	const struct picture *picture, const struct world_pod *p, const struct told *t)
{
	uint32_t at = text_empty(t->uuid) ? WORLD_NONE : snap_gpu_of_pod(picture, p, t->uuid);
	if (at != WORLD_NONE) {
		return at;
	}
	const struct holder *h = holder_find(picture->book, t->capacity_pod);
	bool may_be = h != NULL && h->snap_step == picture->time->step && tenant_is_on(h, p->gpu);
	return may_be ? h->snap_at : WORLD_NONE;
}

static void add_uncounted(
	struct scheduling *sched, const struct world_pod *p, uint32_t slot, uint32_t at)
{
	struct picture *picture = sched->picture;
	struct place_gpu *g = &picture->snap.gpus.items[at];
	struct manners manners = manners_of_tenant(sched->companies, p, slot);
	company_joins(g, &picture->snap_gpus.items[at], &manners);
	struct share share = resize_may_have(sched->resizes, p);
	if (share.milli > p->gpu->milli) {
		quotas_take_pod(sched->quotas, p, share.milli - p->gpu->milli);
	}
	g->free_milli -= share.milli;
	g->free_mib -= share.mib;
	g->tenants++;
	picture->snap_gpus.items[at].demand++;
	picture->snap_gpus.items[at].forgotten++;
	picture->snap_gpus.items[at].node_pins += p->gpu->keeps_node ? 1 : 0;
}

static void add_unbound(struct picture *picture, const struct world_pod *p, uint32_t at)
{
	struct place_node *n = &picture->snap.nodes.items[picture->snap.gpus.items[at].node];
	n->free_cpu_milli -= p->takes->cpu_milli;
	n->free_mem_bytes -= p->takes->mem_bytes;
	n->free_slots--;
}

/* Tenants that run but stand in no ledger hold their share all the same; tenants without a node yet
 * take CPU and memory that the node's sums do not show. */
static void add_tenant(struct scheduling *sched, const struct world_pod *p, uint32_t slot)
{
	struct picture *picture = sched->picture;
	bool several = p->gpu->devices > 1;
	bool counted = !several && snap_counted(picture, slot);
	if (p->gpu->gated || world_pod_terminal(p)) {
		return;
	}
	picture->forgotten += counted ? 0 : 1;
	if (p->gpu->capacity_pod == NULL || (counted && p->node != WORLD_NONE)) {
		return;
	}
	struct told t = told_of(p->gpu->uuid, p->gpu->capacity_pod);
	bool unbound = p->node == WORLD_NONE;
	while (told_next(&t)) {
		uint32_t at = snap_gpu_of(picture, p, &t);
		if (at == WORLD_NONE) {
			continue;
		}
		const struct holder *h = picture->snap_gpus.items[at].holder;
		if (several ? !ledger_has(holder_ledger(h), world_pod_uid(p)) : !counted) {
			add_uncounted(sched, p, slot, at);
		}
		if (unbound) {
			add_unbound(picture, p, at);
			unbound = false;
		}
	}
}

void snapshot_build(struct scheduling *sched, struct orphans *orphans)
{
	struct picture *picture = sched->picture;
	picture_begin(picture);
	picture->searches = picture->forgotten = 0;
	quotas_begin(sched->quotas);
	resizes_begin(sched->resizes);
	companies_begin(sched->companies);
	kept_begin(picture);
	add_nodes(picture);
	health_look(sched->inject->ailments);
	add_holders(sched);
	scale_discount(sched->scale);
	kept_end(picture);
	vec_for_each (const uint32_t, i, &picture->unsettled) {
		add_tenant(sched, world_class_at(picture->world, WORLD_TENANT, *i),
			world_class_slot(picture->world, WORLD_TENANT, *i));
	}
	departed_count(sched->quotas, sched->companies);
	landings_count(sched->companies);
	grants_revoke(picture);
	holds_count(picture);
	companies_settle(picture);
	mps_settle(picture);
	quotas_count_waiters(sched->quotas);
	orphans_find(orphans);
	if (picture->cfg->check_every > 0 && picture->time->step % picture->cfg->check_every == 0) {
		kept_check(sched->companies);
	}
}
