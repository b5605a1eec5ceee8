/* Certificate requests: one for a key of our own, and what somebody else's asks for. */
#include <openssl/err.h>
#include <openssl/pem.h>

#include "base/alloc.h"
#include "tls_internal.h"

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
