/* Writes under way, by the number of their action: an outcome finds whose it is without a look at
 * everybody who waits. Kept with the books, from which it can be told at any time. */
#include "flight.h"

#include "state.h"

static uint64_t hash_id(uint64_t id)
{
	return hash_bytes(&id, sizeof id, 0);
}

static bool waiter_same(const void *owner, uint32_t slot, const void *key)
{
	const struct engine *e = owner;
	return e->waiters.items[slot]->flight == *(const uint64_t *)key;
}

static bool holder_same(const void *owner, uint32_t slot, const void *key)
{
	const struct engine *e = owner;
	return e->holders.items[slot]->flight == *(const uint64_t *)key;
}

void flights_init(struct engine *e)
{
	map_init(&e->flights.waiters, waiter_same, e);
	map_init(&e->flights.holders, holder_same, e);
}

void flights_finish(struct flights *f)
{
	map_finish(&f->waiters);
	map_finish(&f->holders);
}

bool flights_room(const struct engine *e)
{
	const struct flights *f = &e->flights;
	return f->waiters.count + f->holders.count + f->decided + f->told < FLIGHTS_MAX;
}

void waiter_sends(struct engine *e, struct waiter *w, uint64_t id)
{
	waiter_heard(e, w);
	w->flight = id;
	if (id != 0) {
		map_put(&e->flights.waiters, hash_id(id), w->at);
	}
}

void waiter_heard(struct engine *e, struct waiter *w)
{
	if (w->flight != 0) {
		map_remove(&e->flights.waiters, hash_id(w->flight), w->at);
		w->flight = 0;
	}
}

void holder_sends(struct engine *e, struct holder *h, enum action_type type, uint64_t id)
{
	holder_heard(e, h);
	h->flight_type = type;
	h->flight = id;
	if (id != 0) {
		map_put(&e->flights.holders, hash_id(id), h->at);
	}
}

void holder_heard(struct engine *e, struct holder *h)
{
	if (h->flight != 0) {
		map_remove(&e->flights.holders, hash_id(h->flight), h->at);
		h->flight = 0;
	}
}

struct waiter *waiter_of_flight(const struct engine *e, uint64_t id)
{
	uint32_t i = map_find(&e->flights.waiters, hash_id(id), &id);
	return i == MAP_NONE ? NULL : e->waiters.items[i];
}

struct holder *holder_of_flight(const struct engine *e, uint64_t id)
{
	uint32_t i = map_find(&e->flights.holders, hash_id(id), &id);
	return i == MAP_NONE ? NULL : e->holders.items[i];
}

void waiter_moves(struct engine *e, struct waiter *w, uint32_t at)
{
	uint64_t flight = w->flight;
	waiter_heard(e, w);
	w->at = at;
	waiter_sends(e, w, flight);
}

void holder_moves(struct engine *e, struct holder *h, uint32_t at)
{
	uint64_t flight = h->flight;
	holder_heard(e, h);
	h->at = at;
	holder_sends(e, h, h->flight_type, flight);
}
