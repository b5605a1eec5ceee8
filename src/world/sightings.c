/* A Bloom filter a namespace, of one hash: pairs of key and value, and keys. Bits are never taken
 * back: what was there once may come again. */
#include "world/sightings.h"
#include "sightings.h"

#include <stdlib.h>

/* With 300 pairs one in four that never was is taken for one that was. */
#define BITS_A_WORD 64
/* Namespaces that one pod is held against. */
#define SPACES_MAX 512
/* Namespaces come and go: of those after so many anything may be there. */
#define SIGHTINGS_MAX 16384
/* Of a pod only so many count; then anything may be there. */
#define LABELS_MAX 32

/* Each is of one pod or of the pods of one owner. Those of a workload with GPUs have GPUs. */
static const char *const own_labels[] = {"apps.kubernetes.io/pod-index",
	"batch.kubernetes.io/controller-uid", "batch.kubernetes.io/job-completion-index",
	"batch.kubernetes.io/job-name", "controller-revision-hash", "controller-uid", "job-name",
	"pod-template-generation", "pod-template-hash", "statefulset.kubernetes.io/pod-name"};

static bool is_own_label(const char *key)
{
	return texts_have(own_labels, COUNT_OF(own_labels), key);
}

static uint32_t bit_of(const char *key, const char *value)
{
	uint64_t hash = value != NULL ? hash_pair(key, value) : hash_text(key);
	return (uint32_t)(hash % SIGHTING_BITS);
}

static void bit_set(uint64_t *bits, uint32_t bit)
{
	bits[bit / BITS_A_WORD] |= UINT64_C(1) << bit % BITS_A_WORD;
}

static bool bit_is_set(const uint64_t *bits, uint32_t bit)
{
	return (bits[bit / BITS_A_WORD] >> bit % BITS_A_WORD & 1) != 0;
}

static void sighting_drop(void *data, struct table_row *row)
{
	(void)data; /* the words go with the world */
	free(row);
}

void sightings_init(struct world *w)
{
	table_init(&w->sightings, sighting_drop, w);
}

/* NULL: no ordinary pod was ever there. */
static struct sighting *sighting_find(const struct world *w, const char *ns)
{
	return (struct sighting *)(void *)table_find(&w->sightings, "", ns);
}

static struct sighting *sighting_touch(struct world *w, const char *ns)
{
	struct sighting *found = sighting_find(w, ns);
	if (found != NULL || w->sightings.rows.count == SIGHTINGS_MAX) {
		return found;
	}
	struct sighting *made = xcalloc(1, sizeof *made);
	made->row = (struct table_row){.ns = "", .name = intern_add(w->words, ns)};
	table_add(&w->sightings, &made->row);
	return made;
}

void sightings_note(struct world *w, const struct pod *pod)
{
	struct sighting *n = sighting_touch(w, pod->ns);
	for (uint32_t i = 0; n != NULL && i < pod->labels.count; i++) {
		const struct pair *p = &pod->labels.items[i];
		if (i == LABELS_MAX) {
			memset(n->bits, 0xff, sizeof n->bits);
			return;
		}
		if (!is_own_label(p->key)) {
			bit_set(n->bits, bit_of(p->key, p->value));
			bit_set(n->bits, bit_of(p->key, NULL));
		}
	}
}

/* Might one of those carry this? */
static bool may_have(const uint64_t *bits, const char *key, const char *value)
{
	return !is_own_label(key) && bit_is_set(bits, bit_of(key, value));
}

static bool may_match_term(const uint64_t *bits, const struct term *t)
{
	switch (t->operator) {
	case TERM_IN:
		for (uint32_t i = 0; i < t->value_count; i++) {
			if (may_have(bits, t->key, t->values[i])) {
				return true;
			}
		}
		return false;
	case TERM_EXISTS:
	case TERM_GT:
	case TERM_LT:
		return may_have(bits, t->key, NULL);
	case TERM_NOT_IN:
	case TERM_DOES_NOT_EXIST:
		return true;
	}
	return true;
}

static bool may_match(const struct world *w, const char *ns, const struct selector *s)
{
	const struct sighting *n = sighting_find(w, ns);
	if (n == NULL) {
		return w->sightings.rows.count == SIGHTINGS_MAX;
	}
	for (uint32_t i = 0; i < s->match_labels.count; i++) {
		const struct pair *p = &s->match_labels.items[i];
		if (!may_have(n->bits, p->key, p->value)) {
			return false;
		}
	}
	for (uint32_t i = 0; i < s->expressions.count; i++) {
		if (!may_match_term(n->bits, &s->expressions.items[i])) {
			return false;
		}
	}
	return true;
}

static bool term_meets(const struct world *w, const struct pod *pod, const struct neighbour_term *t)
{
	if (!t->pods.present) {
		return false;
	}
	if (t->all_namespaces) {
		if (w->sightings.rows.count > SPACES_MAX) {
			return true;
		}
		for (size_t i = 0; i < w->sightings.rows.count; i++) {
			if (may_match(w, w->sightings.rows.items[i]->name, &t->pods)) {
				return true;
			}
		}
		return false;
	}
	for (uint32_t i = 0; i < t->namespace_count; i++) {
		if (may_match(w, t->namespaces[i], &t->pods)) {
			return true;
		}
	}
	return t->namespace_count == 0 && may_match(w, pod->ns, &t->pods);
}

bool world_meets_others(const struct world *w, const struct pod *pod)
{
	for (uint32_t i = 0; i < pod->neighbour_count; i++) {
		if (term_meets(w, pod, &pod->neighbours[i])) {
			return true;
		}
	}
	return false;
}
