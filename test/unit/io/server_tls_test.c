/* The server's TLS: versions, protocols, bytes held back inside OpenSSL, handshakes that never end.
 */
#include <openssl/pem.h>
#include <openssl/ssl.h>

#include "server_harness.h"

TestSuite(server_tls, .fini = expect_no_leak);

/* TLS as bytes: what a client sees that is not ours. */
struct tls_peer {
	struct peer raw;
	SSL_CTX *ctx;
	SSL *ssl;
	int rc, error;
};

static void tls_peer_open(struct tls_peer *p, struct house *h, int max_version)
{
	peer_open(&p->raw, h->loop, server_port(h->server));
	p->ctx = SSL_CTX_new(TLS_client_method());
	SSL_CTX_set_min_proto_version(p->ctx, TLS1_VERSION);
	SSL_CTX_set_max_proto_version(p->ctx, max_version);
	SSL_CTX_set_security_level(p->ctx, 0);
	p->ssl = SSL_new(p->ctx);
	SSL_set_fd(p->ssl, p->raw.fd);
}

static void tls_peer_close(struct tls_peer *p)
{
	SSL_free(p->ssl);
	SSL_CTX_free(p->ctx);
	peer_close(&p->raw);
}

static bool tls_connected(void *data)
{
	struct tls_peer *p = data;

	p->rc = SSL_connect(p->ssl);
	p->error = SSL_get_error(p->ssl, p->rc);
	return p->error != SSL_ERROR_WANT_READ && p->error != SSL_ERROR_WANT_WRITE;
}

static bool tls_has(void *data)
{
	struct tls_peer *p = data;
	char buffer[4096];
	int n;

	while ((n = SSL_read(p->ssl, buffer, sizeof buffer)) > 0) {
		str_append(&p->raw.in, buffer, (size_t)n);
	}
	return strstr(str_text(&p->raw.in), p->raw.wanted) != NULL;
}

static bool tls_answered_or_gone(void *data)
{
	struct tls_peer *p = data;
	char buffer[4096];
	int n = SSL_read(p->ssl, buffer, sizeof buffer);

	if (n > 0) {
		str_append(&p->raw.in, buffer, (size_t)n);
		return true;
	}
	return SSL_get_error(p->ssl, n) != SSL_ERROR_WANT_READ;
}

static struct tls_pair client_leaf(const struct tls_pair *authority)
{
	const char *name = "kube-apiserver";
	struct tls_pair pair = {0};
	struct fault f = {0};
	struct tls_spec spec = {.common_name = name,
		.names = &name,
		.name_count = 1,
		.days = 10,
		.wall_ms = clock_wall(&clock_system),
		.client = true};

	cr_assert(tls_leaf_issue(authority, &spec, &pair, &f) == 0, "%s", f.message);
	return pair;
}

static void tls_house_open(struct house *h, struct server_config config)
{
	struct tls_pair ca CLEANUP(tls_pair_finish) = test_authority("a");
	struct tls_pair leaf CLEANUP(tls_pair_finish) = test_leaf(&ca, "127.0.0.1");
	struct tls_identity *identity = test_identity(&leaf);

	config.tls = identity;
	house_open(h, config);
	tls_identity_destroy(identity);
}

Test(server_tls, speaks_tls_from_1_2_on_and_http_1_1_only)
{
	static const struct {
		int version;
		const char *alpn;
		bool good;
	} cases[] = {
		{TLS1_1_VERSION, NULL, false},
		{TLS1_2_VERSION, NULL, true},
		{TLS1_3_VERSION, NULL, true},
		{TLS1_3_VERSION, "\x02h2", false},
		{TLS1_3_VERSION, "\x02h2\x08http/1.1", true},
		{TLS1_2_VERSION, "\x08http/1.1", true},
	};
	struct house h;

	tls_house_open(&h, (struct server_config){0});
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct tls_peer p;
		const unsigned char *chosen = NULL;
		unsigned n = 0;
		tls_peer_open(&p, &h, cases[i].version);
		if (cases[i].alpn != NULL) {
			SSL_set_alpn_protos(p.ssl, (const unsigned char *)cases[i].alpn,
				(unsigned)strlen(cases[i].alpn));
		}
		cr_assert(wait_for(h.loop, tls_connected, &p, PATIENCE_MS));
		cr_expect((p.rc == 1) == cases[i].good, "case %zu", i);
		SSL_get0_alpn_selected(p.ssl, &chosen, &n);
		cr_expect(n == (cases[i].good && cases[i].alpn != NULL ? 8 : 0), "case %zu", i);
		tls_peer_close(&p);
		expect_nobody(&h);
	}
	house_metric(&h, "aliquot_http_server_handshake_failures_total{server=\"test\"} 2");
	house_close(&h);
}

/* Many requests in few records, so that bytes wait inside OpenSSL where no descriptor shows them;
 * and replies larger than a socket buffer. */
Test(server_tls, answers_pipelined_requests_over_tls)
{
	struct str text CLEANUP(str_finish) = STR_INIT(1024 * 1024);
	struct house h;
	struct tls_peer p;

	tls_house_open(&h, (struct server_config){0});
	tls_peer_open(&p, &h, TLS1_3_VERSION);
	cr_assert(wait_for(h.loop, tls_connected, &p, PATIENCE_MS) && p.rc == 1);
	for (int i = 0; i < 300; i++) {
		str_append_format(&text, "GET /large?20000 HTTP/1.1\r\nHost: a\r\n\r\n");
	}
	str_append_text(&text, "GET /echo?end HTTP/1.1\r\nHost: a\r\n\r\n");
	cr_assert(SSL_write(p.ssl, text.p, (int)text.len) == (int)text.len);
	p.raw.wanted = "/echo?end";
	cr_assert(wait_for(h.loop, tls_has, &p, PATIENCE_MS), "%zu bytes came", p.raw.in.len);
	cr_assert(count_text(str_text(&p.raw.in), "HTTP/1.1 200 OK") == 301);
	tls_peer_close(&p);
	expect_nobody(&h);
	house_close(&h);
}

/* Of a client that shows this certificate, or none. */
static bool is_answered(struct house *h, const struct tls_pair *shown)
{
	static const char request[] = "GET /echo HTTP/1.1\r\nHost: a\r\n\r\n";
	struct tls_peer p;
	bool answered = false;

	tls_peer_open(&p, h, TLS1_3_VERSION);
	if (shown != NULL) {
		BIO *cert = BIO_new_mem_buf(shown->cert_pem, -1);
		BIO *key = BIO_new_mem_buf(shown->key_pem, -1);
		X509 *leaf = PEM_read_bio_X509(cert, NULL, NULL, NULL);
		EVP_PKEY *own = PEM_read_bio_PrivateKey(key, NULL, NULL, NULL);
		cr_assert(SSL_use_certificate(p.ssl, leaf) == 1 &&
			  SSL_use_PrivateKey(p.ssl, own) == 1);
		X509_free(leaf);
		EVP_PKEY_free(own);
		BIO_free(cert);
		BIO_free(key);
	}
	cr_assert(wait_for(h->loop, tls_connected, &p, PATIENCE_MS));
	if (p.rc == 1 && SSL_write(p.ssl, request, sizeof request - 1) > 0) {
		p.raw.wanted = "200 OK";
		answered = wait_for(h->loop, tls_answered_or_gone, &p, PATIENCE_MS) &&
			   strstr(str_text(&p.raw.in), "200 OK") != NULL;
	}
	tls_peer_close(&p);
	expect_nobody(h);
	return answered;
}

/* What is recommended for other people's workloads is told to API servers, where they can say that
 * they are some. */
Test(server_tls, who_shows_no_certificate_is_told_nothing_where_one_is_asked_for)
{
	struct tls_pair ours CLEANUP(tls_pair_finish) = test_authority("clients");
	struct tls_pair others CLEANUP(tls_pair_finish) = test_authority("others");
	struct tls_pair good CLEANUP(tls_pair_finish) = client_leaf(&ours);
	struct tls_pair bad CLEANUP(tls_pair_finish) = client_leaf(&others);
	struct house h;

	tls_house_open(&h, (struct server_config){.client_ca = ours.cert_pem});
	cr_expect_not(is_answered(&h, NULL));
	cr_expect_not(is_answered(&h, &bad));
	cr_expect(is_answered(&h, &good));
	/* And after the server's own certificate was renewed. */
	struct tls_pair ca CLEANUP(tls_pair_finish) = test_authority("a");
	struct tls_pair leaf CLEANUP(tls_pair_finish) = test_leaf(&ca, "127.0.0.1");
	struct tls_identity *identity = test_identity(&leaf);
	struct fault f;
	cr_assert_eq(server_set_tls(h.server, identity, &f), 0);
	tls_identity_destroy(identity);
	cr_expect_not(is_answered(&h, NULL));
	cr_expect(is_answered(&h, &good));
	cr_expect_eq(h.served, 2);
	house_close(&h);
}

Test(server_tls, handshakes_have_a_deadline_and_junk_is_closed)
{
	struct house h;
	struct peer p;

	tls_house_open(&h, (struct server_config){.handshake_ms = 150});
	peer_open(&p, h.loop, server_port(h.server));
	peer_expect_end(&p);
	peer_close(&p);
	peer_open(&p, h.loop, server_port(h.server));
	peer_send(&p, "GET / HTTP/1.1\r\nHost: a\r\n\r\n");
	peer_expect_end(&p);
	peer_close(&p);
	expect_nobody(&h);
	house_close(&h);
}
