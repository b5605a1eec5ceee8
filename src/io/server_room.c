/* Which connection is closed when there is no room for another.
 *
 * Whoever reaches the port may open connections and say nothing, a byte or half a handshake, as
 * often as he likes. A new connection always gets a chance: he might be the one who has something
 * to say. What is bounded is the number of connections, of those that never had an answer, and of
 * those of one address. Where a bound is met, one goes:
 *
 * 1. that was never answered, or has nothing more to say: of the address that has most of those,
 * the oldest;
 * 2. that is idle: of the address that has most connections, the one that has been silent longest;
 * 3. that has been at the same request for a second: the one that has longest.
 *
 * So a storm from one address ends its own connections, a storm from many ends those that have had
 * their chance longest, and connections that the API server keeps open stand apart from both.
 * Memory that a storm took is given back when it is over. */
#include "server_room.h"

#include <malloc.h>
#include <sys/socket.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "server_conn.h"
#include "server_reply.h"

/* So long a request may be under way before it can lose its place. */
#define AT_WORK_US ((int64_t)1000 * 1000)
/* After so many connections, and so much later. */
#define GIVE_BACK_AFTER 64
#define GIVE_BACK_MS	2000

/* --- who has how many --- */

static struct in6_addr peer_address(int fd)
{
	struct sockaddr_storage peer = {0};
	struct in6_addr a = {0};
	socklen_t n = sizeof peer;
	if (getpeername(fd, (struct sockaddr *)&peer, &n) != 0) {
		return a;
	}
	if (peer.ss_family == AF_INET6) {
		return ((struct sockaddr_in6 *)&peer)->sin6_addr;
	}
	if (peer.ss_family == AF_INET) {
		a.s6_addr[10] = a.s6_addr[11] = 0xff;
		memcpy(a.s6_addr + 12, &((struct sockaddr_in *)&peer)->sin_addr, 4);
	}
	return a;
}

static struct source *source_of(struct server *s, int fd)
{
	const struct in6_addr address = peer_address(fd);
	for (struct source *x = s->sources.first; x != NULL; x = x->next) {
		if (memcmp(&x->address, &address, sizeof address) == 0) {
			return x;
		}
	}
	struct source *made = xcalloc(1, sizeof *made);
	made->address = address;
	LIST_PUSH_FIRST(&s->sources, made, prev, next);
	return made;
}

static void source_drop(struct server *s, struct source *x)
{
	if (s->running == x) {
		s->running = NULL;
	}
	LIST_REMOVE(&s->sources, x, prev, next);
	free(x);
}

void room_enter(struct conn *c)
{
	struct server *s = c->server;
	s->conn_count++;
	s->unproven++;
	c->source->conns++;
	c->source->unproven++;
	metric_add(s->connections, 1);
}

void room_prove(struct conn *c)
{
	if (!c->proven) {
		c->proven = true;
		c->server->unproven--;
		c->source->unproven--;
	}
}

void room_leave(struct conn *c)
{
	struct server *s = c->server;
	room_prove(c);
	s->conn_count--;
	metric_add(s->connections, -1);
	if (--c->source->conns == 0) {
		source_drop(s, c->source);
	}
	s->closed++;
	if (s->closed >= GIVE_BACK_AFTER && !loop_timer_active(&s->give_back)) {
		loop_timer_start_ms(&s->give_back, GIVE_BACK_MS);
	}
}

static void return_memory(void *data)
{
	struct server *s = data;
	s->closed = 0;
	(void)malloc_trim(0);
}

void room_init(struct server *s)
{
	loop_timer_init(&s->give_back, s->loop, return_memory, s);
}

void room_finish(struct server *s)
{
	loop_timer_stop(&s->give_back);
}

/* --- who goes --- */

enum standing { STANDING_STRANGER, STANDING_IDLE, STANDING_SLOW, STANDING_AT_WORK };

struct claim {
	enum standing standing;
	int others;	  /* of the same address and standing */
	int64_t since_us; /* the smaller, the older */
};

static struct claim conn_claim(const struct conn *c, int64_t now_us)
{
	if (!c->proven || c->phase == CONN_LINGER) {
		return (struct claim){STANDING_STRANGER, c->source->unproven, c->phase_us};
	}
	if (c->phase == CONN_IDLE && conn_is_idle(c)) {
		return (struct claim){STANDING_IDLE, c->source->conns, c->read_us};
	}
	bool slow = now_us - c->phase_us > AT_WORK_US;
	return (struct claim){slow ? STANDING_SLOW : STANDING_AT_WORK, 0, c->phase_us};
}

static bool claim_goes_before(const struct claim *a, const struct claim *b)
{
	if (a->standing != b->standing) {
		return a->standing < b->standing;
	}
	return a->others != b->others ? a->others > b->others : a->since_us < b->since_us;
}

/* `from` NULL: of any address. */
static struct conn *who_goes(struct server *s, const struct source *from, enum standing most)
{
	struct claim least = {STANDING_AT_WORK, 0, 0};
	struct conn *found = NULL;
	int64_t now = clock_mono_us();
	for (struct conn *c = s->conns.first; c != NULL; c = c->next) {
		struct claim claim = conn_claim(c, now);
		if ((from != NULL && c->source != from) || claim.standing > most) {
			continue;
		}
		if (found == NULL || claim_goes_before(&claim, &least)) {
			found = c;
			least = claim;
		}
	}
	return found;
}

static bool conn_evict(struct conn *c)
{
	if (c != NULL) {
		metric_add(c->server->evicted[c->phase], 1);
		conn_close(c);
	}
	return c != NULL;
}

struct source *room_for_one(struct server *s, int fd)
{
	const struct server_config *config = &s->config;
	struct source *from = source_of(s, fd);
	bool room = true;
	from->conns++; /* it stays while others go */
	if (from->conns > config->source_max) {
		room = conn_evict(who_goes(s, from, STANDING_SLOW));
	} else if (s->unproven >= config->unproven_max) {
		room = conn_evict(who_goes(s, NULL, STANDING_STRANGER));
	} else if (s->conn_count >= config->connections_max) {
		room = conn_evict(who_goes(s, NULL, STANDING_SLOW));
	}
	from->conns--;
	if (!room && from->conns == 0) {
		source_drop(s, from);
	}
	return room ? from : NULL;
}

/* --- bytes --- */

/* Who sends is told; who does not take its answer would not hear it. */
static void evict_bytes(struct conn *c)
{
	metric_add(c->server->evicted[c->phase], 1);
	if (c->phase != CONN_BODY || c->closing || c->out_sent < c->out.len) {
		conn_close(c);
		return;
	}
	reply_refusal(c, 503, "too much is being sent at once");
	http1_next(&c->in);
	str_finish(&c->in.body);
	conn_weigh(c);
	conn_run_later(c);
}

/* The one beside c that has longest sent a body or not taken an answer; c itself where it has been
 * at its request for longer. */
static struct conn *oldest_holder(struct conn *c)
{
	struct conn *oldest = c;
	int64_t oldest_us = c->started_us;
	for (struct conn *x = c->server->conns.first; x != NULL; x = x->next) {
		bool holds = x->held > SERVER_BODY_SMALL && x->phase >= CONN_BODY;
		int64_t since_us = x->phase == CONN_BODY ? x->started_us : x->phase_us;
		if (x != c && holds && since_us < oldest_us) {
			oldest = x;
			oldest_us = since_us;
		}
	}
	return oldest;
}

/* While connections are being looked through for the last time, none may go beside them. */
bool room_for_bytes(struct conn *c)
{
	struct server *s = c->server;
	while (!s->draining && s->held > s->config.held_limit) {
		struct conn *oldest = oldest_holder(c);
		if (oldest == c) {
			return false;
		}
		evict_bytes(oldest);
	}
	return !s->draining;
}
