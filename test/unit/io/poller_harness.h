/* What the tests of the poller share: a server that speaks TLS well and HTTP as each test wants. */
#ifndef TEST_IO_POLLER_HARNESS_H
#define TEST_IO_POLLER_HARNESS_H

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>

#include "http_harness.h"
#include "io/poller.h"

#define STUB_PEERS 8

struct rogue;
struct rogue_peer {
	struct rogue *rogue;
	int fd; /* -1: none */
	SSL *ssl;
	ev_io io;
	int requests;
	struct str in;
};

/* Calls `answer` for each request whose headers are whole; bytes that come in between are kept. */
struct rogue {
	struct loop *loop;
	SSL_CTX *tls;
	int listener, port;
	int accepted, handshakes, requests;
	char to[32];
	ev_io io;
	struct rogue_peer peers[STUB_PEERS];
	void (*answer)(struct rogue_peer *peer);
};

static UNUSED void rogue_write(struct rogue_peer *peer, const char *text)
{
	cr_assert(SSL_write(peer->ssl, text, (int)strlen(text)) == (int)strlen(text));
}

static UNUSED void rogue_hang_up(struct rogue_peer *peer)
{
	ev_io_stop(loop_ev(peer->rogue->loop), &peer->io);
	SSL_free(peer->ssl);
	close(peer->fd);
	str_finish(&peer->in);
	*peer = (struct rogue_peer){.rogue = peer->rogue, .fd = -1};
}

static UNUSED void rogue_on_read(struct ev_loop *ev, ev_io *w, int mask)
{
	struct rogue_peer *peer = w->data;
	char buffer[4096];
	(void)ev;
	(void)mask;

	ERR_clear_error();
	if (!SSL_is_init_finished(peer->ssl)) {
		int rc = SSL_do_handshake(peer->ssl);
		if (rc != 1 && SSL_get_error(peer->ssl, rc) != SSL_ERROR_WANT_READ) {
			rogue_hang_up(peer);
			return;
		}
		peer->rogue->handshakes += rc == 1;
	}
	int n = SSL_read(peer->ssl, buffer, sizeof buffer);
	if (n <= 0) {
		if (SSL_get_error(peer->ssl, n) != SSL_ERROR_WANT_READ) {
			rogue_hang_up(peer);
		}
		return;
	}
	str_append(&peer->in, buffer, (size_t)n);
	if (strstr(str_text(&peer->in), "\r\n\r\n") != NULL) {
		peer->requests++;
		peer->rogue->requests++;
		if (peer->rogue->answer != NULL) {
			peer->rogue->answer(peer);
		}
		str_reset(&peer->in);
	}
}

static UNUSED void rogue_on_accept(struct ev_loop *ev, ev_io *w, int mask)
{
	struct rogue *r = w->data;
	struct rogue_peer *peer = r->peers;
	int yes = 1;
	int fd = accept4(r->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	(void)mask;

	if (fd < 0) {
		return;
	}
	while (peer->fd >= 0) {
		cr_assert(++peer < r->peers + STUB_PEERS);
	}
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
	r->accepted++;
	*peer = (struct rogue_peer){
		.rogue = r, .fd = fd, .ssl = SSL_new(r->tls), .in = STR_INIT(1024 * 1024)};
	SSL_set_fd(peer->ssl, fd);
	SSL_set_accept_state(peer->ssl);
	ev_io_init(&peer->io, rogue_on_read, fd, EV_READ);
	peer->io.data = peer;
	ev_io_start(ev, &peer->io);
}

static UNUSED SSL_CTX *rogue_tls(const struct tls_pair *ca, const char *name)
{
	struct tls_pair leaf CLEANUP(tls_pair_finish) = test_leaf(ca, name);
	SSL_CTX *tls = SSL_CTX_new(TLS_server_method());
	BIO *cert = BIO_new_mem_buf(leaf.cert_pem, -1), *key = BIO_new_mem_buf(leaf.key_pem, -1);
	X509 *x = PEM_read_bio_X509(cert, NULL, NULL, NULL);
	EVP_PKEY *k = PEM_read_bio_PrivateKey(key, NULL, NULL, NULL);

	cr_assert(SSL_CTX_use_certificate(tls, x) == 1 && SSL_CTX_use_PrivateKey(tls, k) == 1);
	X509_free(x);
	EVP_PKEY_free(k);
	BIO_free(cert);
	BIO_free(key);
	return tls;
}

static UNUSED void rogue_open(struct rogue *r, struct loop *l, const struct tls_pair *ca)
{
	struct sockaddr_in at = {.sin_family = AF_INET};
	socklen_t n = sizeof at;

	*r = (struct rogue){.loop = l, .tls = rogue_tls(ca, "agents.example")};
	for (int i = 0; i < STUB_PEERS; i++) {
		r->peers[i] = (struct rogue_peer){.rogue = r, .fd = -1};
	}
	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	r->listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	cr_assert(bind(r->listener, (struct sockaddr *)&at, sizeof at) == 0);
	cr_assert(listen(r->listener, 64) == 0);
	cr_assert(getsockname(r->listener, (struct sockaddr *)&at, &n) == 0);
	r->port = ntohs(at.sin_port);
	snprintf(r->to, sizeof r->to, "127.0.0.1:%d", r->port);
	ev_io_init(&r->io, rogue_on_accept, r->listener, EV_READ);
	r->io.data = r;
	ev_io_start(loop_ev(l), &r->io);
}

static UNUSED void rogue_close(struct rogue *r)
{
	for (int i = 0; i < STUB_PEERS; i++) {
		if (r->peers[i].fd >= 0) {
			rogue_hang_up(&r->peers[i]);
		}
	}
	ev_io_stop(loop_ev(r->loop), &r->io);
	close(r->listener);
	SSL_CTX_free(r->tls);
}

/* A poller, and one such server. */
struct scene {
	struct loop *loop;
	struct tls_pair ca;
	struct poller *poller;
	struct rogue rogue;
};

static UNUSED struct poller *poller_for(struct loop *l, const char *ca, int connections)
{
	struct fault f = {0};
	struct poller_config config = {
		.ca_pem = ca, .name = "agents.example", .connections = connections};
	struct poller *p = poller_create(l, &config, &f);

	cr_assert(p != NULL, "%s", f.message);
	return p;
}

static UNUSED void scene_open(struct scene *s, void (*answer)(struct rogue_peer *peer))
{
	*s = (struct scene){.loop = loop_create(), .ca = test_authority("agents' authority")};
	rogue_open(&s->rogue, s->loop, &s->ca);
	s->rogue.answer = answer;
	s->poller = poller_for(s->loop, s->ca.cert_pem, 8);
}

static UNUSED void scene_close(struct scene *s)
{
	poller_destroy(s->poller);
	rogue_close(&s->rogue);
	tls_pair_finish(&s->ca);
	loop_destroy(s->loop);
}

static UNUSED struct wire_request question(const char *to)
{
	return (struct wire_request){
		.method = WIRE_GET, .path = "/v1/state", .to = to, .timeout_ms = 5000};
}

/* Sends and waits; the caller finishes the call. */
static UNUSED void ask(
	struct loop *l, struct poller *p, const struct wire_request *q, struct call *c)
{
	call_send(c, poller_wire(p), q);
	call_wait(l, c);
}

static UNUSED struct fault fault_of_asking(struct scene *s)
{
	struct wire_request q = question(s->rogue.to);
	struct call c;

	ask(s->loop, s->poller, &q, &c);
	struct fault f = c.fault;
	call_finish(&c);
	return f;
}

static UNUSED int connections(const struct poller *p)
{
	int n;
	uint64_t handshakes;

	poller_count(p, &n, &handshakes);
	return n;
}

static UNUSED int handshakes(const struct poller *p)
{
	int n;
	uint64_t count;

	poller_count(p, &n, &count);
	return (int)count;
}

#define expect_fault(f, wanted, words)                                                             \
	cr_expect((f).kind == (wanted) && strstr((f).message, words) != NULL, "%s: %s",            \
		fault_kind_name((f).kind), (f).message)

#endif
