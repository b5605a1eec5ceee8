/* Streams of the HTTP client: pieces, ends, cancelling from inside, silence. */
#include <linux/sockios.h>
#include <sys/ioctl.h>

#include "http_harness.h"

TestSuite(http_stream, .fini = expect_no_leak);

/* Streams. */
static void answer_stream(struct stub *s)
{
	stub_write(s, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n");
}
static void answer_gone(struct stub *s)
{
	stub_write(s, "HTTP/1.1 410 Gone\r\nContent-Length: 4\r\n\r\ngone");
}

struct streaming {
	struct loop *loop;
	struct stub stub;
	struct http_client *client;
	struct call call;
	const char *wanted;
};

static void streaming_open(struct streaming *s, stub_answer answer, int64_t timeout_ms)
{
	s->loop = loop_create();
	stub_open(&s->stub, s->loop, answer);
	s->client = client_for(s->loop, "http", s->stub.port, NULL);
	call_send(&s->call, http_client_wire(s->client),
		&(struct wire_request){.method = WIRE_GET,
			.path = "/watch",
			.stream = true,
			.timeout_ms = timeout_ms,
			.limit_bytes = 1});
}

static void streaming_close(struct streaming *s)
{
	call_finish(&s->call);
	http_client_destroy(s->client);
	stub_close(&s->stub);
	loop_destroy(s->loop);
}

static bool stream_has(void *data)
{
	struct streaming *s = data;

	return text_equals(str_text(&s->call.pieces), s->wanted);
}

static void stream_expect(struct streaming *s, const char *text)
{
	s->wanted = text;
	cr_assert(wait_for(s->loop, stream_has, s, PATIENCE_MS), "got '%s'",
		str_text(&s->call.pieces));
}

Test(http_stream, a_stream_gives_each_piece_as_it_comes)
{
	struct streaming s;

	streaming_open(&s, answer_stream, 5000);
	stream_expect(&s, "one");
	stub_write(&s.stub, "3\r\nt");
	stream_expect(&s, "onet");
	stub_write(&s.stub, "wo\r\n");
	stream_expect(&s, "onetwo");
	cr_assert(s.call.done == 0);
	stub_write(&s.stub, "0\r\n\r\n");
	call_wait(s.loop, &s.call);
	cr_assert(s.call.fault.kind == FAULT_NONE && s.call.status == 200 && s.call.body.len == 0);
	cr_assert(s.call.piece_count >= 3);
	streaming_close(&s);
}

static void answer_and_be_silent(struct stub *s)
{
	stub_write(s, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
}

static bool is_accepted(void *data)
{
	return ((struct call *)data)->accepted;
}

Test(http_stream, that_it_was_accepted_is_told_before_it_says_anything)
{
	struct streaming s;

	streaming_open(&s, answer_and_be_silent, 60000);
	cr_assert(wait_for(s.loop, is_accepted, &s.call, PATIENCE_MS), "not told");
	cr_expect_eq(s.call.piece_count, 0);
	stub_write(&s.stub, "3\r\none\r\n");
	stream_expect(&s, "one");
	streaming_close(&s);
}

Test(http_stream, a_stream_that_breaks_off_is_transient)
{
	struct streaming s;

	streaming_open(&s, answer_stream, 5000);
	stream_expect(&s, "one");
	stub_reset(&s.stub);
	call_wait(s.loop, &s.call);
	cr_assert(s.call.fault.kind == FAULT_TRANSIENT && !s.call.fault.unknown_outcome);
	streaming_close(&s);
}

Test(http_stream, a_refused_stream_has_its_reason_in_the_completion)
{
	struct streaming s;

	streaming_open(&s, answer_gone, 5000);
	call_wait(s.loop, &s.call);
	cr_assert(s.call.fault.kind == FAULT_NONE && s.call.status == 410);
	cr_assert(s.call.pieces.len == 0);
	cr_assert_str_eq(str_text(&s.call.body), "gone");
	streaming_close(&s);
}

Test(http_stream, a_stream_may_be_cancelled_from_its_own_data)
{
	struct streaming s;

	streaming_open(&s, answer_stream, 5000);
	s.call.cancel_after = 1;
	stream_expect(&s, "one");
	/* No more data, no completion: both would trip over done = -1000. */
	send(s.stub.fd, "3\r\ntwo\r\n0\r\n\r\n", 13, MSG_NOSIGNAL);
	cr_assert(!wait_for(s.loop, never, NULL, 100));
	cr_assert_str_eq(str_text(&s.call.pieces), "one");
	streaming_close(&s);
}

Test(http_stream, a_stream_ended_by_its_reader_completes_without_a_fault)
{
	struct streaming s;

	streaming_open(&s, answer_stream, 5000);
	s.call.stop_after = 1;
	call_wait(s.loop, &s.call);
	cr_assert(s.call.fault.kind == FAULT_NONE && s.call.status == 200);
	streaming_close(&s);
}

/* The guard measures silence: bytes that come in time keep the stream, however long it lasts. */
struct beat {
	struct streaming *s;
	int64_t sent_ms; /* a moment before the last one was written */
	int sent;
};

static bool beat_ten_times(void *data)
{
	struct beat *b = data;

	if (loop_now_ms() >= b->sent_ms + 200 && b->sent < 10) {
		b->sent_ms = loop_now_ms();
		stub_write(&b->s->stub, "1\r\n.\r\n");
		b->sent++;
	}
	return b->sent == 10 || b->s->call.done != 0;
}

Test(http_stream, silence_ends_a_stream_and_bytes_keep_it)
{
	struct streaming s;
	struct beat b = {&s, 0, 0};

	streaming_open(&s, answer_stream, 1500);
	stream_expect(&s, "one");
	cr_assert(wait_for(s.loop, beat_ten_times, &b, PATIENCE_MS) && s.call.done == 0);
	call_wait(s.loop, &s.call);
	cr_assert(s.call.fault.kind == FAULT_TRANSIENT, "%s", s.call.fault.message);
	cr_assert(loop_now_ms() - b.sent_ms >= 1500);
	streaming_close(&s);
}

/* Much at once, as when a whole picture of the cluster comes in. */
#define MUCH_CHUNK 4096
#define MUCH_MAX   (512 * 1024)

static size_t much_sent;

static void answer_much(struct stub *s)
{
	char chunk[MUCH_CHUNK + 8];

	stub_write(s, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
	memcpy(chunk, "1000\r\n", 6);
	memset(chunk + 6, 'x', MUCH_CHUNK);
	memcpy(chunk + 6 + MUCH_CHUNK, "\r\n", 2);
	much_sent = 0;
	/* A chunk that went out in part would be the stub's fault: stop well before it is full. */
	int room = 0, used = 0;
	socklen_t n = sizeof room;
	cr_assert(getsockopt(s->fd, SOL_SOCKET, SO_SNDBUF, &room, &n) == 0);
	while (much_sent < MUCH_MAX && ioctl(s->fd, SIOCOUTQ, &used) == 0 && used < room / 4 &&
		send(s->fd, chunk, sizeof chunk, MSG_NOSIGNAL) == sizeof chunk) {
		much_sent += MUCH_CHUNK;
	}
}

struct per_turn {
	struct streaming *s;
	size_t seen, most;
};

static void per_turn_look(void *data)
{
	struct per_turn *t = data;
	size_t now = t->s->call.pieces.len;

	t->most = now - t->seen > t->most ? now - t->seen : t->most;
	t->seen = now;
}

static bool much_came(void *data)
{
	struct streaming *s = data;

	return much_sent > 0 && s->call.pieces.len == much_sent;
}

Test(http_stream, a_flood_is_taken_in_small_parts_so_that_others_get_their_turn)
{
	struct streaming s;
	struct per_turn t = {&s, 0, 0};

	streaming_open(&s, answer_much, 5000);
	loop_on_turn(s.loop, per_turn_look, &t);
	cr_assert(wait_for(s.loop, much_came, &s, PATIENCE_MS), "%zu of %zu", s.call.pieces.len,
		much_sent);
	cr_assert(much_sent >= 128 * 1024, "only %zu went out", much_sent);
	cr_assert(t.most <= 64 * 1024, "%zu in one turn", t.most);
	/* It is a stream like any other afterwards. */
	stub_write(&s.stub, "3\r\nend\r\n0\r\n\r\n");
	call_wait(s.loop, &s.call);
	cr_assert(s.call.fault.kind == FAULT_NONE && s.call.pieces.len == much_sent + 3);
	loop_off_turn(s.loop, per_turn_look, &t);
	streaming_close(&s);
}

static bool was_cancelled(void *data)
{
	const struct streaming *s = data;

	return s->call.pieces.len >= s->call.cancel_after;
}

Test(http_stream, a_flood_may_be_ended_or_cancelled_while_it_is_held_back)
{
	for (size_t at = MUCH_CHUNK; at < 96 * 1024; at += 3 * MUCH_CHUNK) {
		struct streaming s;
		streaming_open(&s, answer_much, 5000);
		s.call.stop_after = at;
		call_wait(s.loop, &s.call);
		cr_assert(s.call.fault.kind == FAULT_NONE && s.call.status == 200, "%zu: %s", at,
			s.call.fault.message);
		cr_assert(s.call.pieces.len >= at && s.call.pieces.len < at + 17 * 1024);
		streaming_close(&s);
		streaming_open(&s, answer_much, 5000);
		s.call.cancel_after = at;
		cr_assert(wait_for(s.loop, was_cancelled, &s, PATIENCE_MS));
		cr_assert(!wait_for(s.loop, never, NULL, 20));
		cr_assert(s.call.pieces.len >= at && s.call.pieces.len < at + 17 * 1024);
		streaming_close(&s);
	}
}

static bool half_came(void *data)
{
	struct streaming *s = data;

	return s->call.pieces.len >= 32 * 1024;
}

Test(http_stream, a_client_may_go_while_a_flood_is_held_back)
{
	struct streaming s;

	streaming_open(&s, answer_much, 5000);
	cr_assert(wait_for(s.loop, half_came, &s, PATIENCE_MS));
	streaming_close(&s);
}

static bool all_done(void *data)
{
	struct call *calls = data;

	for (int i = 0; i < HTTP_STREAMS_MAX + 1; i++) {
		if (calls[i].done == 0) {
			return false;
		}
	}
	return true;
}

Test(http_stream, streams_are_bounded_and_wait_for_no_call)
{
	static struct call calls[HTTP_STREAMS_MAX + 1], waiting[HTTP_CALLS_MAX + 1];
	struct loop *l = loop_create();
	struct stub silent, gone;

	stub_open(&silent, l, answer_silence);
	stub_open(&gone, l, answer_gone);
	struct http_client *client = client_for(l, "http", silent.port, NULL);
	struct wire *w = http_client_wire(client);
	for (int i = 0; i < HTTP_CALLS_MAX + 1; i++) {
		call_send(&waiting[i], w, &(struct wire_request){.method = WIRE_GET, .path = "/"});
	}
	cr_assert(wait_for(l, stub_was_asked, &silent, PATIENCE_MS));
	struct fault f;
	char url[64];
	snprintf(url, sizeof url, "http://127.0.0.1:%d", gone.port);
	struct http_client_config config = {.base_url = url};
	cr_assert(http_client_retarget(client, &config, &f) == 0);
	for (int i = 0; i < HTTP_STREAMS_MAX + 1; i++) {
		call_send(&calls[i], w,
			&(struct wire_request){.method = WIRE_GET, .path = "/", .stream = true});
	}
	cr_assert(wait_for(l, all_done, calls, PATIENCE_MS));
	for (int i = 0; i < HTTP_STREAMS_MAX + 1; i++) {
		bool refused = i == HTTP_STREAMS_MAX;
		cr_assert(calls[i].status == (refused ? 0 : 410), "%d: %s", i,
			calls[i].fault.message);
		cr_assert(calls[i].fault.kind == (refused ? FAULT_LIMIT : FAULT_NONE));
		call_finish(&calls[i]);
	}
	for (int i = 0; i < HTTP_CALLS_MAX + 1; i++) {
		cr_assert(waiting[i].done == 0);
		call_finish(&waiting[i]);
	}
	http_client_destroy(client);
	stub_close(&silent);
	stub_close(&gone);
	loop_destroy(l);
}
