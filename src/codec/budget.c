/* PodDisruptionBudgets. */
#include "codec/budget.h"

#include "parts.h"

static const struct slice_keep notes_keep[] = {PARTS_BOOKMARK_KEEP, SLICE_END};
static const struct slice_keep meta_keep[] = {
	PARTS_META_KEEP,
	SLICE_KEEP("generation"),
	SLICE_KEEP_IN("annotations", notes_keep),
	SLICE_END,
};
static const struct slice_keep spec_keep[] = {SLICE_KEEP("selector"), SLICE_END};
/* Not who is being evicted: that is another list with every pod that goes. */
static const struct slice_keep status_keep[] = {
	SLICE_KEEP("disruptionsAllowed"),
	SLICE_KEEP("observedGeneration"),
	SLICE_END,
};
static const struct slice_keep budget_keep[] = {
	SLICE_KEEP_IN("metadata", meta_keep),
	SLICE_KEEP_IN("spec", spec_keep),
	SLICE_KEEP_IN("status", status_keep),
	SLICE_END,
};

const struct slice_keep *budget_projection(void)
{
	return budget_keep;
}

struct raw {
	struct budget budget;
	int64_t generation, observed;
};

static const struct decode_field fields[] = {
	{"metadata.namespace", DECODE_TEXT, true, offsetof(struct raw, budget.ns), NULL},
	{"metadata.name", DECODE_TEXT, true, offsetof(struct raw, budget.name), NULL},
	{"metadata.uid", DECODE_TEXT, false, offsetof(struct raw, budget.uid), NULL},
	{"metadata.generation", DECODE_I64, false, offsetof(struct raw, generation), NULL},
	{"status.disruptionsAllowed", DECODE_I32, false, offsetof(struct raw, budget.allowed),
		NULL},
	{"status.observedGeneration", DECODE_I64, false, offsetof(struct raw, observed), NULL},
};

int budget_decode(const char *json, size_t n, struct arena *arena, struct budget *ret_budget,
	struct fault *ret_fault)
{
	CLEANUP(decode_release) json_t *root = NULL;
	struct raw raw = {.budget = {.ns = "", .name = "", .uid = ""}};
	const json_t *selector = NULL;
	if (decode_parse(json, n, DECODE_MEND, &root, ret_fault) < 0 ||
		decode_fields(root, fields, COUNT_OF(fields), arena, &raw, ret_fault) < 0 ||
		decode_object(root, "spec.selector", &selector, ret_fault) < 0 ||
		parts_read_selector(selector, arena, &raw.budget.selector, ret_fault) < 0) {
		return fault_wrap(ret_fault, "poddisruptionbudget %.63s/%.63s", raw.budget.ns,
			raw.budget.name);
	}
	/* The API server refuses evictions until the status is of the spec. */
	if (raw.observed < raw.generation || raw.budget.allowed < 0) {
		raw.budget.allowed = 0;
	}
	*ret_budget = raw.budget;
	return 0;
}
