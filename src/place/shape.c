/* What does not change within a step, a request's node selector against a node's labels and the
 * like, is judged once for all requests that say the same. */
#include "shape.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/str.h"
#include "place/fit.h"
#include "record/tables.h"

/* Everything that fit_lasting reads of a request but whether it asks for a share: only those that
 * do are looked up here. */
static void put_request(struct str *out, const struct place_request *r)
{
	const struct pod *p = r->pod;
	pack_u64(out, p->too_complex ? 1 : 0);
	pack_text(out, p->runtime_class);
	record_pack(out, &pod_selection_table, p);
	record_pack(out, &pod_tolerations_table, p);
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
