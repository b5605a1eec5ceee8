/* Connections: all of them, and those that wait, by what they are for and by when they were used.
 */
#include "base/alloc.h"
#include "poller_internal.h"

#define LOOK_EVERY_MS 10000

static bool conn_same(const void *owner, uint32_t slot, const void *key)
{
	const struct poller *p = owner;
	return strcmp(p->conns.items[slot]->key, key) == 0;
}

void poller_conns_add(struct poller *p, struct poller_conn *c)
{
	c->slot = (uint32_t)p->conns.count;
	VEC_PUSH(&p->conns, c);
}

void poller_conns_remove(struct poller_conn *c)
{
	struct poller *p = c->poller;
	struct poller_conn *last = p->conns.items[p->conns.count - 1];

	if (last != c) {
		uint64_t hash = key_text(last->key);
		if (last->phase == POLLER_IDLE) {
			map_remove(&p->idle_by_key, hash, last->slot);
			map_put(&p->idle_by_key, hash, c->slot);
		}
		last->slot = c->slot;
	}
	VEC_REMOVE_SWAP(&p->conns, c->slot);
}

void poller_idle_leave(struct poller_conn *c)
{
	struct poller *p = c->poller;

	map_remove(&p->idle_by_key, key_text(c->key), c->slot);
	*(c->prev != NULL ? &c->prev->next : &p->idle_first) = c->next;
	*(c->next != NULL ? &c->next->prev : &p->idle_last) = c->prev;
	c->prev = c->next = NULL;
	c->phase = POLLER_SEND;
}

struct poller_conn *poller_idle_take(struct poller *p, const char *key)
{
	uint32_t slot = map_find(&p->idle_by_key, key_text(key), key);

	if (slot == MAP_NONE) {
		return NULL;
	}
	struct poller_conn *c = p->conns.items[slot];
	poller_idle_leave(c);
	return c;
}

/* Those that began together do not end together. */
static int64_t conn_age_most(uint64_t hash)
{
	return POLLER_AGE_MS / 2 + (int64_t)(hash % (POLLER_AGE_MS / 2));
}

static bool is_useful(const struct poller_conn *c, int64_t now)
{
	const struct poller *p = c->poller;
	uint64_t hash = key_text(c->key);

	return c->trust == p->trust && now - c->born_ms < conn_age_most(hash) &&
	       map_find(&p->idle_by_key, hash, c->key) == MAP_NONE;
}

void poller_idle_put(struct poller_conn *c)
{
	struct poller *p = c->poller;
	int64_t now = loop_now_ms();

	if (!is_useful(c, now)) {
		poller_conn_close(c);
		return;
	}
	c->idle_ms = now;
	c->phase = POLLER_IDLE;
	c->allowed = POLLER_IDLE_BYTES;
	c->kept = true;
	c->prev = p->idle_last;
	*(c->prev != NULL ? &c->prev->next : &p->idle_first) = c;
	p->idle_last = c;
	map_put(&p->idle_by_key, key_text(c->key), c->slot);
	poller_conn_watch(c, EV_READ);
	if (!loop_timer_active(&p->idle_timer)) {
		loop_timer_repeat_ms(&p->idle_timer, LOOK_EVERY_MS);
	}
}

/* They are asked in turn: the one that was asked first will be asked next. */
void poller_idle_shed(struct poller *p)
{
	if (p->idle_last != NULL) {
		poller_conn_close(p->idle_last);
	}
}

void poller_idle_close_all(struct poller *p)
{
	while (p->idle_first != NULL) {
		poller_conn_close(p->idle_first);
	}
}

static void on_idle_look(void *data)
{
	struct poller *p = data;
	int64_t now = loop_now_ms();

	while (p->idle_first != NULL && now - p->idle_first->idle_ms >= POLLER_IDLE_MS) {
		poller_conn_close(p->idle_first);
	}
	if (p->idle_first == NULL) {
		loop_timer_stop(&p->idle_timer);
	}
}

void poller_idle_init(struct poller *p)
{
	map_init(&p->idle_by_key, conn_same, p);
	loop_timer_init(&p->idle_timer, p->loop, on_idle_look, p);
}
