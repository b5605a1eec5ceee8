/* Writes under way, by the number of their action: an outcome finds whose it is without a look at
 * everybody who waits. Kept with the books, from which it can be told at any time. */
#include "ledger/flight.h"

#include "ledger/book.h"
#include "ledger/capacity_pod.h"
#include "ledger/pending_pod.h"
#include "ledger/step_time.h"

static uint64_t hash_id(uint64_t id)
{
	return hash_bytes(&id, sizeof id, 0);
}

static bool waiter_same(const void *owner, uint32_t slot, const void *key)
{
	const struct book *b = owner;
	return b->waiters.items[slot]->flight == *(const uint64_t *)key;
}

static bool holder_same(const void *owner, uint32_t slot, const void *key)
{
	const struct book *b = owner;
	return b->holders.items[slot]->flight == *(const uint64_t *)key;
}

void flights_init(struct book *b)
{
	map_init(&b->flights.waiters, waiter_same, b);
	map_init(&b->flights.holders, holder_same, b);
}

void flights_finish(struct flights *f)
{
	map_finish(&f->waiters);
	map_finish(&f->holders);
}

bool flights_room(const struct book *b)
{
	const struct flights *f = &b->flights;
	return f->waiters.count + f->holders.count + f->decided + f->told < FLIGHTS_MAX;
}

void waiter_sends(struct book *b, struct waiter *w, uint64_t id)
{
	waiter_heard(b, w);
	w->flight = id;
	if (id != 0) {
		map_put(&b->flights.waiters, hash_id(id), w->at);
	}
}

void waiter_heard(struct book *b, struct waiter *w)
{
	if (w->flight != 0) {
		map_remove(&b->flights.waiters, hash_id(w->flight), w->at);
		w->flight = 0;
	}
}

void holder_sends(struct book *b, struct holder *h, enum action_type type, uint64_t id)
{
	holder_heard(b, h);
	h->flight_type = type;
	h->flight = id;
	if (id != 0) {
		map_put(&b->flights.holders, hash_id(id), h->at);
	}
}

void holder_heard(struct book *b, struct holder *h)
{
	if (h->flight != 0) {
		map_remove(&b->flights.holders, hash_id(h->flight), h->at);
		h->flight = 0;
	}
}

struct waiter *waiter_of_flight(const struct book *b, uint64_t id)
{
	uint32_t i = map_find(&b->flights.waiters, hash_id(id), &id);
	return i == MAP_NONE ? NULL : b->waiters.items[i];
}

struct holder *holder_of_flight(const struct book *b, uint64_t id)
{
	uint32_t i = map_find(&b->flights.holders, hash_id(id), &id);
	return i == MAP_NONE ? NULL : b->holders.items[i];
}

void waiter_moves(struct book *b, struct waiter *w, uint32_t at)
{
	uint64_t flight = w->flight;
	waiter_heard(b, w);
	w->at = at;
	waiter_sends(b, w, flight);
}

void holder_moves(struct book *b, struct holder *h, uint32_t at)
{
	uint64_t flight = h->flight;
	holder_heard(b, h);
	h->at = at;
	holder_sends(b, h, h->flight_type, flight);
}

/* --- how old what is known may be --- */

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
 * recycled (guardian/recycle.c). */
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
