/* Our own authority: keys, certificates and their extensions. */
#include "io/tls_issue.h"

#include <arpa/inet.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

#include "base/alloc.h"
#include "tls_pem.h"

#define DAY_MS	     ((int64_t)24 * 60 * 60 * 1000)
#define DAYS_MAX     36500
#define SERIAL_BYTES 16
#define NAME_MAX_LEN 253

struct extension {
	int nid;
	const char *value; /* in OpenSSL's configuration syntax; only texts of our own */
};

static bool serial_set(X509 *cert)
{
	unsigned char raw[SERIAL_BYTES];
	bool ok = false;
	if (RAND_bytes(raw, sizeof raw) != 1) {
		return false;
	}
	raw[0] = (unsigned char)((raw[0] & 0x7f) | 0x40); /* positive, and always of full length */
	BIGNUM *number = BN_bin2bn(raw, sizeof raw, NULL);
	if (number != NULL) {
		ok = BN_to_ASN1_INTEGER(number, X509_get_serialNumber(cert)) != NULL;
	}
	BN_free(number);
	return ok;
}

static bool validity_set(X509 *cert, const struct tls_spec *spec, const X509 *issuer)
{
	time_t from = (time_t)((spec->wall_ms - TLS_BACKDATE_MS) / 1000);
	int64_t lifetime = spec->lifetime_ms > 0 ? spec->lifetime_ms : spec->days * DAY_MS;
	time_t until = (time_t)((spec->wall_ms + lifetime) / 1000);
	struct tm end;
	if (ASN1_TIME_set(X509_getm_notBefore(cert), from) == NULL ||
		ASN1_TIME_set(X509_getm_notAfter(cert), until) == NULL) {
		return false;
	}
	if (issuer == NULL || ASN1_TIME_to_tm(X509_get0_notAfter(issuer), &end) != 1) {
		return true;
	}
	/* A leaf that outlives its authority would look fine in every check but the client's. */
	return timegm(&end) >= until || X509_set1_notAfter(cert, X509_get0_notAfter(issuer)) == 1;
}

static bool extensions_add(X509 *cert, X509 *issuer, const struct extension *list, size_t n)
{
	X509V3_CTX ctx;
	bool good = true;
	X509V3_set_ctx_nodb(&ctx);
	X509V3_set_ctx(&ctx, issuer, cert, NULL, NULL, 0);
	for (size_t i = 0; good && i < n; i++) {
		X509_EXTENSION *x = X509V3_EXT_conf_nid(NULL, &ctx, list[i].nid, list[i].value);
		good = x != NULL && X509_add_ext(cert, x, -1) == 1;
		X509_EXTENSION_free(x);
	}
	return good;
}

static void request_cleanup(X509_REQ **slot)
{
	X509_REQ_free(take_pointer(slot));
}

static void names_cleanup(GENERAL_NAMES **slot)
{
	sk_GENERAL_NAME_pop_free((GENERAL_NAMES *)take_pointer(slot), GENERAL_NAME_free);
}

static void extensions_cleanup(STACK_OF(X509_EXTENSION) * *slot)
{
	sk_X509_EXTENSION_pop_free(
		(STACK_OF(X509_EXTENSION) *)take_pointer(slot), X509_EXTENSION_free);
}

/* Built as objects and not as configuration text: a name with a comma must not become two. */
static bool alternative_push(GENERAL_NAMES *names, const char *name)
{
	unsigned char raw[16];
	int n = inet_pton(AF_INET, name, raw) == 1    ? 4
		: inet_pton(AF_INET6, name, raw) == 1 ? 16
						      : 0;
	GENERAL_NAME *entry = GENERAL_NAME_new();
	ASN1_STRING *text = n > 0 ? ASN1_OCTET_STRING_new() : ASN1_IA5STRING_new();
	bool ok = entry != NULL && text != NULL &&
		  ASN1_STRING_set(text, n > 0 ? (const void *)raw : name, n > 0 ? n : -1) == 1;
	if (ok) {
		GENERAL_NAME_set0_value(entry, n > 0 ? GEN_IPADD : GEN_DNS, text);
		text = NULL;
		ok = sk_GENERAL_NAME_push(names, entry) > 0;
	}
	if (!ok) {
		GENERAL_NAME_free(entry);
		ASN1_STRING_free(text);
	}
	return ok;
}

static GENERAL_NAMES *tls_alternatives(const struct tls_spec *spec)
{
	GENERAL_NAMES *names CLEANUP(names_cleanup) = sk_GENERAL_NAME_new_null();
	bool ok = names != NULL;
	for (size_t i = 0; ok && i < spec->name_count; i++) {
		ok = alternative_push(names, spec->names[i]);
	}
	return ok ? TAKE(names) : NULL;
}

static bool tls_name_set(X509_NAME *name, const char *common_name)
{
	return X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8,
		       (const unsigned char *)common_name, -1, -1, 0) == 1;
}

/* Everything that an authority and a leaf have in common but the extensions and the signature. */
static X509 *cert_begin(const struct tls_spec *spec, EVP_PKEY *key, const X509 *issuer)
{
	X509 *cert CLEANUP(tls_cert_cleanup) = X509_new();
	if (cert == NULL || X509_set_version(cert, X509_VERSION_3) != 1 || !serial_set(cert) ||
		!validity_set(cert, spec, issuer) ||
		!tls_name_set(X509_get_subject_name(cert), spec->common_name) ||
		X509_set_pubkey(cert, key) != 1) {
		return NULL;
	}
	const X509_NAME *name = X509_get_subject_name(issuer != NULL ? issuer : cert);
	return X509_set_issuer_name(cert, name) == 1 ? TAKE(cert) : NULL;
}

static char *tls_bio_text(BIO *bio)
{
	char *p = NULL;
	long n = BIO_get_mem_data(bio, &p);
	return xstrndup(p, n > 0 ? (size_t)n : 0);
}

static int pair_write(X509 *cert, EVP_PKEY *key, struct tls_pair *ret_pair, struct fault *ret_fault)
{
	BIO *cert_out CLEANUP(tls_bio_cleanup) = BIO_new(BIO_s_mem());
	BIO *key_out CLEANUP(tls_bio_cleanup) = BIO_new(BIO_s_secmem());
	if (cert_out == NULL || key_out == NULL || PEM_write_bio_X509(cert_out, cert) != 1 ||
		PEM_write_bio_PKCS8PrivateKey(key_out, key, NULL, NULL, 0, NULL, NULL) != 1) {
		return tls_fault(ret_fault, FAULT_FATAL, "writing a certificate");
	}
	ret_pair->cert_pem = tls_bio_text(cert_out);
	ret_pair->key_pem = tls_bio_text(key_out);
	return 0;
}

static int tls_spec_check(const struct tls_spec *spec, struct fault *ret_fault)
{
	ERR_clear_error();
	/* 64 is X.509's own bound for a common name. */
	if (text_empty(spec->common_name) || strlen(spec->common_name) > 64) {
		return fault_set(ret_fault, FAULT_INVALID, "a common name has 1 to 64 bytes");
	}
	if (spec->days < 1 || spec->days > DAYS_MAX) {
		return fault_set(
			ret_fault, FAULT_INVALID, "a certificate lives 1 to %d days", DAYS_MAX);
	}
	if (spec->name_count > TLS_NAMES_MAX) {
		return fault_set(ret_fault, FAULT_INVALID, "more than %d names", TLS_NAMES_MAX);
	}
	for (size_t i = 0; i < spec->name_count; i++) {
		if (text_empty(spec->names[i]) || strlen(spec->names[i]) > NAME_MAX_LEN) {
			return fault_set(
				ret_fault, FAULT_INVALID, "a name has 1 to %d bytes", NAME_MAX_LEN);
		}
	}
	return 0;
}

int tls_authority_create(
	const struct tls_spec *spec, struct tls_pair *ret_pair, struct fault *ret_fault)
{
	static const struct extension extensions[] = {
		{NID_basic_constraints, "critical,CA:TRUE,pathlen:0"},
		{NID_key_usage, "critical,keyCertSign,cRLSign"},
		{NID_subject_key_identifier, "hash"},
	};
	if (tls_spec_check(spec, ret_fault) != 0) {
		return -1;
	}
	EVP_PKEY *key CLEANUP(tls_key_cleanup) = EVP_EC_gen("P-256");
	X509 *cert CLEANUP(tls_cert_cleanup) = key != NULL ? cert_begin(spec, key, NULL) : NULL;
	if (cert == NULL || !extensions_add(cert, cert, extensions, COUNT_OF(extensions)) ||
		X509_sign(cert, key, EVP_sha256()) == 0) {
		return tls_fault(ret_fault, FAULT_FATAL, "creating an authority");
	}
	return pair_write(cert, key, ret_pair, ret_fault);
}

static X509 *tls_leaf_make(const struct tls_identity *ca, const struct tls_spec *spec,
	EVP_PKEY *key, struct fault *ret_fault)
{
	const struct extension extensions[] = {
		{NID_basic_constraints, "critical,CA:FALSE"},
		{NID_key_usage, "critical,digitalSignature"},
		{NID_ext_key_usage, spec->client ? "clientAuth" : "serverAuth"},
		{NID_subject_key_identifier, "hash"},
		{NID_authority_key_identifier, "keyid:always"},
	};
	X509 *cert CLEANUP(tls_cert_cleanup) = key != NULL ? cert_begin(spec, key, ca->leaf) : NULL;
	GENERAL_NAMES *names CLEANUP(names_cleanup) = tls_alternatives(spec);
	if (cert == NULL || !extensions_add(cert, ca->leaf, extensions, COUNT_OF(extensions)) ||
		names == NULL ||
		(spec->name_count > 0 && X509_add1_ext_i2d(cert, NID_subject_alt_name, names, 0,
						 X509V3_ADD_DEFAULT) != 1) ||
		X509_sign(cert, ca->key, EVP_sha256()) == 0) {
		tls_fault(ret_fault, FAULT_FATAL, "issuing a certificate");
		return NULL;
	}
	return TAKE(cert);
}

static struct tls_identity *tls_authority_open(
	const struct tls_pair *authority, struct fault *ret_fault)
{
	struct tls_identity *ca =
		tls_identity_create(authority->cert_pem, authority->key_pem, ret_fault);
	if (ca == NULL) {
		fault_wrap(ret_fault, "authority");
		return NULL;
	}
	if (X509_check_ca(ca->leaf) != 1) {
		fault_set(ret_fault, FAULT_INVALID, "the issuer is not an authority");
		tls_identity_destroy(ca);
		return NULL;
	}
	return ca;
}

int tls_authority_check(const struct tls_pair *authority, int64_t wall_ms, struct fault *ret_fault)
{
	struct tls_validity v;
	struct tls_identity *ca = tls_authority_open(authority, ret_fault);
	if (ca == NULL) {
		return -1;
	}
	tls_identity_destroy(ca);
	if (tls_validity(authority->cert_pem, &v, ret_fault) < 0) {
		return -1;
	}
	if (wall_ms < v.not_before_ms) {
		return fault_set(ret_fault, FAULT_INVALID, "authority: its time has not begun");
	}
	return wall_ms < v.not_after_ms
		       ? 0
		       : fault_set(ret_fault, FAULT_INVALID, "authority: its time is over");
}

int tls_leaf_issue(const struct tls_pair *authority, const struct tls_spec *spec,
	struct tls_pair *ret_pair, struct fault *ret_fault)
{
	if (tls_spec_check(spec, ret_fault) != 0) {
		return -1;
	}
	if (spec->name_count == 0 && !spec->client) {
		return fault_set(ret_fault, FAULT_INVALID, "a server's certificate needs a name");
	}
	struct tls_identity *ca = tls_authority_open(authority, ret_fault);
	if (ca == NULL) {
		return -1;
	}
	EVP_PKEY *key CLEANUP(tls_key_cleanup) = EVP_EC_gen("P-256");
	X509 *cert CLEANUP(tls_cert_cleanup) = tls_leaf_make(ca, spec, key, ret_fault);
	tls_identity_destroy(ca);
	return cert != NULL ? pair_write(cert, key, ret_pair, ret_fault) : -1;
}

/* --- asking --- */

static bool csr_alternatives_add(X509_REQ *request, const struct tls_spec *spec)
{
	GENERAL_NAMES *names CLEANUP(names_cleanup) = tls_alternatives(spec);
	STACK_OF(X509_EXTENSION) * list CLEANUP(extensions_cleanup) = NULL;
	return names != NULL &&
	       X509V3_add1_i2d(&list, NID_subject_alt_name, names, 0, X509V3_ADD_DEFAULT) == 1 &&
	       X509_REQ_add_extensions(request, list) == 1;
}

static X509_REQ *request_make(const struct tls_spec *spec, EVP_PKEY *key)
{
	X509_REQ *request CLEANUP(request_cleanup) = X509_REQ_new();
	if (key == NULL || request == NULL || X509_REQ_set_version(request, 0) != 1 ||
		!tls_name_set(X509_REQ_get_subject_name(request), spec->common_name) ||
		X509_REQ_set_pubkey(request, key) != 1 || !csr_alternatives_add(request, spec) ||
		X509_REQ_sign(request, key, EVP_sha256()) == 0) {
		return NULL;
	}
	return TAKE(request);
}

int tls_request_create(
	const struct tls_spec *spec, struct tls_pair *ret_pair, struct fault *ret_fault)
{
	if (tls_spec_check(spec, ret_fault) != 0) {
		return -1;
	}
	EVP_PKEY *key CLEANUP(tls_key_cleanup) = EVP_EC_gen("P-256");
	X509_REQ *request CLEANUP(request_cleanup) = request_make(spec, key);
	BIO *out CLEANUP(tls_bio_cleanup) = BIO_new(BIO_s_mem());
	BIO *key_out CLEANUP(tls_bio_cleanup) = BIO_new(BIO_s_secmem());
	if (request == NULL || out == NULL || key_out == NULL ||
		PEM_write_bio_X509_REQ(out, request) != 1 ||
		PEM_write_bio_PKCS8PrivateKey(key_out, key, NULL, NULL, 0, NULL, NULL) != 1) {
		return tls_fault(ret_fault, FAULT_FATAL, "making a certificate request");
	}
	ret_pair->cert_pem = tls_bio_text(out);
	ret_pair->key_pem = tls_bio_text(key_out);
	return 0;
}

/* --- what is asked for --- */

static X509_REQ *request_parse(const char *pem, struct fault *ret_fault)
{
	if (pem == NULL || strnlen(pem, TLS_REQUEST_MAX + 1) > TLS_REQUEST_MAX) {
		fault_set(ret_fault, FAULT_DENIED,
			"the request is missing, or longer than %zu bytes", TLS_REQUEST_MAX);
		return NULL;
	}
	BIO *in CLEANUP(tls_bio_cleanup) = tls_text_open(pem, "request", ret_fault);
	X509_REQ *request =
		in != NULL ? PEM_read_bio_X509_REQ(in, NULL, tls_no_passphrase, NULL) : NULL;
	if (request == NULL && in != NULL) {
		tls_fault(ret_fault, FAULT_DENIED, "the request does not parse");
	}
	return request;
}

/* As ours are, and nothing that would take long to work with. */
static bool key_is_ours(EVP_PKEY *key)
{
	char group[32];
	size_t n;
	return key != NULL && EVP_PKEY_is_a(key, "EC") == 1 &&
	       EVP_PKEY_get_group_name(key, group, sizeof group, &n) == 1 &&
	       text_equals(group, "prime256v1");
}

static bool text_is(const ASN1_STRING *text, const char *wanted)
{
	size_t n = strlen(wanted);
	return text != NULL && (size_t)ASN1_STRING_length(text) == n &&
	       memcmp(ASN1_STRING_get0_data(text), wanted, n) == 0;
}

static bool subject_is(const X509_NAME *subject, const char *common_name)
{
	const X509_NAME_ENTRY *only =
		X509_NAME_entry_count(subject) == 1 ? X509_NAME_get_entry(subject, 0) : NULL;
	return only != NULL && OBJ_obj2nid(X509_NAME_ENTRY_get_object(only)) == NID_commonName &&
	       text_is(X509_NAME_ENTRY_get_data(only), common_name);
}

static bool names_are(const GENERAL_NAMES *names, const struct tls_spec *spec)
{
	if (names == NULL || (size_t)sk_GENERAL_NAME_num(names) != spec->name_count) {
		return false;
	}
	for (size_t i = 0; i < spec->name_count; i++) {
		const GENERAL_NAME *name = sk_GENERAL_NAME_value(names, (int)i);
		if (name->type != GEN_DNS || !text_is(name->d.dNSName, spec->names[i])) {
			return false;
		}
	}
	return true;
}

static int extensions_check(X509_REQ *request, const struct tls_spec *spec, struct fault *ret_fault)
{
	STACK_OF(X509_EXTENSION) * list CLEANUP(extensions_cleanup) =
		X509_REQ_get_extensions(request);
	/* Without CRIT a second one of the kind is a failure, too. */
	GENERAL_NAMES *names CLEANUP(names_cleanup) =
		list != NULL ? X509V3_get_d2i(list, NID_subject_alt_name, NULL, NULL) : NULL;
	if (list == NULL || X509_REQ_get_attr_count(request) != 1 ||
		sk_X509_EXTENSION_num(list) != 1) {
		return fault_set(ret_fault, FAULT_DENIED,
			"the request asks for more, or for less, than alternative names");
	}
	return names_are(names, spec)
		       ? 0
		       : fault_set(ret_fault, FAULT_DENIED,
				 "the request asks for other names than %s", spec->names[0]);
}

static int csr_check(X509_REQ *request, const struct tls_spec *spec, struct fault *ret_fault)
{
	EVP_PKEY *key = X509_REQ_get0_pubkey(request);
	if (!key_is_ours(key)) {
		return fault_set(ret_fault, FAULT_DENIED, "its key is not ECDSA on P-256");
	}
	if (!subject_is(X509_REQ_get_subject_name(request), spec->common_name)) {
		return fault_set(ret_fault, FAULT_DENIED,
			"the request asks for another subject than CN=%s", spec->common_name);
	}
	if (extensions_check(request, spec, ret_fault) != 0) {
		return -1;
	}
	return X509_REQ_verify(request, key) == 1
		       ? 0
		       : fault_set(ret_fault, FAULT_DENIED,
				 "the request is not signed by the key that it is for");
}

static X509_REQ *request_open(const char *pem, const struct tls_spec *spec, struct fault *ret_fault)
{
	if (tls_spec_check(spec, ret_fault) != 0) {
		return NULL;
	}
	if (spec->name_count == 0) {
		fault_set(ret_fault, FAULT_INVALID, "a server's certificate needs a name");
		return NULL;
	}
	X509_REQ *request CLEANUP(request_cleanup) = request_parse(pem, ret_fault);
	int rc = request != NULL ? csr_check(request, spec, ret_fault) : -1;
	ERR_clear_error();
	return rc == 0 ? TAKE(request) : NULL;
}

int tls_request_check(const char *request_pem, const struct tls_spec *spec, struct fault *ret_fault)
{
	X509_REQ *request CLEANUP(request_cleanup) = request_open(request_pem, spec, ret_fault);
	return request != NULL ? 0 : -1;
}

int tls_request_sign(const struct tls_pair *authority, const char *request_pem,
	const struct tls_spec *spec, char **ret_cert_pem, struct fault *ret_fault)
{
	X509_REQ *request CLEANUP(request_cleanup) = request_open(request_pem, spec, ret_fault);
	struct tls_identity *ca = request != NULL ? tls_authority_open(authority, ret_fault) : NULL;
	if (ca == NULL) {
		return -1;
	}
	X509 *cert CLEANUP(tls_cert_cleanup) =
		tls_leaf_make(ca, spec, X509_REQ_get0_pubkey(request), ret_fault);
	BIO *out CLEANUP(tls_bio_cleanup) = BIO_new(BIO_s_mem());
	tls_identity_destroy(ca);
	if (cert == NULL) {
		return -1;
	}
	if (out == NULL || PEM_write_bio_X509(out, cert) != 1) {
		return tls_fault(ret_fault, FAULT_FATAL, "writing a certificate");
	}
	*ret_cert_pem = tls_bio_text(out);
	return 0;
}
