/* What the tests of the HTTP client share: a call that records what happens to it, and our client
 * and our server in one loop. */
#ifndef TEST_IO_HTTP_HARNESS_H
#define TEST_IO_HTTP_HARNESS_H

#include "harness.h"
#include "io/http.h"

struct call {
	struct wire *wire;
	uint64_t id;
	int done;
	int status;
	int64_t retry_after_ms;
	struct fault fault;
	struct str body;   /* of the completion */
	struct str pieces; /* of on_data */
	bool accepted;	   /* on_data with nothing: the 200 was there, once and first */
	int piece_count;
	size_t cancel_after; /* cancels itself inside on_data once that many bytes came */
	size_t stop_after;   /* returns false likewise */
	bool in_send;
};

static UNUSED bool on_data(void *data, int status, const char *p, size_t n)
{
	struct call *c = data;

	cr_assert(!c->in_send && c->done == 0 && status == 200);
	if (n == 0) {
		cr_assert(c->piece_count == 0 && !c->accepted);
		c->accepted = true;
		return true;
	}
	cr_assert(c->accepted);
	str_append(&c->pieces, p, n);
	c->piece_count++;
	if (c->cancel_after > 0 && c->pieces.len >= c->cancel_after) {
		wire_cancel(c->wire, c->id);
		wire_cancel(c->wire, c->id);
		c->done = -1000; /* anything that comes now is wrong */
	}
	return c->stop_after == 0 || c->pieces.len < c->stop_after;
}

static UNUSED void on_done(void *data, const struct wire_answer *a)
{
	struct call *c = data;

	cr_assert(!c->in_send && c->done == 0, "completed twice, early or after a cancel");
	cr_assert(a->body != NULL && a->body[a->body_size] == '\0');
	c->done++;
	c->status = a->status;
	c->retry_after_ms = a->retry_after_ms;
	c->fault = a->fault;
	str_append(&c->body, a->body, a->body_size);
}

static UNUSED const struct wire_events events = {.on_data = on_data, .on_done = on_done};

static UNUSED void call_send(struct call *c, struct wire *w, const struct wire_request *request)
{
	*c = (struct call){.wire = w,
		.in_send = true,
		.body = STR_INIT(32 * 1024 * 1024),
		.pieces = STR_INIT(32 * 1024 * 1024)};
	c->id = wire_send(w, request, &events, c);
	c->in_send = false;
	cr_assert(c->id != 0 && c->done == 0);
}

static UNUSED void call_finish(struct call *c)
{
	str_finish(&c->body);
	str_finish(&c->pieces);
}

static UNUSED bool call_is_done(void *data)
{
	return ((struct call *)data)->done != 0;
}

static UNUSED void call_wait(struct loop *l, struct call *c)
{
	cr_assert(wait_for(l, call_is_done, c, PATIENCE_MS), "no completion");
}

static UNUSED struct http_client *client_for(
	struct loop *l, const char *scheme, int port, const char *ca)
{
	char url[64];
	struct fault f = {0};
	struct http_client_config config = {.base_url = url, .ca_pem = ca};

	snprintf(url, sizeof url, "%s://127.0.0.1:%d", scheme, port);
	struct http_client *c = http_client_create(l, &config, &f);
	cr_assert(c != NULL, "%s", f.message);
	return c;
}

/* Our client and our server over TLS. */
struct pair {
	struct loop *loop;
	struct tls_pair ca;
	struct server *server;
	struct http_client *client;
	int served;
};

static UNUSED void mirror(void *data, const struct server_request *q, struct server_reply *r)
{
	struct pair *p = data;

	p->served++;
	str_append_format(&r->body, "%.*s %.*s ", (int)q->method.n, q->method.p,
		(int)q->content_type.n, q->content_type.p);
	str_append(&r->body, q->body.p, q->body.n);
}

static UNUSED void big(void *data, const struct server_request *q, struct server_reply *r)
{
	(void)data;
	(void)q;
	for (int i = 0; i < 100000; i++) {
		str_append_text(&r->body, "0123456789");
	}
}

static UNUSED void pair_open(struct pair *p, const char *leaf_name)
{
	struct fault f = {0};

	*p = (struct pair){.loop = loop_create(), .ca = test_authority("pair authority")};
	struct tls_pair leaf CLEANUP(tls_pair_finish) = test_leaf(&p->ca, leaf_name);
	struct tls_identity *identity = test_identity(&leaf);
	struct server_config config = {.name = "t", .listen = "127.0.0.1:0", .tls = identity};
	p->server = server_create(p->loop, &config, &f);
	cr_assert(p->server != NULL, "%s", f.message);
	tls_identity_destroy(identity);
	static const char *const methods[] = {"GET", "POST", "PUT", "PATCH", "DELETE"};
	for (size_t i = 0; i < COUNT_OF(methods); i++) {
		server_route(p->server, methods[i], "/mirror", mirror, p);
	}
	server_route(p->server, "GET", "/big", big, p);
	p->client = client_for(p->loop, "https", server_port(p->server), p->ca.cert_pem);
}

static UNUSED void pair_close(struct pair *p)
{
	http_client_destroy(p->client);
	server_destroy(p->server);
	tls_pair_finish(&p->ca);
	loop_destroy(p->loop);
}

static UNUSED const struct wire_request get_mirror = {
	.method = WIRE_GET, .path = "/mirror", .timeout_ms = 5000};

/* Answers of a stub. */
static UNUSED void answer_500(struct stub *s)
{
	stub_write(s, "HTTP/1.1 500 Oops\r\nContent-Length: 4\r\n\r\noops");
}

static UNUSED void answer_silence(struct stub *s)
{
	(void)s;
}

#endif
