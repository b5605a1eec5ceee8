/* PodDisruptionBudgets. */
#include "codec/objects.h"

#include "codec/parts.h"

struct raw {
	struct budget budget;
	int64_t generation, observed;
};

/* The API server refuses evictions until the status is of the spec. */
static int finish_budget(const struct reading *r, void *noun)
{
	struct raw *raw = noun;
	const json_t *selector = NULL;
	if (raw->observed < raw->generation || raw->budget.allowed < 0) {
		raw->budget.allowed = 0;
	}
	return decode_object(r->object, "spec.selector", &selector, r->fault) < 0
		       ? -1
		       : parts_read_selector(selector, r->arena, &raw->budget.selector, r->fault);
}

/* Not who is being evicted: that is another list with every pod that goes. */
static const struct field budget_fields[] = {
	FIELD("metadata.namespace", text, AT(raw, budget.ns), .required = true),
	FIELD("metadata.name", text, AT(raw, budget.name), .required = true),
	FIELD("metadata.uid", text, AT(raw, budget.uid)),
	FIELD("metadata.generation", i64, AT(raw, generation)),
	FIELD("status.disruptionsAllowed", i32, AT(raw, budget.allowed)),
	FIELD("status.observedGeneration", i64, AT(raw, observed)),
	FIELD_KEPT("spec.selector"),
};
const struct shape budget_shape = {SHAPE(raw, budget_fields),
	.defaults = &(const struct raw){.budget = {.ns = "", .name = "", .uid = ""}},
	SHAPE_NAMES("poddisruptionbudget", raw, budget.ns, budget.name),
	.given = sizeof(struct budget), .flags = DECODE_MEND, .finish = finish_budget};
