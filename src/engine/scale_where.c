/* What tenants say of nodes, as a number that is equal where they say the same, and as the
 * constraints of a capacity pod. */
#include "model/names.h"
#include "scale.h"
#include "state.h"

/* GPU feature discovery labels a node once it is there: no autoscaler knows that before. */
#define DISCOVERED   "nvidia.com/"
#define EXCLUDED_MAX 64
#define KEY_BITS     0xffffffffffffull

static bool is_discovered(const char *key)
{
	return strncmp(key, DISCOVERED, strlen(DISCOVERED)) == 0;
}

/* --- the key --- */

static uint64_t add_text(uint64_t hash, const char *text)
{
	return hash_bytes(text_or(text, ""), strlen(text_or(text, "")) + 1, hash);
}

static uint64_t add_terms(uint64_t hash, const struct terms *terms)
{
	for (uint32_t i = 0; i < terms->count; i++) {
		const struct term *t = &terms->items[i];
		hash = add_text(hash, t->key);
		hash = hash_bytes(&t->operator, sizeof t->operator, hash);
		for (uint32_t k = 0; k < t->value_count; k++) {
			hash = add_text(hash, t->values[k]);
		}
		hash = add_text(hash, "/");
	}
	return add_text(hash, ";");
}

static uint64_t add_node_terms(uint64_t hash, const struct node_term *terms, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		hash = add_terms(hash, &terms[i].labels);
		hash = add_terms(hash, &terms[i].fields);
	}
	return add_text(hash, "|");
}

uint64_t scale_key(struct engine *e, const struct waiter *w)
{
	const struct pod *p = &w->pod;
	uint64_t hash = add_text(0, p->runtime_class);
	hash = pod_is_mps(p) ? add_text(hash, NOTE_ISOLATION) : hash;
	for (uint32_t i = 0; i < p->node_selector.count; i++) {
		hash = add_text(hash, p->node_selector.items[i].key);
		hash = add_text(hash, p->node_selector.items[i].value);
	}
	hash = add_node_terms(add_text(hash, "|"), p->node_terms, p->node_term_count);
	for (uint32_t i = 0; i < p->toleration_count; i++) {
		const struct toleration *t = &p->tolerations[i];
		hash = add_text(add_text(hash, t->key), t->operator);
		hash = add_text(add_text(hash, t->value), t->effect);
	}
	struct claims_of claims;
	(void)needs_claims(e, p, &claims);
	for (uint32_t i = 0; i < claims.count; i++) {
		hash = add_node_terms(hash, claims.items[i]->terms, claims.items[i]->term_count);
		hash = add_terms(hash, &claims.items[i]->zones);
	}
	uint32_t gpus = waiter_count(w);
	hash = gpus > 1 ? hash_bytes(&gpus, sizeof gpus, hash) : hash;
	return hash & KEY_BITS;
}

/* --- the constraints --- */

static void put_term(struct arena *arena, struct terms *to, const struct term *t)
{
	const char **values = ARENA_ARRAY(arena, const char *, t->value_count);
	for (uint32_t k = 0; k < t->value_count; k++) {
		values[k] = arena_strdup(arena, t->values[k]);
	}
	to->items[to->count++] =
		(struct term){arena_strdup(arena, t->key), t->operator, values, t->value_count};
}

static void put_terms(struct arena *arena, struct terms *to, const struct terms *from)
{
	for (uint32_t i = 0; i < from->count; i++) {
		if (!is_discovered(from->items[i].key)) {
			put_term(arena, to, &from->items[i]);
		}
	}
}

static bool has_gpu_to_give(const struct engine *e, uint32_t node)
{
	bool gives = e->snap.nodes.items[node].free_gpus > 0;
	gives = gives || e->snap.nodes.items[node].kept_by != 0;
	for (uint32_t i = 0; i < e->snap.gpus.count && !gives; i++) {
		gives = e->snap.gpus.items[i].node == node && snap_gpu_is_idle(e, i);
	}
	for (size_t i = 0; i < e->holders.count && !gives; i++) {
		const struct holder *h = e->holders.items[i];
		bool goes = h->deleted || h->pod.deleting_ms != 0 ||
			    (h->flight != 0 && h->flight_type == ACTION_DELETE_CAPACITY);
		gives = goes && snap_node_of(e, h->node) == node;
	}
	return gives;
}

/* One value each: the API server takes no more in a field's requirement. */
static bool put_excluded(struct engine *e, struct arena *arena, struct terms *to)
{
	for (uint32_t i = 0; i < e->snap.nodes.count; i++) {
		if (!has_gpu_to_give(e, i)) {
			continue;
		}
		if (to->count >= EXCLUDED_MAX) {
			return false;
		}
		const char *name = e->snap.nodes.items[i].noun->name;
		put_term(arena, to, &(struct term){"metadata.name", TERM_NOT_IN, &name, 1});
	}
	return true;
}

/* What holds for every node that the tenant may use: of a volume only where it says one thing. */
static uint32_t claims_terms(const struct claims_of *claims)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < claims->count; i++) {
		const struct volume_claim *c = claims->items[i];
		count += c->zones.count + (c->term_count == 1 ? c->terms[0].labels.count : 0);
	}
	return count;
}

static void put_claims(struct arena *arena, struct terms *to, const struct claims_of *claims)
{
	for (uint32_t i = 0; i < claims->count; i++) {
		const struct volume_claim *c = claims->items[i];
		put_terms(arena, to, &c->zones);
		if (c->term_count == 1) {
			put_terms(arena, to, &c->terms[0].labels);
		}
	}
}

/* A pin by name is of a node that is there. */
static bool names_nodes(const struct pod *p)
{
	bool names = p->node_term_count > 0;
	for (uint32_t i = 0; i < p->node_term_count; i++) {
		names = names && p->node_terms[i].fields.count > 0;
	}
	return names;
}

static void put_labels(struct arena *arena, const struct pod *p, struct action *a)
{
	a->where_labels.items = ARENA_ARRAY(arena, struct pair, p->node_selector.count);
	for (uint32_t i = 0; i < p->node_selector.count; i++) {
		const struct pair *s = &p->node_selector.items[i];
		if (!is_discovered(s->key)) {
			a->where_labels.items[a->where_labels.count++] = (struct pair){
				arena_strdup(arena, s->key), arena_strdup(arena, s->value)};
		}
	}
}

bool scale_where(struct engine *e, const struct waiter *w, struct arena *arena, struct action *a)
{
	const struct pod *p = &w->pod;
	struct claims_of claims;
	struct terms excluded = {ARENA_ARRAY(arena, struct term, EXCLUDED_MAX), 0};
	if (names_nodes(p) || needs_claims(e, p, &claims) != REASON_NONE ||
		!put_excluded(e, arena, &excluded)) {
		return false;
	}
	uint32_t alternatives = p->node_term_count > 0 ? p->node_term_count : 1;
	uint32_t more = claims_terms(&claims);
	put_labels(arena, p, a);
	a->where_terms = ARENA_ARRAY(arena, struct node_term, alternatives);
	for (uint32_t i = 0; i < alternatives; i++) {
		struct node_term *to = &a->where_terms[i];
		const struct terms none = {NULL, 0};
		const struct terms *own = i < p->node_term_count ? &p->node_terms[i].labels : &none;
		to->labels.items = ARENA_ARRAY(arena, struct term, own->count + more);
		put_terms(arena, &to->labels, own);
		put_claims(arena, &to->labels, &claims);
		to->fields = excluded;
		/* An alternative that asks for nothing is no requirement at all; written down it
		 * would match no node. */
		if (to->labels.count + to->fields.count == 0) {
			return true;
		}
	}
	a->where_count = alternatives;
	return true;
}
