/* How many capacity pods may be on their way to a GPU at once. */
#include "ledger/opening.h"

#include "ledger/ledger.h"
#include "model/refusal.h"

/* On all nodes together. */
#define OPENING_MAX 256
/* Mostly it is a second or two. One that takes longer waits for an image, a kubelet or a room on
 * its node; others need not wait with it. */
#define OPENING_FRESH_MS 15000

void openings_count(struct openings *openings)
{
	const struct picture *picture = openings->picture;
	openings->fresh = 0;
	openings->until = TIME_NEVER;
	openings->refused[false] = openings->refused[true] = false;
	for (uint32_t i = 0; i < picture->snap_gpus.count; i++) {
		const struct holder *h = picture->snap_gpus.items[i].holder;
		bool stuck =
			h->refused_at >= 0 || picture->time->now - h->opened_at >= OPENING_FRESH_MS;
		if (picture->snap.gpus.items[i].state == GPU_OPENING && !stuck) {
			openings->fresh++;
			openings->until =
				time_min(openings->until, h->opened_at + OPENING_FRESH_MS);
		}
		bool answered = !h->in_world && h->flight == 0 && h->refusal != NULL;
		openings->refused[h->mps] |=
			answered && refusal_reason(h->refusal) == REASON_POLICY_REFUSED;
	}
}

bool openings_take(struct openings *openings)
{
	if (openings->fresh >= OPENING_MAX) {
		wake_by(openings->picture->time, openings->until);
		return false;
	}
	openings->fresh++;
	openings->until =
		time_min(openings->until, openings->picture->time->now + OPENING_FRESH_MS);
	return true;
}
