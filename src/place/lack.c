/* What is in the way on the GPUs that do not take a share: a look at all of them, worth its while
 * only when somebody is told. */
#include "place/place.h"

static const struct {
	enum reason reason;
	enum gpu_lack lack;
} lacks[] = {
	{REASON_SHORT_MEMORY, LACK_MEMORY},
	{REASON_SHORT_COMPUTE, LACK_COMPUTE},
	{REASON_MAX_TENANTS, LACK_TENANTS},
	{REASON_EXCLUSIVE, LACK_COMPANY},
	{REASON_GPU_UNHEALTHY, LACK_HEALTH},
	{REASON_CAPACITY_FAILED, LACK_USE},
	{REASON_REACQUIRING, LACK_USE},
	{REASON_MPS_HELD_OFF, LACK_USE},
};

/* LACK_COUNT: nothing that is counted. */
static enum gpu_lack lack_of(const struct place_gpu *g, const struct place_request *r)
{
	enum reason reason = place_gpu_takes(g, r);
	for (size_t i = 0; i < COUNT_OF(lacks); i++) {
		if (lacks[i].reason == reason) {
			return lacks[i].lack;
		}
	}
	return reason == REASON_NONE && g->kept_by != 0 ? LACK_KEPT : LACK_COUNT;
}

void place_count_lacks(
	const struct snapshot *s, const struct place_request *r, struct lack_tally *ret_tally)
{
	struct lack_tally t = {0};
	uint32_t node = PLACE_NOWHERE;
	bool suits = false;
	for (uint32_t i = 0; i < s->gpus.count; i++) {
		const struct place_gpu *g = &s->gpus.items[i];
		enum gpu_lack lack = lack_of(g, r);
		if (lack == LACK_COUNT) {
			continue;
		}
		/* Those of one node often stand together. */
		if (g->node != node) {
			node = g->node;
			suits = place_unfit(s, r, &s->nodes.items[node], NULL) == UNFIT_NONE;
		}
		t.by[lack] += suits ? 1 : 0;
	}
	*ret_tally = t;
}

uint32_t place_most_memory(const struct snapshot *s, const struct place_request *r)
{
	uint32_t best = PLACE_NOWHERE;
	for (uint32_t i = 0; i < s->gpus.count; i++) {
		const struct place_gpu *g = &s->gpus.items[i];
		bool more = best == PLACE_NOWHERE || g->free_mib > s->gpus.items[best].free_mib;
		if (more && g->kept_by == 0 && place_gpu_takes(g, r) == REASON_SHORT_MEMORY &&
			place_unfit(s, r, &s->nodes.items[g->node], NULL) == UNFIT_NONE) {
			best = i;
		}
	}
	return best;
}
