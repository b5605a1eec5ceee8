/* Answers that come compressed: told as they were before, and never kept as a whole. */
#include <malloc.h>

#include "http_harness.h"

TestSuite(http_zipped, .fini = expect_no_leak);

/* Runs of equal bytes. */
struct run {
	unsigned char byte;
	int times;
};

/* {"items":[]} */
static const unsigned char small[] = {0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03,
	0xab, 0x56, 0xca, 0x2c, 0x49, 0xcd, 0x2d, 0x56, 0xb2, 0x8a, 0x8e, 0xad, 0x05, 0x00, 0x1d,
	0x1f, 0x43, 0xea, 0x0c, 0x00, 0x00, 0x00};

/* 16 MiB of the letter a, in 16 KiB. */
#define BOMB_BYTES ((size_t)16 << 20)
static const struct run bomb[] = {{0x1f, 1}, {0x8b, 1}, {0x08, 1}, {0x00, 5}, {0x02, 1}, {0x03, 1},
	{0xec, 1}, {0xc1, 1}, {0x81, 1}, {0x00, 4}, {0x80, 1}, {0x20, 1}, {0xd6, 1}, {0xfd, 1},
	{0x25, 1}, {0x16, 1}, {0xa9, 1}, {0x0a, 1}, {0x00, 4094}, {0x80, 1}, {0xd9, 1}, {0x83, 1},
	{0x03, 1}, {0x01, 1}, {0x00, 4}, {0x20, 1}, {0xff, 1}, {0xd7, 1}, {0x46, 1}, {0x50, 1},
	{0x55, 4095}, {0x61, 1}, {0x0f, 1}, {0x0e, 1}, {0x04, 1}, {0x00, 4}, {0x80, 1}, {0xfc, 1},
	{0x5f, 1}, {0x1b, 1}, {0x41, 1}, {0x55, 4095}, {0xa5, 1}, {0x3d, 1}, {0x38, 1}, {0x20, 1},
	{0x00, 4}, {0x10, 1}, {0xf2, 1}, {0xff, 1}, {0x75, 1}, {0x43, 1}, {0x02, 1}, {0x00, 3969},
	{0xc0, 1}, {0x55, 1}, {0x00, 1}, {0x5c, 1}, {0x38, 1}, {0x91, 1}, {0x00, 3}, {0x01, 1}};

static void send_all(struct stub *s, const void *p, size_t n)
{
	cr_assert(send(s->fd, p, n, MSG_NOSIGNAL) == (ssize_t)n);
}

static void answer_small(struct stub *s)
{
	stub_write(s, "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 32\r\n\r\n");
	send_all(s, small, sizeof small);
}

static void answer_bomb(struct stub *s)
{
	CLEANUP(str_finish) struct str text = STR_INIT(64 * 1024);
	for (size_t i = 0; i < COUNT_OF(bomb); i++) {
		for (int k = 0; k < bomb[i].times; k++) {
			str_append_char(&text, (char)bomb[i].byte);
		}
	}
	stub_write(s, "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nConnection: close\r\n\r\n");
	send_all(s, str_text(&text), text.len);
	stub_hang_up(s);
}

static void answer_half(struct stub *s)
{
	stub_write(s, "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 32\r\n\r\n");
	send_all(s, small, 18);
	stub_hang_up(s);
}

static void answer_no_zip(struct stub *s)
{
	stub_write(
		s, "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 5\r\n\r\nplain");
}

/* What came, without keeping it. */
struct weighed {
	size_t bytes, most_at_once, kept_at_first, kept_most;
	bool done;
	struct fault fault;
};

static size_t kept(void)
{
	struct mallinfo2 m = mallinfo2();
	return m.uordblks + m.hblkhd;
}

static bool weigh(void *data, int status, const char *p, size_t n)
{
	struct weighed *w = data;
	(void)status;
	w->kept_at_first = w->kept_at_first > 0 ? w->kept_at_first : kept();
	w->kept_most = kept() > w->kept_most ? kept() : w->kept_most;
	w->most_at_once = n > w->most_at_once ? n : w->most_at_once;
	for (size_t i = 0; i < n; i++) {
		cr_assert(p[i] == 'a');
	}
	w->bytes += n;
	return true;
}

static void weighed_done(void *data, const struct wire_answer *a)
{
	struct weighed *w = data;
	w->fault = a->fault;
	w->done = true;
}

static bool is_done(void *data)
{
	return ((struct weighed *)data)->done;
}

static const struct wire_request zipped = {
	.method = WIRE_GET, .path = "/list", .stream = true, .zipped = true, .timeout_ms = 5000};

Test(http_zipped, a_bomb_is_told_piece_by_piece_and_not_kept)
{
	static const struct wire_events weighing = {.on_data = weigh, .on_done = weighed_done};
	struct loop *l = loop_create();
	struct weighed w = {0};
	struct stub s;
	stub_open(&s, l, answer_bomb);
	struct http_client *c = client_for(l, "http", s.port, NULL);
	wire_send(http_client_wire(c), &zipped, &weighing, &w);
	cr_assert(wait_for(l, is_done, &w, PATIENCE_MS));
	cr_expect(w.fault.kind == FAULT_NONE, "%s", w.fault.message);
	cr_expect_eq(w.bytes, BOMB_BYTES);
	cr_expect_leq(w.most_at_once, 64 * 1024);
	cr_expect_leq(w.kept_most - w.kept_at_first, (size_t)5 << 20, "%zu",
		w.kept_most - w.kept_at_first);
	http_client_destroy(c);
	stub_close(&s);
	loop_destroy(l);
}

static void expect_answer(
	stub_answer answer, bool zips, enum fault_kind kind, const char *text, size_t size)
{
	struct loop *l = loop_create();
	struct wire_request request = zipped;
	struct stub s;
	struct call c;
	request.zipped = zips;
	stub_open(&s, l, answer);
	struct http_client *client = client_for(l, "http", s.port, NULL);
	call_send(&c, http_client_wire(client), &request);
	call_wait(l, &c);
	cr_expect_eq(c.fault.kind, kind, "%s", c.fault.message);
	cr_expect(text == NULL ||
			  (c.pieces.len == size && memcmp(str_text(&c.pieces), text, size) == 0),
		"%s", str_text(&c.pieces));
	call_finish(&c);
	http_client_destroy(client);
	stub_close(&s);
	loop_destroy(l);
}

Test(http_zipped, what_was_asked_for_compressed_is_told_as_it_was)
{
	expect_answer(answer_small, true, FAULT_NONE, "{\"items\":[]}", 12);
	expect_answer(answer_small, false, FAULT_NONE, (const char *)small, sizeof small);
}

Test(http_zipped, what_is_broken_is_a_fault)
{
	expect_answer(answer_no_zip, true, FAULT_TRANSIENT, NULL, 0);
	expect_answer(answer_half, true, FAULT_TRANSIENT, NULL, 0);
}
