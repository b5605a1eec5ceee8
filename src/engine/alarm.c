/* What is said about capacity pods that do not do what they are for. The pod may be gone by the
 * time somebody reads it; events stay. */
#include "alarm.h"

#include "model/names.h"
#include "size/explain.h"
#include "size/explain_gpus.h"
#include "state.h"

void alarm_say(struct engine *e, const struct holder *h, const char *reason, const struct str *text,
	struct plan *plan)
{
	struct action *a = emit(e, plan, ACTION_EVENT);
	a->ns = NAME_NAMESPACE;
	a->name = arena_strdup(&plan->arena, h->name);
	a->uid = arena_strdup(&plan->arena, h->uid);
	a->regarding_kind = "Pod";
	a->regarding_api_version = "v1";
	a->event_reason = reason;
	a->warning = true;
	a->message = arena_strdup(&plan->arena, str_text(text));
}

/* Its node rests already. */
void alarm_failed(struct engine *e, const struct holder *h, int64_t now, struct plan *plan)
{
	CLEANUP(str_finish) struct str text = STR_INIT(1024);
	struct node_memo *m = memo_find(e, h->node);
	bool over = pod_is_terminal(&h->pod);
	int64_t since = h->pod.identity == NULL ? h->opened_at : h->lost_at;
	bool unbound = h->refused_at >= 0 && text_empty(h->pod.node);
	bool refused = over && !text_empty(h->pod.status_reason);
	const char *detail = refused   ? h->pod.status_reason
			     : unbound ? "the scheduler does not bind it"
				       : h->pod.trouble;
	struct explain_failure f = {.node = h->node,
		.ended = over,
		.told = h->pod.identity != NULL,
		.after_s = (now - since) / 1000,
		.detail = detail,
		.rests_s = m != NULL && m->until > now ? (m->until - now + 999) / 1000 : 0};
	if (m != NULL) {
		text_set(&m->why, detail);
	}
	explain_capacity_failed(&text, &f);
	alarm_say(e, h, "CapacityFailed", &text, plan);
}

static void tell_doubled(
	struct engine *e, struct holder *h, const struct holder *other, struct plan *plan)
{
	CLEANUP(str_finish) struct str text = STR_INIT(1024);
	if (h->told_doubled) {
		return;
	}
	h->told_doubled = true;
	/* One more would tell the same again; but no node rests for what another one tells. */
	bool near = text_equals(h->node, other->node);
	if (near) {
		trouble_note(e, h->node, e->now);
	}
	explain_doubled(&text, h->pod.identity->uuid, other->name, near ? NULL : other->node);
	alarm_say(e, h, "GpuDoubled", &text, plan);
}

/* The map has the first of those that tell one UUID. */
void alarm_doubled(struct engine *e, struct plan *plan)
{
	e->report.gpus_doubled = 0;
	for (uint32_t i = 0; i < e->snap_gpus.count; i++) {
		struct holder *h = e->snap_gpus.items[i].holder;
		const struct gpu_identity *id = h->pod.identity;
		uint32_t first = id != NULL ? snap_gpu_on(e, id->uuid, e->snap.gpus.items[i].node)
					    : WORLD_NONE;
		/* One of another node only where none of its own tells it. */
		first = first == i ? snap_gpu_first(e, id->uuid) : first;
		if (first == i || first == WORLD_NONE) {
			continue;
		}
		struct holder *other = e->snap_gpus.items[first].holder;
		e->report.gpus_doubled++;
		tell_doubled(e, other, h, plan);
		tell_doubled(e, h, other, plan);
	}
}
