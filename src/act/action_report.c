/* What is told of actions: how they ended, as metrics and logs; and events, through the recorder,
 * which aggregates and sheds them. */
#include "action_report.h"

#include "base/log.h"

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

void evict_note(struct metric_registry *metrics, const struct action *x)
{
	log_info("evicted a tenant", LOG_S("ns", x->ns), LOG_S("name", x->name),
		LOG_S("reason", reason_name(x->reason)), LOG_S("why", x->message));
	if (metrics == NULL) {
		return;
	}
	CLEANUP(str_finish) struct str labels = STR_INIT(64);
	metric_label(&labels, "reason", reason_name(x->reason));
	metric_add(metric_get(metrics, METRIC_COUNTER, "aliquot_evictions_total",
			   "Tenants evicted, by reason.", str_text(&labels)),
		1);
}

bool event_hand_over(struct events *recorder, const struct action *x)
{
	const char *reason = text_empty(x->event_reason) ? reason_name(x->reason) : x->event_reason;
	struct event_note note = {
		.api_version =
			text_empty(x->regarding_api_version) ? "v1" : x->regarding_api_version,
		.kind = text_empty(x->regarding_kind) ? "Pod" : x->regarding_kind,
		.ns = text_or(x->ns, ""),
		.name = text_or(x->name, ""),
		.uid = text_or(x->uid, ""),
		.reason = reason,
		.note = text_or(x->message, ""),
		.warning = x->warning,
	};
	return recorder != NULL && events_emit(recorder, &note);
}
