/* What verbs of the API server have in common: an answer that is a Status, and a deletion. */
#include "api_object.h"

void api_status(struct api_answer *a, int code, const char *reason, const char *message)
{
	json_t *status = json_pack("{s:s, s:s, s:s, s:s, s:s, s:i}", "kind", "Status", "apiVersion",
		"v1", "status", "Failure", "message", message, "reason", reason, "code", code);
	a->status = code;
	a->body = value_text(status);
	json_decref(status);
}

void apiserver_delete_pod(struct sim *s, struct stored *o, int64_t grace_s, int actor)
{
	char text[TIME_TEXT_MAX];
	bool graceful = !text_empty(o->pod.node) && !pod_is_terminal(&o->pod) && grace_s > 0;
	if (!graceful) {
		store_remove(&s->store, o, actor);
		return;
	}
	/* A grace is made shorter by a second deletion, never longer. */
	if (o->pod.deleting_ms != 0 && o->pod.grace_s <= grace_s) {
		return;
	}
	int64_t from = o->pod.deleting_ms != 0 ? o->pod.deleting_ms - o->pod.grace_s * 1000
					       : store_wall(&s->store);
	json_t *draft = store_draft(o);
	json_t *meta = json_object_get(draft, "metadata");
	json_object_set_new(
		meta, "deletionTimestamp", json_string(time_format(from + grace_s * 1000, text)));
	json_object_set_new(meta, "deletionGracePeriodSeconds", json_integer(grace_s));
	store_put(&s->store, RES_PODS, draft, actor);
}
