/* Signs what agents ask for: CertificateSigningRequests of the signer aliquot.dev/agent, which it
 * approves where judge.h has nothing against them, and denies otherwise
 * (docs/design/certificates.md).
 *
 * The leader alone: it watches the requests of that signer, has SIGNER_WAITING_MAX of them wait,
 * the newest of whoever asks, and works at one at a time, at most ten a second and six a minute of
 * one asker. Whatever is not answered stays a request; a crash between two writes loses nothing.
 * The authority's key is read for each, and wiped after it. */
#ifndef CERTIFICATES_SIGNER_H
#define CERTIFICATES_SIGNER_H

#include <stdint.h>

#include "base/part.h"
#include "kube/client.h"

#define SIGNER_WAITING_MAX 512

struct signer;

/* `kube` and `agent_ns`, the namespace of agents, are borrowed. */
struct signer *signer_create(struct kube *kube, const char *agent_ns, uint64_t seed);
/* Only a leader signs. What is under way when it does not lead any more is dropped. */
extern const struct part signer_part;

#endif
