/* GPURecommendations: JSON to struct recommendation and back. What is written is read back as it
 * was, so that a controller that starts knows what the last one knew; shares are whole percents
 * there, and times whole seconds.
 *
 * A word in a status that is not known, of a later version say, is as if it were not there. */
#ifndef OWN_GPURECOMMENDATION_H
#define OWN_GPURECOMMENDATION_H

#include "json/build.h"
#include "json/fields.h"
#include "model/pod.h"
#include "model/recommendation.h"

#define RECOMMENDATION_MESSAGE_MAX 1024 /* bytes of a condition's that are written */

extern const struct shape recommendation_shape; /* struct recommendation */

/* The whole status as one value. */
void recommendation_write_status(struct build *b, const struct recommendation *r);
/* A new object, without its status. It goes when its owner goes; NULL: it has none (a
 * GPUWorkloadGroup does not own what stands in other namespaces). */
void recommendation_write_new(
	struct build *b, const struct recommendation *r, const struct owner *owner);

#endif
