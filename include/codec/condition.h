/* One of the conditions in an object's status. */
#ifndef CODEC_CONDITION_H
#define CODEC_CONDITION_H

#include <stdint.h>

#include "json/build.h"

struct condition {
	const char *type, *status, *reason, *message;
	int64_t since_ms;   /* lastTransitionTime */
	int64_t generation; /* observedGeneration, of those that we write */
};

/* As a value, of an object of ours. Those of others each decoder reads by a table of its own, with
 * what it asks of them. */
void condition_write(struct build *b, const struct condition *c);

#endif
