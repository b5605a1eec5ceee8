/* Events go through the recorder, which aggregates and sheds them. */
#include "act_parts.h"

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
