/* What agents have told of their nodes: one entry a node, the last that was told. */
#include "node_states.h"

#include <stdlib.h>

#include "nouns.h"
#include "record/tables.h"

struct world_state {
	struct arena arena; /* of `noun` */
	struct node_state noun;
};

void states_drop(struct world_node *n)
{
	if (n->state != NULL) {
		arena_finish(&n->state->arena);
		free(n->state);
		n->state = NULL;
	}
}

/* How much of its memory is in use changes all the time and asks for no decision by itself: who
 * judges by it looks at every state. */
static bool devices_equal(const struct node_state *a, const struct node_state *b)
{
	bool same = a->device_count == b->device_count;
	for (uint32_t i = 0; same && i < a->device_count; i++) {
		same = text_equals(a->devices[i].uuid, b->devices[i].uuid) &&
		       text_equals(a->devices[i].why, b->devices[i].why) &&
		       a->devices[i].cause == b->devices[i].cause &&
		       a->devices[i].mps == b->devices[i].mps &&
		       a->devices[i].contexts == b->devices[i].contexts;
	}
	return same;
}

static bool same_pods(const struct node_state *a, const struct node_state *b)
{
	bool same = a->pod_count == b->pod_count;
	for (uint32_t i = 0; same && i < a->pod_count; i++) {
		same = text_equals(a->pods[i], b->pods[i]);
	}
	return same;
}

/* As before, only later: who waits for that looks again by itself, and nobody else need. */
static void tell_again(struct world_node *n, const struct node_state *s)
{
	if (n->state != NULL && text_equals(n->state->noun.boot, s->boot)) {
		n->state->noun.sequence = s->sequence;
		n->state->noun.seen_ms = s->seen_ms;
		n->state->noun.seen_by_ms = s->seen_by_ms;
	}
}

void states_set(struct world *w, const struct change *c)
{
	uint32_t at = world_node_find(w, c->state->node);
	struct world_node *n = at != WORLD_NONE ? w->nodes.items[at] : NULL;
	if (n == NULL || !n->known) {
		return;
	}
	if (c->state->again) {
		tell_again(n, c->state);
		return;
	}
	/* What an agent knows of events depends on when it was started. */
	bool news = n->state == NULL || !text_equals(n->state->noun.boot, c->state->boot) ||
		    !devices_equal(&n->state->noun, c->state) ||
		    !same_pods(&n->state->noun, c->state);
	if (n->state == NULL) {
		n->state = xcalloc(1, sizeof *n->state);
	}
	noun_copy(&n->state->arena, &node_state_table, c->state, &n->state->noun);
	w->version += news ? 1 : 0;
}

void states_gone(struct world *w, const char *name)
{
	uint32_t at = world_node_find(w, name);
	if (at != WORLD_NONE && w->nodes.items[at]->state != NULL) {
		states_drop(w->nodes.items[at]);
		w->version++;
	}
}

const struct node_state *world_state_of(const struct world *w, uint32_t node)
{
	const struct world_state *s = node < w->nodes.count ? w->nodes.items[node]->state : NULL;
	return s != NULL ? &s->noun : NULL;
}

bool world_wants_state(const struct world *w, uint32_t node)
{
	const struct world_node *n = w->nodes.items[node];
	return n->known && (n->sharers > 0 || n->leavers > 0);
}
