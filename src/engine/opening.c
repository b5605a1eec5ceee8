/* How many capacity pods may be on their way to a GPU at once. */
#include "model/refusal.h"
#include "state.h"

/* On all nodes together. */
#define OPENING_MAX 256
/* Mostly it is a second or two. One that takes longer waits for an image, a kubelet or a room on
 * its node; others need not wait with it. */
#define OPENING_FRESH_MS 15000

void openings_count(struct engine *e)
{
	e->openings.fresh = e->openings.made = 0;
	e->openings.until = TIME_NEVER;
	e->openings.refused[false] = e->openings.refused[true] = false;
	for (uint32_t i = 0; i < e->picture.snap_gpus.count; i++) {
		const struct holder *h = e->picture.snap_gpus.items[i].holder;
		bool stuck = h->refused_at >= 0 || e->time.now - h->opened_at >= OPENING_FRESH_MS;
		if (e->picture.snap.gpus.items[i].state == GPU_OPENING && !stuck) {
			e->openings.fresh++;
			e->openings.until =
				time_min(e->openings.until, h->opened_at + OPENING_FRESH_MS);
		}
		bool answered = !h->in_world && h->flight == 0 && h->refusal != NULL;
		e->openings.refused[h->mps] |=
			answered && refusal_reason(h->refusal) == REASON_POLICY_REFUSED;
	}
}

bool openings_take(struct engine *e)
{
	if (e->openings.fresh >= OPENING_MAX) {
		wake_by(&e->time, e->openings.until);
		return false;
	}
	e->openings.made++;
	e->openings.fresh++;
	e->openings.until = time_min(e->openings.until, e->time.now + OPENING_FRESH_MS);
	return true;
}
