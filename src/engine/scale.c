/* How many capacity pods wait for a node, and for whom. */
#include "scale.h"

#include <stdio.h>
#include <stdlib.h>

#include "model/names.h"
#include "state.h"

#define NAME_HEAD      "capacity-up-"
#define COMPANION_HEAD "companion-up-"
#define GIVE_UP_MS     1200000
#define REST_MS	       1200000
/* A companion that was not made, or that does not go, is asked for again. */
#define COMPANION_EVERY_MS 60000
#define COMPANION_GONE_MS  5000
/* Of GPUs of which nothing is known. */
#define GUESS_MIB 16384

bool scale_is_one(const struct holder *h)
{
	return strncmp(h->name, NAME_HEAD, strlen(NAME_HEAD)) == 0;
}

static bool waits_for_a_node(const struct holder *h)
{
	return scale_is_one(h) && text_empty(h->pod.node);
}

static bool is_going(const struct holder *h)
{
	return h->deleted || h->pod.deleting_ms != 0 || pod_is_terminal(&h->pod) ||
	       (h->flight != 0 && h->flight_type == ACTION_DELETE_CAPACITY);
}

/* --- who needs what --- */

static bool is_short(enum reason reason)
{
	return reason == REASON_NO_GPU_NODE || reason == REASON_SHORT_GPUS ||
	       reason == REASON_SHORT_COMPUTE || reason == REASON_SHORT_MEMORY ||
	       reason == REASON_MAX_TENANTS || reason == REASON_NODE_UNFIT ||
	       reason == REASON_EXCLUSIVE || reason == REASON_OTHER_SHARING ||
	       reason == REASON_RUNTIME_CLASS || reason == REASON_GPU_UNHEALTHY ||
	       reason == REASON_MPS_HELD_OFF || reason == REASON_NO_SCALE_UP ||
	       reason == REASON_RESERVED || reason == REASON_WHOLE_POD_FIRST;
}

static bool asks(struct engine *e, const struct waiter *w)
{
	if (w->passed.lacks_since < 0 || w->hold.uuid != NULL || !is_short(w->reason)) {
		return false;
	}
	wake_by(e, w->passed.lacks_since + e->cfg.scale_up_ms);
	return e->now - w->passed.lacks_since >= e->cfg.scale_up_ms;
}

static int64_t rests_until(const struct engine *e, uint64_t key)
{
	vec_for_each (const struct scale_rest, r, &e->scale.rests) {
		if (r->key == key) {
			return r->until;
		}
	}
	return 0;
}

/* The largest that is known, since it is not known which will come. */
static int64_t guess_mib(const struct engine *e)
{
	int64_t most = 0;
	vec_for_each (const struct place_node, n, &e->snap.nodes) {
		most = n->gpu_mem_mib > most ? n->gpu_mem_mib : most;
	}
	return most > 0 ? most : GUESS_MIB;
}

static bool bin_takes(
	const struct scale_bin *b, uint64_t key, const struct waiter *w, int64_t milli, int64_t mib)
{
	uint32_t most =
		b->max_tenants < w->asked.max_tenants ? b->max_tenants : w->asked.max_tenants;
	return b->key == key && b->company == w->asked.company && b->tenants < most &&
	       b->gpus == waiter_count(w) && b->milli >= milli && b->mem_mib >= mib;
}

static uint32_t gpus_asked(const struct engine *e)
{
	uint32_t sum = 0;
	vec_for_each (const struct scale_bin, b, &e->scale.bins) {
		sum += b->gpus;
	}
	return sum;
}

/* The first GPUs with room, or more of them; NULL: there are enough already. */
static struct scale_bin *bin_for(
	struct engine *e, uint64_t key, const struct waiter *w, int64_t milli, int64_t mib)
{
	vec_for_each (struct scale_bin, b, &e->scale.bins) {
		if (bin_takes(b, key, w, milli, mib)) {
			return b;
		}
	}
	if (waiter_count(w) > SCALE_MOST - gpus_asked(e)) {
		return NULL;
	}
	struct scale_bin made = {.key = key,
		.first = w,
		.gpus = waiter_count(w),
		.milli = MODEL_GPU_MILLI,
		.mem_mib = INT64_MAX,
		.company = w->asked.company,
		.max_tenants = w->asked.max_tenants};
	VEC_PUSH(&e->scale.bins, made);
	return &e->scale.bins.items[e->scale.bins.count - 1];
}

/* Only compute bounds a GPU of which nothing is known; memory is turned into compute by a guess. */
static void pack(struct engine *e, uint64_t key, const struct waiter *w, int64_t guess)
{
	int64_t milli = w->asked.milli;
	if (milli == 0) {
		milli = share_milli_of_memory(w->asked.mem_mib, guess);
	}
	milli = milli > MODEL_GPU_MILLI ? MODEL_GPU_MILLI : milli;
	struct scale_bin *b = bin_for(e, key, w, milli, 0);
	if (b == NULL) {
		return;
	}
	b->milli -= milli;
	b->tenants++;
	b->cpu_milli += w->pod.cpu_milli;
	b->mem_bytes += w->pod.mem_bytes;
	b->max_tenants =
		w->asked.max_tenants < b->max_tenants ? w->asked.max_tenants : b->max_tenants;
}

/* Since when the group's first capacity pod waits; 0: none does. */
static int64_t asked_since(const struct engine *e, uint64_t key)
{
	int64_t since = 0;
	vec_for_each (const struct scale_asked, a, &e->scale.asked) {
		since = a->key == key && (since == 0 || a->since < since) ? a->since : since;
	}
	return since;
}

static void gather_asked(struct engine *e)
{
	VEC_CLEAR(&e->scale.asked);
	for (size_t i = 0; i < e->holders.count; i++) {
		const struct holder *h = e->holders.items[i];
		struct scale_asked made = {.since = h->opened_at};
		if (waits_for_a_node(h) && h->seen == e->step && !is_going(h)) {
			made.key = strtoull(h->name + strlen(NAME_HEAD), NULL, 16);
			VEC_PUSH(&e->scale.asked, made);
		}
	}
	standins_asked(e);
}

static void look_at(struct engine *e, struct waiter *w, int64_t guess)
{
	uint64_t key = scale_key(e, w);
	if (e->now < rests_until(e, key)) {
		wake_by(e, rests_until(e, key));
		w->reason = REASON_NO_SCALE_UP;
		w->asked_for_s = GIVE_UP_MS / 1000;
		return;
	}
	int64_t since = asked_since(e, key);
	if (since > 0 && e->now - since >= GIVE_UP_MS) {
		struct scale_rest rest = {key, e->now + REST_MS};
		VEC_PUSH(&e->scale.rests, rest);
		w->reason = REASON_NO_SCALE_UP;
		w->asked_for_s = GIVE_UP_MS / 1000;
		return;
	}
	if (since > 0) {
		wake_by(e, since + GIVE_UP_MS);
		w->asked_for_s = (e->now - since) / 1000;
	}
	pack(e, key, w, guess);
}

static void gather(struct engine *e)
{
	int64_t guess = guess_mib(e);
	gather_asked(e);
	VEC_CLEAR(&e->scale.bins);
	for (size_t i = e->scale.rests.count; i-- > 0;) {
		if (e->now >= e->scale.rests.items[i].until) {
			VEC_REMOVE_SWAP(&e->scale.rests, i);
		}
	}
	for (size_t i = 0; i < e->ranked.count; i++) {
		struct waiter *w = e->ranked.items[i].waiter;
		w->asked_for_s = 0;
		if (asks(e, w)) {
			look_at(e, w, guess);
		}
	}
}

/* --- asking --- */

static void companion_name(const struct holder *h, char *name, size_t room)
{
	snprintf(name, room, COMPANION_HEAD "%.40s", h->name + strlen(NAME_HEAD));
}

static const struct world_pod *companion_of(const struct engine *e, const struct holder *h)
{
	char name[64];
	companion_name(h, name, sizeof name);
	return world_pod_find(e->world, NAME_NAMESPACE, name);
}

static bool create(struct engine *e, const struct scale_bin *b, const char *name,
	struct holder *again, struct plan *plan)
{
	struct action probe = {.unpinned = true};
	if (!scale_where(e, b->first, &plan->arena, &probe)) {
		return false;
	}
	struct holder *h = again != NULL ? again : holder_touch(e, name, e->now);
	h->opened_at = again != NULL ? h->opened_at : e->now;
	emit_create_again(e, h, &b->first->pod, plan);
	struct action *a = &plan->actions.items[plan->actions.count - 1];
	a->unpinned = true;
	a->where_labels = probe.where_labels;
	a->where_terms = probe.where_terms;
	a->where_count = probe.where_count;
	h->wanted = e->step;
	return true;
}

static void create_companion(
	struct engine *e, struct holder *h, const struct scale_bin *b, struct plan *plan)
{
	char name[64];
	bool due = h->companion_at == 0 || e->now - h->companion_at >= COMPANION_EVERY_MS;
	if (!due || !h->in_world || h->flight != 0 || companion_of(e, h) != NULL ||
		(b->cpu_milli <= 0 && b->mem_bytes <= 0)) {
		return;
	}
	companion_name(h, name, sizeof name);
	struct action *a = emit_companion(e, name, &b->first->pod, plan);
	a->capacity_pod = arena_strdup(&plan->arena, h->name);
	a->uid = arena_strdup(&plan->arena, h->uid);
	a->cpu_milli = b->cpu_milli;
	a->mem_bytes = b->mem_bytes;
	h->companion_at = e->now;
}

static enum slot make(struct engine *e, const struct scale_bin *b, const char *name,
	struct holder *again, struct plan *plan)
{
	return create(e, b, name, again, plan) ? SLOT_WAITS : SLOT_IMPOSSIBLE;
}

/* This slot of the group: one that waits already, or is made to now. */
static enum slot fill_slot(struct engine *e, const struct scale_bin *b, struct plan *plan)
{
	char name[64];
	if (b->gpus > 1) {
		return standin_fill(e, b, plan);
	}
	snprintf(name, sizeof name, NAME_HEAD "%012llx-%u", (unsigned long long)b->key, b->next);
	struct holder *h = holder_find(e, name);
	/* One that was asked for and never seen is forgotten with this step. */
	if (h == NULL || (!h->in_world && h->seen != e->step)) {
		bool free = world_pod_find(e->world, NAME_NAMESPACE, name) == NULL;
		return free ? make(e, b, name, NULL, plan) : SLOT_TAKEN;
	}
	if (!waits_for_a_node(h) || is_going(h)) {
		return SLOT_TAKEN;
	}
	h->wanted = e->step;
	if (!h->in_world && h->flight == 0 && h->refusal != NULL) {
		wake_by(e, h->retry_at);
		return e->now < h->retry_at ? SLOT_WAITS : make(e, b, name, h, plan);
	}
	create_companion(e, h, b, plan);
	return SLOT_WAITS;
}

/* Those before it in its group have the lower slots. */
static uint32_t first_slot(const struct engine *e, size_t bin)
{
	uint32_t slot = 0;
	for (size_t i = 0; i < bin; i++) {
		const struct scale_bin *b = &e->scale.bins.items[i];
		slot = b->key == e->scale.bins.items[bin].key ? b->next : slot;
	}
	return slot;
}

static void ask(struct engine *e, struct plan *plan)
{
	for (size_t i = 0; i < e->scale.bins.count; i++) {
		struct scale_bin *b = &e->scale.bins.items[i];
		enum slot filled = SLOT_TAKEN;
		for (b->next = first_slot(e, i); b->next < 2 * SCALE_MOST && filled == SLOT_TAKEN;
			b->next++) {
			filled = fill_slot(e, b, plan);
		}
	}
}

/* What waits at the scheduler comes before everybody there, and would have the GPU that is kept for
 * a whole pod. So none waits while there is one that could be bound, or that others leave for. */
static bool whole_is_served(const struct engine *e)
{
	bool served = false;
	vec_for_each (struct whole *const, w, &e->wholes.ranked) {
		served = served || (*w)->fits || whole_is_held(e, *w);
	}
	return served;
}

/* Fewer are needed than wait; and where the GPU is open, tenants come themselves. */
static void let_go(struct engine *e, struct plan *plan)
{
	for (size_t i = 0; i < e->holders.count; i++) {
		struct holder *h = e->holders.items[i];
		if (!scale_is_one(h) || h->seen != e->step) {
			continue;
		}
		if (waits_for_a_node(h) && h->wanted != e->step && holder_may_go(h)) {
			emit_delete(e, h, plan);
		}
		const struct world_pod *p = companion_of(e, h);
		bool due = e->now - h->companion_gone_at >= COMPANION_GONE_MS ||
			   h->companion_gone_at == 0;
		if (p != NULL && !p->deleting && h->pod.identity != NULL && due) {
			emit_companion_delete(e, p, plan);
			h->companion_gone_at = e->now;
		}
	}
	standins_let_go(e, plan);
}

void scale_up(struct engine *e, struct plan *plan)
{
	if (e->cfg.scale_up_ms > 0) {
		gather(e);
	}
	/* An unfinished step has not looked at everybody. */
	if (plan->unfinished || e->resume != 0) {
		return;
	}
	if (e->cfg.scale_up_ms > 0 && !whole_is_served(e)) {
		ask(e, plan);
	}
	let_go(e, plan);
}

void scale_discount(struct engine *e)
{
	standins_mark(e);
	for (size_t i = 0; i < e->holders.count; i++) {
		const struct holder *h = e->holders.items[i];
		const struct world_pod *p = scale_is_one(h) ? companion_of(e, h) : NULL;
		uint32_t at = p != NULL && p->node < e->node_to_snap.count
				      ? e->node_to_snap.items[p->node]
				      : WORLD_NONE;
		if (at != WORLD_NONE && !world_pod_terminal(p)) {
			struct place_node *n = &e->snap.nodes.items[at];
			n->free_cpu_milli += p->takes->cpu_milli;
			n->free_mem_bytes += p->takes->mem_bytes;
			n->free_slots++;
		}
	}
}

void scale_forget(struct scale *s)
{
	VEC_CLEAR(&s->rests);
	VEC_CLEAR(&s->bins);
	VEC_CLEAR(&s->asked);
	VEC_CLEAR(&s->standins);
}

void scale_finish(struct scale *s)
{
	VEC_FINISH(&s->rests);
	VEC_FINISH(&s->bins);
	VEC_FINISH(&s->asked);
	VEC_FINISH(&s->standins);
	VEC_FINISH(&s->there);
}
