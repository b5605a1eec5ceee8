/* One server and some clients, as a state machine: bytes in any pieces, hang-ups, resets, readers
 * that do not read, deadlines that come at any moment, a drain. Whatever happens, the server counts
 * right, keeps its bounds, answers whole requests in their order, and ends.
 *
 * Each byte says what happens next, to whom, and how much: the high bits choose the client, the low
 * ones the act. Nothing waits: a deadline is let pass by calling what it would. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/log.h"
#include "server_conn.h"
#include "server_room.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CLIENTS	  8
#define CONNS_MAX 6
#define STRANGERS 4
#define HELD_MAX  ((size_t)256 * 1024)
#define BODY_MAX  ((size_t)96 * 1024)
#define STEPS_MAX 400

struct scene {
	struct loop *loop;
	struct server *server;
	int clients[CLIENTS]; /* -1: closed */
	const uint8_t *p, *end;
	size_t served;
	bool drained;
};

static void on_echo(void *data, const struct server_request *q, struct server_reply *r)
{
	struct scene *s = data;
	ENSURE(q->body.n <= BODY_MAX && q->path.n > 0);
	s->served++;
	str_append(&r->body, q->body.p, q->body.n);
}

static void on_large(void *data, const struct server_request *q, struct server_reply *r)
{
	(void)data;
	(void)q;
	for (int i = 0; i < 3000; i++) {
		str_append_text(&r->body,
			"a line of sixty-four bytes, so that an answer gets large enough\n");
	}
}

static void on_drained(void *data)
{
	struct scene *s = data;
	s->drained = true;
}

/* One turn: who is ready is served, nobody is waited for. */
static void turn(struct scene *s)
{
	loop_stop(s->loop);
	loop_run(s->loop);
}

static void check(const struct scene *s)
{
	const struct server *v = s->server;
	int conns = 0, unproven = 0, of_sources = 0;
	size_t held = 0;
	for (const struct conn *c = v->conns.first; c != NULL; c = c->next) {
		conns++;
		unproven += c->proven ? 0 : 1;
		held += c->held;
		ENSURE(c->pending_count <= CONN_PIPELINE_MAX && c->out_sent <= c->out.len);
		ENSURE(c->left.len <= SERVER_SCRATCH && !c->left.overflow && !c->out.overflow);
		ENSURE(loop_timer_active(&c->deadline));
	}
	for (const struct source *x = v->sources.first; x != NULL; x = x->next) {
		ENSURE(x->conns > 0 && x->unproven >= 0 && x->unproven <= x->conns);
		of_sources += x->conns;
	}
	ENSURE(conns == v->conn_count && conns == of_sources && conns <= CONNS_MAX);
	ENSURE(unproven == v->unproven && held == v->held);
}

static uint8_t take(struct scene *s)
{
	return s->p < s->end ? *s->p++ : 0;
}

static void come(struct scene *s, int i)
{
	int pair[2];
	ENSURE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair) == 0);
	struct source *from = room_for_one(s->server, pair[0]);
	if (from == NULL) {
		close(pair[0]);
		close(pair[1]);
		return;
	}
	s->clients[i] = pair[1];
	conn_open(s->server, pair[0], from);
}

static void leave(struct scene *s, int i)
{
	close(s->clients[i]);
	s->clients[i] = -1;
}

static void say(struct scene *s, int i, const char *text, size_t n)
{
	(void)!send(s->clients[i], text, n, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* Bytes of the input itself. */
static void say_raw(struct scene *s, int i)
{
	size_t n = take(s), left = (size_t)(s->end - s->p);
	n = n < left ? n : left;
	say(s, i, (const char *)s->p, n);
	s->p += n;
}

/* Whole requests and parts of them, so that the deeper states are found soon. */
static void say_word(struct scene *s, int i)
{
	static const char *const words[] = {"GET /echo HTTP/1.1\r\nHost: a\r\n\r\n",
		"GET /large HTTP/1.1\r\nHost: a\r\n\r\n", "GET /echo HTTP/1.1\r\n",
		"Host: a\r\n\r\n",
		"POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 90000\r\n\r\n",
		"POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n",
		"5\r\nhello\r\n", "0\r\n\r\n",
		"POST /echo HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: "
		"3\r\n\r\n",
		"abc", "GET /echo HTTP/1.0\r\n\r\n", "GET /none HTTP/1.1\r\nHost: a\r\n\r\n",
		"\r\n", "GET /probe HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"};
	static char junk[45000];
	uint8_t which = take(s);
	if (which >= 240) {
		say(s, i, junk, sizeof junk);
		return;
	}
	const char *word = words[which % COUNT_OF(words)];
	say(s, i, word, strlen(word));
}

static void listen_to(struct scene *s, int i)
{
	char buffer[8192];
	ssize_t n = recv(s->clients[i], buffer, (size_t)take(s) * 32 + 1, MSG_DONTWAIT);
	if (n == 0) {
		leave(s, i);
	}
}

/* The deadline of one connection, as if its time had come. */
static void pass_time(struct scene *s)
{
	int which = take(s) % CONNS_MAX;
	struct conn *c = s->server->conns.first;
	while (c != NULL && which-- > 0) {
		c = c->next;
	}
	if (c != NULL) {
		loop_timer_stop(&c->deadline);
		c->deadline.fn(c->deadline.data);
	}
}

static void act(struct scene *s)
{
	uint8_t what = take(s);
	int i = what >> 5;
	if (s->clients[i] < 0) {
		come(s, i);
		return;
	}
	switch (what & 7) {
	case 0:
		leave(s, i);
		break;
	case 1:
		say_raw(s, i);
		break;
	case 2:
	case 3:
		say_word(s, i);
		break;
	case 4:
		listen_to(s, i);
		break;
	case 5:
		pass_time(s);
		break;
	case 6:
		shutdown(s->clients[i], SHUT_WR);
		break;
	default:
		turn(s);
	}
	if ((what & 8) != 0) {
		turn(s);
	}
}

static void set_up(struct scene *s, const uint8_t *data, size_t size)
{
	struct server_config config = {.name = "fuzz",
		.listen = "127.0.0.1:0",
		.body_limit = BODY_MAX,
		.held_limit = HELD_MAX,
		.connections_max = CONNS_MAX,
		.unproven_max = STRANGERS,
		.source_max = CONNS_MAX - 1};
	struct fault f = {0};
	*s = (struct scene){.loop = loop_create(), .p = data, .end = data + size};
	memset(s->clients, -1, sizeof s->clients);
	s->server = server_create(s->loop, &config, &f);
	ENSURE(s->server != NULL);
	server_route(s->server, "GET", "/echo", on_echo, s);
	server_route(s->server, "POST", "/echo", on_echo, s);
	server_route(s->server, "GET", "/large", on_large, s);
	server_route_probe(s->server, "GET", "/probe", on_echo, s);
}

/* Nobody says anything more: once every deadline has passed nobody is left. */
static void end(struct scene *s)
{
	server_drain(s->server, 60000, on_drained, s);
	for (int i = 0; i < 100 && s->server->conns.first != NULL; i++) {
		turn(s);
		check(s);
		if (s->server->conns.first != NULL) {
			loop_timer_stop(&s->server->conns.first->deadline);
			s->server->conns.first->deadline.fn(s->server->conns.first);
		}
	}
	turn(s);
	ENSURE(s->server->conns.first == NULL && s->server->sources.first == NULL &&
		s->server->held == 0);
	ENSURE(s->drained);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct scene s;
	log_setup(LOG_ERROR, 2);
	set_up(&s, data, size);
	for (int i = 0; i < STEPS_MAX && s.p < s.end; i++) {
		act(&s);
		check(&s);
	}
	end(&s);
	server_destroy(s.server);
	for (int i = 0; i < CLIENTS; i++) {
		if (s.clients[i] >= 0) {
			close(s.clients[i]);
		}
	}
	loop_destroy(s.loop);
	return 0;
}
