/* How old what is known of the pods may be when a gate is taken off (C21).
 *
 * A quiet watch tells nothing for a minute, and is no older for that: what has not happened is not
 * told. So age is not the time since something was heard. It is how long something that certainly
 * happened has not been heard of: a write of our own that was acknowledged. Every placement has
 * such a write just before it, the grant, which goes through the same watch that tells what else
 * was bound to the node. The gate is taken off once the grant has come back, so the view then
 * includes everything older than the grant; and nobody's is taken off while some other grant has
 * been on its way back for two seconds. A watch of nodes or pods that broke stops all decisions.
 *
 * Nor is a ledger written meanwhile. Who stands in it could not be told, and as long as there were
 * new ones some grant would always be late: a watch that is steadily behind, because somebody fills
 * it with large objects, would keep everybody waiting for as long as somebody comes.
 *
 * A node that was cordoned, or whose allocatable shrank, at this very moment may still be missed,
 * and a pod that the scheduler binds between the grant and the placement. What comes of that is
 * recycled (recycle.c). */
#include "view.h"

#include "state.h"

#define VIEW_MS 2000

static bool lags(const struct book *book)
{
	for (size_t i = 0; i < book->holders.count; i++) {
		const struct holder *h = book->holders.items[i];
		bool owed = h->in_world && h->acked_rv != NULL;
		if (owed && book->time->now - h->acked_at > VIEW_MS) {
			return true;
		}
	}
	return false;
}

/* Asked for each tenant that is told its share; nothing changes it while that is decided. */
bool view_lags(struct book *book)
{
	if (book->view.step != book->time->step) {
		book->view.step = book->time->step;
		book->view.lags = lags(book);
	}
	return book->view.lags;
}
