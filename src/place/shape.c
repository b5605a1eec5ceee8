/* What does not change within a step, a request's node selector against a node's labels and the
 * like, is judged once for all requests that say the same. */
#include "shape.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/str.h"
#include "place/fit.h"

/* Texts are told apart from absent ones, and end. */
static void shape_put_text(struct str *out, const char *text)
{
	str_append_char(out, text == NULL ? 'n' : 't');
	if (text != NULL) {
		str_append(out, text, strlen(text) + 1);
	}
}

static void shape_put_number(struct str *out, uint32_t n)
{
	str_append(out, (const char *)&n, sizeof n);
}

static void shape_put_terms(struct str *out, const struct terms *terms)
{
	shape_put_number(out, terms->count);
	for (uint32_t i = 0; i < terms->count; i++) {
		const struct term *t = &terms->items[i];
		shape_put_text(out, t->key);
		shape_put_number(out, (uint32_t)t->operator);
		shape_put_number(out, t->value_count);
		for (uint32_t k = 0; k < t->value_count; k++) {
			shape_put_text(out, t->values[k]);
		}
	}
}

/* Everything that fit_lasting reads of a request but whether it asks for a share: only those that
 * do are looked up here. */
static void put_request(struct str *out, const struct place_request *r)
{
	const struct pod *p = r->pod;
	shape_put_number(out, p->too_complex ? 1 : 0);
	shape_put_text(out, p->runtime_class);
	shape_put_number(out, p->node_selector.count);
	for (uint32_t i = 0; i < p->node_selector.count; i++) {
		shape_put_text(out, p->node_selector.items[i].key);
		shape_put_text(out, p->node_selector.items[i].value);
	}
	shape_put_number(out, p->node_term_count);
	for (uint32_t i = 0; i < p->node_term_count; i++) {
		shape_put_terms(out, &p->node_terms[i].labels);
		shape_put_terms(out, &p->node_terms[i].fields);
	}
	shape_put_number(out, p->toleration_count);
	for (uint32_t i = 0; i < p->toleration_count; i++) {
		const struct toleration *t = &p->tolerations[i];
		shape_put_text(out, t->key);
		shape_put_text(out, t->operator);
		shape_put_text(out, t->value);
		shape_put_text(out, t->effect);
	}
	for (uint32_t i = 0; i < r->claim_count; i++) {
		/* The same claim is the same object for as long as the picture lasts. */
		str_append(out, (const char *)&r->claims[i], sizeof r->claims[i]);
	}
}

static void shape_finish(struct shape *shape)
{
	free(shape->key);
	free(shape->causes);
	free(shape->nodes);
}

void shapes_drop(struct place_index *x)
{
	vec_for_each (struct shape, shape, &x->shapes) {
		shape_finish(shape);
	}
	VEC_CLEAR(&x->shapes);
}

/* Few requests say much; what a pod may say at all is bounded when it is read. */
#define KEY_MAX ((size_t)8 << 20)

struct shape *shape_of(const struct snapshot *s, const struct place_request *r)
{
	struct place_index *x = s->index;
	CLEANUP(str_finish) struct str key = STR_INIT(KEY_MAX);
	put_request(&key, r);
	ENSURE(!key.overflow);
	vec_for_each (struct shape, shape, &x->shapes) {
		if (shape->key_bytes == key.len &&
			memcmp(shape->key, str_text(&key), key.len) == 0) {
			shape->asked++;
			return shape;
		}
	}
	if (x->shapes.count >= SHAPES_MAX) {
		shapes_drop(x);
	}
	struct shape made = {
		.key_bytes = key.len, .causes = xmalloc(s->nodes.count + 1), .asked = 1};
	made.key = xmemdup(str_text(&key), key.len);
	memset(made.causes, SHAPE_UNKNOWN, s->nodes.count);
	VEC_PUSH(&x->shapes, made);
	return &x->shapes.items[x->shapes.count - 1];
}

enum unfit shape_lasting(
	const struct snapshot *s, const struct place_request *r, struct shape *shape, uint32_t node)
{
	if (shape->causes[node] == SHAPE_UNKNOWN) {
		const char *what;
		shape->causes[node] = (uint8_t)fit_lasting(r, &s->nodes.items[node], &what);
	}
	return (enum unfit)shape->causes[node];
}

/* `n` is the node as it would be: with a capacity pod more, for example. */
enum unfit shape_unfit(const struct snapshot *s, const struct place_request *r, struct shape *shape,
	uint32_t node, const struct place_node *n)
{
	const char *what;
	enum unfit cause = shape_lasting(s, r, shape, node);
	return cause != UNFIT_NONE ? cause : fit_passing(s, r, n, &what);
}
