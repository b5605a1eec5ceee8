/* The HTTP client against our own server over TLS: methods, trust, order, bounds, rotation, growth.
 */
#include <malloc.h>

#include "http_harness.h"

TestSuite(http, .fini = expect_no_leak);

Test(http, every_method_reaches_the_server_over_verified_tls)
{
	static const struct {
		enum wire_method method;
		const char *type, *body, *want;
	} cases[] = {
		{WIRE_GET, NULL, NULL, "GET  "},
		{WIRE_POST, "application/json", "{\"a\":1}", "POST application/json {\"a\":1}"},
		{WIRE_PUT, "application/json", "put", "PUT application/json put"},
		{WIRE_PATCH, "application/merge-patch+json", "patch",
			"PATCH application/merge-patch+json patch"},
		{WIRE_DELETE, NULL, NULL, "DELETE  "},
		{WIRE_DELETE, "application/json", "why", "DELETE application/json why"},
		{WIRE_POST, NULL, NULL, "POST  "},
	};
	struct pair p;

	pair_open(&p, "127.0.0.1");
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct call c;
		struct wire_request request = {.method = cases[i].method,
			.path = "/mirror",
			.content_type = cases[i].type,
			.body = cases[i].body,
			.body_size = cases[i].body != NULL ? strlen(cases[i].body) : 0,
			.bearer = "secret",
			.timeout_ms = 5000};
		call_send(&c, http_client_wire(p.client), &request);
		call_wait(p.loop, &c);
		cr_assert(c.fault.kind == FAULT_NONE && c.status == 200, "%s", c.fault.message);
		/* libcurl gives a POST without a type one of its own. */
		cr_expect(strncmp(str_text(&c.body), cases[i].want, 5) == 0);
		if (cases[i].type != NULL || cases[i].method != WIRE_POST) {
			cr_expect_str_eq(str_text(&c.body), cases[i].want);
		}
		call_finish(&c);
	}
	cr_assert(server_connections(p.server) == 1, "connections are not kept");
	pair_close(&p);
}

static void expect_denied(struct pair *p, const char *ca, const char *says)
{
	struct http_client *c = client_for(p->loop, "https", server_port(p->server), ca);
	struct call call;
	struct wire_request request = {.method = WIRE_POST, .path = "/mirror", .timeout_ms = 5000};

	call_send(&call, http_client_wire(c), &request);
	call_wait(p->loop, &call);
	cr_assert(call.fault.kind == FAULT_DENIED && call.status == 0, "%d %s", call.fault.kind,
		call.fault.message);
	cr_assert(!call.fault.unknown_outcome && p->served == 0);
	cr_assert(strstr(call.fault.message, says) != NULL, "%s", call.fault.message);
	cr_assert(
		strstr(call.fault.message, "https://127.0.0.1:") != NULL, "%s", call.fault.message);
	call_finish(&call);
	http_client_destroy(c);
}

Test(http, wrong_authority_is_denied_and_says_which)
{
	struct tls_pair other CLEANUP(tls_pair_finish) = test_authority("another authority");
	struct pair p;

	pair_open(&p, "127.0.0.1");
	expect_denied(&p, other.cert_pem, "'another authority'");
	expect_denied(&p, NULL, "the authorities of this system");
	pair_close(&p);
}

Test(http, wrong_name_is_denied)
{
	struct pair p;

	pair_open(&p, "elsewhere.example");
	expect_denied(&p, p.ca.cert_pem, "'pair authority'");
	/* The name to verify can be given, and verification can be told off. */
	char url[64];
	snprintf(url, sizeof url, "https://127.0.0.1:%d", server_port(p.server));
	struct http_client_config configs[] = {
		{.base_url = url, .ca_pem = p.ca.cert_pem, .tls_server_name = "elsewhere.example"},
		{.base_url = url, .insecure_skip_verify = true},
	};
	for (size_t i = 0; i < COUNT_OF(configs); i++) {
		struct call c;
		struct fault f;
		cr_assert(http_client_retarget(p.client, &configs[i], &f) == 0);
		call_send(&c, http_client_wire(p.client), &get_mirror);
		call_wait(p.loop, &c);
		cr_assert(c.fault.kind == FAULT_NONE && c.status == 200, "%s", c.fault.message);
		call_finish(&c);
	}
	pair_close(&p);
}

Test(http, configurations_that_cannot_be_used_are_faults)
{
	struct tls_pair ca CLEANUP(tls_pair_finish) = test_authority("a");
	struct tls_pair b CLEANUP(tls_pair_finish) = test_authority("b");
	const struct http_client_config bad[] = {
		{.base_url = NULL},
		{.base_url = ""},
		{.base_url = "ftp://a"},
		{.base_url = "https://"},
		{.base_url = "https://user:password@a"},
		{.base_url = "https://a/?q"},
		{.base_url = "https://a", .ca_pem = "junk"},
		{.base_url = "https://a", .cert_pem = "junk", .key_pem = "junk"},
		{.base_url = "https://a", .cert_pem = ca.cert_pem},
		{.base_url = "https://a", .cert_pem = ca.cert_pem, .key_pem = b.key_pem},
		{.base_url = "https://a", .tls_server_name = "a:b"},
	};
	struct loop *l = loop_create();

	for (size_t i = 0; i < COUNT_OF(bad); i++) {
		struct fault f = {0};
		cr_expect(http_client_create(l, &bad[i], &f) == NULL && f.kind == FAULT_INVALID,
			"%zu", i);
		cr_expect(strstr(f.message, "password") == NULL);
	}
	loop_destroy(l);
}

/* Cancelling in every state. */
Test(http, cancelled_calls_never_complete)
{
	struct loop *l = loop_create();
	struct stub s;
	struct call calls[3];

	stub_open(&s, l, answer_silence);
	struct http_client *client = client_for(l, "http", s.port, NULL);
	struct wire *w = http_client_wire(client);
	call_send(&calls[0], w, &get_mirror);
	wire_cancel(w, calls[0].id); /* queued */
	call_send(&calls[1], w, &get_mirror);
	cr_assert(wait_for(l, stub_was_asked, &s, PATIENCE_MS));
	wire_cancel(w, calls[1].id); /* running */
	call_send(&calls[2], w, &(struct wire_request){.method = WIRE_GET, .path = "bad"});
	wire_cancel(w, calls[2].id); /* completed but not delivered */
	wire_cancel(w, 0);
	wire_cancel(w, 123456);
	cr_assert(!wait_for(l, never, NULL, 100));
	for (int i = 0; i < 3; i++) {
		cr_assert(calls[i].done == 0, "%d", i);
		call_finish(&calls[i]);
	}
	cr_assert(s.requests == 1);
	http_client_destroy(client);
	stub_close(&s);
	loop_destroy(l);
}

/* More than may be in flight: the rest waits and all are answered; beyond the queue there is a
 * fault. */
#define FLOOD (HTTP_QUEUE_MAX + 10)
static bool flood_is_done(void *data)
{
	struct call *calls = data;

	for (int i = 0; i < FLOOD; i++) {
		if (calls[i].done == 0) {
			return false;
		}
	}
	return true;
}

Test(http, a_flood_waits_in_order_and_is_bounded)
{
	static struct call calls[FLOOD];
	struct pair p;
	int limited = 0;

	pair_open(&p, "127.0.0.1");
	for (int i = 0; i < FLOOD; i++) {
		call_send(&calls[i], http_client_wire(p.client),
			&(struct wire_request){
				.method = WIRE_GET, .path = "/mirror", .timeout_ms = 60000});
	}
	cr_assert(wait_for(p.loop, flood_is_done, calls, 50000));
	for (int i = 0; i < FLOOD; i++) {
		limited += calls[i].fault.kind == FAULT_LIMIT;
		cr_assert(calls[i].status == 200 || calls[i].fault.kind == FAULT_LIMIT, "%s",
			calls[i].fault.message);
		cr_assert((calls[i].fault.kind == FAULT_LIMIT) == (i >= HTTP_QUEUE_MAX), "%d", i);
		call_finish(&calls[i]);
	}
	cr_assert(limited == 10 && p.served == HTTP_QUEUE_MAX);
	cr_assert(server_connections(p.server) <= HTTP_CALLS_MAX);
	pair_close(&p);
}

static struct tls_identity *identity_of(struct tls_pair *ca)
{
	struct tls_pair leaf CLEANUP(tls_pair_finish) = test_leaf(ca, "127.0.0.1");

	return test_identity(&leaf);
}

/* The server's certificate changes its authority; the client follows when it is told. */
Test(http, certificates_rotate_under_live_connections)
{
	struct tls_pair next CLEANUP(tls_pair_finish) = test_authority("the next authority");
	struct tls_identity *identity = identity_of(&next);
	struct pair p;
	struct call c;
	struct fault f;
	char url[64];

	pair_open(&p, "127.0.0.1");
	call_send(&c, http_client_wire(p.client), &get_mirror);
	call_wait(p.loop, &c);
	cr_assert(c.status == 200);
	call_finish(&c);
	cr_assert(server_set_tls(p.server, identity, &f) == 0);
	tls_identity_destroy(identity);
	/* The live connection goes on with the old certificate. */
	call_send(&c, http_client_wire(p.client), &get_mirror);
	call_wait(p.loop, &c);
	cr_assert(c.status == 200, "%s", c.fault.message);
	call_finish(&c);
	/* A failed retarget changes nothing. */
	snprintf(url, sizeof url, "https://127.0.0.1:%d", server_port(p.server));
	struct http_client_config config = {.base_url = url, .ca_pem = "junk"};
	cr_assert(http_client_retarget(p.client, &config, &f) == -1);
	/* With the old authority a new connection is refused, with both it is not. */
	config.ca_pem = p.ca.cert_pem;
	cr_assert(http_client_retarget(p.client, &config, &f) == 0);
	call_send(&c, http_client_wire(p.client), &get_mirror);
	call_wait(p.loop, &c);
	cr_assert(c.fault.kind == FAULT_DENIED, "%s", c.fault.message);
	call_finish(&c);
	struct str both CLEANUP(str_finish) = STR_INIT(TLS_PEM_MAX);
	cr_assert(tls_bundle_concat(p.ca.cert_pem, next.cert_pem, &both, &f) == 0);
	config.ca_pem = str_text(&both);
	cr_assert(http_client_retarget(p.client, &config, &f) == 0);
	call_send(&c, http_client_wire(p.client), &get_mirror);
	call_wait(p.loop, &c);
	cr_assert(c.status == 200, "%s", c.fault.message);
	call_finish(&c);
	pair_close(&p);
}

struct closing {
	struct pair *pair;
	int at_most;
};

static bool few_connections(void *data)
{
	struct closing *c = data;

	return server_connections(c->pair->server) <= c->at_most;
}

Test(http, retargeting_closes_idle_connections_and_lets_the_others_end)
{
	struct closing few;
	struct pair p;
	struct call c;
	struct fault f;
	char url[64];

	pair_open(&p, "127.0.0.1");
	few = (struct closing){&p, 0};
	call_send(&c, http_client_wire(p.client), &get_mirror);
	call_wait(p.loop, &c);
	call_finish(&c);
	cr_assert(server_connections(p.server) == 1);
	snprintf(url, sizeof url, "https://127.0.0.1:%d", server_port(p.server));
	struct http_client_config config = {.base_url = url, .ca_pem = p.ca.cert_pem};
	cr_assert(http_client_retarget(p.client, &config, &f) == 0);
	cr_assert(wait_for(p.loop, few_connections, &few, PATIENCE_MS));
	/* One that is under way when the target changes still gets its answer. */
	call_send(&c, http_client_wire(p.client),
		&(struct wire_request){.method = WIRE_GET, .path = "/big", .timeout_ms = 5000});
	few.at_most = 1000000;
	cr_assert(wait_for(p.loop, few_connections, &few, PATIENCE_MS));
	cr_assert(http_client_retarget(p.client, &config, &f) == 0);
	call_wait(p.loop, &c);
	cr_assert(c.status == 200 && c.body.len == 1000000, "%s", c.fault.message);
	call_finish(&c);
	pair_close(&p);
}

/* A connection that is dead without a word costs one call its deadline, not all that follow. */
Test(http, a_silent_connection_is_left_behind)
{
	struct loop *l = loop_create();
	struct stub s;
	struct call c;

	stub_open(&s, l, answer_silence);
	struct http_client *client = client_for(l, "http", s.port, NULL);
	struct wire_request request = {.method = WIRE_GET, .path = "/", .timeout_ms = 100};
	call_send(&c, http_client_wire(client), &request);
	call_wait(l, &c);
	cr_assert(c.fault.kind == FAULT_TRANSIENT && s.accepted == 1);
	call_finish(&c);
	s.answer = answer_500;
	request.timeout_ms = 5000;
	call_send(&c, http_client_wire(client), &request);
	call_wait(l, &c);
	cr_assert(c.status == 500 && s.accepted == 2);
	call_finish(&c);
	http_client_destroy(client);
	stub_close(&s);
	loop_destroy(l);
}

/* What the heap has taken from the system. Not the kernel's VmRSS: that counts pages of libraries
 * that happen to be touched, and is as inexact as the machine has processors. */
static int64_t heap_kib(void)
{
	struct mallinfo2 heap = mallinfo2();
	return (int64_t)((heap.arena + heap.hblkhd) / 1024);
}

static void run_many(struct pair *p, int n)
{
	for (int i = 0; i < n; i++) {
		struct call c;
		call_send(&c, http_client_wire(p->client), &get_mirror);
		call_wait(p->loop, &c);
		cr_assert(c.status == 200, "%s", c.fault.message);
		call_finish(&c);
	}
}

Test(http, ten_thousand_requests_leave_no_growth)
{
	struct pair p;
#ifdef __SANITIZE_ADDRESS__
	/* Freed memory is kept there on purpose: only leaks and misuse can be seen, and sooner. */
	int n = 1000;
	int64_t allowed_kib = INT64_MAX;
#else
	int n = 10000;
	int64_t allowed_kib = 64;
#endif

	pair_open(&p, "127.0.0.1");
	run_many(&p, 1000);
	int64_t before = heap_kib();
	run_many(&p, n);
	int64_t growth = heap_kib() - before;
	cr_assert(growth <= allowed_kib, "%lld KiB", (long long)growth);
	cr_assert(server_connections(p.server) == 1 && p.served == 1000 + n);
	pair_close(&p);
}

/* Whatever is queued, under way or done is dropped with the client. */
Test(http, destroying_the_client_drops_everything)
{
	struct loop *l = loop_create();
	struct stub s;
	static struct call calls[100];

	stub_open(&s, l, answer_silence);
	struct http_client *client = client_for(l, "http", s.port, NULL);
	for (int i = 0; i < 100; i++) {
		call_send(&calls[i], http_client_wire(client),
			&(struct wire_request){.method = WIRE_GET,
				.path = i % 10 == 9 ? "bad" : "/",
				.stream = i % 10 == 1});
		if (i == 80) {
			cr_assert(wait_for(l, stub_was_asked, &s, PATIENCE_MS));
		}
	}
	for (int i = 81; i < 100; i++) {
		cr_assert(calls[i].done == 0);
	}
	http_client_destroy(client);
	stub_close(&s);
	loop_destroy(l);
}
