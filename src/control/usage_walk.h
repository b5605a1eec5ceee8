/* A walk over what is known of the use of pods, again and again: the sizer is told of each. */
#ifndef CONTROL_USAGE_WALK_H
#define CONTROL_USAGE_WALK_H

#include "base/clock.h"
#include "base/part.h"
#include "meter/latest.h"
#include "sizer/sizer.h"
#include "world/world.h"

struct usage_walk {
	const struct latest *latest; /* all borrowed */
	const struct world *world;
	const struct clock *clock;
	struct sizer *sizer;
	int64_t every_ms; /* from the end of one walk to the next */
	int64_t at_ms;
	bool walking;
	uint32_t at; /* in what is known */
};

extern const struct part usage_walk_part;

/* The world has taken that. Nobody measures a pod that ended, and the next one may be made soon. */
void usage_walk_look(struct usage_walk *w, const struct change *c);

#endif
