/* What the watch of GPURecommendations said. */
#ifndef SIZER_RECOMMENDATION_WATCH_H
#define SIZER_RECOMMENDATION_WATCH_H

#include <stdbool.h>

struct change;
struct sizer;

/* False: it is too large to be kept. */
bool sizer_observe(struct sizer *s, const struct change *c);

#endif
