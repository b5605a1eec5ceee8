/* Certificates as text: parsing, checking, joining. */
#ifndef IO_TLS_PEM_INSIDE_H
#define IO_TLS_PEM_INSIDE_H

#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include "io/tls_pem.h"

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
EVP_PKEY *tls_key_parse(const char *pem, struct fault *ret_fault);
BIO *tls_text_open(const char *pem, const char *what, struct fault *ret_fault);
void tls_store_add(X509_STORE *store, const STACK_OF(X509) * authorities);
/* A key that asks for a passphrase must not make a daemon prompt on its terminal. */
int tls_no_passphrase(char *buffer, int size, int writing, void *data);
/* Fails with OpenSSL's oldest queued reason appended, and empties the queue. Returns -1. */
int tls_fault(struct fault *f, enum fault_kind kind, const char *what);
/* OpenSSL's oldest queued reason, for a log line; its static storage. */
const char *tls_reason(void);
/* Every certificate of a PEM text; at least one. NULL on failure. Owned by the caller. */
STACK_OF(X509) * tls_chain_parse(const char *pem, const char *what, struct fault *ret_fault);

#endif
