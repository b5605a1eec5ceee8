/* Leaves of our authority, as they lie in a Secret: whether one still does, and a new one. Private
 * keys come from the caller's arena, which is to be wiped. */
#ifndef CERTIFICATES_LEAF_H
#define CERTIFICATES_LEAF_H

#include "base/alloc.h"
#include "codec/secret.h"
#include "io/tls_issue.h"
#include "kube/client.h"

#define LEAF_DAYS 90
/* Thousandths of its life under which a certificate is replaced. */
#define LEAF_LEFT_MILLI 333

/* 0..1000: how much of its life a certificate has left; -1 if it cannot be read, is over or has not
 * begun, as one that was made by a clock far ahead of ours. */
int leaf_life(const char *cert_pem, int64_t wall_ms);
/* The Secret's leaf was issued by this authority for this name, with the key that lies beside it,
 * and has more than a third of its life left. */
bool leaf_fits(const struct secret *s, const struct tls_check *by);
/* Sets the Secret's leaf and key; says in the log why not. */
bool leaf_issue(struct secret *s, const struct tls_pair *authority, const struct tls_spec *spec,
	struct arena *arena);
/* Patches a Secret to be so, on condition of its version. */
uint64_t leaf_store(struct kube *kube, const struct kube_path *path, const struct secret *next,
	kube_done done, void *data);

/* The Secret in which the authority lies, beside the webhook's leaf; and that authority. */
extern const struct kube_path leaf_authority_path;
struct tls_pair leaf_authority(const struct secret *s);

#endif
