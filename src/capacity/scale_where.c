/* What tenants say of nodes, as a number that is equal where they say the same, and as the
 * constraints of a capacity pod. */
#include "scale_where.h"

#include "demand/needs.h"
#include "demand/wholes.h"
#include "ledger/ledger.h"
#include "model/names.h"

/* GPU feature discovery labels a node once it is there: no autoscaler knows that before. */
#define DISCOVERED "nvidia.com/"
/* Values of one label that are ruled out. There are as many as there are models of GPUs. */
#define EXCLUDED_MAX 32
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

uint64_t scale_key(struct world *world, const struct waiter *w)
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
	(void)needs_claims(world, p, &claims);
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

bool scale_node_gives(const struct picture *picture, uint32_t node)
{
	bool gives = picture->snap.nodes.items[node].free_gpus > 0;
	gives = gives || picture->snap.nodes.items[node].kept_by != 0;
	for (uint32_t i = 0; i < picture->snap.gpus.count && !gives; i++) {
		gives = picture->snap.gpus.items[i].node == node && snap_gpu_is_idle(picture, i);
	}
	for (size_t i = 0; i < picture->book->holders.count && !gives; i++) {
		const struct holder *h = picture->book->holders.items[i];
		gives = holder_is_leaving(h) && snap_node_of_holder(picture, h) == node;
	}
	return gives;
}

static bool among(const char *const *values, uint32_t count, const char *value)
{
	bool found = false;
	for (uint32_t i = 0; i < count; i++) {
		found = found || text_equals(values[i], value);
	}
	return found;
}

/* A new node does not have that label yet. Those that are there and have it with another value than
 * the tenant wants would only be taken in vain. */
static void put_discovered(
	struct picture *picture, struct arena *arena, struct terms *to, const struct term *t)
{
	const char *wrong[EXCLUDED_MAX];
	struct term no = {t->key, TERM_NOT_IN, wrong, 0};
	for (uint32_t i = 0; i < picture->snap.nodes.count && no.value_count < EXCLUDED_MAX; i++) {
		const char *has = pairs_get(&picture->snap.nodes.items[i].noun->labels, t->key);
		bool fails =
			has != NULL && !term_matches(t, has) && !among(wrong, no.value_count, has);
		if (fails && scale_node_gives(picture, i)) {
			wrong[no.value_count++] = has;
		}
	}
	if (no.value_count > 0) {
		put_term(arena, to, &no);
	}
}

/* Room for as many is the caller's. */
static void put_terms(
	struct picture *picture, struct arena *arena, struct terms *to, const struct terms *from)
{
	for (uint32_t i = 0; i < from->count; i++) {
		const struct term *t = &from->items[i];
		if (is_discovered(t->key) && !term_matches(t, NULL)) {
			put_discovered(picture, arena, to, t);
		} else {
			put_term(arena, to, t);
		}
	}
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

static void put_claims(struct picture *picture, struct arena *arena, struct terms *to,
	const struct claims_of *claims)
{
	for (uint32_t i = 0; i < claims->count; i++) {
		const struct volume_claim *c = claims->items[i];
		put_terms(picture, arena, to, &c->zones);
		if (c->term_count == 1) {
			put_terms(picture, arena, to, &c->terms[0].labels);
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

/* Selectors of labels that come later, as what they rule out. */
static void put_selectors(
	struct picture *picture, struct arena *arena, struct terms *to, const struct pod *p)
{
	for (uint32_t i = 0; i < p->node_selector.count; i++) {
		const struct pair *s = &p->node_selector.items[i];
		const char *value = s->value;
		const struct term t = {s->key, TERM_IN, &value, 1};
		if (is_discovered(s->key)) {
			put_discovered(picture, arena, to, &t);
		}
	}
}

bool scale_where(
	struct picture *picture, const struct waiter *w, struct arena *arena, struct action *a)
{
	const struct pod *p = &w->pod;
	struct claims_of claims;
	if (names_nodes(p) || needs_claims(picture->world, p, &claims) != REASON_NONE) {
		return false;
	}
	uint32_t alternatives = p->node_term_count > 0 ? p->node_term_count : 1;
	uint32_t more = claims_terms(&claims) + p->node_selector.count;
	put_labels(arena, p, a);
	a->where_terms = ARENA_ARRAY(arena, struct node_term, alternatives);
	for (uint32_t i = 0; i < alternatives; i++) {
		const struct terms none = {NULL, 0};
		bool own = i < p->node_term_count;
		/* One that names a node that is there makes none. */
		if (own && p->node_terms[i].fields.count > 0) {
			continue;
		}
		struct node_term *to = &a->where_terms[a->where_count];
		const struct terms *asked = own ? &p->node_terms[i].labels : &none;
		to->labels.items = ARENA_ARRAY(arena, struct term, asked->count + more);
		put_terms(picture, arena, &to->labels, asked);
		put_claims(picture, arena, &to->labels, &claims);
		put_selectors(picture, arena, &to->labels, p);
		/* An alternative that asks for nothing is no requirement at all; written down it
		 * would match no node. */
		if (to->labels.count == 0) {
			a->where_count = 0;
			return true;
		}
		a->where_count++;
	}
	return true;
}
