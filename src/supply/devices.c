/* Memory of GPUs, by node and by who may go there. */
#include "supply/devices.h"

#include <stdlib.h>

#include "place/place.h"
#include "world/node_states.h"

#define LABEL_GPU_MEMORY "nvidia.com/gpu.memory"
#define MEMORY_MAX	 (1 << 24)
/* Drivers keep up to 3 % for themselves, which labels count and nobody can have. */
#define LABEL_KEPT 32
/* What is asked for in more ways than that is not remembered. */
#define SHAPES_MAX 4096

static bool same_shape(const void *owner, uint32_t slot, const void *key)
{
	const struct devices *d = owner;
	const uint64_t *id = key;
	return d->shapes.items[slot].id == *id;
}

void devices_init(struct devices *d)
{
	map_init(&d->by_shape, same_shape, d);
}

void devices_finish(struct devices *d)
{
	VEC_FINISH(&d->found);
	VEC_FINISH(&d->at);
	VEC_FINISH(&d->list);
	VEC_FINISH(&d->shapes);
	map_finish(&d->by_shape);
}

/* --- what is found --- */

static struct device_found *found_at(struct devices *d, uint32_t node)
{
	static const struct device_found nothing = {0, 0};
	while (d->found.count <= node) {
		VEC_PUSH(&d->found, nothing);
	}
	return &d->found.items[node];
}

static int32_t larger_mib(int32_t a, int64_t b)
{
	return b > a && b <= MEMORY_MAX ? (int32_t)b : a;
}

void devices_see(struct devices *d, const struct world *w, uint32_t node)
{
	int64_t mib = 0;
	struct device_found *f = found_at(d, node);
	const struct world_node *n = world_node_at(w, node);
	const char *label = n->known ? pairs_get(&n->noun.labels, LABEL_GPU_MEMORY) : NULL;
	const struct node_state *state = world_state_of(w, node);
	if (label != NULL && parse_i64(view_of(label), 1, MEMORY_MAX, &mib)) {
		f->label = larger_mib(f->label, mib);
	}
	bool labelled = f->label > 0;
	for (uint32_t i = 0; state != NULL && !labelled && i < state->device_count; i++) {
		f->label = larger_mib(f->label, state->devices[i].total_mib);
	}
}

void devices_hold(struct devices *d, uint32_t node, int64_t mib)
{
	if (node != WORLD_NONE) {
		struct device_found *f = found_at(d, node);
		f->held = larger_mib(f->held, mib);
	}
}

/* The largest first; of as large ones in their order. */
static int compare_device_size(const void *a, const void *b)
{
	const struct device *x = a, *y = b;
	if (x->fits != y->fits) {
		return x->fits > y->fits ? -1 : 1;
	}
	return x->node < y->node ? -1 : x->node > y->node;
}

void devices_settle(struct devices *d, const struct world *w)
{
	VEC_CLEAR(&d->at);
	VEC_CLEAR(&d->list);
	VEC_CLEAR(&d->shapes);
	map_clear(&d->by_shape);
	for (uint32_t i = 0; i < d->found.count; i++) {
		const struct world_node *n = world_node_at(w, i);
		const struct device_found *f = &d->found.items[i];
		struct device x = {i, f->label, f->label - f->label / LABEL_KEPT};
		/* One that is much smaller than the label says nothing about the others: the engine
		 * has it so. */
		if (f->held > 0 && f->held >= f->label - f->label / 4) {
			x.mib = x.fits = f->held;
		}
		VEC_PUSH(&d->at, x);
		if (x.mib > 0 && n->known && n->noun.gpus > 0) {
			VEC_PUSH(&d->list, x);
		}
	}
	if (d->list.count > 1) {
		qsort(d->list.items, d->list.count, sizeof d->list.items[0], compare_device_size);
	}
}

/* --- what is asked --- */

int64_t devices_at(const struct devices *d, uint32_t node)
{
	return node < d->at.count ? d->at.items[node].mib : 0;
}

int64_t devices_fits_at(const struct devices *d, uint32_t node)
{
	return node < d->at.count ? d->at.items[node].fits : 0;
}

int64_t devices_largest(const struct devices *d)
{
	return d->list.count > 0 ? d->list.items[0].mib : 0;
}

static uint64_t hash_add_text(uint64_t hash, const char *text)
{
	return text != NULL ? hash_bytes(text, strlen(text) + 1, hash) : hash_bytes("n", 1, hash);
}

static uint64_t add_number(uint64_t hash, uint32_t n)
{
	return hash_bytes(&n, sizeof n, hash);
}

static uint64_t hash_add_terms(uint64_t hash, const struct terms *terms)
{
	hash = add_number(hash, terms->count);
	for (uint32_t i = 0; i < terms->count; i++) {
		const struct term *t = &terms->items[i];
		hash = add_number(hash_add_text(hash, t->key), (uint32_t)t->operator);
		hash = add_number(hash, t->value_count);
		for (uint32_t k = 0; k < t->value_count; k++) {
			hash = hash_add_text(hash, t->values[k]);
		}
	}
	return hash;
}

/* Everything that is looked at of a pod. */
static uint64_t scheduling_shape(const struct pod *p)
{
	uint64_t hash = add_number(1, p->too_complex ? 1 : 0);
	hash = add_number(hash, p->node_selector.count);
	for (uint32_t i = 0; i < p->node_selector.count; i++) {
		hash = hash_add_text(hash, p->node_selector.items[i].key);
		hash = hash_add_text(hash, p->node_selector.items[i].value);
	}
	hash = add_number(hash, p->node_term_count);
	for (uint32_t i = 0; i < p->node_term_count; i++) {
		hash = hash_add_terms(hash, &p->node_terms[i].labels);
		hash = hash_add_terms(hash, &p->node_terms[i].fields);
	}
	for (uint32_t i = 0; i < p->toleration_count; i++) {
		const struct toleration *t = &p->tolerations[i];
		hash = hash_add_text(hash_add_text(hash, t->key), t->operator);
		hash = hash_add_text(hash_add_text(hash, t->value), t->effect);
	}
	return hash;
}

/* What is cordoned, or not ready, will not be so for ever. */
static int32_t largest_suitable(struct devices *d, const struct world *w, const struct pod *pod)
{
	vec_for_each (const struct device, x, &d->list) {
		const struct world_node *n = world_node_at(w, x->node);
		d->looks++;
		if (n->known && place_node_suits(pod, &n->noun) &&
			place_node_given_out(&n->noun, n->dra_slices > 0, n->kai_pods > 0) ==
				UNFIT_NONE) {
			return x->fits;
		}
	}
	return d->list.count > 0 ? d->list.items[0].fits : 0;
}

int64_t devices_for(struct devices *d, const struct world *w, const struct pod *pod)
{
	uint64_t id = scheduling_shape(pod);
	uint32_t at = map_find(&d->by_shape, id, &id);
	if (at != MAP_NONE) {
		return d->shapes.items[at].fits;
	}
	struct device_shape shape = {id, largest_suitable(d, w, pod)};
	if (d->shapes.count < SHAPES_MAX) {
		map_put(&d->by_shape, id, (uint32_t)d->shapes.count);
		VEC_PUSH(&d->shapes, shape);
	}
	return shape.fits;
}

/* --- who would be made anew --- */

static bool pins(const struct terms *fields, const char *node)
{
	for (uint32_t i = 0; i < fields->count; i++) {
		const struct term *t = &fields->items[i];
		if (t->operator== TERM_IN && t->value_count == 1 &&
			text_equals(t->values[0], node)) {
			return true;
		}
	}
	return false;
}

/* A DaemonSet pins its pods itself. */
void devices_unpin(const struct pod *pod, struct arena *a, struct pod *ret)
{
	*ret = *pod;
	if (!pod_is_tenant(pod) || text_empty(pod->node) ||
		text_equals(pod->owner.kind, "DaemonSet")) {
		return;
	}
	ret->node_terms = ARENA_ARRAY(a, struct node_term, pod->node_term_count + 1);
	for (uint32_t i = 0; i < pod->node_term_count; i++) {
		struct node_term term = pod->node_terms[i];
		if (pins(&term.fields, pod->node)) {
			term.fields.count = 0;
		}
		if (pod->node_terms[i].fields.count > 0 &&
			term.labels.count + term.fields.count == 0) {
			/* it was the pin and nothing else: one such term asks for nothing */
			ret->node_term_count = 0;
			return;
		}
		ret->node_terms[i] = term;
	}
}
