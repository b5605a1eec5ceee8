/* One client, one name, many servers: each on a connection of its own, each verified. */
#include "http_harness.h"

TestSuite(http_many, .fini = expect_no_leak);

struct many {
	struct loop *loop;
	struct tls_pair ca;
	struct server *servers[3];
	char to[3][32];
	struct pair counts[3]; /* for the route */
	struct http_client *client;
};

static void many_open(struct many *m)
{
	static const char *const names[] = {"many.example", "many.example", "elsewhere.example"};
	struct fault f = {0};
	*m = (struct many){.loop = loop_create(), .ca = test_authority("many")};
	for (size_t i = 0; i < COUNT_OF(names); i++) {
		struct tls_pair leaf CLEANUP(tls_pair_finish) = test_leaf(&m->ca, names[i]);
		struct tls_identity *identity = test_identity(&leaf);
		struct server_config config = {
			.name = "t", .listen = "127.0.0.1:0", .tls = identity};
		m->servers[i] = server_create(m->loop, &config, &f);
		cr_assert_not_null(m->servers[i], "%s", f.message);
		tls_identity_destroy(identity);
		server_route(m->servers[i], "GET", "/mirror", mirror, &m->counts[i]);
		snprintf(m->to[i], sizeof m->to[i], "127.0.0.1:%d", server_port(m->servers[i]));
	}
	struct http_client_config config = {
		.base_url = "https://many.example", .ca_pem = m->ca.cert_pem, .connections = 8};
	m->client = http_client_create(m->loop, &config, &f);
	cr_assert_not_null(m->client, "%s", f.message);
}

static void many_close(struct many *m)
{
	http_client_destroy(m->client);
	for (int i = 0; i < 3; i++) {
		server_destroy(m->servers[i]);
	}
	tls_pair_finish(&m->ca);
	loop_destroy(m->loop);
}

static void ask(struct many *m, const char *to, struct call *c)
{
	struct wire_request request = get_mirror;
	request.to = to;
	call_send(c, http_client_wire(m->client), &request);
	call_wait(m->loop, c);
}

Test(http_many, a_call_may_go_elsewhere_under_the_same_name)
{
	struct many m;
	struct call c;
	many_open(&m);
	for (int i = 0; i < 6; i++) {
		ask(&m, m.to[i % 2], &c);
		cr_expect(c.fault.kind == FAULT_NONE && c.status == 200, "%s", c.fault.message);
		call_finish(&c);
	}
	cr_expect(server_connections(m.servers[0]) == 1 && m.counts[0].served == 3);
	cr_expect(server_connections(m.servers[1]) == 1 && m.counts[1].served == 3);
	many_close(&m);
}

Test(http_many, another_name_is_denied_and_an_address_that_is_none_refused)
{
	struct many m;
	struct call c;
	char name[512];
	many_open(&m);
	ask(&m, m.to[2], &c);
	cr_expect(c.fault.kind == FAULT_DENIED && m.counts[2].served == 0, "%s", c.fault.message);
	cr_expect_not_null(strstr(c.fault.message, m.to[2]), "%s", c.fault.message);
	call_finish(&c);
	ask(&m, "127.0.0.1:1\r\nHost: x", &c);
	cr_expect_eq(c.fault.kind, FAULT_INVALID);
	call_finish(&c);
	memset(name, 'a', sizeof name - 1);
	name[sizeof name - 1] = '\0';
	ask(&m, name, &c);
	cr_expect_eq(c.fault.kind, FAULT_INVALID);
	call_finish(&c);
	many_close(&m);
}

/* Who would have another one verified does not get the usual one instead. */
Test(http_many, a_call_that_says_whom_it_expects_is_not_sent)
{
	struct many m;
	struct call c;
	struct wire_request request = get_mirror;
	many_open(&m);
	request.to = m.to[0];
	request.to_name = "many.example";
	call_send(&c, http_client_wire(m.client), &request);
	call_wait(m.loop, &c);
	cr_expect(c.fault.kind == FAULT_INVALID && m.counts[0].served == 0, "%s", c.fault.message);
	call_finish(&c);
	many_close(&m);
}
