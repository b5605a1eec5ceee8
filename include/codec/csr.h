/* CertificateSigningRequest (certificates.k8s.io/v1), of our signer alone: what an agent asks for,
 * who the API server says that it is, and what became of it.
 *
 * FAULT_INVALID: it is none, or has no name or uid. What is missing or cannot be read of the rest
 * is NULL, 0 or false: whoever signs it refuses it by that. */
#ifndef CODEC_CSR_H
#define CODEC_CSR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/fault.h"
#include "base/str.h"
#include "json/slice.h"

#define CSR_GROUP_VERSION "certificates.k8s.io/v1"
#define CSR_RESOURCE	  "certificatesigningrequests"
#define CSR_PEM_MAX	  ((size_t)16 * 1024) /* of a request or a certificate; larger ones are NULL */

struct csr {
	const char *name, *uid, *resource_version;
	const char *signer;
	const char *username;
	const char *node;	 /* of the token that asked; NULL: it says none, or several */
	const char *request;	 /* PEM */
	const char *certificate; /* PEM; NULL: none so far */
	int64_t created_ms;
	int64_t lifetime_s;	/* that it asks for; 0: any */
	bool serves;		/* the usages are exactly "digital signature" and "server auth" */
	bool approved, refused; /* refused: denied or failed */
	const char *why;	/* of the refusal, for people */
};

MUST_CHECK int csr_decode(const char *json, size_t n, struct arena *arena, struct csr *ret_csr,
	struct fault *ret_fault);
/* What a watch needs of one. */
const struct slice_keep *csr_projection(void);

/* A new one of our signer, for a server. */
bool csr_write_new(struct str *out, const char *name, const char *request_pem, int64_t lifetime_s);
/* Merge patches with uid and resourceVersion as preconditions: of the subresource approval, and of
 * the status. `why` is for people. */
bool csr_write_verdict(struct str *out, const struct csr *csr, bool approve, const char *why);
bool csr_write_certificate(struct str *out, const struct csr *csr, const char *cert_pem);

#endif
