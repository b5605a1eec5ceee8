/* Certificates as text: parsing, checking, joining. */
#include "tls_pem.h"

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include "base/alloc.h"

void tls_cert_cleanup(X509 **slot)
{
	X509_free(take_pointer(slot));
}

void tls_chain_cleanup(STACK_OF(X509) * *slot)
{
	sk_X509_pop_free((STACK_OF(X509) *)take_pointer(slot), X509_free);
}

void tls_key_cleanup(EVP_PKEY **slot)
{
	EVP_PKEY_free(take_pointer(slot));
}

void tls_bio_cleanup(BIO **slot)
{
	BIO_free(take_pointer(slot));
}

const char *tls_reason(void)
{
	unsigned long code = ERR_get_error();
	const char *reason = code != 0 ? ERR_reason_error_string(code) : NULL;
	ERR_clear_error();
	return reason != NULL ? reason : "no reason given";
}

int tls_fault(struct fault *f, enum fault_kind kind, const char *what)
{
	return fault_set(f, kind, "%s: %s", what, tls_reason());
}

void tls_pair_finish(struct tls_pair *p)
{
	free(p->cert_pem);
	if (p->key_pem != NULL) {
		OPENSSL_cleanse(p->key_pem, strlen(p->key_pem));
	}
	free(p->key_pem);
	*p = (struct tls_pair){0};
}

BIO *tls_text_open(const char *pem, const char *what, struct fault *ret_fault)
{
	size_t n = pem != NULL ? strnlen(pem, TLS_PEM_MAX + 1) : 0;
	ERR_clear_error();
	if (n == 0) {
		fault_set(ret_fault, FAULT_INVALID, "%s: the PEM text is empty", what);
		return NULL;
	}
	if (n > TLS_PEM_MAX) {
		fault_set(ret_fault, FAULT_INVALID, "%s: the PEM text is longer than %zu bytes",
			what, TLS_PEM_MAX);
		return NULL;
	}
	return BIO_new_mem_buf(pem, (int)n);
}

int tls_no_passphrase(char *buffer, int size, int writing, void *data)
{
	(void)buffer;
	(void)size;
	(void)writing;
	(void)data;
	return -1;
}

STACK_OF(X509) * tls_chain_parse(const char *pem, const char *what, struct fault *ret_fault)
{
	BIO *in CLEANUP(tls_bio_cleanup) = tls_text_open(pem, what, ret_fault);
	STACK_OF(X509) * chain CLEANUP(tls_chain_cleanup) = sk_X509_new_null();
	X509 *cert;
	if (in == NULL || chain == NULL) {
		return NULL;
	}
	while ((cert = PEM_read_bio_X509(in, NULL, tls_no_passphrase, NULL)) != NULL) {
		if (sk_X509_num(chain) >= TLS_CHAIN_MAX || sk_X509_push(chain, cert) == 0) {
			X509_free(cert);
			fault_set(ret_fault, FAULT_INVALID, "%s: more than %d certificates", what,
				TLS_CHAIN_MAX);
			return NULL;
		}
	}
	/* The end of the text shows as "no start line"; everything else is damage. */
	if (ERR_GET_REASON(ERR_peek_last_error()) != PEM_R_NO_START_LINE) {
		fault_set(ret_fault, FAULT_INVALID, "%s: certificate %d does not parse: %s", what,
			sk_X509_num(chain) + 1, tls_reason());
		return NULL;
	}
	ERR_clear_error();
	if (sk_X509_num(chain) == 0) {
		fault_set(
			ret_fault, FAULT_INVALID, "%s: there is no certificate in the text", what);
		return NULL;
	}
	return TAKE(chain);
}

EVP_PKEY *tls_key_parse(const char *pem, struct fault *ret_fault)
{
	BIO *in CLEANUP(tls_bio_cleanup) = tls_text_open(pem, "private key", ret_fault);
	EVP_PKEY *key;
	if (in == NULL) {
		return NULL;
	}
	key = PEM_read_bio_PrivateKey(in, NULL, tls_no_passphrase, NULL);
	if (key == NULL) {
		tls_fault(ret_fault, FAULT_INVALID, "private key does not parse");
	}
	return key;
}

struct tls_identity *tls_identity_create(
	const char *cert_pem, const char *key_pem, struct fault *ret_fault)
{
	STACK_OF(X509) * chain CLEANUP(tls_chain_cleanup) =
		tls_chain_parse(cert_pem, "certificate", ret_fault);
	EVP_PKEY *key CLEANUP(tls_key_cleanup) =
		chain != NULL ? tls_key_parse(key_pem, ret_fault) : NULL;
	if (chain == NULL || key == NULL) {
		return NULL;
	}
	if (X509_check_private_key(sk_X509_value(chain, 0), key) != 1) {
		ERR_clear_error();
		fault_set(ret_fault, FAULT_INVALID,
			"the private key does not belong to the certificate");
		return NULL;
	}
	struct tls_identity *i = xcalloc(1, sizeof *i);
	i->leaf = sk_X509_shift(chain);
	i->chain = TAKE(chain);
	i->key = TAKE(key);
	return i;
}

void tls_identity_destroy(struct tls_identity *i)
{
	if (i == NULL) {
		return;
	}
	tls_cert_cleanup(&i->leaf);
	tls_chain_cleanup(&i->chain);
	tls_key_cleanup(&i->key);
	free(i);
}

static bool time_ms(const ASN1_TIME *t, int64_t *ret_ms)
{
	struct tm tm = {0};
	if (t == NULL || ASN1_TIME_to_tm(t, &tm) != 1) {
		return false;
	}
	*ret_ms = (int64_t)timegm(&tm) * 1000;
	return true;
}

int64_t tls_identity_not_after_ms(const struct tls_identity *i)
{
	int64_t ms = 0;
	/* A time that does not parse counts as long past, so that it gets replaced. */
	return time_ms(X509_get0_notAfter(i->leaf), &ms) ? ms : 0;
}

int tls_validity(const char *cert_pem, struct tls_validity *ret_validity, struct fault *ret_fault)
{
	STACK_OF(X509) * chain CLEANUP(tls_chain_cleanup) =
		tls_chain_parse(cert_pem, "certificate", ret_fault);
	struct tls_validity v = {0};
	if (chain == NULL) {
		return -1;
	}
	const X509 *leaf = sk_X509_value(chain, 0);
	if (!time_ms(X509_get0_notBefore(leaf), &v.not_before_ms) ||
		!time_ms(X509_get0_notAfter(leaf), &v.not_after_ms)) {
		return fault_set(
			ret_fault, FAULT_INVALID, "the certificate's validity does not parse");
	}
	*ret_validity = v;
	return 0;
}

int tls_count(const char *pem, size_t *ret_count, struct fault *ret_fault)
{
	STACK_OF(X509) * chain CLEANUP(tls_chain_cleanup) =
		tls_chain_parse(pem, "certificates", ret_fault);
	if (chain == NULL) {
		return -1;
	}
	*ret_count = (size_t)sk_X509_num(chain);
	return 0;
}

const char *tls_subject(const char *cert_pem, char buffer[TLS_NAME_TEXT_MAX])
{
	STACK_OF(X509) * chain CLEANUP(tls_chain_cleanup) = tls_chain_parse(cert_pem, "", NULL);
	if (chain == NULL ||
		X509_NAME_get_text_by_NID(X509_get_subject_name(sk_X509_value(chain, 0)),
			NID_commonName, buffer, TLS_NAME_TEXT_MAX) <= 0) {
		snprintf(buffer, TLS_NAME_TEXT_MAX, "unknown");
	}
	return buffer;
}

/* Only an address is compared with IP names, only a name with DNS names, as clients do. */
static int name_expect(X509_VERIFY_PARAM *param, const char *name)
{
	unsigned char raw[16];
	if (inet_pton(AF_INET, name, raw) == 1 || inet_pton(AF_INET6, name, raw) == 1) {
		return X509_VERIFY_PARAM_set1_ip_asc(param, name);
	}
	return X509_VERIFY_PARAM_set1_host(param, name, 0);
}

static int store_verify(X509_STORE *store, STACK_OF(X509) * chain, const struct tls_check *check,
	struct fault *ret_fault)
{
	X509_STORE_CTX *ctx = X509_STORE_CTX_new();
	int rc = -1;
	if (ctx == NULL || X509_STORE_CTX_init(ctx, store, sk_X509_value(chain, 0), chain) != 1) {
		tls_fault(ret_fault, FAULT_FATAL, "verifying a certificate");
		goto out;
	}
	X509_VERIFY_PARAM *param = X509_STORE_CTX_get0_param(ctx);
	X509_VERIFY_PARAM_set_time(param, (time_t)(check->wall_ms / 1000));
	X509_VERIFY_PARAM_set_purpose(param, X509_PURPOSE_SSL_SERVER);
	if (check->name != NULL && name_expect(param, check->name) != 1) {
		tls_fault(ret_fault, FAULT_INVALID, "the name to verify");
		goto out;
	}
	if (X509_verify_cert(ctx) != 1) {
		fault_set(ret_fault, FAULT_DENIED, "the certificate does not verify: %s",
			X509_verify_cert_error_string(X509_STORE_CTX_get_error(ctx)));
		goto out;
	}
	rc = 0;
out:
	X509_STORE_CTX_free(ctx);
	ERR_clear_error();
	return rc;
}

void tls_store_add(X509_STORE *store, const STACK_OF(X509) * authorities)
{
	for (int i = 0; i < sk_X509_num(authorities); i++) {
		X509_STORE_add_cert(store, sk_X509_value(authorities, i));
	}
}

int tls_verify(const struct tls_check *check, struct fault *ret_fault)
{
	STACK_OF(X509) * bundle CLEANUP(tls_chain_cleanup) =
		tls_chain_parse(check->bundle_pem, "CA bundle", ret_fault);
	STACK_OF(X509) * chain CLEANUP(tls_chain_cleanup) =
		bundle != NULL ? tls_chain_parse(check->cert_pem, "certificate", ret_fault) : NULL;
	if (chain == NULL) {
		return -1;
	}
	X509_STORE *store = X509_STORE_new();
	ENSURE(store != NULL);
	tls_store_add(store, bundle);
	int rc = store_verify(store, chain, check, ret_fault);
	X509_STORE_free(store);
	return rc;
}

/* Re-encoded rather than copied, so that comments and odd line ends in a Secret do not spread. */
static int bundle_append(STACK_OF(X509) * chain, const char *pem, struct str *out, struct fault *f)
{
	STACK_OF(X509) * more CLEANUP(tls_chain_cleanup) = tls_chain_parse(pem, "CA bundle", f);
	BIO *text CLEANUP(tls_bio_cleanup) = BIO_new(BIO_s_mem());
	char *p = NULL;
	if (more == NULL || text == NULL) {
		return -1;
	}
	for (X509 *cert; (cert = sk_X509_shift(more)) != NULL;) {
		int i = 0;
		while (i < sk_X509_num(chain) && X509_cmp(sk_X509_value(chain, i), cert) != 0) {
			i++;
		}
		if (i < sk_X509_num(chain)) {
			X509_free(cert);
			continue;
		}
		ENSURE(sk_X509_push(chain, cert) > 0);
		ENSURE(PEM_write_bio_X509(text, cert) == 1);
	}
	long n = BIO_get_mem_data(text, &p);
	if (n > 0 && !str_append(out, p, (size_t)n)) {
		return fault_set(f, FAULT_LIMIT, "the bundle exceeds %zu bytes", out->limit);
	}
	return 0;
}

int tls_bundle_concat(
	const char *a_pem, const char *b_pem, struct str *out, struct fault *ret_fault)
{
	STACK_OF(X509) * seen CLEANUP(tls_chain_cleanup) = sk_X509_new_null();
	ENSURE(seen != NULL);
	bool good = text_empty(a_pem) || bundle_append(seen, a_pem, out, ret_fault) == 0;
	good = good && (text_empty(b_pem) || bundle_append(seen, b_pem, out, ret_fault) == 0);
	return good ? 0 : -1;
}
