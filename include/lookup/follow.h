/* Asks for the owners of the pods that are known, some at a time. Whoever leads asks for them
 * anyway; every replica answers reviews, which only look up what is known (owners.h). */
#ifndef LOOKUP_FOLLOW_H
#define LOOKUP_FOLLOW_H

#include <stddef.h>
#include <stdint.h>

#include "base/part.h"
#include "owner/owner.h"
#include "world/world.h"

#define FOLLOW_EVERY_MS 1000
#define FOLLOW_PODS	64 /* at once */

struct follow {
	const struct world *world;	 /* borrowed */
	const struct owner_port *owners; /* borrowed */
	int class;			 /* of the pods that come next */
	size_t at;			 /* among them */
	int64_t next_at;
};

extern const struct part follow_part;

#endif
