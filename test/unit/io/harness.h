/* What the tests of this room share: a loop that runs until something holds, a raw client that sees
 * every byte of the server, and a stub server that misbehaves on request. One thread, no fixed
 * sleeps. */
#ifndef TEST_IO_HARNESS_H
#define TEST_IO_HARNESS_H

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "io/loop.h"
#include "io/server.h"
#include "io/tls_issue.h"
#include "loop.h"

#define PATIENCE_MS 10000

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#endif

/* At the end of every test of a suite: nothing may be left. Only sanitized builds can tell. */
static UNUSED void expect_no_leak(void)
{
#ifdef __SANITIZE_ADDRESS__
	cr_assert(__lsan_do_recoverable_leak_check() == 0);
#endif
}

typedef bool (*condition)(void *data);

struct wait {
	struct loop *loop;
	condition holds;
	void *data;
	int64_t until_ms;
	bool met;
};

static UNUSED void wait_look(void *data)
{
	struct wait *w = data;

	w->met = w->holds(w->data);
	if (w->met || loop_now_ms() >= w->until_ms) {
		loop_stop(w->loop);
	} else {
		loop_wake_at(w->loop, loop_now_ms() + 5);
	}
}

/* Runs the loop until the condition holds; false after most_ms. */
static UNUSED bool wait_for(struct loop *l, condition holds, void *data, int64_t most_ms)
{
	struct wait w = {l, holds, data, loop_now_ms() + most_ms, false};

	loop_on_turn(l, wait_look, &w);
	loop_run(l);
	loop_off_turn(l, wait_look, &w);
	return w.met;
}

static UNUSED bool never(void *data)
{
	(void)data;
	return false;
}

static UNUSED int dial(int port)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int yes = 1;

	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	cr_assert(fd >= 0 && connect(fd, (struct sockaddr *)&to, sizeof to) == 0, "%s",
		strerror(errno));
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
	fcntl(fd, F_SETFL, O_NONBLOCK);
	return fd;
}

/* A raw client. */
struct peer {
	struct loop *loop;
	int fd;
	struct str in;
	bool ended, reset;
	const char *wanted;
};

static UNUSED void peer_open(struct peer *p, struct loop *l, int port)
{
	*p = (struct peer){.loop = l, .fd = dial(port), .in = STR_INIT(64 * 1024 * 1024)};
}

static UNUSED void peer_close(struct peer *p)
{
	close(p->fd);
	str_finish(&p->in);
}

static UNUSED void peer_read(struct peer *p)
{
	char buffer[65536];
	ssize_t n;

	while (!p->ended && (n = recv(p->fd, buffer, sizeof buffer, 0)) != -1) {
		p->ended = n == 0;
		str_append(&p->in, buffer, (size_t)n);
	}
	if (!p->ended && errno != EAGAIN) {
		p->ended = p->reset = true;
	}
}

static UNUSED bool peer_has(void *data)
{
	struct peer *p = data;

	peer_read(p);
	return strstr(str_text(&p->in), p->wanted) != NULL;
}

static UNUSED bool peer_ended(void *data)
{
	struct peer *p = data;

	peer_read(p);
	return p->ended;
}

static UNUSED void peer_send_bytes(struct peer *p, const char *text, size_t n)
{
	cr_assert(send(p->fd, text, n, MSG_NOSIGNAL) == (ssize_t)n);
}

static UNUSED void peer_send(struct peer *p, const char *text)
{
	peer_send_bytes(p, text, strlen(text));
}

static UNUSED void peer_expect(struct peer *p, const char *text)
{
	p->wanted = text;
	cr_assert(wait_for(p->loop, peer_has, p, PATIENCE_MS), "waited for '%s', got '%s'", text,
		str_text(&p->in));
}

static UNUSED void peer_expect_end(struct peer *p)
{
	cr_assert(wait_for(p->loop, peer_ended, p, PATIENCE_MS), "the connection did not end");
}

static UNUSED int count_text(const char *in, const char *what)
{
	int times = 0;

	for (const char *at = in; (at = strstr(at, what)) != NULL; at += strlen(what)) {
		times++;
	}
	return times;
}

/* A server of raw bytes: calls `answer` when a request's headers are complete. One connection at a
 * time is looked at; earlier ones stay open until the end. */
struct stub;
typedef void (*stub_answer)(struct stub *s);
struct stub {
	struct loop *loop;
	int listener, port;
	int fd; /* the latest connection, -1 if none */
	int accepted, requests;
	ev_io accept_io, read_io;
	struct str in;
	stub_answer answer;
};

static UNUSED void stub_write(struct stub *s, const char *text)
{
	cr_assert(send(s->fd, text, strlen(text), MSG_NOSIGNAL) == (ssize_t)strlen(text));
}

static UNUSED void stub_hang_up(struct stub *s)
{
	ev_io_stop(loop_ev(s->loop), &s->read_io);
	close(s->fd);
	s->fd = -1;
}

static UNUSED void stub_reset(struct stub *s)
{
	struct linger now = {1, 0};

	setsockopt(s->fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
	stub_hang_up(s);
}

static UNUSED void stub_on_read(struct ev_loop *ev, ev_io *w, int events)
{
	struct stub *s = w->data;
	char buffer[4096];
	ssize_t n = recv(s->fd, buffer, sizeof buffer, 0);
	(void)ev;
	(void)events;

	if (n <= 0) {
		stub_hang_up(s);
		return;
	}
	str_append(&s->in, buffer, (size_t)n);
	while (s->fd >= 0 && strstr(str_text(&s->in), "\r\n\r\n") != NULL) {
		str_reset(&s->in);
		s->requests++;
		if (s->answer != NULL) {
			s->answer(s);
		}
	}
}

static UNUSED void stub_on_accept(struct ev_loop *ev, ev_io *w, int events)
{
	struct stub *s = w->data;
	int fd = accept4(s->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	(void)events;

	if (fd < 0) {
		return;
	}
	if (s->fd >= 0) {
		ev_io_stop(ev, &s->read_io);
	}
	s->fd = fd;
	s->accepted++;
	ev_io_init(&s->read_io, stub_on_read, fd, EV_READ);
	s->read_io.data = s;
	ev_io_start(ev, &s->read_io);
}

static UNUSED void stub_open(struct stub *s, struct loop *l, stub_answer answer)
{
	struct sockaddr_in at = {.sin_family = AF_INET};
	socklen_t n = sizeof at;

	*s = (struct stub){.loop = l, .fd = -1, .in = STR_INIT(1024 * 1024), .answer = answer};
	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	s->listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	cr_assert(bind(s->listener, (struct sockaddr *)&at, sizeof at) == 0);
	cr_assert(listen(s->listener, 64) == 0);
	cr_assert(getsockname(s->listener, (struct sockaddr *)&at, &n) == 0);
	s->port = ntohs(at.sin_port);
	ev_io_init(&s->accept_io, stub_on_accept, s->listener, EV_READ);
	s->accept_io.data = s;
	ev_io_start(loop_ev(l), &s->accept_io);
}

static UNUSED void stub_close(struct stub *s)
{
	if (s->fd >= 0) {
		stub_hang_up(s);
	}
	ev_io_stop(loop_ev(s->loop), &s->accept_io);
	close(s->listener);
	str_finish(&s->in);
}

static UNUSED bool stub_was_asked(void *data)
{
	return ((struct stub *)data)->requests > 0;
}

/* An authority and a leaf for the given name, valid now. */
static UNUSED struct tls_pair test_authority(const char *name)
{
	struct tls_pair pair = {0};
	struct fault f = {0};
	struct tls_spec spec = {
		.common_name = name, .days = 30, .wall_ms = clock_wall(&clock_system)};

	cr_assert(tls_authority_create(&spec, &pair, &f) == 0, "%s", f.message);
	return pair;
}

static UNUSED struct tls_pair test_leaf(const struct tls_pair *authority, const char *name)
{
	struct tls_pair pair = {0};
	struct fault f = {0};
	struct tls_spec spec = {.common_name = name,
		.names = &name,
		.name_count = 1,
		.days = 10,
		.wall_ms = clock_wall(&clock_system)};

	cr_assert(tls_leaf_issue(authority, &spec, &pair, &f) == 0, "%s", f.message);
	return pair;
}

static UNUSED struct tls_identity *test_identity(const struct tls_pair *leaf)
{
	struct fault f = {0};
	struct tls_identity *i = tls_identity_create(leaf->cert_pem, leaf->key_pem, &f);

	cr_assert(i != NULL, "%s", f.message);
	return i;
}

#endif
