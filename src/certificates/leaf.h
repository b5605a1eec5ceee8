/* Leaves of our authority, as they lie in a Secret: whether one still does, and a new one. Private
 * keys come from the caller's arena, which is to be wiped. */
#ifndef CERTIFICATES_LEAF_H
#define CERTIFICATES_LEAF_H

#include "base/alloc.h"
#include "codec/secret.h"
#include "io/tls.h"

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

#endif
