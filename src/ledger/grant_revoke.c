/* An entry of a tenant that was not told of it is a promise, and what runs comes first. Another's
 * placement may land on the GPU after its share was promised to somebody: it was sent before, to
 * the GPU of a capacity pod that is gone, by a leader that is gone too, and the new one's view did
 * not show it yet. Whoever was promised last looks elsewhere then, until it is told of another GPU
 * or there is room for it again; the entry itself counts as before, for it stands there. */
#include "ledger/grant_revoke.h"

#include "ledger/ledger.h"

/* It would be told of this entry, and nothing says yet that it was. */
static struct waiter *untold(const struct book *book, const struct holder *h, const struct grant *g)
{
	struct waiter *w = waiter_find(book, g->uid);
	if (w == NULL || w->granted_step != book->time->step || w->flight != 0 ||
		w->landings.count > 0) {
		return NULL;
	}
	if (waiter_count(w) == 1) {
		return w->granted_by == h ? w : NULL;
	}
	for (size_t i = 0; i < w->group.granted.count; i++) {
		if (w->group.granted.items[i].holder == h) {
			return w;
		}
	}
	return NULL;
}

/* Two that led may each have promised it something: there is another entry, and room there. */
static bool stands_elsewhere(struct picture *picture, struct waiter *w)
{
	for (uint32_t i = 0; i < picture->snap_gpus.count; i++) {
		const struct place_gpu *g = &picture->snap.gpus.items[i];
		struct holder *h = picture->snap_gpus.items[i].holder;
		const struct ledger *l = holder_ledger(h);
		for (uint32_t k = 0; h != w->granted_by && k < l->count; k++) {
			bool its = strcmp(l->items[k].uid, w->uid) == 0;
			if (its && g->free_milli >= 0 && g->free_mib >= 0) {
				w->granted_by = h;
				w->granted_index = k;
				return true;
			}
		}
	}
	return false;
}

static void forget_entry(struct picture *picture, struct waiter *w, const struct holder *h)
{
	struct group *g = &w->group;
	if (waiter_count(w) == 1) {
		w->granted_step = stands_elsewhere(picture, w) ? picture->time->step : 0;
		return;
	}
	for (size_t i = g->granted.count; i-- > 0;) {
		if (g->granted.items[i].holder == h) {
			VEC_REMOVE_SWAP(&g->granted, i);
		}
	}
	w->granted_step = g->granted.count > 0 ? w->granted_step : 0;
}

static void relieve(struct picture *picture, const struct place_gpu *g, const struct holder *h)
{
	const struct ledger *l = holder_ledger(h);
	int64_t milli = g->free_milli, mib = g->free_mib;
	for (uint32_t i = l->count; i-- > 0 && (milli < 0 || mib < 0);) {
		struct waiter *w = untold(picture->book, h, &l->items[i]);
		if (w != NULL) {
			forget_entry(picture, w, h);
			waiter_note_stale(w, l->items[i].milli, picture->time->step);
			milli += l->items[i].milli;
			mib += l->items[i].mem_mib;
		}
	}
}

void grants_revoke(struct picture *picture)
{
	for (uint32_t i = 0; i < picture->snap_gpus.count; i++) {
		const struct place_gpu *g = &picture->snap.gpus.items[i];
		if (g->free_milli < 0 || g->free_mib < 0) {
			relieve(picture, g, picture->snap_gpus.items[i].holder);
		}
	}
}
