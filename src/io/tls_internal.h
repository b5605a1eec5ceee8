/* What the files of this room share about certificates. */
#ifndef IO_TLS_INTERNAL_H
#define IO_TLS_INTERNAL_H

#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include "io/tls.h"

struct tls_identity {
	X509 *leaf;		/* owned */
	STACK_OF(X509) * chain; /* owned; without the leaf */
	EVP_PKEY *key;		/* owned */
};

/* For CLEANUP. */
void tls_cert_cleanup(X509 **slot);
void tls_chain_cleanup(STACK_OF(X509) * *slot);
void tls_key_cleanup(EVP_PKEY **slot);
void tls_bio_cleanup(BIO **slot);

/* Every certificate of a PEM text; at least one. NULL on failure. Owned by the caller. */
STACK_OF(X509) * tls_chain_parse(const char *pem, const char *what, struct fault *ret_fault);
EVP_PKEY *tls_key_parse(const char *pem, struct fault *ret_fault);

/* tls_issue.c: what leaves and requests for them have in common. NULL, or false, on failure. */
int tls_spec_check(const struct tls_spec *spec, struct fault *ret_fault);
bool tls_name_set(X509_NAME *name, const char *common_name);
GENERAL_NAMES *tls_alternatives(const struct tls_spec *spec); /* the caller's */
struct tls_identity *tls_authority_open(const struct tls_pair *authority, struct fault *ret_fault);
X509 *tls_leaf_make(const struct tls_identity *ca, const struct tls_spec *spec, EVP_PKEY *key,
	struct fault *ret_fault);
char *tls_bio_text(BIO *bio);
BIO *tls_text_open(const char *pem, const char *what, struct fault *ret_fault);
/* A key that asks for a passphrase must not make a daemon prompt on its terminal. */
int tls_no_passphrase(char *buffer, int size, int writing, void *data);

/* Fails with OpenSSL's oldest queued reason appended, and empties the queue. Returns -1. */
int tls_fault(struct fault *f, enum fault_kind kind, const char *what);
/* The same text, for a log line; static storage of OpenSSL. */
const char *tls_reason(void);

#endif
