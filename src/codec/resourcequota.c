/* ResourceQuotas. */
#include "codec/objects.h"

#include "model/names.h"
#include "codec/parts.h"

#define HARD_KEY "requests." NAME_GPU_RESOURCE

/* The API server lets nothing in that is no quantity, so what cannot be read is too large for us.
 */
static void read_hard(const json_t *hard, struct quota *q)
{
	const json_t *gpus = json_object_get(hard, HARD_KEY);
	q->bounds_gpus = gpus != NULL;
	if (gpus != NULL && parts_read_milli(gpus, &q->hard_milli, NULL) < 0) {
		q->hard_milli = INT64_MAX;
	}
}

/* The old form: a row of names, each of which must hold. */
static int read_scopes(const struct reading *r, const json_t *names, struct quota *q)
{
	const char **keys = NULL;
	uint32_t count = 0;
	if (decode_texts(names, r->arena, &keys, &count, r->fault) < 0) {
		return -1;
	}
	for (uint32_t i = 0; i < count; i++) {
		q->scopes.items[q->scopes.count++] =
			(struct term){.key = keys[i], .operator= TERM_EXISTS };
	}
	return 0;
}

static int read_selector(const struct reading *r, const json_t *terms, struct quota *q)
{
	for (size_t i = 0; i < json_array_size(terms); i++) {
		if (fields_read(json_array_get(terms, i), &parts_scope_shape, r->arena,
			    &q->scopes.items[q->scopes.count++], r->fault) < 0) {
			return fault_wrap(r->fault, "scopeSelector.matchExpressions[%zu]", i);
		}
	}
	return 0;
}

static int finish_quota(const struct reading *r, void *noun)
{
	struct quota *q = noun;
	const json_t *hard = NULL;
	const json_t *names = NULL;
	const json_t *terms = NULL;
	if (decode_object(r->object, "spec.hard", &hard, r->fault) < 0 ||
		decode_array(r->object, "spec.scopes", &names, r->fault) < 0 ||
		decode_array(r->object, "spec.scopeSelector.matchExpressions", &terms, r->fault) <
			0) {
		return -1;
	}
	read_hard(hard, q);
	if (!q->bounds_gpus) {
		return 0;
	}
	q->scopes.items =
		ARENA_ARRAY(r->arena, struct term, json_array_size(names) + json_array_size(terms));
	return read_scopes(r, names, q) < 0 || read_selector(r, terms, q) < 0 ? -1 : 0;
}

static const struct field quota_fields[] = {
	FIELD("metadata.namespace", text, AT(quota, ns), .required = true),
	FIELD("metadata.name", text, AT(quota, name), .required = true),
	FIELD_KEPT("spec.hard/" HARD_KEY),
	FIELD_KEPT("spec.scopes"),
	FIELD_KEPT("spec.scopeSelector"),
};
const struct shape quota_shape = {SHAPE(quota, quota_fields),
	.defaults = &(const struct quota){.ns = "", .name = ""},
	SHAPE_NAMES("resourcequota", quota, ns, name), .flags = DECODE_MEND,
	.finish = finish_quota};
