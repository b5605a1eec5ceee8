/* One connection: TLS or plain bytes in, requests, bytes out; every state has its deadline. */
#include "server_conn.h"

#include <openssl/err.h>
#include <sys/socket.h>
#include <unistd.h>

#include "arrival.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "server_pace.h"
#include "server_reply.h"
#include "server_room.h"
#include "tls_pem.h"

/* Reads in one go before the others get their turn. */
#define READS_MAX      8
#define LINGER_MS      1000
#define KEEP_OUT_BYTES ((size_t)32 * 1024)

enum io_result { IO_OK, IO_WAIT, IO_END };

static void on_conn_io(struct ev_loop *ev, ev_io *w, int events);
static void on_deadline(void *data);
static int64_t phase_ms(const struct conn *c);

void conn_open(struct server *s, int fd, struct source *source)
{
	struct conn *c = xcalloc(1, sizeof *c);
	c->server = s;
	c->source = source;
	c->fd = fd;
	arrival_watch(fd);
	c->read_us = loop_heard_us(s->loop);
	http1_init(&c->in, s->config.body_limit);
	c->left.limit = SERVER_SCRATCH;
	c->out.limit = CONN_OUT_ENOUGH + s->config.reply_limit + SERVER_SCRATCH;
	c->phase = s->tls != NULL ? CONN_HANDSHAKE : CONN_IDLE;
	c->phase_us = c->read_us;
	LIST_PUSH_FIRST(&s->conns, c, prev, next);
	room_enter(c);
	ev_io_init(&c->io, on_conn_io, fd, EV_READ);
	c->io.data = c;
	ev_io_start(loop_ev(s->loop), &c->io);
	loop_timer_init(&c->deadline, s->loop, on_deadline, c);
	loop_timer_start_ms(&c->deadline, phase_ms(c));
	/* What it says is often there already: nobody else comes between. */
	conn_run(c);
}

void conn_close(struct conn *c)
{
	struct server *s = c->server;
	ev_io_stop(loop_ev(s->loop), &c->io);
	loop_timer_stop(&c->deadline);
	loop_defer_forget(s->loop, c);
	pace_forget(c);
	if (c->ssl != NULL) {
		/* Said once and not waited for; never after a fatal error. */
		if (!c->broken && SSL_is_init_finished(c->ssl)) {
			ERR_clear_error();
			SSL_shutdown(c->ssl);
		}
		SSL_free(c->ssl);
		ERR_clear_error();
	}
	close(c->fd);
	http1_finish(&c->in);
	str_finish(&c->left);
	str_finish(&c->out);
	conn_weigh(c);
	LIST_REMOVE(&s->conns, c, prev, next);
	room_leave(c);
	free(c);
}

void conn_weigh(struct conn *c)
{
	size_t now = c->in.body.cap + c->out.cap;
	c->server->held += now - c->held;
	c->held = now;
}

bool conn_is_idle(const struct conn *c)
{
	return (c->phase == CONN_IDLE || c->phase == CONN_HANDSHAKE) && http1_idle(&c->in) &&
	       c->out.len == c->out_sent && c->left.len == 0;
}

/* What a TLS call that did not succeed means. */
static enum io_result tls_outcome(struct conn *c, int rc)
{
	int error = SSL_get_error(c->ssl, rc);
	if (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE) {
		return IO_WAIT;
	}
	if (error != SSL_ERROR_ZERO_RETURN) {
		c->broken = true;
	}
	return IO_END;
}

static enum io_result bytes_read(struct conn *c, size_t *ret_n)
{
	char *to = c->server->scratch;
	if (c->ssl != NULL) {
		ERR_clear_error();
		int rc = SSL_read_ex(c->ssl, to, SERVER_SCRATCH, ret_n);
		if (rc == 1) {
			c->read_wants_write = false;
			return IO_OK;
		}
		c->read_wants_write = SSL_want_write(c->ssl);
		return tls_outcome(c, rc);
	}
	ssize_t n = recv(c->fd, to, SERVER_SCRATCH, 0);
	if (n > 0) {
		*ret_n = (size_t)n;
		return IO_OK;
	}
	return n < 0 && is_worth_waiting(errno) ? IO_WAIT : IO_END;
}

static enum io_result bytes_write(struct conn *c, const char *p, size_t n, size_t *ret_n)
{
	if (c->ssl != NULL) {
		ERR_clear_error();
		int rc = SSL_write_ex(c->ssl, p, n, ret_n);
		if (rc == 1) {
			c->write_wants_read = false;
			return IO_OK;
		}
		c->write_wants_read = SSL_want_read(c->ssl);
		return tls_outcome(c, rc);
	}
	ssize_t sent = send(c->fd, p, n, MSG_NOSIGNAL);
	if (sent >= 0) {
		*ret_n = (size_t)sent;
		return IO_OK;
	}
	return is_worth_waiting(errno) ? IO_WAIT : IO_END;
}

/* Buffers that are kept for the next request must not be what fills the server's share. */
static bool is_tight(const struct conn *c)
{
	return c->server->held > c->server->config.held_limit / 2;
}

/* IO_OK: everything is out. */
static enum io_result conn_flush(struct conn *c)
{
	while (c->out_sent < c->out.len) {
		size_t n = 0;
		enum io_result r =
			bytes_write(c, c->out.p + c->out_sent, c->out.len - c->out_sent, &n);
		if (r != IO_OK) {
			return r;
		}
		unsigned waiting = c->pending_count;
		c->out_sent += n;
		c->out_written += n;
		reply_measure(c);
		/* A client that takes whole replies is alive, however many it has asked for. */
		if (c->pending_count < waiting && c->phase == CONN_WRITE) {
			loop_timer_start_ms(&c->deadline, c->server->config.write_ms);
		}
	}
	if (c->out.len > 0) {
		str_reset(&c->out);
		str_trim_capacity(&c->out, KEEP_OUT_BYTES);
		if (is_tight(c)) {
			str_finish(&c->out);
		}
		c->out_sent = 0;
		conn_weigh(c);
	}
	return IO_OK;
}

static bool may_parse(const struct conn *c)
{
	return !c->closing && c->pending_count < CONN_PIPELINE_MAX &&
	       c->out.len - c->out_sent < CONN_OUT_ENOUGH;
}

/* Returns how many bytes were taken. */
static size_t requests_parse(struct conn *c, const char *p, size_t n)
{
	size_t at = 0;
	while (at < n && may_parse(c) && !pace_is_over(c)) {
		size_t used = 0;
		if (http1_idle(&c->in)) {
			c->started_us = c->read_us;
			c->requests++;
			c->continue_sent = false;
		}
		enum http1_result r = http1_feed(&c->in, p + at, n - at, &used);
		at += used;
		if (r == HTTP1_DONE) {
			reply_to_request(c);
			http1_next(&c->in);
			if (is_tight(c)) {
				str_finish(&c->in.body);
			}
		} else if (r == HTTP1_BAD) {
			reply_refusal(c, c->in.status, c->in.problem);
		} else if (c->server->held > c->server->config.held_limit &&
			   c->in.body.len > SERVER_BODY_SMALL && !room_for_bytes(c)) {
			/* A few clients with large bodies, or that do not take their answers, must
			 * not use up the memory of the process: beyond the bound only small
			 * requests are still read. */
			reply_refusal(c, 503, "too much is being sent at once");
			http1_next(&c->in);
		} else if (c->in.expect_continue && !c->continue_sent && c->in.body.len == 0) {
			c->continue_sent = true;
			str_append_text(&c->out, "HTTP/1.1 100 Continue\r\n\r\n");
		}
		conn_weigh(c);
	}
	return c->closing ? n : at;
}

static void left_parse(struct conn *c)
{
	size_t used = requests_parse(c, str_text(&c->left), c->left.len);
	c->left.len -= used;
	if (c->left.len > 0) {
		memmove(c->left.p, c->left.p + used, c->left.len);
	} else {
		str_finish(&c->left);
		c->left.limit = SERVER_SCRATCH;
	}
}

/* True while there is more to be had at once. */
static bool input_step(struct conn *c)
{
	size_t n = 0;
	if (c->left.len > 0) {
		left_parse(c);
		return true;
	}
	if (http1_idle(&c->in)) {
		c->read_us = arrival_us(c->fd, loop_heard_us(c->server->loop));
	}
	switch (bytes_read(c, &n)) {
	case IO_OK:
		break;
	case IO_WAIT:
		return false;
	case IO_END:
		c->peer_done = true;
		return false;
	}
	size_t used = requests_parse(c, c->server->scratch, n);
	str_append(&c->left, c->server->scratch + used, n - used);
	return c->left.len > 0 ||
	       (c->ssl != NULL ? SSL_has_pending(c->ssl) == 1 : n == SERVER_SCRATCH);
}

static enum conn_phase phase_now(const struct conn *c)
{
	if (c->out_sent < c->out.len) {
		return CONN_WRITE;
	}
	if (http1_idle(&c->in)) {
		return CONN_IDLE;
	}
	return c->in.phase == HTTP1_PHASE_HEAD ? CONN_HEAD : CONN_BODY;
}

static int64_t phase_ms(const struct conn *c)
{
	const struct server_config *config = &c->server->config;
	switch (c->phase) {
	case CONN_HANDSHAKE:
		return config->handshake_ms;
	case CONN_IDLE:
		return c->requests > 0 ? config->idle_ms : config->first_ms;
	case CONN_HEAD:
		return config->head_ms;
	case CONN_BODY:
		return config->body_ms;
	case CONN_WRITE:
		return config->write_ms;
	case CONN_LINGER:
		return LINGER_MS;
	}
	return 0;
}

/* A deadline belongs to one phase of one request: bytes that trickle in do not extend it. */
static void phase_set(struct conn *c, enum conn_phase phase)
{
	if (phase == c->phase && c->timed == c->requests) {
		return;
	}
	c->phase = phase;
	c->phase_us = clock_mono_us();
	c->timed = c->requests;
	loop_timer_start_ms(&c->deadline, phase_ms(c));
}

static void watch_set(struct conn *c, int events)
{
	if (c->io.events != events) {
		ev_io_stop(loop_ev(c->server->loop), &c->io);
		ev_io_set(&c->io, c->fd, events);
		ev_io_start(loop_ev(c->server->loop), &c->io);
	}
}

static void watch_for_phase(struct conn *c)
{
	int events = 0;
	if (may_parse(c) && c->left.len == 0 && !c->peer_done) {
		events |= c->read_wants_write ? EV_WRITE : EV_READ;
	}
	if (c->out_sent < c->out.len) {
		events |= c->write_wants_read ? EV_READ : EV_WRITE;
	}
	watch_set(c, events);
}

/* Everything is said. Closing a socket with unread bytes would reset it and could take our last
 * answer with it: say that nothing more comes, and throw away what still arrives. */
static void linger_begin(struct conn *c)
{
	if (c->peer_done || c->broken) {
		conn_close(c);
		return;
	}
	if (c->ssl != NULL) {
		ERR_clear_error();
		SSL_shutdown(c->ssl);
		c->broken = true;
	}
	shutdown(c->fd, SHUT_WR);
	phase_set(c, CONN_LINGER);
	watch_set(c, EV_READ);
}

static void linger_read(struct conn *c)
{
	for (int i = 0; i < READS_MAX; i++) {
		ssize_t n = recv(c->fd, c->server->scratch, SERVER_SCRATCH, 0);
		if (n == 0 || (n < 0 && !is_worth_waiting(errno))) {
			conn_close(c);
			return;
		}
		if (n < 0) {
			return;
		}
	}
}

static void handshake_fail(struct conn *c, const char *why)
{
	struct server *s = c->server;
	log_debug("TLS handshake failed", LOG_S("server", s->config.name), LOG_S("reason", why));
	metric_add(s->handshake_failures, 1);
	c->broken = true;
	conn_close(c);
}

/* A handshake takes tens of KiB: who has said nothing yet has none. */
static bool handshake_begin(struct conn *c)
{
	char byte;
	ssize_t n = recv(c->fd, &byte, 1, MSG_PEEK);
	if (n < 0 && is_worth_waiting(errno)) {
		return false;
	}
	if (n <= 0) {
		handshake_fail(c, "nothing was said");
		return false;
	}
	ERR_clear_error();
	c->ssl = SSL_new(c->server->tls);
	ENSURE(c->ssl != NULL && SSL_set_fd(c->ssl, c->fd) == 1);
	SSL_set_accept_state(c->ssl);
	return true;
}

/* True once the handshake is complete; otherwise the connection waits or is gone. */
static bool handshake_go_on(struct conn *c)
{
	if (c->ssl == NULL && !handshake_begin(c)) {
		return false;
	}
	ERR_clear_error();
	int rc = SSL_do_handshake(c->ssl);
	if (rc == 1) {
		phase_set(c, CONN_IDLE);
		return true;
	}
	bool wants_write = SSL_want_write(c->ssl);
	if (tls_outcome(c, rc) == IO_WAIT) {
		watch_set(c, wants_write ? EV_WRITE : EV_READ);
	} else {
		handshake_fail(c, tls_reason());
	}
	return false;
}

struct round {
	bool gone; /* the connection is closed, or lingers and needs nothing more */
	bool more; /* there may be input to be had */
};

/* One round: write what is there, then take what can be taken. False when nothing more can be done
 * now. */
static bool round_run(struct conn *c, struct round *round)
{
	enum io_result r = conn_flush(c);
	if (r == IO_OK && c->closing) {
		round->gone = true;
		linger_begin(c);
		return false;
	}
	if (r == IO_END || (r == IO_OK && c->peer_done)) {
		c->broken = c->broken || r == IO_END;
		round->gone = true;
		conn_close(c);
		return false;
	}
	if (!may_parse(c) || !round->more || c->peer_done) {
		return false;
	}
	round->more = input_step(c);
	/* Even without more input there may be output to write, or an end to act on. */
	return round->more || c->out_sent < c->out.len || c->closing || c->peer_done;
}

static void conn_rounds(struct conn *c)
{
	struct round round = {.more = true};
	int rounds = 0;
	if (c->phase == CONN_LINGER) {
		linger_read(c);
		return;
	}
	if (c->phase == CONN_HANDSHAKE && !handshake_go_on(c)) {
		return;
	}
	while (rounds < READS_MAX && round_run(c, &round)) {
		rounds++;
	}
	if (round.gone) {
		return;
	}
	phase_set(c, phase_now(c));
	watch_for_phase(c);
	/* What TLS or we hold back shows on no descriptor: come back after the others. */
	if (rounds == READS_MAX || (c->left.len > 0 && may_parse(c))) {
		conn_run_later(c);
	}
}

void conn_run(struct conn *c)
{
	struct server *s = c->server;
	if (pace_begin(c)) {
		conn_rounds(c);
		pace_end(s);
	}
}

static void run_deferred(void *data)
{
	conn_run(data);
}

void conn_run_later(struct conn *c)
{
	loop_defer_forget(c->server->loop, c);
	loop_defer(c->server->loop, run_deferred, c);
}

static void on_conn_io(struct ev_loop *ev, ev_io *w, int events)
{
	(void)ev;
	(void)events;
	conn_run(w->data);
}

static void on_deadline(void *data)
{
	struct conn *c = data;
	switch (c->phase) {
	case CONN_HANDSHAKE:
		handshake_fail(c, "it took too long");
		return;
	case CONN_HEAD:
		reply_refusal(c, 408, "the headers took too long");
		break;
	case CONN_BODY:
		reply_refusal(c, 408, "the body took too long");
		break;
	case CONN_IDLE:
	case CONN_WRITE:
	case CONN_LINGER:
		conn_close(c);
		return;
	}
	conn_run(c);
}
