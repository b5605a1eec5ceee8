/* What stands in for tenants and asks for a node (C14).
 *
 * Capacity pods that are not pinned could not be made to land where their tenants fit: one takes
 * the first GPU that is free, and those of a tenant of several land apart. A pod is what the
 * scheduler and autoscalers place whole or not at all. So one pod asks for all the GPUs, with the
 * CPU and memory of its tenants and of the capacity pods, and a low priority: it displaces nobody
 * and is displaced by anybody. Once it is bound it holds that node against being taken away as
 * empty, and the picture has its GPUs as free. When a tenant would open one of them it goes, and a
 * moment later the tenant does. */
#include "capacity/standin.h"

#include <stdio.h>

#include "capacity/scale.h"
#include "ledger/ledger.h"
#include "model/names.h"
#include "model/refusal.h"
#include "scale_where.h"

#define NAME_HEAD "companion-several-"
/* One that was not made, or that does not go, is asked for again. */
#define EVERY_MS      30000
#define GONE_EVERY_MS 5000
/* A kubelet has its devices back some time after their pod has gone, and a capacity pod that comes
 * before would fail. */
#define FREE_MS 3000

bool standin_is_one(const struct world_pod *p)
{
	const char *name = world_pod_name(p);
	return strncmp(name, NAME_HEAD, strlen(NAME_HEAD)) == 0 &&
	       strlen(name) < STANDIN_NAME_MAX && strcmp(p->ns, NAME_NAMESPACE) == 0;
}

static struct standin *find(struct scale *scale, const char *name)
{
	vec_for_each (struct standin, s, &scale->standins) {
		if (strcmp(s->name, name) == 0) {
			return s;
		}
	}
	return NULL;
}

static struct standin *touch(struct scale *scale, const char *name)
{
	struct standin *s = find(scale, name);
	if (s == NULL) {
		struct standin made = {.since = scale->picture->time->now,
			.nodes = (uint32_t)scale->picture->snap.nodes.count};
		snprintf(made.name, sizeof made.name, "%s", name);
		VEC_PUSH(&scale->standins, made);
		s = &scale->standins.items[scale->standins.count - 1];
	}
	return s;
}

static bool is_over(const struct world_pod *p)
{
	return p->deleting || world_pod_terminal(p);
}

/* --- in the picture --- */

static void gather(struct scale *scale, enum world_class class)
{
	for (size_t i = 0; i < world_class_count(scale->picture->world, class); i++) {
		const struct world_pod *p = world_class_at(scale->picture->world, class, i);
		if (standin_is_one(p)) {
			VEC_PUSH(&scale->there, p);
		}
	}
}

static void note_bound(struct scale *scale, const struct world_pod *p)
{
	const struct picture *picture = scale->picture;
	struct standin *s = touch(scale, world_pod_name(p));
	const struct world_node *n = world_node_at(picture->world, p->node);
	if (s->landed_at == 0 || strcmp(s->node, text_or(n->name, "")) != 0) {
		s->landed_at = picture->time->now > 0 ? picture->time->now : 1;
		/* Nodes have come since. A GPU of one that was there may just have got free. */
		scale->answered = scale->answered || picture->snap.nodes.count > s->nodes;
		s->yields = s->served = false;
	}
	snprintf(s->node, sizeof s->node, "%s", text_or(n->name, ""));
	s->free_at = picture->time->now + FREE_MS;
}

/* As if it were not there; whoever opens a GPU waits until it has gone. */
static void discount(struct picture *picture, const struct world_pod *p)
{
	uint32_t at = p->node < picture->node_to_snap.count ? picture->node_to_snap.items[p->node]
							    : WORLD_NONE;
	if (at == WORLD_NONE || is_over(p)) {
		return;
	}
	struct place_node *n = &picture->snap.nodes.items[at];
	n->free_gpus += p->gpu->gpus;
	n->free_cpu_milli += p->takes->cpu_milli;
	n->free_mem_bytes += p->takes->mem_bytes;
	n->free_slots++;
}

void standins_mark(struct scale *scale)
{
	struct picture *picture = scale->picture;
	VEC_CLEAR(&scale->there);
	gather(scale, WORLD_WHOLE);
	gather(scale, WORLD_PENDING);
	vec_for_each (const struct world_pod *const, each, &scale->there) {
		if ((*each)->node != WORLD_NONE) {
			note_bound(scale, *each);
			discount(picture, *each);
		}
	}
	vec_for_each (const struct standin, s, &scale->standins) {
		uint32_t at = picture->time->now < s->free_at ? snap_node_of(picture, s->node)
							      : WORLD_NONE;
		const struct world_pod *p = world_pod_find(picture->world, NAME_NAMESPACE, s->name);
		if (at != WORLD_NONE && (p == NULL || is_over(p))) {
			picture->snap.nodes.items[at].no_opening = true;
			wake_by(picture->time, s->free_at);
		}
	}
}

bool standins_yield(struct scale *scale, const char *node)
{
	bool held = false;
	vec_for_each (struct standin, s, &scale->standins) {
		const struct world_pod *p =
			strcmp(s->node, node) == 0
				? world_pod_find(scale->picture->world, NAME_NAMESPACE, s->name)
				: NULL;
		if (p != NULL && p->node != WORLD_NONE && !is_over(p)) {
			s->yields = held = true;
		}
	}
	return held;
}

/* --- after it was bound --- */

static uint64_t key_of(const char *name)
{
	return strtoull(name + strlen(NAME_HEAD), NULL, 16);
}

/* A GPU was opened there since it was bound. */
static bool is_from(const struct standin *s, const struct holder *h)
{
	return h->opened_at >= s->landed_at && text_equals(h->node, s->node);
}

static bool has_served(struct book *book, struct standin *s)
{
	for (size_t i = 0; i < book->holders.count && !s->served; i++) {
		const struct holder *h = book->holders.items[i];
		s->served = h->has_grace && is_from(s, h);
	}
	return s->served;
}

/* It goes or has gone for a tenant, who is about to have its GPU and needs no other. */
static bool is_spent(struct book *book, const struct standin *s)
{
	const struct world_pod *p = world_pod_find(book->world, NAME_NAMESPACE, s->name);
	bool opens = p != NULL || book->time->now < s->free_at;
	for (size_t i = 0; i < book->holders.count && !opens; i++) {
		const struct holder *h = book->holders.items[i];
		opens = h->seen == book->time->step && is_from(s, h) && !h->deleted &&
			h->pod.deleting_ms == 0 && !pod_is_terminal(&h->pod);
	}
	return s->landed_at != 0 && s->yields && opens;
}

/* It has got a node, for which no other one is to come. Not where somebody else has its GPUs by
 * now; but where the node has gone again: another one would too. */
static bool counts(struct picture *picture, struct standin *s)
{
	if (s->landed_at == 0 || has_served(picture->book, s) || is_spent(picture->book, s)) {
		return false;
	}
	uint32_t at = snap_node_of(picture, s->node);
	return at == WORLD_NONE || picture->time->now < s->free_at || scale_node_gives(picture, at);
}

bool standins_in_vain(struct scale *scale, uint64_t key)
{
	struct picture *picture = scale->picture;
	/* A node counts whose tenants do not fit there, or not yet: its labels, its runtime class
	 * and whatever else GPU software sets come minutes after its GPUs. */
	int64_t serve_ms = picture->cfg->serve_ms;
	vec_for_each (struct standin, s, &scale->standins) {
		if (key_of(s->name) != key || !counts(picture, s)) {
			continue;
		}
		if (picture->time->now - s->landed_at >= serve_ms) {
			return true;
		}
		wake_by(picture->time, s->landed_at + serve_ms);
	}
	return false;
}

/* --- asking --- */

void standins_asked(struct scale *scale)
{
	vec_for_each (const struct world_pod *const, each, &scale->there) {
		const char *name = world_pod_name(*each);
		if ((*each)->node == WORLD_NONE && !is_over(*each)) {
			struct scale_asked made = {.since = touch(scale, name)->since};
			made.key = key_of(name);
			VEC_PUSH(&scale->asked, made);
		}
	}
}

/* Somebody of this group is about to have a GPU, and others may have room on it. */
static bool group_opens(struct scale *scale, uint64_t key)
{
	vec_for_each (struct standin, s, &scale->standins) {
		if (key_of(s->name) == key && !s->served && is_spent(scale->picture->book, s)) {
			return true;
		}
	}
	return false;
}

static enum slot send(
	struct picture *picture, const struct scale_bin *b, struct standin *s, struct emitter *out)
{
	struct action where = {.unpinned = true};
	struct place_node taken = {.runtime = runtime_of(picture->runtime)};
	if (s->sent_at != 0 && picture->time->now - s->sent_at < EVERY_MS) {
		wake_by(picture->time, s->sent_at + EVERY_MS);
		return SLOT_WAITS;
	}
	if (!scale_where(picture, b->first, &out->plan->arena, &where)) {
		return SLOT_IMPOSSIBLE;
	}
	for (uint32_t i = 0; i < b->gpus; i++) {
		place_reserve_capacity(&taken, b->first->asked.mps);
	}
	struct action *a = emit_companion(out, s->name, &b->first->pod);
	a->unpinned = true;
	a->where_labels = where.where_labels;
	a->where_terms = where.where_terms;
	a->where_count = where.where_count;
	a->gpus = b->gpus;
	a->cpu_milli = b->cpu_milli - taken.free_cpu_milli;
	a->mem_bytes = b->mem_bytes - taken.free_mem_bytes;
	s->sent_at = picture->time->now;
	s->nodes = (uint32_t)picture->snap.nodes.count;
	s->flight = a->id;
	return SLOT_WAITS;
}

void standin_settle(struct scale *scale, uint64_t id, const struct outcome *o)
{
	vec_for_each (struct standin, s, &scale->standins) {
		if (s->flight == id) {
			char name[REFUSAL_NAME_MAX];
			s->flight = 0;
			bool refused = refusal_by_policy(o->fault.message, name);
			snprintf(s->refusal, sizeof s->refusal, "%s",
				refused ? o->fault.message : "");
			return;
		}
	}
}

const char *standins_refused(const struct scale *scale, uint64_t key)
{
	vec_for_each (const struct standin, s, &scale->standins) {
		bool there = world_pod_find(scale->picture->world, NAME_NAMESPACE, s->name) != NULL;
		if (key_of(s->name) == key && !there && s->refusal[0] != '\0') {
			return s->refusal;
		}
	}
	return NULL;
}

enum slot standin_fill(struct scale *scale, const struct scale_bin *b, struct emitter *out)
{
	struct picture *picture = scale->picture;
	char name[STANDIN_NAME_MAX];
	snprintf(name, sizeof name, NAME_HEAD "%012llx-%u", (unsigned long long)b->key, b->next);
	const struct world_pod *p = world_pod_find(picture->world, NAME_NAMESPACE, name);
	struct standin *s = touch(scale, name);
	bool lasts = counts(picture, s);
	if (s->served || is_spent(picture->book, s)) {
		/* The name stays taken, so that those who wait keep theirs. */
		s->wanted = p == NULL ? picture->time->step : s->wanted;
		return SLOT_TAKEN;
	}
	s->wanted = picture->time->step;
	s->sent_at = p == NULL ? s->sent_at : 0;
	if (lasts) {
		return SLOT_WAITS;
	}
	if (p == NULL) {
		s->landed_at = 0;
		return group_opens(scale, b->key) ? SLOT_WAITS : send(picture, b, s, out);
	}
	return is_over(p) ? SLOT_TAKEN : SLOT_WAITS;
}

/* --- and going --- */

static void forget_absent(struct scale *scale)
{
	const struct picture *picture = scale->picture;
	for (size_t i = scale->standins.count; i-- > 0;) {
		const struct standin *s = &scale->standins.items[i];
		if (s->wanted != picture->time->step && picture->time->now >= s->free_at &&
			world_pod_find(picture->world, NAME_NAMESPACE, s->name) == NULL) {
			VEC_REMOVE_SWAP(&scale->standins, i);
		}
	}
}

void standins_let_go(struct scale *scale, struct emitter *out)
{
	const struct picture *picture = scale->picture;
	vec_for_each (const struct world_pod *const, each, &scale->there) {
		const struct world_pod *p = *each;
		if (p->deleting) {
			continue;
		}
		struct standin *s = touch(scale, world_pod_name(p));
		if (s->wanted == picture->time->step && !world_pod_terminal(p)) {
			continue;
		}
		if (s->gone_at != 0 && picture->time->now - s->gone_at < GONE_EVERY_MS) {
			wake_by(picture->time, s->gone_at + GONE_EVERY_MS);
			continue;
		}
		emit_companion_delete(out, p);
		s->gone_at = picture->time->now;
	}
	forget_absent(scale);
}
