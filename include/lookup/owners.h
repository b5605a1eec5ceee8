/* Who owns the owners of pods, where only a reference tells: read from the API server when somebody
 * asks, as metadata alone, at a pace, and remembered for a while. The answer to a first question is
 * OWNER_LATER, for half a minute at most; then, and for kinds that are not there or that we may not
 * read, nobody knows, and labels and names have to do. What was known once stays when a later
 * reading tells nothing. */
#ifndef LOOKUP_OWNERS_H
#define LOOKUP_OWNERS_H

#include "base/part.h"
#include "kube/client.h"
#include "owner/owner.h"

#define OWNERS_MAX	  4096
#define OWNERS_SPACE_MAX  512 /* of one namespace: nobody fills it for all others */
#define OWNERS_PER_SECOND 5
#define OWNERS_IN_FLIGHT  4

struct owners;

struct owners *owners_create(struct kube *kube); /* borrowed */
/* Lives as long as `o`. What it hands out stays until the next owners_step. */
const struct owner_port *owners_port(struct owners *o);
/* What is known, and nothing else: it asks nobody, remembers nothing and keeps nothing alive. For
 * questions of people whom nobody knows, as reviews are. */
const struct owner_port *owners_known(struct owners *o);
extern const struct part owners_part;
size_t owners_count(const struct owners *o);

#endif
