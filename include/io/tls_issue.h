/* An authority of our own, leaves issued by it, and requests for leaves: ECDSA P-256 with SHA-256;
 * random serials; not-before lies five minutes back, since clocks differ. Fails as io/tls_pem.h
 * says. */
#ifndef IO_TLS_ISSUE_H
#define IO_TLS_ISSUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "io/tls_pem.h"

struct tls_spec {
	const char *common_name;
	const char *const *names; /* DNS names and IP addresses; a leaf needs one */
	size_t name_count;
	int days;
	int64_t lifetime_ms; /* 0: the days */
	int64_t wall_ms;     /* now */
	bool client;	     /* a leaf for clientAuth instead of serverAuth */
};

/* A self-signed authority; names are ignored. */
int tls_authority_create(
	const struct tls_spec *spec, struct tls_pair *ret_pair, struct fault *ret_fault);
/* A leaf. It never outlives its authority. */
int tls_leaf_issue(const struct tls_pair *authority, const struct tls_spec *spec,
	struct tls_pair *ret_pair, struct fault *ret_fault);

/* A key, and as its certificate the request (PKCS #10) for the leaf of the spec, whose times are
 * ignored. */
int tls_request_create(
	const struct tls_spec *spec, struct tls_pair *ret_pair, struct fault *ret_fault);
/* The leaf of the spec for a key that somebody else keeps. Of the request only the key is taken,
 * and only where it asks for exactly the spec's names with a key as ours are: FAULT_DENIED says
 * what else it asks for. It comes from outside, and is limited to TLS_REQUEST_MAX bytes. */
#define TLS_REQUEST_MAX ((size_t)4096)
int tls_request_check(
	const char *request_pem, const struct tls_spec *spec, struct fault *ret_fault);
int tls_request_sign(const struct tls_pair *authority, const char *request_pem,
	const struct tls_spec *spec, char **ret_cert_pem, struct fault *ret_fault);

/* Can it issue a certificate that holds at this time: one that may issue, already valid and not
 * over, with the key that fits it? FAULT_INVALID says what is wrong. */
int tls_authority_check(const struct tls_pair *authority, int64_t wall_ms, struct fault *ret_fault);

#endif
