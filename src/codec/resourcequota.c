/* ResourceQuotas. */
#include "codec/resourcequota.h"

#include "model/names.h"
#include "parts.h"

#define HARD_KEY "requests." NAME_GPU_RESOURCE

static const struct slice_keep notes_keep[] = {PARTS_BOOKMARK_KEEP, SLICE_END};
static const struct slice_keep meta_keep[] = {
	PARTS_META_KEEP,
	SLICE_KEEP_IN("annotations", notes_keep),
	SLICE_END,
};
static const struct slice_keep hard_keep[] = {SLICE_KEEP(HARD_KEY), SLICE_END};
static const struct slice_keep spec_keep[] = {
	SLICE_KEEP_IN("hard", hard_keep),
	SLICE_KEEP("scopes"),
	SLICE_KEEP("scopeSelector"),
	SLICE_END,
};
static const struct slice_keep quota_keep[] = {
	SLICE_KEEP_IN("metadata", meta_keep),
	SLICE_KEEP_IN("spec", spec_keep),
	SLICE_END,
};

const struct slice_keep *quota_projection(void)
{
	return quota_keep;
}

static const struct decode_field quota_fields[] = {
	{"metadata.namespace", DECODE_TEXT, true, offsetof(struct quota, ns), NULL},
	{"metadata.name", DECODE_TEXT, true, offsetof(struct quota, name), NULL},
};

/* The API server lets nothing in that is no quantity, so what cannot be read is too large for us.
 */
static void read_hard(const json_t *hard, struct quota *q)
{
	const json_t *gpus = json_object_get(hard, HARD_KEY);
	q->bounds_gpus = gpus != NULL;
	if (gpus != NULL && parts_read_milli(gpus, NULL, &q->hard_milli, NULL) < 0) {
		q->hard_milli = INT64_MAX;
	}
}

/* The old form: a row of names, each of which must hold. */
static int read_scopes(
	const json_t *names, struct arena *arena, struct quota *q, struct fault *ret_fault)
{
	const char **keys = NULL;
	uint32_t count = 0;
	if (decode_texts(names, arena, &keys, &count, ret_fault) < 0) {
		return -1;
	}
	for (uint32_t i = 0; i < count; i++) {
		q->scopes.items[q->scopes.count++] =
			(struct term){.key = keys[i], .operator= TERM_EXISTS };
	}
	return 0;
}

static int read_selector(
	const json_t *terms, struct arena *arena, struct quota *q, struct fault *ret_fault)
{
	for (size_t i = 0; i < json_array_size(terms); i++) {
		if (parts_read_term(json_array_get(terms, i), "scopeName", arena,
			    &q->scopes.items[q->scopes.count++], ret_fault) < 0) {
			return fault_wrap(ret_fault, "scopeSelector.matchExpressions[%zu]", i);
		}
	}
	return 0;
}

static int read_spec(
	const json_t *root, struct arena *arena, struct quota *q, struct fault *ret_fault)
{
	const json_t *hard = NULL;
	const json_t *names = NULL;
	const json_t *terms = NULL;
	if (decode_object(root, "spec.hard", &hard, ret_fault) < 0 ||
		decode_array(root, "spec.scopes", &names, ret_fault) < 0 ||
		decode_array(root, "spec.scopeSelector.matchExpressions", &terms, ret_fault) < 0) {
		return -1;
	}
	read_hard(hard, q);
	if (!q->bounds_gpus) {
		return 0;
	}
	q->scopes.items =
		ARENA_ARRAY(arena, struct term, json_array_size(names) + json_array_size(terms));
	return read_scopes(names, arena, q, ret_fault) < 0 ||
			       read_selector(terms, arena, q, ret_fault) < 0
		       ? -1
		       : 0;
}

int quota_decode(const char *json, size_t n, struct arena *arena, struct quota *ret_quota,
	struct fault *ret_fault)
{
	CLEANUP(decode_release) json_t *root = NULL;
	struct quota quota = {.ns = "", .name = ""};
	if (decode_parse(json, n, DECODE_MEND, &root, ret_fault) < 0 ||
		decode_fields(
			root, quota_fields, COUNT_OF(quota_fields), arena, &quota, ret_fault) < 0 ||
		read_spec(root, arena, &quota, ret_fault) < 0) {
		return fault_wrap(ret_fault, "resourcequota %.63s/%.63s", quota.ns, quota.name);
	}
	*ret_quota = quota;
	return 0;
}
