/* The handshake is OpenSSL's: the certificate, the name and the secrets. Then its object is freed,
 * and what is kept of it is a key for each way. */
#include "poller_tls.h"

#include <openssl/err.h>
#include <openssl/x509v3.h>

#include "base/alloc.h"
#include "poller_conn.h"
#include "tls_pem.h"

enum { WAY_OUT = 1, WAY_IN = 2, WAYS = WAY_OUT | WAY_IN };

/* A line of the key log: "LABEL RANDOM SECRET", both in hexadecimal digits. OpenSSL has no other
 * door to the secrets of the records; they are told as soon as they are in use. */
static void on_record_secret(const SSL *ssl, const char *line)
{
	struct poller_conn *c = SSL_get_app_data(ssl);
	struct view rest = view_of(line), label, random;
	unsigned char secret[RECORD_SECRET_BYTES];
	size_t n = 0;
	if (!view_next(&rest, ' ', &label) || !view_next(&rest, ' ', &random)) {
		return;
	}
	bool out = view_equals(label, "CLIENT_TRAFFIC_SECRET_0");
	bool in = view_equals(label, "SERVER_TRAFFIC_SECRET_0");
	if ((out || in) && OPENSSL_hexstr2buf_ex(secret, sizeof secret, &n, rest.p, '\0') == 1 &&
		n == sizeof secret) {
		record_way_set(out ? &c->out : &c->in, secret);
		c->ways |= out ? WAY_OUT : WAY_IN;
	}
	OPENSSL_cleanse(secret, sizeof secret);
}

SSL_CTX *poller_tls_create(const char *ca_pem, struct fault *ret_fault)
{
	static const unsigned char alpn[] = "\x08http/1.1";
	CLEANUP(tls_chain_cleanup)
	STACK_OF(X509) *authorities = tls_chain_parse(ca_pem, "authority of the server", ret_fault);
	if (authorities == NULL) {
		return NULL;
	}
	ERR_clear_error();
	SSL_CTX *tls = SSL_CTX_new(TLS_client_method());
	ENSURE(tls != NULL);
	tls_store_add(SSL_CTX_get_cert_store(tls), authorities);
	SSL_CTX_set_verify(tls, SSL_VERIFY_PEER, NULL);
	SSL_CTX_set_session_cache_mode(tls, SSL_SESS_CACHE_OFF);
	SSL_CTX_set_options(tls, SSL_OP_NO_TICKET | SSL_OP_NO_COMPRESSION);
	SSL_CTX_set_keylog_callback(tls, on_record_secret);
	/* The one suite that everybody has who speaks TLS 1.3: records know no other. */
	bool good = SSL_CTX_set_min_proto_version(tls, TLS1_3_VERSION) == 1 &&
		    SSL_CTX_set_max_proto_version(tls, TLS1_3_VERSION) == 1 &&
		    SSL_CTX_set_ciphersuites(tls, "TLS_AES_128_GCM_SHA256") == 1 &&
		    /* Nobody has us exponentiate numbers of 8,192 bits. */
		    SSL_CTX_set1_groups_list(tls, "X25519:P-256") == 1 &&
		    SSL_CTX_set_alpn_protos(tls, alpn, sizeof alpn - 1) == 0;
	if (!good) {
		tls_fault(ret_fault, FAULT_INVALID, "TLS 1.3");
		SSL_CTX_free(tls);
		return NULL;
	}
	ERR_clear_error();
	return tls;
}

static void tls_begin(struct poller_conn *c)
{
	const char *name = c->call->name;
	ERR_clear_error();
	c->ssl = SSL_new(c->poller->tls);
	ENSURE(c->ssl != NULL && SSL_set_fd(c->ssl, c->io.fd) == 1);
	c->trust = c->poller->trust;
	SSL_set_app_data(c->ssl, c);
	SSL_set_connect_state(c->ssl);
	SSL_set_hostflags(
		c->ssl, X509_CHECK_FLAG_NO_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
	/* Names were looked at when the request came. */
	ENSURE(SSL_set1_host(c->ssl, name) == 1 && SSL_set_tlsext_host_name(c->ssl, name) == 1);
}

static void tls_failed(struct poller_conn *c, int error)
{
	long verdict = SSL_get_verify_result(c->ssl);
	if (verdict != X509_V_OK) {
		poller_conn_fail(c, FAULT_DENIED, X509_verify_cert_error_string(verdict));
	} else if (error == SSL_ERROR_SSL) {
		poller_conn_fail(c, FAULT_TRANSIENT, tls_reason());
	} else {
		poller_conn_fail(c, FAULT_TRANSIENT, "it hung up in the handshake");
	}
	ERR_clear_error();
}

/* Nothing of a record lies in OpenSSL: it reads none before it needs it. */
static void tls_done(struct poller_conn *c)
{
	bool whole = c->ways == WAYS && SSL_has_pending(c->ssl) == 0 &&
		     SSL_get_verify_result(c->ssl) == X509_V_OK;
	c->poller->handshakes++;
	SSL_free(c->ssl);
	c->ssl = NULL;
	if (whole) {
		poller_conn_ready(c);
	} else {
		poller_conn_fail(c, FAULT_TRANSIENT, "a handshake without keys");
	}
}

static void tls_step(struct poller_conn *c)
{
	if (c->ssl == NULL) {
		tls_begin(c);
	}
	ERR_clear_error();
	int rc = SSL_do_handshake(c->ssl);
	if (rc == 1) {
		tls_done(c);
		return;
	}
	int error = SSL_get_error(c->ssl, rc);
	if (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE) {
		poller_conn_watch(c, error == SSL_ERROR_WANT_WRITE ? EV_WRITE : EV_READ);
	} else {
		tls_failed(c, error);
	}
}

void poller_tls_leave(struct poller_conn *c)
{
	LIST_REMOVE(&c->poller->steps, c, prev, next);
	c->steps = false;
}

void poller_tls_later(struct poller_conn *c)
{
	struct poller *p = c->poller;
	ev_io_stop(loop_ev(p->loop), &c->io);
	c->steps = true;
	LIST_PUSH(&p->steps, c, prev, next);
}

void poller_tls_turn(void *data)
{
	struct poller *p = data;
	struct poller_conn *c = p->steps.first;
	if (c != NULL) {
		poller_tls_leave(c);
		tls_step(c);
	}
	if (p->steps.first != NULL) {
		loop_wake_at(p->loop, 0);
	}
}
