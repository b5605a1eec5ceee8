/* Is the webhook reached? Every 30 s the leader creates, as a dry run, a pod with a share in the
 * canary's namespace; it must come back with our mark (C3). Two misses in a row and it is not
 * reached. Where an admission policy of the cluster refuses the pod nobody knows: that is neither.
 */
#ifndef GATE_CANARY_H
#define GATE_CANARY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/part.h"
#include "kube/client.h"

struct canary;

struct canary *canary_create(struct kube *kube);
/* The canary of a process that does not lead, or has nothing to ask, forgets what it saw. */
extern const struct part canary_part;
/* Our own image, of which a cluster's policies know where it is from; borrowed until the next call.
 * `asks`: there is a webhook to be reached. */
void canary_prepare(struct canary *c, const char *image, bool asks);
bool canary_reached(
	const struct canary *c); /* the last answer, or the one before, carried our mark */
const char *canary_refused_by(const struct canary *c); /* the last one; NULL: it was not */
int64_t canary_seen(const struct canary *c);	       /* when one did last, monotonic; 0: never */

#endif
