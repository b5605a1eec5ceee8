/* Shares of tenants that run, in the picture of one step, in ledgers, and told. */
#include "guardian/resize.h"

#include "demand/quota_usage.h"
#include "guardian/resizes.h"
#include "ledger/ledger.h"
#include "model/share.h"

/* Whoever wants something has said so by then, after a restart too. */
#define BEHIND_MS 600000

/* --- the picture --- */

void resizes_begin(struct resizes *resizes)
{
	VEC_CLEAR(&resizes->behind);
	VEC_CLEAR(&resizes->decided);
}

static struct share larger(struct share a, struct share b)
{
	return (struct share){a.milli > b.milli ? a.milli : b.milli, a.mib > b.mib ? a.mib : b.mib};
}

static struct share told(const struct world_pod *p)
{
	return (struct share){p->gpu->milli, p->gpu->mem_mib};
}

static struct share given(const struct grant *entry)
{
	return (struct share){entry->milli, entry->mem_mib};
}

static bool same(struct share a, struct share b)
{
	return a.milli == b.milli && a.mib == b.mib;
}

static bool covers(struct share a, struct share b)
{
	return a.milli >= b.milli && a.mib >= b.mib;
}

struct share resize_counts(struct resizes *resizes, const struct holder *h,
	const struct grant *entry, const struct world_pod *p)
{
	/* A write under way that lets it shrink may fail. */
	const struct grant *shown = h->asked_holds ? ledger_find(&h->pod.ledger, entry->uid) : NULL;
	struct share counted = shown != NULL ? larger(given(entry), given(shown)) : given(entry);
	bool runs = p != NULL && !p->gpu->gated && tenant_is_on(h, p->gpu);
	if (!runs) {
		return counted;
	}
	if (!same(counted, told(p))) {
		uint32_t slot =
			world_class_slot(resizes->picture->world, p->gpu->class, p->gpu->slot);
		VEC_PUSH(&resizes->behind, slot);
	}
	/* A ledger never says less than that, unless somebody else has written it. */
	counted = larger(counted, told(p));
	/* A quota has what the tenant shows. */
	if (counted.milli > p->gpu->milli) {
		quotas_take_pod(resizes->quotas, p, counted.milli - p->gpu->milli);
	}
	return counted;
}

/* One that was answered is not shown yet, and of two that were not either may be done: as long as
 * the watch shows the version that they were made from. */
static bool is_open(const struct resize *r, const struct world_pod *p)
{
	if (r == NULL || r->most.milli == 0) {
		return false;
	}
	CLEANUP(arena_finish) struct arena arena = {.block_bytes = 1024};
	return !version_passed(pod_of(p, &arena).resource_version, r->rv);
}

struct share resize_may_have(const struct resizes *resizes, const struct world_pod *p)
{
	const struct resize *r = resize_find(resizes, world_pod_uid(p));
	return is_open(r, p) ? larger(told(p), r->most) : told(p);
}

/* --- what is wanted --- */

/* The entry that the tenant has on the GPU at `at`; NULL: none that can be written anew now. */
static const struct grant *entry_at(const struct picture *picture, uint32_t at, const char *uid)
{
	if (at == WORLD_NONE || picture->snap.gpus.items[at].state != GPU_OPEN) {
		return NULL;
	}
	return ledger_find(holder_ledger(picture->snap_gpus.items[at].holder), uid);
}

/* What its entry should say now. */
static struct share goal(const struct resize *r, const struct world_pod *p, struct share entry)
{
	bool settled = r->sealed && same(r->sent, r->want) && same(told(p), r->want);
	return settled ? r->want : larger(larger(entry, r->want), told(p));
}

static enum share_state judge_gpu(const struct picture *picture, uint32_t at,
	const struct resize *r, const struct world_pod *p, int64_t *more_milli)
{
	const struct grant *entry = entry_at(picture, at, r->uid);
	if (entry == NULL) {
		return SHARE_UNDERWAY;
	}
	const struct place_gpu *g = &picture->snap.gpus.items[at];
	struct share next = goal(r, p, given(entry)), has = larger(given(entry), told(p));
	int64_t milli = next.milli - has.milli, mib = next.mib - has.mib;
	*more_milli += milli;
	/* Nobody gets more of a GPU that gets nobody new. */
	bool closed = g->fenced || picture->snap.nodes.items[g->node].no_grants;
	bool fits = (milli <= 0 || milli <= g->free_milli) && (mib <= 0 || mib <= g->free_mib);
	return (milli > 0 || mib > 0) && (closed || !fits) ? SHARE_NO_ROOM : SHARE_HELD;
}

static bool within_quota(const struct resizes *resizes, struct resize *r, const struct world_pod *p,
	int64_t more_milli)
{
	struct quota_view quota;
	if (more_milli <= 0 || more_milli <= quotas_left_pod(resizes->quotas, p, 0, &quota)) {
		return true;
	}
	text_set(&r->quota, quota.name);
	return false;
}

/* SHARE_HELD: its ledgers can say what they should. */
static enum share_state judge(
	const struct resizes *resizes, struct resize *r, const struct world_pod *p)
{
	struct told t = told_of(p->gpu->uuid, p->gpu->capacity_pod);
	enum share_state worst = SHARE_HELD;
	int64_t more_milli = 0;
	if (p->gpu->mps) {
		return SHARE_FIXED;
	}
	if (p->gpu->gated || p->deleting || text_empty(p->gpu->uuid)) {
		return SHARE_UNDERWAY;
	}
	while (told_next(&t)) {
		enum share_state one = judge_gpu(resizes->picture,
			snap_gpu_of_pod(resizes->picture, p, t.uuid), r, p, &more_milli);
		worst = one > worst ? one : worst;
	}
	return worst == SHARE_HELD && !within_quota(resizes, r, p, more_milli) ? SHARE_QUOTA
									       : worst;
}

/* Returns by how much more compute it is counted with; its entry says what it should where that is
 * none, and `written` stays. */
static int64_t take(struct resizes *resizes, uint32_t at, const struct resize *r,
	const struct world_pod *p, bool *written)
{
	const struct picture *picture = resizes->picture;
	struct place_gpu *g = &picture->snap.gpus.items[at];
	struct snap_gpu *s = &picture->snap_gpus.items[at];
	const struct grant *entry = entry_at(picture, at, r->uid);
	struct share next = goal(r, p, given(entry));
	struct resized one = {at, r->uid, next, !covers(next, given(entry))};
	if (same(one.share, given(entry))) {
		return 0;
	}
	/* What it gives back is free once that is written. */
	struct share has = larger(given(entry), told(p));
	int64_t milli = one.share.milli - has.milli, mib = one.share.mib - has.mib;
	g->free_milli -= milli > 0 ? milli : 0;
	g->free_mib -= mib > 0 ? mib : 0;
	picture->book->flights.decided += s->added == 0 ? 1 : 0;
	s->added++;
	*written = true;
	VEC_PUSH(&resizes->decided, one);
	return milli;
}

static bool entries_say(const struct picture *picture, const struct world_pod *p, struct share want)
{
	struct told t = told_of(p->gpu->uuid, p->gpu->capacity_pod);
	bool all = true;
	while (all && told_next(&t)) {
		const struct grant *g =
			entry_at(picture, snap_gpu_of_pod(picture, p, t.uuid), world_pod_uid(p));
		all = g != NULL && same(given(g), want);
	}
	return all;
}

/* A write that lets a ledger shrink may be late, and land as long as that has not changed since. So
 * before somebody is told more, each ledger is written anew where that could be. */
static bool all_sure(const struct picture *picture, const struct world_pod *p)
{
	struct told t = told_of(p->gpu->uuid, p->gpu->capacity_pod);
	bool sure = true;
	while (told_next(&t)) {
		uint32_t at = snap_gpu_of_pod(picture, p, t.uuid);
		sure = sure && at != WORLD_NONE && picture->snap_gpus.items[at].holder->trust.sure;
	}
	return sure;
}

static void confirm(struct picture *picture, const struct world_pod *p)
{
	struct told t = told_of(p->gpu->uuid, p->gpu->capacity_pod);
	while (told_next(&t)) {
		uint32_t at = snap_gpu_of_pod(picture, p, t.uuid);
		struct snap_gpu *s = at != WORLD_NONE ? &picture->snap_gpus.items[at] : NULL;
		if (s != NULL && !s->holder->trust.sure) {
			s->confirms = true;
		}
	}
}

/* All of its entries; what finds no room among the writes of this step is left to the next. */
static void decide_one(struct resizes *resizes, struct resize *r, const struct world_pod *p)
{
	struct picture *picture = resizes->picture;
	r->state = judge(resizes, r, p);
	if (r->state != SHARE_HELD) {
		return;
	}
	struct told t = told_of(p->gpu->uuid, p->gpu->capacity_pod);
	int64_t more_milli = 0;
	bool written = false;
	while (flights_room(picture->book) && told_next(&t)) {
		more_milli += take(resizes, snap_gpu_of_pod(picture, p, t.uuid), r, p, &written);
	}
	if (!covers(told(p), r->want)) {
		confirm(picture, p);
	}
	bool there = !written && same(r->want, told(p)) && entries_say(picture, p, r->want);
	enum share_state held = r->memory_stays ? SHARE_MEMORY_STAYS : SHARE_HELD;
	r->state = there ? held : SHARE_UNDERWAY;
	if (there && r->follows) {
		resize_unask(r);
	}
	if (more_milli > 0) {
		quotas_take_pod(resizes->quotas, p, more_milli);
	}
}

/* What its framework was told at its start it has taken, and stays in the books. */
static void keep_memory(struct resize *r, const struct world_pod *p)
{
	if (p->gpu->told_memory && r->want.mib != p->gpu->mem_mib) {
		r->want.mib = p->gpu->mem_mib;
		r->memory_stays = true;
	}
}

void resizes_decide(struct resizes *resizes)
{
	resizes->picture->book->flights.decided = 0;
	vec_for_each (const uint32_t, slot, &resizes->behind) {
		resize_wake(resizes, world_pod_uid(world_pod_at(resizes->picture->world, *slot)));
	}
	for (uint32_t i = 0; i < resizes->awake; i++) {
		struct resize *r = &resizes->items.items[i];
		const struct world_pod *p = world_pod_by_uid(resizes->picture->world, r->uid);
		bool is_tenant =
			p != NULL && p->gpu->class == WORLD_TENANT && !world_pod_terminal(p);
		if (is_tenant && r->want.milli > 0) {
			keep_memory(r, p);
			decide_one(resizes, r, p);
		}
	}
}

void resize_entry(const struct resizes *resizes, uint32_t at, struct grant *entry)
{
	vec_for_each (const struct resized, d, &resizes->decided) {
		if (d->gpu == at && strcmp(d->uid, entry->uid) == 0) {
			entry->milli = d->share.milli;
			entry->mem_mib = d->share.mib;
		}
	}
}

bool resizes_shrink(const struct resizes *resizes, uint32_t at)
{
	bool any = false;
	vec_for_each (const struct resized, d, &resizes->decided) {
		any = any || (d->gpu == at && d->shrinks);
	}
	return any;
}

/* --- the tenant is told --- */

/* What all of its ledgers have for it, as the watch shows them: the least of each. False: one is
 * being written, or has nothing for it. */
static bool ledgers_have(
	const struct picture *picture, const struct world_pod *p, struct share *ret)
{
	struct told t = told_of(p->gpu->uuid, p->gpu->capacity_pod);
	struct share least = {INT64_MAX, INT64_MAX};
	while (told_next(&t)) {
		uint32_t at = snap_gpu_of_pod(picture, p, t.uuid);
		const struct grant *g = entry_at(picture, at, world_pod_uid(p));
		const struct holder *h = g != NULL ? picture->snap_gpus.items[at].holder : NULL;
		if (h == NULL || h->asked_holds || h->flight != 0) {
			return false;
		}
		least.milli = g->milli < least.milli ? g->milli : least.milli;
		least.mib = g->mem_mib < least.mib ? g->mem_mib : least.mib;
	}
	*ret = least;
	return least.milli != INT64_MAX;
}

static void send(const struct picture *picture, struct resize *r, const struct world_pod *p,
	struct share share, struct emitter *out)
{
	CLEANUP(arena_finish) struct arena arena = {.block_bytes = 1024};
	const struct pod pod = pod_of(p, &arena);
	if (text_equals(r->rv, pod.resource_version) && picture->time->now < r->rest_until) {
		wake_by(picture->time, r->rest_until);
		return;
	}
	struct action *a = emit_about(out, ACTION_RESIZE, about_pod(p));
	a->resource_version = arena_strdup(&out->plan->arena, pod.resource_version);
	a->milli = share.milli;
	a->mem_mib = share.mib;
	a->policy = policy_stamp(picture->world, &pod, &out->plan->arena);
	bool again = text_equals(r->rv, pod.resource_version);
	text_set(&r->rv, pod.resource_version);
	r->flight = a->id;
	picture->book->flights.told++;
	r->sent = share;
	r->most = again ? larger(r->most, share) : share;
	r->sealed = false;
}

/* Nobody wants anything for it, and its books differ: it gets what all of its ledgers have. */
static void follow(struct picture *picture, struct resize *r, struct share ledger)
{
	r->behind_since = r->behind_since > 0 ? r->behind_since : picture->time->now;
	int64_t due = r->behind_since + BEHIND_MS;
	if (picture->time->now < due) {
		wake_by(picture->time, due);
		return;
	}
	r->want = ledger;
	r->follows = true;
	picture->time->dirty = true;
}

static void tell(
	struct picture *picture, struct resize *r, const struct world_pod *p, struct emitter *out)
{
	struct share ledger = {0};
	if (r->flight != 0 || p->gpu->mps || p->gpu->gated || p->deleting ||
		world_pod_terminal(p) || !flights_room(picture->book) ||
		!ledgers_have(picture, p, &ledger)) {
		return;
	}
	if (r->want.milli == 0) {
		follow(picture, r, ledger);
		return;
	}
	bool settled = same(told(p), r->want) &&
		       ((r->sealed && same(r->sent, r->want)) || entries_say(picture, p, r->want));
	bool sure = covers(told(p), r->want) || all_sure(picture, p);
	if (!settled && sure && covers(ledger, r->want)) {
		send(picture, r, p, r->want, out);
	}
}

void resizes_emit(struct resizes *resizes, struct emitter *out)
{
	struct picture *picture = resizes->picture;
	vec_for_each (const uint32_t, slot, &resizes->behind) {
		(void)resize_touch(resizes, world_pod_uid(world_pod_at(picture->world, *slot)));
	}
	for (uint32_t i = 0; i < resizes->awake; i++) {
		struct resize *r = &resizes->items.items[i];
		const struct world_pod *p = world_pod_by_uid(picture->world, r->uid);
		if (p != NULL && p->gpu->class == WORLD_TENANT) {
			tell(picture, r, p, out);
		}
	}
}

/* It has what is wanted, and so it stays until something about it changes. */
static bool has_it(const struct resize *r)
{
	return r->want.milli > 0 && !r->follows && r->flight == 0 &&
	       (r->state == SHARE_HELD || r->state == SHARE_MEMORY_STAYS);
}

void resizes_sweep(struct resizes *resizes)
{
	const struct picture *picture = resizes->picture;
	for (uint32_t i = resizes->awake; i-- > 0;) {
		const struct resize *r = &resizes->items.items[i];
		const struct world_pod *p = world_pod_by_uid(picture->world, r->uid);
		bool gone = p == NULL || world_pod_terminal(p);
		bool idle = r->want.milli == 0 && picture->time->now >= r->rest_until &&
			    (p == NULL || (entries_say(picture, p, told(p)) && !is_open(r, p)));
		if (r->flight == 0 && (gone || idle)) {
			resize_forget(resizes, i);
		} else if (has_it(r)) {
			resize_rest(resizes, i);
		}
	}
}
