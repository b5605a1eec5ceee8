/* Certificates and keys as texts, and the identity that a server shows.
 *
 * PEM texts from outside are limited to TLS_PEM_MAX bytes and TLS_CHAIN_MAX certificates. Private
 * keys are never logged. Owner: every pair and identity belongs to whoever asked for it. Fails with
 * FAULT_INVALID for texts that do not parse or do not fit together, FAULT_DENIED where a
 * certificate does not verify, FAULT_FATAL where OpenSSL itself fails. */
#ifndef IO_TLS_PEM_H
#define IO_TLS_PEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"
#include "base/str.h"

#define TLS_PEM_MAX	((size_t)1024 * 1024)
#define TLS_CHAIN_MAX	512 /* certificates in one text: the system's bundles have about 150 */
#define TLS_NAMES_MAX	32
#define TLS_BACKDATE_MS ((int64_t)5 * 60 * 1000)

struct tls_pair {
	char *cert_pem; /* owned */
	char *key_pem;	/* owned */
};
void tls_pair_finish(struct tls_pair *p);

/* What a server shows: a chain, leaf first, and the key that fits the leaf. */
struct tls_identity;
struct tls_identity *tls_identity_create(
	const char *cert_pem, const char *key_pem, struct fault *ret_fault);
void tls_identity_destroy(struct tls_identity *i);
int64_t tls_identity_not_after_ms(const struct tls_identity *i); /* of the leaf */

/* The validity of the first certificate in the text. */
struct tls_validity {
	int64_t not_before_ms, not_after_ms;
};
int tls_validity(const char *cert_pem, struct tls_validity *ret_validity, struct fault *ret_fault);
/* How many certificates are in the text; every one must parse. */
int tls_count(const char *pem, size_t *ret_count, struct fault *ret_fault);
/* The common name of the first certificate's subject, or "unknown". */
#define TLS_NAME_TEXT_MAX 128
const char *tls_subject(const char *cert_pem, char buffer[TLS_NAME_TEXT_MAX]);
/* Would a client that trusts bundle_pem accept cert_pem (chain included) for this name at this
 * time? name NULL: any. */
struct tls_check {
	const char *bundle_pem, *cert_pem, *name;
	int64_t wall_ms;
};
int tls_verify(const struct tls_check *check, struct fault *ret_fault);

/* Both authorities in one text, each certificate once: what a caBundle holds while a rotation
 * lasts. NULL texts are empty. Appends to out. */
int tls_bundle_concat(
	const char *a_pem, const char *b_pem, struct str *out, struct fault *ret_fault);

#endif
