/* The server with more clients than it has room for: who goes, and who is answered all the while.
 */
#include "server_harness.h"

TestSuite(server_room, .fini = expect_no_leak);

#define ASK "GET /echo HTTP/1.1\r\nHost: a\r\n\r\n"

static void ask(struct peer *p)
{
	str_reset(&p->in);
	peer_send(p, ASK);
	peer_expect(p, "200 OK");
}

struct count_wait {
	struct house *house;
	int least;
};

static bool has_so_many(void *data)
{
	struct count_wait *w = data;

	return server_connections(w->house->server) >= w->least;
}

static void wait_connections(struct house *h, int n)
{
	struct count_wait w = {h, n};

	cr_assert(wait_for(h->loop, has_so_many, &w, PATIENCE_MS), "%d",
		server_connections(h->server));
}

/* Whatever a stranger says or does not say: who was answered once keeps its connection, and who
 * comes new is answered. */
Test(server_room, strangers_keep_nobody_out)
{
	static const char *const words[] = {"", "G", "GET /echo HTTP/1.1\r\nHost: a",
		"POST /admit HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nx",
		"POST /admit HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5"};
	struct peer known, fresh, strangers[40];
	struct house h;

	for (size_t w = 0; w < COUNT_OF(words); w++) {
		house_open(&h, (struct server_config){.connections_max = 16, .unproven_max = 8});
		peer_open(&known, h.loop, server_port(h.server));
		ask(&known);
		for (int i = 0; i < 40; i++) {
			peer_open(&strangers[i], h.loop, server_port(h.server));
			peer_send(&strangers[i], words[w]);
		}
		peer_open(&fresh, h.loop, server_port(h.server));
		ask(&fresh);
		ask(&known);
		cr_assert(server_connections(h.server) <= 16);
		for (int i = 0; i < 32; i++) {
			peer_expect_end(&strangers[i]);
			peer_close(&strangers[i]);
		}
		for (int i = 32; i < 40; i++) {
			peer_close(&strangers[i]);
		}
		peer_close(&known);
		peer_close(&fresh);
		expect_nobody(&h);
		house_close(&h);
	}
}

/* Of whom there are most goes first: one who came before them, alone, is left in peace. */
Test(server_room, the_address_with_most_strangers_makes_room)
{
	struct peer alone, many[20];
	struct house h;

	house_open(&h, (struct server_config){.connections_max = 16, .unproven_max = 4});
	peer_open_from(&alone, &h, 2);
	peer_send(&alone, "GET /echo HTTP/1.1\r\n");
	wait_connections(&h, 1);
	for (int i = 0; i < 20; i++) {
		peer_open_from(&many[i], &h, 3);
		peer_send(&many[i], "G");
	}
	for (int i = 0; i < 17; i++) {
		peer_expect_end(&many[i]);
	}
	peer_send(&alone, "Host: a\r\n\r\n");
	peer_expect(&alone, "200 OK");
	house_metric(&h, "aliquot_http_server_evicted_total{server=\"test\",phase=\"head\"} 17");
	for (int i = 0; i < 20; i++) {
		peer_close(&many[i]);
	}
	peer_close(&alone);
	expect_nobody(&h);
	house_close(&h);
}

/* Who asks properly and keeps every connection open gets no more than its part. */
Test(server_room, one_address_has_a_part_of_the_connections)
{
	struct peer other, many[10];
	struct house h;

	house_open(&h, (struct server_config){.connections_max = 8, .source_max = 4});
	peer_open_from(&other, &h, 2);
	ask(&other);
	for (int i = 0; i < 10; i++) {
		peer_open_from(&many[i], &h, 3);
		ask(&many[i]);
		cr_assert(server_connections(h.server) <= 5);
	}
	ask(&other);
	for (int i = 0; i < 6; i++) {
		peer_expect_end(&many[i]);
	}
	house_metric(&h, "aliquot_http_server_evicted_total{server=\"test\",phase=\"idle\"} 6");
	for (int i = 0; i < 10; i++) {
		peer_close(&many[i]);
	}
	peer_close(&other);
	expect_nobody(&h);
	house_close(&h);
}

/* Who has too many gives up one of his own, though another has not said anything yet. */
Test(server_room, an_address_that_has_its_part_costs_nobody_else_a_connection)
{
	struct peer other, many[5];
	struct house h;

	house_open(&h, (struct server_config){.connections_max = 8, .source_max = 4});
	for (int i = 0; i < 4; i++) {
		peer_open_from(&many[i], &h, 3);
		ask(&many[i]);
	}
	peer_open_from(&other, &h, 2);
	wait_connections(&h, 5);
	peer_open_from(&many[4], &h, 3);
	ask(&many[4]);
	ask(&other);
	peer_expect_end(&many[0]);
	for (int i = 0; i < 5; i++) {
		peer_close(&many[i]);
	}
	peer_close(&other);
	expect_nobody(&h);
	house_close(&h);
}

static void on_probe(void *data, const struct server_request *q, struct server_reply *r)
{
	(void)data;
	(void)q;
	str_append_text(&r->body, "well\n");
}

static bool holds_much(void *data)
{
	struct house *h = data;

	return h->served > 0;
}

static void large_and_counted(void *data, const struct server_request *q, struct server_reply *r)
{
	struct house *h = data;

	h->served++;
	large(data, q, r);
}

/* Answers that nobody takes must not be why a probe fails; and the oldest of them makes room for
 * who asks later. */
Test(server_room, who_does_not_take_its_answer_makes_room)
{
	struct peer deaf[2], probe, later;
	int small = 4096;
	struct house h;

	house_open(&h, (struct server_config){.held_limit = 8000000});
	server_route_probe(h.server, "GET", "/healthz", on_probe, &h);
	server_route(h.server, "GET", "/much", large_and_counted, &h);
	peer_open(&deaf[0], h.loop, server_port(h.server));
	setsockopt(deaf[0].fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
	peer_send(&deaf[0], "GET /much?15000000 HTTP/1.1\r\nHost: a\r\n\r\n");
	cr_assert(wait_for(h.loop, holds_much, &h, PATIENCE_MS));
	peer_open(&probe, h.loop, server_port(h.server));
	peer_send(&probe, "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n");
	peer_expect(&probe, "well");
	peer_open(&later, h.loop, server_port(h.server));
	ask(&later);
	house_metric(&h, "aliquot_http_server_evicted_total{server=\"test\",phase=\"reply\"} 1");
	peer_close(&deaf[0]);
	peer_close(&probe);
	peer_close(&later);
	expect_nobody(&h);
	house_close(&h);
}

/* The first request of a connection has its own deadline: an idle one need not be waited for long
 * that never said a word. */
Test(server_room, who_never_asks_is_not_waited_for_as_long)
{
	struct peer silent, known;
	struct house h;

	house_open(&h, (struct server_config){.first_ms = 100, .idle_ms = 60000});
	peer_open(&known, h.loop, server_port(h.server));
	ask(&known);
	peer_open(&silent, h.loop, server_port(h.server));
	peer_expect_end(&silent);
	ask(&known);
	peer_close(&silent);
	peer_close(&known);
	expect_nobody(&h);
	house_close(&h);
}
