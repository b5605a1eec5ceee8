/* Connections: all of them; those that wait, by what they are for and by when they were used; and
 * one of them: connecting, asking, hearing, and what its end means for the request on it. */
#include "poller_conn.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "poller.h"
#include "poller_tls.h"

#define LOOK_EVERY_MS 10000

static bool conn_same(const void *owner, uint32_t slot, const void *key)
{
	const struct poller *p = owner;
	return strcmp(p->conns.items[slot]->key, key) == 0;
}

static void poller_conns_remove(struct poller_conn *c)
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

static void poller_idle_leave(struct poller_conn *c)
{
	struct poller *p = c->poller;
	map_remove(&p->idle_by_key, key_text(c->key), c->slot);
	LIST_REMOVE(&p->idle, c, prev, next);
	c->phase = POLLER_SEND;
}

/* One that waits for this; it waits no longer. NULL: none. */
static struct poller_conn *poller_idle_take(struct poller *p, const char *key)
{
	uint32_t slot = map_find(&p->idle_by_key, key_text(key), key);
	if (slot == MAP_NONE) {
		return NULL;
	}
	struct poller_conn *c = p->conns.items[slot];
	poller_idle_leave(c);
	return c;
}

/* It has nothing to do. It is kept, or closed where it is of no further use. */
static void poller_idle_put(struct poller_conn *c)
{
	struct poller *p = c->poller;
	int64_t now = loop_now_ms();
	uint64_t hash = key_text(c->key);
	/* Those that began together do not end together. */
	int64_t age_most = POLLER_AGE_MS / 2 + (int64_t)(hash % (POLLER_AGE_MS / 2));
	if (c->trust != p->trust || now - c->born_ms >= age_most ||
		map_find(&p->idle_by_key, hash, c->key) != MAP_NONE) {
		poller_conn_close(c);
		return;
	}
	c->idle_ms = now;
	c->phase = POLLER_IDLE;
	c->allowed = POLLER_IDLE_BYTES;
	c->kept = true;
	LIST_PUSH(&p->idle, c, prev, next);
	map_put(&p->idle_by_key, hash, c->slot);
	poller_conn_watch(c, EV_READ);
	if (!loop_timer_active(&p->idle_timer)) {
		loop_timer_repeat_ms(&p->idle_timer, LOOK_EVERY_MS);
	}
}

/* Room for one more: the one goes that was used last, for they are asked in turn. */
static void poller_idle_shed(struct poller *p)
{
	if (p->idle.last != NULL) {
		poller_conn_close(p->idle.last);
	}
}

void poller_idle_close_all(struct poller *p)
{
	while (p->idle.first != NULL) {
		poller_conn_close(p->idle.first);
	}
}

static void on_idle_look(void *data)
{
	struct poller *p = data;
	int64_t now = loop_now_ms();
	while (p->idle.first != NULL && now - p->idle.first->idle_ms >= POLLER_IDLE_MS) {
		poller_conn_close(p->idle.first);
	}
	if (p->idle.first == NULL) {
		loop_timer_stop(&p->idle_timer);
	}
}

void poller_idle_init(struct poller *p)
{
	map_init(&p->idle_by_key, conn_same, p);
	loop_timer_init(&p->idle_timer, p->loop, on_idle_look, p);
}

/* Reads in one go before the others get their turn. */
#define READS_MAX 4
/* The post-handshake message that means nothing to who resumes nothing. */
#define NEW_SESSION_TICKET 4

void poller_conn_watch(struct poller_conn *c, int events)
{
	struct ev_loop *ev = loop_ev(c->poller->loop);
	if (ev_is_active(&c->io) && c->io.events == events) {
		return;
	}
	ev_io_stop(ev, &c->io);
	ev_io_set(&c->io, c->io.fd, events);
	ev_io_start(ev, &c->io);
}

/* Says that nothing more comes; whoever does not hear it sees the end of the stream. */
static void say_goodbye(struct poller_conn *c)
{
	static const char close_notify[] = {1, 0};
	struct str out CLEANUP(str_finish) = STR_INIT(64);
	if (record_seal(c->poller->cipher, &c->out, RECORD_ALERT,
		    (struct view){close_notify, sizeof close_notify}, &out)) {
		(void)send(c->io.fd, out.p, out.len, MSG_NOSIGNAL | MSG_DONTWAIT);
	}
}

void poller_conn_close(struct poller_conn *c)
{
	if (c->phase == POLLER_IDLE) {
		poller_idle_leave(c);
		c->phase = POLLER_HEAR;
	}
	if (c->phase == POLLER_HEAR) {
		say_goodbye(c);
	}
	if (c->steps) {
		poller_tls_leave(c);
	}
	ev_io_stop(loop_ev(c->poller->loop), &c->io);
	SSL_free(c->ssl);
	close(c->io.fd);
	poller_conns_remove(c);
	OPENSSL_cleanse(&c->out, sizeof c->out);
	OPENSSL_cleanse(&c->in, sizeof c->in);
	free(c->key);
	free(c);
}

static void set_poll_fault(struct poller_call *call, enum fault_kind kind, const char *why)
{
	struct fault *f = &call->answer.fault;
	if (kind == FAULT_DENIED) {
		fault_set(f, kind, "the certificate of %s does not verify against %s: %s", call->to,
			call->poller->trust_text, why);
	} else if (kind == FAULT_LIMIT) {
		fault_set(f, kind, "%s%s: the answer is larger than %zu bytes", call->to,
			call->path, call->limit);
	} else {
		fault_set(f, kind, "%s: %s", call->to, why);
	}
	f->status = call->answer.status;
}

void poller_conn_fail(struct poller_conn *c, enum fault_kind kind, const char *why)
{
	struct poller_call *call = c->call;
	bool dead = c->kept && kind == FAULT_TRANSIENT;
	if (call != NULL) {
		call->conn = NULL;
	}
	c->call = NULL;
	if (call != NULL && dead && !call->again && http1_idle(&call->in)) {
		poller_conn_close(c);
		poller_call_again(call);
	} else if (call != NULL) {
		set_poll_fault(call, kind, why);
		poller_conn_close(c);
		poller_call_end(call);
	} else {
		poller_conn_close(c);
	}
}

/* --- asking --- */

static void send_request(struct poller_conn *c)
{
	struct str *out = &c->call->out;
	while (out->len > 0) {
		ssize_t n = send(c->io.fd, out->p, out->len, MSG_NOSIGNAL);
		if (n < 0 && is_worth_waiting(errno)) {
			poller_conn_watch(c, EV_WRITE);
			return;
		}
		if (n < 0) {
			poller_conn_fail(c, FAULT_TRANSIENT, strerror(errno));
			return;
		}
		out->len -= (size_t)n;
		memmove(out->p, out->p + n, out->len);
	}
	str_finish(out);
	c->phase = POLLER_HEAR;
	poller_conn_watch(c, EV_READ);
}

/* Each part of it was bounded when the request came: it fits one record. */
void poller_conn_ready(struct poller_conn *c)
{
	struct poller_call *call = c->call;
	struct str text CLEANUP(str_finish) = STR_INIT(RECORD_TEXT_MAX);
	c->phase = POLLER_SEND;
	c->allowed = 2 * (uint32_t)call->limit + POLLER_EXTRA_BYTES;
	str_append_format(&text,
		"GET %s HTTP/1.1\r\nHost: %s\r\nUser-Agent: %s\r\nAccept: %s\r\n"
		"Accept-Encoding: identity\r\n\r\n",
		call->path, call->name, c->poller->user_agent, call->accept);
	if (text.overflow || !record_seal(c->poller->cipher, &c->out, RECORD_DATA,
				     (struct view){text.p, text.len}, &call->out)) {
		poller_conn_fail(c, FAULT_INVALID, "a request that cannot be sent");
		return;
	}
	send_request(c);
}

/* --- hearing --- */

static void conn_answered(struct poller_conn *c, bool clean)
{
	struct poller_call *call = c->call;
	call->conn = NULL;
	c->call = NULL;
	if (clean && call->in.keep_alive) {
		poller_idle_put(c);
	} else {
		poller_conn_close(c);
	}
	poller_call_end(call);
}

/* What a record brought, while somebody waits for it. `more`: there are others behind it. False:
 * the request has ended, and the connection may be gone. */
static bool text_take(struct poller_conn *c, struct view text, bool more)
{
	struct poller_call *call = c->call;
	size_t used;
	enum http1_result r = http1_feed(&call->in, text.p, text.n, &used);
	call->answer.status = call->in.code;
	if (r == HTTP1_DONE) {
		conn_answered(c, used == text.n && !more);
	} else if (r == HTTP1_BAD) {
		c->kept = false; /* to ask again would bring the same */
		poller_conn_fail(c, call->in.status == 413 ? FAULT_LIMIT : FAULT_TRANSIENT,
			call->in.problem);
	}
	return r == HTTP1_MORE;
}

/* False: as of text_take. */
static bool record_take(struct poller_conn *c, char *p, size_t n, bool more)
{
	struct record_text r;
	if (!record_open(c->poller->cipher, &c->in, p, n, &r)) {
		poller_conn_fail(c, FAULT_TRANSIENT, "a record that is not its own");
		return false;
	}
	if (r.type == RECORD_DATA && c->call != NULL) {
		return text_take(c, r.text, more);
	}
	if (r.type == RECORD_HANDSHAKE && r.text.n > 0 && r.text.p[0] == NEW_SESSION_TICKET) {
		return true;
	}
	poller_conn_fail(
		c, FAULT_TRANSIENT, r.type == RECORD_ALERT ? "it hung up" : "a record out of turn");
	return false;
}

/* Takes whole records off the front; how many bytes that were, or -1 where it ended as in
 * record_take. */
static ssize_t records_take(struct poller_conn *c, char *p, size_t n)
{
	size_t at = 0;
	int length;
	while ((length = record_length(p + at, n - at)) > 0 && (size_t)length <= n - at) {
		if (!record_take(c, p + at, (size_t)length, at + (size_t)length < n)) {
			return -1;
		}
		at += (size_t)length;
	}
	if (length < 0) {
		poller_conn_fail(c, FAULT_TRANSIENT, "something else than a record of TLS 1.3");
		return -1;
	}
	return (ssize_t)at;
}

/* False: it ended, as in record_take. */
static bool bytes_take(struct poller_conn *c, char *p, size_t n)
{
	struct poller_call *call = c->call;
	struct str *partial = call != NULL ? &call->partial : NULL;
	ssize_t used;
	if (partial != NULL && partial->len > 0) {
		/* Less than a record was there, and one reading has come. */
		str_append(partial, p, n);
		used = records_take(c, partial->p, partial->len);
		if (used > 0) {
			partial->len -= (size_t)used;
			memmove(partial->p, partial->p + used, partial->len);
		}
		return used >= 0;
	}
	used = records_take(c, p, n);
	if (used >= 0 && (size_t)used < n && partial == NULL) {
		poller_conn_fail(c, FAULT_TRANSIENT, "half a record out of turn");
		return false;
	}
	if (used >= 0 && (size_t)used < n) {
		str_append(partial, p + used, n - (size_t)used);
	}
	return used >= 0;
}

static void receive_answer(struct poller_conn *c)
{
	char *to = c->poller->scratch;
	for (int i = 0; i < READS_MAX; i++) {
		ssize_t n = recv(c->io.fd, to, POLLER_SCRATCH, 0);
		if (n < 0 && is_worth_waiting(errno)) {
			return;
		}
		if (n <= 0) {
			poller_conn_fail(
				c, FAULT_TRANSIENT, n == 0 ? "it hung up" : strerror(errno));
			return;
		}
		if ((size_t)n > c->allowed) {
			poller_conn_fail(c, FAULT_TRANSIENT, "more bytes than an answer takes");
			return;
		}
		c->allowed -= (uint32_t)n;
		if (!bytes_take(c, to, (size_t)n) || (size_t)n < POLLER_SCRATCH) {
			return;
		}
	}
}

static void conn_connected(struct poller_conn *c)
{
	int error = 0;
	socklen_t n = sizeof error;
	if (getsockopt(c->io.fd, SOL_SOCKET, SO_ERROR, &error, &n) != 0 || error != 0) {
		poller_conn_fail(c, FAULT_TRANSIENT, strerror(error != 0 ? error : errno));
		return;
	}
	c->phase = POLLER_HANDSHAKE;
	poller_tls_later(c);
}

static void on_poll_io(struct ev_loop *ev, ev_io *w, int events)
{
	struct poller_conn *c = w->data;
	(void)ev;
	(void)events;
	switch ((enum poller_phase)c->phase) {
	case POLLER_CONNECT:
		conn_connected(c);
		break;
	case POLLER_HANDSHAKE:
		poller_tls_later(c);
		break;
	case POLLER_SEND:
		send_request(c);
		break;
	case POLLER_HEAR:
	case POLLER_IDLE:
		receive_answer(c);
		break;
	}
}

/* --- beginning --- */

union address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

/* "address:port", the address in brackets where it is of IPv6. */
static bool peer_parse(const char *text, union address *ret, socklen_t *ret_n)
{
	char host[64];
	const char *colon = strrchr(text, ':');
	int64_t port;
	if (colon == NULL || !parse_i64(view_of(colon + 1), 1, 65535, &port)) {
		return false;
	}
	size_t n = (size_t)(colon - text);
	bool v6 = n >= 2 && text[0] == '[' && text[n - 1] == ']';
	snprintf(host, sizeof host, "%.*s", (int)(v6 ? n - 2 : n), text + (v6 ? 1 : 0));
	memset(ret, 0, sizeof *ret);
	if (v6) {
		ret->v6.sin6_family = AF_INET6;
		ret->v6.sin6_port = htons((uint16_t)port);
		*ret_n = sizeof ret->v6;
		return n - 2 < sizeof host && inet_pton(AF_INET6, host, &ret->v6.sin6_addr) == 1;
	}
	ret->v4.sin_family = AF_INET;
	ret->v4.sin_port = htons((uint16_t)port);
	*ret_n = sizeof ret->v4;
	return n < sizeof host && inet_pton(AF_INET, host, &ret->v4.sin_addr) == 1;
}

static int socket_connect(const union address *at, socklen_t n)
{
	int yes = 1;
	int fd = socket(at->any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0) {
		return -1;
	}
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
	if (connect(fd, &at->any, n) != 0 && errno != EINPROGRESS) {
		int error = errno;
		close(fd);
		errno = error;
		return -1;
	}
	return fd;
}

static int conn_connect(struct poller_call *call, struct fault *f)
{
	struct poller *p = call->poller;
	union address at;
	socklen_t n;
	if (!peer_parse(call->to, &at, &n)) {
		return fault_set(f, FAULT_INVALID, "an address that cannot be called");
	}
	if (p->conns.count >= (size_t)p->connections_max) {
		poller_idle_shed(p);
	}
	int fd = socket_connect(&at, n);
	if (fd < 0 && (errno == EMFILE || errno == ENFILE) && p->idle.first != NULL) {
		poller_idle_shed(p);
		fd = socket_connect(&at, n);
	}
	if (fd < 0) {
		return fault_set(f, FAULT_TRANSIENT, "%s: %s", call->to, strerror(errno));
	}
	struct poller_conn *c = xcalloc(1, sizeof *c);
	c->poller = p;
	c->key = xstrdup(call->key);
	c->born_ms = loop_now_ms();
	c->phase = POLLER_CONNECT;
	c->call = call;
	call->conn = c;
	c->slot = (uint32_t)p->conns.count;
	VEC_PUSH(&p->conns, c);
	ev_io_init(&c->io, on_poll_io, fd, EV_WRITE);
	c->io.data = c;
	ev_io_start(loop_ev(p->loop), &c->io);
	return 0;
}

int poller_conn_start(struct poller_call *call, struct fault *ret_fault)
{
	struct poller_conn *c = call->again ? NULL : poller_idle_take(call->poller, call->key);
	if (c == NULL) {
		return conn_connect(call, ret_fault);
	}
	c->call = call;
	call->conn = c;
	poller_conn_ready(c);
	return 0;
}
