/* How many GPUs are asked for, and for whom. */
#include "capacity/scale.h"

#include <stdio.h>

#include "capacity/standin.h"
#include "demand/node_pools.h"
#include "demand/rank.h"
#include "demand/wholes.h"
#include "ledger/ledger.h"
#include "model/names.h"
#include "scale_where.h"

#define COMPANION_HEAD "companion-up-"
#define GIVE_UP_MS     1200000
#define REST_MS	       1200000
/* A companion that does not go is asked again. */
#define COMPANION_GONE_MS 5000
/* Of GPUs of which nothing is known. */
#define GUESS_MIB 16384

static bool waits_for_a_node(const struct holder *h)
{
	return holder_asks_for_node(h) && text_empty(h->pod.node);
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

/* C34: of the nodes that there are it may go only to those whose GPUs somebody else gives out. One
 * more would be like them. */
static bool is_for_others(const struct scale *scale, const struct waiter *w)
{
	struct unfit_tally why;
	return pools_refuse(scale->pools, scale->picture->world, &w->pod, NULL, &why);
}

static bool asks(struct scale *scale, const struct waiter *w)
{
	const struct picture *picture = scale->picture;
	if (w->passed.lacks_since < 0 || w->hold.uuid != NULL || !is_short(w->reason)) {
		return false;
	}
	wake_by(picture->time, w->passed.lacks_since + picture->cfg->scale_up_ms);
	return picture->time->now - w->passed.lacks_since >= picture->cfg->scale_up_ms &&
	       !is_for_others(scale, w);
}

static int64_t rests_until(const struct scale *scale, uint64_t key)
{
	vec_for_each (const struct scale_rest, r, &scale->rests) {
		if (r->key == key) {
			return r->until;
		}
	}
	return 0;
}

/* The largest that is known, since it is not known which will come. */
static int64_t guess_mib(const struct picture *picture)
{
	int64_t most = 0;
	vec_for_each (const struct place_node, n, &picture->snap.nodes) {
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

static uint32_t gpus_asked(const struct scale *scale)
{
	uint32_t sum = 0;
	vec_for_each (const struct scale_bin, b, &scale->bins) {
		sum += b->gpus;
	}
	return sum;
}

/* The first GPUs with room, or more of them; NULL: there are enough already. */
static struct scale_bin *bin_for(
	struct scale *scale, uint64_t key, const struct waiter *w, int64_t milli, int64_t mib)
{
	vec_for_each (struct scale_bin, b, &scale->bins) {
		if (bin_takes(b, key, w, milli, mib)) {
			return b;
		}
	}
	if (waiter_count(w) > SCALE_MOST - gpus_asked(scale)) {
		return NULL;
	}
	struct scale_bin made = {.key = key,
		.first = w,
		.gpus = waiter_count(w),
		.milli = MODEL_GPU_MILLI,
		.mem_mib = INT64_MAX,
		.company = w->asked.company,
		.max_tenants = w->asked.max_tenants};
	VEC_PUSH(&scale->bins, made);
	return &scale->bins.items[scale->bins.count - 1];
}

/* Only compute bounds a GPU of which nothing is known; memory is turned into compute by a guess. */
static void pack(struct scale *scale, uint64_t key, const struct waiter *w, int64_t guess)
{
	int64_t milli = w->asked.milli;
	if (milli == 0) {
		milli = share_milli_of_memory(w->asked.mem_mib, guess);
	}
	milli = milli > MODEL_GPU_MILLI ? MODEL_GPU_MILLI : milli;
	struct scale_bin *b = bin_for(scale, key, w, milli, 0);
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

/* Since when the group's first one waits; 0: none does. */
static int64_t asked_since(const struct scale *scale, uint64_t key)
{
	int64_t since = 0;
	vec_for_each (const struct scale_asked, a, &scale->asked) {
		since = a->key == key && (since == 0 || a->since < since) ? a->since : since;
	}
	return since;
}

static void rest(struct scale *scale, uint64_t key, struct waiter *w, int64_t asked_for_s)
{
	struct scale_rest made = {key, scale->picture->time->now + REST_MS};
	VEC_PUSH(&scale->rests, made);
	w->reason = REASON_NO_SCALE_UP;
	w->asked_for_s = asked_for_s;
}

/* Karpenter labels what it makes; both mark what they are about to take away. */
static bool is_of_autoscaler(const struct node *n)
{
	static const char *const labels[] = {
		"karpenter.sh/nodepool", "karpenter.sh/provisioner-name"};
	static const char *const taints[] = {
		"ToBeDeletedByClusterAutoscaler", "DeletionCandidateOfClusterAutoscaler"};
	for (size_t i = 0; i < COUNT_OF(labels); i++) {
		if (pairs_get(&n->labels, labels[i]) != NULL) {
			return true;
		}
	}
	for (uint32_t i = 0; i < n->taint_count; i++) {
		if (text_equals(n->taints[i].key, taints[0]) ||
			text_equals(n->taints[i].key, taints[1])) {
			return true;
		}
	}
	return false;
}

/* Once seen it stays so: a cluster without nodes has nothing that would show it. Looked at only
 * where something is refused. */
static void note_answers(struct scale *scale)
{
	bool matters = false;
	vec_for_each (const struct standin, s, &scale->standins) {
		matters = matters || s->refusal[0] != '\0';
	}
	for (uint32_t i = 0;
		i < world_node_slots(scale->picture->world) && matters && !scale->answered; i++) {
		const struct world_node *n = world_node_at(scale->picture->world, i);
		scale->answered = n->known && is_of_autoscaler(&n->noun);
	}
}

static void look_at(struct scale *scale, struct waiter *w, int64_t guess)
{
	const struct picture *picture = scale->picture;
	uint64_t key = scale_key(picture->world, w);
	if (picture->time->now < rests_until(scale, key)) {
		wake_by(picture->time, rests_until(scale, key));
		w->reason = REASON_NO_SCALE_UP;
		return;
	}
	int64_t since = asked_since(scale, key);
	if (since > 0 && picture->time->now - since >= GIVE_UP_MS) {
		rest(scale, key, w, GIVE_UP_MS / 1000);
		return;
	}
	if (standins_in_vain(scale, key)) {
		rest(scale, key, w, 0);
		return;
	}
	if (since > 0) {
		wake_by(picture->time, since + GIVE_UP_MS);
		w->asked_for_s = (picture->time->now - since) / 1000;
	}
	const char *refusal = standins_refused(scale, key);
	if (refusal != NULL && scale->answered) {
		w->reason = REASON_POLICY_REFUSED;
		text_set(&w->refusal, refusal);
	}
	pack(scale, key, w, guess);
}

const char *scale_refusal(struct scale *scale, const struct waiter *w)
{
	bool rests = w->reason == REASON_NO_SCALE_UP;
	return scale->picture->cfg->scale_up_ms > 0 && !rests && asks(scale, w)
		       ? standins_refused(scale, scale_key(scale->picture->world, w))
		       : NULL;
}

static void gather(struct scale *scale, const struct ranked *ranked)
{
	int64_t guess = guess_mib(scale->picture);
	VEC_CLEAR(&scale->asked);
	standins_asked(scale);
	note_answers(scale);
	VEC_CLEAR(&scale->bins);
	for (size_t i = scale->rests.count; i-- > 0;) {
		if (scale->picture->time->now >= scale->rests.items[i].until) {
			VEC_REMOVE_SWAP(&scale->rests, i);
		}
	}
	for (size_t i = 0; i < ranked->count; i++) {
		struct waiter *w = ranked->items[i];
		w->asked_for_s = 0;
		if (asks(scale, w)) {
			look_at(scale, w, guess);
		}
	}
}

/* --- asking --- */

static void companion_name(const struct holder *h, char *name, size_t room)
{
	snprintf(name, room, COMPANION_HEAD "%.40s", h->name + strlen(CAPACITY_UP_HEAD));
}

static const struct world_pod *companion_of(const struct world *world, const struct holder *h)
{
	char name[64];
	companion_name(h, name, sizeof name);
	return world_pod_find(world, NAME_NAMESPACE, name);
}

/* Those before it in its group have the lower slots. */
static uint32_t first_slot(const struct scale *scale, size_t bin)
{
	uint32_t slot = 0;
	for (size_t i = 0; i < bin; i++) {
		const struct scale_bin *b = &scale->bins.items[i];
		slot = b->key == scale->bins.items[bin].key ? b->next : slot;
	}
	return slot;
}

static void ask(struct scale *scale, struct emitter *out)
{
	for (size_t i = 0; i < scale->bins.count; i++) {
		struct scale_bin *b = &scale->bins.items[i];
		enum slot filled = SLOT_TAKEN;
		for (b->next = first_slot(scale, i);
			b->next < 2 * SCALE_MOST && filled == SLOT_TAKEN; b->next++) {
			filled = standin_fill(scale, b, out);
		}
	}
}

/* What waits at the scheduler comes before everybody there, and would have the GPU that is kept for
 * a whole pod. So none waits while there is one that could be bound, or that others leave for. */
static bool whole_is_served(const struct wholes *wholes)
{
	bool served = false;
	vec_for_each (struct whole *const, w, &wholes->ranked) {
		served = served || (*w)->fits || whole_is_held(wholes, *w);
	}
	return served;
}

/* What versions before made: capacity pods that wait without a pin, and their companions. Those
 * that are bound are capacity pods like any other. */
static void let_old_go(const struct picture *picture, struct emitter *out)
{
	for (size_t i = 0; i < picture->book->holders.count; i++) {
		struct holder *h = picture->book->holders.items[i];
		if (!holder_asks_for_node(h) || h->seen != picture->time->step) {
			continue;
		}
		if (waits_for_a_node(h) && holder_may_go(h)) {
			emit_delete(out, h);
		}
		const struct world_pod *p = companion_of(picture->world, h);
		bool due = picture->time->now - h->companion_gone_at >= COMPANION_GONE_MS ||
			   h->companion_gone_at == 0;
		if (p != NULL && !p->deleting && h->pod.identity != NULL && due) {
			emit_companion_delete(out, p);
			h->companion_gone_at = picture->time->now;
		}
	}
}

void scale_up(struct scale *scale, const struct ranked *ranked, const struct wholes *wholes,
	struct emitter *out)
{
	const struct picture *picture = scale->picture;
	if (picture->cfg->scale_up_ms > 0) {
		gather(scale, ranked);
	}
	/* An unfinished step has not looked at everybody. */
	if (out->plan->unfinished) {
		return;
	}
	if (picture->cfg->scale_up_ms > 0 && !whole_is_served(wholes)) {
		ask(scale, out);
	}
	let_old_go(picture, out);
	standins_let_go(scale, out);
}

void scale_discount(struct scale *scale)
{
	const struct picture *picture = scale->picture;
	standins_mark(scale);
	for (size_t i = 0; i < picture->book->holders.count; i++) {
		const struct holder *h = picture->book->holders.items[i];
		const struct world_pod *p =
			holder_asks_for_node(h) ? companion_of(picture->world, h) : NULL;
		uint32_t at = p != NULL && p->node < picture->node_to_snap.count
				      ? picture->node_to_snap.items[p->node]
				      : WORLD_NONE;
		if (at != WORLD_NONE && !world_pod_terminal(p)) {
			struct place_node *n = &picture->snap.nodes.items[at];
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
