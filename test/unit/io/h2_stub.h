/* A server of HTTP/2 on a unix socket that answers each connection's one call with bytes made
 * beforehand. It reads frames only to see where the call ends, and knows nothing of HPACK but the
 * form in which nothing is compressed. */
#ifndef TEST_IO_H2_STUB_H
#define TEST_IO_H2_STUB_H

#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/str.h"
#include "io/watch.h"

#define H2_PREFACE_BYTES 24
#define H2_HEAD_BYTES	 9
enum { H2_DATA = 0, H2_HEADERS = 1, H2_SETTINGS = 4 };
enum { H2_END_STREAM = 1, H2_ACK = 1, H2_END_HEADERS = 4 };

struct h2_stub {
	struct loop *loop;
	int door, fd;
	struct watch *knock, *talk;
	struct str in, answer;
	size_t left; /* of the answer, still to be sent */
	int calls;
	bool mute; /* it reads and says nothing */
};

/* --- an answer ------------------------------------------------------------------------------- */

static inline void h2_frame(struct str *out, int type, int flags, const struct str *payload)
{
	size_t n = payload->len;
	char head[H2_HEAD_BYTES] = {(char)(n >> 16), (char)(n >> 8), (char)n, (char)type,
		(char)flags, 0, 0, 0, type == H2_SETTINGS ? 0 : 1};
	str_append(out, head, sizeof head);
	str_append(out, str_text(payload), n);
}

/* "name: value" lines. */
static inline void h2_headers(struct str *out, const char *lines, int flags)
{
	struct str block = STR_INIT(4096);
	struct view rest = view_of(lines), line;
	while (view_next(&rest, '\n', &line)) {
		const char *colon = memchr(line.p + 1, ':', line.n - 1);
		size_t name = (size_t)(colon - line.p), value = line.n - name - 2;
		str_append_char(&block, 0); /* literal, never indexed, a name of its own */
		str_append_char(&block, (char)name);
		str_append(&block, line.p, name);
		str_append_char(&block, (char)value);
		str_append(&block, colon + 2, value);
	}
	h2_frame(out, H2_HEADERS, flags | H2_END_HEADERS, &block);
	str_finish(&block);
}

static inline void h2_data(struct str *out, const char *p, size_t n)
{
	for (size_t at = 0; at < n; at += 16384) {
		struct str piece = STR_INIT(16384);
		str_append(&piece, p + at, n - at < 16384 ? n - at : 16384);
		h2_frame(out, H2_DATA, 0, &piece);
		str_finish(&piece);
	}
}

/* What a gRPC server answers to a call that succeeds. */
static inline void h2_grpc(struct h2_stub *s, const char *body, size_t n, const char *trailers)
{
	str_reset(&s->answer);
	h2_headers(&s->answer, ":status: 200\ncontent-type: application/grpc", 0);
	h2_data(&s->answer, body, n);
	h2_headers(&s->answer, trailers, H2_END_STREAM);
}

/* --- the server ------------------------------------------------------------------------------ */

static inline bool h2_call_ends(const struct h2_stub *s)
{
	size_t at = H2_PREFACE_BYTES;
	const unsigned char *p = (const unsigned char *)str_text(&s->in);
	while (at + H2_HEAD_BYTES <= s->in.len) {
		size_t n = (size_t)p[at] << 16 | (size_t)p[at + 1] << 8 | p[at + 2];
		bool call = p[at + 3] == H2_DATA || p[at + 3] == H2_HEADERS;
		if (at + H2_HEAD_BYTES + n > s->in.len) {
			return false;
		}
		if (call && (p[at + 4] & H2_END_STREAM)) {
			return true;
		}
		at += H2_HEAD_BYTES + n;
	}
	return false;
}

static inline void h2_hang_up(struct h2_stub *s)
{
	watch_destroy(s->talk);
	s->talk = NULL;
	if (s->fd >= 0) {
		close(s->fd);
	}
	s->fd = -1;
	s->left = 0;
	str_reset(&s->in);
}

/* Whoever hears enough hangs up. */
static inline void h2_send(struct h2_stub *s)
{
	while (s->left > 0) {
		ssize_t n = send(s->fd, s->answer.p + s->answer.len - s->left, s->left,
			MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n <= 0) {
			break;
		}
		s->left -= (size_t)n;
	}
	watch_want(s->talk, WATCH_READ | (s->left > 0 ? WATCH_WRITE : 0));
}

static inline void h2_talk(void *data, unsigned ready)
{
	struct h2_stub *s = data;
	char piece[4096];
	if (ready & WATCH_WRITE) {
		h2_send(s);
	}
	ssize_t n = recv(s->fd, piece, sizeof piece, MSG_DONTWAIT);
	if (n < 0 && errno == EAGAIN) {
		return;
	}
	if (n <= 0) {
		h2_hang_up(s);
		return;
	}
	str_append(&s->in, piece, (size_t)n);
	if (s->mute || !h2_call_ends(s)) {
		return;
	}
	s->calls++;
	str_reset(&s->in);
	s->left = s->answer.len;
	h2_send(s);
}

static inline void h2_knock(void *data, unsigned ready)
{
	static const struct str none = {0};
	struct h2_stub *s = data;
	struct str hello = STR_INIT(64);
	(void)ready;
	h2_hang_up(s);
	s->fd = accept4(s->door, NULL, NULL, SOCK_CLOEXEC);
	cr_assert(s->fd >= 0);
	h2_frame(&hello, H2_SETTINGS, 0, &none);
	h2_frame(&hello, H2_SETTINGS, H2_ACK, &none);
	if (!s->mute) {
		cr_assert(send(s->fd, hello.p, hello.len, MSG_NOSIGNAL) == (ssize_t)hello.len);
	}
	str_finish(&hello);
	s->talk = watch_create(s->loop, s->fd, WATCH_READ, h2_talk, s);
}

static inline void h2_open(struct h2_stub *s, struct loop *l, const char *path)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	*s = (struct h2_stub){
		.loop = l, .fd = -1, .in = STR_INIT(1 << 20), .answer = STR_INIT(4 << 20)};
	cr_assert_lt(strlen(path), sizeof at.sun_path);
	memcpy(at.sun_path, path, strlen(path) + 1);
	(void)unlink(path);
	s->door = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	cr_assert(bind(s->door, (struct sockaddr *)&at, sizeof at) == 0 && listen(s->door, 8) == 0);
	s->knock = watch_create(l, s->door, WATCH_READ, h2_knock, s);
}

static inline void h2_close(struct h2_stub *s)
{
	h2_hang_up(s);
	watch_destroy(s->knock);
	close(s->door);
	str_finish(&s->in);
	str_finish(&s->answer);
}

#endif
