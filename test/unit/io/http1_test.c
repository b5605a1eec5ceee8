/* The parser of requests and answers: what it takes, what it refuses, and that cutting the bytes
 * changes nothing. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "io/http1.h"

/* Feeds the text in pieces of `step` bytes; what is left over is in *ret_left. */
static enum http1_result feed(
	struct http1 *p, const char *text, size_t n, size_t step, size_t *ret_left)
{
	size_t at = 0;
	enum http1_result r = HTTP1_MORE;

	while (at < n && r == HTTP1_MORE) {
		size_t used, piece = n - at < step ? n - at : step;
		/* A copy of exactly this size, so that a sanitizer sees reads beyond the piece. */
		char *copy = xmemdup(text + at, piece);
		r = http1_feed(p, copy, piece, &used);
		free(copy);
		cr_assert(r != HTTP1_MORE || used == piece);
		at += used;
	}
	*ret_left = n - at;
	return r;
}

struct bad_case {
	const char *text;
	int status;
};

static void expect_bad(const char *text, size_t n, int status)
{
	for (size_t step = 1; step <= n; step = step < 4 ? step + 1 : step * 3) {
		struct http1 p;
		size_t left;
		http1_init(&p, 1000);
		cr_expect(feed(&p, text, n, step, &left) == HTTP1_BAD && p.status == status,
			"step %zu, status %d instead of %d, phase %d: %s", step, p.status, status,
			(int)p.phase, text);
		cr_expect(p.status == 0 || p.problem != NULL);
		http1_finish(&p);
	}
}

#define HOST "Host: a\r\n"

Test(http1, refuses_what_two_parsers_could_read_differently)
{
	static const struct bad_case cases[] = {
		{"GET / HTTP/1.1\r\n\r\n", 400},	      /* no Host */
		{"GET / HTTP/1.1\r\n" HOST HOST "\r\n", 400}, /* two */
		{"GET / HTTP/1.1\n" HOST "\r\n", 400},	      /* bare LF */
		{"GET / HTTP/1.1\r\nHost: a\n\r\n", 400},
		{"GET / HTTP/1.1\r\nHost: a\rb\r\n\r\n", 400},	    /* bare CR */
		{"GET / HTTP/1.1\r\n" HOST " folded\r\n\r\n", 400}, /* obs-fold */
		{"GET / HTTP/1.1\r\n" HOST "\tfolded: x\r\n\r\n", 400},
		{"GET / HTTP/1.1\r\nHost : a\r\n\r\n", 400}, /* blank before the colon */
		{"GET / HTTP/1.1\r\n" HOST "nocolon\r\n\r\n", 400},
		{"GET / HTTP/1.1\r\n" HOST ": x\r\n\r\n", 400}, /* no name */
		{"GET / HTTP/1.1\r\n" HOST "a: \x01\r\n\r\n", 400},
		{"GET http://a/ HTTP/1.1\r\n" HOST "\r\n", 400}, /* absolute form */
		{"OPTIONS * HTTP/1.1\r\n" HOST "\r\n", 400},
		{"GET /a#b HTTP/1.1\r\n" HOST "\r\n", 400},
		{"GET /a\x80 HTTP/1.1\r\n" HOST "\r\n", 400},
		{"GET  / HTTP/1.1\r\n" HOST "\r\n", 400}, /* two blanks */
		{"GET / HTTP/1.1 \r\n" HOST "\r\n", 505},
		{"GET / \r\n" HOST "\r\n", 400},
		{"GET /\r\n" HOST "\r\n", 400},
		{"G(T / HTTP/1.1\r\n" HOST "\r\n", 400},
		{"GET / HTTP/2.0\r\n" HOST "\r\n", 505},
		{"PRI * HTTP/2.0\r\n\r\n", 505},
		{"\r\n\r\nGET / HTTP/1.1\r\n" HOST "\r\n", 400}, /* two empty lines */
		{"POST / HTTP/1.1\r\n" HOST "Content-Length: 1\r\nContent-Length: 1\r\n\r\nx", 400},
		{"POST / HTTP/1.1\r\n" HOST "Content-Length: 1, 1\r\n\r\nx", 400},
		{"POST / HTTP/1.1\r\n" HOST "Content-Length: -1\r\n\r\n", 400},
		{"POST / HTTP/1.1\r\n" HOST "Content-Length: +1\r\n\r\n", 400},
		{"POST / HTTP/1.1\r\n" HOST "Content-Length: 0x1\r\n\r\n", 400},
		{"POST / HTTP/1.1\r\n" HOST "Content-Length:\r\n\r\n", 400},
		{"POST / HTTP/1.1\r\n" HOST "Content-Length: 1001\r\n\r\n", 413},
		{"POST / HTTP/1.1\r\n" HOST "Content-Length: 18446744073709551617\r\n\r\n", 413},
		{"POST / HTTP/1.1\r\n" HOST
		 "Content-Length: 99999999999999999999999999999999999999999\r\n\r\n",
			413},
		{"POST / HTTP/1.1\r\n" HOST "Content-Length: 99999999999999999999999x\r\n\r\n",
			400},
		{"POST / HTTP/1.1\r\n" HOST
		 "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
			400},
		{"POST / HTTP/1.1\r\n" HOST
		 "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n",
			400},
		{"POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: gzip, chunked\r\n\r\n", 501},
		{"POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: xchunked\r\n\r\n", 501},
		{"POST / HTTP/1.0\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n", 400},
		{"POST / HTTP/1.1\r\n" HOST "Content-Length: 1\r\nExpect: magic\r\n\r\nx", 417},
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		expect_bad(cases[i].text, strlen(cases[i].text), cases[i].status);
	}
	static const char zero[] = "GET / HTTP/1.1\r\nHost: a\0b\r\n\r\n";
	expect_bad(zero, sizeof zero - 1, 400);
}

#define CHUNKED "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n"

Test(http1, refuses_chunks_that_lie)
{
	static const struct bad_case cases[] = {
		{CHUNKED "\r\n", 400},
		{CHUNKED "g\r\n", 400},
		{CHUNKED " 1\r\nx\r\n0\r\n\r\n", 400},
		{CHUNKED "1 \r\nx\r\n0\r\n\r\n", 400},
		{CHUNKED "-1\r\n", 400},
		{CHUNKED "1\nx\r\n", 400},
		{CHUNKED "1\r\nxy\r\n", 400},
		{CHUNKED "1\r\nx\n0\r\n\r\n", 400},
		{CHUNKED "000000001\r\n", 400}, /* nine digits */
		{CHUNKED "ffffffff\r\n", 413},
		{CHUNKED "3e9\r\n", 413}, /* 1001 */
		{CHUNKED "1;a=\x01\r\n", 400},
		{CHUNKED "0\r\nTrailer: x\n\r\n", 400},
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		expect_bad(cases[i].text, strlen(cases[i].text), cases[i].status);
	}
	/* Two chunks that fit one by one, but not together. */
	char text[1200];
	int n = snprintf(text, sizeof text, "%s1f4\r\n%500s\r\n1f5\r\n", CHUNKED, "");
	expect_bad(text, (size_t)n, 413);
}

static void expect_done(const char *text, size_t step, struct http1 *p, size_t expect_left)
{
	size_t left;

	http1_init(p, 1000);
	enum http1_result r = feed(p, text, strlen(text), step, &left);
	cr_assert(r == HTTP1_DONE, "step %zu: %d %s", step, p->status, text_or(p->problem, "more"));
	cr_assert(left == expect_left, "left %zu", left);
}

Test(http1, reads_the_same_however_it_is_cut)
{
	static const char text[] = "\r\nPOST /admit?timeout=2s&x HTTP/1.1\r\nHOST:   a:1 \r\n"
				   "content-TYPE:\tapplication/json\t \r\nX-Empty:\r\n"
				   "Content-Length: 5\r\nConnection: x, Close\r\n\r\nhelloGET";

	for (size_t step = 1; step < sizeof text; step++) {
		struct http1 p;
		expect_done(text, step, &p, 3);
		cr_assert(view_equals(p.method, "POST"));
		cr_assert(view_equals(p.path, "/admit"));
		cr_assert(view_equals(p.query, "timeout=2s&x"));
		cr_assert(view_equals(p.content_type, "application/json"));
		cr_assert(view_equals(http1_header(&p, "Host"), "a:1"));
		cr_assert(view_equals(http1_header(&p, "x-empty"), ""));
		cr_assert_str_eq(str_text(&p.body), "hello");
		cr_assert(!p.keep_alive && !p.expect_continue);
		http1_finish(&p);
	}
}

Test(http1, reads_chunks_extensions_and_trailers)
{
	static const char text[] =
		CHUNKED "5;name=\"v\"\r\nhello\r\n00A\r\n, chunked \r\n0\r\nX-T: 1\r\n\r\n";

	for (size_t step = 1; step < sizeof text; step++) {
		struct http1 p;
		expect_done(text, step, &p, 0);
		cr_assert_str_eq(str_text(&p.body), "hello, chunked ");
		cr_assert(p.keep_alive);
		http1_finish(&p);
	}
}

Test(http1, takes_one_request_after_the_other)
{
	static const char text[] = "GET /1 HTTP/1.1\r\n" HOST "\r\nPOST /2 HTTP/1.1\r\n" HOST
				   "Content-Length: 2\r\n\r\nabGET /3 HTTP/1.0\r\n\r\n";
	struct http1 p;
	size_t at = 0, used;

	http1_init(&p, 0);
	cr_assert(http1_idle(&p));
	cr_assert(http1_feed(&p, text, sizeof text - 1, &used) == HTTP1_DONE);
	cr_assert(view_equals(p.path, "/1") && p.keep_alive && p.body.len == 0 && !http1_idle(&p));
	at += used;
	http1_next(&p);
	cr_assert(http1_idle(&p));
	cr_assert(http1_feed(&p, text + at, sizeof text - 1 - at, &used) == HTTP1_DONE);
	cr_assert(view_equals(p.path, "/2") && p.body.len == 2);
	at += used;
	http1_next(&p);
	cr_assert(http1_feed(&p, text + at, sizeof text - 1 - at, &used) == HTTP1_DONE);
	cr_assert(view_equals(p.path, "/3") && !p.keep_alive && p.body.len == 0);
	cr_assert(at + used == sizeof text - 1);
	http1_finish(&p);
}

Test(http1, says_when_the_client_waits_for_continue)
{
	static const char text[] =
		"POST / HTTP/1.1\r\n" HOST "Expect: 100-Continue\r\nContent-Length: 1\r\n\r\n";
	struct http1 p;
	size_t used;

	http1_init(&p, 0);
	cr_assert(http1_feed(&p, text, sizeof text - 1, &used) == HTTP1_MORE);
	cr_assert(p.expect_continue && p.phase == HTTP1_PHASE_BODY);
	cr_assert(http1_feed(&p, "x", 1, &used) == HTTP1_DONE);
	http1_finish(&p);
}

Test(http1, bounds_the_header_block)
{
	struct str text CLEANUP(str_finish) = STR_INIT(100000);

	str_append_text(&text, "GET / HTTP/1.1\r\n" HOST);
	for (int i = 0; i < HTTP1_HEADERS_MAX - 1; i++) {
		str_append_format(&text, "a%d: b\r\n", i);
	}
	size_t fits = text.len;
	str_append_text(&text, "\r\n");
	struct http1 p;
	expect_done(str_text(&text), 7, &p, 0);
	http1_finish(&p);
	text.len = fits;
	str_append_text(&text, "one: more\r\n\r\n");
	expect_bad(str_text(&text), text.len, 431);

	str_reset(&text);
	str_append_format(&text, "GET / HTTP/1.1\r\n" HOST "a: ");
	while (text.len < HTTP1_HEAD_MAX - 4) {
		str_append_char(&text, 'x');
	}
	str_append_text(&text, "\r\n\r\n");
	expect_done(str_text(&text), 1000, &p, 0);
	http1_finish(&p);
	text.len -= 4;
	str_append_text(&text, "x\r\n\r\n");
	expect_bad(str_text(&text), text.len, 431);
}

/* --- answers --- */

static void expect_answer(const char *text, int code, const char *body, bool keep_alive)
{
	size_t n = strlen(text);
	for (size_t step = 1; step <= n; step = step < 4 ? step + 1 : step * 3) {
		struct http1 p;
		size_t left;
		http1_init_answer(&p, 1000);
		cr_expect(feed(&p, text, n, step, &left) == HTTP1_DONE && left == 0,
			"step %zu: %s: %s", step, text, p.problem);
		cr_expect(p.code == code && p.keep_alive == keep_alive, "%s", text);
		cr_expect_str_eq(str_text(&p.body), body);
		http1_finish(&p);
	}
}

Test(http1, takes_answers_that_say_how_long_they_are)
{
	expect_answer("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nwell", 200, "well", true);
	expect_answer("HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n", 200, "", true);
	expect_answer("HTTP/1.1 503 Not \xc3\xa4 yet\r\nConnection: x, Close\r\n"
		      "Content-Length: 2\r\n\r\nno",
		503, "no", false);
	expect_answer("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
		      "2\r\nwe\r\n2;a=b\r\nll\r\n0\r\nx: y\r\n\r\n",
		200, "well", true);
	expect_answer("HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\nx", 200, "x", false);
	expect_answer("HTTP/1.1 204 No Content\r\n\r\n", 204, "", false);
	expect_answer("HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n", 304, "", false);
}

Test(http1, refuses_answers_that_do_not)
{
	static const char *const cases[] = {
		"HTTP/1.1 200 OK\r\n\r\n",
		"\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
		"HTTP/1.1 100 Continue\r\n\r\n",
		"HTTP/1.1 099 x\r\nContent-Length: 0\r\n\r\n",
		"HTTP/1.1 600 x\r\nContent-Length: 0\r\n\r\n",
		"HTTP/1.1 2000 x\r\nContent-Length: 0\r\n\r\n",
		"HTTP/1.1 +20 x\r\nContent-Length: 0\r\n\r\n",
		"HTTP/1.1  200 x\r\nContent-Length: 0\r\n\r\n",
		"HTTP/1.1\r\nContent-Length: 0\r\n\r\n",
		"HTTP/1.1 200 \x01\r\nContent-Length: 0\r\n\r\n",
		"ICY 200 OK\r\nContent-Length: 0\r\n\r\n",
		"HTTP/1.1 200 OK\nContent-Length: 0\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\nx",
		"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
		"HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
	};
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct http1 p;
		size_t left;
		http1_init_answer(&p, 1000);
		cr_expect(feed(&p, cases[i], strlen(cases[i]), 1, &left) == HTTP1_BAD &&
				  p.problem != NULL,
			"%s", cases[i]);
		http1_finish(&p);
	}
}

Test(http1, an_answer_larger_than_its_limit_is_told_apart)
{
	static const char *const cases[] = {
		"HTTP/1.1 200 OK\r\nContent-Length: 1001\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3e9\r\n",
	};
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct http1 p;
		size_t left;
		http1_init_answer(&p, 1000);
		cr_expect(feed(&p, cases[i], strlen(cases[i]), 1, &left) == HTTP1_BAD &&
				  p.status == 413,
			"%s", cases[i]);
		http1_finish(&p);
	}
}
