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

#endif
