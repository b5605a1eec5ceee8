/* What other sides may do to a question: hang up, break off, be slow, be somebody else. */
#include "poller_harness.h"

TestSuite(poller_fault, .fini = expect_no_leak);

#define OK_HEAD "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n"

static void answer_ok(struct rogue_peer *peer)
{
	rogue_write(peer, OK_HEAD "well");
}

static void answer_once(struct rogue_peer *peer)
{
	if (peer->requests > 1) {
		rogue_hang_up(peer);
	} else {
		answer_ok(peer);
	}
}

Test(poller_fault, a_kept_connection_that_is_dead_is_replaced_once)
{
	struct scene s;
	scene_open(&s, answer_once);
	for (int i = 0; i < 4; i++) {
		struct fault f = fault_of_asking(&s);
		cr_expect(f.kind == FAULT_NONE, "%s", f.message);
	}
	/* Each but the first was sent twice. */
	cr_expect(s.rogue.accepted == 4 && s.rogue.requests == 7);
	scene_close(&s);
}

static void answer_first_of_all(struct rogue_peer *peer)
{
	if (peer->rogue->requests > 1) {
		rogue_hang_up(peer);
	} else {
		answer_ok(peer);
	}
}

Test(poller_fault, a_new_connection_that_dies_is_not_tried_again)
{
	struct scene s;
	scene_open(&s, answer_first_of_all);
	cr_expect(fault_of_asking(&s).kind == FAULT_NONE);
	struct fault f = fault_of_asking(&s);
	expect_fault(f, FAULT_TRANSIENT, "it hung up");
	cr_expect(s.rogue.requests == 3 && s.rogue.accepted == 2);
	f = fault_of_asking(&s);
	expect_fault(f, FAULT_TRANSIENT, "it hung up");
	cr_expect(s.rogue.requests == 4 && connections(s.poller) == 0);
	scene_close(&s);
}

static bool none_is_kept(void *data)
{
	return connections(((struct scene *)data)->poller) == 0;
}

Test(poller_fault, the_end_of_one_that_waits_is_noticed)
{
	struct scene s;
	scene_open(&s, answer_ok);
	cr_expect(fault_of_asking(&s).kind == FAULT_NONE);
	cr_expect(connections(s.poller) == 1);
	rogue_hang_up(&s.rogue.peers[0]);
	cr_assert(wait_for(s.loop, none_is_kept, &s, PATIENCE_MS));
	cr_expect(fault_of_asking(&s).kind == FAULT_NONE);
	/* What nobody asked for ends it, too. */
	answer_ok(&s.rogue.peers[0]);
	cr_assert(wait_for(s.loop, none_is_kept, &s, PATIENCE_MS));
	cr_expect(handshakes(s.poller) == 2);
	scene_close(&s);
}

static const char *said;
static void answer_said(struct rogue_peer *peer)
{
	rogue_write(peer, said);
	rogue_hang_up(peer);
}

Test(poller_fault, half_an_answer_is_none)
{
	static const struct {
		const char *said, *words;
	} cases[] = {
		{"HTTP/1.1 20", "it hung up"},
		{OK_HEAD "wel", "it hung up"},
		{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nwell\r\n",
			"it hung up"},
		{"HTTP/1.1 200 OK\r\n\r\nwell", "without a length"},
		{"HTTP/1.1 100 Continue\r\n\r\n", "malformed status line"},
		{"HTTP/2 200\r\n\r\n", "HTTP/1.1"},
		{"\r\n" OK_HEAD "well", "empty line"},
		{"HTTP/1.1 200 OK\nContent-Length: 4\r\n\r\nwell", "CRLF"},
		{"HTTP/1.1 200 OK\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n",
			"beside"},
	};
	struct scene s;
	scene_open(&s, answer_said);
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		said = cases[i].said;
		struct fault f = fault_of_asking(&s);
		expect_fault(f, FAULT_TRANSIENT, cases[i].words);
	}
	cr_expect(s.rogue.requests == (int)COUNT_OF(cases));
	scene_close(&s);
}

/* Half of it was there: who asks again might be answered what was not asked. */
static void answer_then_half(struct rogue_peer *peer)
{
	rogue_write(peer, peer->requests == 1 ? OK_HEAD "well" : OK_HEAD "we");
	if (peer->requests > 1) {
		rogue_hang_up(peer);
	}
}

Test(poller_fault, half_an_answer_on_a_kept_connection_is_not_asked_for_again)
{
	struct scene s;
	scene_open(&s, answer_then_half);
	cr_expect(fault_of_asking(&s).kind == FAULT_NONE);
	struct fault f = fault_of_asking(&s);
	expect_fault(f, FAULT_TRANSIENT, "it hung up");
	cr_expect(s.rogue.requests == 2 && s.rogue.accepted == 1);
	scene_close(&s);
}

Test(poller_fault, too_much_is_refused_before_it_is_there)
{
	static const char *const cases[] = {
		"HTTP/1.1 200 OK\r\nContent-Length: 101\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n65\r\n",
	};
	struct scene s;
	scene_open(&s, answer_said);
	struct wire_request q = question(s.rogue.to);
	q.limit_bytes = 100;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct call c;
		said = cases[i];
		ask(s.loop, s.poller, &q, &c);
		expect_fault(
			c.fault, FAULT_LIMIT, "/v1/state: the answer is larger than 100 bytes");
		call_finish(&c);
	}
	scene_close(&s);
}

static void answer_chunks(struct rogue_peer *peer)
{
	static const char text[] = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
				   "2\r\nwe\r\n2;x=y\r\nll\r\n0\r\nTrailer: 1\r\n\r\n";
	for (size_t i = 0; i < sizeof text - 1; i++) {
		cr_assert(SSL_write(peer->ssl, text + i, 1) == 1);
	}
}

Test(poller_fault, chunks_in_many_small_records_are_an_answer)
{
	struct scene s;
	struct call c;
	scene_open(&s, answer_chunks);
	struct wire_request q = question(s.rogue.to);
	for (int i = 0; i < 3; i++) {
		ask(s.loop, s.poller, &q, &c);
		cr_expect(c.status == 200 && text_equals(str_text(&c.body), "well"), "%s",
			c.fault.message);
		call_finish(&c);
	}
	cr_expect(s.rogue.handshakes == 1);
	scene_close(&s);
}

static void answer_status(struct rogue_peer *peer)
{
	rogue_write(peer, "HTTP/1.1 503 Not yet\r\nRetry-After: 7\r\nContent-Length: 2\r\n"
			  "Connection: close\r\n\r\nno");
}

Test(poller_fault, another_status_is_an_answer_and_close_is_heard)
{
	struct scene s;
	struct call c;
	scene_open(&s, answer_status);
	struct wire_request q = question(s.rogue.to);
	ask(s.loop, s.poller, &q, &c);
	cr_expect(c.fault.kind == FAULT_NONE && c.status == 503 && c.retry_after_ms == 7000);
	cr_expect(text_equals(str_text(&c.body), "no") && connections(s.poller) == 0);
	call_finish(&c);
	scene_close(&s);
}

static void answer_and_more(struct rogue_peer *peer)
{
	rogue_write(peer, OK_HEAD "well" OK_HEAD "evil");
}

Test(poller_fault, an_answer_that_nobody_asked_for_answers_nobody)
{
	struct scene s;
	struct call c;
	scene_open(&s, answer_and_more);
	struct wire_request q = question(s.rogue.to);
	for (int i = 1; i <= 3; i++) {
		ask(s.loop, s.poller, &q, &c);
		cr_expect(c.status == 200 && text_equals(str_text(&c.body), "well"));
		call_finish(&c);
		cr_expect(s.rogue.handshakes == i && connections(s.poller) == 0);
	}
	scene_close(&s);
}

Test(poller_fault, the_slow_are_given_up_and_the_next_begins_anew)
{
	struct scene s;
	struct call c;
	scene_open(&s, NULL);
	struct wire_request q = question(s.rogue.to);
	q.timeout_ms = 100;
	ask(s.loop, s.poller, &q, &c);
	expect_fault(c.fault, FAULT_TRANSIENT, "/v1/state: no complete answer within 100 ms");
	call_finish(&c);
	cr_expect(connections(s.poller) == 0 && s.rogue.requests == 1);
	s.rogue.answer = answer_ok;
	cr_expect(fault_of_asking(&s).kind == FAULT_NONE);
	scene_close(&s);
}

/* A listener whose handshakes nobody makes. */
Test(poller_fault, a_handshake_that_never_ends_is_given_up)
{
	struct scene s;
	struct call c;
	scene_open(&s, answer_ok);
	ev_io_stop(loop_ev(s.loop), &s.rogue.io);
	struct wire_request q = question(s.rogue.to);
	q.timeout_ms = 100;
	ask(s.loop, s.poller, &q, &c);
	expect_fault(c.fault, FAULT_TRANSIENT, "no complete answer within 100 ms");
	call_finish(&c);
	cr_expect(connections(s.poller) == 0);
	scene_close(&s);
}

Test(poller_fault, who_is_of_another_authority_is_denied)
{
	struct scene s;
	struct tls_pair other CLEANUP(tls_pair_finish) = test_authority("agents' authority");
	scene_open(&s, answer_ok);
	SSL_CTX_free(s.rogue.tls);
	s.rogue.tls = rogue_tls(&other, "agents.example");
	struct fault f = fault_of_asking(&s);
	expect_fault(f, FAULT_DENIED, "does not verify");
	expect_fault(f, FAULT_DENIED, s.rogue.to);
	cr_expect(s.rogue.requests == 0);
	SSL_CTX_free(s.rogue.tls);
	s.rogue.tls = rogue_tls(&s.ca, "*.example");
	f = fault_of_asking(&s);
	expect_fault(f, FAULT_DENIED, "does not verify");
	cr_expect(s.rogue.requests == 0);
	scene_close(&s);
}

Test(poller_fault, less_than_tls_1_3_is_not_spoken)
{
	struct scene s;
	scene_open(&s, answer_ok);
	SSL_CTX_set_max_proto_version(s.rogue.tls, TLS1_2_VERSION);
	struct fault f = fault_of_asking(&s);
	expect_fault(f, FAULT_TRANSIENT, "protocol");
	cr_expect(s.rogue.requests == 0);
	scene_close(&s);
}

static void answer_bytes(struct rogue_peer *peer)
{
	/* Not a record, or one that cannot be opened: as told by what was asked before. */
	static const char *const bytes[] = {"HTTP/1.1 200 OK\r\n\r\n",
		"\x17\x03\x03\x00\x20"
		"0123456789abcdef0123456789abcdef",
		"\x15\x03\x03\x00\x02\x02\x28"};
	const char *text = bytes[(peer->rogue->requests - 1) % 3];
	size_t n = text[0] == 'H' ? strlen(text) : text[0] == '\x17' ? 37 : 7;
	cr_assert(send(peer->fd, text, n, MSG_NOSIGNAL) == (ssize_t)n);
}

Test(poller_fault, whoever_cannot_seal_is_hung_up_on)
{
	static const char *const words[] = {"something else than a record",
		"a record that is not its own", "something else than a record"};
	struct scene s;
	scene_open(&s, answer_bytes);
	for (int i = 0; i < 3; i++) {
		struct fault f = fault_of_asking(&s);
		expect_fault(f, FAULT_TRANSIENT, words[i]);
		cr_expect(connections(s.poller) == 0);
	}
	scene_close(&s);
}

static void answer_padded(struct rogue_peer *peer)
{
	rogue_write(peer, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n");
	SSL_set_block_padding(peer->ssl, 16384);
	for (int i = 0; i < 99 && SSL_write(peer->ssl, "x", 1) == 1; i++) {
	}
}

Test(poller_fault, whoever_pads_without_end_is_hung_up_on)
{
	struct scene s;
	struct call c;
	scene_open(&s, answer_padded);
	struct wire_request q = question(s.rogue.to);
	q.limit_bytes = 100;
	ask(s.loop, s.poller, &q, &c);
	expect_fault(c.fault, FAULT_TRANSIENT, "more bytes than an answer takes");
	call_finish(&c);
	cr_expect(connections(s.poller) == 0);
	scene_close(&s);
}

static void answer_new_keys(struct rogue_peer *peer)
{
	SSL_key_update(peer->ssl, SSL_KEY_UPDATE_NOT_REQUESTED);
	answer_ok(peer);
}

Test(poller_fault, whoever_wants_other_keys_is_hung_up_on)
{
	struct scene s;
	scene_open(&s, answer_new_keys);
	struct fault f = fault_of_asking(&s);
	expect_fault(f, FAULT_TRANSIENT, "a record out of turn");
	scene_close(&s);
}
