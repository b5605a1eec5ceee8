/* Our authority and the serving certificate (one Secret), and the caBundle of the webhook
 * configuration.
 *
 * Every replica reads the Secret and serves its leaf; only the leader writes. One pass reads both
 * objects and does at most one write, the first that is due in this order, so that a crash between
 * two passes loses nothing:
 *   1 an authority, where there is none; what replicas serve meanwhile stays trusted
 *   2 the caBundle: the authority and the one that is coming or going
 *   3 a leaf, where none fits the authority or its time is near, and only once the caBundle was
 *     seen to hold its issuer
 *   4 the next authority, when the present one has a third of its life left
 *   5 the change of authorities, a minute after the bundle was published
 *   6 the end of the former one, a day after
 */
#ifndef CERTIFICATES_CERTS_H
#define CERTIFICATES_CERTS_H

#include <stdbool.h>

#include "base/part.h"
#include "io/tls_issue.h"
#include "kube/client.h"
#include "model/labels.h"

struct certs;

/* `agent_ns`: the namespace of agents, NULL: ours; `extra_names`: of the leaf, comma separated,
 * NULL: none; both borrowed. `on_identity`: a leaf to serve from now on. */
struct certs *certs_create(struct kube *kube, const char *agent_ns, const char *extra_names,
	void (*on_identity)(void *data, const struct tls_identity *identity), void *data);
extern const struct part certs_part;
/* Every authority of ours that is, was or will be one, as last read; NULL: none was read yet.
 * Borrowed until the next step. */
const char *certs_trust(const struct certs *c);
/* Does the webhook see pods of a namespace with these labels, as last read? */
bool certs_sees(const struct certs *c, const struct pairs *labels);
bool certs_published(const struct certs *c); /* the webhook configuration trusts it, as last seen */

#endif
