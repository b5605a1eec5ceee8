/* Certificates: what our authority issues, what verifies, what is refused. */
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include "harness.h"

TestSuite(tls, .fini = expect_no_leak);

#define DAY_MS ((int64_t)24 * 3600 * 1000)

static X509 *parse(const char *pem)
{
	BIO *in = BIO_new_mem_buf(pem, -1);
	X509 *cert = PEM_read_bio_X509(in, NULL, NULL, NULL);

	BIO_free(in);
	cr_assert(cert != NULL);
	return cert;
}

Test(tls, authority_is_one_and_can_do_nothing_else)
{
	struct tls_pair ca CLEANUP(tls_pair_finish) = test_authority("test authority");
	X509 *cert = parse(ca.cert_pem);

	cr_assert(X509_check_ca(cert) == 1);
	cr_assert(X509_get_pathlen(cert) == 0);
	cr_assert(X509_get_key_usage(cert) == (KU_KEY_CERT_SIGN | KU_CRL_SIGN));
	int at = X509_get_ext_by_NID(cert, NID_basic_constraints, -1);
	cr_assert(at >= 0 && X509_EXTENSION_get_critical(X509_get_ext(cert, at)));
	cr_assert(X509_get0_subject_key_id(cert) != NULL);
	char name[TLS_NAME_TEXT_MAX];
	cr_assert_str_eq(tls_subject(ca.cert_pem, name), "test authority");
	X509_free(cert);
}

Test(tls, leaf_has_the_extensions_that_clients_look_for)
{
	const char *names[] = {"aliquot-webhook.aliquot-system.svc", "10.0.0.1", "fd00::1"};
	struct tls_pair ca CLEANUP(tls_pair_finish) = test_authority("a");
	struct tls_pair leaf CLEANUP(tls_pair_finish) = {0};
	struct tls_spec spec = {.common_name = "leaf",
		.names = names,
		.name_count = 3,
		.days = 10,
		.wall_ms = clock_wall(&clock_system)};
	struct fault f;

	cr_assert(tls_leaf_issue(&ca, &spec, &leaf, &f) == 0);
	X509 *cert = parse(leaf.cert_pem), *issuer = parse(ca.cert_pem);
	cr_assert(X509_check_ca(cert) == 0);
	cr_assert(X509_get_key_usage(cert) == KU_DIGITAL_SIGNATURE);
	cr_assert(X509_get_extended_key_usage(cert) == XKU_SSL_SERVER);
	cr_assert(ASN1_OCTET_STRING_cmp(
			  X509_get0_authority_key_id(cert), X509_get0_subject_key_id(issuer)) == 0);
	for (int i = 0; i < 3; i++) {
		struct tls_check check = {ca.cert_pem, leaf.cert_pem, names[i], spec.wall_ms};
		cr_assert(tls_verify(&check, &f) == 0, "%s: %s", names[i], f.message);
	}
	cr_assert(ASN1_STRING_length(X509_get0_serialNumber(cert)) == 16);
	X509_free(cert);
	X509_free(issuer);
}

Test(tls, verifies_names_times_and_authorities)
{
	struct tls_pair ca CLEANUP(tls_pair_finish) = test_authority("a");
	struct tls_pair other CLEANUP(tls_pair_finish) = test_authority("a");
	struct tls_pair leaf CLEANUP(tls_pair_finish) = test_leaf(&ca, "one.example");
	int64_t now = clock_wall(&clock_system);
	struct fault f;
	struct tls_check good = {ca.cert_pem, leaf.cert_pem, "one.example", now};
	struct tls_check any = {ca.cert_pem, leaf.cert_pem, NULL, now};
	struct tls_check name = {ca.cert_pem, leaf.cert_pem, "two.example", now};
	struct tls_check authority = {other.cert_pem, leaf.cert_pem, "one.example", now};
	struct tls_check late = {ca.cert_pem, leaf.cert_pem, "one.example", now + 11 * DAY_MS};
	struct tls_check early = {
		ca.cert_pem, leaf.cert_pem, "one.example", now - 2 * TLS_BACKDATE_MS};
	struct tls_check skewed = {
		ca.cert_pem, leaf.cert_pem, "one.example", now - TLS_BACKDATE_MS + 5000};

	cr_assert(tls_verify(&good, &f) == 0);
	cr_assert(tls_verify(&any, &f) == 0);
	cr_assert(tls_verify(&skewed, &f) == 0, "%s", f.message);
	cr_assert(tls_verify(&name, &f) == -1 && f.kind == FAULT_DENIED);
	cr_assert(tls_verify(&authority, &f) == -1 && f.kind == FAULT_DENIED);
	cr_assert(tls_verify(&late, &f) == -1 && f.kind == FAULT_DENIED);
	cr_assert(strstr(f.message, "expired") != NULL, "%s", f.message);
	cr_assert(tls_verify(&early, &f) == -1 && f.kind == FAULT_DENIED);
	cr_assert(ERR_peek_error() == 0, "a stale error is left behind");
}

Test(tls, leaf_never_outlives_its_authority)
{
	struct tls_pair ca CLEANUP(tls_pair_finish) = test_authority("a"); /* 30 days */
	struct tls_pair leaf CLEANUP(tls_pair_finish) = {0};
	const char *name = "a.example";
	struct tls_spec spec = {.common_name = "a",
		.names = &name,
		.name_count = 1,
		.days = 400,
		.wall_ms = clock_wall(&clock_system)};
	struct tls_validity of_ca, of_leaf;
	struct fault f;

	cr_assert(tls_leaf_issue(&ca, &spec, &leaf, &f) == 0);
	cr_assert(tls_validity(ca.cert_pem, &of_ca, &f) == 0);
	cr_assert(tls_validity(leaf.cert_pem, &of_leaf, &f) == 0);
	cr_assert(of_leaf.not_after_ms == of_ca.not_after_ms);
	cr_assert(llabs(of_ca.not_after_ms - spec.wall_ms - 30 * DAY_MS) <= 2000);
	cr_assert(llabs(of_ca.not_before_ms - spec.wall_ms + TLS_BACKDATE_MS) <= 2000);
	struct tls_identity *i = test_identity(&leaf);
	cr_assert(tls_identity_not_after_ms(i) == of_leaf.not_after_ms);
	tls_identity_destroy(i);
}

Test(tls, a_leaf_cannot_issue)
{
	struct tls_pair ca CLEANUP(tls_pair_finish) = test_authority("a");
	struct tls_pair leaf CLEANUP(tls_pair_finish) = test_leaf(&ca, "a.example");
	struct tls_pair none = {0};
	const char *name = "b.example";
	struct tls_spec spec = {.common_name = "b",
		.names = &name,
		.name_count = 1,
		.days = 1,
		.wall_ms = clock_wall(&clock_system)};
	struct fault f;

	cr_assert(tls_leaf_issue(&leaf, &spec, &none, &f) == -1 && f.kind == FAULT_INVALID);
	cr_assert(none.cert_pem == NULL && none.key_pem == NULL);
}

/* What the leader finds in its Secret may be half of one rotation and half of another. */
Test(tls, an_authority_that_cannot_issue_is_told_from_one_that_can)
{
	struct tls_pair ca CLEANUP(tls_pair_finish) = test_authority("a"); /* 30 days */
	struct tls_pair other CLEANUP(tls_pair_finish) = test_authority("a");
	struct tls_pair leaf CLEANUP(tls_pair_finish) = test_leaf(&ca, "a.example");
	struct tls_pair mixed = {ca.cert_pem, other.key_pem}, no_key = {ca.cert_pem, NULL};
	struct tls_pair nothing = {0}, junk = {(char *)(uintptr_t) "junk", ca.key_pem};
	int64_t now = clock_wall(&clock_system);
	struct fault f;

	cr_assert(tls_authority_check(&ca, now, &f) == 0, "%s", f.message);
	cr_assert(tls_authority_check(&mixed, now, &f) == -1 && f.kind == FAULT_INVALID);
	cr_assert(strstr(f.message, "does not belong") != NULL, "%s", f.message);
	cr_assert(tls_authority_check(&no_key, now, &f) == -1 && f.kind == FAULT_INVALID);
	cr_assert(tls_authority_check(&nothing, now, &f) == -1 && f.kind == FAULT_INVALID);
	cr_assert(tls_authority_check(&junk, now, &f) == -1 && f.kind == FAULT_INVALID);
	cr_assert(tls_authority_check(&leaf, now, &f) == -1 && f.kind == FAULT_INVALID);
	cr_assert(tls_authority_check(&ca, now + 31 * DAY_MS, &f) == -1);
	cr_assert(strstr(f.message, "is over") != NULL, "%s", f.message);
	cr_assert(tls_authority_check(&ca, now - 2 * TLS_BACKDATE_MS, &f) == -1);
	cr_assert(strstr(f.message, "not begun") != NULL, "%s", f.message);
	cr_assert(ERR_peek_error() == 0, "a stale error is left behind");
}

Test(tls, refuses_texts_that_do_not_fit_together)
{
	struct tls_pair ca CLEANUP(tls_pair_finish) = test_authority("a");
	struct tls_pair one CLEANUP(tls_pair_finish) = test_leaf(&ca, "one");
	struct tls_pair two CLEANUP(tls_pair_finish) = test_leaf(&ca, "two");
	struct fault f;
	char broken[4096];

	cr_assert(tls_identity_create(one.cert_pem, two.key_pem, &f) == NULL);
	cr_assert(f.kind == FAULT_INVALID && strstr(f.message, "does not belong") != NULL);
	cr_assert(tls_identity_create("", one.key_pem, &f) == NULL && f.kind == FAULT_INVALID);
	cr_assert(tls_identity_create(NULL, NULL, &f) == NULL && f.kind == FAULT_INVALID);
	cr_assert(tls_identity_create("nonsense", "nonsense", &f) == NULL);
	cr_assert(tls_identity_create(one.cert_pem, "nonsense", &f) == NULL);
	snprintf(broken, sizeof broken, "%s", one.cert_pem);
	broken[strlen(broken) / 2] = '!';
	cr_assert(tls_identity_create(broken, one.key_pem, &f) == NULL && f.kind == FAULT_INVALID);
	/* Damage after a good certificate is damage too. */
	struct str text CLEANUP(str_finish) = STR_INIT(10000);
	size_t count;
	str_append_text(&text, one.cert_pem);
	str_append_text(&text, broken);
	cr_assert(tls_count(str_text(&text), &count, &f) == -1 && f.kind == FAULT_INVALID);
	cr_assert(ERR_peek_error() == 0, "a stale error is left behind");
}

Test(tls, bounds_what_comes_from_outside)
{
	struct tls_pair ca CLEANUP(tls_pair_finish) = test_authority("a");
	struct str big CLEANUP(str_finish) = STR_INIT(2 * TLS_PEM_MAX);
	size_t count;
	struct fault f;

	while (big.len <= TLS_PEM_MAX) {
		str_append_text(&big, ca.cert_pem);
	}
	cr_assert(tls_count(str_text(&big), &count, &f) == -1 && f.kind == FAULT_INVALID);
	str_reset(&big);
	for (int i = 0; i <= TLS_CHAIN_MAX; i++) {
		str_append_text(&big, ca.cert_pem);
	}
	cr_assert(tls_count(str_text(&big), &count, &f) == -1 && f.kind == FAULT_INVALID);
	struct tls_spec spec = {.common_name = "", .days = 1, .wall_ms = 0};
	struct tls_pair none = {0};
	cr_assert(tls_authority_create(&spec, &none, &f) == -1 && f.kind == FAULT_INVALID);
	spec = (struct tls_spec){.common_name = "a", .days = 0, .wall_ms = 0};
	cr_assert(tls_authority_create(&spec, &none, &f) == -1 && f.kind == FAULT_INVALID);
}

Test(tls, joins_bundles_without_doubles)
{
	struct tls_pair a CLEANUP(tls_pair_finish) = test_authority("a");
	struct tls_pair b CLEANUP(tls_pair_finish) = test_authority("b");
	struct str both CLEANUP(str_finish) = STR_INIT(TLS_PEM_MAX);
	struct str again CLEANUP(str_finish) = STR_INIT(TLS_PEM_MAX);
	size_t count;
	struct fault f;

	cr_assert(tls_bundle_concat(a.cert_pem, b.cert_pem, &both, &f) == 0);
	cr_assert(tls_count(str_text(&both), &count, &f) == 0 && count == 2);
	cr_assert(tls_bundle_concat(str_text(&both), b.cert_pem, &again, &f) == 0);
	cr_assert_str_eq(str_text(&both), str_text(&again));
	str_reset(&again);
	cr_assert(tls_bundle_concat(NULL, b.cert_pem, &again, &f) == 0);
	cr_assert_str_eq(str_text(&again), b.cert_pem);
	cr_assert(
		tls_bundle_concat("junk", b.cert_pem, &again, &f) == -1 && f.kind == FAULT_INVALID);
	/* A leaf of either verifies against both. */
	struct tls_pair leaf CLEANUP(tls_pair_finish) = test_leaf(&b, "x");
	struct tls_check check = {str_text(&both), leaf.cert_pem, "x", clock_wall(&clock_system)};
	cr_assert(tls_verify(&check, &f) == 0);
}
