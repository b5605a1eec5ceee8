/* What is told of the closest miss and takes a look at everything: only when somebody is told. */
#include "parts.h"

uint32_t place_most_memory(const struct snapshot *s, const struct place_request *r)
{
	uint32_t best = PLACE_NOWHERE;
	for (uint32_t i = 0; i < s->gpus.count; i++) {
		const struct place_gpu *g = &s->gpus.items[i];
		int64_t milli, mib;
		place_share(r, g->usable_mib, &milli, &mib);
		bool more = best == PLACE_NOWHERE || g->free_mib > s->gpus.items[best].free_mib;
		if (more && g->kept_by == 0 &&
			place_gpu_fits(g, r, milli, mib) == REASON_SHORT_MEMORY &&
			place_unfit(s, r, &s->nodes.items[g->node], NULL) == UNFIT_NONE) {
			best = i;
		}
	}
	return best;
}
