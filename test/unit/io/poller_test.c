/* Kept connections: when one serves again, when it does not, and who is believed. */
#include "poller_harness.h"

TestSuite(poller, .fini = expect_no_leak);

static void answer_ok(struct rogue_peer *peer)
{
	rogue_write(peer, "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nwell");
}

/* Servers of our own, each with a name. */
struct many {
	struct loop *loop;
	struct tls_pair ca;
	struct server *servers[4];
	char to[4][32];
	struct pair counts[4]; /* for the route */
	struct poller *poller;
};

static void many_open(struct many *m, int kept)
{
	static const char *const names[] = {
		"agents.example", "agents.example", "agents.example", "node-4.agents.example"};
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
		server_route(m->servers[i], "GET", "/big", big, &m->counts[i]);
		snprintf(m->to[i], sizeof m->to[i], "127.0.0.1:%d", server_port(m->servers[i]));
	}
	m->poller = poller_for(m->loop, m->ca.cert_pem, kept);
}

static void many_close(struct many *m)
{
	poller_destroy(m->poller);
	for (int i = 0; i < 4; i++) {
		server_destroy(m->servers[i]);
	}
	tls_pair_finish(&m->ca);
	loop_destroy(m->loop);
}

static struct fault many_ask(struct many *m, int which, const char *name)
{
	struct wire_request q = question(m->to[which]);
	struct call c;

	q.path = "/mirror";
	q.to_name = name;
	ask(m->loop, m->poller, &q, &c);
	struct fault f = c.fault;
	cr_expect(f.kind != FAULT_NONE ||
		  (c.status == 200 && text_equals(str_text(&c.body), "GET  ")));
	call_finish(&c);
	return f;
}

Test(poller, many_questions_cost_one_handshake_a_server)
{
	struct many m;
	many_open(&m, 8);
	for (int i = 0; i < 30; i++) {
		struct fault f = many_ask(&m, i % 3, NULL);
		cr_expect(f.kind == FAULT_NONE, "%s", f.message);
	}
	for (int i = 0; i < 3; i++) {
		cr_expect(server_connections(m.servers[i]) == 1 && m.counts[i].served == 10);
	}
	cr_expect(handshakes(m.poller) == 3 && connections(m.poller) == 3);
	many_close(&m);
}

Test(poller, each_may_have_a_name_of_its_own)
{
	struct many m;
	many_open(&m, 8);
	struct fault f = many_ask(&m, 3, "node-4.agents.example");
	cr_expect(f.kind == FAULT_NONE, "%s", f.message);
	f = many_ask(&m, 3, NULL);
	expect_fault(f, FAULT_DENIED, m.to[3]);
	expect_fault(f, FAULT_DENIED, "does not verify against the configured authority 'many'");
	f = many_ask(&m, 0, NULL);
	cr_expect(f.kind == FAULT_NONE, "%s", f.message);
	/* The connection that is kept to that address is of another name. */
	f = many_ask(&m, 0, "node-4.agents.example");
	expect_fault(f, FAULT_DENIED, m.to[0]);
	cr_expect(m.counts[0].served == 1 && m.counts[3].served == 1);
	many_close(&m);
}

Test(poller, no_more_are_kept_than_allowed)
{
	struct many m;
	many_open(&m, 2);
	for (int i = 0; i < 9; i++) {
		struct fault f = many_ask(&m, i % 3, NULL);
		cr_expect(f.kind == FAULT_NONE && connections(m.poller) <= 2, "%s", f.message);
	}
	/* Who was asked first keeps its place, so that not everybody pays. */
	cr_expect(handshakes(m.poller) < 9, "%d", handshakes(m.poller));
	many_close(&m);
}

Test(poller, another_authority_begins_anew)
{
	struct many m;
	struct tls_pair other CLEANUP(tls_pair_finish) = test_authority("other");
	struct fault f = {0};
	many_open(&m, 8);
	cr_expect(many_ask(&m, 0, NULL).kind == FAULT_NONE);
	cr_expect(poller_trust(m.poller, "nonsense", &f) == -1 && f.kind == FAULT_INVALID);
	cr_expect(connections(m.poller) == 1);
	cr_expect(poller_trust(m.poller, other.cert_pem, &f) == 0);
	cr_expect(connections(m.poller) == 0);
	f = many_ask(&m, 0, NULL);
	expect_fault(f, FAULT_DENIED, "'other'");
	cr_expect(poller_trust(m.poller, m.ca.cert_pem, &f) == 0);
	f = many_ask(&m, 0, NULL);
	cr_expect(f.kind == FAULT_NONE && m.counts[0].served == 2, "%s", f.message);
	many_close(&m);
}

Test(poller, a_large_answer_comes_in_many_records)
{
	struct many m;
	struct call c;
	many_open(&m, 8);
	struct wire_request q = question(m.to[0]);
	q.path = "/big";
	for (int i = 0; i < 3; i++) {
		ask(m.loop, m.poller, &q, &c);
		cr_expect(
			c.fault.kind == FAULT_NONE && c.body.len == 1000000, "%s", c.fault.message);
		call_finish(&c);
	}
	q.limit_bytes = 999999;
	ask(m.loop, m.poller, &q, &c);
	expect_fault(c.fault, FAULT_LIMIT, "/big: the answer is larger than 999999 bytes");
	call_finish(&c);
	cr_expect(handshakes(m.poller) == 1);
	many_close(&m);
}

Test(poller, many_at_once_wait_in_order)
{
	enum { COUNT = 200 };
	struct many m;
	static struct call calls[COUNT];
	many_open(&m, 8);
	struct wire_request q = question(m.to[0]);
	q.path = "/mirror";
	for (int i = 0; i < COUNT; i++) {
		call_send(&calls[i], poller_wire(m.poller), &q);
	}
	for (int i = 0; i < COUNT; i++) {
		call_wait(m.loop, &calls[i]);
		cr_expect(calls[i].status == 200, "%s", calls[i].fault.message);
		call_finish(&calls[i]);
	}
	/* One for what it is for. */
	cr_expect(connections(m.poller) == 1, "%d", connections(m.poller));
	many_close(&m);
}

Test(poller, what_cannot_be_sent_is_refused)
{
	struct scene s;
	struct call c;
	char name[300];
	scene_open(&s, answer_ok);
	memset(name, 'a', sizeof name - 1);
	name[sizeof name - 1] = '\0';
	struct wire_request good = question(s.rogue.to);
	struct wire_request bad[11];
	for (size_t i = 0; i < COUNT_OF(bad); i++) {
		bad[i] = good;
	}
	bad[0].method = WIRE_POST;
	bad[1].content_type = "application/json";
	bad[2].bearer = "token";
	bad[3].stream = true;
	bad[4].path = "/a b";
	bad[5].to = NULL;
	bad[6].to = "127.0.0.1:1\r\nHost: x";
	bad[7].to = "localhost:1";
	bad[8].to = "127.0.0.1";
	bad[9].to_name = "a/b";
	bad[10].to_name = name;
	for (size_t i = 0; i < COUNT_OF(bad); i++) {
		ask(s.loop, s.poller, &bad[i], &c);
		cr_expect(c.fault.kind == FAULT_INVALID, "%zu: %s", i, c.fault.message);
		call_finish(&c);
	}
	cr_expect(s.rogue.accepted == 0);
	scene_close(&s);
}

static struct call second;
static void send_in_done(void *data, const struct wire_answer *a)
{
	struct scene *s = data;
	struct wire_request q = question(s->rogue.to);
	cr_expect(a->status == 200);
	call_send(&second, poller_wire(s->poller), &q);
}

Test(poller, callbacks_may_send_and_cancel)
{
	static const struct wire_events sends = {.on_done = send_in_done};
	struct scene s;
	struct call running, queued;
	scene_open(&s, answer_ok);
	struct wire_request q = question(s.rogue.to);
	call_send(&running, poller_wire(s.poller), &q);
	wire_send(poller_wire(s.poller), &q, &sends, &s);
	wire_cancel(poller_wire(s.poller), running.id);
	wire_cancel(poller_wire(s.poller), running.id);
	cr_assert(wait_for(s.loop, call_is_done, &second, PATIENCE_MS));
	cr_expect(second.status == 200 && running.done == 0 && s.rogue.requests == 2);
	/* Dropped in each state, without a word. */
	s.rogue.answer = NULL;
	int before = s.rogue.requests;
	call_send(&running, poller_wire(s.poller), &q);
	while (s.rogue.requests == before) {
		wait_for(s.loop, never, NULL, 5);
	}
	call_send(&queued, poller_wire(s.poller), &q);
	wire_cancel(poller_wire(s.poller), running.id);
	cr_expect(connections(s.poller) == 0);
	scene_close(&s);
	cr_expect(running.done == 0 && queued.done == 0);
	call_finish(&second);
}

Test(poller, nobody_there)
{
	struct scene s;
	scene_open(&s, answer_ok);
	ev_io_stop(loop_ev(s.loop), &s.rogue.io);
	close(s.rogue.listener);
	struct fault f = fault_of_asking(&s);
	expect_fault(f, FAULT_TRANSIENT, "Connection refused");
	expect_fault(f, FAULT_TRANSIENT, s.rogue.to);
	s.rogue.listener = dup(0);
	scene_close(&s);
}
