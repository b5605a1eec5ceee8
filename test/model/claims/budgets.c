/* Disruption budgets: may one pod more go? */
#include "budgets.h"

#include "json/decode.h"
#include "objects/sim_parts.h"
#include "work_objects.h"

static const struct stored *budget_over(const struct sim *s, const struct stored *o)
{
	for (size_t i = 0; i < s->store.items.count; i++) {
		const struct stored *b = s->store.items.items[i];
		if (b->resource == RES_BUDGETS && strcmp(b->ns, o->ns) == 0 &&
			work_selects(decode_find(b->value, "spec.selector.matchLabels"), o)) {
			return b;
		}
	}
	return NULL;
}

const char *budgets_forbid(struct sim *s, const struct stored *o, bool takes)
{
	const struct stored *b = budget_over(s, o);
	if (b == NULL || o->pod.phase != POD_RUNNING || o->pod.deleting_ms != 0) {
		return NULL;
	}
	int64_t allowed = work_number(b->value, "status.disruptionsAllowed");
	int64_t healthy = work_number(b->value, "status.currentHealthy");
	int64_t desired = work_number(b->value, "spec.minAvailable");
	if (!o->pod.ready && healthy >= desired && desired > 0) {
		return NULL;
	}
	if (work_number(b->value, "status.observedGeneration") <
			work_number(b->value, "metadata.generation") ||
		allowed < 1) {
		return "Cannot evict pod as it would violate the pod's disruption budget.";
	}
	if (takes) {
		json_t *draft = store_draft(b);
		json_object_set_new(json_object_get(draft, "status"), "disruptionsAllowed",
			json_integer(allowed - 1));
		work_put(s, b, draft);
	}
	return NULL;
}
