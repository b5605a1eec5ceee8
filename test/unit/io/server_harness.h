/* What the tests of the server share: a server with a few routes and its metrics. */
#ifndef TEST_IO_SERVER_HARNESS_H
#define TEST_IO_SERVER_HARNESS_H

#include "harness.h"

struct house {
	struct loop *loop;
	struct server *server;
	struct metric_registry *metrics;
	int served;
};

static UNUSED void echo(void *data, const struct server_request *q, struct server_reply *r)
{
	struct house *h = data;

	h->served++;
	cr_assert(q->received_us > 0 && q->received_us <= clock_mono_us());
	r->content_type = "text/x-echo";
	str_append_format(&r->body, "%.*s %.*s?%.*s [%.*s] ", (int)q->method.n, q->method.p,
		(int)q->path.n, q->path.p, (int)q->query.n, q->query.p, (int)q->content_type.n,
		q->content_type.p);
	str_append(&r->body, q->body.p, q->body.n);
}

static UNUSED void large(void *data, const struct server_request *q, struct server_reply *r)
{
	int64_t n = 0;
	(void)data;

	cr_assert(parse_i64(q->query, 1, 100000000, &n));
	for (int64_t i = 0; i < n; i++) {
		str_append_char(&r->body, (char)('a' + i % 26));
	}
}

static UNUSED void drain_from_inside(
	void *data, const struct server_request *q, struct server_reply *r)
{
	struct house *h = data;
	(void)q;
	(void)r;

	server_drain(h->server, 5000, NULL, NULL);
}

static UNUSED void house_open(struct house *h, struct server_config config)
{
	struct fault f = {0};

	*h = (struct house){.loop = loop_create(), .metrics = metric_registry_create()};
	config.name = "test";
	config.listen = "127.0.0.1:0";
	config.metrics = h->metrics;
	h->server = server_create(h->loop, &config, &f);
	cr_assert(h->server != NULL, "%s", f.message);
	server_route(h->server, "GET", "/echo", echo, h);
	server_route(h->server, "POST", "/admit", echo, h);
	server_route(h->server, "GET", "/large", large, h);
	server_route(h->server, "POST", "/drain", drain_from_inside, h);
}

static UNUSED void house_close(struct house *h)
{
	server_destroy(h->server);
	metric_registry_destroy(h->metrics);
	loop_destroy(h->loop);
}

static UNUSED void house_metric(struct house *h, const char *line)
{
	struct str text CLEANUP(str_finish) = STR_INIT(1024 * 1024);

	metric_write(h->metrics, &text);
	cr_assert(strstr(str_text(&text), line) != NULL, "no '%s' in:\n%s", line, str_text(&text));
}

/* A client at this address of the loopback: 127.0.0.N. */
static UNUSED void peer_open_from(struct peer *p, struct house *h, int n)
{
	struct sockaddr_in at = {.sin_family = AF_INET};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK + (unsigned)n - 1);
	cr_assert(bind(fd, (struct sockaddr *)&at, sizeof at) == 0);
	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	at.sin_port = htons((uint16_t)server_port(h->server));
	cr_assert(connect(fd, (struct sockaddr *)&at, sizeof at) == 0);
	fcntl(fd, F_SETFL, O_NONBLOCK);
	*p = (struct peer){.loop = h->loop, .fd = fd, .in = STR_INIT(64 * 1024 * 1024)};
}

static UNUSED bool nobody_left(void *data)
{
	struct house *h = data;

	return server_connections(h->server) == 0;
}

static UNUSED bool somebody(void *data)
{
	struct house *h = data;

	return server_connections(h->server) > 0;
}

static UNUSED void expect_nobody(struct house *h)
{
	cr_assert(wait_for(h->loop, nobody_left, h, PATIENCE_MS), "%d connections are left",
		server_connections(h->server));
}

#endif
