/* How actions end, as a metric. */
#include "act_parts.h"

void action_count(struct metric_registry *metrics, const struct action *x, const struct fault *f)
{
	CLEANUP(str_finish) struct str labels = STR_INIT(128);
	if (metrics == NULL) {
		return;
	}
	metric_label(&labels, "action", action_name(x));
	metric_label(&labels, "outcome", f->unknown_outcome ? "unknown" : fault_kind_name(f->kind));
	metric_add(metric_get(metrics, METRIC_COUNTER, "aliquot_actions_total",
			   "Actions that ended, by type and outcome.", str_text(&labels)),
		1);
}
