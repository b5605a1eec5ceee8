/* Calls of gRPC over a socket of this machine. */
#include "h2_stub.h"
#include "http_harness.h"

TestSuite(http_unix, .fini = expect_no_leak);

struct bed {
	struct loop *loop;
	struct h2_stub stub;
	struct http_client *client;
	char path[64];
	struct call call;
};

static void begin(struct bed *b)
{
	struct fault f = {0};
	*b = (struct bed){.loop = loop_create()};
	snprintf(b->path, sizeof b->path, "/tmp/aliquot-h2-%d", (int)getpid());
	h2_open(&b->stub, b->loop, b->path);
	struct http_client_config config = {
		.base_url = "http://localhost", .unix_socket = b->path, .http2 = true};
	b->client = http_client_create(b->loop, &config, &f);
	cr_assert_not_null(b->client, "%s", f.message);
}

static void end(struct bed *b)
{
	call_finish(&b->call);
	http_client_destroy(b->client);
	h2_close(&b->stub);
	(void)unlink(b->path);
	loop_destroy(b->loop);
}

struct heard {
	int done;
	char status[16], message[64];
};

static void on_rpc(void *data, const struct wire_answer *a)
{
	struct heard *h = data;
	h->done++;
	snprintf(h->status, sizeof h->status, "%s", text_or(a->rpc_status, "none"));
	snprintf(h->message, sizeof h->message, "%s", text_or(a->rpc_message, "none"));
}

static bool is_heard(void *data)
{
	return ((struct heard *)data)->done != 0;
}

static const struct wire_request rpc = {.method = WIRE_POST,
	.path = "/v1.Thing/Do",
	.content_type = "application/grpc",
	.body = "\0\0\0\0\0",
	.body_size = 5,
	.timeout_ms = 5000,
	.limit_bytes = 100000};

static struct heard ask_status(struct bed *b)
{
	static const struct wire_events rpc_events = {.on_done = on_rpc};
	struct heard h = {0};
	wire_send(http_client_wire(b->client), &rpc, &rpc_events, &h);
	cr_assert(wait_for(b->loop, is_heard, &h, PATIENCE_MS));
	return h;
}

static void ask(struct bed *b)
{
	call_finish(&b->call);
	call_send(&b->call, http_client_wire(b->client), &rpc);
	call_wait(b->loop, &b->call);
}

Test(http_unix, one_call_after_the_other)
{
	struct bed b;
	begin(&b);
	h2_grpc(&b.stub, "hello", 5, "grpc-status: 0");
	for (int i = 1; i <= 3; i++) {
		ask(&b);
		cr_assert_eq(b.call.fault.kind, FAULT_NONE, "%s", b.call.fault.message);
		cr_assert_eq(b.call.status, 200);
		cr_assert_str_eq(str_text(&b.call.body), "hello");
		cr_assert_eq(b.stub.calls, i);
	}
	end(&b);
}

Test(http_unix, the_status_is_read_wherever_it_stands)
{
	struct bed b;
	begin(&b);
	h2_grpc(&b.stub, "", 0, "grpc-status: 0");
	struct heard h = ask_status(&b);
	cr_assert_str_eq(h.status, "0");
	cr_assert_str_eq(h.message, "none");
	str_reset(&b.stub.answer);
	h2_headers(&b.stub.answer, ":status: 200\ngrpc-status: 7\ngrpc-message: not you",
		H2_END_STREAM);
	h = ask_status(&b);
	cr_assert_str_eq(h.status, "7");
	cr_assert_str_eq(h.message, "not you");
	h2_grpc(&b.stub, "x", 1, "other: 1");
	cr_assert_str_eq(ask_status(&b).status, "none");
	end(&b);
}

Test(http_unix, more_than_one_window_of_bytes)
{
	struct bed b;
	static char large[99000];
	begin(&b);
	memset(large, 'x', sizeof large);
	h2_grpc(&b.stub, large, sizeof large, "grpc-status: 0");
	ask(&b);
	cr_assert_eq(b.call.fault.kind, FAULT_NONE, "%s", b.call.fault.message);
	cr_assert_eq(b.call.body.len, sizeof large);
	end(&b);
}

Test(http_unix, more_than_the_limit)
{
	struct bed b;
	static char large[200000];
	begin(&b);
	h2_grpc(&b.stub, large, sizeof large, "grpc-status: 0");
	ask(&b);
	cr_assert_eq(b.call.fault.kind, FAULT_LIMIT);
	h2_grpc(&b.stub, "well", 4, "grpc-status: 0");
	ask(&b);
	cr_assert_str_eq(str_text(&b.call.body), "well");
	end(&b);
}

Test(http_unix, a_fault_names_the_socket)
{
	struct bed b;
	begin(&b);
	h2_close(&b.stub);
	(void)unlink(b.path);
	ask(&b);
	cr_assert_eq(b.call.fault.kind, FAULT_TRANSIENT);
	cr_assert_not_null(strstr(b.call.fault.message, b.path), "%s", b.call.fault.message);
	h2_open(&b.stub, b.loop, b.path);
	h2_grpc(&b.stub, "again", 5, "grpc-status: 0");
	ask(&b);
	cr_assert_str_eq(str_text(&b.call.body), "again", "a new socket of that name");
	end(&b);
}

Test(http_unix, what_is_no_http2)
{
	struct bed b;
	begin(&b);
	str_append_text(&b.stub.answer, "HTTP/1.1 400 Bad Request\r\n\r\n");
	ask(&b);
	cr_assert_eq(b.call.fault.kind, FAULT_TRANSIENT, "%s", b.call.fault.message);
	end(&b);
}
