/* The HTTP client against servers that refuse, break off, lie or say nothing. */
#include "http_harness.h"

TestSuite(http_fault, .fini = expect_no_leak);

/* Misbehaving servers. */

static void answer_429(struct stub *s)
{
	stub_write(s, "HTTP/1.1 429 Slow\r\nRetry-After: 7\r\nContent-Length: 0\r\n\r\n");
}

static void answer_503_date(struct stub *s)
{
	struct tm tm;
	time_t at = time(NULL) + 100;
	char text[200];

	gmtime_r(&at, &tm);
	strftime(text, sizeof text,
		"HTTP/1.1 503 No\r\nRetry-After: %a, %d %b %Y %H:%M:%S GMT\r\nContent-Length: "
		"0\r\n\r\n",
		&tm);
	stub_write(s, text);
}

static void answer_for_ever(struct stub *s)
{
	stub_write(s, "HTTP/1.1 429 Slow\r\nRetry-After: 99999999999\r\nContent-Length: 0\r\n\r\n");
}

static void answer_announced_large(struct stub *s)
{
	stub_write(s, "HTTP/1.1 200 OK\r\nContent-Length: 2000\r\n\r\nxx");
}

static void answer_chunked_large(struct stub *s)
{
	struct str text CLEANUP(str_finish) = STR_INIT(10000);

	str_append_format(
		&text, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n7d0\r\n%2000d\r\n", 1);
	stub_write(s, str_text(&text));
}

static void answer_reset_mid_body(struct stub *s)
{
	stub_write(s, "HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\nhalf");
	stub_reset(s);
}

static void answer_short_body(struct stub *s)
{
	stub_write(s, "HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\nhalf");
	stub_hang_up(s);
}

static void answer_short_chunks(struct stub *s)
{
	stub_write(s, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n");
	stub_hang_up(s);
}

static void answer_reset(struct stub *s)
{
	stub_reset(s);
}

static void answer_junk(struct stub *s)
{
	stub_write(s, "no http at all\r\n\r\n");
	stub_hang_up(s);
}

static const struct bad_server {
	const char *name;
	stub_answer answer;
	int status;
	enum fault_kind kind;
	bool unknown;
	int64_t retry_from_ms, retry_to_ms;
} bad_servers[] = {
	{"500", answer_500, 500, FAULT_NONE, false, 0, 0},
	{"429", answer_429, 429, FAULT_NONE, false, 7000, 7000},
	{"503 with a date", answer_503_date, 503, FAULT_NONE, false, 95000, 101000},
	{"endless Retry-After", answer_for_ever, 429, FAULT_NONE, false, 86400000, 86400000},
	{"large by its length", answer_announced_large, 200, FAULT_LIMIT, false, 0, 0},
	{"large in chunks", answer_chunked_large, 200, FAULT_LIMIT, false, 0, 0},
	{"reset in the body", answer_reset_mid_body, 200, FAULT_TRANSIENT, true, 0, 0},
	{"end in the body", answer_short_body, 200, FAULT_TRANSIENT, true, 0, 0},
	{"end between chunks", answer_short_chunks, 200, FAULT_TRANSIENT, true, 0, 0},
	{"reset before the answer", answer_reset, 0, FAULT_TRANSIENT, true, 0, 0},
	{"no HTTP", answer_junk, 0, FAULT_TRANSIENT, true, 0, 0},
	{"silence", answer_silence, 0, FAULT_TRANSIENT, true, 0, 0},
};

Test(http_fault, says_what_a_misbehaving_server_did)
{
	struct loop *l = loop_create();

	for (size_t i = 0; i < COUNT_OF(bad_servers) * 2; i++) {
		const struct bad_server *b = &bad_servers[i / 2];
		struct stub s;
		struct call c;
		stub_open(&s, l, b->answer);
		struct http_client *client = client_for(l, "http", s.port, NULL);
		bool write = i % 2 == 1;
		struct wire_request request = {.method = write ? WIRE_PATCH : WIRE_GET,
			.path = "/x",
			.content_type = write ? "a/b" : NULL,
			.body = "b",
			.body_size = write ? 1 : 0,
			.timeout_ms = b->answer == answer_silence ? 150 : 5000,
			.limit_bytes = 1000};
		call_send(&c, http_client_wire(client), &request);
		call_wait(l, &c);
		cr_expect(c.fault.kind == b->kind, "%s: %s %s", b->name,
			fault_kind_name(c.fault.kind), c.fault.message);
		cr_expect(c.status == b->status, "%s: %d", b->name, c.status);
		cr_expect(c.fault.unknown_outcome == (write && b->unknown), "%s", b->name);
		cr_expect(
			c.retry_after_ms >= b->retry_from_ms && c.retry_after_ms <= b->retry_to_ms,
			"%s: %lld", b->name, (long long)c.retry_after_ms);
		cr_expect(b->kind == FAULT_NONE || c.fault.message[0] != '\0');
		cr_expect(b->answer != answer_500 || text_equals(str_text(&c.body), "oops"));
		call_finish(&c);
		http_client_destroy(client);
		stub_close(&s);
	}
	loop_destroy(l);
}

Test(http_fault, a_refused_connection_is_transient_and_its_outcome_known)
{
	struct loop *l = loop_create();
	struct stub s;
	struct call c;

	stub_open(&s, l, NULL);
	struct http_client *client = client_for(l, "http", s.port, NULL);
	stub_close(&s);
	call_send(&c, http_client_wire(client),
		&(struct wire_request){.method = WIRE_POST, .path = "/", .timeout_ms = 5000});
	call_wait(l, &c);
	cr_assert(c.fault.kind == FAULT_TRANSIENT && !c.fault.unknown_outcome && c.status == 0);
	call_finish(&c);
	http_client_destroy(client);
	loop_destroy(l);
}

Test(http_fault, requests_that_cannot_be_sent_complete_with_a_fault)
{
	static const struct wire_request bad[] = {
		{.method = WIRE_GET, .path = NULL},
		{.method = WIRE_GET, .path = "x"},
		{.method = WIRE_GET, .path = "/a b"},
		{.method = WIRE_GET, .path = "/a\r\nX: y"},
		{.method = WIRE_GET, .path = "/", .bearer = "a\r\nX: y"},
		{.method = WIRE_GET, .path = "/", .accept = "a\nb"},
	};
	struct loop *l = loop_create();
	struct http_client *client = client_for(l, "http", 1, NULL);

	for (size_t i = 0; i < COUNT_OF(bad); i++) {
		struct call c;
		call_send(&c, http_client_wire(client), &bad[i]);
		call_wait(l, &c);
		cr_expect(c.fault.kind == FAULT_INVALID, "%zu: %s", i, c.fault.message);
		cr_expect(strstr(c.fault.message, "X: y") == NULL);
		call_finish(&c);
	}
	http_client_destroy(client);
	loop_destroy(l);
}
