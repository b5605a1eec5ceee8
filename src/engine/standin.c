/* What waits for several GPUs of one node (C14).
 *
 * Capacity pods that are not pinned could not be made to land together: with affinity among
 * themselves the first one goes wherever one GPU gets free, and the others can never follow. A pod
 * is what the scheduler and autoscalers place whole or not at all. So one pod asks for all the
 * GPUs, with the CPU and memory of its tenants and of the capacity pods, and a low priority: it
 * displaces nobody and is displaced by anybody. Once it is bound it goes, and a moment later the
 * tenants open its GPUs as any others, by capacity pods that are pinned there. Where they do not
 * fit after all the next one leaves that node out, since it has GPUs to give. */
#include <stdio.h>
#include <stdlib.h>

#include "model/names.h"
#include "scale.h"
#include "state.h"

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

static struct standin *find(struct engine *e, const char *name)
{
	vec_for_each (struct standin, s, &e->scale.standins) {
		if (strcmp(s->name, name) == 0) {
			return s;
		}
	}
	return NULL;
}

static struct standin *touch(struct engine *e, const char *name)
{
	struct standin *s = find(e, name);
	if (s == NULL) {
		struct standin made = {.since = e->now};
		snprintf(made.name, sizeof made.name, "%s", name);
		VEC_PUSH(&e->scale.standins, made);
		s = &e->scale.standins.items[e->scale.standins.count - 1];
	}
	return s;
}

static bool is_over(const struct world_pod *p)
{
	return p->deleting || world_pod_terminal(p);
}

/* --- in the picture --- */

static void gather(struct engine *e, enum world_class class)
{
	for (size_t i = 0; i < world_class_count(e->world, class); i++) {
		const struct world_pod *p = world_class_at(e->world, class, i);
		if (standin_is_one(p)) {
			VEC_PUSH(&e->scale.there, p);
		}
	}
}

static void note_bound(struct engine *e, const struct world_pod *p)
{
	struct standin *s = touch(e, world_pod_name(p));
	const struct world_node *n = world_node_at(e->world, p->node);
	snprintf(s->node, sizeof s->node, "%s", text_or(n->name, ""));
	s->free_at = e->now + FREE_MS;
}

void standins_mark(struct engine *e)
{
	VEC_CLEAR(&e->scale.there);
	gather(e, WORLD_WHOLE);
	gather(e, WORLD_PENDING);
	vec_for_each (const struct world_pod *const, each, &e->scale.there) {
		if ((*each)->node != WORLD_NONE) {
			note_bound(e, *each);
		}
	}
	vec_for_each (const struct standin, s, &e->scale.standins) {
		uint32_t at = e->now < s->free_at ? snap_node_of(e, s->node) : WORLD_NONE;
		if (at != WORLD_NONE) {
			e->snap.nodes.items[at].no_opening = true;
			wake_by(e, s->free_at);
		}
	}
}

/* --- asking --- */

void standins_asked(struct engine *e)
{
	vec_for_each (const struct world_pod *const, each, &e->scale.there) {
		const char *name = world_pod_name(*each);
		if ((*each)->node == WORLD_NONE && !is_over(*each)) {
			struct scale_asked made = {.since = touch(e, name)->since};
			made.key = strtoull(name + strlen(NAME_HEAD), NULL, 16);
			VEC_PUSH(&e->scale.asked, made);
		}
	}
}

static enum slot send(
	struct engine *e, const struct scale_bin *b, struct standin *s, struct plan *plan)
{
	struct action where = {.unpinned = true};
	struct place_node taken = {.runtime = runtime_of(e)};
	if (s->sent_at != 0 && e->now - s->sent_at < EVERY_MS) {
		wake_by(e, s->sent_at + EVERY_MS);
		return SLOT_WAITS;
	}
	if (!scale_where(e, b->first, &plan->arena, &where)) {
		return SLOT_IMPOSSIBLE;
	}
	for (uint32_t i = 0; i < b->gpus; i++) {
		place_reserve_capacity(&taken, b->first->asked.mps);
	}
	struct action *a = emit_companion(e, s->name, &b->first->pod, plan);
	a->unpinned = true;
	a->where_labels = where.where_labels;
	a->where_terms = where.where_terms;
	a->where_count = where.where_count;
	a->gpus = b->gpus;
	a->cpu_milli = b->cpu_milli - taken.free_cpu_milli;
	a->mem_bytes = b->mem_bytes - taken.free_mem_bytes;
	s->sent_at = e->now;
	return SLOT_WAITS;
}

enum slot standin_fill(struct engine *e, const struct scale_bin *b, struct plan *plan)
{
	char name[STANDIN_NAME_MAX];
	snprintf(name, sizeof name, NAME_HEAD "%012llx-%u", (unsigned long long)b->key, b->next);
	const struct world_pod *p = world_pod_find(e->world, NAME_NAMESPACE, name);
	struct standin *s = touch(e, name);
	s->wanted = e->step;
	if (p == NULL) {
		return e->now < s->free_at ? SLOT_WAITS : send(e, b, s, plan);
	}
	s->sent_at = 0;
	if (p->node != WORLD_NONE) {
		/* Its tenants have its GPUs soon, or else another one is asked for then. */
		s->wanted = 0;
		return SLOT_WAITS;
	}
	return is_over(p) ? SLOT_TAKEN : SLOT_WAITS;
}

/* --- and going --- */

static void forget_absent(struct engine *e)
{
	for (size_t i = e->scale.standins.count; i-- > 0;) {
		const struct standin *s = &e->scale.standins.items[i];
		if (s->wanted != e->step && e->now >= s->free_at &&
			world_pod_find(e->world, NAME_NAMESPACE, s->name) == NULL) {
			VEC_REMOVE_SWAP(&e->scale.standins, i);
		}
	}
}

void standins_let_go(struct engine *e, struct plan *plan)
{
	vec_for_each (const struct world_pod *const, each, &e->scale.there) {
		const struct world_pod *p = *each;
		if (p->deleting) {
			continue;
		}
		struct standin *s = touch(e, world_pod_name(p));
		if (s->wanted == e->step && !world_pod_terminal(p)) {
			continue;
		}
		if (s->gone_at != 0 && e->now - s->gone_at < GONE_EVERY_MS) {
			wake_by(e, s->gone_at + GONE_EVERY_MS);
			continue;
		}
		emit_companion_delete(e, p, plan);
		s->gone_at = e->now;
	}
	forget_absent(e);
}
