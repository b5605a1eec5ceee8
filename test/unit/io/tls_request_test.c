/* Certificate requests: what is signed, and what is refused because it asks for something else. */
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/x509v3.h>

#include "harness.h"

TestSuite(tls_request, .fini = expect_no_leak);

#define NAME "0123.aliquot-agent.aliquot-system.svc"

static const char *const our_names[] = {NAME};

static struct tls_spec our_spec(void)
{
	return (struct tls_spec){.common_name = "aliquot-agent",
		.names = our_names,
		.name_count = 1,
		.days = 1,
		.lifetime_ms = 3600 * 1000,
		.wall_ms = clock_wall(&clock_system)};
}

/* A request as somebody else would make it: these extensions in OpenSSL's configuration syntax. */
struct wish {
	const char *subject[2]; /* of CN; the second may be absent */
	const char *names;	/* NULL: no extension */
	const char *more;	/* basicConstraints; NULL: none */
	const char *names_again;
	bool rsa, p384, unsigned_by_it;
};

static EVP_PKEY *key_of(const struct wish *w)
{
	return w->rsa ? EVP_RSA_gen(2048) : EVP_EC_gen(w->p384 ? "P-384" : "P-256");
}

static void extension_push(STACK_OF(X509_EXTENSION) * list, int nid, const char *value)
{
	if (value != NULL) {
		X509_EXTENSION *x = X509V3_EXT_conf_nid(NULL, NULL, nid, value);
		cr_assert(x != NULL);
		sk_X509_EXTENSION_push(list, x);
	}
}

static char *request_of(const struct wish *w)
{
	EVP_PKEY *key = key_of(w), *other = EVP_EC_gen("P-256");
	X509_REQ *r = X509_REQ_new();
	STACK_OF(X509_EXTENSION) *list = sk_X509_EXTENSION_new_null();
	BIO *out = BIO_new(BIO_s_mem());
	char *p;

	for (size_t i = 0; i < 2 && w->subject[i] != NULL; i++) {
		X509_NAME_add_entry_by_txt(X509_REQ_get_subject_name(r), "CN", MBSTRING_UTF8,
			(const unsigned char *)w->subject[i], -1, -1, 0);
	}
	extension_push(list, NID_subject_alt_name, w->names);
	extension_push(list, NID_subject_alt_name, w->names_again);
	extension_push(list, NID_basic_constraints, w->more);
	if (sk_X509_EXTENSION_num(list) > 0) {
		X509_REQ_add_extensions(r, list);
	}
	X509_REQ_set_pubkey(r, key);
	cr_assert(X509_REQ_sign(r, w->unsigned_by_it ? other : key, EVP_sha256()) > 0);
	cr_assert(PEM_write_bio_X509_REQ(out, r) == 1);
	long n = BIO_get_mem_data(out, &p);
	char *text = xstrndup(p, (size_t)n);
	BIO_free(out);
	sk_X509_EXTENSION_pop_free(list, X509_EXTENSION_free);
	X509_REQ_free(r);
	EVP_PKEY_free(key);
	EVP_PKEY_free(other);
	return text;
}

Test(tls_request, what_we_ask_for_is_signed_and_fits_the_key)
{
	struct tls_pair ca CLEANUP(tls_pair_finish) = test_authority("a");
	struct tls_pair asked CLEANUP(tls_pair_finish) = {0};
	struct tls_spec spec = our_spec();
	char *cert CLEANUP(cleanup_free) = NULL;
	struct tls_validity v;
	struct fault f = {0};

	cr_assert(tls_request_create(&spec, &asked, &f) == 0, "%s", f.message);
	cr_assert(strlen(asked.cert_pem) < 1024);
	cr_assert(tls_request_sign(&ca, asked.cert_pem, &spec, &cert, &f) == 0, "%s", f.message);
	struct tls_check check = {ca.cert_pem, cert, NAME, spec.wall_ms};
	cr_assert(tls_verify(&check, &f) == 0, "%s", f.message);
	check.name = "4567.aliquot-agent.aliquot-system.svc";
	cr_assert(tls_verify(&check, &f) < 0, "of another node");
	check.name = "aliquot-agent.aliquot-system.svc";
	cr_assert(tls_verify(&check, &f) < 0, "of all nodes");
	cr_assert(tls_validity(cert, &v, &f) == 0);
	cr_assert(v.not_after_ms - spec.wall_ms <= 3600 * 1000 &&
		  v.not_after_ms - spec.wall_ms > 3590 * 1000);
	struct tls_identity *identity = tls_identity_create(cert, asked.key_pem, &f);
	cr_assert(identity != NULL, "%s", f.message);
	tls_identity_destroy(identity);
}

Test(tls_request, each_has_a_key_of_its_own)
{
	struct tls_pair a CLEANUP(tls_pair_finish) = {0}, b CLEANUP(tls_pair_finish) = {0};
	struct tls_spec spec = our_spec();

	cr_assert(tls_request_create(&spec, &a, NULL) == 0 &&
		  tls_request_create(&spec, &b, NULL) == 0);
	cr_assert(strcmp(a.key_pem, b.key_pem) != 0);
}

static const struct {
	struct wish wish;
	const char *why; /* NULL: nothing is */
} wishes[] = {
	{{.subject = {"aliquot-agent"}, .names = "DNS:" NAME}, NULL},
	{{.subject = {"system:admin"}, .names = "DNS:" NAME}, "another subject"},
	{{.subject = {NULL}, .names = "DNS:" NAME}, "another subject"},
	{{.subject = {"aliquot-agent", "more"}, .names = "DNS:" NAME}, "another subject"},
	{{.subject = {"aliquot-agent"}, .names = "DNS:4567.aliquot-agent.aliquot-system.svc"},
		"other names"},
	{{.subject = {"aliquot-agent"},
		 .names = "DNS:" NAME ",DNS:aliquot-webhook.aliquot-system.svc"},
		"other names"},
	{{.subject = {"aliquot-agent"}, .names = "IP:10.0.0.1"}, "other names"},
	{{.subject = {"aliquot-agent"}, .names = "URI:" NAME}, "other names"},
	{{.subject = {"aliquot-agent"}}, "more, or for less"},
	{{.subject = {"aliquot-agent"}, .names = "DNS:" NAME, .more = "CA:TRUE"},
		"more, or for less"},
	{{.subject = {"aliquot-agent"}, .more = "CA:TRUE"}, "other names"},
	{{.subject = {"aliquot-agent"}, .names = "DNS:" NAME, .names_again = "DNS:b"},
		"more, or for less"},
	{{.subject = {"aliquot-agent"}, .names = "DNS:" NAME, .rsa = true}, "its key"},
	{{.subject = {"aliquot-agent"}, .names = "DNS:" NAME, .p384 = true}, "its key"},
	{{.subject = {"aliquot-agent"}, .names = "DNS:" NAME, .unsigned_by_it = true},
		"not signed by the key"},
};

Test(tls_request, nothing_else_is_signed)
{
	struct tls_pair ca CLEANUP(tls_pair_finish) = test_authority("a");
	struct tls_spec spec = our_spec();

	for (size_t i = 0; i < COUNT_OF(wishes); i++) {
		char *text CLEANUP(cleanup_free) = request_of(&wishes[i].wish);
		char *cert CLEANUP(cleanup_free) = NULL;
		struct fault f = {0};
		int rc = tls_request_sign(&ca, text, &spec, &cert, &f);
		cr_expect_eq(rc, wishes[i].why == NULL ? 0 : -1, "%zu: %s", i, f.message);
		cr_expect(rc == 0 || (f.kind == FAULT_DENIED &&
					     strstr(f.message, wishes[i].why) != NULL),
			"%zu: %s", i, f.message);
		cr_expect_eq(cert != NULL, rc == 0);
		cr_expect_eq(tls_request_check(text, &spec, &f), rc);
	}
	cr_expect_eq(ERR_peek_error(), 0);
}

Test(tls_request, what_is_no_request_or_a_huge_one_is_refused)
{
	struct tls_pair ca CLEANUP(tls_pair_finish) = test_authority("a");
	struct tls_spec spec = our_spec();
	char huge[TLS_REQUEST_MAX + 2];
	struct fault f;

	memset(huge, 'A', sizeof huge);
	huge[sizeof huge - 1] = '\0';
	cr_expect(tls_request_check(huge, &spec, &f) < 0 && f.kind == FAULT_DENIED);
	cr_expect(strstr(f.message, "longer") != NULL, "%s", f.message);
	cr_expect(tls_request_check(NULL, &spec, &f) < 0 && f.kind == FAULT_DENIED);
	cr_expect(tls_request_check("", &spec, &f) < 0);
	cr_expect(tls_request_check(ca.cert_pem, &spec, &f) < 0, "a certificate is none");
	cr_expect(tls_request_check("-----BEGIN CERTIFICATE REQUEST-----\nAAAA\n"
				    "-----END CERTIFICATE REQUEST-----\n",
			  &spec, &f) < 0);
	cr_expect_eq(ERR_peek_error(), 0);
}
