/* What is proven, as it is to stand on capacity pods. */
#include "inject.h"

#include "state.h"

struct listed {
	struct inject_class items[INJECT_CLASSES_MAX];
	uint32_t count;
	bool changed;
};

static bool lists(const struct listed *l, const char *class)
{
	for (uint32_t i = 0; i < l->count; i++) {
		if (strcmp(l->items[i].class, class) == 0) {
			return true;
		}
	}
	return false;
}

static bool is_wanted(struct injecting *inject, uint32_t node, const char *class)
{
	const struct inject_memo *m = inject_class_memo(inject, node, class);
	return m != NULL && inject_class_is_wanted(inject, m);
}

/* Where they are too many, the first that nobody waits for goes for one that somebody does. */
static void list_add(
	struct injecting *inject, uint32_t node, struct listed *l, struct inject_class added)
{
	uint32_t at = 0;
	bool full = l->count == INJECT_CLASSES_MAX;
	while (full && at < l->count && is_wanted(inject, node, l->items[at].class)) {
		at++;
	}
	if (full && (at == l->count || !is_wanted(inject, node, added.class))) {
		return;
	}
	if (full) {
		memmove(&l->items[at], &l->items[at + 1], (l->count - at - 1) * sizeof l->items[0]);
		l->count--;
	}
	l->items[l->count++] = added;
	l->changed = true;
}

/* What stands there, if it is so still, and what else is proven of the node since. */
static void list_others(struct injecting *inject, const struct holder *h,
	const struct inject_claim *own, struct listed *l)
{
	uint32_t node = snap_node_of_holder(inject->picture, h);
	for (uint32_t i = 0; own == h->pod.claim && i < own->other_count; i++) {
		l->items[l->count++] = own->others[i];
	}
	uint32_t at = inject->nodes.items[node].proof;
	for (; at != WORLD_NONE; at = inject->proofs.items[at].next) {
		const struct inject_claim *c = inject->proofs.items[at].claim;
		if (strcmp(c->class, own->class) != 0 && strcmp(c->driver, own->driver) == 0 &&
			!lists(l, c->class)) {
			list_add(inject, node, l, (struct inject_class){c->class, c->form});
		}
	}
}

const struct inject_claim *inject_proof_for(struct injecting *inject, const struct holder *h)
{
	const struct inject_node *n = inject_node_of(inject, h);
	const struct inject_claim *own = n != NULL ? inject_own_proof(inject, h) : NULL;
	if (own == NULL || n->way != INJECT_BY_PROBE) {
		return NULL;
	}
	struct listed l = {.changed = own != h->pod.claim};
	list_others(inject, h, own, &l);
	if (!l.changed) {
		return NULL;
	}
	struct inject_claim *claim = ARENA_NEW(&inject->arena, struct inject_claim);
	struct inject_class *others =
		ARENA_ARRAY(&inject->arena, struct inject_class, INJECT_CLASSES_MAX);
	memcpy(others, l.items, sizeof l.items);
	*claim = *own;
	claim->others = others;
	claim->other_count = l.count;
	return claim;
}

bool inject_owes(struct injecting *inject, const struct holder *h)
{
	bool may = inject->proofs.count > 0 && h->pod.identity != NULL;
	const struct inject_node *n = may ? inject_node_of(inject, h) : NULL;
	uint32_t at = n != NULL ? n->proof : WORLD_NONE;
	while (at != WORLD_NONE && inject->proofs.items[at].writer != h) {
		at = inject->proofs.items[at].next;
	}
	return at != WORLD_NONE && inject_proof_for(inject, h) != NULL;
}

bool inject_is_awaited(struct injecting *inject, uint32_t node, const struct inject_claim *claim)
{
	uint32_t at = inject->nodes.items[node].proof;
	while (at != WORLD_NONE && inject->proofs.items[at].claim != claim) {
		at = inject->proofs.items[at].next;
	}
	const struct holder *writer = at != WORLD_NONE ? inject->proofs.items[at].writer : NULL;
	return writer != NULL && inject_proof_for(inject, writer) != NULL;
}
