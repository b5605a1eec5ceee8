/* The agent's own key and certificate, in memory alone: it makes a key, asks for a certificate of
 * its node by a CertificateSigningRequest, and again with a new key when two thirds of its time are
 * over (docs/design/certificates.md). What is refused is asked for again after a pause that grows.
 */
#ifndef AGENT_OWN_KEY_H
#define AGENT_OWN_KEY_H

#include <stdint.h>

#include "io/tls_issue.h"
#include "kube/client.h"

#define OWN_KEY_LIFETIME_S 86400

struct own_key;
struct own_key_config {
	struct kube *kube; /* borrowed, as the next two */
	const char *node;
	/* To show from now on; it dies with the call. */
	void (*on_identity)(void *data, const struct tls_identity *identity);
	void *data;
	uint64_t seed;
};

struct own_key *own_key_create(const struct own_key_config *config);
void own_key_destroy(struct own_key *k); /* NULL is fine */
void own_key_step(struct own_key *k, int64_t now_mono_ms);
int64_t own_key_deadline(const struct own_key *k);
/* For people: what keeps a certificate from coming; "" where nothing was said. */
const char *own_key_why(const struct own_key *k);

#endif
