/* The server, seen as bytes: order, refusals, deadlines, limits, the graceful end. */
#include <sys/resource.h>
#include <time.h>

#include "server_harness.h"

TestSuite(server, .fini = expect_no_leak);

Test(server, keeps_a_connection_for_many_requests)
{
	struct house h;
	struct peer p;

	house_open(&h, (struct server_config){0});
	peer_open(&p, h.loop, server_port(h.server));
	for (int i = 0; i < 3; i++) {
		peer_send(&p, "POST /admit?timeout=2s HTTP/1.1\r\nHost: a\r\nContent-Type: a/b\r\n"
			      "Content-Length: 5\r\n\r\nhello");
		peer_expect(&p, "POST /admit?timeout=2s [a/b] hello");
		str_reset(&p.in);
	}
	cr_assert(h.served == 3 && server_connections(h.server) == 1);
	peer_close(&p);
	expect_nobody(&h);
	house_metric(&h, "aliquot_http_server_requests_total{server=\"test\",code=\"200\"} 3");
	house_metric(&h, "aliquot_http_server_connections{server=\"test\"} 0");
	house_metric(&h, "aliquot_http_server_seconds_count{server=\"test\"} 3");
	cr_assert(server_latency(h.server, 50) > 0);
	cr_assert(server_latency(h.server, 99) >= server_latency(h.server, 50));
	house_close(&h);
}

/* What a request is said to have taken that came while the loop did something else for so long. */
static int64_t latency_of_late(struct house *h, struct peer *p, int64_t busy_us)
{
	struct timespec busy = {0, busy_us * 1000};

	server_latency_reset(h->server);
	peer_send(p, "POST /admit HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n");
	nanosleep(&busy, NULL);
	peer_expect(p, "POST /admit");
	str_reset(&p->in);
	return server_latency(h->server, 50);
}

/* What waited while the loop did something else counts as waiting. Where no socket of the machine
 * wanted it before, the kernel begins to note arrivals only some time after it was asked to; and a
 * machine that stands still makes one answer late all by itself, but not three in a row. */
Test(server, measures_from_the_arrival_of_a_request)
{
	struct house h;
	struct peer p;
	int64_t us = 0;

	house_open(&h, (struct server_config){0});
	peer_open(&p, h.loop, server_port(h.server));
	for (int tries = 0, noted = 0; noted < 3; tries++) {
		cr_assert(tries < 60, "the kernel notes no arrivals: %lld us", (long long)us);
		us = latency_of_late(&h, &p, 150 * 1000);
		noted = us >= 150 * 1000 ? noted + 1 : 0;
	}
	peer_close(&p);
	house_close(&h);
}

/* More requests in one write than may be answered at once: all are answered, in order. */
Test(server, answers_pipelined_requests_in_order)
{
	struct str text CLEANUP(str_finish) = STR_INIT(1024 * 1024);
	struct house h;
	struct peer p;

	house_open(&h, (struct server_config){0});
	peer_open(&p, h.loop, server_port(h.server));
	for (int i = 0; i < 100; i++) {
		str_append_format(&text, "GET /echo?%d HTTP/1.1\r\nHost: a\r\n\r\n", i);
	}
	peer_send_bytes(&p, text.p, text.len);
	peer_expect(&p, "/echo?99 ");
	const char *at = str_text(&p.in);
	for (int i = 0; i < 100; i++) {
		char want[32];
		snprintf(want, sizeof want, "GET /echo?%d [", i);
		at = strstr(at, want);
		cr_assert(at != NULL, "answer %d is missing or out of order", i);
	}
	cr_assert(h.served == 100);
	peer_close(&p);
	expect_nobody(&h);
	house_close(&h);
}

struct refusal {
	const char *request, *status;
	bool stays; /* the connection is kept */
};

Test(server, refuses_with_a_status_and_a_sentence)
{
	static const struct refusal cases[] = {
		{"GET /nothing HTTP/1.1\r\nHost: a\r\n\r\n", "HTTP/1.1 404 ", true},
		{"DELETE /echo HTTP/1.1\r\nHost: a\r\n\r\n", "HTTP/1.1 405 ", true},
		{"GET / HTTP/1.1\r\n\r\n", "HTTP/1.1 400 ", false},
		{"POST /admit HTTP/1.1\r\nHost: a\r\nContent-Length: 101\r\n\r\n", "HTTP/1.1 413 ",
			false},
		{"POST /admit HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: x\r\n\r\n", "HTTP/1.1 501 ",
			false},
		{"GET /large?1001 HTTP/1.1\r\nHost: a\r\n\r\n", "HTTP/1.1 500 ", true},
		{"GET /echo HTTP/1.0\r\n\r\n", "HTTP/1.1 200 ", false},
		{"GET /echo HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", "HTTP/1.1 200 ",
			false},
	};
	struct house h;
	struct peer p;

	house_open(&h, (struct server_config){.body_limit = 100, .reply_limit = 1000});
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		peer_open(&p, h.loop, server_port(h.server));
		peer_send(&p, cases[i].request);
		peer_expect(&p, cases[i].status);
		peer_expect(&p, "\r\n\r\n");
		bool says_close = strstr(str_text(&p.in), "Connection: close\r\n") != NULL;
		cr_expect(says_close == !cases[i].stays, "%s", cases[i].request);
		if (cases[i].stays) {
			str_reset(&p.in);
			peer_send(&p, "GET /echo?again HTTP/1.1\r\nHost: a\r\n\r\n");
			peer_expect(&p, "/echo?again");
		} else {
			peer_expect_end(&p);
			cr_expect(!p.reset, "%s", cases[i].request);
		}
		peer_close(&p);
		expect_nobody(&h);
	}
	peer_open(&p, h.loop, server_port(h.server));
	peer_send(&p, "DELETE /echo HTTP/1.1\r\nHost: a\r\n\r\n");
	peer_expect(&p, "Allow: GET\r\n");
	peer_close(&p);
	house_close(&h);
}

/* The client writes a body that is refused, and must still be able to read why. */
Test(server, refusal_survives_a_body_that_keeps_coming)
{
	static char junk[200000];
	struct house h;
	struct peer p;

	house_open(&h, (struct server_config){.body_limit = 100});
	peer_open(&p, h.loop, server_port(h.server));
	peer_send(&p, "POST /admit HTTP/1.1\r\nHost: a\r\nContent-Length: 200000\r\n\r\n");
	peer_send_bytes(&p, junk, sizeof junk);
	peer_expect(&p, "413 the body is too large\n");
	peer_expect_end(&p);
	cr_assert(!p.reset);
	peer_close(&p);
	expect_nobody(&h);
	house_close(&h);
}

Test(server, head_has_no_body_and_continue_is_said_once)
{
	struct house h;
	struct peer p;

	house_open(&h, (struct server_config){0});
	peer_open(&p, h.loop, server_port(h.server));
	peer_send(&p, "HEAD /echo HTTP/1.1\r\nHost: a\r\n\r\n");
	peer_expect(&p, "\r\n\r\n");
	cr_assert(strstr(str_text(&p.in), "200 OK") != NULL);
	cr_assert(strstr(str_text(&p.in), "HEAD /echo") == NULL);
	str_reset(&p.in);
	peer_send(&p, "POST /admit HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n"
		      "Content-Length: 3\r\n\r\n");
	peer_expect(&p, "HTTP/1.1 100 Continue\r\n\r\n");
	peer_send(&p, "abc");
	peer_expect(&p, "[] abc");
	cr_assert(count_text(str_text(&p.in), "100 Continue") == 1);
	peer_close(&p);
	house_close(&h);
}

/* A client that sends a byte now and then does not extend its deadline. */
struct dribble {
	struct peer *peer;
	int64_t next_ms;
};

static bool dribble_until_end(void *data)
{
	struct dribble *d = data;

	if (loop_now_ms() >= d->next_ms && !d->peer->ended) {
		d->next_ms = loop_now_ms() + 20;
		if (send(d->peer->fd, "x", 1, MSG_NOSIGNAL) != 1) {
			return true;
		}
	}
	return peer_ended(d->peer);
}

static void expect_408(struct house *h, const char *beginning)
{
	struct peer p;

	peer_open(&p, h->loop, server_port(h->server));
	struct dribble d = {&p, 0};
	int64_t began = loop_now_ms();
	peer_send(&p, beginning);
	cr_assert(wait_for(h->loop, dribble_until_end, &d, PATIENCE_MS));
	cr_assert(strstr(str_text(&p.in), "HTTP/1.1 408 ") != NULL, "got '%s'", str_text(&p.in));
	cr_assert(loop_now_ms() - began >= 190);
	peer_close(&p);
	expect_nobody(h);
}

Test(server, slow_clients_meet_a_deadline)
{
	struct house h;
	struct peer p;

	house_open(&h, (struct server_config){.head_ms = 200, .body_ms = 200, .idle_ms = 200});
	expect_408(&h, "GET /echo HTTP/1.1\r\nHost: ");
	expect_408(&h, "POST /admit HTTP/1.1\r\nHost: a\r\nContent-Length: 5000\r\n\r\n");
	expect_408(&h,
		"POST /admit HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1000\r\n");
	/* An idle connection is closed without a word. */
	peer_open(&p, h.loop, server_port(h.server));
	peer_expect_end(&p);
	cr_assert(p.in.len == 0);
	peer_close(&p);
	house_close(&h);
}

/* A client that asks for much and reads nothing. */
Test(server, a_reader_that_does_not_read_is_closed)
{
	struct house h;
	struct peer p;
	int small = 4096;

	house_open(&h, (struct server_config){.write_ms = 200});
	peer_open(&p, h.loop, server_port(h.server));
	setsockopt(p.fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
	peer_send(&p, "GET /large?15000000 HTTP/1.1\r\nHost: a\r\n\r\n");
	cr_assert(wait_for(h.loop, somebody, &h, PATIENCE_MS));
	expect_nobody(&h);
	peer_close(&p);
	house_close(&h);
}

Test(server, writes_large_replies_whole)
{
	struct house h;
	struct peer p;

	house_open(&h, (struct server_config){0});
	peer_open(&p, h.loop, server_port(h.server));
	peer_send(&p, "GET /large?15000000 HTTP/1.1\r\nHost: a\r\n\r\nGET /echo?end "
		      "HTTP/1.1\r\nHost: a\r\n\r\n");
	peer_expect(&p, "/echo?end");
	const char *body = strstr(str_text(&p.in), "\r\n\r\n") + 4;
	for (int i = 0; i < 15000000; i++) {
		cr_assert(body[i] == 'a' + i % 26);
	}
	peer_close(&p);
	house_close(&h);
}

Test(server, one_connection_too_many_is_told_so)
{
	struct house h;
	struct peer p[3];

	house_open(&h, (struct server_config){.connections_max = 2});
	for (int i = 0; i < 2; i++) {
		peer_open(&p[i], h.loop, server_port(h.server));
		peer_send(&p[i], "GET /echo HTTP/1.1\r\nHost: a\r\n\r\nGET ");
		peer_expect(&p[i], "200 OK");
	}
	peer_open(&p[2], h.loop, server_port(h.server));
	peer_expect(&p[2], "HTTP/1.1 503 ");
	peer_expect_end(&p[2]);
	house_metric(&h, "aliquot_http_server_refused_total{server=\"test\"} 1");
	for (int i = 0; i < 3; i++) {
		peer_close(&p[i]);
	}
	expect_nobody(&h);
	house_close(&h);
}

/* Silence is no work: whoever has been silent longest makes room for who has something to say. */
Test(server, a_silent_connection_makes_room)
{
	struct house h;
	struct peer p[3];

	house_open(&h, (struct server_config){.connections_max = 2});
	for (int i = 0; i < 3; i++) {
		peer_open(&p[i], h.loop, server_port(h.server));
		peer_send(&p[i], "GET /echo HTTP/1.1\r\nHost: a\r\n\r\n");
		peer_expect(&p[i], "200 OK");
	}
	peer_expect_end(&p[0]);
	peer_send(&p[1], "GET /echo?again HTTP/1.1\r\nHost: a\r\n\r\n");
	peer_expect(&p[1], "?again");
	for (int i = 0; i < 3; i++) {
		peer_close(&p[i]);
	}
	expect_nobody(&h);
	house_close(&h);
}

static bool served_two(void *data)
{
	struct house *h = data;

	return h->served == 2;
}

static bool one_was_refused(void *data)
{
	struct peer *const *peers = data;

	peer_read(peers[0]);
	peer_read(peers[1]);
	return strstr(str_text(&peers[0]->in), " 503 ") != NULL ||
	       strstr(str_text(&peers[1]->in), " 503 ") != NULL;
}

/* Without the bound twenty clients that never finish their 7 MiB are more than the process may
 * have. */
Test(server, what_all_connections_hold_together_is_bounded)
{
	struct str part CLEANUP(str_finish) = STR_INIT(1024 * 1024);
	struct peer large[2], small;
	struct peer *both[2] = {&large[0], &large[1]};
	struct house h;

	house_open(&h, (struct server_config){.held_limit = 1000000});
	str_append_text(&part, "POST /admit HTTP/1.1\r\nHost: a\r\nContent-Length: 900000\r\n\r\n");
	for (int i = 0; i < 600000; i++) {
		str_append_char(&part, 'a');
	}
	for (int i = 0; i < 2; i++) {
		peer_open(&large[i], h.loop, server_port(h.server));
		peer_send_bytes(&large[i], part.p, part.len);
	}
	cr_assert(wait_for(h.loop, one_was_refused, both, PATIENCE_MS), "both are read on");
	peer_open(&small, h.loop, server_port(h.server));
	peer_send(&small, "POST /admit HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello");
	peer_expect(&small, "hello");
	peer_close(&small);
	peer_close(&large[0]);
	peer_close(&large[1]);
	expect_nobody(&h);
	house_close(&h);
}

/* Without descriptors the server waits and goes on when there are some again. */
Test(server, survives_running_out_of_descriptors)
{
	struct rlimit before, few;
	struct house h;
	struct peer p[2];

	house_open(&h, (struct server_config){0});
	peer_open(&p[0], h.loop, server_port(h.server));
	peer_open(&p[1], h.loop, server_port(h.server));
	cr_assert(getrlimit(RLIMIT_NOFILE, &before) == 0);
	few = before;
	few.rlim_cur = (rlim_t)p[1].fd + 1;
	cr_assert(setrlimit(RLIMIT_NOFILE, &few) == 0);
	for (int i = 0; i < 2; i++) {
		peer_send(&p[i], "GET /echo HTTP/1.1\r\nHost: a\r\n\r\n");
	}
	cr_assert(!wait_for(h.loop, served_two, &h, 150));
	cr_assert(setrlimit(RLIMIT_NOFILE, &before) == 0);
	cr_assert(wait_for(h.loop, served_two, &h, PATIENCE_MS));
	peer_close(&p[0]);
	peer_close(&p[1]);
	house_close(&h);
}

static void set_flag(void *data)
{
	*(bool *)data = true;
}

static bool flag_is_set(void *data)
{
	return *(bool *)data;
}

static bool two_connected(void *data)
{
	struct house *h = data;

	return server_connections(h->server) == 2;
}

Test(server, drains_gracefully)
{
	struct house h;
	struct peer idle, busy;
	bool done = false;

	house_open(&h, (struct server_config){0});
	peer_open(&idle, h.loop, server_port(h.server));
	peer_send(&idle, "GET /echo HTTP/1.1\r\nHost: a\r\n\r\n");
	peer_expect(&idle, "200 OK");
	peer_open(&busy, h.loop, server_port(h.server));
	peer_send(&busy, "POST /admit HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nha");
	cr_assert(wait_for(h.loop, two_connected, &h, PATIENCE_MS));
	server_drain(h.server, 5000, set_flag, &done);
	cr_assert(!done, "done from inside the call");
	peer_expect_end(&idle);
	cr_assert(!idle.reset && !done && server_connections(h.server) == 1);
	/* Nothing new is accepted. */
	struct sockaddr_in to = {
		.sin_family = AF_INET, .sin_port = htons((uint16_t)server_port(h.server))};
	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	cr_assert(connect(fd, (struct sockaddr *)&to, sizeof to) == -1 && errno == ECONNREFUSED);
	close(fd);
	/* What has begun is finished. */
	peer_send(&busy, "lf");
	peer_expect(&busy, "[] half");
	cr_assert(strstr(str_text(&busy.in), "Connection: close\r\n") != NULL);
	peer_close(&busy);
	cr_assert(wait_for(h.loop, flag_is_set, &done, PATIENCE_MS));
	peer_close(&idle);
	house_close(&h);
}

/* Who is connected and who comes are answered, and told to go. */
Test(server, lingers_before_it_goes)
{
	struct house h;
	struct peer before, after;

	house_open(&h, (struct server_config){0});
	peer_open(&before, h.loop, server_port(h.server));
	peer_send(&before, "GET /echo HTTP/1.1\r\nHost: a\r\n\r\n");
	peer_expect(&before, "200 OK");
	server_leave(h.server);
	peer_send(&before, "GET /echo HTTP/1.1\r\nHost: a\r\n\r\n");
	peer_expect(&before, "Connection: close\r\n");
	peer_expect_end(&before);
	peer_open(&after, h.loop, server_port(h.server));
	peer_send(&after, "GET /echo HTTP/1.1\r\nHost: a\r\n\r\n");
	peer_expect(&after, "200 OK");
	peer_expect_end(&after);
	cr_assert(!before.reset && !after.reset);
	peer_close(&before);
	peer_close(&after);
	house_close(&h);
}

Test(server, drain_has_a_deadline_and_may_come_from_a_handler)
{
	struct house h;
	struct peer p, stuck;
	bool done = false;

	house_open(&h, (struct server_config){0});
	peer_open(&stuck, h.loop, server_port(h.server));
	peer_send(&stuck, "POST /admit HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\n");
	peer_open(&p, h.loop, server_port(h.server));
	peer_send(&p, "POST /drain HTTP/1.1\r\nHost: a\r\n\r\n");
	peer_expect(&p, "Connection: close\r\n");
	peer_close(&p);
	house_close(&h);

	house_open(&h, (struct server_config){0});
	peer_close(&stuck);
	peer_open(&stuck, h.loop, server_port(h.server));
	peer_send(&stuck, "POST /admit HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\n");
	cr_assert(wait_for(h.loop, somebody, &h, PATIENCE_MS));
	server_drain(h.server, 100, set_flag, &done);
	cr_assert(wait_for(h.loop, flag_is_set, &done, PATIENCE_MS));
	peer_expect_end(&stuck);
	peer_close(&stuck);
	house_close(&h);
}

Test(server, addresses_that_cannot_be_used_are_faults)
{
	static const char *const bad[] = {"", "nonsense", "127.0.0.1",
		"127.0.0.1:", "127.0.0.1:99999", "localhost:0", "1.2.3.4.5:1", "127.0.0.1:x"};
	struct loop *l = loop_create();
	struct fault f;

	for (size_t i = 0; i < COUNT_OF(bad); i++) {
		struct server_config config = {.name = "t", .listen = bad[i]};
		cr_expect(server_create(l, &config, &f) == NULL && f.kind == FAULT_INVALID, "%s",
			bad[i]);
	}
	struct server_config all = {.name = "t", .listen = ":0"};
	struct server *s = server_create(l, &all, &f);
	cr_assert(s != NULL && server_port(s) > 0, "%s", f.message);
	char taken[32];
	snprintf(taken, sizeof taken, "127.0.0.1:%d", server_port(s));
	struct server_config second = {.name = "t", .listen = taken};
	cr_assert(server_create(l, &second, &f) == NULL && f.kind == FAULT_FATAL);
	cr_assert(server_set_tls(s, NULL, &f) == -1 && f.kind == FAULT_INVALID);
	server_destroy(s);
	loop_destroy(l);
}
