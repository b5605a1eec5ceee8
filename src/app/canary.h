/* Is the webhook reached? Every 30 s the leader creates, as a dry run, a pod with a share in the
 * canary's namespace; it must come back with our mark (C3). Two misses in a row and it is not
 * reached. Where an admission policy of the cluster refuses the pod nobody knows: that is neither.
 */
#ifndef APP_CANARY_H
#define APP_CANARY_H

#include <stdbool.h>
#include <stdint.h>

#include "kube/client.h"

struct canary;

struct canary *canary_create(struct kube *kube);
void canary_destroy(struct canary *c);
/* Our own, of which a cluster's policies know where it is from; borrowed until the next call. */
void canary_set_image(struct canary *c, const char *image);
/* `leads`: there is something to ask and it is this one's to ask; false: what was seen is
 * forgotten. */
void canary_step(struct canary *c, int64_t now_mono_ms, bool leads);
int64_t canary_deadline(const struct canary *c);
bool canary_reached(
	const struct canary *c); /* the last answer, or the one before, carried our mark */
const char *canary_refused_by(const struct canary *c); /* the last one; NULL: it was not */
int64_t canary_seen(const struct canary *c);	       /* when one did last, monotonic; 0: never */

#endif
