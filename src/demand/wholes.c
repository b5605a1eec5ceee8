/* The pods that wait for whole GPUs, from the step that first meets one to the one that misses it.
 */
#include "demand/wholes.h"

#include <stdlib.h>

#include "demand/needs.h"
#include "ledger/ledger.h"

static bool whole_same(const void *owner, uint32_t slot, const void *key)
{
	const struct wholes *wholes = owner;
	return strcmp(wholes->all.items[slot]->uid, key) == 0;
}

void wholes_init(struct wholes *wholes, struct needs *needs)
{
	*wholes = (struct wholes){.picture = needs->picture, .needs = needs};
	map_init(&wholes->by_uid, whole_same, wholes);
}

static void whole_free(struct whole *w)
{
	arena_finish(&w->arena);
	free(w->hold);
	free(w->uid);
	free(w);
}

void wholes_finish(struct wholes *wholes)
{
	for (size_t i = 0; i < wholes->all.count; i++) {
		whole_free(wholes->all.items[i]);
	}
	VEC_FINISH(&wholes->all);
	VEC_FINISH(&wholes->ranked);
	VEC_FINISH(&wholes->keepers);
	VEC_FINISH(&wholes->rooms);
	map_finish(&wholes->by_uid);
}

struct whole *whole_find(const struct wholes *wholes, const char *uid)
{
	uint32_t i = map_find(&wholes->by_uid, hash_text(uid), uid);
	return i == MAP_NONE ? NULL : wholes->all.items[i];
}

struct whole *whole_touch(struct wholes *wholes, const char *uid, int64_t now)
{
	struct whole *w = whole_find(wholes, uid);
	if (w == NULL) {
		w = xcalloc(1, sizeof *w);
		w->uid = xstrdup(uid);
		w->arena.block_bytes = 1024;
		w->stamp = UINT64_MAX;
		w->since = now;
		w->offered_at = -1;
		w->lacks_since = -1;
		VEC_PUSH(&wholes->all, w);
		map_put(&wholes->by_uid, hash_text(uid), (uint32_t)wholes->all.count - 1);
	}
	w->seen = wholes->picture->time->step;
	return w;
}

void wholes_sweep(struct wholes *wholes)
{
	bool any = false;
	for (size_t i = wholes->all.count; i-- > 0;) {
		if (wholes->all.items[i]->seen != wholes->picture->time->step) {
			whole_free(wholes->all.items[i]);
			VEC_REMOVE_SWAP(&wholes->all, i);
			any = true;
		}
	}
	if (!any) {
		return;
	}
	/* Places have moved: index anew. */
	map_clear(&wholes->by_uid);
	for (size_t i = 0; i < wholes->all.count; i++) {
		map_put(&wholes->by_uid, hash_text(wholes->all.items[i]->uid), (uint32_t)i);
	}
}

bool whole_is_held(const struct wholes *wholes, const struct whole *w)
{
	return w->hold != NULL && wholes->picture->time->now < w->hold_until;
}
