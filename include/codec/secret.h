/* The Secret with our authority and serving certificate: its data are base64 of PEM texts.
 *
 * FAULT_INVALID: not a Secret. Keys that are absent, or hold what is no text, are NULL.
 */
#ifndef CODEC_SECRET_H
#define CODEC_SECRET_H

#include <stdbool.h>
#include <stddef.h>

#include "base/alloc.h"
#include "base/fault.h"
#include "base/str.h"
#include "model/labels.h"

struct secret {
	const char *resource_version;
	const char *ca_cert, *ca_key;
	const char *other_cert,
		*other_key; /* ca-next.*: the coming authority, or (without key) the former */
	const char *leaf_cert, *leaf_key;
};

MUST_CHECK int secret_decode(const char *json, size_t n, struct arena *arena,
	struct secret *ret_secret, struct fault *ret_fault);
/* Without the keys of authorities, for which who does not lead has no use. */
MUST_CHECK int secret_decode_leaf(const char *json, size_t n, struct arena *arena,
	struct secret *ret_secret, struct fault *ret_fault);
/* A merge patch that sets exactly these, with resource_version as precondition; NULL removes a key.
 */
bool secret_write_patch(struct str *out, const struct secret *secret);

/* The part of a MutatingWebhookConfiguration that we keep right. */
struct webhook_bundle {
	const char *resource_version;
	const char *bundle;	    /* PEM of our entry; "" if it has none */
	struct selector namespaces; /* whose pods it sees; absent, or not understood: all */
	bool found;
};
MUST_CHECK int webhook_decode(const char *json, size_t n, struct arena *arena,
	struct webhook_bundle *ret_bundle, struct fault *ret_fault);
/* A strategic merge patch of its caBundle. */
bool webhook_write_patch(struct str *out, const char *resource_version, const char *bundle);

#endif
