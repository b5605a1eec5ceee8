/* Which connections run in a turn of the loop: each address has its part of it.
 *
 * There is one loop, and who asks as fast as he can, on as many connections as he may have, would
 * have most of its time. In each turn of the loop the connections of one address together have a
 * slice of it, for handshakes and for requests. Who has had it waits for the next turn, in the
 * order in which they came, and meanwhile the others have theirs. Nothing is left undone while
 * there is time for it: who is alone here (an API server with many reviews) only takes more turns.
 */
#include "server_pace.h"

#include "base/clock.h"

/* So long the others may wait for each address that has more to say than it gets; one request may
 * be longer. */
#define SLICE_US 4000

static int64_t spent_us(const struct server *s, const struct source *x)
{
	int64_t before = x->turn == s->turn ? x->spent_us : 0;
	return s->running == x ? before + clock_mono_us() - s->running_us : before;
}

bool pace_is_over(const struct conn *c)
{
	const struct server *s = c->server;
	return !s->draining && spent_us(s, c->source) >= SLICE_US;
}

static void conn_park(struct conn *c)
{
	struct server *s = c->server;
	c->parked = true;
	LIST_PUSH(&s->parked, c, before, after);
	metric_add(s->paced, 1);
}

void pace_forget(struct conn *c)
{
	if (c->parked) {
		c->parked = false;
		LIST_REMOVE(&c->server->parked, c, before, after);
	}
}

bool pace_begin(struct conn *c)
{
	struct server *s = c->server;
	if (c->parked && !s->draining) {
		return false;
	}
	if (pace_is_over(c)) {
		conn_park(c);
		return false;
	}
	pace_forget(c);
	s->running = c->source;
	s->running_us = clock_mono_us();
	return true;
}

void pace_end(struct server *s)
{
	struct source *x = s->running;
	if (x != NULL) {
		x->spent_us = spent_us(s, x);
		x->turn = s->turn;
		s->running = NULL;
	}
}

/* Once a turn, before the loop asks for events: who waited is before who comes next. A connection
 * that is run may end others. */
static void run_parked(void *data)
{
	struct server *s = data;
	int waiting = 0;
	s->turn++;
	for (const struct conn *c = s->parked.first; c != NULL; c = c->after) {
		waiting++;
	}
	for (; waiting > 0 && s->parked.first != NULL; waiting--) {
		struct conn *c = s->parked.first;
		pace_forget(c);
		s->run_waiting(c);
	}
	if (s->parked.first != NULL) {
		loop_wake_at(s->loop, loop_now_ms());
	}
}

void pace_init(struct server *s, void (*run)(struct conn *c))
{
	s->run_waiting = run;
	loop_on_turn(s->loop, run_parked, s);
}

void pace_finish(struct server *s)
{
	loop_off_turn(s->loop, run_parked, s);
}
