/* Tenants that give way to a pod that asks for whole GPUs and ranks higher (C17). What they free is
 * kept for it for a minute, whoever ranks before: it comes first in the walk, and what it still
 * lacks is out of the picture for everybody. docs/design/fairness.md */
#include <stdlib.h>

#include "preempt.h"
#include "state.h"

#define HOLD_MS 60000

int64_t whole_preempt_due_at(const struct picture *picture, const struct whole *w)
{
	int64_t at = w->lacks_since + picture->cfg->lacks_ms;
	return w->lacks_since < 0 ? TIME_NEVER : at > w->preempt_at ? at : w->preempt_at;
}

bool whole_preempt_is_due(const struct picture *picture, const struct whole *w)
{
	return picture->time->now >= whole_preempt_due_at(picture, w) && whole_is_judged(&w->pod) &&
	       w->pod.gpus <= MODEL_GPU_COUNT_MAX;
}

static struct siege_plan look_for(struct preempting *preempting, struct whole *w)
{
	struct siege_plan nowhere = {.node = WORLD_NONE};
	struct claims_of claims;
	if (!may_preempt_others(preempting->picture->world, &w->pod) ||
		needs_claims(preempting->picture->world, &w->pod, &claims) != REASON_NONE) {
		return nowhere;
	}
	struct place_request r = {.pod = &w->pod,
		.claims = claims.items,
		.claim_count = claims.count,
		.apart = neighbours_mark(preempting->scheduling->needs, &w->pod)};
	struct siege_want want = {
		.request = &r, .count = (uint32_t)w->pod.gpus, .whole = true, .held = w->hold};
	wholes_know_rooms(preempting->scheduling->wholes);
	return siege_lay(preempting, &want);
}

void whole_preempt(struct preempting *preempting, struct whole *w, struct emitter *out)
{
	const struct picture *picture = preempting->picture;
	struct siege_plan found = look_for(preempting, w);
	w->preempt_at = picture->time->now + PREEMPT_LATER_MS;
	if (found.node == WORLD_NONE || found.gpu_count == 0) {
		return;
	}
	enum evict_state state =
		found.first != NULL ? preempt_one(preempting->evictions, &w->pod, found.first, out)
				    : EVICT_GOING;
	bool goes_on = whole_is_held(preempting->scheduling->wholes, w);
	if (state != EVICT_SENT && !(goes_on && state == EVICT_GOING)) {
		w->preempt_at = goes_on ? picture->time->now + PREEMPT_SOON_MS : w->preempt_at;
		return;
	}
	CLEANUP(str_finish) struct str uuids = STR_INIT(MODEL_GPU_COUNT_MAX * GPU_UUID_MAX);
	gpus_list(picture, found.gpus, found.gpu_count, &uuids);
	text_set(&w->hold, str_text(&uuids));
	w->hold_until = picture->time->now + HOLD_MS;
	w->preempt_at = picture->time->now + PREEMPT_SOON_MS;
}
