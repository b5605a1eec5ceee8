/* The certificate that all agents share, in a Secret of its own that holds nothing else
 * (docs/design/certificates.md). The leader issues it with the authority that the webhook's leaf
 * has; one pass reads the Secret and writes at most once.
 *
 * Whoever asks an agent trusts every authority of ours before it issues anything, so a leaf of the
 * new one may be stored at once; one of the former is replaced in the next pass, a day before that
 * one is forgotten. */
#ifndef CERTIFICATES_AGENT_LEAF_H
#define CERTIFICATES_AGENT_LEAF_H

#include <stdint.h>

#include "kube/client.h"

struct agent_leaf;

/* `kube` and `ns`, the namespace of agents and so of the Secret, are borrowed. */
struct agent_leaf *agent_leaf_create(struct kube *kube, const char *ns);
void agent_leaf_destroy(struct agent_leaf *a); /* NULL is fine */
/* The authority, offered by a leader each time it has read it and found that it can issue: a pass,
 * if one is due. What it needs of the authority is copied and wiped after the pass. */
void agent_leaf_offer(struct agent_leaf *a, const char *ca_cert, const char *ca_key, int64_t now);

#endif
